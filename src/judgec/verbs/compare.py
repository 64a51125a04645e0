"""``judgec.compare``: two judges on items that neither was compiled on."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import pandas as pd

from judgec.compile.held_out import held_out, judged_unlearned
from judgec.errors import UserError
from judgec.labels.split.draw import recorded_split
from judgec.labels.split.family import read_family, write_whole
from judgec.labels.split.memory import read_memory, uses_of
from judgec.labels.split.queries import with_swapped_together
from judgec.lm.spec import NO_LM, LMSpec
from judgec.lm.watch import Watch
from judgec.records.card import ProgramCard
from judgec.records.counts import plural
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.report.cases import BrowsedCase, CaseNote, CaseSide
from judgec.report.items import WORDS
from judgec.report.numbers import NAMES, show, statistic_name
from judgec.report.page.notebook import notebook
from judgec.report.render import notes, paired_table
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.report.words import CONSTRUCTED
from judgec.stats.agreement.compare import Comparison, Differing
from judgec.stats.agreement.compare import compare as compared
from judgec.stats.intervals.significance import level_for_test_use
from judgec.verbs.given_judge import given_judge, is_unlabelled
from judgec.verbs.judge import Judge
from judgec.verbs.opened import asked_by
from judgec.verbs.options.compare import CompareOptions
from judgec.verbs.source import JudgeLabels, labels_for
from judgec.verbs.spending import account_for, session_for
from judgec.verbs.typed import command
from judgec.verbs.verb import verb

LISTED = 20  # differing items in the report; ``differing`` and ``out`` have all


@dataclass(frozen=True)
class JudgeComparison:
    """Two judges held against the same experts' labels.

    Args:
        a: ``NAME@VERSION`` of one.
        b: Of the other.
        comparison: Both agreements, their paired differences, the items on which they differ.
        report: What ``compare --json`` prints.
        notes: Why statistics are missing, and what was left out.
        constructed: The labels' datasheet says that no expert gave them.
    """

    a: str
    b: str
    comparison: Comparison
    report: Mapping[str, object]
    notes: tuple[str, ...]
    constructed: bool = False

    @cached_property
    def table(self) -> pd.DataFrame:
        """Statistics by a, b and a - b: each with ``.low`` and ``.high`` of its 95 % interval; NaN where undefined."""
        found = self.comparison
        columns: dict[str, dict[str, float | None]] = {}
        for name, estimates in (("a", found.a.estimates), ("b", found.b.estimates), ("difference", found.differences)):
            columns[name] = {statistic: one.value for statistic, one in estimates.items()}
            columns[f"{name}.low"] = {statistic: one.low for statistic, one in estimates.items()}
            columns[f"{name}.high"] = {statistic: one.high for statistic, one in estimates.items()}
        rows = list(found.a.estimates)
        return pd.DataFrame({name: pd.Series(column, dtype=float) for name, column in columns.items()}).reindex(rows)

    @cached_property
    def differing(self) -> pd.DataFrame:
        """Items that they judge differently, those first on which the choice of judge matters most."""
        return pd.DataFrame([each.to_json() for each in self.comparison.differing])

    @property
    def whom(self) -> str:
        """Whom the judges are held against."""
        return "the constructed labels" if self.constructed else "the experts"

    @property
    def verdict(self) -> str:
        """Sentence on whether one agrees better with the experts, by the first statistic that has a difference.

        Of constructed labels it says that these are what the judges agree with.
        """
        named = f"{self.a} minus {self.b}"
        found = next(((n, one) for n, one in self.comparison.differences.items() if one.value is not None), None)
        if found is None:
            return f"{named}: no difference is defined"
        name, one = found
        said = f"neither is shown to agree better with {self.whom}"
        if one.low is not None and one.low > 0:
            said = f"{self.a} agrees better with {self.whom}"
        if one.high is not None and one.high < 0:
            said = f"{self.b} agrees better with {self.whom}"
        return f"{named}: {NAMES.get(name, name)} {show(one)}, {said}"

    def __repr__(self) -> str:
        return f"<JudgeComparison {self.verdict}>"

    def _repr_html_(self) -> str:
        return notebook(compared_report(self))


@verb(CompareOptions)
def compare(options: CompareOptions, watch: Watch) -> JudgeComparison:
    """Compare two judges on items that neither was compiled on: paired differences, and where they differ.

    Raises:
        UserError: The judges cannot be compared, or no item is left that neither was compiled on.
        InputError: Faulty labels.
        ServiceError: A model fails for good.

    Example:
        >>> found = judgec.compare("sensors@1", "sensors@1")
        >>> float(found.table.loc["tau_b", "difference"])
        0.0
    """
    a, b = _given(options)
    _require_same_scale(a.program.card, b.program.card)
    if options.out is not None and not options.out.parent.is_dir():
        raise UserError(f"--out {options.out}: no such folder {options.out.parent}; create it, or name another.")
    read = _labels(options, a, b)
    source = f"{a.name} and {b.name}" if options.labels is None else read.source
    fresh = held_out(read.label_set, source, a.program, b.program)
    watch.stage("items", f"{plural(len(fresh.items), 'labelled item')} that neither was compiled on")
    (one, other), calls = _judged(options, (a, b), fresh.items, watch)
    scale = a.program.card.scale
    found = compared(fresh.items, fresh.experts, one, other, scale, accept_only=fresh.accept_only)
    if options.out is not None:
        lines = [json.dumps(each.to_json(), ensure_ascii=False, allow_nan=False) for each in found.differing]
        write_whole(options.out, "".join(line + "\n" for line in lines))
    report: dict[str, object] = {
        "a": _known(a),
        "b": _known(b),
        "test": {"a": found.a.to_json(), "b": found.b.to_json()},
        "difference": {name: estimate.to_json() for name, estimate in found.differences.items()},
        "differ": len(found.differing),
        "items": [each.to_json() for each in found.differing[:LISTED]],
        "lm_calls": calls,
        "left_out": fresh.learned,
        "out": None if options.out is None else str(options.out),
    }
    constructed = read.label_set.constructed
    said = [*([CONSTRUCTED] if constructed else []), *fresh.left_out, *notes({a.name: found.a, b.name: found.b})]
    report["notes"] = said
    return JudgeComparison(a.name, b.name, found, report, tuple(said), constructed)


def _given(options: CompareOptions) -> tuple[Judge, Judge]:
    """Both judges; one without labels is asked what the other is."""
    pair, found = (options.a, options.b), dict[int, Judge]()
    for place in sorted((0, 1), key=lambda place: is_unlabelled(pair[place], options.home)):
        like = next((one.program.card for one in found.values()), None)
        one = pair[place]
        lm = options.lm if isinstance(one, str) and is_unlabelled(one, options.home) else None
        found[place] = given_judge(one, home=options.home, lm=lm, api_base=options.api_base, labels=options, like=like)
    return found[0], found[1]


def _require_same_scale(a: ProgramCard, b: ProgramCard) -> None:
    for what, one, other in (
        ("task", a.task, b.task),
        ("grades", a.scale.grades, b.scale.grades),
        ("accepted from", a.scale.accept_at, b.scale.accept_at),
        ("aspects", a.aspects, b.aspects),
    ):
        if one != other:
            raise UserError(
                f"{a.name}@{a.version} and {b.name}@{b.version}: {what} {one} and {other}; judges of one task and "
                "scale can be compared. Name another."
            )


def _labels(options: CompareOptions, a: Judge, b: Judge) -> JudgeLabels:
    """The labels to compare on: those given, or those that both versions were tested on."""
    own, other = (a, b) if a.saved else (b, a)
    card = own.program.card
    if options.labels is None and other.saved and card.split_digest != other.program.card.split_digest:
        raise UserError(
            f"{a.name} and {b.name}: tested on different items; the same are needed. "
            "Give labels with --labels FILE: items that neither was compiled on are used."
        )
    read = labels_for(options, own.program, other.program, environ=os.environ, task=options.task)
    if options.labels is None:
        found = recorded_split(with_swapped_together(read.label_set), own.program.split).digests["test"]
        if found != card.split_digest:
            raise UserError(
                f"{read.source}: its test items are not those that {own.name} was tested on; the file has changed. "
                "Restore it, or give labels with --labels FILE."
            )
    return read


def _judged(
    options: CompareOptions, pair: tuple[Judge, Judge], items: Sequence[Item], watch: Watch
) -> tuple[list[Judgments], int]:
    """Judgments of both, within caps that they share; a judge that reads the evidence alone asks no model."""
    spec = pair[0].spec if pair[0].asks_lm else LMSpec.parse(NO_LM)
    judged = []
    account = account_for(options, options.a, options.b)
    with session_for(options, spec, pair[0].home, watch, account=account) as session:
        for one, asked in [(one, asked_by(one, session)) for one in pair]:
            watch.stage("judge", f"{one.name}, {one.card.engine or one.spec.asked_at}")
            judged.append(judged_unlearned(items, one.program, asked.judged))
        return judged, session.spent.calls


def _known(judge: Judge) -> dict[str, object]:
    """The judge, how often its test split has been looked at under any name, and the error level that has spent."""
    card, home = judge.program.card, judge.home
    if not judge.saved:
        return {"program": card.name, "version": None, "lm": card.lm.get("model")}
    memory = read_memory(home, card.name)
    tested = next(version for version in memory.own if version.number == card.version)
    own = sum(use.test == card.split_digest for use in read_family(home, card.name).looks)
    uses = max(own, uses_of(tested.tested or frozenset(), memory, task=card.task, columns=tested.columns))
    spent = sum(level_for_test_use(use) for use in range(1, uses + 1))
    known: dict[str, object] = {"program": card.name, "version": card.version}
    return known | {"looks": uses, "level_spent": spent, "next_level": level_for_test_use(uses + 1)}


HEADLINES = ("tau_b", "kappa", "accept_agreement")  # the first one that is defined decides the sentence
SHOWN = 5  # differing items on screen
LONGEST = 200  # characters of a rationale on screen


def _leading(found: JudgeComparison) -> list[str]:
    """Statistics of the short table, the one that decides first."""
    known = [name for name, one in found.comparison.differences.items() if one.value is not None]
    return [name for name in HEADLINES if name in known] or known[:1]


def compared_verdict(found: JudgeComparison) -> tuple[str, Literal["better", "even", "none"]]:
    """Sentence on which judge agrees with the experts more, and its status."""
    name = next(iter(_leading(found)), None)
    if name is None:
        return f"{found.a} and {found.b} cannot be compared here: no statistic is defined on these items.", "none"
    one = found.comparison.differences[name]
    said = f"{statistic_name(name)} {show(one, sign=True)}"
    if one.low is None or one.high is None or one.low <= 0 <= one.high:
        return f"{found.a} and {found.b} are not told apart by these labels: {said}.", "even"
    better, other = (found.a, found.b) if one.low > 0 else (found.b, found.a)
    return f"{better} agrees with {found.whom} more than {other}: {found.a} minus {found.b} is {said}.", "better"


def compared_report(found: JudgeComparison, options: CompareOptions | None = None, file: Path | None = None) -> Report:
    """Report of which judge agrees more with the experts, both judges' numbers, and the items where they differ."""
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
    judges, differences = {found.a: a, found.b: b}, found.comparison.differences
    both = paired_table(title, judges, differences)
    return Report(
        data=found.report,
        verdict=[verdict],
        tables=[paired_table(title, judges, differences, _leading(found))],
        full=[both, *([_differing(found)] if differing else [])],
        lines=[*_looks(found), f"{found.report['lm_calls']} LM calls"],
        notes=found.notes,
        more=f"every statistic, and the {plural(len(differing), 'item')} on which they differ"
        if differing
        else "every statistic",
        stamps=[CONSTRUCTED] if found.constructed else [],
        file=file,
        next=[_next(options)] if options is not None and options.out is None and differing else [],
        title=f"{found.a} against {found.b}",
        facts=f"{_graded(found)} that neither has learned from",
        standing=standing,
        steps=steps,
        items=[_case(found, each) for each in differing],
        items_title="Where they differ",
        words=WORDS | {"intro": "The items on which the two differ.", "rater": "Judge"},
        head=("item", f"{_who(found)}, A, B"),
        further=[both],
    )


def _looks(found: JudgeComparison) -> list[str]:
    """Sentences on how often each judge's test split was used, and what that has spent."""
    spent = set()
    for known in (found.report["a"], found.report["b"]):
        assert isinstance(known, dict)  # as compare makes it
        if known["version"] is None:  # without labels no test split is its own
            continue
        uses, level = known["looks"], known["level_spent"]
        spent.add(f"{known['program']}: {uses} uses of this test split have spent {level:.3f} of .05")
    return sorted(spent)


def _next(options: CompareOptions) -> str:
    """The same command, writing every item on which they differ."""
    functions = [("--function", f"{name}={one}") for name, one in options.functions.items() if isinstance(one, str)]
    given = (("--labels", options.labels), ("--lm", options.lm), ("--api-base", options.api_base), *functions)
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
    title = f"{plural(len(found.comparison.differing), 'item')} on which they differ, the choice mattering most first"
    return TextTable(title, ("item", "who", "grade", "why"), rows)


def _graded(found: JudgeComparison) -> str:
    """Sentence on how many grades the judges were compared with, and whose."""
    n = found.comparison.a.n + found.comparison.a.unscored
    return f"{plural(n, 'constructed grade')}" if found.constructed else f"{plural(n, 'grade')} of experts"


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
