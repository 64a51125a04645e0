"""``judgec.agreement`` of a table in memory."""

import asyncio
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

import judgec
from judgec.errors import InputError, UserError
from judgec.verbs.agreement import MeasuredAgreement, agreement_report
from judgec.verbs.check_labels import check_labels
from judgec.verbs.options.agreement import AgreementOptions
from judgec.verbs.options.labels import LabelsOptions


def graded(n: int = 120) -> pd.DataFrame:
    """Grades 1-5 of an expert and a judge that errs, every tenth cell empty."""
    rng = np.random.default_rng(3)
    human = rng.integers(1, 6, n)
    judge = np.clip(human + rng.integers(-1, 2, n), 1, 5).astype(float)
    judge[::10] = np.nan
    return pd.DataFrame({"human": human, "gpt4": judge, "ticket": np.arange(n) // 3}, index=[f"r{i}" for i in range(n)])


def test_agreement_of_a_frame_equals_scipy_and_the_file_of_the_same_rows(tmp_path: Path) -> None:
    frame = graded()
    found = judgec.agreement(frame, annotators="human", judges="gpt4", cluster="ticket", best=5)
    scored = frame.dropna()
    assert found.estimates["tau_b"].value == pytest.approx(stats.kendalltau(scored.human, scored.gpt4).statistic)
    assert found.agreement.unscored == 12
    assert found.table.columns.tolist() == ["value", "low", "high"]
    tau = found.table.loc["tau_b"].to_dict()
    assert tau["low"] < tau["value"] < tau["high"]
    frame.to_csv(tmp_path / "graded.csv")
    of_file = judgec.agreement(tmp_path / "graded.csv", annotators="human", judges="gpt4", cluster="ticket", best=5)
    pd.testing.assert_frame_equal(of_file.table, found.table)
    assert found.verdict in repr(found)
    assert "<table" in found._repr_html_()


def test_agreement_leaves_out_learned_rows_unless_all_are_wanted() -> None:
    frame = graded().assign(learned=[i < 40 for i in range(120)])

    async def inside() -> judgec.MeasuredAgreement:
        return judgec.agreement(frame, annotators="human", judges="gpt4", best=5)

    new = asyncio.run(inside())
    everything = judgec.agreement(frame, annotators="human", judges="gpt4", all=True, best=5)
    assert (new.learned, new.agreement.n + new.agreement.unscored) == (40, 80)
    assert (everything.learned, everything.agreement.n + everything.agreement.unscored) == (40, 120)
    assert any("are left out" in note for note in new.notes)


def test_annotators_of_a_table_say_whether_the_judge_may_replace_one() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(1, 6, size=80)
    near = {n: np.clip(truth + rng.integers(-1, 2, size=80), 1, 5).tolist() for n in ("ann", "bob", "cem")}
    rows = [
        {"item_id": i, "query_id": i // 2, "judge": int(truth[i]), "noise": int(rng.integers(1, 6))}
        | dict(zip(near, g, strict=True))
        for i, g in enumerate(zip(*near.values(), strict=True))
    ]
    good, bad = (
        judgec.agreement(rows, annotators=("ann", "bob", "cem"), judges=name, epsilon=0.1, best=5)
        for name in ("judge", "noise")
    )
    assert good.alt_test is not None
    assert bad.alt_test is not None
    assert (good.alt_test.omega, bad.alt_test.omega) == (1.0, 0.0)
    assert good.report["judges"]["judge"]["alt_test"] == good.alt_test.to_json()  # type: ignore[index]  # mappings
    assert [one.queries for one in good.alt_test.contests] == [40, 40, 40]
    assert good.alt_test.epsilon == 0.1
    plain = judgec.agreement(rows, annotators="ann", judges="judge", best=5)
    assert plain.alt_test is None
    assert "alt_test" not in plain.report["judges"]["judge"]  # type: ignore[index]  # mappings


def test_rows_that_the_judge_has_learned_from_are_in_no_contest() -> None:
    rows = [
        {
            "item_id": i,
            "annotator": name,
            "grade": 1 + (i + (i % 5 == n)) % 3,
            "judge_grade": 1 + i % 3,
            "judge_learned": i < 40,
        }
        for i in range(80)
        for n, name in enumerate(("ann", "bob", "cem"))
    ]
    found = judgec.agreement(rows, annotators="*", judges="judge_grade")
    assert found.alt_test is not None
    assert {one.items for one in found.alt_test.contests} == {40}
    every = judgec.agreement(rows, annotators="*", judges="judge_grade", all=True)
    assert every.alt_test is not None
    assert {one.items for one in every.alt_test.contests} == {80}


def dialogue(number: int, said: str, *judge: int) -> dict[str, object]:
    """A dialogue of as many answers as the judge graded; the expert grades each 1."""
    turns: list[dict[str, object]] = []
    for place, grade in enumerate(judge):
        turns.append({"role": "user", "content": f"{said} {place}?"})
        turns.append({"role": "assistant", "content": "Yes.", "human": 1 + place, "gpt4": grade})
    return {"item_id": f"d{number}", "conversation": turns}


def test_agreement_of_each_turn_takes_dialogues_as_clusters() -> None:
    rows = [dialogue(n, f"chair {n}", 1, 2, 2 + n % 2) for n in range(20)]
    found = judgec.agreement(rows, annotators="human", judges="gpt4", turn="each", best=3)
    assert found.agreement.n == 60
    assert found.estimates["exact"].value == pytest.approx(50 / 60)  # the third of every second dialogue is one lower
    flat = [
        {"human": 1 + place, "gpt4": grade, "dialogue": n}
        for n in range(20)
        for place, grade in enumerate((1, 2, 2 + n % 2))
    ]
    same = judgec.agreement(flat, annotators="human", judges="gpt4", cluster="dialogue", best=3)
    pd.testing.assert_frame_equal(found.table, same.table)


def test_recorded_verdicts_of_each_turn_find_the_labels_in_the_turns(tmp_path: Path) -> None:
    labels = [dialogue(n, f"chair {n}", 1, 2, 3) for n in range(20)]
    for row in labels:
        for turn in row["conversation"]:  # type: ignore[attr-defined]  # a list, as made above
            if "human" in turn:
                turn["grade"] = turn.pop("human")
    verdicts = [
        {"item_id": f"d{n}#{place}", "judge": "j", "grade": place - (place == 3 and n % 2)}
        for n in range(20)
        for place in (1, 2, 3)
    ]
    found = judgec.agreement(verdicts, labels=labels, turn="each", home=tmp_path)
    assert found.agreement.n == 60
    assert found.estimates["exact"].value == pytest.approx(50 / 60)


def test_winners_that_two_columns_spell_differently_are_one_class_each() -> None:
    rows = [
        {"human": ("A", "B", "tie")[n % 3], "gpt": ("model_a", "model_b", "tie (bothbad)")[n % 3]} for n in range(30)
    ]
    found = judgec.agreement(rows, annotators="human", judges="gpt")
    assert found.estimates["exact"].value == 1.0
    same = [{"human": ("red", "blue", "green", "grey")[n % 4], "gpt": "red"} for n in range(40)]
    classes = judgec.agreement(same, annotators="human", judges="gpt")
    assert classes.estimates["exact"].value == 0.25
    assert any("blue (10), green (10), grey (10), red (10)" in note for note in classes.reading)
    numbers = [{"human": (1, 2, 0)[n % 3], "gpt": ("A>B", "B>A", "A=B")[n % 3]} for n in range(30)]
    said = judgec.agreement(numbers, annotators="human", judges="gpt", winner_words={"1": "a", "2": "b", "0": "tie"})
    assert said.estimates["exact"].value == 1.0
    with pytest.raises(InputError, match=r"unknown words for the winner: '?0'?.*--winner-words '0="):
        judgec.agreement(numbers, annotators="human", judges="gpt", winner_words={"1": "a", "2": "b"})


def test_where_two_people_differ_agreement_draws_the_grade_that_labels_draw() -> None:
    from judgec.labels.experts import experts_of

    rows = [
        {
            "Question": f"q {i // 2}", "Reply": f"a {i}", "Gold": f"g {i}", "Mia": i % 5 + 1, "Noah": i * 3 % 5 + 1,
            "gpt": i * 7 % 5 + 1,
        }
        for i in range(40)
    ]  # fmt: skip
    columns = {"Question": "query", "Reply": "answer", "Gold": "reference"}
    found = judgec.agreement(rows[::-1], judges="gpt", annotators=("Mia", "Noah"), columns=columns, best=5)
    labels = judgec.read_labels(rows, annotators=("Mia", "Noah"), columns=columns, best=5).label_set
    drawn = {
        item.inputs["answer"]: grade
        for item, grade in zip(labels.items, experts_of(labels).target[..., 0].ravel(), strict=True)
    }
    kappa = cohen_kappa_score([drawn[str(row["Reply"])] + 1 for row in rows], [row["gpt"] for row in rows])
    assert found.estimates["kappa"].value == pytest.approx(kappa)


def judged(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    own = rng.integers(1, 6, n)
    near = np.clip(own + rng.integers(-1, 2, n), 1, 5)
    return pd.DataFrame(
        {"query": [f"q{i // 2}" for i in range(n)], "answer": [f"a{i}" for i in range(n)], "grade": own}
        | {"gpt": near, "claude": rng.permutation(near)}
    )


def test_several_judges_of_a_table_are_measured_one_by_one() -> None:
    rows = judged()
    found = judgec.agreement(rows, judges=["gpt", "claude"])
    for judge in ("gpt", "claude"):
        alone = judgec.agreement(rows, judges=judge)
        assert found.agreements[judge].estimates == alone.estimates
    assert list(found.report["judges"]) == ["claude", "gpt"]  # type: ignore[call-overload]  # a mapping
    assert set(found.report) == {"headline", "judges", "notes"} == set(alone.report)
    with pytest.raises(UserError, match=r"nobody says who is a judge.*judges=\[.*judgec.read_labels"):
        judgec.agreement(rows)
    two = [{"item_id": n, "annotator": who, "grade": 1 + n % 5, "x": 1} for n in range(9) for who in ("ann", "gpt-4o")]
    with pytest.raises(UserError, match=r"ann \(\d+\), gpt-4o.*annotators=\[[^-]*$"):  # no option of the command line
        judgec.agreement(two, judges="x")
    with pytest.raises(UserError, match="--judges nobody: no such column"):
        judgec.agreement(rows, judges="nobody")


def test_judges_among_those_who_graded_are_measured_beside_people() -> None:
    rows = judged()
    shared = rows[["query", "answer"]]
    names = {"Mia": rows["grade"], "gpt-4": rows["gpt"], "claude-3": rows["claude"]}
    long = pd.concat([shared.assign(grade=grades, annotator=name) for name, grades in names.items()])
    found = judgec.agreement(long, judges=["gpt-4", "claude-3"])
    assert found.expert == "Mia"
    for name, own in (("gpt-4", "gpt"), ("claude-3", "claude")):
        alone = judgec.agreement(rows, judges=own)
        assert found.agreements[name].estimates == alone.estimates


def test_grader_named_both_and_two_orders_of_one_judge_named_as_people_stop() -> None:
    rows = judged()
    for both in (["gpt"], ["grade", "gpt"]):
        with pytest.raises(UserError, match="gpt: named among the annotators and among the judges"):
            judgec.agreement(rows, annotators=both, judges="gpt")
        with pytest.raises(UserError, match="gpt: named among the annotators and among the judges"):
            judgec.read_labels(rows, annotators=both, judges=["gpt"])
    picks = [{"gpt (AB)": "ab"[n % 2], "gpt (BA)": "ab"[n // 2 % 2], "claude": "ab"[n % 2]} for n in range(40)]
    with pytest.raises(UserError, match="the verdicts of gpt in two orders of a pair, named as people"):
        judgec.agreement(picks, annotators=["gpt (AB)", "gpt (BA)"], judges="claude")


def test_labels_of_one_class_stop_agreement_and_not_labels(tmp_path: Path) -> None:
    rows = judged().assign(grade=3)
    with pytest.raises(InputError, match="all 60 labels are 3"):
        judgec.agreement(rows, judges="gpt", grades="1..5")
    with pytest.raises(InputError, match="all 60 labels are 3"):
        judgec.compile_judge(rows, grades="1..5", home=tmp_path, progress=False)
    assert len(judgec.read_labels(rows, grades="1..5")) == 60


def test_agreement_and_labels_give_the_same_kappa_and_tau_of_the_same_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    mia = rng.integers(1, 6, 90)
    rows = pd.DataFrame({"query": [f"q{i // 3}" for i in range(90)], "answer": [f"a{i}" for i in range(90)]})
    rows = rows.assign(Mia=mia, Noah=np.clip(mia + rng.integers(-1, 2, 90), 1, 5), Eva=rng.permutation(mia))
    rows.loc[::7, "Eva"] = np.nan
    rows.assign(gpt=np.clip(mia + rng.integers(-1, 2, 90), 1, 5)).to_csv(tmp_path / "sheet.csv", index=False)
    people = ("Mia", "Noah", "Eva")
    options = LabelsOptions(
        file=str(tmp_path / "sheet.csv"), annotators=people, judges={"gpt": ""}, best="5", home=tmp_path
    )
    _, labels, _ = check_labels(options)
    found = judgec.agreement(tmp_path / "sheet.csv", annotators=people, judges="gpt", best=5)
    ceiling = found.ceilings["gpt"].estimates
    assert {name: ceiling[name].value for name in ("tau_b", "kappa", "exact")} == {
        name: labels["ceiling"][name]["value"]  # type: ignore[index]  # a mapping
        for name in ("tau_b", "kappa", "exact")
    }
    alone = judgec.agreement(tmp_path / "sheet.csv", annotators=["Mia"], judges="Noah", best=5)  # one of them
    pairwise = next(one for one in labels["agreement"]["pairwise"] if one["annotators"] == ["Mia", "Noah"])
    assert alone.estimates["tau_b"].value == pytest.approx(pairwise["tau_b"])
    assert alone.estimates["kappa"].value == pytest.approx(pairwise["kappa"])


@pytest.mark.parametrize("cells", ["numbers", "words"])
def test_scale_is_declared_by_its_best_grade_or_by_all(cells: str) -> None:
    rows = judged().assign(low=lambda one: 6 - one.grade, machine=lambda one: 6 - one.gpt)
    for how in ({"best": 1}, {"grades": "5..1"}) if cells == "numbers" else ({"grades": ["poor", "fair", "good"]},):
        if cells == "words":
            rows = rows.assign(low=[("poor", "fair", "good")[n % 3] for n in range(60)], machine=lambda one: one.low)
        found = judgec.agreement(rows.drop(columns="grade"), annotators="low", judges="machine", **how)
        assert (found.estimates["tau_b"].value or 0) > 0.5
        assert found.estimates["qwk"].value is not None
    with pytest.raises(UserError, match=r"--best 3 .*1 \(9\).*5 \(17\).*1 or 5"):
        judgec.agreement(judged(), judges="gpt", best=3)


@pytest.mark.parametrize(("one", "other"), [("rot", "blau"), ("good", "fair"), ("нет", "да")])
def test_words_that_differ_in_case_and_spaces_alone_are_one(one: str, other: str) -> None:
    people, judge = [one, other, f" {one.title()}", other.upper()] * 5, [one.upper(), other, one, one] * 5
    found = judgec.agreement(
        [{"human": a, "judge": b} for a, b in zip(people, judge, strict=True)], annotators="human", judges="judge"
    )
    assert found.estimates["exact"].value == 0.75


def test_judge_that_gives_one_grade_only_is_named_and_p_values_are_on_the_screen() -> None:
    rows = [{"query_id": n, "human": 1 + n % 5, "flat": 4, "good": 1 + n % 5 - (n % 7 == 6)} for n in range(60)]
    flat = judgec.agreement(rows, annotators="human", judges="flat", best=5)
    good = judgec.agreement(rows, annotators="human", judges="good", best=5)

    assert any(note.startswith("flat gives 4 to all 60 items") for note in flat.notes)
    assert not any("to all" in note for note in good.notes)
    options = AgreementOptions(file=rows, annotators=("human",), judges={"good": ""}, best="5")
    assert "p without any association: tau-b < .001, Spearman < .001" in agreement_report(good, options).lines


def test_aspects_are_measured_together_and_each_by_itself() -> None:
    rows = [
        {"answer": f"a{n}", "ann.accuracy": n % 3, "bob.accuracy": (n + n % 5 // 4) % 3, "gpt.accuracy": n % 3}
        | {"ann.fluency": n // 3 % 3, "bob.fluency": n // 3 % 3, "gpt.fluency": n % 2}
        for n in range(60)
    ]
    found = judgec.agreement(rows, annotators=["ann", "bob"], judges="gpt", best=2).agreement
    assert (found.n, found.n_clusters) == (120, 60)  # the aspects of an answer are not independent
    assert {name: one.n for name, one in found.aspects.items()} == {"accuracy": 60, "fluency": 60}
    alone = [{"ann": row["ann.fluency"], "gpt": row["gpt.fluency"]} for row in rows]
    both = [{**row, "bob": row["ann"]} for row in alone]
    tau_b = judgec.agreement(both, annotators=["ann", "bob"], judges="gpt", best=2).estimates["tau_b"]
    assert found.aspects["fluency"].estimates["tau_b"].value == pytest.approx(tau_b.value)
    ours = [{"grade.x": n % 3, "grade.y": n % 2, "judge_grade.x": n % 3, "judge_grade.y": n % 2} for n in range(40)]
    assert judgec.agreement(ours, judges="judge_grade").estimates["exact"].value == 1.0


def test_groups_are_measured_apart_and_a_judge_without_order_stands_last(tmp_path: Path) -> None:
    frame = judged().assign(flat=1, area=["north", "south"] * 30, gpt_confidence=[60, 90, 90] * 20)
    found = judgec.agreement(frame, judges=["flat", "gpt"], group="area")
    assert found.ranked == [row[0] for row in agreement_report(found).tables[0].rows] == ["gpt", "flat"]
    south = judgec.agreement(frame[frame.area == "south"], judges="gpt")
    assert found.groups["gpt"]["south"].estimates["tau_b"].value == south.estimates["tau_b"].value
    assert set(found.report["judges"]["gpt"]["groups"]) == {"north", "south"}  # type: ignore[index]
    with pytest.raises(UserError, match=r"--group nope: no such column"):
        judgec.agreement(frame, judges="gpt", group="nope")
    options = AgreementOptions(file=frame, judges={"gpt": ""})
    page = agreement_report(judgec.agreement(frame, judges="gpt"), options, tmp_path / "page.html")
    assert "Bland-Altman" in page.charts
    assert "Grades by annotator" in page.charts
    assert "gpt. Confidence map" in page.charts


def test_item_that_stands_in_two_rows_of_a_wide_sheet_counts_once_with_the_median_of_each_person(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(5)
    own = rng.integers(1, 6, (60, 3))
    rows = [
        {"query": f"Q{n // 2}?", "answer": f"A{n}", "Mia": m, "Noah": o, "gpt": g} for n, (m, o, g) in enumerate(own)
    ]
    again = [row | {"Mia": min(5, row["Mia"] + 1), "Noah": None} for row in rows[:9]]  # a later look of Mia's alone
    split = [rows[9] | {"Noah": None}, *rows[10:], rows[9] | {"Mia": None}]  # each in a row of their own

    def measured(rows: list[dict[str, object]], repeats: Literal["error"] | None = None) -> MeasuredAgreement:
        return judgec.agreement(rows, annotators=["Mia", "Noah"], judges="gpt", repeats=repeats, best=5)

    once, found = measured(rows), measured([*rows[:9], *split, *again])
    assert found.estimates == once.estimates
    assert found.ceilings["gpt"].estimates == once.ceilings["gpt"].estimates
    same = sum(row["Mia"] == 5 for row in rows[:9])
    assert any(f"Mia gave the same grade again {same} of 9 times" in note for note in found.reading)
    with pytest.raises(InputError, match=r"annotator Mia labels item .* again"):
        measured([*rows, *again], "error")
    otherwise = [*rows, *(row | {"gpt": 9 - row["gpt"]} for row in again)]  # the judge was asked again, too
    with pytest.raises(InputError, match="all rows of one item must have one verdict of a judge"):
        measured(otherwise)


def test_pairs_by_ids_alone_are_pairs_wherever_the_verdicts_stand(tmp_path: Path) -> None:
    sides = ("a", "b", "tie")
    rows = [{"item_id": f"i{n}", "ann": sides[n % 3], "bob": sides[n % 3 if n % 5 else 0]} for n in range(40)]
    said = [sides[n % 3 if n % 4 else 1] for n in range(40)]
    pd.DataFrame(rows).assign(gpt=said).to_csv(tmp_path / "votes.csv", index=False)
    verdicts = pd.DataFrame({"item_id": [row["item_id"] for row in rows], "judge": "gpt", "preference": said})
    verdicts.to_csv(tmp_path / "said.csv", index=False)
    people = ["ann", "bob"]
    beside = judgec.agreement(str(tmp_path / "votes.csv"), annotators=people, judges="gpt")
    apart = judgec.agreement(
        str(tmp_path / "said.csv"), labels=str(tmp_path / "votes.csv"), annotators=people, judges="gpt"
    )
    assert apart.estimates["kappa"].value == beside.estimates["kappa"].value
