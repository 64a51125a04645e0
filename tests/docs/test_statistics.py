"""``docs/statistics.md`` defines every statistic that a report shows."""

import pytest

from judgec.rag.queries.generation.diversity import closeness
from judgec.raters.calibrator import CalibratorChoice
from judgec.records.agreement import Agreement, BlandAltman
from judgec.records.alternative_annotator import AltTest, AnnotatorContest
from judgec.report.label_report import AnnotatorAgreement, PairAgreement
from judgec.stats.agreement.registry import STATISTICS
from tests.verbs.cli.process import ROOT

PAGE = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
PLAIN = {"estimates", "annotators", "n", "level", "note", "aspects"}  # what a value belongs to, no statistic
COMPILE = """difference detectable prompt_gain calibration_error abstention compiled_loo majority ceiling adjudicators
    against_others below_majority above evidence_alone"""
KEYS = {
    "agreement": [*STATISTICS, *Agreement({}, BlandAltman(None, None, None), None, None, 0, 0, 0).to_json()],
    "raters": sorted({*AnnotatorAgreement.__annotations__, *PairAgreement.__annotations__} - PLAIN),
    "closeness": sorted(set(closeness([], [], lambda texts: None)) - PLAIN),  # type: ignore[arg-type,return-value]
    "calibrators": sorted(set(CalibratorChoice.model_fields) - {"source", "family", "chosen"}),
    "compile": COMPILE.split(),
    "alt_test": sorted(
        {"alt_test", *AltTest.__slots__, *AnnotatorContest.__slots__, "passes"}
        - {"note", "annotator", "contests", "items", "queries", "clustered_by", "alignment", "majority_omega"}
        - {"majority_rho"}
    ),
    "probe": ["failure_rate", "failure_rate_with_errors", "a_only_failed", "b_only_failed", "smallest_p"],
    "queries": ["value", "accepted", "likeness", "type_entropy", "embedding_spread"],
    "tournament": ["length_effect", "length_controlled", "win_rates", "flip_rate", "accuracy_decided"],
    "rates": ["raw", "corrected", "weight"],
}


@pytest.mark.parametrize("report", KEYS)
def test_every_statistic_of_a_report_is_defined(report: str) -> None:
    missing = [name for name in KEYS[report] if f"`{name}`" not in PAGE and f"`estimates.{name}`" not in PAGE]
    assert missing == []
