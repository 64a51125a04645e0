"""What ``judgec judge --estimate accept_rate --labels L`` adds: the judge's rate, corrected by experts' labels."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from judgec.api.options.shared import HeldOutLabels
from judgec.api.source import read_held_out
from judgec.cli.judge.judge import Request
from judgec.cli.output import print_table, say
from judgec.compiler.abstain import abstain, agreement_of
from judgec.errors import UserError
from judgec.held_out import HeldOut, unlearned
from judgec.judges.judge import load_judge
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED
from judgec.records.label import FloatArray, Item
from judgec.stats.correction.mean import clustered_mean
from judgec.stats.correction.ppi import ppi_mean, within_unit
from judgec.stats.correction.rogan_gladen import rogan_gladen
from judgec.stats.correction.support import missing_kinds, out_of_range
from judgec.store import programs
from judgec.store.labels import item_digest, read_item_file
from judgec.store.programs import Program
from judgec.store.rows.columns import as_names, as_rename
from judgec.store.stream.judged import item_id_in, judged_rows, number_in
from judgec.store.tables import Row

ACCEPT_RATE = "accept_rate"
MIN_LABELLED = 10  # items; fewer say next to nothing
NO_VERDICT = 0.5  # stands for a missing judgment; any value keeps PPI++ unbiased
ASSUMED = "The labelled items are taken to be a random sample of the items; chosen ones would bias the estimate."


@dataclass
class Estimated:
    """An estimate that is made once the items are judged.

    Args:
        request: How they are judged.
        labels: The label file.
        refused: Why there is no estimate, once it has been tried, or empty.
    """

    request: Request
    labels: str
    refused: str = ""

    def add_to(self, counts: dict[str, object]) -> None:
        """Make the estimate; put it into the report as ``estimate``, and on the screen."""
        found = estimate(self.request, self.labels, counts["columns"])
        counts["estimate"] = found
        self.refused = _refusal(found)
        if not self.request.quiet:
            _show(found)

    def require(self) -> None:
        """Say that the estimate was refused.

        Raises:
            UserError: When it was; the judgments are written all the same.
        """
        if self.refused:
            raise UserError(f"--estimate: refused, {self.refused}. Label a random sample of these very items.")


@dataclass(frozen=True, slots=True)
class Said:
    """What the judge said of an item, by aspect.

    Args:
        accept: 1, 0, or NaN without a verdict, shape (n_aspects,).
        score: Expected grade, NaN likewise.
    """

    accept: FloatArray
    score: FloatArray


def prepared(request: Request) -> Estimated | None:
    """The estimate that was asked for, checked before anything is paid for; None when none was.

    Raises:
        UserError: Another statistic, no labels, several judges, a judge that accepts nothing.
    """
    statistic, labels = request.estimate, request.labels
    if statistic is None:
        if request.annotators is not None:
            raise UserError(f"--annotators {request.annotators}: columns of --labels, which are missing. Drop it.")
        if labels is not None:
            raise UserError(f"--labels {labels}: used by --estimate alone. Add --estimate {ACCEPT_RATE}, or drop it.")
        return None
    if statistic != ACCEPT_RATE:
        raise UserError(f"--estimate {statistic}: not an estimate; {ACCEPT_RATE} is one. Name it.")
    if labels is None:
        raise UserError("--estimate: no labels; a few items labelled by experts correct it. Add --labels FILE.")
    if not request.judge:
        raise UserError("--estimate: several judges; one with known errors is needed. Name it with --judge.")
    program = programs.load(request.home, request.judge)
    card = program.card
    if card.scale.accept_index is None and not any(
        calibrator.accept_threshold is not None for calibrator in load_judge(program).calibrators.values()
    ):
        raise UserError(
            f"--estimate {ACCEPT_RATE}: {card.name}@{card.version} accepts and rejects nothing, its scale "
            "has no accept threshold. Compile it with --accept-at GRADE."
        )
    _labelled(request, labels, program)
    return Estimated(request, labels)


def estimate(request: Request, labels: str, columns: object) -> dict[str, object]:
    """The part ``estimate`` of the report, after the items have been judged.

    A refused estimate has no corrected value, and ``refused`` says why; with several aspects there is one for each.

    Args:
        request: How the items were judged.
        labels: The label file.
        columns: What the columns of the judged file are called, as in the report.
    """
    assert isinstance(columns, dict)
    assert request.judge is not None  # ``prepared`` refuses a jury
    program = programs.load(request.home, request.judge)
    aspects = program.card.aspects
    items = read_item_file(request.file, task=program.card.task, rename=as_rename(request.rename)).items
    labelled = _labelled(request, labels, program)
    said = _read_out(request.out, aspects, columns)
    own = {item.item_id: item_digest(item) for item in items}
    missing = [item for item in labelled.items if own.get(item.item_id) != item_digest(item)]
    extra = _judge_labelled(request, program, missing)
    parts = {
        aspect: _of_aspect(j, [item for item in items if item.item_id in said], labelled, said, extra)
        for j, aspect in enumerate(aspects)
    }
    shown: dict[str, object] = dict(next(iter(parts.values()))) if len(parts) == 1 else {"aspects": parts}
    return {
        "statistic": ACCEPT_RATE,
        **shown,
        "labels": labelled.source,
        "labelled": len(labelled.items),
        "left_out": labelled.learned,
        "notes": [
            ASSUMED,
            *_learned_note(program, items),
            *labelled.notes,
        ],
    }


def _refusal(found: dict[str, object]) -> str:
    """Why an estimate was refused, or an empty text."""
    aspects = found.get("aspects")
    parts = aspects if isinstance(aspects, dict) else {"": found}
    reasons = [
        f"{name}: {part['refused']}" if name else str(part["refused"])
        for name, part in parts.items()
        if part["refused"]
    ]
    return "; ".join(reasons)


def _show(found: dict[str, object]) -> None:
    """Print raw beside corrected."""
    aspects = found.get("aspects")
    parts = aspects if isinstance(aspects, dict) else {"accept rate": found}
    rows = [
        (name, *(_shown(part[kind]) for kind in ("raw", "corrected", "rogan_gladen"))) for name, part in parts.items()
    ]
    print_table("Accept rate, 95 % intervals", ("", "raw", "corrected (PPI++)", "Rogan-Gladen"), rows)
    notes = found["notes"]
    say(*[f"note: {note}" for note in (notes if isinstance(notes, list) else [])])


def _shown(estimate: object) -> str:
    if not isinstance(estimate, dict) or estimate.get("value") is None:
        return "-"
    text = f"{estimate['value']:.1%}"
    return text if estimate.get("low") is None else f"{text} [{estimate['low']:.1%}, {estimate['high']:.1%}]"


def _labelled(request: Request, labels: str, program: Program) -> HeldOut:
    wanted = HeldOutLabels(
        labels=labels,
        columns=as_rename(request.rename),
        annotators=as_names(request.annotators),
        home=request.home,
    )
    # It corrects what the judge says as it ships.
    return read_held_out(wanted, program, environ=os.environ, out_of_fold=False)


def _of_aspect(
    j: int, items: list[Item], labelled: HeldOut, said: dict[str, Said], extra: dict[str, Said]
) -> dict[str, object]:
    """Raw and corrected rate of one aspect, over ``items`` and, for the correction, labelled items beside them."""
    expert_of = dict(zip([item.item_id for item in labelled.items], labelled.experts.accept[:, j], strict=True))
    beside = [item for item in labelled.items if item.item_id in extra]
    everything = [*items, *beside]
    verdicts = [*(said[item.item_id] for item in items), *(extra[item.item_id] for item in beside)]
    accept = np.array([one.accept[j] for one in verdicts])
    score = np.array([one.score[j] for one in verdicts])
    is_item = np.arange(len(everything)) < len(items)
    expert = np.array(
        [
            # A label goes with the item that it was given to: the one in the file, or the one beside it.
            expert_of.get(item.item_id, UNSCORED) if (item.item_id in extra) != inside else UNSCORED
            for item, inside in zip(everything, is_item, strict=True)
        ],
        dtype=np.float64,
    )
    expert = np.where(expert == UNSCORED, np.nan, expert)
    cluster = np.unique([item.query_id for item in everything], return_inverse=True)[1].astype(np.int64)
    known = ~np.isnan(expert)
    scored = is_item & ~np.isnan(accept)
    raw = within_unit(clustered_mean(accept[scored], cluster[scored]))
    refused = _why_refused(everything, known, score, cluster)
    nothing = Estimate(value=None, note=refused)
    ppi = ppi_mean(np.where(np.isnan(accept), NO_VERDICT, accept), expert, cluster, shares=True)
    corrected = nothing if refused else ppi.estimate
    true = rogan_gladen(np.nan_to_num(accept), expert, cluster)
    return {
        "raw": raw.to_json(),
        "corrected": corrected.to_json(),
        "method": ppi.estimate.method,
        "weight": None if np.isnan(ppi.weight) else ppi.weight,
        "rogan_gladen": (nothing if refused else true.estimate).to_json(),
        "sensitivity": None if np.isnan(true.sensitivity) else true.sensitivity,
        "specificity": None if np.isnan(true.specificity) else true.specificity,
        "n": int(is_item.sum()),
        "n_labelled": int(known.sum()),
        "n_labelled_queries": len(np.unique(cluster[known])),
        "unscored": int((is_item & np.isnan(accept)).sum()),
        "refused": refused or None,
    }


def _learned_note(program: Program, items: Sequence[Item]) -> list[str]:
    learned = len(items) - len(unlearned(items, program, out_of_fold=False))
    if not learned:
        return []
    return [
        f"{learned} of {len(items)} items are of queries that the judge has learned from; no label speaks for them."
    ]


def _why_refused(items: list[Item], known: np.ndarray, score: FloatArray, cluster: np.ndarray) -> str:
    if known.sum() < MIN_LABELLED:
        return f"{int(known.sum())} labelled items that the judge has not learned from; {MIN_LABELLED} are needed"
    queries = len(np.unique(cluster[known]))
    labelled = [item for item, has in zip(items, known, strict=True) if has]
    others = [item for item, has in zip(items, known, strict=True) if not has]
    there = ~np.isnan(score)
    return (
        out_of_range(score[known & there], score[~known & there], queries)
        or missing_kinds([i.agent or "" for i in labelled], [i.agent or "" for i in others], queries, "agent")
        or missing_kinds([i.group or "" for i in labelled], [i.group or "" for i in others], queries, "group")
    )


def _read_out(out: Path, aspects: tuple[str, ...], columns: Mapping[str, str]) -> dict[str, Said]:
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
        item_id_in(row, columns["item_id"]): Said(numbers(row, "accept"), numbers(row, "score"))
        for row in judged_rows(out)
    }


def _judge_labelled(request: Request, program: Program, items: list[Item]) -> dict[str, Said]:
    """Verdicts on labelled items that are not among those judged, by the same judge in the same way."""
    if not items:
        return {}
    card, judge = program.card, load_judge(program)
    spec = LMSpec.from_card(card.lm, model=request.lm, api_base=request.api_base)
    with Session(spec, request.home, budget=request.budget, max_cost=request.max_cost) as session:
        judgments = judge.judge(items, session.ask)
    below = request.abstain_below if request.abstain_below is not None else card.settings.get("abstain_below")
    if isinstance(below, float | int) and below > 0:
        judgments = abstain(judgments, float(below), agreement_of(card.objective), card.scale)
    accept = np.where(judgments.accept == UNSCORED, np.nan, judgments.accept).astype(np.float64)
    score = np.where(judgments.scored[:, None], judgments.score, np.nan)
    return {item.item_id: Said(accept[i], score[i]) for i, item in enumerate(items)}
