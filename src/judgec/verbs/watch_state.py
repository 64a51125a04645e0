"""Keeps what a watch knows: the judge's error rates, the rates of the traces, drift, and what experts should see."""

import hashlib
import json
import os
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from judgec.compile.held_out import HeldOut, kept_out_of_fold, said_unlearned
from judgec.errors import UserError
from judgec.labels.stream.pieces import pieces_of
from judgec.lm.session import Session
from judgec.lm.watch import Watch
from judgec.raters.judge import load_judge
from judgec.raters.programs import Program
from judgec.records.card import ProgramCard
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED, Judgments, concatenate
from judgec.records.label import FloatArray, InputCounts, IntArray, Item
from judgec.report.numbers import percent
from judgec.stats.sequential.mean import STAGES, stage_alpha
from judgec.stats.sequential.mixture import ALPHA, ScoreCounts, binned, drift_evidence, measured
from judgec.stats.sequential.rate import ErrorRates, error_rates, rolling_rates
from judgec.trust.recheck import Recheck, known_items, recheck
from judgec.trust.watched import WatchedTrace, WatchState
from judgec.verbs.jury import VerdictCount, abstaining, open_jury, spec_for
from judgec.verbs.live import live_specs
from judgec.verbs.options.shared import HeldOutLabels
from judgec.verbs.options.watch import WatchOptions
from judgec.verbs.source import read_held_out
from judgec.verbs.validity import Validity, validity_of

MONITORED = 0.1  # share of the sampled traces that experts are asked about while nothing drifts
MOST_PROPOSED = 20  # at once, while nothing drifts
UNKNOWN = (
    "the judge was compiled in folds and has since learned from all labels, so no unseen label is left to measure it "
    "as it is asked now"
)
NOWHERE = {"api_base": None}  # nothing that ships with judgec is asked at an endpoint
OTHERWISE = "Trace {name} with each answer, or compile the judge on labels without {name}."
ADVICE = {
    "reference": "Log an expectation of each trace (mlflow.log_expectation), or compile the judge on labels without "
    "{name}.",
    "contexts": "Trace what was retrieved (spans of the type RETRIEVER), or compile the judge on labels without "
    "{name}.",
}
_ALERT = re.compile(r"\s*(accept|raw)\s*([<>])\s*(\d*\.?\d+)\s*(%?)\s*")


@dataclass(frozen=True, slots=True)
class Known:
    """Facts known of the judge.

    Args:
        epoch: How often it was measured, from 1: at first on its test split.
        begun: Where the sampled traces begin that it has judged as it is asked now; earlier ones are another's.
        since: Where the sampled traces begin that it is known of.
        drift_since: Where those begin that the test of drift looks at.
        drift_at: How many sampled traces there were when drift fired, or None.
        errors: Its error rates.
        scores: Its scores of accepted and rejected items.
        labels: How many labels that rests on.
        on_test: They are those of its test split; else experts' of traces.
        shown: What these traces had; None of the test split, of which the card says it.
    """

    epoch: int
    since: int
    drift_since: int
    drift_at: int | None
    errors: ErrorRates
    scores: ScoreCounts
    labels: int
    begun: int = 0
    on_test: bool = True
    shown: InputCounts | None = None


@dataclass(frozen=True, slots=True)
class WatchedRate:
    """The rates after a look.

    Args:
        raw: What the judge accepts.
        corrected: What experts would accept; without a value where it is refused or withdrawn.
        drift: Whether drift has fired and not been answered.
        evidence: Log of the test's e-process.
        fires: Where it fires.
        assumes: What the correction rests on.
        labels: New labels since drift fired.
        needed: How many it takes.
        notes: What to know.
        unmeasured: Why what is known of the judge does not hold of these traces, or empty: then nothing is corrected,
            and drift is not tested.
        missing_inputs: Of which inputs, see ``Validity.to_json``.
    """

    raw: Estimate
    corrected: Estimate
    drift: bool
    evidence: float
    fires: float
    assumes: str
    labels: int
    needed: int
    notes: tuple[str, ...]
    unmeasured: str = ""
    missing_inputs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """The rates in words."""
        own = f"the judge accepts {_shown(self.raw)}"
        if self.corrected.value is None:
            return f"no corrected accept rate: {self.corrected.note}; {own}, uncorrected"
        return f"accept rate {_shown(self.corrected)}; {own}, uncorrected"

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        return {
            "accept": self.corrected.to_json(),
            "raw": self.raw.to_json(),
            "withdrawn": self.drift,
            "drift": {
                "fired": self.drift,
                "log_evidence": None if self.unmeasured else self.evidence,
                "fires_at": self.fires,
                "tested": not self.unmeasured,
            },
            "missing_inputs": {name: dict(shares) for name, shares in self.missing_inputs.items()},
            "labels_since_drift": self.labels if self.drift else None,
            "labels_needed": max(self.needed - self.labels, 0) if self.drift else 0,
            "assumes": self.assumes,
        }


@dataclass(frozen=True, slots=True)
class WatchedJudge:
    """A judge as a watch asks it, its test items and the traces alike.

    Args:
        options: How it is asked.
        program: As saved.
        aspect: Which of its aspects the rates are about.
        session: The way to its model: the only one of a look.
        watch: Told of progress.
    """

    options: WatchOptions
    program: Program
    aspect: int
    session: Session
    watch: Watch

    @property
    def asked(self) -> dict[str, object]:
        """Whom it asks, and how: what its error rates depend on beside itself."""
        options, card, judge = self.options, self.program.card, load_judge(self.program)
        if not judge.asks_lm:
            return {}
        specs = (
            live_specs(card, judge, options.lm, options.api_base, options.temperature)
            if options.live
            else {"": spec_for(card, options)}
        )
        models = {
            name: {**spec.describe(), **NOWHERE} if spec.no_model else spec.describe() for name, spec in specs.items()
        }
        return {"models": models, "samples": options.samples, "live": options.live, "structured": options.structured}

    @property
    def digest(self) -> str:
        """Tells the same judge apart where it is asked otherwise."""
        asked = {**self.asked, "abstain_below": self.options.abstain_below}
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()

    @property
    def as_compiled(self) -> bool:
        """True if it is asked as when it was compiled, wherever its model answers."""
        usual = replace(self.options, lm=None, live=False, samples=1, temperature=None, structured=False)
        return self.asked == replace(self, options=usual).asked

    def judged(self, items: Sequence[Item]) -> list[Judgments]:
        """Judgments of items, in pieces."""
        count = VerdictCount(self.session, self.watch.progress)
        jury = open_jury([self.program], len(items), self.options, self.session, count)
        certain = abstaining([self.program.card], self.options.abstain_below)
        return [certain(found) for found in jury.judge(pieces_of(items))]

    def rechecked(self) -> Recheck | None:
        """Checks whether its model still answers as it did about labelled items; None where nobody wants to know."""
        judge, most = load_judge(self.program), self.options.recheck
        if most <= 0 or not judge.asks_lm:
            return None
        items, ask = (
            known_items(self._held_out().items, most),
            self.session.other(spec_for(self.program.card, self.options)),
        )
        self.watch.stage("recheck", f"{plural(len(items), 'labelled item')}, asked anew")
        return recheck(judge.judge, items, ask, time.time_ns() // 1_000_000)

    def _held_out(self) -> HeldOut:
        options = self.options
        where = HeldOutLabels(home=options.home, tracking_uri=options.tracking_uri)
        return read_held_out(where, self.program, environ=os.environ, folder=options.home)

    def on_test_split(self, state: WatchState) -> list[list[float | None]]:
        """Accept, score, the experts' accept and the query of each test item; who is no annotator is kept, too.

        Of a judge that was tested in folds, what it said of each before it had learned from it; where it is asked
        otherwise now, nothing is known of that.

        Raises:
            UserError: It accepts nothing.
        """
        program, options, aspect = self.program, self.options, self.aspect
        if kept_out_of_fold(program) and not self.as_compiled:
            return []
        found = self._held_out()
        self.watch.stage("measure", f"{plural(len(found.items), 'labelled item')} that the judge has not learned from")
        said = said_unlearned(found.items, program, lambda some: concatenate(self.judged(some)))
        expert = found.experts.accept[:, aspect]
        state.say(left_out=json.dumps(found.left_out))
        if (expert == UNSCORED).all() or (said.accept[said.scored] == UNSCORED).all():
            raise UserError(
                f"--judge {options.judge}: it accepts and rejects nothing, so that there is no accept rate. "
                "Compile it with --accept-at GRADE."
            )
        cluster = np.unique([item.query_id for item in found.items], return_inverse=True)[1]
        return [
            [
                float(said.accept[i, aspect]) if said.scored[i] else None,
                float(said.score[i, aspect]) if said.scored[i] else None,
                float(expert[i]),
                float(cluster[i]),
            ]
            for i in range(len(found.items))
            if expert[i] != UNSCORED
        ]


def known_of(state: WatchState, judge: WatchedJudge) -> Known:
    """Measures the judge: once on its test split, later on labels of traces.

    A judge that is asked otherwise than at the last look is another judge: the next epoch begins, in which it is
    measured anew, and what the earlier one said counts no more. So it is where a file does not say how it was asked.
    """
    asked, sampled = judge.digest, len(state.verdicts())
    if state.fact("asked") != asked:
        facts: dict[str, object] = {
            "measured": "",
            "drift_at": "",
            "labelled_before": "[]",
            "shown": "null",
            "blind": "",
            "left_out": "[]",
        }
        if sampled or state.fact("measured"):
            facts |= {"begun": sampled, "since": sampled, "drift_since": sampled}
            facts |= {"epoch": int(state.fact("epoch", "1")) + 1}
        state.say(asked=asked, **facts)
    if not state.fact("measured"):
        state.say(measured=json.dumps(judge.on_test_split(state)), on_test=1)
    return _kept(state)


def _kept(state: WatchState) -> Known:
    rows = np.array(json.loads(state.fact("measured")), dtype=np.float64).reshape(-1, 4)
    epoch, drift_at = int(state.fact("epoch", "1")), state.fact("drift_at")
    accept, score, expert, cluster = rows.T
    shown = json.loads(state.fact("shown", "null"))
    errors = error_rates(accept, expert, cluster.astype(np.int64), epoch=epoch)
    if not len(rows):
        errors = replace(errors, refused=UNKNOWN)
    return Known(
        epoch=epoch,
        since=int(state.fact("since", "0")),
        drift_since=int(state.fact("drift_since", "0")),
        drift_at=int(drift_at) if drift_at else None,
        errors=errors,
        scores=measured(score, expert),
        labels=len(rows),
        begun=int(state.fact("begun", "0")),
        on_test=bool(int(state.fact("on_test", "1"))),
        shown=None if shown is None else InputCounts(shown["items"], Counter(shown["given"])),
    )


@dataclass(frozen=True, slots=True)
class _Sequence:
    """The sampled traces that count, one a session, in order."""

    at: IntArray
    accept: FloatArray
    score: FloatArray
    label: FloatArray


def _sequence(verdicts: Sequence[WatchedTrace], begun: int) -> _Sequence:
    first: dict[str, int] = {}
    later = [(i, one) for i, one in enumerate(verdicts) if i >= begun]
    at = [i for i, one in later if first.setdefault(one.session or f" {one.trace_id}", i) == i]
    chosen = [verdicts[i] for i in at]
    columns = [np.array([_number(getattr(one, name)) for one in chosen]) for name in ("accept", "score", "label")]
    return _Sequence(np.array(at, dtype=np.int64), *columns)


def settle(
    state: WatchState, known: Known, options: WatchOptions, card: ProgramCard | None = None
) -> tuple[Known, WatchedRate]:
    """The rates after a look; drift is noted, and once enough labels have come the judge is measured anew.

    Args:
        state: With what was judged.
        known: Of the judge.
        options: The window, and how many labels it takes.
        card: The judge's, which says what it was measured with; None asks no question about it.
    """
    verdicts = state.verdicts()
    counted = _sequence(verdicts, known.begun)
    scored = ~np.isnan(counted.accept)
    since = int((counted.at[scored] < known.since).sum())
    raw, corrected = rolling_rates(counted.accept[scored], options.window, known.errors, since=since)
    window = counted.at[scored][len(counted.at[scored]) - (raw.n or 0) :]
    validity = None if card is None else _validity(card, known, [verdicts[i] for i in window])
    unmeasured = ("" if validity is None else validity.refused("traces")) or ("" if known.labels else UNKNOWN)
    if state.fact("blind") and not unmeasured:  # what the judge could not see of earlier traces is no drift
        begins = int(window[0]) if len(window) else len(verdicts)
        state.say(blind="", epoch=known.epoch + 1, drift_since=max(known.drift_since, begins))
        return settle(state, _kept(state), options, card)
    alpha = stage_alpha(known.epoch, ALPHA)
    fires, evidence = float(np.log(2 / alpha)), float("nan")
    if unmeasured:
        state.say(blind=1)
    else:
        within = counted.at >= known.drift_since
        bins = binned(counted.score[within], known.scores.edges)
        evidence = drift_evidence(known.scores, bins, counted.label[within], options.window, alpha)
    if known.drift_at is None and evidence >= fires:
        before = [one.trace_id for one in verdicts if one.label is not None]
        state.say(drift_at=len(verdicts), labelled_before=json.dumps(before))
        known = replace(known, drift_at=len(verdicts))
    fresh = _new_labels(state, known, verdicts, options)
    if known.drift_at is not None and (renewed := _renewed(state, known, fresh, len(verdicts), options)):
        return settle(state, renewed, options, card)
    drifted = known.drift_at is not None
    if unmeasured:
        corrected = Estimate(value=None, note=unmeasured, level=raw.level)
    elif drifted:
        missing = f"{len(fresh)} of {options.relabel} new labels of sampled traces are there"
        corrected = Estimate(value=None, note=f"withdrawn, the judge's scores have drifted; {missing}", level=raw.level)
    notes = () if drifted or unmeasured else (_assumption(known),)
    left_out = json.loads(state.fact("left_out", "[]")) if known.on_test else ()
    return known, WatchedRate(
        raw=raw,
        corrected=corrected,
        drift=drifted,
        evidence=evidence,
        fires=fires,
        assumes=_assumption(known),
        labels=len(fresh),
        needed=options.relabel,
        notes=(*notes, *left_out, *_unscored(counted), *_earlier(known), *_said(validity)),
        unmeasured=unmeasured,
        missing_inputs={} if validity is None else validity.to_json(),
    )


def _validity(card: ProgramCard, known: Known, traces: Sequence[WatchedTrace]) -> Validity:
    """Checks whether what is known of the judge holds of traces; those whose inputs were not kept say nothing."""
    if known.shown is not None:
        card = card.model_copy(update={"missing": {name: known.shown.missing(name) for name in card.fields}})
    return validity_of(card, _inputs(traces))


def _inputs(traces: Sequence[WatchedTrace]) -> InputCounts:
    kept = [one.given for one in traces if one.given is not None]
    return InputCounts(len(kept), Counter(name for given in kept for name in given))


def _said(validity: Validity | None) -> tuple[str, ...]:
    if validity is None:
        return ()
    found: list[str] = []
    for name, lack in validity.lacking.items():
        one = replace(validity, lacking={name: lack}, unproven="")
        found += one.notes("traces", ADVICE.get(name, OTHERWISE))
    return (*found, *filter(None, [validity.unproven]))


def _earlier(known: Known) -> tuple[str, ...]:
    if not known.begun:
        return ()
    why = "they were judged with another model, host or number of samples, or live"
    return (f"the rates leave out the first {known.begun} sampled traces: {why}",)


def _assumption(known: Known) -> str:
    what = f"its {known.labels} test items" if known.on_test else f"the {known.labels} labels since the last drift"
    return f"the correction assumes that the judge's error rates are those on {what}"


def _unscored(counted: _Sequence) -> tuple[str, ...]:
    lost = int(np.isnan(counted.accept).sum())
    return (
        (f"{lost} of {len(counted.accept)} sampled traces have no verdict; the rates are about the others",)
        if lost
        else ()
    )


def _relabelled_from(known: Known, options: WatchOptions) -> int:
    """Traces that labels after drift may be of: those shortly before it was noticed, and later ones."""
    return max(known.begun, (known.drift_at or 0) - options.window // STAGES)


def _new_labels(
    state: WatchState, known: Known, verdicts: Sequence[WatchedTrace], options: WatchOptions
) -> list[WatchedTrace]:
    if known.drift_at is None:
        return []
    before = set(json.loads(state.fact("labelled_before", "[]")))
    later = verdicts[_relabelled_from(known, options) :]
    return [one for one in later if one.label is not None and one.trace_id not in before]


def _renewed(
    state: WatchState, known: Known, fresh: Sequence[WatchedTrace], sampled: int, options: WatchOptions
) -> Known | None:
    """The judge as measured on new labels, or None where they do not suffice."""
    if len(fresh) < options.relabel:
        return None
    clusters = {one: number for number, one in enumerate(dict.fromkeys(one.session or one.trace_id for one in fresh))}
    rows = [[one.accept, one.score, one.label, clusters[one.session or one.trace_id]] for one in fresh]
    accept, score, expert, cluster = np.array(rows, dtype=np.float64).T
    errors = error_rates(accept, expert, cluster.astype(np.int64), epoch=known.epoch + 1)
    if errors.refused:
        return None
    since = _relabelled_from(known, options)
    shown = _inputs(fresh)
    state.say(
        measured=json.dumps(rows),
        epoch=known.epoch + 1,
        since=since,
        drift_since=sampled,
        drift_at="",
        on_test=0,
        shown=json.dumps({"items": shown.items, "given": shown.given}),
    )
    return Known(
        epoch=known.epoch + 1,
        since=since,
        drift_since=sampled,
        drift_at=None,
        errors=errors,
        scores=measured(score, expert),
        labels=len(rows),
        begun=known.begun,
        on_test=False,
        shown=shown,
    )


def next_proposals(state: WatchState, known: Known, options: WatchOptions) -> list[str]:
    """Traces for experts: a random part of the sample, so that labels of them measure the judge.

    While nothing drifts a few, whose labels are evidence of drift, too; after drift as many as are needed.
    """
    verdicts = [one for one in state.verdicts()[known.begun :] if one.unscored is None]
    if known.drift_at is None:
        chosen = [one for one in verdicts[-options.window :] if _draw(one) < MONITORED]
        return [one.trace_id for one in chosen if one.label is None][-MOST_PROPOSED:]
    late = state.verdicts()[_relabelled_from(known, options) :]
    fresh = {one.trace_id for one in _new_labels(state, known, state.verdicts(), options)}
    before = set(json.loads(state.fact("labelled_before", "[]")))
    open_ones = [one for one in late if one.unscored is None and one.trace_id not in before]
    asked = sorted(open_ones, key=lambda one: (not one.proposed, _draw(one)))
    return [one.trace_id for one in asked if one.trace_id not in fresh][
        : max(options.relabel - len(fresh), MOST_PROPOSED)
    ]


def alerts_of(asked: Sequence[str], rate: WatchedRate | None, refused: str) -> Mapping[str, str | None]:
    """Each alert, with why it fired or None; one of a number that cannot be given has fired.

    Args:
        asked: As typed.
        rate: After a look; None before one, to see what is wrong with them.
        refused: Why the judge's labels correct no rate, or empty.

    Raises:
        UserError: One that says nothing.
    """
    found: dict[str, str | None] = {}
    for text in asked:
        if text.strip() == "drift":
            why = "drift: no mix of accepted and rejected test items explains the judge's scores on the traces"
            drifted = why if rate and rate.drift else None
            found[text] = drifted or (_untold(text, rate) if rate else None)
            continue
        parts = _ALERT.fullmatch(text)
        bound = float(parts[3]) / (100 if parts and parts[4] else 1) if parts else 2.0
        if parts is None or bound > 1:
            raise UserError(f"--alert {text}: accept<.80, accept>.99, raw<.80 and drift are valid. Write one of these.")
        found[text] = None if rate is None else _crossed(rate, parts[1], parts[2], bound)
        if rate is not None and parts[1] == "accept":
            more = f"{refused}. Label more, or alert of raw{parts[2]}{parts[3]}{parts[4]}" if refused else ""
            found[text] = found[text] or _untold(text, rate, more)
    return found


def _untold(alert: str, rate: WatchedRate, refused: str = "") -> str | None:
    """The reason why an alert is raised of what cannot be known: somebody relies on it."""
    why = rate.unmeasured or refused
    return f"{alert} cannot be told: {why}" if why else None


def _crossed(rate: WatchedRate, which: str, side: str, bound: float) -> str | None:
    one = rate.corrected if which == "accept" else rate.raw
    if one.low is None or one.high is None or one.value is None:
        return None
    shown = one.high < bound if side == "<" else one.low > bound
    word = "below" if side == "<" else "above"
    return f"{which} {_shown(one)} is {word} {percent(bound)}" if shown else None


def _draw(one: WatchedTrace) -> float:
    """A number from 0 to 1 that nothing but the trace's id decides, another than that of the sample."""
    return int.from_bytes(hashlib.sha256(f"review {one.trace_id}".encode()).digest()[:8], "big") / 2**64


def _shown(one: Estimate) -> str:
    if one.value is None:
        return "nothing yet"
    limits = "" if one.low is None or one.high is None else f" [{percent(one.low, 1)}, {percent(one.high, 1)}]"
    return f"{percent(one.value, 1)}{limits} of {plural(one.n, 'trace')}"


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
