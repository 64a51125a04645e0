"""The report of shards that were judged."""

from judgec.report.report import Report
from judgec.verbs.cli.judge.judged import asked_lines, notes_of
from judgec.verbs.judge_shards import ShardJudgments


def shards_report(found: ShardJudgments) -> Report:
    """Counts, notes and where the judged shards are."""
    return Report(
        verdict=[found.verdict],
        lines=asked_lines(found.report, found.tally),
        notes=notes_of(found.report),
        stamps=[f"judged shards: {found.out}"],
    )
