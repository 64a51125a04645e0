"""``judgec.estimate``: the share of accepted items as a judge sees it, corrected by experts' labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from judgec.compile.held_out import HeldOut, held_out, on_scale_of, unlearned
from judgec.errors import UserError
from judgec.labels.bulk.judged_file import item_id_in, judged_rows, number_in
from judgec.labels.labels import ItemFile, item_digest, label_file, read_item_file
from judgec.labels.reading import Datasheet, as_reading
from judgec.lm.usage import Account, Spent
from judgec.lm.watch import Silent, Watch
from judgec.raters.judge import recorded_judges
from judgec.raters.piece import pieces_of
from judgec.raters.programs import Program
from judgec.raters.recorded import OnWhat, read_recorded
from judgec.raters.verdicts import as_recorded
from judgec.records.consensus import people_mean
from judgec.records.conversation import usual_turn
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED
from judgec.records.label import FloatArray, IntArray, Item, LabelSet
from judgec.records.scale import ACCEPT_SCALE
from judgec.report.numbers import percent
from judgec.report.page.notebook import notebook
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.stats.correction.mean import clustered_mean, within_unit
from judgec.stats.correction.support import missing_kinds, out_of_range
from judgec.stats.systems.means import MIN_LABELLED, Cells, corrected_means
from judgec.stats.systems.rows import Graded
from judgec.table.table import BoolArray, Row
from judgec.table.tables import TableSource
from judgec.verbs.judge_file import FileJudgments
from judgec.verbs.opened import VerdictCount, abstaining, open_judges, open_session
from judgec.verbs.options.estimate import ACCEPT_RATE, EstimateOptions
from judgec.verbs.recorded import COLUMNS
from judgec.verbs.source import LabelSource, read_source
from judgec.verbs.spending import account_for
from judgec.verbs.validity import require_inputs, validity_of
from judgec.verbs.verb import verb
from judgec.verbs.whom import GivenJudge, as_asked
from judgec.verbs.workspace import Workspace

if TYPE_CHECKING:
    import pandas as pd


ASSUMED = "The labelled items are taken to be a random sample of the items; chosen ones would bias the estimate."


@dataclass(frozen=True, slots=True)
class AspectRate:
    """The share of accepted items, of one aspect.

    Args:
        raw: What the judge accepts; its interval knows nothing of the judge's errors.
        corrected: The number to report (PPI++); without a value where it is refused.
        weight: How much the judge's verdicts count in ``corrected``; None where unknown.
        n: Items.
        n_labelled: Labelled ones.
        n_labelled_queries: Queries that they belong to.
        unscored: Items without a judgment.
        method: How ``corrected`` was made.
        refused: Why there is no corrected rate, or empty.
    """

    raw: Estimate
    corrected: Estimate
    weight: float | None
    n: int
    n_labelled: int
    n_labelled_queries: int
    unscored: int
    method: str
    refused: str

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        return {
            "raw": self.raw.to_json(),
            "corrected": self.corrected.to_json(),
            "method": self.method,
            "weight": self.weight,
            "n": self.n,
            "n_labelled": self.n_labelled,
            "n_labelled_queries": self.n_labelled_queries,
            "unscored": self.unscored,
            "refused": self.refused or None,
        }


@dataclass(frozen=True)
class RateEstimate:
    """A rate over all items, corrected by labels of a few.

    Args:
        judge: ``NAME@VERSION``.
        aspects: The rate of each aspect.
        labels: Where the labels come from.
        labelled: Labelled items that count.
        left_out: Labelled items that the judge has learned from.
        notes: What to know about it.
        missing_inputs: What the judge was compiled with and these items lack, see ``Validity``; where there is any,
            there is no corrected rate.
        spent: On models; of a file that was judged before, with what that took.
    """

    judge: str
    aspects: Mapping[str, AspectRate]
    labels: str
    labelled: int
    left_out: int
    notes: tuple[str, ...]
    missing_inputs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)

    @property
    def corrected(self) -> Estimate:
        """The corrected rate with its interval; ``value`` is None where it is refused.

        Raises:
            UserError: There are several aspects, each with its own.
        """
        return self._only.corrected

    @property
    def raw(self) -> Estimate:
        """Share that the judge accepts, uncorrected; as ``corrected``."""
        return self._only.raw

    @property
    def value(self) -> float | None:
        """The corrected rate; as ``corrected``."""
        return self.corrected.value

    @property
    def low(self) -> float | None:
        """Lower end of its 95 % interval."""
        return self.corrected.low

    @property
    def high(self) -> float | None:
        """Upper end of its 95 % interval."""
        return self.corrected.high

    @property
    def refused(self) -> str:
        """The reason why there is no corrected rate, or empty."""
        several = len(self.aspects) > 1
        reasons = [
            f"{name}: {aspect.refused}" if several else aspect.refused
            for name, aspect in self.aspects.items()
            if aspect.refused
        ]
        return "; ".join(reasons)

    @cached_property
    def table(self) -> "pd.DataFrame":
        """Aspects by raw and corrected: for each the value, ``.low`` and ``.high``; NaN where refused."""
        import pandas as pd

        rows = {}
        for name, aspect in self.aspects.items():
            row: dict[str, float | None] = {}
            for kind in ("raw", "corrected"):
                rate: Estimate = getattr(aspect, kind)
                row |= {kind: rate.value, f"{kind}.low": rate.low, f"{kind}.high": rate.high}
            rows[name] = row
        return pd.DataFrame.from_dict(rows, orient="index", dtype=float)

    @property
    def verdict(self) -> str:
        """The corrected rate in words."""
        several = len(self.aspects) > 1
        return "; ".join(f"{name}: {_said(one)}" if several else _said(one) for name, one in self.aspects.items())

    def require(self) -> None:
        """Say that the rate was refused.

        Raises:
            UserError: When it was.
        """
        if self.refused:
            missing = " and ".join(self.missing_inputs)
            advice = f"Give {missing} of the items" if missing else "Label a random sample of these very items"
            raise UserError(f"--estimate: refused, {self.refused}. {advice}.")

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        parts = {name: aspect.to_json() for name, aspect in self.aspects.items()}
        shown: dict[str, object] = dict(next(iter(parts.values()))) if len(parts) == 1 else {"aspects": parts}
        return {
            "statistic": ACCEPT_RATE,
            **shown,
            "labels": self.labels,
            "labelled": self.labelled,
            "left_out": self.left_out,
            "missing_inputs": {name: dict(shares) for name, shares in self.missing_inputs.items()},
            **self.spent.to_json(),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return f"<{type(self).__name__} by {self.judge}: {self.verdict}>"

    def _repr_html_(self) -> str:
        return notebook(rate_report(self))

    @property
    def _only(self) -> AspectRate:
        if len(self.aspects) > 1:
            raise UserError(
                f"estimate: {self.judge} judges {', '.join(self.aspects)}, each with a rate of its own; "
                f"aspects[{next(iter(self.aspects))!r}] is one. Name the aspect."
            )
        return next(iter(self.aspects.values()))


@dataclass(frozen=True, slots=True)
class ItemVerdict:
    """Verdict of the judge on an item, by aspect.

    Args:
        accept: 1, 0, or NaN without a verdict, shape (n_aspects,).
        score: Expected grade, NaN likewise.
    """

    accept: FloatArray
    score: FloatArray


@verb(EstimateOptions)
def estimate(options: EstimateOptions, watch: Watch) -> RateEstimate:
    """Estimate which share of items the experts would accept: a judge looks at all, its errors are corrected by labels.

    The labels must be of a random sample of the items. Where they cannot correct the judge, ``refused`` says why and
    the corrected rate has no value.

    Raises:
        UserError: No such judge, a judge that accepts nothing, labels that the judge has all learned from.
        InputError: Faulty items or labels.
        BudgetError: A call does not fit the caps; what is finished is journaled.
        ServiceError: The model cannot be reached.

    Example:
        >>> rate = judgec.estimate(
        ...     "trainsets/sensors/labels.jsonl", judge="sensors@latest", labels="trainsets/sensors/labels.jsonl"
        ... )
        >>> rate.low < rate.value < rate.high
        True
    """
    asked = labelled_for(options)
    watch.stage("labels", f"{len(asked.labels.items)} of {asked.labels.source}")
    file = _items(options, asked.judge.program)
    items = file.items
    require_inputs([asked.judge.card], items)
    watch.stage("judge", f"{plural(len(items), 'item')} with {asked.judge.name}, {asked.judge.asked_at}")
    account = account_for(options, options.judge, count_journaled=False)
    beside = _beside(items, asked.labels)
    own, extra = _verdicts(
        options, asked, ((asked.judge, items, file), (asked.on_labels, beside, None)), watch, account
    )
    return _estimated(asked, items, own, extra, account)


def estimate_judged(found: FileJudgments, options: EstimateOptions, watch: Watch | None = None) -> RateEstimate:
    """The same for a file that the judge has judged already, within what that left of the caps.

    Only labelled items beside it are judged.

    Args:
        found: The judged file.
        options: How it was judged, and the labels.
        watch: Told of progress.
    """
    asked = labelled_for(options)
    items = _items(options, asked.judge.program).items
    own = _read_out(found.path, asked.judge.card.aspects, found.names.to_json())
    beside = _beside(items, asked.labels)
    (extra,) = _verdicts(options, asked, ((asked.on_labels, beside, None),), watch or Silent(), found.account)
    return _estimated(asked, items, own, extra, found.account)


@dataclass(frozen=True, slots=True)
class LabelledJudge:
    """A judge and the labels that correct it.

    Args:
        workspace: Where it is.
        judge: The judge.
        on_labels: The same, where its verdicts are columns of what is judged with those in the columns of the labels.
        labels: Without those that it has learned from.
    """

    workspace: Workspace
    judge: GivenJudge
    on_labels: GivenJudge
    labels: HeldOut


def labelled_for(options: EstimateOptions) -> LabelledJudge:
    """Check what is asked for before anything is paid for.

    Raises:
        UserError: Another statistic, a judge that accepts nothing, or no label that it has not learned from.
    """
    if options.statistic != ACCEPT_RATE:
        raise UserError(f"--estimate {options.statistic}: not an estimate; {ACCEPT_RATE} is one. Name it.")
    if isinstance(options.judge, str):
        workspace = Workspace(options.home, options.tracking_uri)
        given: Program | GivenJudge = (program := workspace.load(options.judge))
    else:
        workspace = options.judge.workspace
        program = workspace.load(options.judge.name)
        given = replace(options.judge, program=program)
    read, name = _labels(options, workspace, program)
    labels = held_out(read, name, program, out_of_fold=False)  # it corrects what the judge says as it ships
    judge = as_asked(given, options)
    require_accepts(judge, f"--estimate {ACCEPT_RATE}")
    on_labels = judge
    if judge.spec.recorded == COLUMNS and judge.verdicts is None and read.judged:
        table = as_recorded(name, read.judged, program.card.task)
        on_labels = replace(judge, verdicts=read_recorded(table, OnWhat.of_card(program.card)))
    return LabelledJudge(workspace, judge, on_labels, labels)


def require_accepts(judge: GivenJudge, option: str) -> None:
    """Say that a judge accepts and rejects nothing.

    Raises:
        UserError: When it does not.
    """
    if not judge.accepts:
        raise UserError(
            f"{option}: {judge.name} accepts and rejects nothing, its scale "
            "has no accept threshold. Compile it with --accept-at GRADE."
        )


def _labels(options: EstimateOptions, workspace: Workspace, program: Program) -> tuple[LabelSet, str]:
    card = program.card
    reading = as_reading(
        task=card.task,
        columns=options.columns,
        annotators=options.annotators,
        turn=options.turn,
        missing=options.missing,
    )
    if isinstance(options.labels, str | Path):
        source = LabelSource(str(options.labels), reading)
        judges = recorded_judges(program)
        return read_source(source, workspace.store, workspace.environ, card, judges), source.path
    from judgec.verbs.frames import as_table  # pandas, which nothing else here needs

    table = as_table(options.labels, options.missing)
    how = on_scale_of(card, as_reading(judges=recorded_judges(program)).over(reading).over(Datasheet()))
    return label_file(table, how, usual=usual_turn(card.fields)).labels, table.path


def _items(options: EstimateOptions, program: Program) -> ItemFile:
    card, items = program.card, options.items
    if isinstance(items, str | Path):
        source: TableSource = str(items)
    else:
        from judgec.verbs.frames import as_table

        source = as_table(items)
    return read_item_file(
        source, task=card.task, rename=options.columns, turn=options.turn, usual=usual_turn(card.fields)
    )


def _beside(items: Sequence[Item], labels: HeldOut) -> list[Item]:
    """Labelled items that are not among the items."""
    own = {item.item_id: item_digest(item) for item in items}
    return [item for item in labels.items if own.get(item.item_id) != item_digest(item)]


def _verdicts(
    options: EstimateOptions,
    asked: LabelledJudge,
    groups: Sequence[tuple[GivenJudge, Sequence[Item], ItemFile | None]],
    watch: Watch,
    account: Account,
) -> list[dict[str, ItemVerdict]]:
    """Verdicts of the judge on each group, by item_id, as in ``judge_file``; a file may have columns of them."""
    said: list[dict[str, ItemVerdict]] = [{} for _ in groups]
    if not any(group[1] for group in groups):
        return said
    certain = abstaining([asked.judge.card], options.abstain_below)
    with open_session(options, asked.workspace, watch, account=account) as session:
        count = VerdictCount(session, watch.progress)
        for (given, items, file), verdicts in zip(groups, said, strict=True):
            if not items:
                continue
            table, columns = ("", None) if file is None else (file.table, file.rename)
            judge = open_judges([given], len(items), options, session, count, table, columns)
            for judgments in judge.judge(pieces_of(items)):
                final = certain(judgments)
                accept = np.where(final.accept == UNSCORED, np.nan, final.accept).astype(np.float64)
                score = np.where(final.scored[:, None], final.score, np.nan)
                verdicts.update(zip(final.item_ids, map(ItemVerdict, accept, score), strict=True))
    return said


def _estimated(
    asked: LabelledJudge,
    items: Sequence[Item],
    said: Mapping[str, ItemVerdict],
    extra: Mapping[str, ItemVerdict],
    account: Account,
) -> RateEstimate:
    """All aspects; a refused one has no corrected value, and ``refused`` says why."""
    labels, judged, card = asked.labels, [item for item in items if item.item_id in said], asked.judge.card
    validity = validity_of(card, items, labelled=labels.items)
    learned = plural(labels.learned, "labelled item was", "labelled items were")
    left_out = f"{learned} left out: the judge has learned from their queries."
    return RateEstimate(
        judge=asked.judge.name,
        aspects={
            aspect: _of_aspect(j, judged, labels, said, extra, validity.refused())
            for j, aspect in enumerate(card.aspects)
        },
        labels=labels.source,
        labelled=len(labels.items),
        left_out=labels.learned,
        notes=(
            ASSUMED,
            *_learned_note(asked.judge.program, items),
            *([left_out] if labels.learned else []),
            *labels.left_out,
            *validity.notes(),
        ),
        missing_inputs=validity.to_json(),
        spent=account.spent,
    )


def _of_aspect(
    j: int,
    items: Sequence[Item],
    labelled: HeldOut,
    said: Mapping[str, ItemVerdict],
    extra: Mapping[str, ItemVerdict],
    blind: str,
) -> AspectRate:
    """Raw and corrected rate of one aspect, over ``items`` and, for the correction, labelled items beside them.

    ``blind`` says what the judge does not see of them, or nothing.
    """
    accepts = people_mean(labelled.experts.accept_by[:, :, j], np.array(ACCEPT_SCALE.values))
    share_of = dict(zip([item.item_id for item in labelled.items], accepts.tolist(), strict=True))
    beside = [item for item in labelled.items if item.item_id in extra]
    everything = [*items, *beside]
    verdicts = [*(said[item.item_id] for item in items), *(extra[item.item_id] for item in beside)]
    accept = np.array([one.accept[j] for one in verdicts])
    score = np.array([one.score[j] for one in verdicts])
    is_item = np.arange(len(everything)) < len(items)
    people = np.array(
        [
            # A label goes with the item that it was given to: the one in the file, or the one beside it.
            share_of.get(item.item_id, np.nan) if (item.item_id in extra) != inside else np.nan
            for item, inside in zip(everything, is_item, strict=True)
        ]
    )
    return accept_rate(
        accept,
        score,
        people,
        np.unique([item.query_id for item in everything], return_inverse=True)[1].astype(np.int64),
        own=is_item,
        blind=blind,
        kinds={name: [getattr(item, name) or "" for item in everything] for name in ("agent", "group")},
    )


def accept_rate(
    accept: FloatArray,
    score: FloatArray,
    people: FloatArray,
    cluster: IntArray,
    *,
    own: BoolArray | None = None,
    blind: str = "",
    kinds: Mapping[str, Sequence[str]] = MappingProxyType({}),
    least: int = MIN_LABELLED,
) -> AspectRate:
    """Raw and corrected accept rate of judged items, of which people have labelled some.

    Args:
        accept: 1 or 0 by the judge, NaN without a verdict, shape (n_items,).
        score: Its expected grade, likewise.
        people: Share of people who accept the item, NaN where nobody labelled it.
        cluster: Code of each item's query.
        own: True where the rate is about the item; the others are labelled ones that only correct it. None for all.
        blind: Why nothing that was measured of the judge holds of the items, or empty.
        kinds: Agent or group of each item, empty where it has none, by what that is called.
        least: Labelled items, fewer of which say next to nothing.
    """
    known, own = ~np.isnan(people), np.ones(len(accept), dtype=bool) if own is None else own
    scored = own & ~np.isnan(accept)
    refused = blind or _why_refused(known, score, cluster, kinds, least)
    one = np.zeros(len(accept), dtype=np.int64)
    found = corrected_means(Cells.of(cluster, one, 1), Graded(accept, people, shares=True))
    (corrected,) = found.corrected.estimates(found.enough)
    return AspectRate(
        raw=within_unit(clustered_mean(accept[scored], cluster[scored])),
        corrected=Estimate(value=None, note=refused) if refused else corrected,
        weight=None if corrected.value is None else 0.0 if found.alone[0] else found.weight,
        n=int(own.sum()),
        n_labelled=int(known.sum()),
        n_labelled_queries=len(np.unique(cluster[known])),
        unscored=int((own & np.isnan(accept)).sum()),
        method=corrected.method,
        refused=refused,
    )


def _learned_note(program: Program, items: Sequence[Item]) -> list[str]:
    learned = len(items) - len(unlearned(items, program, out_of_fold=False))
    if not learned:
        return []
    return [
        f"{learned} of {len(items)} items are of queries that the judge has learned from; no label speaks for them."
    ]


def _why_refused(
    known: BoolArray, score: FloatArray, cluster: IntArray, kinds: Mapping[str, Sequence[str]], least: int
) -> str:
    if known.sum() < least:
        return f"{int(known.sum())} labelled items that the judge has not learned from; {least} are needed"
    queries, there = len(np.unique(cluster[known])), ~np.isnan(score)
    missing = (
        missing_kinds(
            [kind for kind, has in zip(of, known, strict=True) if has],
            [kind for kind, has in zip(of, known, strict=True) if not has],
            queries,
            name,
        )
        for name, of in kinds.items()
    )
    return out_of_range(score[known & there], score[~known & there], queries) or next(filter(None, missing), "")


def _read_out(out: Path, aspects: tuple[str, ...], columns: Mapping[str, str]) -> dict[str, ItemVerdict]:
    """The rows that ``judge`` has just written, by item."""

    def numbers(row: Row, name: str) -> FloatArray:
        if len(aspects) == 1:
            return np.array([number_in(row, columns[name])])
        together = columns.get(f"{name}s")  # in one column, or each in its own
        return np.array(
            [
                number_in(row, columns[f"{name}.{aspect}"]) if together is None else number_in(row, together, aspect)
                for aspect in aspects
            ]
        )

    return {
        item_id_in(row, columns["item_id"]): ItemVerdict(numbers(row, "accept"), numbers(row, "score"))
        for row in judged_rows(out)
    }


def _said(rate: AspectRate) -> str:
    if rate.refused:
        return f"no corrected accept rate: {rate.refused}"
    found, raw = rate.corrected, rate.raw
    value = "undefined" if found.value is None else percent(found.value, 1)
    between = "" if found.low is None else f" [{percent(found.low, 1)}, {percent(found.high, 1)}]"
    uncorrected = "" if raw.value is None else f", {percent(raw.value, 1)} uncorrected"
    return f"accept rate {value}{between}{uncorrected}; {rate.n_labelled} of {plural(rate.n, 'item')} labelled"


def rate_report(found: RateEstimate, judged: Mapping[str, object] = MappingProxyType({})) -> Report:
    """Raw beside corrected.

    Args:
        found: The estimate.
        judged: What programs read of the judgments that it is made of.
    """
    rows = [
        (
            name if len(found.aspects) > 1 else "accept rate",
            *(_shown(rate) for rate in (aspect.raw, aspect.corrected)),
        )
        for name, aspect in found.aspects.items()
    ]
    heads = ("", "raw", "corrected (PPI++)")
    return Report(
        data={**judged, **found.spent.to_json(), "estimate": found.to_json()},
        tables=[TextTable("Accept rate, 95 % intervals", heads, rows)],
        lines=[f"{found.spent.calls} LM calls in all, {found.spent.journaled} from the journal"],
        notes=found.notes,
    )


def _shown(estimate: Estimate) -> str:
    if estimate.value is None:
        return "-"
    text = percent(estimate.value, 1)
    return text if estimate.low is None else f"{text} [{percent(estimate.low, 1)}, {percent(estimate.high, 1)}]"
