"""The report of ``judgec answer``."""

from judgec.errors import ServiceError
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.verbs.answered import AnswerPlan, Answers, failed_path
from judgec.verbs.cli.output import judgec_here

MOST_REASONS = 5


def answers_report(found: Answers) -> Report:
    """Counts by agent, why some failed, and the next command."""
    assert found.out is not None  # the command does not go without --out
    heads = ("agent", "answers", "failed", "refused", "cite", "median s", "tokens", "$ an answer")
    rows = [(agent, *map(_text, row.values())) for agent, row in found.report.items()]
    reasons = dict.fromkeys(f"{row['agent']}: {row['error']}" for row in found.failed)
    failures = [f"Failures are in {failed_path(found.out)}; they are no answers."] if reasons else []
    return Report(
        tables=[TextTable(str(found.out), heads, rows)],
        lines=[*list(reasons)[:MOST_REASONS], *failures],
        next=[f"{judgec_here()} evaluate --answers {found.out} --judge NAME"],
    )


def plan_report(plan: AnswerPlan) -> Report:
    """What would be asked at most."""
    rows = [(name, str(plan.queries), f"{calls:,}") for name, calls in plan.calls.items()]
    rows.append(("in all", f"{plan.queries * len(plan.calls):,}", f"{sum(plan.calls.values()):,}"))
    of = f" of {', '.join(plan.asked)}" if plan.asked else ""
    shared = f"{plan.indexes} indexes, of which {plan.missing} have to be built; " if plan.indexes else ""
    return Report(
        tables=[TextTable(f"{len(plan.calls)} agents, at most{of}", ("agent", "answers", "calls"), rows)],
        lines=[f"{shared}nothing was asked and nothing was written"],
    )


def require_answers(found: Answers) -> None:
    """Fail where nobody answered anything.

    Raises:
        ServiceError: Every query failed; everything is written all the same.
    """
    if not found.rows and found.out is not None:
        raise ServiceError(
            f"--agents {','.join(found.report)}: no query was answered; the reasons are in {failed_path(found.out)}."
        )


def _text(value: object) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
