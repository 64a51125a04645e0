"""``judgec judge --estimate accept_rate --labels L``: raw beside corrected, and what is refused."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import judgec as api
from judgec.errors import UserError
from judgec.lm.watch import Silent
from judgec.verbs.cli.judge import rate_asked
from judgec.verbs.estimate import RateEstimate, estimate_judged
from judgec.verbs.judge_file import judge_file
from judgec.verbs.options.judge import JudgeFileOptions
from tests.compile.small import compiled_from, write
from tests.service import grading_world
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, answer, digest
from tests.verbs.cli.process import judgec

Row = dict[str, Any]


def lenient(call: Call) -> Outcome:
    """Right in four of five answers, two grades too good in the fifth."""
    text = " ".join(call.prompt.inputs.values())
    right = grading_world.expert_grade(text)
    grade = min(5, right + 2) if digest("lenient", text) % 5 == 0 else min(5, right)
    return answer(call, {output.name: str(grade) for output in call.prompt.outputs if output.labels})


def rows(n: int, seed: int, name: str) -> list[Row]:
    """Items of queries that are known by nothing else, neither by their id nor by their text."""
    return [
        {
            **row,
            "item_id": f"{name}{row['item_id']}",
            "query_id": f"{name}{row['query_id']}",
            "query": f"{name}: {row['query']}",
        }
        for row in grading_world.rows(n, seed=seed, per_query=2)
    ]


def bare(given: list[Row]) -> list[Row]:
    return [{name: value for name, value in row.items() if name != "grade"} for row in given]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the judge ``w``, which accepts from grade 4."""
    home = tmp_path_factory.mktemp("rates")
    with FakeOpenAI(lenient) as server:
        compiled_from(home, grading_world.rows(60), lm="openai/fake", api_base=server.base_url, name="w", accept_at="4")
    return home


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")


def estimated(
    home: Path, tmp_path: Path, items: list[Row], labels: list[Row], policy: Any = lenient
) -> tuple[Row, RateEstimate]:
    with FakeOpenAI(policy) as server:
        options = JudgeFileOptions(
            file=str(write(tmp_path / "items.jsonl", items)), judge="w@latest", out=tmp_path / "out.jsonl",
            api_base=server.base_url, in_flight=8, home=home,
        )  # fmt: skip
        rate = rate_asked(options, "accept_rate", str(write(tmp_path / "l.jsonl", labels)), None)
        assert rate is not None
        found = estimate_judged(judge_file.run(options, Silent()), rate)
    return found.to_json(), found


def test_estimate_of_a_frame_puts_the_rate_of_a_lenient_judge_right(home: Path, tmp_path: Path) -> None:
    everything: list[Row] = rows(400, 3, "x")
    labelled = [row for row in everything if int(row["query_id"][2:]) % 3 == 0]
    frame, sample = pd.DataFrame(bare(everything)).rename(columns={"query": "Frage"}), pd.DataFrame(labelled)
    sample = sample.rename(columns={"query": "Frage"})
    with FakeOpenAI(lenient) as server:
        judge = api.load_judge("w@latest", home=home, api_base=server.base_url)
        found = api.estimate(frame, judge=judge, labels=sample, columns={"Frage": "query"})

        async def inside() -> api.RateEstimate:
            return api.estimate(
                write(tmp_path / "i.jsonl", bare(everything)), judge="w@latest",
                labels=write(tmp_path / "l.jsonl", labelled), home=home, api_base=server.base_url,
            )  # fmt: skip

        paid = server.calls
        from_files = asyncio.run(inside())
        assert server.calls == paid  # the journal has them all
    truth = sum(row["grade"] >= 4 for row in everything) / len(everything)
    assert found.raw.low is not None
    assert found.raw.low > truth  # sure of a wrong number
    assert found.low is not None
    assert found.high is not None
    assert found.low < truth < found.high
    assert found.value == found.corrected.value == found.table.loc["grade", "corrected"]
    assert from_files.aspects == found.aspects
    assert found.labelled == len(labelled)
    assert f"{100 * (found.value or 0):.1f} %" in repr(found)
    assert "<table" in found._repr_html_()
    assert found.refused == ""


@pytest.mark.parametrize("accepts_alone", [False, True])
def test_estimate_takes_labels_of_other_answers_and_accepts_alone(
    home: Path, tmp_path: Path, accepts_alone: bool
) -> None:
    everything, labels = rows(400, 3, "x"), rows(120, 4, "y")
    if accepts_alone:
        labels = bare([{**row, "accept": row["grade"] >= 4} for row in everything[:120]])
    found, _ = estimated(home, tmp_path, bare(everything), labels)
    truth = sum(row["grade"] >= 4 for row in everything) / 400
    assert found["corrected"]["low"] < truth < found["corrected"]["high"]
    assert (found["n"], found["n_labelled"]) == (400, 120)


def test_estimate_outside_the_range_of_the_labels_is_refused_with_raw_beside_it(home: Path, tmp_path: Path) -> None:
    everything = rows(400, 3, "x")
    bad = [row for row in everything if row["grade"] <= 2]
    found, asked = estimated(home, tmp_path, bare(everything), bad)
    assert found["corrected"]["value"] is None
    assert "outside" in found["corrected"]["note"]
    assert found["refused"] == found["corrected"]["note"]
    assert found["raw"]["value"] > 0
    with pytest.raises(UserError, match=r"--estimate: refused, .* Label a random sample"):
        asked.require()


def test_estimate_leaves_out_labels_that_the_judge_has_learned_from(home: Path, tmp_path: Path) -> None:
    fresh = rows(100, 3, "x")
    learned = [dict(row) for row in grading_world.rows(60)]
    found, _ = estimated(home, tmp_path, bare(fresh), [*learned, *fresh[:40]])
    assert 30 < found["left_out"] < 60  # train and dev; test queries may stay
    assert any("left out" in note for note in found["notes"])


def test_estimate_counts_missing_verdicts_and_stays_in_the_picture(home: Path, tmp_path: Path) -> None:
    def patchy(call: Call) -> Outcome:
        lost = call.prompt.outputs and digest("lost", " ".join(call.prompt.inputs.values())) % 4 == 0
        return answer(call, {output.name: "none" for output in call.prompt.outputs}) if lost else lenient(call)

    everything = rows(400, 3, "x")
    found, _ = estimated(home, tmp_path, bare(everything), everything[:160], patchy)
    truth = sum(row["grade"] >= 4 for row in everything) / 400
    assert found["unscored"] > 60
    assert found["corrected"]["low"] < truth < found["corrected"]["high"]


@pytest.mark.parametrize(
    ("statistic", "labels", "judge", "seen"),
    [
        ("mean", "l.jsonl", "w@latest", "--estimate mean: not an estimate; accept_rate is one"),
        ("accept_rate", None, "w@latest", "--estimate: no labels"),
        ("accept_rate", "l.jsonl", "", "--estimate: several judges"),
        (None, "l.jsonl", "w@latest", "used by --estimate alone"),
        ("accept_rate", "none.jsonl", "w@latest", "no such file"),
    ],
)
def test_estimate_that_cannot_be_made_is_refused_before_anything_is_asked(
    home: Path, statistic: str | None, labels: str | None, judge: str, seen: str
) -> None:
    options = JudgeFileOptions(file="items.jsonl", judge=judge, out=Path("out.jsonl"), in_flight=8, home=home)
    with pytest.raises(UserError, match=seen):
        rate_asked(options, statistic, labels, None)


def test_estimate_that_labels_cannot_correct_has_no_value_and_says_why(home: Path) -> None:
    everything = rows(40, 5, "z")
    with FakeOpenAI(lenient) as server:
        found = api.estimate(
            bare(everything), judge="w@latest", labels=everything[:4], home=home, api_base=server.base_url
        )
    assert found.value is None
    assert "4 labelled items" in found.refused
    assert found.refused in repr(found)
    with pytest.raises(UserError, match="--estimate: refused"):
        found.require()


@pytest.mark.full
def test_estimate_on_the_command_line_is_in_the_json_and_on_the_screen(home: Path, tmp_path: Path) -> None:
    everything = rows(60, 8, "v")
    items, labels = write(tmp_path / "i.jsonl", bare(everything)), write(tmp_path / "l.jsonl", everything[:40])
    with FakeOpenAI(lenient) as server:
        command = ["judge", items, "--judge", "w@latest", "--home", home, "--out", "o.jsonl", "--labels", labels]
        command += ["--api-base", server.base_url, "--estimate", "accept_rate"]
        done, shown = (judgec(tmp_path, *command, *more, code=None, OPENAI_API_KEY="k") for more in (["--json"], []))
    found = json.loads(done.stdout)["estimate"]
    assert found["statistic"] == "accept_rate"
    assert 0 <= found["raw"]["value"] <= 1
    assert (done.returncode == 2) is (found["refused"] is not None)
    assert "Accept rate" in shown.stdout
