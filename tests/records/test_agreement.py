"""The JSON forms E and M of every report."""

import pytest

from judgec.records.agreement import Agreement, BlandAltman
from judgec.records.estimate import Estimate
from judgec.stats.agreement.registry import STATISTICS


@pytest.mark.parametrize(
    ("estimate", "short"),
    [
        (Estimate(value=0.5, low=0.4, high=0.6, n=9), {"value": 0.5, "low": 0.4, "high": 0.6}),
        (Estimate(value=0.5, p=0.0), {"value": 0.5, "low": None, "high": None, "p": 0.0}),
        (Estimate(value=None, note="why"), {"value": None, "low": None, "high": None, "note": "why"}),
    ],
)
def test_estimate_is_value_low_high_and_p_and_note_where_there_are_any(
    estimate: Estimate, short: dict[str, object]
) -> None:
    assert estimate.to_json() == short


def test_agreement_has_aspects_only_where_there_are_several() -> None:
    estimates = {name: Estimate(value=0.1) for name in STATISTICS}
    part = Agreement(estimates, BlandAltman(0.1, None, None), 0.25, None, 7, 3, 2)
    report = part.to_json()
    assert list(report) == [*STATISTICS, "bland_altman", "reject_rate", "n", "n_clusters", "unscored"]
    assert report["bland_altman"] == {"bias": 0.1, "low": None, "high": None}
    assert report["reject_rate"] == {"expert": 0.25, "judge": None}
    assert (report["n"], report["n_clusters"], report["unscored"]) == (7, 3, 2)
    whole = Agreement(estimates, part.bland_altman, None, None, 7, 3, 2, {"one": part})
    assert whole.to_json()["aspects"] == {"one": report}
