"""Prints the result of ``judgec watch``: the rates, drift, and what experts should look at."""

from judgec.connect.tracking.watched_traces import REVIEW_TAG
from judgec.records.estimate import Estimate
from judgec.report.numbers import percent
from judgec.verbs.cli.output import print_table, say
from judgec.verbs.watch import WatchReport
from judgec.verbs.watch_state import WatchedRate

MOST_SHOWN = 5  # traces for experts; all have the tag


def show_look(found: WatchReport) -> None:
    """Print one look."""
    counts, rate = found.counts, found.rate
    rows = [
        ("corrected", *_cells(rate.corrected)),
        ("the judge's own", *_cells(rate.raw)),
    ]
    title = f"Accept rate of {found.source} by {found.judge}, 95 % at every look"
    print_table(title, ("", "rate", "interval", "traces"), rows)
    say(
        f"{counts['new_traces']} new traces, {counts['new_sampled']} of them judged; "
        f"{counts['traces']} and {counts['sampled']} in all, {counts['unscored']} without a verdict",
        _drift(rate),
        f"{found.spent.calls} LM calls, {found.spent.journaled} from the journal",
    )
    if rate.corrected.value is None:
        say(f"note: no corrected rate: {rate.corrected.note}")
    say(*[f"note: {note}" for note in found.notes])
    if found.propose:
        shown = ", ".join(found.propose[:MOST_SHOWN])
        more = f" and {len(found.propose) - MOST_SHOWN} more" if len(found.propose) > MOST_SHOWN else ""
        say(f"for experts (tag {REVIEW_TAG}): {shown}{more}")
    say(*[f"ALERT: {why}" for why in found.fired])


def _drift(rate: WatchedRate) -> str:
    evidence = f"log evidence {rate.evidence:.1f}, fires at {rate.fires:.1f}"
    if rate.drift:
        return "DRIFT: the correction is withdrawn" + ("" if rate.unmeasured else f" ({evidence})")
    return "drift was not tested" if rate.unmeasured else f"no drift shown ({evidence})"


def _cells(one: Estimate) -> tuple[str, str, str]:
    limits = "-" if one.low is None or one.high is None else f"[{percent(one.low, 1)}, {percent(one.high, 1)}]"
    return ("-", "-", "-") if one.value is None else (percent(one.value, 1), limits, str(one.n))
