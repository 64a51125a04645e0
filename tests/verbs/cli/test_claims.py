"""Claims and citations from a file to rows and a page, by a language model that writes lines."""

import csv
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judgec.errors import UserError
from judgec.labels.bulk.judged_file import judged_rows
from judgec.records.tasks.registry import TASKS
from judgec.verbs.compile_judge import compile_judge
from judgec.verbs.judge import load_judge
from judgec.verbs.judge_file import judge_file
from tests.compile.small import Outcome, compiled_from, write
from tests.service.checking_world import check, cited_row, claims_row, hidden_row, know, rubric_row, weigh
from tests.service.fake_openai import FakeOpenAI
from tests.verbs.cli.process import CANARY, judgec

Row = dict[str, Any]
CLAIMS: list[Row] = [claims_row(n) for n in range(60)]


def judged(home: Path, rows: list[Row], name: str, out: str = "judged.jsonl", api_base: str | None = None) -> list[Row]:
    file = write(home / f"items-{name}.jsonl", rows)
    judge_file(str(file), judge=f"{name}@latest", out=home / out, home=home, api_base=api_base)
    return [dict(row) for row in judged_rows(home / out)]


def said(done: subprocess.CompletedProcess[str]) -> Row:
    found: Row = json.loads(done.stdout)
    return found


def bare(rows: list[Row], *labels: str) -> list[Row]:
    return [{name: value for name, value in row.items() if name not in labels} for row in rows]


@pytest.fixture(scope="module")
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(check) as found, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "k")
        yield found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, server: FakeOpenAI) -> tuple[Path, Outcome]:
    home = tmp_path_factory.mktemp("claims")
    return home, compiled_from(home, CLAIMS, name="lm", lm="openai/fake", api_base=server.base_url)


def test_lines_of_a_model_are_the_claims(made: tuple[Path, Outcome], server: FakeOpenAI) -> None:
    rows = judged(made[0], bare(CLAIMS, "grade"), "lm", api_base=server.base_url)

    for row, given in zip(rows, CLAIMS, strict=True):
        assert [given["answer"][claim["start"] : claim["end"]] for claim in row["claims"]] == [
            claim["text"] for claim in row["claims"]
        ]
        assert [claim["verdict"] for claim in row["claims"]].count("supported") == given["grade"] - 1
        assert all(claim["source"] == "contexts" and claim["number"] == 1 for claim in row["claims"])
        assert "supported |" in row["rationale"] or "contradicted |" in row["rationale"]


def test_lines_that_cannot_be_read_give_no_claims_and_a_note(tmp_path: Path, server: FakeOpenAI) -> None:
    compiled_from(tmp_path, CLAIMS, name="lm", lm="openai/fake", api_base=server.base_url)
    with FakeOpenAI("good") as other:
        file = write(tmp_path / "items.jsonl", bare(CLAIMS[:4], "grade"))
        found = judge_file(
            str(file), judge="lm@latest", out=tmp_path / "o.jsonl", home=tmp_path, api_base=other.base_url
        )

    assert [row["claims"] for row in judged_rows(tmp_path / "o.jsonl")] == [None] * 4
    assert "4 items: the lines of claims could not be read" in str(found.report["notes"])


@pytest.mark.parametrize(
    ("rows", "options"),
    [(CLAIMS, {}), ([cited_row(n) for n in range(60)], {}), (CLAIMS, {"task": "claims"})],
    ids=["nuggets", "cited", "claims"],
)
def test_claims_without_a_model_are_refused(tmp_path: Path, rows: list[Row], options: dict[str, Any]) -> None:
    file = write(tmp_path / "labels.jsonl", rows)
    with pytest.raises(UserError, match=r"no rule reads claims; .*--lm\.$"):
        compile_judge(str(file), name="none", home=tmp_path, **options)


def test_tables_hold_claims_as_json(made: tuple[Path, Outcome], server: FakeOpenAI) -> None:
    home, base = made[0], server.base_url
    whole = judged(home, bare(CLAIMS[:4], "grade"), "lm", api_base=base)

    for ending in ("csv", "parquet"):
        rows = judged(home, bare(CLAIMS[:4], "grade"), "lm", f"judged.{ending}", api_base=base)
        assert [json.loads(row["claims"]) for row in rows] == [row["claims"] for row in whole]
    with (home / "judged.csv").open(encoding="utf-8", newline="") as file:
        assert set(TASKS["claims"].details) <= set(next(csv.reader(file)))


def test_judge_in_python_gives_claims_of_one_item_and_of_rows(made: tuple[Path, Outcome], server: FakeOpenAI) -> None:
    judge = load_judge("lm@latest", home=made[0], api_base=server.base_url)
    item = bare(CLAIMS, "grade")[0]

    one = judge(**item)
    table = judge(pd.DataFrame(bare(CLAIMS[:2], "grade")))

    assert one.details["claims"] == table["claims"][0]
    assert len(table["claims"][1]) == 3


def test_page_has_the_claims_of_its_items_marked_in_the_texts(made: tuple[Path, Outcome]) -> None:
    home, outcome = made
    page = (home / "programs" / "lm" / "0001" / "report.html").read_text(encoding="utf-8")
    data = json.loads(page.partition("id=items-data>")[2].partition("</script>")[0])

    assert outcome.saved is not None
    for item in data["items"]:
        texts = dict(item["texts"])
        assert texts["answer"][0][1::2] == [[claim["text"], claim["verdict"]] for claim in item["claims"]]
        assert all(isinstance(piece, list) for piece in texts["contexts"][0][1::2])
    lines = (home / "programs" / "lm" / "0001" / "items.jsonl").read_text(encoding="utf-8").splitlines()
    assert all(len(json.loads(line)["claims"]) == 3 for line in lines)


@pytest.mark.full
def test_citations_of_a_model_are_those_of_the_cited_document(tmp_path: Path, server: FakeOpenAI) -> None:
    rows: list[Row] = [cited_row(n) for n in range(60)]
    compiled_from(tmp_path, rows, name="lm", lm="openai/fake", api_base=server.base_url)
    found = judged(tmp_path, bare(rows, "supported"), "lm", api_base=server.base_url)

    for row, given in zip(found, rows, strict=True):
        right = given["supported"] == "yes"
        assert [claim["verdict"] == "supported" for claim in row["claims"]] == [right]
        assert row["claims"][0]["number"] == (1 if right else 2)


AGREEMENT = ("agreement", "judged.jsonl", "--judges", "judge_grade", "--json")


@pytest.mark.full
def test_calibrator_learns_from_what_a_model_says_of_claims(tmp_path: Path) -> None:
    rows = [hidden_row(n) for n in range(160)]
    write(tmp_path / "hidden.jsonl", rows)
    with FakeOpenAI(know) as server:
        options = ("--lm", "openai/fake", "--api-base", server.base_url, "--json", "--task", "claims")
        made = said(judgec(tmp_path, "compile-judge", "hidden.jsonl", "--name", "h", *options, OPENAI_API_KEY=CANARY))
        command = ("judge", "hidden.jsonl", "--judge", "h@latest", "--out", "judged.jsonl")
        judgec(tmp_path, *command, "--api-base", server.base_url, OPENAI_API_KEY=CANARY)
    found = said(judgec(tmp_path, "agreement", "judged.jsonl", "--judges", "judge_grade", "--json"))["judges"][
        "judge_grade"
    ]

    assert made["evidence_alone"] is False
    assert found["tau_b"]["value"] > 0.8


@pytest.mark.full
def test_calibrator_learns_what_criteria_weigh(tmp_path: Path) -> None:
    write(tmp_path / "rubric.jsonl", [rubric_row(n) for n in range(160)])
    with FakeOpenAI(weigh) as server:
        maps = ("--map", "criteria=nuggets")
        options = ("--lm", "openai/fake", "--api-base", server.base_url, "--json", *maps)
        made = said(judgec(tmp_path, "compile-judge", "rubric.jsonl", "--name", "r", *options, OPENAI_API_KEY=CANARY))
        command = ("judge", "rubric.jsonl", "--judge", "r@latest", "--out", "judged.jsonl", *maps)
        judgec(tmp_path, *command, "--api-base", server.base_url, OPENAI_API_KEY=CANARY)
    whole = said(judgec(tmp_path, "agreement", "judged.jsonl", "--judges", "judge_grade", "--json"))["judges"][
        "judge_grade"
    ]

    assert made["evidence_alone"] is False
    assert whole["tau_b"]["value"] > 0.8
    for row in map(dict[str, Any], judged_rows(tmp_path / "judged.jsonl")):
        met = [one["points"] for one in row["criteria"] if one["criteria_met"]]
        assert row["judge_nugget_recall"] == pytest.approx(sum(met) / 8)
