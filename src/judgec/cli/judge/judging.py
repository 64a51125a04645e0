"""What ``judgec judge`` does: load the judges, check the items, judge them piece by piece, write, count."""

import gc
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from judgec.cli.judge.judge import Request
from judgec.cli.judge.panel import Panel
from judgec.cli.output import say
from judgec.cli.trust.next_step import next_step
from judgec.errors import ServiceError, UserError
from judgec.held_out import memory_of
from judgec.judges.decision import HALF_WAY
from judgec.judges.judge import disagreements
from judgec.judges.stream.jury import Jury
from judgec.records.card import EVIDENCE_ALONE, ProgramCard
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.scale import Scale
from judgec.report.numbers import number
from judgec.report.progress import Bar
from judgec.store import programs
from judgec.store.programs import Program
from judgec.store.rows.columns import as_rename
from judgec.store.stream.judged import judged_file, kind_of, names_of
from judgec.store.stream.pieces import ItemStream, open_items

ENGINES = _, RAY = "local", "ray"
MOST_REASONS = 5  # for missing judgments, on the screen; the rows have them all
MOST_DISTINCT = 1000  # reasons that are counted word by word; beyond that a long run only counts their kinds


def run(request: Request) -> dict[str, object]:
    """Judge a file; returns the counts.

    Raises:
        ServiceError: When no item could be judged; the rows with their reasons are written all the same.
    """
    bar, judged = Bar(shown=not request.quiet), 0
    loaded = [programs.load(request.home, name) for name in (request.jurors or (request.judge or "",))]
    cards = [program.card for program in loaded]
    _check_jurors(cards)
    _check_out(request)
    judges = (f"{card.name}@{card.version}, {_asked(card, request.lm)}" for card in cards)
    bar.stage("judge", "; ".join(judges))
    items = open_items(
        request.file,
        task=cards[0].task,
        rename=as_rename(request.rename),
        memories=[memory_of(program) for program in loaded],
        raters=_raters(loaded[0]),
    )
    names = names_of(request.out, items, as_rename(request.rename), cards[0].aspects, inputs=request.inputs)
    bar.stage("items", f"{items.items} of {request.file}")
    tally, certain = _Tally(cards[0].scale, cards[0].aspects), _abstaining(cards, request.abstain_below)
    with ExitStack() as opened:
        opened.callback(bar.close)
        panel = opened.enter_context(_panel(request, bar))
        jury = panel.jury(loaded, items.items)
        gc.freeze()  # half a million objects that stay: the collector need not look at them again and again
        judge = ", ".join(f"{card.name}@{card.version}" for card in cards)
        file, cut = opened.enter_context(
            judged_file(request.out, items, names, cards[0].scale, judge=judge, inputs=request.inputs)
        )
        try:
            for judgments in jury.judge(items.pieces):
                judged += int(judgments.scored.sum())
                final = certain(judgments)
                file.add(final)
                tally.add(final)
        except KeyboardInterrupt:
            bar.close()
            kept = f"at least {panel.done} of {panel.total} verdicts are in the journal"
            say(f"{kept}; the same command goes on from there.")
            raise
    half_way = sum(juror.interview.half_way for juror in jury.jurors if juror.interview is not None)
    notes = [*items.notes, *cut, *_known(items), *_asking_nothing(jury), *_lacking(cards, items), *_unfrozen(jury)]
    notes += [f"{half_way} verdicts of {HALF_WAY}"] if half_way else []
    counts = _counts(request, cards, items, tally, panel) | {
        "between_grades": half_way,
        "evidence_alone": all(juror.interview is None for juror in jury.jurors),
        "columns": names.to_json(),
        "notes": notes,
        "agreement": jury.agreement(),
    }
    if not request.quiet:
        _show(counts, tally, cards)
        in_folds = len(loaded) == 1 and "folds" in loaded[0].split
        say(*next_step(request, cards[0], items, names, in_folds=in_folds))
    if items.items and not judged:
        raise ServiceError(
            f"{request.out}: none of {items.items} items could be judged; the reasons are in the rows. "
            "Run judgec doctor --lm MODEL."
        )
    return counts


def _asked(card: ProgramCard, lm: str | None) -> str:
    """What answers for a judge: nothing is asked where evidence alone decides, whatever --lm names."""
    return EVIDENCE_ALONE if card.evidence_alone else str(lm or card.engine or card.lm.get("model"))


def _panel(request: Request, bar: Bar) -> Panel:
    if request.engine not in ENGINES:
        raise UserError(f"--engine {request.engine}: unknown; {' and '.join(ENGINES)} are valid. Name one of them.")
    if request.ray_address and request.engine != RAY:
        raise UserError("--ray-address: only --engine ray uses a cluster; with it the address is valid. Add it.")
    return Panel(request, bar.progress, spread=request.engine == RAY)


def _check_jurors(cards: Sequence[ProgramCard]) -> None:
    if tasks := sorted({card.task for card in cards[1:]} - {cards[0].task}):
        raise UserError(f"--jury: tasks {cards[0].task}, {', '.join(tasks)}; judges of one task are valid.")
    names = Counter(f"{card.name}@{card.version}" for card in cards)
    if twice := [name for name, count in names.items() if count > 1]:
        raise UserError(
            f"--jury: {', '.join(twice)} more than once, which would agree with itself; different judges are valid. "
            "Name each once; --samples asks one judge several times."
        )


def _check_out(request: Request) -> None:
    out = request.out
    if out.is_file() or not out.exists():
        kind_of(out)
    if not out.parent.is_dir():
        raise UserError(f"--out {out}: no such folder {out.parent}; create it, or name another.")
    if out.exists() and not out.is_file():
        raise UserError(f"--out {out}: not a file that can be replaced; the path of a file is valid. Name one.")
    if out.exists() and Path(request.file).exists() and out.samefile(request.file):
        raise UserError(f"--out {out}: the file to judge; its judgments would replace it. Name another.")


def _abstaining(cards: list[ProgramCard], below: float | None) -> Callable[[Judgments], Judgments]:
    """Leaves out the judgments that are less sure than asked for, or than the only judge was compiled for."""
    if below is None and len(cards) == 1:
        compiled = cards[0].settings.get("abstain_below")
        below = float(compiled) if isinstance(compiled, float | int) else None
    if not below or below < 0:
        return lambda judgments: judgments
    from judgec.compiler.abstain import abstain, agreement_of  # all that fits judges comes with it

    return partial(abstain, below=below, of=agreement_of(cards[0].objective), scale=cards[0].scale)


@dataclass(slots=True)
class _Tally:
    """Counts over all pieces; accepts and rejects by aspect."""

    scale: Scale
    aspects: tuple[str, ...]
    items: int = 0
    unscored: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    accepts: dict[str, Counter[int]] = field(default_factory=dict)
    disagree: int = 0

    def add(self, judgments: Judgments) -> None:
        self.items += len(judgments.item_ids)
        lost = [reason for reason in judgments.unscored if reason is not None]
        self.unscored += len(lost)
        self.kinds.update(reason.partition(":")[0] for reason in lost)
        if len(self.reasons) < MOST_DISTINCT:
            self.reasons.update(lost)
        self.disagree += disagreements(judgments, self.scale)
        for aspect, accepts in zip(self.aspects, judgments.accept[judgments.scored].T, strict=True):
            outcomes, counts = np.unique(accepts, return_counts=True)
            found = dict(zip(outcomes.tolist(), counts.tolist(), strict=True))
            self.accepts.setdefault(aspect, Counter()).update(found)

    def known(self, aspect: str) -> bool:
        """False where items were scored and nobody knows which of them are accepted."""
        counts = self.accepts.get(aspect, Counter())
        return not counts or counts.keys() != {UNSCORED}

    def by_aspect(self, outcome: int) -> int | dict[str, int | None] | None:
        """How many scored items were accepted (1) or rejected (0), by aspect where there are several."""
        counts = {
            aspect: self.accepts.get(aspect, Counter())[outcome] if self.known(aspect) else None
            for aspect in self.aspects
        }
        return counts if len(counts) > 1 else counts[self.aspects[0]]


def _counts(
    request: Request, cards: list[ProgramCard], items: ItemStream, tally: _Tally, panel: Panel
) -> dict[str, object]:
    spent = panel.spent
    names = [{"program": card.name, "version": card.version} for card in cards]
    return {
        "judge": None if request.jurors else names[0],
        "jury": names if request.jurors else None,
        "samples": request.samples,
        "items": items.items,
        "rows": items.rows,
        "learned": int(items.learned.sum()),
        "unscored": tally.unscored,
        "unscored_reasons": dict(tally.kinds.most_common()),
        "accepted": tally.by_aspect(1),
        "rejected": tally.by_aspect(0),
        "accept_grade_disagree": tally.disagree,
        "lm_calls": spent.calls,
        "journaled": spent.journaled,
        "cost_usd": None if spent.unpriced else spent.usd,
        "out": str(request.out),
    }


def _asking_nothing(jury: Jury) -> list[str]:
    """Which judges ask no language model."""
    names = [juror.name for juror in jury.jurors if juror.interview is None]
    return [f"{', '.join(names)}: {EVIDENCE_ALONE}; no language model was asked"] if names else []


def _known(items: ItemStream) -> list[str]:
    """Of how many items the judge knows the query: it looks better on them than it is."""
    learned = int(items.learned.sum())
    known = f"{learned} of {items.items} items are of queries that the judge has learned from: learned is true there."
    return [known] if learned else []


def _raters(program: Program) -> tuple[str, ...]:
    """The raters' columns in the labels that the judge was compiled on; the same file may be judged."""
    source = program.report.get("source")
    names = source.get("annotators") if isinstance(source, dict) else None
    return tuple(map(str, names or ()))


def _lacking(cards: list[ProgramCard], items: ItemStream) -> list[str]:
    """What a judge was measured with and is not given here: its known agreement says little then."""
    lacks = sorted({name for card in cards for name in card.fields if name not in items.fields}) if items.items else []
    return [
        f"no item has {name}, which the judge was compiled with: its known agreement says little about them. "
        f"Give a column {name}, or rename one with --map COLUMN={name}."
        for name in lacks
    ]


def _unfrozen(jury: Jury) -> list[str]:
    """Which prompts could not be frozen."""
    prompts = {juror.name: juror.interview.form(0)[0] for juror in jury.jurors if juror.interview is not None}
    return [
        f"{name}: DSPy renders each prompt anew, which takes longer ({prompt.departure})."
        for name, prompt in prompts.items()
        if prompt.departure is not None
    ]


def _unproven(cards: list[ProgramCard]) -> list[str]:
    """Why judges were not promoted."""
    notes = []
    for card in (card for card in cards if not card.promoted):
        if card.reason.startswith("not shown"):
            notes.append("note: this version was not shown to be better than its baselines")
        else:
            notes.append(f"note: {card.name}@{card.version} was not promoted: {card.reason}")
    return list(dict.fromkeys(notes))


def _show(counts: dict[str, object], tally: _Tally, cards: list[ProgramCard]) -> None:
    shown = []
    for aspect in tally.aspects:
        outcomes = tally.accepts.get(aspect, Counter())
        name = f"{aspect}: " if len(tally.aspects) > 1 else ""
        known = outcomes[0] + outcomes[1] > 0
        said = f"{outcomes[1]} accepted, {outcomes[0]} rejected" if known else "no accept threshold"
        shown.append(f"{name}{said}")
    agreement, notes = counts["agreement"], counts["notes"]
    kappa = agreement["fleiss_kappa"] if isinstance(agreement, dict) else None
    say(
        f"{tally.items} items: {'; '.join(shown)}; {tally.unscored} unscored",
        *[f"unscored {count}: {reason}" for reason, count in tally.reasons.most_common(MOST_REASONS)],
        f"{counts['lm_calls']} LM calls, {counts['journaled']} from the journal",
        *([f"the verdicts among themselves: Fleiss' kappa {number(kappa)}"] if isinstance(kappa, float) else []),
        *[f"note: {note}" for note in (notes if isinstance(notes, list) else [])],
        *_unproven(cards),
    )
