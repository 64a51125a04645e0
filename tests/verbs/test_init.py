"""``init`` asks what no table tells, takes what is typed, and is contradicted by the grades alone."""

import io
import json
import random
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import judgec
from judgec.errors import BudgetError, InputError, UserError
from judgec.labels.labels import read_labels
from judgec.labels.project import read_project
from judgec.verbs.cli.init import _answered
from judgec.verbs.cli.project import completed
from judgec.verbs.init import certain, read_draft
from judgec.verbs.label_draft import LabelDraft, drafted
from judgec.verbs.options.init import InitOptions
from judgec.verbs.options.labels import LabelsOptions
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, Text, answer
from tests.table.spreadsheets import Rows, write_xlsx
from tests.verbs.cli.process import judgec_here

TEXTS = {"question": "question", "answer": "answer"}
NAMED = {"question": "query"}


def sheet(folder: Path, n: int = 40, name: str = "t.csv", **columns: Any) -> str:  # any values of cells
    """A file of questions and answers with these columns."""
    texts = [{"question": f"How do I do task {i} here?", "answer": f"Open the menu {i} and wait."} for i in range(n)]
    pd.DataFrame(texts).assign(**columns).to_csv(folder / name, index=False)
    return str(folder / name)


def grades(n: int = 40, seed: int = 0) -> list[object]:
    draw = random.Random(seed)
    return [draw.randrange(1, 6) for _ in range(n)]


def test_header_that_says_the_other_end_is_good_is_asked_about_and_read_so(tmp_path: Path) -> None:
    """``1 = very ... 5 = not at all``: no head is read, and falling numbers are words."""
    head = "How helpful was it? [1 = very ... 5 = not at all]"
    file = sheet(tmp_path, 40, "t.csv", **{head: grades()})
    with pytest.raises(UserError, match=r"--annotators \? --judges \? --best \?"):
        judgec.init(file)
    found = judgec.init(file, columns=NAMED, annotators=(head,), best="1", accept_at="2")
    assert found.labels.scale.grades == ("5", "4", "3", "2", "1")
    assert found.labels.scale.accept_at == "2"


def test_id_of_an_answer_is_no_answer(tmp_path: Path) -> None:
    rows = [{"response_id": f"T{i // 2}_0", "question_text": f"How do I reset pump {i // 2}?"}
            | {"response_text": f"Hold it for {i // 2} seconds.", "reviewer": f"R{i % 2}", "accuracy": i * 7 % 4}
            for i in range(40)]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    roles = drafted(InitOptions(file=str(tmp_path / "t.csv"))).roles
    assert roles.columns["response_text"] == "answer"
    assert roles.columns["reviewer"] == "annotator"
    assert roles.columns.get("response_id") != "answer"


def test_constants_are_no_labels(tmp_path: Path) -> None:
    marks: list[object] = ["PASS" if i % 3 else "FAIL" for i in range(40)]
    file = sheet(tmp_path, success=[True] * 40, labeled=[True] * 40, label=marks)
    draft = drafted(InitOptions(file=file))
    assert draft.graders == ("label",)
    assert draft.roles.seen["success"].kind == "constant"


def test_feedback_of_a_model_in_a_list_is_nobodys_label_unasked(tmp_path: Path) -> None:
    rows = [{"messages": [{"role": "user", "content": f"q{i}?"}, {"role": "assistant", "content": f"a{i}"}]}
            | {"feedback": [{"score": i % 2, "source": "human", "user": ("maria", "jonas")[i % 2]},
                            {"score": 0.8, "source": "ai", "model": "gpt-4o-mini"}]} for i in range(24)]  # fmt: skip
    file = tmp_path / "t.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UserError, match="annotators="):
        judgec.init(str(file))
    columns = {"feedback.user": "annotator", "feedback.score": "grade"}
    said: dict[str, Any] = {"columns": columns, "annotators": ("maria", "jonas"), "best": "1"}
    found = judgec.init(str(file), judges=("(nobody named)",), **said)
    assert {label.annotator for label in found.labels.labels} == {"maria", "jonas"}
    assert len(found.labels.items) == 24


def test_side_by_side_numbers_are_sides_by_the_words_that_are_said(tmp_path: Path) -> None:
    won: list[object] = [(-2, -1, 0, 1, 2)[i % 5] for i in range(40)]
    file = sheet(
        tmp_path, 40, "t.csv", **{"Response 2": [f"Another reply to it is {i}." for i in range(40)], "Maria": won}
    )
    columns = {"question": "query", "answer": "answer_a", "Response 2": "answer_b"}
    with pytest.raises(UserError, match="winner_words="):
        judgec.init(file, columns=columns, annotators=("Maria",))
    words = {"-2": "a", "-1": "a", "0": "tie", "1": "b", "2": "b"}
    found = judgec.init(file, columns=columns, annotators=("Maria",), winner_words=words)
    assert found.labels.task == "preference"
    assert [label.grades["grade"] for label in found.labels.labels[:3]] == [0, 0, 2]


def test_own_names_and_a_declared_scale_are_certain(tmp_path: Path) -> None:
    texts = [{"query": f"q {i} of it?", "answer": f"a {i} of it.", "accept": ("yes", "no")[i % 2]} for i in range(24)]
    pd.DataFrame(texts).to_csv(tmp_path / "t.csv", index=False)
    assert judgec.init(str(tmp_path / "t.csv")).labels.accept_only
    named = pd.DataFrame(texts).assign(annotator="gpt-4o-mini", grade=1)
    named.to_csv(tmp_path / "n.csv", index=False)
    with pytest.raises(UserError, match="--annotators"):
        judgec.init(str(tmp_path / "n.csv"), replace=True)


def test_answers_on_a_terminal_are_what_is_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = sheet(tmp_path, Mia=grades(seed=1), Noah=grades(seed=2), GPT=grades(seed=3))
    draft = drafted(InitOptions(file=file))
    monkeypatch.setattr("sys.stdin", io.StringIO("\nMia,Noah\nGPT\n5\n4\n"))
    asked = []
    while questions := draft.questions():
        asked.append(questions[0].key)
        draft = drafted(_answered(draft, questions[0]))
    assert asked == ["columns", "graders", "scale"]
    said: dict[str, Any] = {"columns": NAMED, "annotators": ("Mia", "Noah"), "judges": {"GPT": ""}}
    typed = judgec.init(file, **said, best="5", accept_at="4")
    assert (
        certain(drafted(InitOptions(file=file, replace=True, **said, best="5", accept_at="4"))).text() == typed.text()
    )
    found = read_draft(draft)
    assert found.labels.digest == typed.labels.digest
    assert read_project(typed.path).judges == {"GPT": ""}
    assert read_project(typed.path).annotators == ("Mia", "Noah")


def test_nobody_there_ends_in_the_line_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = drafted(InitOptions(file=sheet(tmp_path, Mia=grades(), Noah=grades(seed=1))))
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with pytest.raises(UserError, match=r"init .*t\.csv --map question=query --annotators \? --judges \? --best \?"):
        _answered(draft, draft.questions()[0])


def test_person_who_runs_against_all_others_stops_and_one_grade_for_everything_is_said(tmp_path: Path) -> None:
    mia: list[Any] = grades(60)
    noah: list[object] = [max(1, grade - i % 2) for i, grade in enumerate(mia)]
    turned: list[object] = [6 - grade for grade in mia]
    said: dict[str, Any] = {"columns": NAMED, "best": "5", "replace": True}
    file = sheet(tmp_path, 60, Mia=mia, Noah=noah, Zoe=turned)
    with pytest.raises(UserError, match="Zoe run against"):
        judgec.init(file, annotators=("Mia", "Noah", "Zoe"), **said)
    assert not judgec.init(file, annotators=("Mia", "Noah"), **said).checks
    (tmp_path / "judgec.toml").write_text('checked = ["Zoe"]\n')
    looked = judgec.init(file, annotators=("Mia", "Noah", "Zoe"), **said)
    assert read_project(looked.path).checked == ("Zoe",)
    file = sheet(tmp_path, 60, "c.csv", Mia=mia, Noah=noah, Tom=[4] * 60)
    found = judgec.init(file, annotators=("Mia", "Noah", "Tom"), **said)
    assert [(one.name, one.stops) for one in found.checks] == [("Tom", False)]


def test_range_of_a_judge_is_what_is_typed(tmp_path: Path) -> None:
    file = sheet(tmp_path, Mia=grades(), score=[i / 40 for i in range(40)])
    said: dict[str, Any] = {"columns": NAMED, "annotators": ("Mia",), "best": "5", "replace": True}
    assert read_project(judgec.init(file, judges=("score=0..1",), **said).path).judges == {"score": "0..1"}
    assert read_project(judgec.init(file, judges={"score": (1, 0)}, **said).path).judges == {"score": "1..0"}


def test_line_to_type_keeps_what_was_typed(tmp_path: Path) -> None:
    file = sheet(tmp_path, Mia=grades(), score=[i / 40 for i in range(40)])
    with pytest.raises(UserError, match=r"--annotators Mia --judges score=0\.\.1 --best \?"):
        judgec.init(file, columns=NAMED, annotators=("Mia",), judges={"score": (0, 1)})


def test_labels_begin_with_who_graded_how_many_and_which_end_is_good(tmp_path: Path) -> None:
    file = sheet(tmp_path, Mia=grades(), Noah=grades(seed=1))
    judgec.init(file, columns=NAMED, annotators=("Mia", "Noah"), best="5")
    first = judgec_here(tmp_path, "labels", "t.csv").stderr.splitlines()
    said = next(line for line in first if line.startswith("graded by"))
    assert said.startswith("graded by 2 annotators (Mia, Noah): 80 labels of 40 items")
    assert "worst first: 1, 2, 3, 4, 5" in said


def typed_in(file: str, lines: str, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], LabelDraft]:
    """The keys of the questions that init asks, and what it knows when these lines are typed."""
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    draft, asked = drafted(InitOptions(file=file)), list[str]()
    while questions := [one for one in draft.questions() if one.key not in asked or not one.optional]:
        asked.append(questions[0].key)
        draft = drafted(_answered(draft, questions[0]))
    return asked, draft


def beside(folder: Path, **columns: Any) -> str:
    """A file of questions and two answers with these columns."""
    texts = [{"Frage": f"How do I do task {i} here?", "v12": f"Open the menu {i} and wait."}
             | {"v13": f"Wait, and open the menu {i}."} for i in range(40)]  # fmt: skip
    pd.DataFrame(texts).assign(**columns).to_csv(folder / "t.csv", index=False)
    return str(folder / "t.csv")


def test_two_answers_beside_each_other_are_asked_about_and_no_answer_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = beside(tmp_path, Maria=[(-2, -1, 0, 1, 2)[i % 5] for i in range(40)])
    with pytest.raises(UserError, match=r"--map v12=\? .*--map v13=\?|--map 'v12=\?' --map 'v13=\?'"):
        judgec.init(file)
    said = "yes\npair\nMaria\n-2 -1: first, 0: tie, 1 2: second\n"
    asked, draft = typed_in(file, said, monkeypatch)
    assert asked == ["columns", "beside", "graders", "winner_words"]
    found = read_draft(draft)
    assert found.labels.task == "preference"
    sides = [found.labels.scale.grades[one.grades["grade"]] for one in found.labels.labels[:5]]
    assert sides == ["a", "a", "tie", "b", "b"]
    assert any("-2 and -1 are a" in note for note in found.labels.notes)
    asked, draft = typed_in(file, "yes\nv13\nMaria\n2\n\n", monkeypatch)
    assert asked == ["columns", "beside", "graders", "scale"]
    assert draft.roles.columns["v13"] == "answer"


def test_graders_of_different_words_are_asked_apart_and_read_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mia, noah = ([words[i % 2] for i in range(40)] for words in ((1, 2), (2, 0)))
    file = beside(tmp_path, Mia=mia, Noah=noah)
    asked, draft = typed_in(file, "yes\npair\nMia,Noah\n1: first, 2: second\n2: first, 0: second\n", monkeypatch)
    assert asked[2:] == ["graders", "winner_words", "winner_words"]
    found = read_draft(draft)
    found.write()
    assert {
        label.grades["grade"] for label in found.labels.labels if label.item_id == found.labels.items[0].item_id
    } == {0}
    assert dict(read_project(found.path).winner_words["Noah"]) == {"2": "a", "0": "b"}  # type: ignore[arg-type]  # a table
    again = judgec.read_labels(file, **found.options)  # type: ignore[arg-type]  # as init says them
    assert again.label_set.digest == found.labels.digest
    shown = json.loads(judgec_here(tmp_path, "labels", "t.csv", "--json").stdout)
    assert shown["items"] == 40


def test_list_of_objects_is_asked_which_field_says_who_graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"query": f"q{i} of it?", "answer": f"a{i} of it"}
            | {"feedback": [{"score": i % 2, "source": "human", "user": ("maria", "jonas")[i // 2 % 2]},
                            {"score": 0.8, "source": "ai", "model": "gpt-4o-mini"}]} for i in range(24)]  # fmt: skip
    file = tmp_path / "t.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UserError, match=r"--map \?=annotator --annotators \? --judges \?"):
        judgec.init(str(file))
    asked, draft = typed_in(str(file), "feedback.user\nmaria,jonas\n(nobody named)\n1\n\n", monkeypatch)
    assert asked == ["names", "graders", "scale"]
    found = read_draft(draft)
    assert {label.annotator for label in found.labels.labels} == {"maria", "jonas"}
    assert draft.columns["feedback.score"] == "grade"


def test_numbers_of_a_judge_off_the_scale_are_asked_for_their_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = sheet(tmp_path, Mia=grades(), metric=[i / 40 for i in range(40)])
    asked, draft = typed_in(file, "\nMia\nmetric\n5\n4\n1..0\n", monkeypatch)
    assert asked == ["columns", "graders", "scale", "ranges"]
    assert read_draft(draft).project.judges == {"metric": "1..0"}
    asked, draft = typed_in(file, "\nMia\nmetric\n5\n4\n\n", monkeypatch)
    assert read_draft(draft).project.judges == {"metric": ""}
    said: dict[str, Any] = {"columns": NAMED, "annotators": ("Mia",), "best": "5"}
    assert judgec.init(file, judges=("metric",), **said).project.judges == {"metric": ""}


def test_text_where_one_grader_alone_graded_is_offered_as_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mia: list[object] = [grade if i % 2 else None for i, grade in enumerate(grades())]
    why: list[object] = [f"This is said in step {i} of it." if i % 2 else None for i in range(40)]
    file = sheet(tmp_path, Mia=mia, Noah=grades(seed=1), Q7=why)
    unread = read_draft(typed_in(file, "\nMia,Noah\n5\n4\nn\n", monkeypatch)[1])
    assert not any(one.rationale for one in unread.labels.labels)
    asked, draft = typed_in(file, "\nMia,Noah\n5\n4\n\n", monkeypatch)
    assert asked == ["columns", "graders", "scale", "reasons"]
    found = read_draft(draft)
    found.write()
    assert read_project(found.path).reasons == {"Q7": "Mia"}
    assert {one.annotator for one in found.labels.labels if one.rationale} == {"Mia"}
    typed = LabelsOptions(**completed(LabelsOptions, {"file": file}))  # type: ignore[arg-type]  # as the shell
    assert read_labels(file, typed.reading(typed.task)).digest == found.labels.digest
    again = judgec.read_labels(file, **found.options)  # type: ignore[arg-type]  # as init says them
    assert again.label_set.digest == found.labels.digest


def test_reason_in_the_rows_of_one_name_is_that_name_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[dict[str, object]] = [
        {"query": f"How do I do task {i // 2} here?", "answer": f"Open the menu {i // 2} and wait."}
            | {"annotator": ("Mia", "Noah")[i % 2], "grade": 1 + i // 2 % 3}
            | {"Q7": f"This is said in step {i} of it." if i % 2 else None} for i in range(60)]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    asked, draft = typed_in(str(tmp_path / "t.csv"), "Mia,Noah\n\n", monkeypatch)
    assert asked == ["graders", "reasons"]
    assert {one.annotator for one in read_draft(draft).labels.labels if one.rationale} == {"Noah"}


def test_conversation_of_several_answers_is_asked_which_was_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = [{"role": role, "content": f"{role} {i} of it"} for i in range(2) for role in ("user", "assistant")]
    rows = [{"messages": [*turns, {"role": "user", "content": f"q{i}?"}, {"role": "assistant", "content": f"a{i}"}]}
            | {"Mia": 1 + i % 5} for i in range(24)]  # fmt: skip
    file = tmp_path / "t.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked, draft = typed_in(str(file), "Mia\n5\n4\nwhole\n", monkeypatch)
    assert asked == ["graders", "scale", "turn"]
    assert read_draft(draft).project.turn == "whole"
    assert judgec.init(str(file), annotators=("Mia",), best="5").project.turn is None


def test_own_column_of_a_task_whose_scale_begins_at_0_is_declared(tmp_path: Path) -> None:
    pd.DataFrame([{"query": f"q{i} is it", "document": f"text {i} of it", "grade": i % 3} for i in range(30)]).to_csv(
        tmp_path / "t.csv", index=False
    )
    found = drafted(InitOptions(file=str(tmp_path / "t.csv"))).scale()
    assert found is not None
    assert found.grades == (0, 1, 2)


PICKS = {"agents": ("v12", "v13"), "first": ("a", "b", "a", "tie"), "other": ("b", "a", "a", "tie")}  # as shown


def pairs(folder: Path, **columns: Any) -> str:
    """A file of forty pairs with Mia's picks and these columns."""
    texts = [{"query": f"How do I do task {i} here?", "answer_a": f"Open the menu {i} and wait.", "Mia": "ab"[i % 2]}
             | {"answer_b": f"Wait, and open the menu {i}."} for i in range(40)]  # fmt: skip
    pd.DataFrame(texts).assign(**columns).to_csv(folder / "t.csv", index=False)
    return str(folder / "t.csv")


@pytest.mark.parametrize(("orders", "flips"), [("as-shown", 0.25), ("mapped", 0.5)])
def test_picks_in_both_orders_in_two_columns_are_one_judge_s_and_their_meaning_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, orders: str, flips: float
) -> None:
    first, other = ([PICKS[one][i % 4] for i in range(40)] for one in ("first", "other"))
    file = pairs(tmp_path, **{"gpt.ab": first, "gpt.ba": other})
    said: dict[str, Any] = {"annotators": ("Mia",), "judges": ("gpt",)}
    with pytest.raises(UserError, match=r"--annotators Mia --judges gpt --orders \?"):
        judgec.init(file, **said)
    asked, draft = typed_in(file, f"Mia\ngpt\n{orders}\n", monkeypatch)
    assert asked == ["graders", "orders"]
    assert draft.graders == ("Mia", "gpt")
    found = read_draft(draft)
    found.write()
    assert read_project(found.path).orders == orders
    shown = json.loads(judgec_here(tmp_path, "agreement", "t.csv", "--json").stdout)
    assert shown["judges"]["gpt"]["flip_rate"]["value"] == flips
    assert judgec.init(file, replace=True, orders=orders, **said).text() == found.text()


def test_picks_in_both_orders_in_rows_are_told_apart_by_a_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pd.read_csv(pairs(tmp_path)).rename(columns={"Mia": "preference"}).assign(annotator="Mia")
    rows = [table]
    for position, picks in (("ab", "first"), ("ba", "other")):
        mine = [PICKS[picks][i % 4] for i in range(40)]
        rows.append(table.assign(annotator="gpt", preference=mine, shown=position))
    pd.concat(rows).to_csv(tmp_path / "t.csv", index=False)
    asked, draft = typed_in(str(tmp_path / "t.csv"), "Mia\ngpt\nshown\nas-shown\n", monkeypatch)
    assert asked == ["graders", "order", "orders"]
    read_draft(draft).write()
    shown = json.loads(judgec_here(tmp_path, "agreement", "t.csv", "--json").stdout)
    assert shown["judges"]["gpt"]["flip_rate"]["value"] == 0.25


def test_two_orders_of_one_judge_are_no_two_judges_and_no_person(tmp_path: Path) -> None:
    file = pairs(tmp_path, **{"gpt.ab": ["a"] * 20 + ["b"] * 20, "gpt.ba": ["b"] * 40})
    with pytest.raises(UserError, match="Name it once: --judges gpt --orders"):
        judgec.agreement(file, annotators=["Mia"], judges=["gpt.ab", "gpt.ba"])
    with pytest.raises(UserError, match="in two orders of a pair, named as people"):
        judgec.read_labels(file, annotators=["Mia", "gpt"])


def test_sheet_is_asked_where_several_hold_labels_whatever_their_lengths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows(n: int) -> Rows:
        texts = [[f"How do I do task {i} here?", f"Open the menu {i} and wait.", 1 + i % 5] for i in range(n)]
        return [["query", "answer", "grade"], *texts]

    legend: Rows = [["grade", "meaning"], [1, "It is wrong from end to end."], [5, "It is right."]]
    raw: Rows = [["log", "n"], *([f"Somebody called it at {i}.", i] for i in range(200))]
    write_xlsx(tmp_path / "t.xlsx", {"Legend": legend, "Pilot": rows(12), "Main": rows(60), "Raw": raw})
    with pytest.raises(InputError, match=r"t\.xlsx#Pilot"):
        judgec.init(str(tmp_path / "t.xlsx"))
    assert not (tmp_path / "judgec.toml").exists()
    monkeypatch.setattr("sys.stdin", io.StringIO("Pilot\n\n"))
    judgec_here(tmp_path, "init", "t.xlsx")
    assert read_project(tmp_path / "judgec.toml").labels == "t.xlsx#Pilot"
    assert json.loads(judgec_here(tmp_path, "labels", "--json").stdout)["items"] == 12
    write_xlsx(tmp_path / "t.xlsx", {"Legend": legend, "Main": rows(60), "Raw": raw})
    assert len(judgec.init(str(tmp_path / "t.xlsx"), replace=True).labels.items) == 60


def test_ids_hold_rows_of_the_same_texts_apart_and_a_person_says_that_they_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"query_id": f"q{i}", "query": f"How do I do task {i % 12} here?", "answer": f"Open menu {i % 12} of it."}
            | {"Mia": 1 + i % 5, "gpt": 1 + i * 3 % 5} for i in range(24)]  # fmt: skip
    file = str(tmp_path / "t.csv")
    pd.DataFrame(rows).to_csv(file, index=False)
    said: dict[str, Any] = {"annotators": ("Mia",), "judges": ("gpt",), "best": "5", "replace": True}
    held = judgec.init(file, **said)
    assert len(held.labels.items) == 24
    assert any("24 items of the same texts" in note for note in held.labels.notes)
    held.path.unlink()
    asked, draft = typed_in(file, "Mia\ngpt\n5\n\n\n", monkeypatch)
    assert asked == ["graders", "scale", "item"]
    assert read_draft(draft).labels.digest == held.labels.digest
    shuffled = pd.DataFrame(rows).sample(frac=1, random_state=0)
    assert (
        judgec.read_labels(shuffled, annotators=["Mia"], judges=["gpt"], best=5).label_set.digest == held.labels.digest
    )
    pd.DataFrame([{**row, "gpt": row["gpt"] if i < 12 else None} for i, row in enumerate(rows)]).to_csv(file)
    _, draft = typed_in(file, "Mia\ngpt\n5\n\ntext\n", monkeypatch)
    assert len(read_draft(draft).labels.items) == 12
    read_draft(draft).write()
    assert json.loads(judgec_here(tmp_path, "labels", "--json").stdout)["items"] == 12


@pytest.mark.parametrize("number", ["nr", "id"])
def test_number_of_a_row_is_no_id_of_an_item_where_a_column_says_who_graded(tmp_path: Path, number: str) -> None:
    rows = [{number: i, "question": f"How do I do task {i // 2} here?", "answer": f"Open menu {i // 2} of it."}
            | {"rater": ("Mia", "Noah")[i % 2], "grade": 1 + i // 2 % 5} for i in range(40)]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    columns = {"question": "query", "rater": "annotator"}
    found = judgec.init(str(tmp_path / "t.csv"), columns=columns, annotators=("Mia", "Noah"))
    assert len(found.labels.items) == 20


@pytest.mark.parametrize(("user", "assistant"), [("user", "agent"), ("Kundin", "Beraterin")])
def test_roles_that_nobody_knows_are_asked_about_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: str, assistant: str
) -> None:
    turns = [[{"role": user, "content": f"Where is pump {i}?"}, {"role": assistant, "content": f"On floor {i}."}]
             for i in range(24)]  # fmt: skip
    rows = [{"messages": one, "grade": 1 + i % 5} for i, one in enumerate(turns)]
    file = tmp_path / "t.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UserError, match=rf"--map '?role:{assistant}=(assistant|\?)"):
        judgec.init(str(file))
    one = user == "user"
    asked, draft = typed_in(str(file), "\n\n" if one else "user\nassistant\n\n", monkeypatch)
    assert asked == (["roles", "unnamed"] if one else ["roles", "roles", "unnamed"])
    found = read_draft(draft)
    found.write()
    assert read_project(found.path).columns[f"role:{assistant}"] == "assistant"
    assert {item.text("answer") for item in found.labels.items} == {f"On floor {i}." for i in range(24)}
    assert json.loads(judgec_here(tmp_path, "labels", "--json").stdout)["items"] == 24


def test_model_proposes_roles_that_a_person_confirms_and_wrong_ones_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    rows: list[dict[str, object]] = [
        {"Kysymys": f"Miten teen tehtävän {i // 2} täällä?", "Vastaus": f"Avaa valikko {i} ja odota."}
            | {"Malli": ("v1", "v2")[i % 2], "Tyhjä": "", "Mia": 1 + i % 5} for i in range(40)]  # fmt: skip
    file = str(tmp_path / "t.csv")
    pd.DataFrame(rows).to_csv(file, index=False)
    said = {"Kysymys": "query", "Vastaus": "answer", "Malli": "agent", "Mia": "grader"}
    said |= {"Lähde": "contexts", "Tyhjä": "reference"}

    def proposing(call: Call) -> Outcome:
        assert not call.prompt.inputs or "Miten teen" in call.prompt.inputs["columns"]
        return answer(call, {"proposed": f"Here it is: {json.dumps(said)}"})

    with FakeOpenAI(proposing) as server:
        asked: dict[str, Any] = {"propose_lm": "openai/fake", "api_base": server.base_url, "home": tmp_path}
        with pytest.raises(UserError, match="--map Kysymys=query --map Vastaus=answer --map Malli=agent --annotators"):
            judgec.init(file, **asked)
        first = server.calls
        monkeypatch.setattr("sys.stdin", io.StringIO("\nMia\n5\n4\n"))
        monkeypatch.chdir(tmp_path)
        shown = judgec_here(tmp_path, "init", "t.csv", "--propose-lm", "openai/fake", "--api-base", server.base_url)
        assert server.calls == first  # kept
        said = {"Kysymys": "query", "Vastaus": "query"}
        (tmp_path / "other.csv").write_text((tmp_path / "t.csv").read_text().replace("valikko", "luukku"))
        draft = drafted(InitOptions(file="other.csv", replace=True, **asked))
    found = read_project(tmp_path / "judgec.toml")
    assert found.columns == {"Kysymys": "query", "Vastaus": "answer", "Malli": "agent"}
    assert found.proposed_by == "openai/fake"
    said_of = " ".join(f"{shown.stdout} {shown.stderr}".split())
    assert "'Lähde' as 'contexts': no such column" in said_of
    assert "'Mia' as 'grader': no such role" in said_of
    assert [one.partition(":")[2].strip() for one in draft.proposed.ignored] == [
        "it is proposed for 2 columns, ignored."
    ] * 2
    said_of_columns = {"Kysymys": "query", "Vastaus": "answer", "Malli": "agent"}
    typed = judgec.init(file, columns=said_of_columns, annotators=("Mia",), best="5", replace=True)
    assert typed.project.proposed_by is None


def test_model_that_replies_with_no_object_proposes_nothing_and_the_sheet_is_read_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    file = sheet(tmp_path, Mia=grades())
    with FakeOpenAI(lambda call: answer(call, {"proposed": "I cannot say."})) as server:
        options = InitOptions(file=file, propose_lm="openai/fake", api_base=server.base_url, home=tmp_path)
        draft = drafted(options)
    assert draft.proposed.columns == {}
    assert len(draft.proposed.ignored) == 1
    with FakeOpenAI(lambda call: Text("I cannot say.")) as server:
        with pytest.raises(BudgetError):
            drafted(InitOptions(file=file, propose_lm="openai/fake", api_base=server.base_url, home=tmp_path, budget=1))
        assert server.calls == 1
    assert draft.roles.columns["question"] == "query"


def test_slip_of_the_pen_is_asked_again_and_every_answer_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet(tmp_path, Mia=grades(seed=1), Noah=grades(seed=2), Eva=[4] * 40)
    typed = "no\n\nMia,Noa\nMia,Noah,Eva\n6\n5\n9\n5\n\n"  # a word, a name, an end and a grade that are none
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    done = judgec_here(tmp_path, "init", "t.csv")
    assert done.stderr.count("Who of these is a person") == 2
    assert done.stderr.count("which end is good") == 3
    found = read_project(tmp_path / "judgec.toml")
    assert found.annotators == ("Mia", "Noah", "Eva")
    assert found.scale is not None
    assert found.scale.accept_at == 4  # of 1-5, if Enter


def test_columns_of_aspects_are_no_people_where_somebody_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = sheet(tmp_path, Clear=grades(seed=1), Right=grades(seed=2))
    asked, draft = typed_in(file, "\nClear=grade.clear,Right=grade.right\n5\n\n", monkeypatch)
    assert asked == ["columns", "graders", "scale"]
    labels = read_draft(draft).labels
    assert (labels.task, labels.aspects) == ("answer", ("clear", "right"))
    assert {one.annotator for one in labels.labels} == {"expert"}


@pytest.mark.parametrize("named", [True, False])
def test_column_of_picks_is_nobody_s_name_where_questions_repeat(tmp_path: Path, named: bool) -> None:
    heads = ("answer_a", "answer_b") if named else ("Reply 1", "Reply 2")
    rows = [{"query": f"How do I do task {i // 2} here?", "Eva": "12="[i * 7 % 3], "Tom": "12="[i * 5 % 3]}
            | {heads[0]: f"Open the menu {i} and wait.", heads[1]: f"Wait, and open menu {i}."}
            for i in range(60)]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    draft = drafted(InitOptions(file=str(tmp_path / "t.csv")))
    assert draft.graders == ("Eva", "Tom")
    assert "annotator" not in draft.roles.columns.values()


def test_ends_of_a_judge_with_decimal_commas_are_asked_and_words_for_nothing_stay_when_it_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mia = [*grades(39), "N.B."]
    file = sheet(tmp_path, 40, "t.csv", Mia=mia, KI=[f"0,{10 + i}" for i in range(40)])
    asked, draft = typed_in(file, "\nMia\nKI\n5\n\n\n0..1\n", monkeypatch)
    assert asked == ["columns", "graders", "scale", "missing", "ranges"]
    read_draft(draft).write()
    found = read_project(tmp_path / "judgec.toml")
    assert (found.missing, found.judges) == (("N.B.",), {"KI": "0..1"})
    said: dict[str, Any] = {"columns": NAMED, "annotators": ("Mia",), "judges": ("KI=0..1",), "best": "5"}
    assert judgec.init(file, **said, accept_at="4", replace=True).project == found


def test_line_of_what_was_answered_writes_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = {"gpt.ab": ["12"[i % 2] for i in range(40)], "gpt.ba": ["12"[i // 2 % 2] for i in range(40)]}
    for columns, typed in (
        (judge, "Mia\ngpt\n1: first, 2: second\nmapped\n"),
        ({"query_id": [str(i) for i in range(40)], "query": ["How do I do it here?"] * 40, "answer_a": ["Wait."] * 40,
          "answer_b": ["No."] * 40}, "Mia\ntext\n"),
    ):  # fmt: skip
        pairs(tmp_path, **columns)
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        said = ("init", "t.csv", "--replace", "--repeats", "median", "--name", "picks")
        done = judgec_here(tmp_path, *said).stderr
        text = (tmp_path / "judgec.toml").read_text()
        line = done.partition("What was answered: ")[2].splitlines()[0]
        judgec_here(tmp_path, *shlex.split(line)[1:], "--yes")
        assert (tmp_path / "judgec.toml").read_text() == text


def test_number_with_a_comma_is_never_offered_as_nothing(tmp_path: Path) -> None:
    """``--missing 8,5`` would drop every 8 and 5."""
    mia = ["N/D" if i == 3 else f"{i % 10},5" if i % 4 else str(i % 10) for i in range(40)]
    file = sheet(tmp_path, 40, "t.csv", Mia=mia, Noah=[i % 11 for i in range(40)])
    options = InitOptions(
        file=file, columns={**TEXTS, "question": "query"}, annotators=("Mia", "Noah"), grades=("0..10",)
    )
    assert "--missing N/D" in [part for one in drafted(options).questions() for part in one.options]


def test_words_of_several_graders_are_one_option_of_the_line_to_type(tmp_path: Path) -> None:
    file = beside(tmp_path, Mia=[(1, 2)[i % 2] for i in range(40)], Noah=[(">", "=", "<")[i % 3] for i in range(40)])
    draft = drafted(
        InitOptions(
            file=file, columns={"Frage": "query", "v12": "answer_a", "v13": "answer_b"}, annotators=("Mia", "Noah")
        )
    )
    line = shlex.split(draft.typed([one for one in draft.questions() if not one.optional]))
    assert line.count("--winner-words") == 1
    assert {"Mia:1=?", "Mia:2=?", "Noah:>=?", "Noah:==?", "Noah:<=?"} == set(line[-1].split(","))


def test_line_to_type_goes_on_without_an_answer_that_is_not_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = sheet(tmp_path, 40, "t.csv", grade=grades()).replace("t.csv", "u.csv")
    pd.read_csv(tmp_path / "t.csv").rename(columns=NAMED).to_csv(file, index=False)
    draft = drafted(InitOptions(file=file, best="5"))
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with pytest.raises(UserError, match=r"--best 5 --yes to go on without\."):
        _answered(draft, draft.questions()[0])


def test_roles_that_were_said_are_not_asked_about_in_a_column_of_another_name(tmp_path: Path) -> None:
    said = [{"from": who, "text": f"{who} says something here"} for who in ("narrator", "caller", "desk")]
    rows = [{"talk": [*said, *said[1:]], "Uma": i % 3 + 1, "Viggo": i % 2 + 1} for i in range(20)]
    pd.DataFrame(rows).to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    columns = {"talk": "messages", "role:narrator": "system", "role:caller": "user", "role:desk": "assistant"}
    options = InitOptions(file=str(tmp_path / "t.jsonl"), columns=columns, annotators=("Uma", "Viggo"), best="3")
    draft = drafted(options)
    assert [one.key for one in draft.questions()] == ["turn"]
    assert read_draft(draft).labels.items[0].inputs["answer"] == "desk says something here"


def test_classes_have_no_end_and_nobody_has_to_name_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("billing", "legal", "other")
    one: list[object] = [words[i % 3] for i in range(40)]
    file = sheet(tmp_path, Mia=one, Noah=[words[i % 3 if i % 4 else 0] for i in range(40)])
    assert typed_in(file, "\nMia,Noah\n\n", monkeypatch)[1].options.best == "none"
    found = judgec.init(file, columns=NAMED, annotators=("Mia", "Noah"), best="none", replace=True)
    scale = read_project(found.path).scale
    assert scale is not None
    assert (scale.level, scale.grades) == ("nominal", words)
    assert found.labels.scale.level == "nominal"
    with pytest.raises(UserError, match="has no order"):
        judgec.init(file, columns=NAMED, annotators=("Mia", "Noah"), best="none", accept_at="legal", replace=True)
