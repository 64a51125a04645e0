"""``judgec.watch``: judges a sample of an application's new traces, in one pass, and says what people would accept."""

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from judgec.compile.held_out import unlearned
from judgec.connect.tracking.store import TrackingStore, tracking_store
from judgec.connect.tracking.traces import MLFLOW_PREFIX, FoundTraces, WantedTraces, log_verdicts, new_traces
from judgec.connect.watch_state import WatchedTrace, WatchState, lines_of, open_state
from judgec.errors import InputError, UserError
from judgec.labels.labels import read_item_file
from judgec.labels.rows.grades import position_of
from judgec.labels.stream.pieces import pieces_of
from judgec.lm.usage import Spent
from judgec.lm.watch import Watch
from judgec.raters.programs import Program
from judgec.records.card import ProgramCard
from judgec.records.conversation import TURNS, usual_turn
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED
from judgec.records.label import InputCounts, Item
from judgec.report.numbers import percent
from judgec.report.page.notebook import notebook
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.stats.correction.mean import clustered_mean
from judgec.stats.correction.ppi import ppi_mean, within_unit
from judgec.stats.correction.support import out_of_range
from judgec.table.rows.cells import as_accept, as_grade, as_text, is_missing
from judgec.table.table import Table
from judgec.table.tables import read_table
from judgec.verbs.estimate import ASSUMED, MIN_LABELLED, NO_VERDICT, require_accepts
from judgec.verbs.jury import VerdictCount, abstaining, asked_at, open_jury, open_session
from judgec.verbs.next_labels import UNCERTAIN, label_columns
from judgec.verbs.options.watch import WatchOptions
from judgec.verbs.validity import validity_of
from judgec.verbs.verb import verb
from judgec.verbs.workspace import Workspace

if TYPE_CHECKING:
    import pandas as pd

WINDOW = 1000  # latest judged traces that the rates are about
MOST_AT_ONCE = 500  # traces that are judged before their feedback is logged
NO_TEXT = "no text: the trace has no question or no answer"
_ALERT = re.compile(r"\s*(accept|raw)\s*([<>])\s*(\d*\.?\d+)\s*(%?)\s*")
ADVICE = "Trace {name} with each answer, or compile the judge on labels without {name}."


@dataclass(frozen=True, slots=True)
class AcceptRates:
    """Share of accepted traces, as a judge sees it and as people would.

    Args:
        raw: What the judge accepts.
        accept: What people would accept (PPI++); its note says why it has no value.
        labelled: Labelled traces that it rests on.
    """

    raw: Estimate
    accept: Estimate
    labelled: int


@dataclass(frozen=True)
class WatchReport:
    """Result of one pass.

    Args:
        judge: ``NAME@VERSION``.
        source: Whose traces.
        counts: Traces in all and new, sampled ones, those that the judge was asked about now, unscored, running ones.
        rates: The accept rates of the latest sampled traces.
        missing_inputs: What the judge was compiled with and these lack, see ``Validity.to_json``.
        alerts: Each alert that was asked for, with why it fired or None.
        spent: On models.
        notes: What to know about it.
    """

    judge: str
    source: str
    counts: Mapping[str, int]
    rates: AcceptRates
    missing_inputs: Mapping[str, Mapping[str, float]]
    alerts: Mapping[str, str | None]
    spent: Spent
    notes: tuple[str, ...]

    @property
    def fired(self) -> tuple[str, ...]:
        """Reasons why alerts fired, a sentence each."""
        return tuple(why for why in self.alerts.values() if why)

    @property
    def table(self) -> "pd.DataFrame":
        """The rates with their limits."""
        import pandas as pd

        rows = {"judge": self.rates.raw, "corrected": self.rates.accept}
        return pd.DataFrame(
            {name: {"rate": one.value, "low": one.low, "high": one.high} for name, one in rows.items()}
        ).T

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        return {
            "judge": self.judge,
            "source": self.source,
            **self.counts,
            "accept": self.rates.accept.to_json(),
            "raw": self.rates.raw.to_json(),
            "labelled": self.rates.labelled,
            "labels_missing": max(MIN_LABELLED - self.rates.labelled, 0),
            "missing_inputs": {name: dict(shares) for name, shares in self.missing_inputs.items()},
            "alerts": {name: {"fired": why is not None, "why": why} for name, why in self.alerts.items()},
            **self.spent.to_json(),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        rates = f"accept rate {_shown(self.rates.accept)}; the judge accepts {_shown(self.rates.raw)}"
        return f"<WatchReport {self.source} by {self.judge}: {rates}>"

    def _repr_html_(self) -> str:
        return notebook(watch_report(self))


@verb(WatchOptions)
def watch(options: WatchOptions, watch: Watch) -> WatchReport:
    """Judge a sample of an application's traces in MLflow since the last pass, and say which share people would accept.

    Each judged trace gets the judge's feedback. From ten labelled traces on, the accept rate is corrected by people's
    labels. What was judged is kept, and never judged or logged again.

    Raises:
        UserError: No such judge, a judge that accepts nothing, another watch at work, an alert that says nothing.
        InputError: No such experiment, traces without texts, or labels without a trace's id.
        BudgetError: A call does not fit the caps; what is finished is journaled.
        ServiceError: The model or the MLflow server cannot be reached.

    Example:
        >>> import mlflow
        >>> mlflow.set_tracking_uri("sqlite:///traced.db")
        >>> bot = mlflow.set_experiment("shop-bot")
        >>> with mlflow.start_span("answer") as span:
        ...     span.set_inputs({"question": "Which flows does the Rill M50 measure?"})
        ...     span.set_outputs("0.6 to 70 m³/h.")
        >>> mlflow.flush_trace_async_logging()
        >>> seen = judgec.watch(
        ...     source="mlflow:shop-bot", judge="sensors@latest", rate=1.0, tracking_uri="sqlite:///traced.db"
        ... )
        >>> seen.counts["sampled"]
        1
    """
    if not options.source.startswith(MLFLOW_PREFIX) or options.source == MLFLOW_PREFIX:
        raise UserError(f"--source {options.source}: {MLFLOW_PREFIX}EXPERIMENT is valid. Name an experiment.")
    alerts_of(options.alert, None)  # says what is wrong with them before anything is paid for
    workspace = Workspace(options.home, options.tracking_uri)
    program = workspace.load(options.judge)
    card, name = program.card, f"{program.card.name}@{program.card.version}"
    aspect = _aspect(options, card)
    require_accepts(program, f"--judge {options.judge}")
    given = TraceLabels({}, set()) if options.labels is None else read_trace_labels(options.labels, card, aspect)
    store = tracking_store(options.home, options.tracking_uri, os.environ)
    about = {"judge": name, "store": store.shown, "rate": options.rate, "aspect": card.aspects[aspect]}
    with open_state(state_file(options, name), about) as state:
        one = _Pass(options, workspace, program, aspect, store, state, watch)
        found, spent, unread = one.judge()
        return one.report(found, given, spent, unread)


def state_file(options: WatchOptions, judge: str) -> Path:
    """Path of the file in which a watch keeps what it knows."""
    named = f"{options.source.removeprefix(MLFLOW_PREFIX)}.{judge}"
    return options.home / ".judgec" / "watch" / f"{re.sub(r'[^A-Za-z0-9._@-]+', '-', named)}.json"


def _aspect(options: WatchOptions, card: ProgramCard) -> int:
    if options.aspect is None and len(card.aspects) > 1:
        raise UserError(
            f"--judge {options.judge}: it judges {', '.join(card.aspects)}; the rate of one is kept. "
            "Name it with --aspect."
        )
    aspect = options.aspect or card.aspects[0]
    if aspect not in card.aspects:
        raise UserError(f"--aspect {aspect}: the judge has {', '.join(card.aspects)}. Name one of these.")
    return card.aspects.index(aspect)


@dataclass(frozen=True, slots=True)
class TraceLabels:
    """Labels of traces in a file.

    Args:
        by: Values by trace and annotator.
        unsure: Traces that ``judgec labels --next`` chose because the judge was unsure: no random sample.
    """

    by: dict[tuple[str, str], object]
    unsure: set[str]


def read_trace_labels(file: Path, card: ProgramCard, aspect: int) -> TraceLabels:
    """Read the rows of a file that have a trace's id, in ``trace_id``, or ``item_id`` as ``labels --next`` writes it.

    Raises:
        InputError: No column of ids, or none of labels.
    """
    table, names = read_table(str(file)), label_columns(card)
    label = names[min(aspect, len(names) - 1)]
    columns = [one for one in (label, "accept") if one in table.columns]
    key = next((one for one in ("trace_id", "item_id") if one in table.columns), None)
    if key is None or not columns:
        there = ", ".join(table.columns)
        raise InputError([f"{file}: its columns are {there}; trace_id, and {label} or accept are needed. Add them."])
    found = TraceLabels({}, set())
    for row in table.rows:
        trace = as_text(row.get(key) or "")
        if as_text(row.get("stratum") or "") == UNCERTAIN:
            found.unsure.add(trace)
        value = next((row[one] for one in columns if not is_missing(row.get(one))), None)
        if trace and value is not None:
            found.by[trace, as_text(row.get("annotator") or "")] = value
    return found


@dataclass(frozen=True, slots=True)
class _Pass:
    """One pass, from the traces to the report."""

    options: WatchOptions
    workspace: Workspace
    program: Program
    aspect: int
    store: TrackingStore
    state: WatchState
    watch: Watch

    @property
    def card(self) -> ProgramCard:
        """Of the judge."""
        return self.program.card

    @property
    def name(self) -> str:
        """``NAME@VERSION``."""
        return f"{self.card.name}@{self.card.version}"

    @property
    def asked(self) -> str:
        """Tells the judge apart where it is asked otherwise: what it said then says nothing of what it says now."""
        options = self.options
        how = (options.lm, options.api_base, options.live, options.samples, options.temperature, options.structured)
        return hashlib.sha256(json.dumps([*how, options.abstain_below]).encode()).hexdigest()[:16]

    def judge(self) -> tuple[FoundTraces, Spent, list[str]]:
        """Judge and log the new sampled traces; what was judged before and not logged is logged now."""
        options, state = self.options, self.state
        self.watch.stage("traces", f"{options.source} in {self.store.shown}")
        waiting = [one.trace_id for one in state.judged[state.logged :]]
        wanted = WantedTraces(
            experiment=options.source.removeprefix(MLFLOW_PREFIX),
            since_ms=state.next_ms,
            rate=options.rate,
            known=[one.trace_id for one in state.judged if one.started_ms >= state.next_ms],
            labelled=[one.trace_id for one in self._window()],
            unlogged=waiting,
            source=self.name,
            assessment=options.assessment or self.card.name,
            file=str(lines_of(state.path).with_suffix(".traces.jsonl").resolve()),
            sessions=bool({*TURNS, "dialogue"} & {*self.card.fields}),
        )
        found = new_traces(self.store, wanted, os.environ)
        self._log({(trace, name) for trace, name in found.logged})
        spent, unread = Spent(), list[str]()
        if found.sampled:
            items = self._items(Path(wanted.file), found.sampled, unread, first=not state.judged)
            where = asked_at(self.card, options)
            self.watch.stage("judge", f"{plural(len(items), 'trace')} with {self.name}, {where}")
            spent = self._judge_all(found, items)
        fresh = found.ended.keys() - set(state.recent)
        state.traces += len(fresh)
        state.next_ms = found.next_ms
        state.recent = sorted(trace for trace, at in found.ended.items() if at >= found.next_ms)
        state.save()
        return replace(found, ended={trace: found.ended[trace] for trace in fresh}), spent, unread

    def _window(self) -> list[WatchedTrace]:
        """The traces that the rates are about."""
        return [one for one in self.state.judged if one.asked == self.asked][-WINDOW:]

    def _judge_all(self, found: FoundTraces, items: Mapping[str, Item]) -> Spent:
        options, new = self.options, list(found.sampled)
        held = [*items.values()]
        fit = {held[i].item_id for i in unlearned(held, self.program, out_of_fold=False)}
        certain = abstaining([self.card], options.abstain_below)
        with open_session(options, self.workspace, self.watch) as session:
            for part in (new[start : start + MOST_AT_ONCE] for start in range(0, len(new), MOST_AT_ONCE)):
                said: dict[str, tuple[dict[str, object], int, float]] = {}
                if chosen := [items[trace] for trace in part if trace in items]:
                    count = VerdictCount(session, self.watch.progress)
                    for piece in open_jury([self.program], len(chosen), options, session, count).judge(
                        pieces_of(chosen)
                    ):
                        one = certain(piece)
                        accept, score = one.accept[:, self.aspect].tolist(), one.score[:, self.aspect].tolist()
                        said |= dict(
                            zip(one.item_ids, zip(one.rows(self.card.scale), accept, score, strict=True), strict=True)
                        )
                self.state.add([self._judged(trace, found, items.get(trace), said, fit) for trace in part])
                self._log(set())
            return session.spent

    def _judged(
        self,
        trace: str,
        found: FoundTraces,
        item: Item | None,
        said: Mapping[str, tuple[dict[str, object], int, float]],
        fit: set[str],
    ) -> WatchedTrace:
        row, accept, score = said.get(trace, ({"unscored": NO_TEXT}, UNSCORED, float("nan")))
        why = row["unscored"]
        return WatchedTrace(
            trace_id=trace,
            started_ms=found.ended[trace],
            session=found.sampled[trace],
            asked=self.asked,
            accept=None if why is not None or accept == UNSCORED else accept,
            score=None if why is not None or np.isnan(score) else score,
            unscored=None if why is None else str(why),
            given=None if item is None else tuple(item.given),
            learned=item is not None and trace not in fit,
            feedback=tuple(self._feedback(trace, row)),
        )

    def _items(self, file: Path, sampled: Mapping[str, str], notes: list[str], *, first: bool) -> dict[str, Item]:
        """Items of the sampled traces; those that are none are left out."""
        try:
            table = read_table(str(file))
        except InputError as fault:
            if first:
                raise
            notes.append(str(fault))
            return {}
        read = partial(read_item_file, task=self.card.task, usual=usual_turn(self.card.fields))
        found: list[Item] = []
        try:
            found += read(table).items
        except InputError:  # one that cannot be read must not keep the others from being judged
            for alone in _rows(table):
                with suppress(InputError):
                    found += read(alone).items
        return {item.item_id: item for item in found if item.item_id in sampled}

    def _feedback(self, trace: str, row: Mapping[str, object]) -> Iterator[dict[str, object]]:
        card = self.card
        for aspect in card.aspects:
            told = {name: _of(row, name, aspect) for name in ("grade", "score", "accept", "confidence")}
            yield {
                "trace_id": trace,
                "name": card.name if len(card.aspects) == 1 else f"{card.name}.{aspect}",
                "value": told["grade"],
                "error": row["unscored"],
                "rationale": row.get("rationale") or "",
                "source": self.name,
                "kind": "CODE" if card.evidence_alone else "LLM_JUDGE",
                "metadata": {f"judgec.{name}": json.dumps(value) for name, value in told.items() if value is not None},
            }

    def _log(self, there: set[tuple[str, str]]) -> None:
        """Log what is not known to be logged, but for what is there."""
        state = self.state
        waiting = [said for one in state.judged[state.logged :] for said in one.feedback]
        log_verdicts(self.store, [one for one in waiting if (one["trace_id"], one["name"]) not in there], os.environ)
        state.logged = len(state.judged)
        state.save()

    def report(self, found: FoundTraces, given: TraceLabels, spent: Spent, unread: Sequence[str]) -> WatchReport:
        """Say what is known after the pass."""
        state, card, window = self.state, self.card, self._window()
        kept = [one.given for one in window if one.given is not None]
        validity = validity_of(card, InputCounts(len(kept), Counter(name for one in kept for name in one)))
        labels, off = accepts_of({(trace, who): value for trace, who, value in found.labels} | given.by, card)
        rates = accept_rates(window, labels, given.unsure, validity.refused("traces"))
        judged = {one.trace_id for one in state.judged}
        said = {
            "labelled traces of the file were not judged": len({trace for trace, _ in given.by} - judged),
            "labelled traces do not count: the judge was unsure of them, so they are no sample": len(
                given.unsure & labels.keys() & judged
            ),
            "traces are of queries that the judge has learned from; their labels do not count": sum(
                one.learned for one in window
            ),
            f"of {len(window)} sampled traces have no verdict": sum(one.accept is None for one in window),
            "sampled traces do not count: the judge was asked otherwise then": sum(
                one.asked != self.asked for one in state.judged
            ),
        }
        return WatchReport(
            judge=self.name,
            source=self.options.source,
            counts={
                "traces": state.traces,
                "new_traces": len(found.ended),
                "sampled": len(state.judged),
                "asked": len(found.sampled),
                "unscored": sum(one.unscored is not None for one in state.judged),
                "running": found.running,
            },
            rates=rates,
            missing_inputs=validity.to_json(),
            alerts=alerts_of(self.options.alert, rates),
            spent=spent,
            notes=(
                *([] if rates.accept.value is None else [ASSUMED]),
                *unread,
                *off,
                *(f"{count} {what}" for what, count in said.items() if count),
                *validity.notes("traces", ADVICE),
            ),
        )


def accepts_of(values: Mapping[tuple[str, str], object], card: ProgramCard) -> tuple[dict[str, float], list[str]]:
    """Share of people who accept a trace, by trace; and a note on labels that are not on the judge's scale.

    Args:
        values: A grade of the judge's scale, or a word for accept or reject, by trace and annotator.
        card: The judge's.
    """
    by_trace: dict[str, list[bool]] = {}
    unknown: list[str] = []
    for (trace, _), value in values.items():
        accept = _accepts(value, card)
        if accept is None:
            unknown.append(str(value))
        else:
            by_trace.setdefault(trace, []).append(accept)
    valid = f"{', '.join(map(str, card.scale.grades))}, true and false are valid"
    notes = [f"{len(unknown)} labels are not on the judge's scale ({unknown[0]!r}); {valid}."] if unknown else []
    return {trace: float(np.mean(said)) for trace, said in by_trace.items()}, notes


def _accepts(value: object, card: ProgramCard) -> bool | None:
    scale, grade = card.scale, as_grade(value)
    if grade is None:
        return None
    position = None if isinstance(value, bool) else position_of(grade, scale)
    if position is not None and scale.accept_index is not None:
        return position >= scale.accept_index
    return as_accept(grade)


def accept_rates(
    traces: Sequence[WatchedTrace], labels: Mapping[str, float], unsure: Collection[str] = (), refused: str = ""
) -> AcceptRates:
    """The judge's own accept rate, and people's by PPI++ from 10 labelled traces on.

    Args:
        traces: Judged ones.
        labels: Share of people who accept a trace, by trace.
        unsure: Traces that were labelled because the judge was unsure: they count as unlabelled.
        refused: Why nothing that was measured of the judge holds of the traces, or empty.
    """
    accept, score = (
        np.array([np.nan if value is None else float(value) for value in values])
        for values in ([one.accept for one in traces], [one.score for one in traces])
    )
    counts = [one.trace_id not in unsure and not one.learned for one in traces]
    people = np.array(
        [labels.get(one.trace_id, np.nan) if has else np.nan for one, has in zip(traces, counts, strict=True)]
    )
    cluster = np.unique([one.session or f" {one.trace_id}" for one in traces], return_inverse=True)[1].astype(np.int64)
    scored, known = ~np.isnan(accept), ~np.isnan(people)
    raw = within_unit(clustered_mean(accept[scored], cluster[scored]))
    labelled = int(known.sum())
    if labelled < MIN_LABELLED:
        few = f"{labelled} labelled traces; {MIN_LABELLED} are needed, {MIN_LABELLED - labelled} are missing"
        refused = refused or few
    there = ~np.isnan(score)
    refused = refused or out_of_range(score[known & there], score[~known & there], len(np.unique(cluster[known])))
    if refused:
        return AcceptRates(raw, Estimate(value=None, note=refused, n=labelled), labelled)
    filled = np.where(scored, accept, NO_VERDICT)
    return AcceptRates(raw, ppi_mean(filled, people, cluster, shares=True).estimate, labelled)


def alerts_of(asked: Sequence[str], rates: AcceptRates | None) -> dict[str, str | None]:
    """Each alert, with why it fired or None; one of an accept rate that cannot be given has fired.

    Args:
        asked: As typed.
        rates: After a pass; None before one, to see what is wrong with them.

    Raises:
        UserError: One that says nothing.
    """
    found: dict[str, str | None] = {}
    for text in asked:
        parts = _ALERT.fullmatch(text)
        bound = float(parts[3]) / (100 if parts and parts[4] else 1) if parts else 2.0
        if parts is None or bound > 1:
            raise UserError(f"--alert {text}: accept<.80, accept>.99 and raw<.80 are valid. Write one of these.")
        found[text] = None if rates is None else _crossed(text, getattr(rates, parts[1]), parts[2], bound)
        if rates is not None and parts[1] == "accept" and rates.accept.low is None:  # somebody relies on it
            found[text] = f"{text} cannot be told: {rates.accept.note}"
    return found


def _crossed(text: str, one: Estimate, side: str, bound: float) -> str | None:
    if one.low is None or one.high is None:
        return None
    shown = one.high < bound if side == "<" else one.low > bound
    return f"{text}: {_shown(one)} is {'below' if side == '<' else 'above'} {percent(bound)}" if shown else None


def watch_report(found: WatchReport) -> Report:
    """One pass: the rates, and what is missing."""
    counts, rates = found.counts, found.rates
    rows = [("corrected", *_cells(rates.accept)), ("the judge's own", *_cells(rates.raw))]
    new = f"{counts['new_traces']} new traces, {counts['asked']} of them judged"
    in_all = f"{counts['traces']} and {counts['sampled']} in all, {counts['unscored']} without a verdict"
    unknown = [] if rates.accept.value is not None else [f"no corrected rate: {rates.accept.note}"]
    return Report(
        data=found.to_json(),
        tables=[
            TextTable(f"Accept rate of {found.source} by {found.judge}, 95 %", ("", "rate", "interval", "from"), rows)
        ],
        lines=[
            f"{new}; {in_all}",
            f"{plural(rates.labelled, 'labelled trace')}",
            f"{found.spent.calls} LM calls, {found.spent.journaled} from the journal",
        ],
        notes=[*unknown, *found.notes],
        stamps=[f"ALERT: {why}" for why in found.fired],
    )


def _cells(one: Estimate) -> tuple[str, str, str]:
    limits = "-" if one.low is None or one.high is None else f"[{percent(one.low, 1)}, {percent(one.high, 1)}]"
    return ("-", "-", "-") if one.value is None else (percent(one.value, 1), limits, str(one.n))


def _shown(one: Estimate) -> str:
    limits = "" if one.low is None or one.high is None else f" [{percent(one.low, 1)}, {percent(one.high, 1)}]"
    return "unknown" if one.value is None else f"{percent(one.value, 1)}{limits}"


def _rows(table: Table) -> Iterator[Table]:
    for row, line in zip(table.rows, table.lines, strict=True):
        yield replace(table, rows=(row,), lines=(line,))


def _of(row: Mapping[str, object], name: str, aspect: str) -> object:
    """A row of several aspects has a mapping below the plural of the column's name."""
    several = row.get(f"{name}s")
    return several.get(aspect) if isinstance(several, Mapping) else row.get(name)
