"""Recorded verdicts as a judge: what is asked, failed, off the scale, flipped, repeated or missing."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.errors import InputError, UserError
from judgec.labels.experts import experts_of
from judgec.labels.labels import read_label_file
from judgec.labels.reading import as_reading
from judgec.labels.rows.ranges import Range
from judgec.raters.piece import pieces_of
from judgec.raters.rater import Count, RecordedRater
from judgec.raters.recorded import (
    MIN_COMMON,
    NO_VERDICT,
    OnWhat,
    RecordedVerdicts,
    check_against,
    read_recorded,
)
from judgec.raters.replies import OFF_SCALE
from judgec.records.judgment import NOT_ASKED
from judgec.records.label import Item, LabelSet
from judgec.records.ratings import pair
from judgec.records.scale import ACCEPT_SCALE, Scale
from judgec.stats.agreement.measure import statistic_of
from judgec.table.table import Table
from tests.compile.small import write
from tests.raters.trees import GivenVerdicts

GRADES = OnWhat("relevance", Scale(grades=(0, 1, 2, 3), accept_at=2), ("grade",))
PAIRS = OnWhat("preference", Scale(name="preference", level="nominal", grades=("a", "tie", "b")), ("grade",))
RECORDED = Path("../shared/data/recorded")

Row = Mapping[str, object]


def told(about: OnWhat, **said: object) -> OnWhat:
    return replace(about, reading=as_reading(**said))


def recorded(
    rows: Sequence[Row],
    about: OnWhat = GRADES,
    judges: str | Sequence[str] | None = None,
    off_scale: Literal["unscored", "refused", "scores"] = "unscored",
) -> RecordedVerdicts:
    names = tuple(dict.fromkeys(name for row in rows for name in row))
    table = Table("verdicts.csv", names, tuple(map(dict, rows)), tuple(range(2, len(rows) + 2)))
    return read_recorded(table, about, judges, off_scale)


def said(item: object, grade: object, judge: str = "j", **more: object) -> Row:
    return {"item_id": item, "judge": judge, "grade": grade, **more}


def prefers(item: str, preference: object, order: object, **more: object) -> Row:
    return {"item_id": item, "judge": "j", "preference": preference, "order": order, **more}


def grades(found: RecordedVerdicts, *items: str, judge: str = "j") -> list[int]:
    return found.judgments(judge, items).grade.ravel().tolist()


def noted(found: RecordedVerdicts, *parts: str) -> bool:
    """Whether one of the notes says all of this."""
    return any(all(part in note for part in parts) for note in found.notes)


def test_judgments_no_row_is_not_asked_and_an_empty_grade_is_asked_and_failed() -> None:
    found = recorded([said("x", 2), said("y", None), said("z", "7"), said("x", 0, "other"), said("w", 1, "other")])
    judged = found.judgments("j", ["w", "x", "y", "z", "stranger"])
    assert judged.unscored == (NOT_ASKED, None, NO_VERDICT, OFF_SCALE, NOT_ASKED)
    assert judged.grade.ravel().tolist() == [-1, 2, -1, -1, -1]
    assert judged.accept.ravel().tolist() == [-1, 1, -1, -1, -1]
    assert judged.probabilities[1, 0].tolist() == [0, 0, 1, 0]
    assert np.isnan(judged.probabilities[[0, 2, 3, 4]]).all()
    assert judged.asked.tolist() == [False, True, True, True, False]
    assert noted(found, "1 grade off the scale (7;", "verdicts.csv:4")


def test_cells_that_are_no_number_are_unknown_and_counted_with_the_place_of_the_first() -> None:
    rows = [said(n, n % 3, cost_usd=cost) for n, cost in enumerate([0.1, None, "free", -1, float("nan"), 0.2])]
    rows += [said(9, 1, cost_usd=0.1, p_1=-2), said(10, 8), said(11, 9)]
    found = recorded(rows)
    assert noted(found, "6 of 9 rows without a cost_usd", "2 of them no number", "verdicts.csv:4")
    assert noted(found, "verdicts.csv:8: 1 cells of p_1")
    assert noted(found, "verdicts.csv:9 and below: 2", "(8, 9;")
    assert found.cost_of("j", ["0", "5"]) == pytest.approx(0.3)
    assert [found.cost_of("j", items) for items in (["0", "1"], ["3"], ["4"])] == [None] * 3  # never 0


def test_judgments_read_numbers_halves_replies_and_probabilities_as_from_a_model() -> None:
    rows = [said(7, "2.0", reply="because"), said("y", 2.5), said("z", 1, p_0=0.2, p_1=0.2, p_3=0.4)]
    judged = recorded(rows).judgments("j", ["7", "y", "z"])
    assert judged.grade.ravel().tolist() == [2, 2, 1]  # half way the even one, as of a model's 2.5
    assert judged.probabilities[1, 0].tolist() == [0, 0, 0.5, 0.5]
    assert judged.probabilities[2, 0] == pytest.approx([0.25, 0.25, 0, 0.5])
    assert judged.score.ravel() == pytest.approx([2, 2.5, 0.25 + 1.5])
    assert judged.rationale == ("because", "", "")


def test_replies_without_grades_are_read_as_of_a_model_that_was_asked() -> None:
    written = ["<think>Score: 0 at first.</think>It names both.\nScore: 2", "I cannot tell.", "Score: 3\nScore: 1"]
    found = recorded([{"item_id": str(n), "judge": "j", "reply": text} for n, text in enumerate(written)])
    assert grades(found, "0", "1", "2") == [2, -1, -1]
    assert noted(found, "no grades; ", "reply")
    pairs = [{"item_id": str(n), "judge": "j", "reply": text} for n, text in enumerate(["Verdict: [[A]]", "[[B>A]]"])]
    assert grades(recorded(pairs, PAIRS), "0", "1") == [0, 2]


def test_replies_are_read_in_the_form_that_judges_json_declares_and_in_no_other(tmp_path: Path) -> None:
    written = ["Es bueno.\n\n**Puntuación:** 2", "Score: 3", "Puntuación: 1\nPuntuación: 2"]
    rows = [{"item_id": str(n), "judge": "j", "reply": text} for n, text in enumerate(written)]
    (tmp_path / "v.jsonl").write_text("\n".join(map(json.dumps, rows)))
    plain = read_recorded(str(tmp_path / "v.jsonl"), GRADES)
    assert grades(plain, "0", "1", "2") == [-1, 3, -1]
    assert noted(plain, "2 of 3 replies could not be read")
    (tmp_path / "v.judges.json").write_text(json.dumps({"j": {"verdict": "Puntuación: {v}"}}))
    found = read_recorded(str(tmp_path / "v.jsonl"), GRADES)
    assert grades(found, "0", "1", "2") == [2, -1, -1]
    assert found.judgments("j", ["1"]).unscored == (OFF_SCALE,)  # unread: it counts against promotion


def test_two_orders_of_a_pair_agree_flip_or_fail_together() -> None:
    rows = [
        *(prefers("same", "a", "ab"), prefers("same", "a", "ba")),
        *(prefers("flip", "a", "ab"), prefers("flip", "b", "ba")),
        *(prefers("half", "a", "ab"), prefers("half", "", "ba")),
        prefers("once", "b", "ab"),
    ]
    judged = recorded(rows, told(PAIRS, orders="mapped")).judgments("j", ["same", "flip", "half", "once"])
    assert judged.grade.ravel().tolist() == [0, 1, -1, 2]
    assert judged.flipped is not None
    assert judged.flipped.tolist() == [False, True, False, False]
    assert judged.probabilities[1, 0].tolist() == [0.5, 0, 0.5]
    assert judged.unscored == (None, None, NO_VERDICT, None)


def test_pairs_in_both_orders_stop_until_somebody_says_how_they_are_read() -> None:
    rows = [prefers(f"i{n}", "A>B", "ab") for n in range(10)]
    rows += [prefers(f"i{n}", "B>>A" if n < 6 else "A>B", "ba") for n in range(10)]
    with pytest.raises(InputError, match=r"--orders as-shown .*--orders mapped"):
        recorded(rows, PAIRS)
    ids = [f"i{n}" for n in range(10)]
    shown = recorded(rows, told(PAIRS, orders="as-shown")).judgments("j", ids)
    assert shown.grade.ravel().tolist() == [0] * 6 + [1] * 4  # a where both orders name answer_a, else a tie
    assert shown.probabilities[0, 0].tolist() == [1, 0, 0]
    assert grades(recorded(rows, told(PAIRS, orders="mapped")), *ids) == [1] * 6 + [0] * 4
    of_card = recorded(rows, replace(PAIRS, usual_orders="as_shown")).judgments("j", ids)
    assert of_card.grade.tolist() == shown.grade.tolist()


def test_one_order_alone_needs_no_word_unless_it_is_the_other_one() -> None:
    assert grades(recorded([prefers("x", "left", "ab")], PAIRS), "x") == [0]
    assert grades(recorded([prefers("x", "left", "ba")], told(PAIRS, orders="as-shown")), "x") == [2]


def test_words_for_the_winner_are_read_and_unknown_ones_as_somebody_says() -> None:
    words = ["[[A]]", "model_b", "tie (bothbad)", "C", None]
    found = recorded([prefers(f"i{n}", word, None) for n, word in enumerate(words)], PAIRS)
    assert grades(found, "i0", "i1", "i2", "i3", "i4") == [0, 2, 1, 1, -1]
    assert found.judgments("j", ["i0"]).flipped is None
    assert noted(found, "5 preferences without an order")
    said = {"1": "a", "2": "b", "error": "unscored"}
    rows = [prefers(f"i{n}", word, None) for n, word in enumerate([1, 2, "error"])]
    judged = recorded(rows, told(PAIRS, winner_words=said)).judgments("j", ["i0", "i1", "i2"])
    assert judged.grade.ravel().tolist() == [0, 2, -1]
    assert judged.unscored == (None, None, NO_VERDICT)


TWO = OnWhat("answer", Scale(grades=(0, 1, 2)), ("clear", "true"))


@pytest.mark.parametrize(
    ("rows", "about", "said_so"),
    [
        ([{"item_id": "x", "grade": 1}], GRADES, r"verdicts\.csv:1: no column judge; .* are item_id, grade"),
        ([said("x", 1)], PAIRS, r"verdicts\.csv:1: no column preference"),
        ([said("x", 1), said(None, 1)], GRADES, r"verdicts\.csv:3: no item_id"),
        ([said("x", 1)], TWO, r"no column aspect; .* clear, true"),
        ([said("x", None), said("y", None)], GRADES, r"verdicts\.csv:1: no row has"),
        ([prefers("x", word, None) for word in "ab"], PAIRS, r"verdicts\.csv:3: .* order or run"),
        (
            [prefers("x", "a", order) for order in "123"],
            told(PAIRS, orders="mapped"),
            r"verdicts\.csv:4: a third order",
        ),
        ([said("x", 2), said("y", 2), said("x", 3)], GRADES, r"csv:4: .* j on item x.*csv:2"),
        ([prefers("x", "left", "ba")], PAIRS, r"--orders as-shown .* mapped"),
        ([prefers("x", "a", order) for order in "12"], told(PAIRS, orders="as-shown"), r"order is 1, 2, .* ab and ba"),
        ([prefers(f"{word}", word, None) for word in (1, 2, "error")], PAIRS, r"verdicts\.csv:2 .*'1', '2', 'error'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_read_is_an_error_with_its_place(rows: list[Row], about: OnWhat, said_so: str) -> None:
    with pytest.raises(InputError, match=said_so):
        recorded(rows, about)


def test_runs_of_a_judge_are_one_verdict_and_counted() -> None:
    found = recorded([said("x", 2, run=1), said("x", 3, run=2), said("x", 3, run=3), said("x", None, run=4)])
    assert found.judgments("j", ["x"]).probabilities[0, 0] == pytest.approx([0, 0, 1 / 3, 2 / 3])
    assert grades(found, "x") == [3]
    rows = [said("x", 0, "a", run=1), said("x", 1, "b", run=1), said("x", 1, "b", run=2), said("y", 2, "b", run=1)]
    whole, kept = recorded(rows), recorded(rows, judges="b")
    assert whole.calls_of("b", ["x", "y", "z"]) == kept.calls_of("b", ["x", "y", "z"]) == (3.0, 2)


@pytest.mark.parametrize("known", ["z", "a"])
def test_a_flip_of_an_asked_prompt_stays_one_whatever_was_recorded_beside_it(known: str) -> None:
    pairs = told(PAIRS, orders="mapped")
    looked_up = recorded([prefers(known, "b", order) for order in ("ab", "ba")], about=pairs)
    both = [prefers("b", "a", "ab"), prefers("b", "b", "ba"), *(prefers("a", "b", order) for order in ("ab", "ba"))]
    asked = GivenVerdicts(recorded(both, about=pairs).judgments("j", ["a", "b"]))
    (piece,) = pieces_of([Item(item_id, item_id, {"query": item_id}) for item_id in "ab"])
    with pytest.raises(StopIteration) as ended:
        next(RecordedRater(looked_up, "j", Count(), prompt=asked).rate(piece))
    assert ended.value.value.flipped.tolist() == [False, True]


def test_prompt_of_a_recorded_judge_is_asked_where_an_item_has_no_verdict() -> None:
    first, later = recorded([said("2", 1), said("4", None)]), recorded([said("a", 3), said("c", 0)])
    (piece,) = pieces_of([Item(item_id, item_id, {"query": item_id}) for item_id in "abcd"])
    called = {"a": "1", "b": "2", "c": "3", "d": "4"}
    for prompt, grade, done, unscored in (
        (GivenVerdicts(later.judgments("j", ["a", "c"])), [3, 1, 0, -1], 2, 1),
        (None, [-1, 1, -1, -1], 4, 3),
    ):
        count = Count()
        with pytest.raises(StopIteration) as ended:
            next(RecordedRater(first, "j", count, called, prompt).rate(piece))
        judged = ended.value.value
        assert judged.item_ids == ("a", "b", "c", "d")
        assert judged.grade.ravel().tolist() == grade
        assert judged.unscored[3] == NO_VERDICT  # asked and failed: nobody is asked again
        assert (count.done, count.unscored) == (done, unscored)
    with pytest.raises(UserError, match="judge k"):
        RecordedRater(first, "k", Count())


def test_several_aspects_need_all_of_an_items_aspects() -> None:
    rows = [
        *(said("x", 2, aspect="clear"), said("x", 1, aspect="true"), said("x", 0, aspect="polite")),
        *(said("y", 2, aspect="clear"), said("z", 2, aspect="clear"), said("z", "", aspect="true")),
    ]
    found = recorded(rows, TWO)
    judged = found.judgments("j", ["x", "y", "z"])
    assert judged.grade.tolist() == [[2, 1], [-1, -1], [-1, -1]]
    assert judged.unscored == (None, NOT_ASKED, NO_VERDICT)
    assert noted(found, "1 verdicts of aspects")
    assert noted(found, "1 times", "of the 2 aspects")


@pytest.mark.parametrize("column", ["grade", "accept"])
def test_verdicts_on_labels_of_accept_or_reject_are_read_as_such(column: str) -> None:
    about = OnWhat("grade", ACCEPT_SCALE, ("grade",), accept_only=True)
    words = {"x": "accept", "y": "no", "z": True, "w": "perhaps"}
    found = recorded([{"item_id": item, "judge": "j", column: word} for item, word in words.items()], about)
    judged = found.judgments("j", list(words))
    assert judged.grade.ravel().tolist() == [1, 0, 1, -1]
    assert judged.accept.ravel().tolist() == [1, 0, 1, -1]
    assert judged.unscored[3] == OFF_SCALE


def test_judges_notes_and_faults_are_of_those_that_a_pattern_selects() -> None:
    rows = [
        said("x", None, "gpt/other", cost_usd="much"),
        said("y", 9, "gpt/other", cost_usd=None),
        said("z", 0, "gpt/other", cost_usd=-1),
        said("z", 0, "gpt/other", cost_usd=1),
        said("x", 1, "one/a", cost_usd=1),
        said("y", None, "one/a", cost_usd=1),
        said("z", 2, "one/b", cost_usd="?"),
    ]
    found = recorded(rows, judges="one/*")
    assert list(found.judges) == ["one/a", "one/b"]
    assert noted(found, "verdicts.csv:7: 1 row ", "failed")
    assert noted(found, "verdicts.csv:8: 1 of 3 rows", "1 of them no number")
    assert not noted(found, "off the scale")
    assert grades(found, "x", "y", "z", judge="one/a") == [1, -1, -1]
    assert grades(found, "z", "x", judge="one/b") == [2, -1]
    with pytest.raises(UserError, match="gpt/other"):
        found.judgments("gpt/other", ["x"])
    with pytest.raises(InputError, match="gpt/other on item z"):
        recorded(rows)
    with pytest.raises(UserError, match=r"--judges two: .* gpt/other, one/a, one/b"):
        recorded(rows, judges=["two", "one/a"])
    with pytest.raises(UserError, match=r"#two: matches none .* gpt/other, one/a, one/b"):
        recorded(rows, judges="two")


def labelled(tmp_path: Path, n: int) -> LabelSet:
    rows = [{"item_id": f"i{i}", "query": f"q{i}", "document": "d", "grade": i % 4} for i in range(n)]
    return read_label_file(str(write(tmp_path / "labels.jsonl", rows)), as_reading(task="relevance", best="3")).labels


def test_check_against_refuses_strangers_and_leaves_out_judges_with_few_common_items(tmp_path: Path) -> None:
    labels = labelled(tmp_path, 60)
    about = OnWhat.of(labels)
    many = [said(f"i{i}", i % 4 if i % 4 < 3 else 0, "many") for i in range(50)]
    few = [said(f"i{i}", 1, "few") for i in range(MIN_COMMON - 1)]
    found = check_against(recorded([*many, *few, said("else", 1, "many")], about), labels)
    assert list(found.judges) == ["many"]
    assert noted(found, f"fewer than {MIN_COMMON} items", "left out: few (29)")
    assert noted(found, "verdicts on 1 items")
    assert noted(found, "about 50 of the 60")
    with pytest.raises(InputError, match="else here, i0 in the labels"):
        check_against(recorded([said("else", 1)], about), labels)
    with pytest.raises(UserError, match=rf"few \(29\) items .* at least {MIN_COMMON}"):
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


ONE_TO_FIVE = OnWhat("grade", Scale(grades=(1, 2, 3, 4, 5)), ("grade",))


@given(st.lists(st.floats(1, 5), min_size=1, max_size=30))
def test_a_number_within_the_scale_keeps_its_mean_and_has_the_nearest_grade(numbers: list[float]) -> None:
    rows = [said(str(i), number) for i, number in enumerate(numbers)]
    judged = recorded(rows, ONE_TO_FIVE).judgments("j", [str(i) for i in range(len(numbers))])
    assert judged.score.ravel() == pytest.approx(numbers)
    assert (1 + judged.grade.ravel()).tolist() == [round(number) for number in numbers]  # half to even
    assert ((judged.probabilities > 0).sum(axis=2) <= 2).all()
    assert judged.unscored == (None,) * len(numbers)


def test_decimal_commas_are_numbers_and_a_number_outside_is_unscored_and_counted() -> None:
    rows = [said(str(i), text) for i, text in enumerate(["2,333", "4,167", "1", "5,5"])]
    found = recorded(rows, ONE_TO_FIVE)
    judged = found.judgments("j", ["0", "1", "2", "3"])
    assert judged.score.ravel()[:3] == pytest.approx([2.333, 4.167, 1])
    assert judged.unscored == (None, None, None, OFF_SCALE)
    assert noted(found, "off the scale (5.5;")


@pytest.mark.parametrize(
    ("values", "range_"),
    [((0, 0.25, 1), "0..1"), ((0, 2, 4), "0..4"), ((1, 6, 10), "1..10"), ((0, 50, 100), "0..100")],
)
def test_numbers_of_another_range_are_refused_until_somebody_says_which(
    values: tuple[float, ...], range_: str, tmp_path: Path
) -> None:
    rows = [said(str(i), values[i % len(values)]) for i in range(60)]
    with pytest.raises(InputError, match=r'--judges "j=WORST\.\.BEST"'):
        recorded(rows, ONE_TO_FIVE, off_scale="refused")
    write(tmp_path / "v.jsonl", [dict(row) for row in rows])
    low, high = map(float, range_.split(".."))
    wanted = [1 + 4 * (values[i % len(values)] - low) / (high - low) for i in range(60)]
    by_file = read_recorded(f"{tmp_path / 'v.jsonl'}#range={range_}", ONE_TO_FIVE)
    (tmp_path / "v.judges.json").write_text(f'{{"j": {{"range": [{low:g}, {high:g}]}}}}')
    by_sheet = read_recorded(str(tmp_path / "v.jsonl"), ONE_TO_FIVE)
    ends = Range(low, high)
    by_column = recorded(rows, told(ONE_TO_FIVE, judges={"j": range_}))
    for found in (by_file, by_sheet, by_column):
        assert found.ranges == {"j": ends}
        assert found.judgments("j", [str(i) for i in range(60)]).score.ravel() == pytest.approx(wanted)
    as_score = read_recorded(Table("v", ("item_id", "judge", "grade"), tuple(map(dict, rows)), tuple(range(60))),
                             ONE_TO_FIVE, None, "scores")  # fmt: skip
    assert list(as_score.scores) == ["j"]


def test_a_range_whose_first_number_is_the_larger_turns_the_judge_round() -> None:
    found = recorded([said("x", 1), said("y", 0)], told(ONE_TO_FIVE, judges={"j": "1..0"}))
    assert found.judgments("j", ["x", "y"]).grade.ravel().tolist() == [0, 4]


def test_a_fraction_beside_accept_and_reject_has_a_range_of_its_own() -> None:
    about = OnWhat("grade", ACCEPT_SCALE, ("grade",), accept_only=True)
    rows = [said(str(i), (0.1, 0.8)[i % 2]) for i in range(40)]
    with pytest.raises(InputError, match=r"numbers of j run from 0\.1 to 0\.8.*--judges"):
        recorded(rows, about, off_scale="refused")
    judged = recorded(rows, told(about, judges={"j": "0..1"})).judgments("j", ["0", "1"])
    assert judged.score.ravel() == pytest.approx([0.1, 0.8])
    assert judged.grade.ravel().tolist() == [0, 1]


@pytest.mark.skipif(not (RECORDED / "hanna_aspects.jsonl").exists(), reason=f"real means NOT read: no {RECORDED}")
def test_recorded_means_of_samples_are_all_read() -> None:
    labels = read_label_file(str(RECORDED / "hanna_aspects.jsonl")).labels
    found = read_recorded(str(RECORDED / "hanna_aspects.verdicts.parquet"), OnWhat.of(labels))
    why = Counter(reason for one in found.recordings.values() for reason in one.said.unscored if reason)
    assert why == {NO_VERDICT: 479}  # rows with an empty grade; 8,306 were lost in all
