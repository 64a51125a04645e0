"""``judgec.watch``: judges a sample of an application's new traces, in one pass, and says what people would accept."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from judgec.compile.held_out import unlearned
from judgec.connect.tracking.traces import MLFLOW_PREFIX, WantedTraces, log_verdicts, new_traces
from judgec.connect.watch_state import JudgedTrace, WatchState, open_state
from judgec.errors import InputError, UserError
from judgec.labels.labels import read_item_file
from judgec.lm.usage import Spent
from judgec.lm.watch import Watch
from judgec.raters.piece import pieces_of
from judgec.records.card import ProgramCard
from judgec.records.conversation import TURNS, usual_turn
from judgec.records.counts import plural
from judgec.records.label import InputCounts, Item
from judgec.report.numbers import percent, show_percent
from judgec.report.report import Report
from judgec.table.rows.cells import is_missing
from judgec.table.tables import read_table
from judgec.verbs.estimate import (
    ASSUMED,
    AspectRate,
    RateEstimate,
    accept_rate,
    rate_report,
    require_accepts,
)
from judgec.verbs.opened import VerdictCount, abstaining, open_judges, open_session
from judgec.verbs.options.watch import WatchOptions
from judgec.verbs.trace_labels import Labels, file_labels, people_shares
from judgec.verbs.validity import require_inputs, validity_of
from judgec.verbs.verb import verb
from judgec.verbs.whom import GivenJudge, as_asked
from judgec.verbs.workspace import Workspace

MIN_LABELLED = 10  # traces; the rate of fewer moves from pass to pass
ADVICE = "Trace {name} with each answer, or compile the judge on labels without {name}."
_ALERT = re.compile(r"\s*(accept|raw)\s*([<>])\s*(\d*\.?\d+)\s*(%?)\s*")


@dataclass(frozen=True, kw_only=True, repr=False)
class WatchReport(RateEstimate):
    """The accept rate of all traces that were judged so far.

    Args:
        source: Whose traces.
        sampled: How many were judged so far.
        asked: How many of them in this pass.
        alerts: Each alert that was asked for, with why it fired or None.
    """

    source: str
    sampled: int
    asked: int
    alerts: Mapping[str, str | None]

    @property
    def fired(self) -> tuple[str, ...]:
        """Reasons why alerts fired, a sentence each."""
        return tuple(why for why in self.alerts.values() if why)

    def to_json(self) -> dict[str, object]:
        """For ``--json``; ``accept`` is the corrected rate."""
        known = super().to_json()
        return {
            "judge": self.judge,
            "source": self.source,
            "sampled": self.sampled,
            "asked": self.asked,
            **{"accept" if name == "corrected" else name: value for name, value in known.items()},
            "labels_missing": max(MIN_LABELLED - self.labelled, 0),
            "alerts": {name: {"fired": why is not None, "why": why} for name, why in self.alerts.items()},
        }


@verb(WatchOptions)
def watch(options: WatchOptions, watch: Watch) -> WatchReport:
    """Judge a sample of an application's traces in MLflow since the last pass, and say which share people would accept.

    Each judged trace gets the judge's feedback. From ten labelled traces on, the accept rate is corrected by people's
    labels. What was judged is kept, and never judged or logged again.

    Raises:
        UserError: No such judge, a judge that accepts nothing, another watch at work, an alert that says nothing,
            traces that lack an input which the judge learned with.
        InputError: No such experiment, traces without texts, or labels without a trace's id.
        BudgetError: A call does not fit the caps; what is finished is journaled.
        ServiceError: The model or the MLflow server cannot be reached.

    Example:
        >>> import mlflow
        >>> mlflow.set_tracking_uri("sqlite:///traced.db")
        >>> bot = mlflow.set_experiment("shop-bot")
        >>> with mlflow.start_span("answer") as span:
        ...     span.set_inputs({"question": "Which flows does the Rill M50 measure?"})
        ...     with mlflow.start_span("search", span_type="RETRIEVER") as search:
        ...         search.set_outputs([{"page_content": "Rill M50: 0.6 to 70 m³/h."}])
        ...     span.set_outputs("0.6 to 70 m³/h.")
        >>> mlflow.flush_trace_async_logging()
        >>> _ = mlflow.log_expectation(trace_id=span.trace_id, name="expected_response", value="0.6 to 70 m³/h")
        >>> seen = judgec.watch(
        ...     source="mlflow:shop-bot", judge="sensors@latest", rate=1.0, tracking_uri="sqlite:///traced.db"
        ... )
        >>> seen.sampled
        1
    """
    experiment = options.source.removeprefix(MLFLOW_PREFIX)
    if experiment in {"", options.source}:
        raise UserError(f"--source {options.source}: {MLFLOW_PREFIX}EXPERIMENT is valid. Name an experiment.")
    for text in options.alert:
        fired(text)  # says what is wrong with it before anything is paid for
    workspace = Workspace(options.home, options.tracking_uri)
    program = workspace.load(options.judge)
    card, name = program.card, f"{program.card.name}@{program.card.version}"
    if options.aspect not in card.aspects and (options.aspect or len(card.aspects) > 1):
        raise UserError(f"--aspect {options.aspect}: the judge has {', '.join(card.aspects)}. Name one of these.")
    aspect = options.aspect or card.aspects[0]
    judge = as_asked(program, options)
    require_accepts(judge, f"--judge {options.judge}")
    given, unsure = ({}, set()) if options.labels is None else file_labels(options.labels, card, aspect)
    about = {"experiment": experiment, "store": workspace.store.shown, "rate": options.rate}
    about |= {name: getattr(options, name) for name in ("lm", "samples", "abstain_below")}  # another judge
    with open_state(options.home / ".judgec" / "watch" / state_name(experiment, name), about) as state:
        labels, asked, spent, bare = _Pass(options, workspace, judge, state, watch).run(experiment)
    people, unknown = people_shares([labels, given], card, unsure)
    inputs = Counter(field for one in state.judged for field in one.given)
    validity = validity_of(card, InputCounts(len(state.judged), inputs))
    rates = sample_rates(state.judged, people, aspect, validity.refused("traces"))
    learned = sum(one.learned and one.trace_id in people for one in state.judged)
    said = {
        "traces have no question, or cannot be read: they are not judged.": bare,
        "labels are not on the judge's scale.": unknown,
        "traces are of queries that the judge has learned from; no label speaks for them.": sum(
            one.learned for one in state.judged
        ),
    }
    return WatchReport(
        judge=name,
        aspects={aspect: rates},
        labels=str(options.labels or options.source),
        labelled=rates.n_labelled,
        left_out=learned,
        notes=(
            *([ASSUMED] if people else []),
            *(f"{n} {what}" for what, n in said.items() if n),
            *validity.notes("traces", ADVICE),
        ),
        missing_inputs=validity.to_json(),
        spent=spent,
        source=options.source,
        sampled=len(state.judged),
        asked=asked,
        alerts={text: fired(text, rates) for text in options.alert},
    )


def state_name(experiment: str, judge: str) -> str:
    """Name of the state's file; a name that no file can have is told apart by a digest."""
    plain = re.sub(r"[^A-Za-z0-9._@-]+", "-", experiment)
    digest = "" if plain == experiment else f"-{hashlib.sha256(experiment.encode()).hexdigest()[:12]}"
    return f"{plain}{digest}.{judge}.json"


@dataclass(frozen=True, slots=True)
class _Pass:
    options: WatchOptions
    workspace: Workspace
    given: GivenJudge
    state: WatchState
    watch: Watch

    def run(self, experiment: str) -> tuple[Labels, int, Spent, int]:
        """Judge and log what is new: labels, traces that were judged, what that took, traces without a question."""
        options, card, state, store = self.options, self.given.card, self.state, self.workspace.store
        self.log()  # what a pass that was killed has judged
        self.watch.stage("traces", f"{options.source} in {store.shown}")
        with TemporaryDirectory() as folder:
            wanted = WantedTraces(
                experiment=experiment,
                since_ms=state.next_ms,
                rate=options.rate,
                judged=[one.trace_id for one in state.judged],
                assessment=options.assessment or card.name,
                file=str(Path(folder, "traces.jsonl")),
                sessions=bool({*TURNS, "dialogue"} & {*card.fields}),
            )
            sampled, labels, next_ms = new_traces(store, wanted, self.workspace.environ)
            items = self.items(wanted.file, sampled) if sampled else []
        together = InputCounts(len(state.judged), Counter(field for one in state.judged for field in one.given))
        together.merge(InputCounts.of(items))
        if validity_of(card, together).lacking:  # of a few new traces alone one may be a large share
            require_inputs([card], items, "traces", ADVICE)
        spent = self.judge(items, sampled) if items else Spent()
        state.next_ms = next_ms
        state.save()
        return labels, len(items), spent, len(sampled) - len(items)

    def items(self, file: str, sampled: Collection[str]) -> list[Item]:
        """The sampled traces that have a question and can be read."""
        card = self.given.card
        try:
            table = read_table(file)
        except InputError:  # none has a text
            if not self.state.judged:
                raise
            return []
        table = table.only([at for at, row in enumerate(table.rows) if not is_missing(row.get("query"))])
        read = partial(read_item_file, task=card.task, usual=usual_turn(card.fields))
        found = list[Item]()
        try:
            found += read(table).items if table.rows else ()
        except InputError:  # one that cannot be read must not keep the others from being judged
            for at in range(len(table.rows)):
                with suppress(InputError):
                    found += read(table.only([at])).items
        return [item for item in found if item.item_id in sampled]

    def judge(self, items: Sequence[Item], sessions: Mapping[str, str]) -> Spent:
        """Judge items; a line is kept of each before the judge's feedback is logged."""
        card, options = self.given.card, self.options
        self.watch.stage("judge", f"{plural(len(items), 'trace')}, {self.given.asked_at}")
        given = {item.item_id: item.given for item in items}
        fit = {items[at].item_id for at in unlearned(items, self.given.program, out_of_fold=False)}
        certain = abstaining([card], options.abstain_below)
        with open_session(options, self.workspace, self.watch) as session:
            count = VerdictCount(session, self.watch.progress)
            for piece in open_judges([self.given], len(items), options, session, count).judge(pieces_of(items)):
                rows = zip(piece.item_ids, certain(piece).rows(card.scale), strict=True)
                self.state.add([JudgedTrace(id_, sessions[id_], given[id_], id_ not in fit, row) for id_, row in rows])
                self.log()
            return session.spent

    def log(self) -> None:
        """Log the lines that are not known to be logged, and keep that they are."""
        state = self.state
        waiting = [said for one in state.judged[state.logged :] for said in feedback_of(one, self.given.card)]
        log_verdicts(self.workspace.store, waiting, self.workspace.environ)
        state.logged = len(state.judged)
        state.save()


def feedback_of(one: JudgedTrace, card: ProgramCard) -> Iterator[dict[str, object]]:
    """What is logged on a trace, for each aspect."""
    for aspect in card.aspects:
        told = {name: one.of(aspect, name) for name in ("grade", "score", "accept", "confidence")}
        yield {
            "trace_id": one.trace_id,
            "name": card.name if len(card.aspects) == 1 else f"{card.name}.{aspect}",
            "value": told["grade"],
            "error": one.said["unscored"],
            "rationale": one.said["rationale"] or None,
            "source": f"{card.name}@{card.version}",
            "kind": "CODE" if card.evidence_alone else "LLM_JUDGE",
            "metadata": {f"judgec.{name}": json.dumps(value) for name, value in told.items() if value is not None},
        }


def sample_rates(
    traces: Sequence[JudgedTrace], people: Mapping[str, float], aspect: str, blind: str = ""
) -> AspectRate:
    """The judge's own accept rate, and people's by PPI++, clustered by session; see ``accept_rate``."""
    accept, score = (np.array([one.of(aspect, name) for one in traces], dtype=float) for name in ("accept", "score"))
    labels = np.array([np.nan if one.learned else people.get(one.trace_id, np.nan) for one in traces])
    cluster = np.unique([one.session or one.trace_id for one in traces], return_inverse=True)[1].astype(np.int64)
    return accept_rate(accept, score, labels, cluster, blind=blind, least=MIN_LABELLED)


def fired(text: str, rates: AspectRate | None = None) -> str | None:
    """Why an alert fired, or None; one of an accept rate that cannot be given has: somebody relies on it.

    Raises:
        UserError: It says nothing.
    """
    parts = _ALERT.fullmatch(text)
    bound = float(parts[3]) / (100 if parts[4] else 1) if parts else 2.0
    if parts is None or bound > 1:
        raise UserError(f"--alert {text}: accept<.80, accept>.99 and raw<.80 are valid. Write one of these.")
    one = None if rates is None else rates.corrected if parts[1] == "accept" else rates.raw
    if one is None or one.low is None or one.high is None:
        return f"{text} cannot be told: {one.note}" if one and parts[1] == "accept" else None
    crossed = one.high < bound if parts[2] == "<" else one.low > bound
    return f"{text}: {show_percent(one, 1)} is beyond {percent(bound)}" if crossed else None


def watch_report(found: WatchReport) -> Report:
    """One pass: the rates, and how many labels are missing."""
    rated, missing = rate_report(found), max(MIN_LABELLED - found.labelled, 0)
    return replace(
        rated,
        data=found.to_json(),
        lines=[
            f"{plural(found.asked, 'trace')} judged, {found.sampled} so far",
            found.verdict + (f", {missing} are missing" if missing else ""),
            *rated.lines,
        ],
        stamps=[f"ALERT: {why}" for why in found.fired],
    )
