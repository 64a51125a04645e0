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
from judgec.labels.rows.raters import NO_ANNOTATOR
from judgec.lm.watch import Silent
from judgec.raters.judge import JudgeTree
from judgec.raters.programs import Json, Program
from judgec.raters.tree import Calibrated, Mean, PromptLeaf, Rates, RecordedLeaf
from judgec.records.card import ProgramCard
from judgec.records.label import LabelSet
from judgec.records.scale import Scale
from judgec.verbs.compile_judge import planned
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
    """Annotators, and judges that are others."""
    raters = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    return tuple(raters), tuple(name for name in NAMES if name not in raters)


PROPERTY = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@PROPERTY
@given(asked())
def test_no_reading_of_labels_has_a_measured_judge_among_the_annotators(
    named: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    raters, judges = named
    for rows in (wide(), long()):
        labels = judgec.read_labels(rows, annotators=raters, judges=judges, best=5).label_set
        assert annotators(labels) == set(raters)
        assert set(labels.judged) == set(judges)


@settings(PROPERTY, max_examples=4)
@given(asked())
def test_agreement_has_the_judge_in_neither_headline_nor_replacement_test(
    named: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    raters, (judge, *_) = named
    found = judgec.agreement(wide(), annotators=raters, judges=judge, best=5)
    assert found.expert == ", ".join(sorted(raters))
    if found.alt_test is not None and found.alt_test.contests:
        assert {one.annotator for one in found.alt_test.contests} == set(raters)
    with pytest.raises(UserError, match="cannot be measured against itself"):
        judgec.agreement([{**row, "grade": row[judge]} for row in wide()], judges="grade")


def test_recorded_judge_of_an_annotators_name_is_measured_against_the_others() -> None:
    labels = [{**row, "item_id": str(i)} for i, row in enumerate(wide(items=40))]
    verdicts = [{"item_id": str(i), "judge": "robbie", "grade": row["robbie"]} for i, row in enumerate(wide(items=40))]
    found = judgec.agreement(verdicts, labels=labels, annotators=("Mia", "Noah", "robbie"), best=5)
    assert found.agreement == judgec.agreement(verdicts, labels=labels, annotators=("Mia", "Noah"), best=5).agreement
    assert [note for note in found.reading if NO_ANNOTATOR in note] == ["robbie: no annotator, it is measured."]


@settings(PROPERTY, max_examples=4)
@given(asked())
def test_compile_reads_no_judge_as_an_annotator_however_its_verdicts_come(
    named: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    raters, judges = named
    rows = wide(items=40)
    verdicts = pd.DataFrame(
        [{"item_id": str(i), "judge": name, "grade": row[name]} for i, row in enumerate(rows) for name in judges]
    )
    named_rows = [{**row, "item_id": str(i)} for i, row in enumerate(rows)]
    read = judgec.read_labels(named_rows, annotators=raters, best=5)
    assert isinstance(read, Labels)
    beside = dict.fromkeys(judges, "")
    for options in (
        CompileJudgeOptions(labels=rows, annotators=raters, judges=beside, best="5", evidence=False),
        CompileJudgeOptions(labels=named_rows, annotators=raters, verdicts=verdicts, best="5", evidence=False),
        CompileJudgeOptions(labels=read, verdicts=verdicts, evidence=False),
    ):
        settings_, dataset, _ = planned(options, Silent())
        assert annotators(dataset.labels) == set(raters)
        assert set(dataset.test.experts.annotators) <= set(raters)
        assert settings_.candidates.recorded is not None
        assert set(settings_.candidates.recorded.judges) == set(judges)


def test_judges_beside_labels_compete_with_the_model_unless_candidates_are_typed() -> None:
    beside = {"gpt": "", "robbie": ""}
    options = CompileJudgeOptions(labels=wide(items=40), annotators=("Mia", "Noah"), judges=beside, best="5")
    for more, recorded, asked in (
        ({}, {"gpt", "robbie"}, set[str]()),
        ({"lm": "openai/some"}, {"gpt", "robbie"}, {"openai/some"}),
        ({"candidates": ("openai/one", "openai/two")}, set(), {"openai/one", "openai/two"}),
    ):
        settings_, dataset, _ = planned(replace(options, **more), Silent())
        rated = settings_.candidates
        assert annotators(dataset.labels) == {"Mia", "Noah"}
        assert set(() if rated.recorded is None else rated.recorded.judges) == recorded
        assert {one.name for one in rated.asked} == asked


def test_judge_that_is_the_column_of_the_labels_is_refused() -> None:
    rows = [{**row, "grade": row["Mia"]} for row in wide(items=40)]
    with pytest.raises(UserError, match="cannot be measured against itself"):
        planned(CompileJudgeOptions(labels=rows, judges={"grade": ""}), Silent())
    told = CompileJudgeOptions(labels=rows, annotators=("Noah",), judges={"grade": ""}, best="5")
    _, dataset, _ = planned(told, Silent())
    assert annotators(dataset.labels) == {"Noah"}


def _saved(tree: Rates, card: ProgramCard) -> Json:
    return JudgeTree(Calibrated(of=tree), card.task, card.scale, card.aspects).saved()


def test_labels_read_anew_for_a_compiled_judge_leave_out_every_judge_of_its_compile(tmp_path: Path) -> None:
    pd.DataFrame(wide(items=60)).to_csv(tmp_path / "sheet.csv", index=False)
    raters, names = ("Mia", "Noah", "gpt", "robbie"), {"query": "query"}
    reading = as_reading(task="grade", columns=names, annotators=raters, judges=("gpt", "robbie"))
    source = LabelSource(str(tmp_path / "sheet.csv"), reading)
    made = {"kind": "recorded", "judge": "gpt"}
    card = make_card(scale=Scale(grades=(1, 2, 3, 4, 5), accept_at=4), settings=made)
    gpt, robbie = (RecordedLeaf(name=name, verdicts="recorded:columns") for name in ("gpt", "robbie"))
    program = Program(card, _saved(gpt, card), {}, {"source": source.to_json()})
    own = labels_for(HeldOutLabels(home=tmp_path), program, environ={}).label_set
    assert annotators(own) == {"Mia", "Noah"}
    assert sum(NO_ANNOTATOR in note for note in own.notes) == 1
    named = HeldOutLabels(labels=str(tmp_path / "sheet.csv"), annotators=raters, home=tmp_path)
    assert annotators(labels_for(named, program, environ={}).label_set) == {"Mia", "Noah", "robbie"}
    panel = replace(program, tree=_saved(Mean(of=(robbie, gpt)), card))
    assert annotators(labels_for(named, panel, environ={}).label_set) == {"Mia", "Noah"}
    asked = replace(program, tree=_saved(PromptLeaf(name="prompt", turns={"": (("user", "{query}"),)}), card))
    assert annotators(labels_for(named, asked, environ={}).label_set) == set(raters)
    assert annotators(labels_for(named, asked, panel, environ={}).label_set) == {"Mia", "Noah"}


def test_annotators_choose_the_labels_of_the_headline_too() -> None:
    one = judgec.agreement(wide(), annotators=("Noah",), judges="gpt", best=5)
    kappa = cohen_kappa_score([row["Noah"] for row in wide()], [row["gpt"] for row in wide()])
    assert one.estimates["kappa"].value == pytest.approx(kappa)
    rows = long(("Mia", "Noah", "robbie", "gpt"))
    people = judgec.agreement(rows, annotators=("Mia", "Noah"), judges="gpt says")
    alone = judgec.agreement([r for r in rows if r["annotator"] in {"Mia", "Noah"}], annotators="*", judges="gpt says")
    assert people.agreement == alone.agreement
    assert people.agreement.n == 24  # items, not their 48 labels
    every = judgec.agreement(wide(), annotators=("Mia", "Noah", "Kai"), judges="gpt", best=5)
    assert every.expert == "Kai, Mia, Noah"
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
