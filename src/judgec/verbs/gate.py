"""Checks a judge in continuous integration: measured now, against bounds that somebody wrote down."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from judgec.compile.held_out import HeldOut, judged_unlearned
from judgec.errors import UserError
from judgec.labels.labels import read_item_file
from judgec.labels.project import columns_in
from judgec.lm.executor import Ask, Reply, Request
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.usage import MAX_WAIT
from judgec.lm.watch import Silent
from judgec.raters import programs
from judgec.raters.judge import load_judge
from judgec.raters.programs import Program
from judgec.records.agreement import Agreement
from judgec.records.estimate import Estimate
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.records.ratings import pair
from judgec.report.numbers import percent, short, show, statistic_name
from judgec.stats.agreement.compare import compare
from judgec.stats.agreement.measure import measure
from judgec.stats.intervals.gate import GateVerdict, announced, verdict_of, with_unseen, worst
from judgec.trust.recheck import Recheck, known_items, recheck
from judgec.verbs.options.shared import HeldOutLabels
from judgec.verbs.source import read_held_out
from judgec.verbs.spending import session_for
from judgec.verbs.validity import validity_of, why_not_promoted

AS_WELL = 0.1  # how much worse is still "not worse" where nobody says: the margin of reports, docs/statistics.md


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementGate:
    """Demands of a gate; a demand that is None is not made.

    Args:
        judge: ``NAME[@VERSION]``.
        home: Folder that holds ``programs/``; relative paths start there too.
        labels: A label file; by default that which the judge was compiled on. Items that the judge has learned from
            are left out.
        answers: Answers without labels, for ``max_failure_rate``.
        columns: judgec's names by those of the files; a name that a file lacks is not one of its columns.
        annotators: Columns of ``labels`` that hold one annotator's grades each.
        min_tau_b: The least lower bound of tau-b's 95 % interval.
        max_failure_rate: The largest share of items without a verdict; with ``answers``, of answers that the judge
            rejects or gives no verdict on.
        not_worse_than: Another judge; the interval of tau-b of the one minus the other has to lie at or above
            ``-margin``.
        margin: How much worse is still allowed, 0.1 by default: what a report calls "as well as".
        lm: Another model than the judge was compiled for.
        api_base: An OpenAI-compatible endpoint.
        budget: Most LM calls of the whole check.
        max_cost: Most US dollars, likewise.
        max_wait: Longest that a call waits for a busy endpoint, in all.
        in_flight: Most calls at once, 32 by default.
        functions: What is called where a judge asks a Python function, by name.
        recheck: Of how many items, that the judge was asked about before, the model is asked anew, to see whether it
            still answers as it did.
    """

    judge: str
    home: Path = Path()
    labels: str | None = None
    answers: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    annotators: tuple[str, ...] = ()
    min_tau_b: float | None = None
    max_failure_rate: float | None = None
    not_worse_than: str | None = None
    margin: float = AS_WELL
    lm: str | None = None
    api_base: str | None = None
    budget: int | None = None
    max_cost: float | None = None
    max_wait: float = MAX_WAIT
    in_flight: int | None = None
    functions: Mapping[str, object] = field(default_factory=dict)
    recheck: int = 0


@dataclass(frozen=True, slots=True)
class Demand:
    """One demand of a gate, and what was seen of it.

    Args:
        verdict: Only ``passed`` opens the gate.
        sentence: The numbers, and what is demanded of them.
    """

    verdict: GateVerdict
    sentence: str

    @property
    def announced(self) -> str:
        """``GATE NOT SHOWN: ...``."""
        return announced(self.verdict, self.sentence)


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """Measurements of a gate, and the demands that are not met.

    Args:
        demands: Every demand that was made.
        agreement: With the experts, or None when no demand needed it.
        failure_rate: As ``AgreementGate.max_failure_rate``; None when it was not demanded.
        difference: tau-b (for accept-only and unordered labels: ``exact``) of this judge minus the other's.
        facts: What was judged, what it took (``lm_calls``, ``journaled``, ``cost_usd``) and ``notes``, for people.
    """

    demands: tuple[Demand, ...]
    agreement: Agreement | None = None
    failure_rate: float | None = None
    difference: Estimate | None = None
    facts: Mapping[str, object] = field(default_factory=dict)

    @property
    def verdict(self) -> GateVerdict:
        """The worst of all demands."""
        return worst(demand.verdict for demand in self.demands)

    @property
    def passed(self) -> bool:
        """True when every demand is met."""
        return self.verdict == "passed"

    @property
    def reasons(self) -> tuple[str, ...]:
        """A sentence for each demand that is not met, its verdict in capitals first; none opens the gate."""
        return tuple(demand.announced for demand in self.demands if demand.verdict != "passed")

    @property
    def sentence(self) -> str:
        """The verdict in capitals, then the numbers of every demand."""
        return announced(self.verdict, "; ".join(demand.sentence for demand in self.demands))

    @property
    def told(self) -> str:
        """The sentence, what was spent, and the notes, a line each."""
        notes = self.facts.get("notes")
        said = [f"note: {note}" for note in notes] if isinstance(notes, list) else []
        spent = f"{self.facts.get('lm_calls', 0)} LM calls, {self.facts.get('journaled', 0)} from the journal"
        return "\n".join([self.sentence, spent, *said])


def check(gate: AgreementGate) -> GateOutcome:
    """Measure what the gate demands.

    Raises:
        UserError: When nothing is demanded, or a judge or file does not fit.
        ServiceError: When the judge's model fails.
    """
    if gate.min_tau_b is None and gate.max_failure_rate is None and gate.not_worse_than is None:
        raise UserError(
            f"gate on {gate.judge}: nothing is demanded; min_tau_b, max_failure_rate and not_worse_than are valid. "
            "Give at least one."
        )
    program = programs.load(gate.home, gate.judge)
    if gate.answers is not None and gate.min_tau_b is None and gate.not_worse_than is None:
        return _answers_only(gate, program)
    other = None if gate.not_worse_than is None else programs.load(gate.home, gate.not_worse_than)
    found = _labels(gate, program, *([] if other is None else [other]))
    seen = [validity_of(one.card, found.items) for one in (program, *([] if other is None else [other]))]
    unmeasured = "; ".join(filter(None, (one.refused("labelled items") for one in seen)))
    with _asking(gate) as asking:
        rechecked = asking.rechecked(program, found.items)
        judged = asking.said(program, found.items, labelled=True)
        agreement = None
        if not unmeasured:
            ratings = pair(found.experts, judged, program.card.scale, accept_only=found.accept_only)
            agreement = measure(ratings, nominal=program.card.scale.level == "nominal")
        demands = []
        if gate.min_tau_b is not None:
            wanted = f"tau-b: its lower bound has to be at least {short(gate.min_tau_b)}"
            demands.append(
                _unmeasured(unmeasured, wanted)
                if agreement is None
                else _agreeing(agreement.estimates["tau_b"], gate.min_tau_b)
            )
        rate, notes = None, [*found.left_out, *(note for one in seen for note in one.notes("labelled items"))]
        if gate.max_failure_rate is not None:
            rate, demand, more = _failure(asking, program, judged, gate.max_failure_rate)
            demands.append(demand)
            notes += more
        difference = None
        if other is not None and unmeasured:
            demands.append(_unmeasured(unmeasured, f"not worse than {gate.not_worse_than} by {short(gate.margin)}"))
        elif other is not None:
            difference, demand = _difference(asking, program, other, found, judged)
            demands.append(demand)
        facts: dict[str, object] = {"items": len(found.items), "labels": found.source, "left_out": found.learned}
        if rechecked is not None:
            facts["recheck"] = rechecked.to_json()
            notes += filter(None, [rechecked.note])
        return GateOutcome(tuple(demands), agreement, rate, difference, facts | asking.facts(notes))


def _answers_only(gate: AgreementGate, program: Program) -> GateOutcome:
    assert gate.max_failure_rate is not None  # the only demand left
    with _asking(gate) as asking:
        rate, demand, notes = _failure(asking, program, None, gate.max_failure_rate)
        return GateOutcome((demand,), failure_rate=rate, facts=asking.facts(notes))


def _unmeasured(why: str, wanted: str) -> Demand:
    """A demand of a number that nobody can give."""
    return Demand("not shown", f"{wanted}; {why}, so that nothing is known of it there")


def _agreeing(tau_b: Estimate, least: float) -> Demand:
    # Nothing was seen of a perfect judge's spread.
    verdict = "passed" if tau_b.value == 1.0 and least <= 1.0 else verdict_of(tau_b, least)
    seen = _shown(tau_b) + (f" has no interval ({tau_b.note})" if tau_b.low is None else "")
    return Demand(verdict, f"tau-b {seen}; its lower bound has to be at least {short(least)}")


def _failure(
    asking: "_Asking", program: Program, judged: Judgments | None, most: float
) -> tuple[float | None, Demand, list[str]]:
    """The share among these very items: a count, which no chance is in; and what to know about it."""
    gate = asking.gate
    if gate.answers is None:
        assert judged is not None  # the labelled items
        rate = float((~judged.scored).mean())
        allowed = f"at most {percent(most, 1)} may"
        said = f"{percent(rate, 1)} of {len(judged.item_ids)} labelled items have no verdict; {allowed}"
    else:
        path = str(gate.home / gate.answers)
        items = read_item_file(path, task=program.card.task, rename=_columns(gate, path)).items
        if not items:
            raise UserError(f"{gate.answers}: no answers; at least one is needed. Name another file.")
        validity = validity_of(program.card, items)
        if why := validity.refused("answers"):
            wanted = f"failures (rejected or without a verdict): at most {percent(most, 1)} of answers may"
            return None, _unmeasured(why, wanted), list(validity.notes("answers"))
        judged = asking.said(program, items)
        if (judged.accept[judged.scored] < 0).any():
            raise UserError(f"{gate.judge}: it accepts and rejects nothing. Compile it with --accept-at GRADE.")
        failed = ~judged.scored | (judged.accept == 0).any(axis=1)
        rate = float(failed.mean())
        allowed = f"at most {percent(most, 1)} may"
        said = f"{percent(rate, 1)} of {len(items)} answers fail (rejected or without a verdict); {allowed}"
    notes = [one] if gate.answers is not None and (one := why_not_promoted(program.card)) else []
    return rate, Demand("passed" if rate <= most else "failed", said), notes


def _difference(
    asking: "_Asking", program: Program, other: Program, found: HeldOut, judged: Judgments
) -> tuple[Estimate, Demand]:
    card, gate = program.card, asking.gate
    if (card.scale.grades, card.aspects) != (other.card.scale.grades, other.card.aspects):
        raise UserError(f"not_worse_than {gate.not_worse_than}: another scale or other aspects. Name a judge like it.")
    theirs = asking.said(other, found.items, labelled=True)
    compared = compare(found.items, found.experts, judged, theirs, card.scale, accept_only=found.accept_only)
    plain = card.scale.level == "nominal" or found.accept_only
    name = "exact" if plain else "tau_b"
    difference = compared.differences[name]
    if (card.name, card.version) == (other.card.name, other.card.version):
        shown, note = difference, " (the same judge)"
        verdict = verdict_of(difference.model_copy(update={"low": 0.0, "high": 0.0}), -gate.margin)
    else:
        shown = with_unseen(difference)
        note = f" ({shown.note})" if shown.note else ""
        verdict = verdict_of(shown, -gate.margin)
    said = f"{statistic_name(name)}, {gate.judge} minus {gate.not_worse_than}: {_shown(shown)}{note}"
    return shown, Demand(verdict, f"{said}; its lower bound has to be at least {short(-gate.margin)}")


def _labels(gate: AgreementGate, program: Program, *others: Program) -> HeldOut:
    given = gate.labels
    path = given if given is None or ":" in given else str(gate.home / given)
    columns = {} if path is None else _columns(gate, path)
    wanted = HeldOutLabels(labels=path, home=gate.home, columns=columns, annotators=gate.annotators)
    return read_held_out(wanted, program, *others, environ=os.environ, folder=gate.home)


def _columns(gate: AgreementGate, path: str) -> dict[str, str]:
    there = columns_in(path) if gate.columns else ()
    return {theirs: ours for theirs, ours in gate.columns.items() if theirs in there}


@dataclass(frozen=True, slots=True)
class _Asking:
    """The one session of a check."""

    gate: AgreementGate
    session: Session

    def said(self, program: Program, items: tuple[Item, ...], *, labelled: bool = False) -> Judgments:
        """Judgments of a judge on items; of labelled ones that it has learned from since, those from before."""
        judge, ask = load_judge(program), self._way(program)
        return judged_unlearned(items, program, judge, ask) if labelled else judge.judge(items, ask)

    def rechecked(self, program: Program, items: Sequence[Item]) -> Recheck | None:
        """Checks if the judge's model still answers as it did; None where nobody wants to know, or none is asked."""
        judge, most = load_judge(program), self.gate.recheck
        if most <= 0 or not judge.asks_lm:
            return None
        return recheck(judge.judge, known_items(items, most), self._way(program), time.time_ns() // 1_000_000)

    def _way(self, program: Program) -> Ask:
        def ask(requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
            spec = LMSpec.from_card(program.card.lm, model=self.gate.lm, api_base=self.gate.api_base)
            return self.session.other(spec)(requests, total=total)

        return ask

    def facts(self, notes: Sequence[str]) -> dict[str, object]:
        """Spending, and notes for the reader."""
        return {**self.session.spent.to_json(), "notes": list(dict.fromkeys(notes))}


@contextmanager
def _asking(gate: AgreementGate) -> Iterator[_Asking]:
    with session_for(gate, None, gate.home, Silent()) as session:
        yield _Asking(gate, session)


def _shown(estimate: Estimate) -> str:
    return "undefined" if estimate.value is None else show(estimate, 3, sign=True)
