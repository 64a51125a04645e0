"""``judgec.watch``: judges a sample of an application's new traces, and says what is known of all of them."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from judgec.connect.tracking.store import TrackingStore, tracking_store
from judgec.connect.tracking.traces import MLFLOW_PREFIX
from judgec.connect.tracking.watched_traces import (
    REVIEW_TAG,
    ExpertLabel,
    SampledTrace,
    TraceLook,
    TracesSeen,
    log_judged,
    look_at_traces,
)
from judgec.errors import InputError, UserError
from judgec.labels.labels import read_item_file
from judgec.labels.rows.grades import position_of
from judgec.lm.usage import Spent
from judgec.lm.watch import Watch
from judgec.records.card import ProgramCard
from judgec.records.conversation import TURNS, usual_turn
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import Item
from judgec.report.numbers import percent
from judgec.report.page.notebook import notebook
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.table.rows.cells import as_accept, as_grade
from judgec.table.table import Table
from judgec.table.tables import read_table
from judgec.trust.recheck import Recheck
from judgec.trust.watched import WatchedTrace, WatchState, open_state
from judgec.verbs.jury import asked_at, open_session
from judgec.verbs.options.watch import WatchOptions
from judgec.verbs.verb import verb
from judgec.verbs.watch_state import Known, WatchedJudge, WatchedRate, alerts_of, known_of, next_proposals, settle
from judgec.verbs.workspace import Workspace

if TYPE_CHECKING:
    import pandas as pd

MOST_AT_ONCE = 500  # traces that are judged before their feedback is logged
NO_TEXT = "no text: the trace has no question or no answer"
SAID = "the judge's feedback"


@dataclass(frozen=True)
class WatchReport:
    """Result of one look.

    Args:
        judge: ``NAME@VERSION``.
        source: Whose traces.
        counts: New traces, sampled ones, unscored ones, those still running.
        rate: The rates, and whether they hold.
        alerts: Each alert that was asked for, with why it fired or None.
        propose: Traces to send to experts.
        spent: On models.
        notes: What to know about it.
        rechecked: Whether the judge's model still answers as it did; None where nobody wanted to know.
    """

    judge: str
    source: str
    counts: Mapping[str, int]
    rate: WatchedRate
    alerts: Mapping[str, str | None]
    propose: tuple[str, ...]
    spent: Spent
    notes: tuple[str, ...]
    rechecked: Recheck | None = None

    @property
    def fired(self) -> tuple[str, ...]:
        """Reasons why alerts fired, a sentence each."""
        return tuple(why for why in self.alerts.values() if why)

    @property
    def table(self) -> "pd.DataFrame":
        """The rates with their limits."""
        import pandas as pd

        rows = {"judge": self.rate.raw, "corrected": self.rate.corrected}
        return pd.DataFrame(
            {name: {"rate": one.value, "low": one.low, "high": one.high} for name, one in rows.items()}
        ).T

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        return {
            "judge": self.judge,
            "source": self.source,
            **self.counts,
            **self.rate.to_json(),
            "alerts": {name: {"fired": why is not None, "why": why} for name, why in self.alerts.items()},
            "propose": list(self.propose),
            **self.spent.to_json(),
            "recheck": None if self.rechecked is None else self.rechecked.to_json(),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return f"<WatchReport {self.source} by {self.judge}: {self.rate.sentence}>"

    def _repr_html_(self) -> str:
        return notebook(look_report(self))


@verb(WatchOptions)
def watch(options: WatchOptions, watch: Watch) -> WatchReport:
    """Look once at an application's traces in MLflow: judge a sample of the new ones, and say what is known of all.

    Each judged trace gets the judge's feedback. The accept rate is corrected by the judge's error rates; its interval
    and the test of drift hold however often one looks. What was judged is kept, and never judged or logged again.

    Raises:
        UserError: No such judge, a judge that accepts nothing, another watch at work, an alert that says nothing.
        InputError: No such experiment, or traces without texts.
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
    workspace = Workspace(options.home, options.tracking_uri)
    program = workspace.load(options.judge)
    name = f"{program.card.name}@{program.card.version}"
    aspect = _aspect(options, program.card)
    store = tracking_store(options.home, options.tracking_uri, os.environ)
    about = {
        "judge": name,
        "store": store.shown,
        "rate": options.rate,
        "window": options.window,
        "aspect": program.card.aspects[aspect],
    }
    alerts_of(options.alert, None, "")  # says what is wrong with them before anything is paid for
    with (
        open_state(state_file(options, name), about=about) as state,
        open_session(options, workspace, watch) as session,  # the only one: what it may spend is for all
    ):
        judge = WatchedJudge(options, program, aspect, session, watch)
        rechecked = judge.rechecked()
        known = known_of(state, judge)
        found = _WatchLook(options, judge, name, store, state, watch).report(known)
        noted = () if rechecked is None or rechecked.note is None else (rechecked.note,)
        return replace(found, rechecked=rechecked, notes=(*noted, *found.notes))


def state_file(options: WatchOptions, judge: str) -> Path:
    """Path of the file in which a watch keeps what it knows."""
    named = f"{options.source.removeprefix(MLFLOW_PREFIX)}.{judge}"
    return options.home / ".judgec" / "watch" / f"{re.sub(r'[^A-Za-z0-9._@-]+', '-', named)}.db"


def _aspect(options: WatchOptions, card: ProgramCard) -> int:
    if card.scale.accept_index is None and not card.aspects:
        raise UserError(f"--judge {options.judge}: it grades nothing. Compile it again.")
    if options.aspect is None and len(card.aspects) > 1:
        raise UserError(
            f"--judge {options.judge}: it judges {', '.join(card.aspects)}; the rate of one is kept. "
            "Name it with --aspect."
        )
    aspect = options.aspect or card.aspects[0]
    if aspect not in card.aspects:
        raise UserError(f"--aspect {aspect}: the judge has {', '.join(card.aspects)}. Name one of these.")
    return card.aspects.index(aspect)


@dataclass(frozen=True)
class _WatchLook:
    """One look, from the traces to the report."""

    options: WatchOptions
    judge: WatchedJudge
    name: str
    store: TrackingStore
    state: WatchState
    watch: Watch

    @property
    def card(self) -> ProgramCard:
        """Of the judge."""
        return self.judge.program.card

    def report(self, known: Known) -> WatchReport:
        """Look, judge, log, and say what is known."""
        options, state = self.options, self.state
        before = state.verdicts()
        self.watch.stage("traces", f"{options.source} in {self.store.shown}")
        seen = look_at_traces(self.store, self._wanted(before), os.environ)
        unread = self._judge_all(seen, before)
        notes = self._labels(seen.labels)
        new = state.seen(seen.ids, seen.next_ms)
        total = int(state.fact("seen", "0")) + new
        state.say(next_ms=seen.next_ms, seen=total)
        known, rate = settle(state, known, options, self.card)
        propose = next_proposals(state, known, options)
        self._tag(propose)
        verdicts = state.verdicts()
        counts = {
            "traces": total,
            "new_traces": new,
            "sampled": len(verdicts),
            "new_sampled": len(verdicts) - len(before),
            "unscored": sum(one.unscored is not None for one in verdicts),
            "running": seen.running,
        }
        alerts = alerts_of(options.alert, rate, known.errors.refused)
        spent, said = self.judge.session.spent, (*notes, *unread, *rate.notes)
        return WatchReport(self.name, options.source, counts, rate, alerts, tuple(propose), spent, said)

    def _wanted(self, before: Sequence[WatchedTrace]) -> TraceLook:
        options, card = self.options, self.card
        return TraceLook(
            experiment=options.source.removeprefix(MLFLOW_PREFIX),
            since_ms=int(self.state.fact("next_ms", "0")),
            rate=options.rate,
            known=tuple(one.trace_id for one in before),
            unmarked=tuple(one.trace_id for one in before if not one.logged),
            judged=tuple(one.trace_id for one in before[-2 * options.window :]),
            feedback=self._feedback_name(card.aspects[0]),
            source=self.name,
            assessment=options.assessment or card.name,
            file=str(state_file(options, self.name).with_suffix(".jsonl").resolve()),
            sessions=bool({*TURNS, "dialogue"} & {*card.fields}),
        )

    def _feedback_name(self, aspect: str) -> str:
        card = self.card
        return card.name if len(card.aspects) == 1 else f"{card.name}.{aspect}"

    def _judge_all(self, seen: TracesSeen, before: Sequence[WatchedTrace]) -> list[str]:
        """Judge the new ones, keep what was said, and log it; what was kept before and not logged is logged now."""
        done = {one.trace_id for one in before}
        self.state.logged(one.trace_id for one in seen.sampled if one.feedback)
        fresh = [one for one in seen.sampled if one.trace_id not in done]
        notes: list[str] = []
        if fresh:
            file = state_file(self.options, self.name).with_suffix(".jsonl")
            items, unread = self._items(file, fresh, notes, first=not before)
            host = asked_at(self.card, self.options)
            self.watch.stage("judge", f"{plural(len(items), 'trace')} with {self.name}, {host}")
            for part in (fresh[start : start + MOST_AT_ONCE] for start in range(0, len(fresh), MOST_AT_ONCE)):
                chosen = {one.trace_id: items[one.trace_id] for one in part if one.trace_id in items}
                pieces = self.judge.judged([*chosen.values()]) if chosen else []
                self.state.judged(self._said(part, pieces, chosen, unread))
                self._log()
        self._log()
        return notes

    def _items(
        self, file: Path, fresh: Sequence[SampledTrace], notes: list[str], *, first: bool
    ) -> tuple[dict[str, Item], dict[str, str]]:
        """Items by trace, and why others are none."""
        wanted = {one.trace_id for one in fresh}
        unread = dict.fromkeys(wanted, NO_TEXT)
        try:
            table = read_table(str(file))
        except InputError as fault:
            if first:
                raise
            notes.append(str(fault))
            return {}, unread
        read = partial(read_item_file, task=self.card.task, usual=usual_turn(self.card.fields))
        found: dict[str, Item] = {}
        try:
            found = {item.item_id: item for item in read(table).items if item.item_id in wanted}
        except InputError:  # one that cannot be read must not keep the others from being judged
            for alone in _rows(table):
                trace = str(alone.rows[0]["item_id"])
                with suppress(InputError):
                    found |= {item.item_id: item for item in read(alone).items if item.item_id in wanted}
                unread[trace] = "the trace cannot be read as an item of the judge's task"
        return found, unread

    def _said(
        self,
        part: Sequence[SampledTrace],
        pieces: Sequence[Judgments],
        items: Mapping[str, Item],
        unread: Mapping[str, str],
    ) -> Iterator[tuple[WatchedTrace, list[dict[str, object]]]]:
        card = self.card
        rows: dict[str, tuple[dict[str, object], int, float]] = {}
        for found in pieces:
            for i, row in enumerate(found.rows(card.scale)):
                accept, score = found.accept[i, self.judge.aspect], found.score[i, self.judge.aspect]
                rows[found.item_ids[i]] = row, int(accept), float(score)
        for one in part:
            row, accept, score = rows.get(
                one.trace_id, ({"unscored": unread.get(one.trace_id, NO_TEXT)}, UNSCORED, np.nan)
            )
            why = row["unscored"]
            trace = WatchedTrace(
                trace_id=one.trace_id,
                session=one.session,
                accept=None if why is not None or accept == UNSCORED else accept,
                score=None if why is not None or np.isnan(score) else score,
                unscored=None if why is None else str(why),
                given=tuple(items[one.trace_id].given) if one.trace_id in items else None,
            )
            yield trace, self._feedback(row)

    def _feedback(self, row: Mapping[str, object]) -> list[dict[str, object]]:
        card, made = self.card, []
        for aspect in card.aspects:
            told = {name: _of(row, name, aspect) for name in ("grade", "score", "accept", "confidence")}
            metadata = {f"judgec.{name}": json.dumps(value) for name, value in told.items() if value is not None}
            made.append(
                {
                    "name": self._feedback_name(aspect),
                    "value": told["grade"],
                    "error": row["unscored"],
                    "rationale": row.get("rationale") or "",
                    "source": self.name,
                    "kind": "CODE" if card.evidence_alone else "LLM_JUDGE",
                    "metadata": metadata,
                }
            )
        return made

    def _log(self) -> None:
        """Log what is not marked yet."""
        waiting = self.state.unlogged()
        said = [{**one, "trace_id": trace_id} for trace_id, feedback in waiting.items() for one in feedback]
        log_judged(self.store, said, {}, os.environ)
        self.state.logged(waiting)

    def _tag(self, propose: Sequence[str]) -> None:
        there = {one.trace_id for one in self.state.verdicts() if one.proposed}
        log_judged(self.store, [], {trace: self.name for trace in propose if trace not in there}, os.environ)
        self.state.proposed(propose)

    def _labels(self, labels: Sequence[ExpertLabel]) -> list[str]:
        """Keep what experts said, as accept or reject; of several that of most of them."""
        by_trace: dict[str, list[bool]] = {}
        unknown: list[str] = []
        for label in labels:
            accept = self._accepts(label.value)
            if accept is None:
                unknown.append(str(label.value))
            else:
                by_trace.setdefault(label.trace_id, []).append(accept)
        shares = {trace: float(np.mean(said)) for trace, said in by_trace.items()}
        self.state.labelled({trace: int(share > 0.5) for trace, share in shares.items() if share != 0.5})
        if not unknown:
            return []
        card = self.card
        valid = f"{', '.join(map(str, card.scale.grades))}, true and false are"
        return [f"{len(unknown)} labels of experts are not on the judge's scale ({unknown[0]!r}); {valid} valid."]

    def _accepts(self, value: str | float | bool) -> bool | None:
        scale, grade = self.card.scale, as_grade(value)
        if grade is None:
            return None
        position = None if isinstance(value, bool) else position_of(grade, scale)
        if position is not None and scale.accept_index is not None:
            return position >= scale.accept_index
        return as_accept(grade)


def _rows(table: Table) -> Iterator[Table]:
    for row, line in zip(table.rows, table.lines, strict=True):
        yield replace(table, rows=(row,), lines=(line,))


def _of(row: Mapping[str, object], name: str, aspect: str) -> object:
    """A row of several aspects has a mapping below the plural of the column's name."""
    several = row.get(f"{name}s")
    return several.get(aspect) if isinstance(several, Mapping) else row.get(name)


MOST_SHOWN = 5  # traces for experts; all have the tag


def look_report(found: WatchReport) -> Report:
    """One look: the rates, drift, and what experts should see."""
    counts, rate = found.counts, found.rate
    rows = [("corrected", *_cells(rate.corrected)), ("the judge's own", *_cells(rate.raw))]
    title = f"Accept rate of {found.source} by {found.judge}, 95 % at every look"
    unknown = [] if rate.corrected.value is not None else [f"no corrected rate: {rate.corrected.note}"]
    shown = ", ".join(found.propose[:MOST_SHOWN])
    more = f" and {len(found.propose) - MOST_SHOWN} more" if len(found.propose) > MOST_SHOWN else ""
    new = f"{counts['new_traces']} new traces, {counts['new_sampled']} of them judged"
    in_all = f"{counts['traces']} and {counts['sampled']} in all, {counts['unscored']} without a verdict"
    return Report(
        data=found.to_json(),
        tables=[TextTable(title, ("", "rate", "interval", "traces"), rows)],
        lines=[
            f"{new}; {in_all}",
            _drift(rate),
            f"{found.spent.calls} LM calls, {found.spent.journaled} from the journal",
            *([f"for experts (tag {REVIEW_TAG}): {shown}{more}"] if found.propose else []),
        ],
        notes=[*unknown, *found.notes],
        stamps=[f"ALERT: {why}" for why in found.fired],
    )


def _drift(rate: WatchedRate) -> str:
    evidence = f"log evidence {rate.evidence:.1f}, fires at {rate.fires:.1f}"
    if rate.drift:
        return "DRIFT: the correction is withdrawn" + ("" if rate.unmeasured else f" ({evidence})")
    return "drift was not tested" if rate.unmeasured else f"no drift shown ({evidence})"


def _cells(one: Estimate) -> tuple[str, str, str]:
    limits = "-" if one.low is None or one.high is None else f"[{percent(one.low, 1)}, {percent(one.high, 1)}]"
    return ("-", "-", "-") if one.value is None else (percent(one.value, 1), limits, str(one.n))
