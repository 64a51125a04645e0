"""Frozen verdicts beside those of a judge that changed a little, much, or not at all."""

import pytest

from judgec.records.label import Item
from judgec.trust.audits.drift import Drift, compare, freeze
from tests.trust.audits.judges import FakeJudge, items, quality, subject


def drifted(changed: int, n: int = 30) -> Drift:
    """The drift of a judge that gives ``changed`` of ``n`` items another grade than when it was frozen."""
    frozen = freeze(subject(lambda item, run: quality(item), items(n)), judge="j@1", aspects=("grade",), created="now")

    def later(item: Item, run: int) -> int:
        grade = quality(item)
        return (grade - 1 if grade else 1) if int(item.item_id.removeprefix("i")) < changed else grade

    return compare(frozen, FakeJudge(later), run=1, pairwise=False)


@pytest.mark.parametrize(("changed", "status"), [(0, "pass"), (3, "pass"), (4, "fail"), (30, "fail")])
def test_gate_and_sentence_go_by_the_share_that_changed(changed: int, status: str) -> None:
    found = drifted(changed)
    assert found.flips.effect.value == pytest.approx(changed / 30)
    assert (found.flips.status, found.to_json()["status"], found.beyond) == (status, status, status == "fail")
    word = "within" if status == "pass" else "beyond"
    assert found.flips.sentence.endswith(f"of the frozen verdicts changed: {word} the bound of 10 %.")
    exact = found.agreement.estimates["exact"]
    assert exact.value == pytest.approx(1 - changed / 30)
    assert (exact.low is not None) == (0 < changed < 30)


def test_shift_has_the_sign_of_the_change_and_its_own_bound() -> None:
    found = drifted(12)
    assert found.shift.effect.value == pytest.approx(-0.25 * 12 / 30)  # a grade of 1-5 is a quarter of the scale
    assert found.shift.status == "fail"
    assert found.shift.sentence.endswith("beyond the bound of ±5 %.")
