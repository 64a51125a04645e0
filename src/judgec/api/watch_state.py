"""Keeps what a watch knows: the judge's error rates, the rates of the traces, drift, and what experts should see."""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgec.api.options.shared import HeldOutLabels
from judgec.api.options.watch import WatchOptions
from judgec.api.source import read_held_out
from judgec.errors import UserError
from judgec.held_out import judged_unlearned
from judgec.judges.judge import load_judge
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED
from judgec.records.label import FloatArray, IntArray
from judgec.report.numbers import percent
from judgec.stats.sequential.mean import STAGES, stage_alpha
from judgec.stats.sequential.mixture import ALPHA, ScoreCounts, binned, drift_evidence, measured
from judgec.stats.sequential.rate import ErrorRates, error_rates, rolling_rates
from judgec.store.programs import Program
from judgec.store.watched import WatchedTrace, WatchState

MONITORED = 0.1  # share of the sampled traces that experts are asked about while nothing drifts
MOST_PROPOSED = 20  # at once, while nothing drifts
_ALERT = re.compile(r"\s*(accept|raw)\s*([<>])\s*(\d*\.?\d+)\s*(%?)\s*")


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the judge.

    Args:
        epoch: How often it was measured, from 1: at first on its test split.
        since: Where the sampled traces begin that it is known of.
        drift_since: Where those begin that the test of drift looks at.
        drift_at: How many sampled traces there were when drift fired, or None.
        errors: Its error rates.
        scores: Its scores of accepted and rejected items.
        labels: How many labels that rests on.
    """

    epoch: int
    since: int
    drift_since: int
    drift_at: int | None
    errors: ErrorRates
    scores: ScoreCounts
    labels: int


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
            "drift": {"fired": self.drift, "log_evidence": self.evidence, "fires_at": self.fires},
            "labels_since_drift": self.labels if self.drift else None,
            "labels_needed": max(self.needed - self.labels, 0) if self.drift else 0,
            "assumes": self.assumes,
        }


def known_of(state: WatchState, options: WatchOptions, program: Program, aspect: int) -> Known:
    """What is known of the judge: measured once on its test split, later on labels of traces."""
    if not (kept := state.fact("measured")):
        kept = json.dumps(_test_split(options, program, aspect))
        state.say(measured=kept, epoch=1)
    rows = np.array(json.loads(kept), dtype=np.float64).reshape(-1, 4)
    epoch, drift_at = int(state.fact("epoch", "1")), state.fact("drift_at")
    accept, score, expert, cluster = rows.T
    return Known(
        epoch=epoch,
        since=int(state.fact("since", "0")),
        drift_since=int(state.fact("drift_since", "0")),
        drift_at=int(drift_at) if drift_at else None,
        errors=error_rates(accept, expert, cluster.astype(np.int64), epoch=epoch),
        scores=measured(score, expert),
        labels=len(rows),
    )


def _test_split(options: WatchOptions, program: Program, aspect: int) -> list[list[float | None]]:
    """Accept, score, the experts' accept and the query of each test item."""
    card = program.card
    found = read_held_out(
        HeldOutLabels(home=options.home, tracking_uri=options.tracking_uri),
        program,
        environ=os.environ,
        folder=options.home,
    )
    spec = LMSpec.from_card(card.lm, model=options.lm, api_base=options.api_base)
    with Session(spec, options.home, budget=options.budget, environ=dict(os.environ)) as session:
        said = judged_unlearned(found.items, program, load_judge(program), session.ask)
    expert = found.experts.accept[:, aspect]
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


@dataclass(frozen=True, slots=True)
class _Sequence:
    """The sampled traces that count, one a session, in order."""

    at: IntArray
    accept: FloatArray
    score: FloatArray
    label: FloatArray


def _sequence(verdicts: Sequence[WatchedTrace]) -> _Sequence:
    first: dict[str, int] = {}
    at = [i for i, one in enumerate(verdicts) if first.setdefault(one.session or f" {one.trace_id}", i) == i]
    chosen = [verdicts[i] for i in at]
    columns = [np.array([_number(getattr(one, name)) for one in chosen]) for name in ("accept", "score", "label")]
    return _Sequence(np.array(at, dtype=np.int64), *columns)


def settle(state: WatchState, known: Known, options: WatchOptions) -> tuple[Known, WatchedRate]:
    """The rates after a look; drift is noted, and once enough labels have come the judge is measured anew."""
    verdicts = state.verdicts()
    counted = _sequence(verdicts)
    alpha = stage_alpha(known.epoch, ALPHA)
    within = counted.at >= known.drift_since
    bins = binned(counted.score[within], known.scores.edges)
    evidence = drift_evidence(known.scores, bins, counted.label[within], options.window, alpha)
    fires = float(np.log(2 / alpha))
    if known.drift_at is None and evidence >= fires:
        before = [one.trace_id for one in verdicts if one.label is not None]
        state.say(drift_at=len(verdicts), labelled_before=json.dumps(before))
        known = Known(
            known.epoch, known.since, known.drift_since, len(verdicts), known.errors, known.scores, known.labels
        )
    fresh = _new_labels(state, known, verdicts, options)
    if known.drift_at is not None and (renewed := _renewed(state, known, fresh, len(verdicts), options)):
        return settle(state, renewed, options)
    scored = ~np.isnan(counted.accept)
    since = int((counted.at[scored] < known.since).sum())
    raw, corrected = rolling_rates(counted.accept[scored], options.window, known.errors, since=since)
    drifted = known.drift_at is not None
    missing = f"{len(fresh)} of {options.relabel} new labels of sampled traces are there"
    if drifted:
        corrected = Estimate(value=None, note=f"withdrawn, the judge's scores have drifted; {missing}", level=raw.level)
    return known, WatchedRate(
        raw=raw,
        corrected=corrected,
        drift=drifted,
        evidence=evidence,
        fires=fires,
        assumes=_assumption(known),
        labels=len(fresh),
        needed=options.relabel,
        notes=(() if drifted else (_assumption(known),)) + _unscored(counted),
    )


def _assumption(known: Known) -> str:
    what = f"its {known.labels} test items" if known.epoch == 1 else f"the {known.labels} labels since the last drift"
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
    return max(0, (known.drift_at or 0) - options.window // STAGES)


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
    state.say(measured=json.dumps(rows), epoch=known.epoch + 1, since=since, drift_since=sampled, drift_at="")
    return Known(known.epoch + 1, since, sampled, None, errors, measured(score, expert), len(rows))


def next_proposals(state: WatchState, known: Known, options: WatchOptions) -> list[str]:
    """Traces for experts: a random part of the sample, so that labels of them measure the judge.

    While nothing drifts a few, whose labels are evidence of drift, too; after drift as many as are needed.
    """
    verdicts = [one for one in state.verdicts() if one.unscored is None]
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
    """Each alert, with why it fired or None.

    Raises:
        UserError: One that says nothing, or is about a rate that is not known.
    """
    found: dict[str, str | None] = {}
    for text in asked:
        if text.strip() == "drift":
            found[text] = (
                "drift: the judge's scores are none that its test items explain" if rate and rate.drift else None
            )
            continue
        parts = _ALERT.fullmatch(text)
        bound = float(parts[3]) / (100 if parts and parts[4] else 1) if parts else 2.0
        if parts is None or bound > 1:
            raise UserError(f"--alert {text}: accept<.80, accept>.99, raw<.80 and drift are valid. Write one of these.")
        if parts[1] == "accept" and refused:
            raise UserError(
                f"--alert {text}: there is no corrected rate, {refused}. Label more, or alert of raw<{bound}."
            )
        found[text] = None if rate is None else _crossed(rate, parts[1], parts[2], bound)
    return found


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
    return f"{percent(one.value, 1)}{limits} of {one.n} traces"


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
