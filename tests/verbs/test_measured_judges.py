"""A judge that is measured is never among the annotators: no path from a table to a statistic shares a column."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

import judgec
from judgec.errors import InputError, UserError
from judgec.labels.project import read_project
from judgec.labels.reading import as_reading
from judgec.labels.rows.graded import ComparedColumns, graded_of
from judgec.labels.rows.panel import AnnotatorPanel
from judgec.labels.rows.raters import NO_ANNOTATOR
from judgec.lm.watch import Silent
from judgec.raters.programs import Program
from judgec.records.label import LabelSet
from judgec.records.scale import Scale
from judgec.verbs.compile_judge import planned
from judgec.verbs.frames import as_table
from judgec.verbs.labels import Labels
from judgec.verbs.options.compile_judge import CompileJudgeOptions
from judgec.verbs.options.shared import HeldOutLabels
from judgec.verbs.source import LabelSource, labels_for
from tests.records.test_card import make_card

NAMES = ("Mia", "Noah", "Kai", "AI grade", "gpt", "robbie")
ANSWERS = ("Six bar.", "Behind the cover.", "I do not know.")


def wide(names: Sequence[str] = NAMES, items: int = 24) -> list[dict[str, object]]:
    """One row an item, a column each; nobody gives the same grades as another."""
    return [
        {"query": f"What is question {i // 2}?", "answer": f"{ANSWERS[i % 3]} {i}", "reference": f"Right {i // 2}."}
        | {name: 1 + (i * (n + 2) + n + i // 5) % 5 for n, name in enumerate(names)}
        for i in range(items)
    ]


def long(names: Sequence[str] = NAMES) -> list[dict[str, object]]:
    """The same with one row an item and annotator."""
    inputs = ("query", "answer", "reference")
    return [
        {
            **{key: row[key] for key in inputs},
            "annotator": name,
            "grade": row[name],
            **{f"{n} says": row[n] for n in names},
        }
        for row in wide(names)
        for name in names
    ]


def annotators(labels: LabelSet) -> set[str]:
    return {label.annotator for label in labels.labels}


@st.composite
def asked(draw: st.DrawFn) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Annotators, and judges that may be among them; one of the annotators is none."""
    raters = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6, unique=True))
    judges = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    person = next((name for name in NAMES if name not in judges), "Mia")
    return tuple(dict.fromkeys([*raters, person])), tuple(judges)


PROPERTY = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@PROPERTY
@given(asked())
def test_no_reading_of_labels_has_a_measured_judge_among_the_annotators(
    named: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    raters, judges = named
    kept = set(raters) - set(judges)
    for rows in (wide(), long()):
        labels = judgec.read_labels(rows, annotators=raters, judges=judges).label_set
        assert annotators(labels) == kept
        assert any(NO_ANNOTATOR in note for note in labels.notes) or not set(raters) & set(judges)
    unnamed = judgec.read_labels(long(), judges=judges).label_set
    assert not annotators(unnamed) & {*judges, "gpt", "AI grade"}


@PROPERTY
@given(asked())
def test_agreement_has_the_judge_in_neither_headline_nor_replacement_test(
    named: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    raters, (judge, *_) = named
    kept = tuple(name for name in raters if name != judge)
    table = as_table(wide())
    one, other = (graded_of(table, ComparedColumns(experts=(), judge=judge, annotators=who)) for who in (raters, kept))
    assert one.ratings.expert.tolist() == other.ratings.expert.tolist()
    assert isinstance(one.panel, AnnotatorPanel)
    assert set(one.panel.annotators) == set(kept)
    assert any(NO_ANNOTATOR in note for note in one.notes) is (judge in raters)
    with_aspect = as_table([{**row, f"{judge}.relevance": 1} for row in wide()])
    for expert in (judge, f"{judge}.relevance"):
        with pytest.raises(UserError, match="cannot be measured against itself"):
            graded_of(with_aspect, ComparedColumns(experts=(expert,), judge=judge))


def test_recorded_judge_of_an_annotators_name_is_measured_against_the_others() -> None:
    labels = [{**row, "item_id": str(i)} for i, row in enumerate(wide(items=40))]
    verdicts = [{"item_id": str(i), "judge": "robbie", "grade": row["robbie"]} for i, row in enumerate(wide(items=40))]
    found = judgec.agreement(verdicts, labels=labels, annotators=("Mia", "Noah", "robbie"))
    assert found.agreement == judgec.agreement(verdicts, labels=labels, annotators=("Mia", "Noah")).agreement
    assert [note for note in found.notes if NO_ANNOTATOR in note] == ["robbie: no annotator, it is measured."]


@settings(PROPERTY, max_examples=4)
@given(asked())
def test_compile_reads_no_judge_as_an_annotator_however_its_verdicts_come(
    named: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    raters, judges = named
    kept, rows = set(raters) - set(judges), wide(items=40)
    verdicts = pd.DataFrame(
        [{"item_id": str(i), "judge": name, "grade": row[name]} for i, row in enumerate(rows) for name in judges]
    )
    named_rows = [{**row, "item_id": str(i)} for i, row in enumerate(rows)]
    read = judgec.read_labels(named_rows, annotators=raters)
    assert isinstance(read, Labels)
    for given_labels, who, said in (
        (rows, raters, judges),
        (named_rows, raters, (verdicts,)),
        (read, (), (verdicts,)),
    ):
        options = CompileJudgeOptions(labels=given_labels, annotators=who, verdicts=said, evidence=False)  # type: ignore[arg-type]  # Python may pass tables
        _, dataset, _ = planned(options, Silent())
        assert annotators(dataset.labels) == kept
        assert set(dataset.test.experts.annotators) <= kept


def test_judge_that_is_the_column_of_the_labels_is_refused() -> None:
    rows = [{**row, "grade": row["Mia"]} for row in wide(items=40)]
    with pytest.raises(UserError, match="cannot be measured against itself"):
        planned(CompileJudgeOptions(labels=rows, verdicts=("grade",)), Silent())
    _, dataset, _ = planned(CompileJudgeOptions(labels=rows, annotators=("Noah",), verdicts=("grade",)), Silent())
    assert annotators(dataset.labels) == {"Noah"}
    with pytest.raises(UserError, match="--annotators gpt: the judge that is measured"):
        judgec.agreement(rows, annotators=("gpt",), judge="gpt")


def test_labels_read_anew_for_a_compiled_judge_leave_out_every_judge_of_its_compile(tmp_path: Path) -> None:
    pd.DataFrame(wide(items=60)).to_csv(tmp_path / "sheet.csv", index=False)
    raters, names = ("Mia", "Noah", "gpt", "robbie"), {"query": "query"}
    reading = as_reading(task="grade", columns=names, annotators=raters, judges=("gpt", "robbie"))
    source = LabelSource(str(tmp_path / "sheet.csv"), reading)
    made = {"kind": "recorded", "judge": "gpt"}
    card = make_card(scale=Scale(grades=(1, 2, 3, 4, 5), accept_at=4), settings=made)
    program = Program(card, {}, {}, {}, {"source": source.to_json()})
    own = labels_for(HeldOutLabels(home=tmp_path), program, environ={}).label_set
    assert annotators(own) == {"Mia", "Noah"}
    assert sum(NO_ANNOTATOR in note for note in own.notes) == 1
    named = HeldOutLabels(labels=str(tmp_path / "sheet.csv"), annotators=raters, home=tmp_path)
    assert annotators(labels_for(named, program, environ={}).label_set) == {"Mia", "Noah", "robbie"}
    panel = replace(program, calibration={"panel": {"members": ["robbie", "gpt"]}})
    assert annotators(labels_for(named, panel, environ={}).label_set) == {"Mia", "Noah"}
    live = replace(program, card=card.model_copy(update={"settings": {"kind": "labeled"}}))
    assert annotators(labels_for(named, live, environ={}).label_set) == set(raters)
    assert annotators(labels_for(named, live, panel, environ={}).label_set) == {"Mia", "Noah"}


def test_annotators_choose_the_labels_of_the_headline_too() -> None:
    one = judgec.agreement(wide(), annotators=("Noah",), judge="gpt")
    same = judgec.agreement(wide(), expert="Noah", judge="gpt")
    kappa = cohen_kappa_score([row["Noah"] for row in wide()], [row["gpt"] for row in wide()])
    assert one.agreement == same.agreement
    assert one.estimates["kappa"].value == pytest.approx(kappa)
    rows = long(("Mia", "Noah", "robbie", "gpt"))
    people = judgec.agreement(rows, annotators=("Mia", "Noah"), expert="grade", judge="gpt says")
    alone = judgec.agreement([r for r in rows if r["annotator"] in {"Mia", "Noah"}], expert="grade", judge="gpt says")
    assert people.agreement == alone.agreement
    assert people.agreement.n == 24  # items, not their 48 labels
    looked = judgec.agreement(rows, expert="grade", judge="gpt says")  # gpt is by its name a judge
    assert looked.agreement.n == 24
    every = judgec.agreement(wide(), expert="Mia", annotators=("Mia", "Noah", "Kai"), judge="gpt")
    assert every.expert == "Mia, Noah, Kai"
    middle = [sorted(int(str(row[name])) for name in ("Mia", "Noah", "Kai"))[1] for row in wide()]
    assert every.estimates["kappa"].value == pytest.approx(cohen_kappa_score(middle, [row["gpt"] for row in wide()]))


def test_init_writes_the_machine_as_a_judge_and_refuses_to_have_it_in_both(tmp_path: Path) -> None:
    pd.DataFrame(wide(("Mia", "Noah", "AI grade"))).to_csv(tmp_path / "sheet.csv", index=False)
    with pytest.raises(UserError, match=r"AI grade.*annotators="):
        judgec.init(str(tmp_path / "sheet.csv"))
    assert not (tmp_path / "judgec.toml").exists()
    said: dict[str, Any] = {"annotators": ("Mia", "Noah"), "judges": ("AI grade",), "best": "5"}
    found = judgec.init(str(tmp_path / "sheet.csv"), **said)
    assert (found.project.annotators, tuple(found.project.judges)) == (("Mia", "Noah"), ("AI grade",))
    assert tuple(read_project(found.path).judges) == ("AI grade",)
    found.path.write_text('annotators = ["Mia", "AI grade"]\njudges = ["AI grade"]\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"judgec\.toml:2: AI grade is also among the annotators"):
        read_project(found.path)


@pytest.mark.parametrize(
    "verdict", [{"verdict": 2}, {"grade": 2, "score": 0.3, "accept": "false", "confidence": 0.8, "rationale": "Short."}]
)
def test_verdicts_beside_judged_by_are_a_judges(tmp_path: Path, verdict: dict[str, object]) -> None:
    rows = [{**row, **verdict, "judged_by": "gpt-4o"} for row in wide(("Mia", "Noah"))]
    pd.DataFrame(rows).to_csv(tmp_path / "sheet.csv", index=False)
    found = judgec.init(str(tmp_path / "sheet.csv"), annotators=("Mia", "Noah"), best="5")
    assert found.project.annotators == ("Mia", "Noah")
    assert {label.accept for label in found.labels.labels} == {None}
    assert not any(label.rationale for label in found.labels.labels)
