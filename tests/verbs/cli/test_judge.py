"""``judgec judge`` as a user runs it: a row an item whatever happens, counts that add up."""

import json
from pathlib import Path
from typing import Any

import pytest

from judgec.verbs.options.judge import JudgeFileOptions
from tests.compile.small import write
from tests.service import grading_world, policies
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, Status, answer, digest
from tests.verbs.cli.judging import ADDED, GRADED, run, save_judge
from tests.verbs.cli.process import CANARY, Shared, judgec

ITEMS = [
    {name: value for name, value in row.items() if name != "grade"}
    for row in grading_world.rows(60, seed=7, per_query=2)
]
Json = dict[str, Any]  # a row


def rough(call: Call) -> Outcome:
    """By the item's answer alone: good, malformed, off the scale, a refusal, or an error that retrying cannot mend."""
    kind = digest("rough", call.prompt.inputs.get("answer", "")) % 6 if call.prompt.outputs else 0
    bad = {1: policies.malformed, 2: policies.off_scale, 3: policies.refusing}
    if kind == 4:
        return Status(400, "content filter")
    return bad.get(kind, grading_world.teachable)(call)


def read(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def request(home: Path, file: Path, judge: str, out: Path, **options: Any) -> JudgeFileOptions:  # Any: any field
    given: Json = {"lm": None, "api_base": None, "budget": None, "max_cost": None, "in_flight": 8}
    return JudgeFileOptions(file=str(file), judge=judge, out=out, home=home, **{**given, **options})


def test_champion_judges_items_without_labels_and_nothing_missing_becomes_a_number(
    shared: Shared, tmp_path: Path
) -> None:
    items, out = write(tmp_path / "ïtems.jsonl", ITEMS), tmp_path / "öut.jsonl"
    with FakeOpenAI(rough) as server:
        command = ["judge", items, "--judge", "world", "--home", shared.home, "--out", out, "--json"]
        done = judgec(tmp_path, *command, "--api-base", server.base_url, OPENAI_API_KEY=CANARY)
    counts, rows = json.loads(done.stdout), read(out)
    assert done.stderr == ""
    assert [row["item_id"] for row in rows] == [item["item_id"] for item in ITEMS]
    assert all(list(row) == [*item, *ADDED] for row, item in zip(rows, ITEMS, strict=True))
    assert all({name: row[name] for name in item} == item for row, item in zip(rows, ITEMS, strict=True))
    lost = [row for row in rows if row["unscored"] is not None]
    scored = [row for row in rows if row["unscored"] is None]
    assert 10 < len(lost) < 50
    assert all(row[name] is None for row in lost for name in (*GRADED, "probabilities"))
    for row in scored:
        assert row["grade"] in {1, 2, 3, 4, 5}
        assert sum(row["probabilities"].values()) == pytest.approx(1)
        assert 1 <= row["score"] <= 5  # the verdict's own value: the model is the only source here
        assert isinstance(row["accept"], bool)
    assert counts["judge"] == {"program": "world", "version": 1}
    assert (counts["items"], counts["unscored"]) == (60, len(lost))
    assert counts["accepted"] == sum(row["accept"] for row in scored)
    assert counts["accepted"] + counts["rejected"] + counts["unscored"] == counts["items"]
    kinds = [row["unscored"].partition(":")[0] for row in lost]
    assert counts["unscored_reasons"] == {kind: kinds.count(kind) for kind in set(kinds)}
    assert len(set(kinds)) >= 3
    assert CANARY not in done.stdout + out.read_text()


def test_verdicts_between_two_grades_are_counted_and_said_also_from_the_journal(shared: Shared, tmp_path: Path) -> None:
    def between(call: Call) -> Outcome:
        half = "Remark: " in call.prompt.inputs.get("answer", "")
        stated = {output.name: "4.5" for output in call.prompt.outputs if output.labels}
        return answer(call, stated) if half else policies.good(call)

    wanted = sum("Remark: " in str(item["answer"]) for item in ITEMS)
    file = write(tmp_path / "items.jsonl", ITEMS)
    for policy, home, count in ((between, "one", wanted), (between, "one", wanted), (policies.good, "two", 0)):
        save_judge(tmp_path / home)
        with FakeOpenAI(policy) as server:
            to = tmp_path / "out.jsonl"
            counts = run(request(tmp_path / home, file, "mine", to, lm="openai/fake", api_base=server.base_url))
        said = [note for note in counts["notes"] if "half way between two grades" in note]  # type: ignore[attr-defined]  # a report's values are objects
        assert counts["between_grades"] == count
        assert [note.partition(" ")[0] for note in said] == ([str(count)] if count else [])
    assert wanted > 5
