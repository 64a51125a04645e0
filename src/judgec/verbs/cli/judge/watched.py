"""The report of ``judgec watch``: the rates, drift, and what experts should look at."""

from judgec.connect.tracking.watched_traces import REVIEW_TAG
from judgec.records.estimate import Estimate
from judgec.report.numbers import percent
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.verbs.watch import WatchReport
from judgec.verbs.watch_state import WatchedRate

MOST_SHOWN = 5  # traces for experts; all have the tag


def look_report(found: WatchReport) -> Report:
    """One look: the rates, drift, and what experts should see."""
    counts, rate = found.counts, found.rate
    rows = [("corrected", *_cells(rate.corrected)), ("the judge's own", *_cells(rate.raw))]
    title = f"Accept rate of {found.source} by {found.judge}, 95 % at every look"
    unknown = [] if rate.corrected.value is not None else [f"no corrected rate: {rate.corrected.note}"]
    shown = ", ".join(found.propose[:MOST_SHOWN])
    more = f" and {len(found.propose) - MOST_SHOWN} more" if len(found.propose) > MOST_SHOWN else ""
    new = f"{counts['new_traces']} new traces, {counts['new_sampled']} of them judged"
    in_all = f"{counts['traces']} and {counts['sampled']} in all, {counts['unscored']} without a verdict"
    return Report(
        tables=[TextTable(title, ("", "rate", "interval", "traces"), rows)],
        lines=[
            f"{new}; {in_all}",
            _drift(rate),
            f"{found.spent.calls} LM calls, {found.spent.journaled} from the journal",
        ],
        notes=[*unknown, *found.notes],
        stamps=[
            *([f"for experts (tag {REVIEW_TAG}): {shown}{more}"] if found.propose else []),
            *(f"ALERT: {why}" for why in found.fired),
        ],
    )


def _drift(rate: WatchedRate) -> str:
    evidence = f"log evidence {rate.evidence:.1f}, fires at {rate.fires:.1f}"
    if rate.drift:
        return "DRIFT: the correction is withdrawn" + ("" if rate.unmeasured else f" ({evidence})")
    return "drift was not tested" if rate.unmeasured else f"no drift shown ({evidence})"


def _cells(one: Estimate) -> tuple[str, str, str]:
    limits = "-" if one.low is None or one.high is None else f"[{percent(one.low, 1)}, {percent(one.high, 1)}]"
    return ("-", "-", "-") if one.value is None else (percent(one.value, 1), limits, str(one.n))
