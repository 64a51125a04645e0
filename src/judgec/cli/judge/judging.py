"""What ``judgec judge`` does: load the judge, read items, judge, write, count."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from judgec.cli.output import say
from judgec.cli.progress import Bar
from judgec.compiler.session import Session
from judgec.errors import ServiceError, UserError
from judgec.judges.judge import disagreements, load_judge
from judgec.lm.spec import LMSpec
from judgec.records.judgment import Judgments
from judgec.records.scale import Scale
from judgec.store import programs
from judgec.store.labels import read_items
from judgec.store.rows.columns import as_rename
from judgec.store.splits import write_whole


@dataclass(frozen=True, slots=True)
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
    if not request.out.parent.is_dir():
        raise UserError(f"--out {request.out}: no such folder {request.out.parent}; create it, or name another.")
    bar.stage("judge", f"{card.name}@{card.version}, {card.engine or spec.model}")
    items = read_items(request.file, task=card.task, rename=as_rename(request.rename))
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
    bar.close()
    lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in judgments.rows(card.scale)]
    write_whole(request.out, "".join(line + "\n" for line in lines))
    counts = {
        "judge": {"program": card.name, "version": card.version},
        "items": len(items),
        **_counts(judgments, card.scale),
        "lm_calls": spent.calls,
        "journaled": spent.journaled,
        "cost_usd": None if spent.unpriced else spent.usd,
        "out": str(request.out),
    }
    if not request.quiet:
        _show(counts, card.promoted)
    if items and counts["unscored"] == len(items):
        raise ServiceError(
            f"{request.out}: none of {len(items)} items could be judged; the reasons are in the rows. "
            "Run judgec doctor --lm MODEL."
        )
    return counts


def _counts(judgments: Judgments, scale: Scale) -> dict[str, object]:
    scored = judgments.scored
    accept = judgments.accept[scored]
    reasons = Counter(reason.partition(":")[0] for reason in judgments.unscored if reason is not None)
    return {
        "unscored": int((~scored).sum()),
        "unscored_reasons": dict(reasons.most_common()),
        "accepted": int((accept == 1).sum()),
        "rejected": int((accept == 0).sum()),
        "accept_grade_disagree": disagreements(judgments, scale),
    }


def _show(counts: dict[str, object], promoted: bool) -> None:
    say(
        f"{counts['items']} items: {counts['accepted']} accepted, {counts['rejected']} rejected, "
        f"{counts['unscored']} unscored {counts['unscored_reasons'] or ''}".rstrip(),
        f"{counts['lm_calls']} LM calls, {counts['journaled']} from the journal",
        *([] if promoted else ["note: this version was not shown to be better than its baselines"]),
        f"Next: judgec agreement {counts['out']} --expert COLUMN --judge grade, if experts graded these items too",
    )
