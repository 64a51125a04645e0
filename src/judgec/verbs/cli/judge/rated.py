"""The report of a corrected rate."""

from judgec.records.estimate import Estimate
from judgec.report.numbers import percent
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.verbs.estimate import RateEstimate


def rate_report(found: RateEstimate) -> Report:
    """Raw beside corrected."""
    rows = [
        (
            name if len(found.aspects) > 1 else "accept rate",
            *(_shown(rate) for rate in (aspect.raw, aspect.corrected, aspect.rogan_gladen)),
        )
        for name, aspect in found.aspects.items()
    ]
    heads = ("", "raw", "corrected (PPI++)", "Rogan-Gladen")
    return Report(
        tables=[TextTable("Accept rate, 95 % intervals", heads, rows)],
        lines=[f"{found.spent.calls} LM calls in all, {found.spent.journaled} from the journal"],
        notes=found.notes,
    )


def _shown(estimate: Estimate) -> str:
    if estimate.value is None:
        return "-"
    text = percent(estimate.value, 1)
    return text if estimate.low is None else f"{text} [{percent(estimate.low, 1)}, {percent(estimate.high, 1)}]"
