"""``judgec judge`` as a user runs it: a row an item whatever happens, counts that add up."""

import json
from pathlib import Path
from typing import Any

import pytest

from judgec.errors import ServiceError, UserError
from judgec.verbs.options.judge import JudgeFileOptions
from tests.compile.small import compiled_from, write
from tests.service import grading_world, policies
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, Status, answer, digest
from tests.verbs.cli.judging import run, save_judge
from tests.verbs.cli.process import CANARY, Shared, judgec

GRADED = ["grade", "score", "accept", "confidence"]
ADDED = [*GRADED, "rationale", "unscored", "probabilities", "learned", "judged_by", "stated_confidence"]
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


def test_field_that_the_judge_was_compiled_with_and_no_item_has_is_noted(shared: Shared, tmp_path: Path) -> None:
    bare = [{name: value for name, value in item.items() if name != "contexts"} for item in ITEMS]
    renamed = [{**item, "Quellen": full["contexts"]} for item, full in zip(bare, ITEMS, strict=True)]
    with FakeOpenAI("teachable") as server:
        options = {"api_base": server.base_url}
        for items, columns, noted in ((bare, {}, True), (ITEMS, {}, False), (renamed, {"Quellen": "contexts"}, False)):
            file = write(tmp_path / "items.jsonl", items)
            counts = run(request(shared.home, file, "world@1", tmp_path / "out.jsonl", columns=columns, **options))
            assert any("no item has contexts" in str(note) for note in counts["notes"]) == noted  # type: ignore[attr-defined]  # a report's values are objects


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


def test_rerun_asks_only_for_what_is_missing(shared: Shared, tmp_path: Path) -> None:
    items = write(tmp_path / "items.jsonl", ITEMS)
    with FakeOpenAI("teachable") as server:
        options = {"api_base": server.base_url}
        first = run(request(shared.home, items, "world@1", tmp_path / "one.jsonl", **options))
        calls = server.calls
        second = run(request(shared.home, items, "world@champion", tmp_path / "two.jsonl", **options))
        assert server.calls - calls <= 1  # at most a preflight
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    assert second["journaled"] == 61  # the preflight too
    assert (first["unscored"], second["unscored"]) == (0, 0)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with an ``answer`` judge of two aspects, never promoted: version 1."""
    home = tmp_path_factory.mktemp("answers")
    rows = [
        {**item, "grade.claims": min(2, grading_world.expert_grade(str(item["answer"])) // 2), "grade.tone": k % 3}
        for k, item in enumerate(ITEMS)
    ]
    compiled_from(home, rows, name="aspects", accept_at="1", lm="embedded")
    return home


def test_judge_of_several_aspects_keys_rows_and_counts_by_aspect(answers: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    counts = run(request(answers, write(tmp_path / "i.jsonl", ITEMS[:20]), "aspects@latest", out))
    rows = read(out)
    plural = [f"{name}s" if name in GRADED else name for name in ADDED]
    assert all(list(row) == [*item, *plural] for row, item in zip(rows, ITEMS, strict=False))
    for name in ("grades", "scores", "accepts", "probabilities", "confidences"):
        assert all(list(row[name]) == ["claims", "tone"] for row in rows)
    for outcome, wanted in (("accepted", True), ("rejected", False)):
        assert counts[outcome] == {
            aspect: sum(row["accepts"][aspect] is wanted for row in rows) for aspect in ("claims", "tone")
        }


def test_missing_answer_is_an_empty_answer_and_repeated_rows_are_judged_once(answers: Path, tmp_path: Path) -> None:
    bare = {name: value for name, value in ITEMS[0].items() if name != "answer"}
    rows = [{**bare, "item_id": "x"}, {**ITEMS[1], "answer": None}, ITEMS[2], ITEMS[2]]
    out = tmp_path / "out.jsonl"
    counts = run(request(answers, write(tmp_path / "i.jsonl", rows), "aspects@1", out))
    assert (counts["rows"], counts["items"], counts["unscored"]) == (4, 3, 0)
    written = read(out)
    assert [row["item_id"] for row in written] == ["x", ITEMS[1]["item_id"], *[ITEMS[2]["item_id"]] * 2]
    assert written[2] == written[3]
    learned = sum(row["learned"] for row in written[:3])
    assert learned > 0
    notes = counts["notes"]
    assert isinstance(notes, list)
    assert notes[:-1] == [
        "1 row repeats an item and is judged once.",
        "2 rows without an answer: judged as empty answers.",
        f"{learned} of 3 items are of queries that the judge has learned from: learned is true there.",
        "aspects@1: evidence alone, no prompt; no language model was asked",
    ]
    assert notes[-1].startswith("aspects@1 was not promoted: ")


@pytest.mark.parametrize(
    ("judge", "seen"),
    [
        (
            "aspects",
            "aspects has no champion, no version was shown to be better; there are versions 1. .* aspects@latest",
        ),
        ("aspects@3", "there is no aspects@3; there are versions 1"),
        ("other", "there is no judge 'other' .* there are aspects"),
    ],
)
def test_judge_that_is_not_there_names_what_is(answers: Path, tmp_path: Path, judge: str, seen: str) -> None:
    items = write(tmp_path / "i.jsonl", ITEMS[:2])
    with pytest.raises(UserError, match=seen):
        run(request(answers, items, judge, tmp_path / "out.jsonl"))
    assert not (tmp_path / "out.jsonl").exists()


def test_output_never_replaces_the_input_or_what_is_no_file(answers: Path, tmp_path: Path) -> None:
    items = write(tmp_path / "i.jsonl", ITEMS[:2])
    before = items.read_bytes()
    for out, seen in (
        (tmp_path / ".." / tmp_path.name / "i.jsonl", "its judgments would replace it"),
        (tmp_path, "not a file that can be replaced"),
        (Path("/dev/null"), "not a file that can be replaced"),
        (tmp_path / "none" / "out.jsonl", "no such folder"),
    ):
        with pytest.raises(UserError, match=seen):
            run(request(answers, items, "aspects@1", out))
    assert items.read_bytes() == before


def test_server_that_answers_nothing_useful_exits_three_and_keeps_the_rows(shared: Shared, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    with FakeOpenAI("malformed") as server, pytest.raises(ServiceError, match="none of 5 items could be judged"):
        run(request(shared.home, write(tmp_path / "i.jsonl", ITEMS[:5]), "world@1", out, api_base=server.base_url))
    assert [row["grade"] for row in read(out)] == [None] * 5
    assert all(row["unscored"].startswith("malformed reply") for row in read(out))


@pytest.mark.full
def test_people_see_counts_reasons_notes_and_the_next_command(answers: Path, shared: Shared, tmp_path: Path) -> None:
    items = write(tmp_path / "i t.jsonl", [*ITEMS, {**ITEMS[0], "item_id": "x", "answer": None}])
    with FakeOpenAI(rough) as server:
        command = ["judge", items.name, "--judge", "world@2", "--home", shared.home, "--out", "o ut.jsonl"]
        said = judgec(tmp_path, *command, "--api-base", server.base_url, OPENAI_API_KEY=CANARY).stderr
    assert "61 items: " in said
    assert "unscored 1" in said
    assert "note: 1 row without an answer: judged as empty answers." in said
    assert "note: world@2 was not promoted: this version was not shown to be better than its baselines" in said
    assert "Next: judgec labels export 'i t.jsonl' 'o ut.to-grade.csv' --judge world@2" in said
    command = ["judge", items.name, "--judge", "aspects", "--home", answers, "--out", "o.jsonl"]
    assert "aspects@latest" in judgec(tmp_path, *command, code=2).stderr
