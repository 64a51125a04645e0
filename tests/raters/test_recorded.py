"""Recorded verdicts as a judge: what is asked, failed, off the scale, flipped, repeated or missing."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.errors import InputError, UserError
from judgec.labels.experts import experts_of
from judgec.labels.labels import read_label_file
from judgec.labels.rows.ranges import Range
from judgec.raters.recorded import (
    FAILED,
    MIN_COMMON,
    NO_VERDICT,
    OFF,
    OnWhat,
    RecordedVerdicts,
    check_against,
    read_recorded,
)
from judgec.raters.replies import OFF_SCALE
from judgec.records.judgment import NOT_ASKED
from judgec.records.label import LabelSet
from judgec.records.ratings import pair
from judgec.records.scale import ACCEPT_SCALE, Scale
from judgec.stats.agreement.measure import statistic_of
from judgec.table.table import Table
from tests.compile.small import write

GRADES = OnWhat("relevance", Scale(grades=(0, 1, 2, 3), accept_at=2), ("grade",))
PAIRS = OnWhat("preference", Scale(name="preference", level="nominal", grades=("a", "tie", "b")), ("grade",))
RECORDED = Path("../shared/data/recorded")

Row = Mapping[str, object]


def recorded(rows: Sequence[Row], about: OnWhat = GRADES, judges: str | None = None) -> RecordedVerdicts:
    names = tuple(dict.fromkeys(name for row in rows for name in row))
    table = Table("verdicts.csv", names, tuple(map(dict, rows)), tuple(range(2, len(rows) + 2)))
    return read_recorded(table, about, judges)


def said(item: object, grade: object, judge: str = "j", **more: object) -> Row:
    return {"item_id": item, "judge": judge, "grade": grade, **more}


def prefers(item: str, preference: object, order: object, **more: object) -> Row:
    return {"item_id": item, "judge": "j", "preference": preference, "order": order, **more}


def test_judgments_no_row_is_not_asked_and_an_empty_grade_is_asked_and_failed() -> None:
    found = recorded([said("x", 2), said("y", None), said("z", "7"), said("x", 0, "other"), said("w", 1, "other")])
    judged = found.judgments("j", ["w", "x", "y", "z", "stranger"])
    assert judged.unscored == (NOT_ASKED, None, NO_VERDICT, OFF_SCALE, NOT_ASKED)
    assert judged.grade.ravel().tolist() == [-1, 2, -1, -1, -1]
    assert judged.accept.ravel().tolist() == [-1, 1, -1, -1, -1]
    assert judged.probabilities[1, 0].tolist() == [0, 0, 1, 0]
    assert np.isnan(judged.probabilities[[0, 2, 3, 4]]).all()
    assert judged.asked.tolist() == [False, True, True, True, False]
    assert any("1 grades off the scale (7;" in note and "verdicts.csv:4" in note for note in found.notes)


def test_cells_that_are_no_number_are_counted_with_the_place_of_the_first() -> None:
    rows = [said(n, n % 3, cost_usd=cost) for n, cost in enumerate([0.1, None, "free", -1, 0.2])]
    rows += [said(9, 1, cost_usd=0.1, p_1=-2), said(10, 8), said(11, 9)]
    notes = recorded(rows).notes
    assert "5 of 8 rows without a cost_usd, 2 of them negative, infinite or no number " in " ".join(notes)
    assert "(the first is verdicts.csv:4): unknown, not 0" in " ".join(notes)
    assert any(note.startswith("verdicts.csv:7: 1 cells of p_1 are no probability") for note in notes)
    assert any(note.startswith("verdicts.csv:8 and below: 2 grades off the scale (8, 9;") for note in notes)


def test_judgments_read_numbers_halves_replies_and_probabilities_as_from_a_model() -> None:
    rows = [said("7", "2.0", reply="because"), said("y", 2.5), said("z", 1, p_0=0.2, p_1=0.2, p_3=0.4)]
    judged = recorded(rows).judgments("j", ["7", "y", "z"])
    assert judged.grade.ravel().tolist() == [2, 2, 1]  # half way the even one, as of a model's 2.5
    assert judged.probabilities[1, 0].tolist() == [0, 0, 0.5, 0.5]
    assert judged.probabilities[2, 0] == pytest.approx([0.25, 0.25, 0, 0.5])
    assert judged.score.ravel() == pytest.approx([2, 2.5, 0.25 + 1.5])
    assert judged.rationale == ("because", "", "")


def test_replies_without_grades_are_read_as_of_a_model_that_was_asked() -> None:
    written = ["<think>Score: 0 at first.</think>It names both.\nScore: 2", "I cannot tell.", "Score: 3\nScore: 1"]
    rows = [{"item_id": str(n), "judge": "j", "reply": text} for n, text in enumerate(written)]
    found = recorded(rows)
    assert found.judgments("j", ["0", "1", "2"]).grade.ravel().tolist() == [2, -1, -1]
    assert any("no grades; each verdict is what its reply states" in note for note in found.notes)
    pairs = [{"item_id": str(n), "judge": "j", "reply": text} for n, text in enumerate(["Verdict: [[A]]", "[[B>A]]"])]
    assert recorded(pairs, PAIRS).judgments("j", ["0", "1"]).grade.ravel().tolist() == [0, 2]


def test_judgments_of_a_number_and_its_text_are_of_one_item() -> None:
    found = recorded([said(7, 1), said("8", 2)])
    assert found.judgments("j", ["7", "8"]).grade.ravel().tolist() == [1, 2]


def test_two_orders_of_a_pair_agree_flip_or_fail_together() -> None:
    rows = [
        *(prefers("same", "a", "ab"), prefers("same", "a", "ba")),
        *(prefers("flip", "a", "ab"), prefers("flip", "b", "ba")),
        *(prefers("half", "a", "ab"), prefers("half", "", "ba")),
        prefers("once", "b", "ab"),
    ]
    judged = recorded(rows, replace(PAIRS, orders="mapped")).judgments("j", ["same", "flip", "half", "once"])
    assert judged.grade.ravel().tolist() == [0, 1, -1, 2]
    assert judged.flipped is not None
    assert judged.flipped.tolist() == [False, True, False, False]
    assert judged.probabilities[1, 0].tolist() == [0.5, 0, 0.5]
    assert judged.unscored == (None, None, NO_VERDICT, None)


def test_pairs_in_both_orders_stop_until_somebody_says_how_they_are_read() -> None:
    rows = [prefers(f"i{n}", "A>B", "ab") for n in range(10)]
    rows += [prefers(f"i{n}", "B>>A" if n < 6 else "A>B", "ba") for n in range(10)]
    with pytest.raises(InputError) as caught:
        recorded(rows, PAIRS)
    assert "read as as_shown, 4 of 10 pairs flip" in str(caught.value)
    assert "read as mapped, 6 of 10 pairs flip" in str(caught.value)
    assert "--orders as-shown or --orders mapped" in str(caught.value)
    ids = [f"i{n}" for n in range(10)]
    shown = recorded(rows, replace(PAIRS, orders="as_shown")).judgments("j", ids)
    assert shown.grade.ravel().tolist() == [0] * 6 + [1] * 4  # a where both orders name answer_a, else a tie
    assert shown.probabilities[0, 0].tolist() == [1, 0, 0]
    mapped = recorded(rows, replace(PAIRS, orders="mapped")).judgments("j", ids)
    assert mapped.grade.ravel().tolist() == [1] * 6 + [0] * 4
    of_card = recorded(rows, replace(PAIRS, usual_orders="as_shown")).judgments("j", ids)
    assert of_card.grade.tolist() == shown.grade.tolist()


def test_one_order_alone_needs_no_word_unless_it_is_the_other_one() -> None:
    assert recorded([prefers("x", "left", "ab")], PAIRS).judgments("j", ["x"]).grade.tolist() == [[0]]
    with pytest.raises(InputError, match="--orders as-shown or --orders mapped"):
        recorded([prefers("x", "left", "ba")], PAIRS)
    swapped = recorded([prefers("x", "left", "ba")], replace(PAIRS, orders="as_shown"))
    assert swapped.judgments("j", ["x"]).grade.tolist() == [[2]]
    with pytest.raises(InputError, match="order '1': as shown, it has to say which answer stood first"):
        recorded([prefers("x", "a", "1"), prefers("x", "a", "2")], replace(PAIRS, orders="as_shown"))


def test_words_for_the_winner_are_read_and_unknown_ones_refused_together() -> None:
    words = ["[[A]]", "model_b", "tie (bothbad)", "C", None]
    rows = [prefers(f"i{n}", word, None) for n, word in enumerate(words)]
    judged = recorded(rows, PAIRS).judgments("j", [f"i{n}" for n in range(5)])
    assert judged.grade.ravel().tolist() == [0, 2, 1, 1, -1]
    rows = [prefers(f"i{n}", word, None) for n, word in enumerate([1, 2, "error"])]
    with pytest.raises(InputError, match=r"verdicts.csv:2 and below: unknown words .*'1', '2', 'error'"):
        recorded(rows, PAIRS)
    said = {"1": "a", "2": "b", "error": "unscored"}
    judged = recorded(rows, replace(PAIRS, winner_words=said)).judgments("j", ["i0", "i1", "i2"])
    assert judged.grade.ravel().tolist() == [0, 2, -1]
    assert judged.unscored == (None, None, NO_VERDICT)


def test_preferences_without_order_are_read_and_said_to_be_of_unknown_flips() -> None:
    found = recorded([prefers("x", "a", None), prefers("y", "b", None)], PAIRS)
    judged = found.judgments("j", ["x", "y"])
    assert judged.grade.ravel().tolist() == [0, 2]
    assert judged.flipped is None
    assert any("2 preferences without an order" in note for note in found.notes)


def test_a_third_order_of_a_pair_is_an_error() -> None:
    with pytest.raises(InputError, match=r"verdicts.csv:4: a third order of one pair"):
        recorded([prefers("x", "a", "1"), prefers("x", "a", "2"), prefers("x", "a", "3")], PAIRS)


def test_a_second_verdict_is_an_error_with_both_lines_unless_a_run_tells_them_apart() -> None:
    with pytest.raises(InputError, match=r"verdicts.csv:4: a second verdict of judge j on item x.*verdicts.csv:2"):
        recorded([said("x", 2), said("y", 2), said("x", 3)])
    found = recorded([said("x", 2, run=1), said("x", 3, run=2), said("x", 3, run=3), said("x", None, run=4)])
    judged = found.judgments("j", ["x"])
    assert judged.probabilities[0, 0] == pytest.approx([0, 0, 1 / 3, 2 / 3])
    assert judged.grade.tolist() == [[3]]


def test_costs_that_are_no_number_are_unknown_and_counted_never_zero() -> None:
    found = recorded([said("x", 2, cost_usd=0.25), said("y", 2, cost_usd=float("nan")), said("z", 1, cost_usd="-1")])
    assert found.cost_of("j", ["x"]) == 0.25
    assert found.cost_of("j", ["x", "y"]) is None
    assert found.cost_of("j", ["z"]) is None
    assert any("2 of 3 rows without a cost_usd, 1 of them negative" in note for note in found.notes)


def test_missing_columns_and_cells_are_errors_with_their_place() -> None:
    with pytest.raises(InputError, match=r"verdicts.csv:1: no judge; .*the columns are item_id, grade"):
        recorded([{"item_id": "x", "grade": 1}])
    with pytest.raises(InputError, match=r"verdicts.csv:1: no preference"):
        recorded([said("x", 1)], PAIRS)
    with pytest.raises(InputError, match=r"verdicts.csv:3: no item_id"):
        recorded([said("x", 1), said(None, 1)])


def test_several_aspects_need_a_column_and_all_of_an_items_aspects() -> None:
    two = OnWhat("answer", Scale(grades=(0, 1, 2)), ("clear", "true"))
    rows = [
        *(said("x", 2, aspect="clear"), said("x", 1, aspect="true"), said("x", 0, aspect="polite")),
        *(said("y", 2, aspect="clear"), said("z", 2, aspect="clear"), said("z", "", aspect="true")),
    ]
    found = recorded(rows, two)
    judged = found.judgments("j", ["x", "y", "z"])
    assert judged.grade.tolist() == [[2, 1], [-1, -1], [-1, -1]]
    assert judged.unscored == (None, NOT_ASKED, NO_VERDICT)
    assert any("1 verdicts of aspects that nobody labelled" in note for note in found.notes)
    assert any("1 times a judge was asked about some of the 2 aspects" in note for note in found.notes)
    with pytest.raises(InputError, match=r"no column aspect; the labels have the aspects clear, true"):
        recorded([said("x", 1)], two)


@pytest.mark.parametrize("column", ["grade", "accept"])
def test_verdicts_on_labels_of_accept_or_reject_are_read_as_such(column: str) -> None:
    about = OnWhat("grade", ACCEPT_SCALE, ("grade",), accept_only=True)
    words = {"x": "accept", "y": "no", "z": True, "w": "perhaps"}
    found = recorded([{"item_id": item, "judge": "j", column: word} for item, word in words.items()], about)
    judged = found.judgments("j", list(words))
    assert judged.grade.ravel().tolist() == [1, 0, 1, -1]
    assert judged.accept.ravel().tolist() == [1, 0, 1, -1]
    assert judged.unscored[3] == OFF_SCALE


def test_pattern_keeps_matching_judges_and_what_they_said() -> None:
    rows = [said("x", 0, "gpt/a"), said("x", 1, "gpt/b"), said("x", 2, "llama/a"), said("y", 3, "gpt/b")]
    kept = recorded(rows, judges="gpt/*")
    assert list(kept.judges) == ["gpt/a", "gpt/b"]
    assert kept.judgments("gpt/b", ["y", "x"]).grade.ravel().tolist() == [3, 1]
    with pytest.raises(UserError, match="llama/a"):
        kept.judgments("llama/a", ["x"])
    with pytest.raises(UserError, match=r"--judges mistral\*: matches none of the judges"):
        recorded(rows, judges="mistral*")


def test_notes_and_faults_are_of_the_judges_that_were_selected() -> None:
    rows = [
        said("x", None, "other", cost_usd="much"),
        said("y", 9, "other", cost_usd=None),
        said("z", 0, "other", cost_usd=-1),
        said("z", 0, "other", cost_usd=1),
        said("x", 1, "one", cost_usd=1),
        said("y", None, "one", cost_usd=1),
        said("z", 2, "one", cost_usd="?"),
    ]
    found = recorded(rows, judges="on*")
    notes = " ".join(found.notes)
    assert "verdicts.csv:7: 1 rows without a grade: asked and failed, unscored" in notes
    assert "verdicts.csv:8: 1 of 3 rows without a cost_usd, 1 of them negative" in notes
    assert "off the scale" not in notes
    assert list(found.judges) == ["one"]
    assert found.judgments("one", ["x", "y", "z"]).grade.ravel().tolist() == [1, -1, 2]
    with pytest.raises(InputError, match="a second verdict of judge other on item z"):
        recorded(rows)
    with pytest.raises(UserError, match=r"--judges two: matches none of the judges in verdicts.csv, one, other"):
        recorded(rows, judges="two")


def test_a_column_that_nobody_filled_is_not_called_missing() -> None:
    with pytest.raises(InputError, match=r"verdicts.csv:1: no row has a grade; fill in what judges said"):
        recorded([said("x", None), said("y", None)])
    with pytest.raises(InputError, match=r"verdicts.csv:3: .* with a column order or run that tells them apart"):
        recorded([prefers("x", "a", None), prefers("x", "b", None)], PAIRS)


def test_pattern_keeps_how_often_each_judge_was_asked() -> None:
    rows = [said("x", 0, "a", run=1), said("x", 1, "b", run=1), said("x", 1, "b", run=2), said("y", 2, "b", run=1)]
    whole, kept = recorded(rows), recorded(rows, judges="b")
    assert whole.calls_of("b", ["x", "y", "z"]) == kept.calls_of("b", ["x", "y", "z"]) == (3.0, 2)


def labelled(tmp_path: Path, n: int) -> LabelSet:
    rows = [{"item_id": f"i{i}", "query": f"q{i}", "document": "d", "grade": i % 4} for i in range(n)]
    return read_label_file(str(write(tmp_path / "labels.jsonl", rows)), task="relevance").labels


def test_check_against_refuses_strangers_and_leaves_out_judges_with_few_common_items(tmp_path: Path) -> None:
    labels = labelled(tmp_path, 60)
    about = OnWhat.of(labels)
    many = [said(f"i{i}", i % 4 if i % 4 < 3 else 0, "many") for i in range(50)]
    few = [said(f"i{i}", 1, "few") for i in range(MIN_COMMON - 1)]
    found = check_against(recorded([*many, *few, said("else", 1, "many")], about), labels)
    assert list(found.judges) == ["many"]
    assert any(f"fewer than {MIN_COMMON} items in common with the labels, left out: few (29)" in n for n in found.notes)
    assert any("verdicts on 1 items that nobody labelled" in note for note in found.notes)
    assert any("asked about 50 of the 60 labelled items" in note for note in found.notes)
    with pytest.raises(InputError, match="for example else, in the labels i0"):
        check_against(recorded([said("else", 1)], about), labels)
    with pytest.raises(UserError, match=rf"few 29 items in common with the labels; at least {MIN_COMMON}"):
        check_against(recorded(few, about), labels)


def test_recorded_prompts_of_real_judges_agree_with_nist_as_they_were_counted_elsewhere() -> None:
    """The README of the set counts quadratic kappa on the 1,690 pairs of gpt-4o: .560 to .650, median .618."""
    stem = RECORDED / "trecdl20_relevance"
    if not RECORDED.exists():
        pytest.skip(f"{RECORDED} is absent: recorded verdicts of real judges are NOT checked")
    labels = read_label_file(f"{stem}.jsonl").labels
    found = read_recorded(f"{stem}.verdicts.parquet", OnWhat.of(labels), "gpt-4o/*")
    experts, ids = experts_of(labels), [item.item_id for item in labels.items]
    judged = {name: found.judgments(name, ids) for name in found.judges}
    common = np.all([one.asked for one in judged.values()], axis=0)
    assert int(common.sum()) == 1690
    rows = [int(i) for i in np.flatnonzero(common)]
    ratings = [pair(experts.rows(rows), one.subset(rows), labels.scale, accept_only=False) for one in judged.values()]
    values = sorted(statistic_of("qwk", each.where(each.judge >= 0)).point() for each in ratings)
    assert [round(value, 3) for value in (values[0], values[-1])] == pytest.approx([0.560, 0.650], abs=0.0015)
    assert values[len(values) // 2] == pytest.approx(0.618, abs=0.0015)
    assert found.judges["gpt-4o/graded-00"].model == "gpt-4o"
    assert "{document}" in (found.judges["gpt-4o/graded-00"].prompt or "")


ONE_TO_FIVE = OnWhat("grade", Scale(grades=(1, 2, 3, 4, 5)), ("grade",), shares=(0.2,) * 5)


@given(st.lists(st.floats(1, 5), min_size=1, max_size=30))
def test_a_number_within_the_scale_keeps_its_mean_and_has_the_nearest_grade(numbers: list[float]) -> None:
    rows = [said(str(i), number) for i, number in enumerate(numbers)]
    judged = recorded(rows, replace(ONE_TO_FIVE, shares=())).judgments("j", [str(i) for i in range(len(numbers))])
    assert judged.score.ravel() == pytest.approx(numbers)
    assert (1 + judged.grade.ravel()).tolist() == [round(number) for number in numbers]  # half to even
    assert ((judged.probabilities > 0).sum(axis=2) <= 2).all()
    assert judged.unscored == (None,) * len(numbers)


def test_decimal_commas_are_numbers_and_a_number_outside_is_unscored_and_counted() -> None:
    rows = [said(str(i), text) for i, text in enumerate(["2,333", "4,167", "1", "5,5"])]
    found = recorded(rows, replace(ONE_TO_FIVE, shares=()))
    judged = found.judgments("j", ["0", "1", "2", "3"])
    assert judged.score.ravel()[:3] == pytest.approx([2.333, 4.167, 1])
    assert judged.unscored == (None, None, None, OFF_SCALE)
    assert any("1 grades off the scale (5.5;" in note for note in found.notes)


@pytest.mark.parametrize(
    ("values", "range_"),
    [((0, 0.25, 1), "0..1"), ((0, 2, 4), "0..4"), ((1, 2, 3), "1..3"), ((1, 6, 10), "1..10"), ((0, 50, 100), "0..100")],
)
def test_numbers_of_another_range_are_refused_until_somebody_says_which(
    values: tuple[float, ...], range_: str, tmp_path: Path
) -> None:
    rows = [said(str(i), values[i % len(values)]) for i in range(60)]
    with pytest.raises(InputError) as refused:
        recorded(rows, ONE_TO_FIVE)
    assert f'--verdicts "j#range={range_}"' in str(refused.value)
    assert f'--lm "recorded:FILE#range={range_}"' in str(refused.value)
    write(tmp_path / "v.jsonl", [dict(row) for row in rows])
    low, high = map(float, range_.split(".."))
    wanted = [1 + 4 * (values[i % len(values)] - low) / (high - low) for i in range(60)]
    by_file = read_recorded(f"{tmp_path / 'v.jsonl'}#range={range_}", ONE_TO_FIVE)
    (tmp_path / "v.judges.json").write_text(f'{{"j": {{"range": [{low:g}, {high:g}]}}}}')
    by_sheet = read_recorded(str(tmp_path / "v.jsonl"), ONE_TO_FIVE)
    ends = Range(low, high)
    by_column = recorded(rows, replace(ONE_TO_FIVE, ranges={"j": ends}))
    for found in (by_file, by_sheet, by_column):
        assert found.ranges == {"j": ends}
        assert found.judgments("j", [str(i) for i in range(60)]).score.ravel() == pytest.approx(wanted)
    as_score = read_recorded(Table("v", ("item_id", "judge", "grade"), tuple(map(dict, rows)), tuple(range(60))),
                             ONE_TO_FIVE, scores=True)  # fmt: skip
    assert list(as_score.scores) == ["j"]


def test_a_range_whose_first_number_is_the_larger_turns_the_judge_round() -> None:
    found = recorded([said("x", 1), said("y", 0)], replace(ONE_TO_FIVE, ranges={"j": Range(1, 0)}))
    assert found.judgments("j", ["x", "y"]).grade.ravel().tolist() == [0, 4]


def test_a_fraction_beside_accept_and_reject_has_a_range_of_its_own() -> None:
    about = OnWhat("grade", ACCEPT_SCALE, ("grade",), accept_only=True, shares=(0.5, 0.5))
    rows = [said(str(i), (0.1, 0.8)[i % 2]) for i in range(40)]
    with pytest.raises(InputError, match=r"j#range=0\.\.1"):
        recorded(rows, about)
    judged = recorded(rows, replace(about, ranges={"j": Range(0, 1)})).judgments("j", ["0", "1"])
    assert judged.score.ravel() == pytest.approx([0.1, 0.8])
    assert judged.grade.ravel().tolist() == [0, 1]


@pytest.mark.skipif(not (RECORDED / "hanna_aspects.jsonl").exists(), reason=f"real means NOT read: no {RECORDED}")
def test_recorded_means_of_samples_are_all_read() -> None:
    labels = read_label_file(str(RECORDED / "hanna_aspects.jsonl")).labels
    found = read_recorded(str(RECORDED / "hanna_aspects.verdicts.parquet"), OnWhat.of(labels))
    assert not (found.fault == OFF).any()
    assert int((found.fault == FAILED).sum()) == 479  # rows with an empty grade; 8,306 were lost in all
