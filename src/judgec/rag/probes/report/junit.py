"""The report for a build server: JUnit XML, a test case for each question put to each system."""

from collections.abc import Sequence

from judgec.records.scenario.outcome import Probed
from judgec.report.xml import attribute, content


def junit(probed: Sequence[Probed]) -> str:
    """A test suite for each scenario, system and data set; errors and unscored replies are errors, not failures."""
    suites: dict[tuple[str, str, str], list[Probed]] = {}
    for one in probed:
        verdict = one.verdict
        suites.setdefault((verdict.scenario, verdict.system, verdict.data_set), []).append(one)
    counts = _counts(probed)
    parts = ["<?xml version='1.0' encoding='UTF-8'?>", f"<testsuites name='judgec probe' {counts}>"]
    for key, group in suites.items():
        parts.append(f"<testsuite name={attribute(' x '.join(key))} {_counts(group)}>")
        parts += map(_case, group)
        parts.append("</testsuite>")
    return "\n".join([*parts, "</testsuites>", ""])


def _counts(group: Sequence[Probed]) -> str:
    outcomes = [one.verdict.outcome for one in group]
    failures, errors = outcomes.count("fail"), outcomes.count("error") + outcomes.count("unscored")
    seconds = sum(one.reply.seconds for one in group)
    return f"tests='{len(group)}' failures='{failures}' errors='{errors}' time='{seconds:.3f}'"


def _case(one: Probed) -> str:
    verdict, question = one.verdict, one.question
    name = f"{verdict.query_id}: {question.query}"
    head = (
        f"<testcase classname={attribute(f'{verdict.scenario}.{verdict.system}')} name={attribute(name[:200])} "
        f"time='{one.reply.seconds:.3f}'>"
    )
    if verdict.outcome == "pass":
        return f"{head}</testcase>"
    lines = [
        f"question: {question.query}",
        f"reference: {question.reference or '(a refusal)'}",
        f"answer: {one.reply.answer if one.reply.answer is not None else '(none)'}",
        f"reason: {verdict.reason}",
        *([f"component: {verdict.component} ({verdict.why})"] if verdict.component else []),
    ]
    kind = "failure" if verdict.outcome == "fail" else "error"
    body = content("\n".join(lines))
    return f"{head}<{kind} message={attribute(verdict.reason[:200])}>{body}</{kind}></testcase>"
