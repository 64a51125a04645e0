"""The report of ``judgec compare``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from judgec.report.cases import BrowsedCase, CaseNote, CaseSide
from judgec.report.items import WORDS
from judgec.report.numbers import show, statistic_name
from judgec.report.render import paired_table
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.report.words import CONSTRUCTED
from judgec.stats.agreement.compare import Differing
from judgec.verbs.cli.output import command
from judgec.verbs.compare import JudgeComparison
from judgec.verbs.options.compare import CompareOptions

HEADLINES = ("tau_b", "kappa", "accept_agreement")  # the first one that is defined decides the sentence
SHOWN = 5  # differing items on screen
LONGEST = 200  # characters of a rationale on screen


def compared_verdict(found: JudgeComparison) -> tuple[str, Literal["better", "even", "none"]]:
    """Which judge agrees with the experts more, in a sentence, and how that stands."""
    known = {name: one for name, one in found.comparison.differences.items() if one.value is not None}
    name = next((name for name in HEADLINES if name in known), next(iter(known), None))
    if name is None:
        return f"{found.a} and {found.b} cannot be compared here: no statistic is defined on these items.", "none"
    one = known[name]
    said = f"{statistic_name(name)} {show(one, sign=True)}"
    if one.low is None or one.high is None or one.low <= 0 <= one.high:
        return f"{found.a} and {found.b} are not told apart by these labels: {said}.", "even"
    better, other = (found.a, found.b) if one.low > 0 else (found.b, found.a)
    return f"{better} agrees with {found.whom} more than {other}: {found.a} minus {found.b} is {said}.", "better"


def compared_report(found: JudgeComparison, options: CompareOptions, file: Path | None) -> Report:
    """Which judge agrees with the experts more, both judges' numbers, and the items on which they differ."""
    verdict, standing = compared_verdict(found)
    differing = found.comparison.differing
    steps = ["Read the items on which they differ, the choice mattering most first."] if differing else []
    if standing == "even":
        steps.append("Label more queries where the choice matters: these do not tell the two apart.")
    steps.append(
        "Ship the cheaper one, if neither is shown to be better." if standing == "even" else "Ship the better one."
    )
    a, b = found.comparison.a, found.comparison.b
    title = f"{found.a} against {found.b}, {_graded(found)}, 95 % intervals"
    both = paired_table(title, {found.a: a, found.b: b}, found.comparison.differences)
    return Report(
        verdict=[verdict],
        tables=[both],
        full=[both, *([_differing(found)] if differing else [])],
        lines=[*_looks(found), f"{found.report['lm_calls']} LM calls"],
        notes=found.notes,
        more=f"the {len(differing)} items on which they differ" if differing else "",
        stamps=[CONSTRUCTED] if found.constructed else [],
        file=file,
        next=[_next(options)] if options.out is None and differing else [],
        title=f"{found.a} against {found.b}",
        facts=f"{_graded(found)} that neither has learned from",
        standing=standing,
        steps=steps,
        items=[_case(found, each) for each in differing],
        items_title="Where they differ",
        words=WORDS | {"intro": "The items on which the two differ.", "rater": "Judge"},
        head=("item", f"{_who(found)}, A, B"),
    )


def _looks(found: JudgeComparison) -> list[str]:
    """How often each judge's test split was used, and what that has spent."""
    spent = set()
    for known in (found.report["a"], found.report["b"]):
        assert isinstance(known, dict)  # as compare makes it
        looks, level = known["looks"], known["level_spent"]
        spent.add(f"{known['program']}: {looks} looks at this test split have spent {level:.3f} of .05")
    return sorted(spent)


def _next(options: CompareOptions) -> str:
    """The same command, writing every item on which they differ."""
    given = (("--labels", options.labels), ("--api-base", options.api_base))
    typed = [part for option, value in given if value is not None for part in (option, str(value))]
    return command("compare", str(options.a), str(options.b), *typed, "--out", "items.jsonl", home=options.home)


def _differing(found: JudgeComparison) -> TextTable:
    """The items on which they differ: who gave which grade, and why."""
    rows = []
    for each in found.comparison.differing[:SHOWN]:
        rows.append((each.item.item_id, _who(found), _expert(each), ""))
        for name, row in (("A", each.a), ("B", each.b)):
            reason = " ".join(str(row.get("unscored") or row.get("rationale") or "no reason given").split())
            why = reason if len(reason) <= LONGEST else reason[: LONGEST - 1] + "…"
            rows.append(("", name, _plain(row.get("grade", row.get("grades"))), why))
    title = f"{len(found.comparison.differing)} items on which they differ, the choice mattering most first"
    return TextTable(title, ("item", "who", "grade", "why"), rows)


def _graded(found: JudgeComparison) -> str:
    """How many grades the judges were held against, and whose."""
    n = found.comparison.a.n + found.comparison.a.unscored
    return f"{n} constructed grades" if found.constructed else f"{n} grades of experts"


def _who(found: JudgeComparison) -> str:
    return "labels" if found.constructed else "experts"


def _case(found: JudgeComparison, each: Differing) -> BrowsedCase:
    item, rows = each.item, {found.a: each.a, found.b: each.b}
    grades = {name: _plain(row.get("grade", row.get("grades"))) for name, row in rows.items()}
    closer = {"a": f"{found.a} is closer", "b": f"{found.b} is closer"}.get(each.closer, "neither is closer")
    return BrowsedCase(
        item_id=item.item_id,
        head=f"{_who(found)} {_expert(each)}, " + ", ".join(f"{name} {grade}" for name, grade in grades.items()),
        title=item.text("query") or item.item_id,
        group=item.group,
        differs=True,
        unscored=next((str(row["unscored"]) for row in rows.values() if row.get("unscored")), None),
        distance=each.distance,
        sides=[CaseSide(name, grades[name], {}, _reason(rows[name])) for name in rows],
        notes=[CaseNote(_who(found), f"{_expert(each)}; {closer}")],
        texts={name: item.texts(name) for name in item.inputs if item.texts(name)},
    )


def _reason(row: Mapping[str, object]) -> str:
    return str(row.get("unscored") or row.get("rationale") or "")


def _expert(each: Differing) -> str:
    return _plain(next(iter(each.expert.values())) if len(each.expert) == 1 else dict(each.expert))


def _plain(value: object) -> str:
    if value is None:
        return "-"
    return " ".join(map(str, value.values())) if isinstance(value, dict) else str(value)
