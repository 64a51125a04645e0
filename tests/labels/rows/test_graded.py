"""Any table with two columns of grades, as ``judgec agreement`` reads it."""

from pathlib import Path

import numpy as np
import pytest

from judgec.errors import InputError, UserError
from judgec.labels.rows.graded import ComparedColumns, Graded, graded_of
from judgec.table.tables import read_table


def graded(folder: Path, text: str, **how: str | None) -> Graded:
    path = folder / ("t.jsonl" if text.startswith("{") else "t.csv")
    path.write_text(text, encoding="utf-8")
    cluster = "q" if text.splitlines()[0].endswith("q") else None
    return graded_of(read_table(str(path)), ComparedColumns(experts=("e",), judge="j", cluster=cluster, **how))  # type: ignore[arg-type]  # score and accept_at


def noted(found: Graded, *said: str) -> None:
    """Each note begins with one of these, and there is no other."""
    assert [note[: len(one)] for note, one in zip(found.notes, said, strict=True)] == list(said)


def test_grades_on_one_to_five_have_the_threshold_four_and_empty_judge_cells_are_unscored(tmp_path: Path) -> None:
    found = graded(tmp_path, "e,j,q\n5,4,x\n2,,x\n,3,y\n4,1,\n4,NaN,\n")
    r = found.ratings
    assert r.values == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert (r.expert.tolist(), r.judge.tolist()) == ([4, 1, 3, 3], [3, -1, 0, -1])
    assert (r.expert_accept.tolist(), r.judge_accept.tolist()) == ([1, 0, 1, 1], [1, -1, 0, -1])
    assert np.isnan(r.score).tolist() == [False, True, False, True]
    assert r.cluster.tolist() == [0, 0, 1, 2]  # rows without a cluster stand alone
    noted(found, "1 row has no expert grade", "2 rows have no q")


def test_grade_that_nobody_used_still_counts_in_distances(tmp_path: Path) -> None:
    assert graded(tmp_path, "e,j\n1,2\n2,4\n4,1\n").ratings.values == (1, 2, 3, 4)
    assert graded(tmp_path, "e,j\n0.5,2\n2,0.5\n").ratings.values == (0.5, 2)


def test_judge_value_off_the_experts_scale_is_a_score_with_the_nearest_grade(tmp_path: Path) -> None:
    found = graded(tmp_path, "e,j\n1,1.4\n2,2.5\n3,2.75\n3,9.75\n", accept_at="3")
    assert found.ratings.judge.tolist() == [0, 1, 2, -1]  # half way the even one; outside the scale none
    assert found.ratings.score[:3].tolist() == [1.4, 2.5, 2.75]
    assert found.ratings.judge_accept.tolist() == [0, 0, 1, -1]
    noted(found, "1 judge value is outside", "3 judge values are not among")
    assert "(9.75)" in found.notes[0]


def test_judges_own_whole_number_never_widens_the_experts_scale(tmp_path: Path) -> None:
    found = graded(tmp_path, "e,j\n2,1\n3,4\n")
    assert list(found.ratings.values) == [1, 2, 3]  # a scale up to 3 begins at 1, as for init
    assert found.ratings.judge.tolist() == [0, -1]


def test_judge_of_thousands_of_values_needs_no_table_of_them(tmp_path: Path) -> None:
    rows = "".join(f"{i % 3},{i / 7}\n" for i in range(3000))
    assert graded(tmp_path, "e,j\n" + rows).ratings.n_grades == 3


def test_score_column_is_used_and_the_grade_stands_in_where_it_is_empty(tmp_path: Path) -> None:
    found = graded(tmp_path, "e,j,s\n1,2,1e-05\n2,1,\n2,,3\n", score="s")
    assert found.ratings.score[:2].tolist() == [1e-05, 1.0]
    assert np.isnan(found.ratings.score[2])  # no grade: unscored, whatever the score
    assert any(note.startswith("1 row has a grade and no score") for note in found.notes)


def test_scores_that_are_no_numbers_are_collected_with_their_lines(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        graded(tmp_path, "e,j,s\n1,2,low\n2,1,3\n,1,bad\n2,1,high\n", score="s")
    assert [fault.split(":")[1] for fault in error.value.faults] == ["2", "5"]


@pytest.mark.parametrize(("good", "bad"), [("true", "false"), ("Yes", "no"), ("accept", "reject"), ("pass", "fail")])
def test_words_that_all_say_accept_or_reject_are_one_and_zero_with_a_threshold(
    tmp_path: Path, good: str, bad: str
) -> None:
    found = graded(tmp_path, f"e,j\n{good},{bad}\n{bad},{bad}\n{good},\n")
    assert (found.ratings.values, found.nominal) == ((0.0, 1.0), False)
    assert found.ratings.expert.tolist() == found.ratings.expert_accept.tolist() == [1, 0, 1]
    assert found.ratings.judge_accept.tolist() == [0, 0, -1]


def test_json_booleans_are_accepts(tmp_path: Path) -> None:
    found = graded(tmp_path, '{"e": true, "j": false}\n{"e": false, "j": null}\n')
    assert (found.ratings.expert.tolist(), found.ratings.judge.tolist()) == ([1, 0], [0, -1])


def test_any_other_word_makes_classes_and_yes_beside_maybe_is_one_of_them(tmp_path: Path) -> None:
    found = graded(tmp_path, "e,j\nyes,maybe\nno,no\nmaybe,\n2,yes\n")
    assert (found.nominal, found.ratings.n_grades) == (True, 4)  # 2, maybe, no, yes
    assert (found.ratings.expert.tolist(), found.ratings.judge.tolist()) == ([3, 2, 1, 0], [1, 2, -1, 3])
    assert (found.ratings.expert_accept == -1).all()
    assert [note.partition(": ")[2] for note in found.notes] == ["maybe, no, yes"]


BEYOND = ("9", "0", "5.5", "nan", "inf")


@pytest.mark.parametrize(
    ("text", "accept_at", "said"),
    [
        ("e,j\ngood,red\nred,red\n", "good", "--accept-at good: .* classes"),
        ("e,j\n1,3\n3,3\n", "x", "--accept-at x: not a number; .* 1, 2, 3"),
        *(("e,j\n1,5\n5,2\n", beyond, f"{beyond}: not among .* 1, 2, 3, 4, 5") for beyond in BEYOND),
        ("e,k\n1,2\n", None, "--judge j: .* e, k"),
        ("e,j\n,1\n,2\n", None, "no row .* in e"),
        ("e,j\n1,good\n2,bad\n", None, "j holds bad, good;"),
        ("e,j\n0,no\n3,yes\n", None, "e: grades from 0 to 3"),
        ("e,j\n" + "".join(f"{i / 7},1\n" for i in range(200)), None, "200 different .* 101"),  # measurements
    ],
)
def test_what_cannot_be_compared_is_refused(tmp_path: Path, text: str, accept_at: str | None, said: str) -> None:
    with pytest.raises(UserError, match=said):
        graded(tmp_path, text, accept_at=accept_at)


def test_threshold_of_one_to_five_is_valid_where_nobody_gave_so_much(tmp_path: Path) -> None:
    found = graded(tmp_path, "e,j\n1,3\n3,2\n", accept_at="4").ratings
    assert (found.expert_accept.tolist(), found.judge_accept.tolist()) == ([0, 0], [0, 0])
    rejects = graded(tmp_path, "e,j\nno,no\nno,no\n").ratings
    assert rejects.expert_accept.tolist() == [0, 0]


def test_other_scales_have_no_threshold_until_one_is_named(tmp_path: Path) -> None:
    text = "e,j\n0,1\n3,2\n2,2\n"
    assert (graded(tmp_path, text).ratings.expert_accept == -1).all()
    named = graded(tmp_path, text, accept_at="2").ratings
    assert (named.expert_accept.tolist(), named.judge_accept.tolist()) == ([0, 1, 1], [0, 1, 1])


def test_judges_words_beside_numbers_are_unscored_and_the_statistics_keep_their_order(tmp_path: Path) -> None:
    found = graded(tmp_path, "e,j\n1,2\n3,ERROR\n2,I cannot say\n5,5\n4,4\n")
    assert (found.nominal, found.ratings.judge.tolist()) == (False, [1, -1, -1, 4, 3])
    (note,) = found.notes
    assert note.startswith("2 judge values")
    assert "(ERROR, I cannot say)" in note
    assert graded(tmp_path, "e,j\nyes,yes\nno,maybe\nno,no\n").ratings.judge_accept.tolist() == [1, -1, 0]


def test_judges_accept_beside_experts_grades_is_compared_at_the_threshold(tmp_path: Path) -> None:
    text = '{"e": 5, "j": true}\n{"e": 3, "j": false}\n{"e": 4, "j": false}\n{"e": 1, "j": null}\n'
    ratings = graded(tmp_path, text).ratings
    assert ratings.values == (0.0, 1.0)
    assert (ratings.expert.tolist(), ratings.judge.tolist()) == ([1, 0, 1, 0], [1, 0, 0, -1])
    assert graded(tmp_path, text, accept_at="3").ratings.expert_accept.tolist() == [1, 1, 1, 0]


def test_judges_grades_beside_experts_accept_keep_their_order_in_the_score(tmp_path: Path) -> None:
    ratings = graded(tmp_path, "e,j\nyes,5\nno,4\nno,2\nyes,3\nno,\n").ratings
    assert (ratings.expert.tolist(), ratings.judge.tolist()) == ([1, 0, 0, 1, 0], [1, 1, 0, 0, -1])
    assert ratings.score[:4].tolist() == [5, 4, 2, 3]
    share = graded(tmp_path, "e,j\nyes,0.9\nno,0.2\n")
    assert share.no_grades
    assert share.ratings.judge_accept.tolist() == [-1, -1]
    assert share.ratings.score.tolist() == [0.9, 0.2]
