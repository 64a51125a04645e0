"""What ``judgec judge`` does: load the judge, read items, judge, write, count."""

import json
import shlex
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from judgec.cli.output import say
from judgec.cli.progress import Bar
from judgec.compiler.outcome.abstain import ABSTAINED, abstain, agreement_of
from judgec.compiler.session import Session
from judgec.errors import ServiceError, UserError
from judgec.judges.judge import disagreements, load_judge
from judgec.lm.spec import LMSpec
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.scale import Scale
from judgec.store import programs
from judgec.store.labels import read_item_file
from judgec.store.rows.columns import as_rename
from judgec.store.splits import write_whole

NEXT = "Next: judgec agreement {out} --expert COLUMN --judge grade, with the experts' grades as COLUMN beside them"
MOST_REASONS = 5  # for missing judgments, on the screen; the rows have them all


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The command line of ``judge``, as typed."""

    file: str
    judge: str
    out: Path
    lm: str | None
    api_base: str | None
    rename: tuple[str, ...]
    budget: int | None
    max_cost: float | None
    in_flight: int
    abstain_below: float | None = None
    home: Path
    quiet: bool


def run(request: Request) -> dict[str, object]:
    """Judge a file; returns the counts.

    Raises:
        ServiceError: When no item could be judged; the rows with their reasons are written all the same.
    """
    bar = Bar(shown=not request.quiet)
    program = programs.load(request.home, request.judge)
    judge, card = load_judge(program), program.card
    spec = LMSpec.from_card(card.lm, model=request.lm, api_base=request.api_base)
    _check_out(request)
    bar.stage("judge", f"{card.name}@{card.version}, {card.engine or spec.model}")
    file = read_item_file(request.file, task=card.task, rename=as_rename(request.rename))
    items = file.items
    bar.stage("items", f"{len(items)} of {request.file}")
    with Session(
        spec,
        request.home,
        budget=request.budget,
        max_cost=request.max_cost,
        in_flight=request.in_flight,
        on_done=bar.progress,
    ) as session:
        if judge.asks_lm:
            session.preflight()
        judgments = judge.judge(items, session.ask)
        spent = session.spent
    below = request.abstain_below if request.abstain_below is not None else card.settings.get("abstain_below")
    if isinstance(below, float | int) and below > 0:
        judgments = abstain(judgments, float(below), agreement_of(card.objective), card.scale)
    bar.close()
    lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in judgments.rows(card.scale)]
    write_whole(request.out, "".join(line + "\n" for line in lines))
    counts = {
        "judge": {"program": card.name, "version": card.version},
        "items": len(items),
        "rows": file.rows,
        **_counts(judgments, card.scale),
        "lm_calls": spent.calls,
        "journaled": spent.journaled,
        "cost_usd": None if spent.unpriced else spent.usd,
        "out": str(request.out),
        "notes": list(file.notes),
    }
    if not request.quiet:
        _show(judgments, counts, file.notes, promoted=card.promoted)
    if items and counts["unscored"] == len(items) and ABSTAINED not in _reasons(judgments):
        raise ServiceError(
            f"{request.out}: none of {len(items)} items could be judged; the reasons are in the rows. "
            "Run judgec doctor --lm MODEL."
        )
    return counts


def _check_out(request: Request) -> None:
    out = request.out
    if not out.parent.is_dir():
        raise UserError(f"--out {out}: no such folder {out.parent}; create it, or name another.")
    if out.exists() and not out.is_file():
        raise UserError(f"--out {out}: not a file that can be replaced; the path of a JSONL file is valid. Name one.")
    if out.exists() and Path(request.file).exists() and out.samefile(request.file):
        raise UserError(f"--out {out}: the file to judge; its judgments would replace it. Name another.")


def _counts(judgments: Judgments, scale: Scale) -> dict[str, object]:
    """Unscored items with their reasons; accepted and rejected ones, by aspect where there are several."""
    reasons = _reasons(judgments)
    return {
        "unscored": sum(reasons.values()),
        "unscored_reasons": dict(reasons.most_common()),
        "accepted": _by_aspect(judgments, 1),
        "rejected": _by_aspect(judgments, 0),
        "accept_grade_disagree": disagreements(judgments, scale),
    }


def _reasons(judgments: Judgments) -> Counter[str]:
    return Counter(reason.partition(":")[0] for reason in judgments.unscored if reason is not None)


def _by_aspect(judgments: Judgments, outcome: int) -> int | dict[str, int | None] | None:
    """How many scored items were accepted (1) or rejected (0); None where no threshold is known."""
    counts: dict[str, int | None] = {}
    for aspect, accepts in zip(judgments.aspects, judgments.accept[judgments.scored].T, strict=True):
        unknown = len(accepts) > 0 and bool((accepts == UNSCORED).all())
        counts[aspect] = None if unknown else int((accepts == outcome).sum())
    return counts if len(counts) > 1 else counts[judgments.aspects[0]]


def _show(judgments: Judgments, counts: dict[str, object], notes: tuple[str, ...], *, promoted: bool) -> None:
    shown = []
    for aspect, accepts in zip(judgments.aspects, judgments.accept[judgments.scored].T, strict=True):
        name = f"{aspect}: " if len(judgments.aspects) > 1 else ""
        known = accepts[accepts != UNSCORED]
        shown.append(f"{name}{int((known == 1).sum())} accepted, {int((known == 0).sum())} rejected")
        if not len(known):
            shown[-1] = f"{name}no accept threshold"
    lost = Counter(reason for reason in judgments.unscored if reason is not None)
    say(
        f"{counts['items']} items: {'; '.join(shown)}; {counts['unscored']} unscored",
        *[f"unscored {count}: {reason}" for reason, count in lost.most_common(MOST_REASONS)],
        f"{counts['lm_calls']} LM calls, {counts['journaled']} from the journal",
        *[f"note: {note}" for note in notes],
        *([] if promoted else ["note: this version was not shown to be better than its baselines"]),
        *([] if len(judgments.aspects) > 1 else [NEXT.format(out=shlex.quote(str(counts["out"])))]),
    )
