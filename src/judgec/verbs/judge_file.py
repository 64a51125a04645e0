"""``judgec.judge_file``: judges the rows of a file into another file."""

import gc
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from judgec.compile.held_out import memory_of
from judgec.connect.tracking.store import tracking_store
from judgec.connect.tracking.traces import MLFLOW_PREFIX, save_traces
from judgec.errors import GateError, ServiceError, UserError
from judgec.labels.bulk.items import OpenItems, open_items
from judgec.labels.bulk.judged_file import Names, judged_file, kind_of, names_of
from judgec.labels.project import find_project
from judgec.labels.reading import read_datasheet
from judgec.lm.journal.journal import Journal
from judgec.lm.outlast import NOT_ASKED, Outlasted
from judgec.lm.usage import Account, Spent
from judgec.lm.watch import Watch
from judgec.raters.asking import SERVICE_ERROR
from judgec.raters.decision import HALF_WAY, disagreements
from judgec.raters.piece import pieces_of
from judgec.raters.programs import Program
from judgec.raters.registry import WORDING
from judgec.records.card import EVIDENCE_ALONE, ProgramCard
from judgec.records.conversation import usual_turn
from judgec.records.counts import plural
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import InputCounts
from judgec.records.scale import Scale
from judgec.records.tasks.grade import borrowed_meanings
from judgec.records.tasks.registry import TASKS
from judgec.records.tasks.spec import MODE_PREFIX, PREFIXES
from judgec.report.numbers import number, percent
from judgec.report.report import Report
from judgec.table.rows.columns import JUDGED_BY, label_columns
from judgec.table.shards.place import as_shown, is_remote
from judgec.verbs.frames import frame_part
from judgec.verbs.opened import RAY, OpenJudge, VerdictCount, abstaining, open_judges, open_session
from judgec.verbs.options.judge import JudgeFileOptions
from judgec.verbs.spending import account_for
from judgec.verbs.typed import command, maps_typed, scale_typed
from judgec.verbs.validity import OR_WITHOUT, marks_of, missing_inputs, require_inputs, unproven, validity_notes
from judgec.verbs.verb import verb
from judgec.verbs.whom import GivenJudge, as_asked
from judgec.verbs.workspace import Workspace
from judgec.verbs.zero_shot import FEW, is_zero_shot, zero_shot_of_file
from judgec.verbs.zero_shot import NAME as ZERO_SHOT

if TYPE_CHECKING:
    import pandas as pd

MOST_DISTINCT = 1000  # reasons that are counted word by word; beyond that a long run only counts their kinds


@dataclass(frozen=True)
class FileJudgments:
    """A judged file.

    Args:
        options: How it was judged.
        cards: Of the judges.
        items: What was read.
        names: Of the columns that were added.
        tally: How many were accepted, rejected, unscored.
        report: What ``judge --json`` prints.
        in_folds: The judge was tested in folds, and its home has what it said of its labels then.
        account: What may still be spent of the caps.
        lost: Why the service was lost in mid-run, or None; the rows that it left out say so.
    """

    options: JudgeFileOptions
    cards: tuple[ProgramCard, ...]
    items: OpenItems
    names: Names
    tally: "Tally"
    report: Mapping[str, object]
    in_folds: bool
    account: Account = field(repr=False, compare=False)
    lost: ServiceError | None = None

    @property
    def path(self) -> Path:
        """The file that was written."""
        return self.options.out

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges: ``NAME@VERSION``."""
        return tuple(f"{card.name}@{card.version}" for card in self.cards)

    @property
    def unscored(self) -> int:
        """Items without a judgment; their rows say why."""
        return self.tally.unscored

    @property
    def verdict(self) -> str:
        """Sentence on how many items were accepted, rejected and unscored."""
        said = "; ".join(self.tally.sentences())
        return f"{plural(self.tally.items, 'item')}: {said}; {self.tally.unscored} unscored"

    @property
    def table(self) -> "pd.DataFrame":
        """Aspects by accepted and rejected; missing where the scale has no accept threshold."""
        import pandas as pd

        columns = {"accepted": self.tally.counts(1), "rejected": self.tally.counts(0)}
        return pd.DataFrame(columns, index=list(self.tally.aspects), dtype="Int64")

    def frame(self) -> "pd.DataFrame":
        """The rows that were written."""
        from judgec.verbs.frames import as_frame

        return as_frame(self.path)

    def require_some(self) -> None:
        """Say that items could not be judged; their rows with the reasons are written all the same.

        Raises:
            ServiceError: When the service was lost, or no item could be judged.
            GateError: When a larger share failed than ``--max-unscored`` allows.
        """
        if self.lost is not None:
            asked = self.tally.items - self.tally.not_asked
            raise ServiceError(
                f"{self.lost} {self.path} has the {self.tally.judged} of {asked} items that were judged by then; "
                "the same command goes on from there."
            )
        if self.tally.items and not self.tally.judged:
            raise ServiceError(
                f"{self.path}: none of {self.tally.items} items could be judged; the reasons are in the rows. "
                "Run judgec doctor --lm MODEL."
            )
        self.tally.require_scored(self.options.max_unscored, str(self.path))

    def __repr__(self) -> str:
        return f"<FileJudgments {self.path} by {', '.join(self.judges)}: {self.verdict}>"

    def _repr_html_(self) -> str:
        return frame_part(f"{self.path}: {', '.join(self.judges)}: {self.verdict}", self.table)


@verb(JudgeFileOptions)
def judge_file(options: JudgeFileOptions, watch: Watch) -> FileJudgments:
    """Judge a file: the rows of it in their order, each with its judgment.

    Every finished call is journaled: after a break the same call goes on where it stopped.

    Raises:
        UserError: An option out of range, no such judge, jurors of different tasks.
        InputError: Faulty items, before anything is paid for.
        BudgetError: A call does not fit the caps; what is finished is journaled, nothing is written.
        ServiceError: A model cannot be reached; or it was lost in mid-run, or no item could be judged: then the file
            is written, and its rows say why.
        GateError: A larger share failed than ``max_unscored`` allows; the file is written.

    Example:
        >>> done = judgec.judge_file("trainsets/sensors/labels.jsonl", judge="sensors@latest", out="judged.jsonl")
        >>> len(done.frame()) == done.report["rows"]
        True
    """
    found = judged(options, watch)
    found.require_some()
    return found


def judged(options: JudgeFileOptions, watch: Watch) -> FileJudgments:
    """As ``judge_file``, for callers that have something to say before no item could be judged is an error."""
    if is_remote(as_shown(options.file)) or (options.engine == RAY and Path(options.file).is_dir()):
        raise UserError(f"judge_file: {as_shown(options.file)}: shards; judgec.judge_shards judges them. Call it.")
    loaded = judges_of(options)
    _check_out(options)
    return judged_by(loaded, options, watch)


def require_judge_or_jury(options: JudgeFileOptions) -> None:
    """Refuse neither and both.

    Raises:
        UserError: Which of the two it is.
    """
    needed = "judgec judge: one of --judge NAME and --jury A,B,... is needed"
    if options.judge and options.jury:
        raise UserError(f"{needed}, not both. Drop --judge {options.judge} or --jury {','.join(options.jury)}.")
    if not options.judge and not options.jury:
        raise UserError(
            f"{needed}, and none is given. Give one, or run judgec init LABELS, whose judgec.toml names the judge."
        )


def judges_of(options: JudgeFileOptions) -> list[Program]:
    """The judges that were asked for.

    Raises:
        UserError: None, no such judge, jurors of different tasks.
    """
    require_judge_or_jury(options)
    workspace = Workspace(options.home)
    asked = (str(options.file), options.columns or {}, options.lm, options.api_base)
    loaded = [
        zero_shot_of_file(name, *asked) if is_zero_shot(name, options.home) else workspace.load(name)
        for name in (options.jury or (options.judge or "",))
    ]
    _check_jurors([program.card for program in loaded])
    return loaded


def judged_by(
    loaded: Sequence[Program],
    options: JudgeFileOptions,
    watch: Watch,
    *,
    account: Account | None = None,
    journal: Journal | None = None,
) -> FileJudgments:
    """Judge a file with judges that are loaded already.

    Args:
        loaded: The judges.
        options: What is judged, and where the rows go.
        watch: Told how far it is.
        account: In place of one with the caps of the options.
        journal: In place of the home's; it is closed in the end.
    """
    workspace, file = Workspace(options.home), _file(options, watch)
    account = account or account_for(options, count_journaled=False)
    cards = tuple(program.card for program in loaded)
    judges = [as_asked(program, options) for program in loaded]
    watch.stage("judge", "; ".join(f"{one.name}, {one.asked_at}" for one in judges))
    items = open_items(
        file,
        task=cards[0].task,
        rename=options.columns,
        memories=[memory_of(program) for program in loaded],
        raters=_raters(loaded[0]),
        turn=options.turn,
        usual=usual_turn(cards[0].fields),
    )
    details = TASKS[cards[0].task].details if cards[0].task in TASKS else ()
    marks = marks_of(cards, options.without)
    given = InputCounts.of(items.items)
    require_inputs(cards, given, advice=OR_WITHOUT, without=options.without)
    more = (*details, *marks)
    names = names_of(options.out, items, items.rename, cards[0].aspects, inputs=options.inputs, details=more)
    watch.stage("items", f"{given.items} of {file}")
    outlasted = None if options.batch else Outlasted()
    tally = Tally(cards[0].scale, cards[0].aspects, inputs=given)
    certain = abstaining(cards, options.abstain_below)
    with ExitStack() as opened:
        session = opened.enter_context(open_session(options, workspace, watch, account=account, journal=journal))
        count = VerdictCount(session, watch.progress)
        jury = open_judges(
            judges,
            given.items,
            options,
            session,
            count,
            file,
            items.rename,
            workers=options.workers,
            outlasted=outlasted,
        )
        gc.freeze()  # half a million objects that stay: the collector need not look at them again and again
        opened.callback(gc.unfreeze)
        lacking = jury.lacking([item.item_id for item in items.items])
        for sentence in lacking:
            watch.stage("verdicts", sentence)
        same = {JUDGED_BY: ", ".join(f"{card.name}@{card.version}" for card in cards), **marks}
        out, cut = opened.enter_context(
            judged_file(options.out, items, names, cards[0].scale, same=same, inputs=options.inputs)
        )
        try:
            for judgments in jury.judge(pieces_of(items.items)):
                final = certain(judgments)
                if options.without:  # which was measured of items that have these
                    final = replace(final, confidence=np.full_like(final.confidence, np.nan))
                out.add(final)
                tally.add(final)
                tally.judged += int(judgments.scored.sum())
        except KeyboardInterrupt as stopped:
            stopped.add_note(f"{count.done} of {count.total} verdicts are journaled; the same command goes on.")
            raise
    notes = [*items.notes, *lacking, *cut, *_known(items), *_asking_nothing(judges), *_unfrozen(jury)]
    notes += validity_notes(cards, given)
    own = [card for card in cards if card.name == ZERO_SHOT and WORDING not in card.settings]
    notes += dict.fromkeys(note for card in own for note in borrowed_meanings(card.task, card.scale))
    if tally.escalated is not None:
        notes.append(f"cascade: the strong judge was needed on {tally.escalated:,} of {tally.items:,} items")
    if tally.no_claims:
        notes.append(f"{plural(tally.no_claims, 'item')}: the lines of claims could not be read; claims is null there")
    notes += [f"{count.half_way} verdicts of {HALF_WAY}"] if count.half_way else []
    report = _counts(options, cards, items, tally, session.spent) | {
        "between_grades": count.half_way,
        "evidence_alone": not any(one.asks_lm for one in judges),
        "columns": names.to_json(),
        "missing_inputs": missing_inputs(cards, given),
        "unproven": unproven(cards),
        "notes": notes,
        "agreement": jury.agreement(),
    }
    in_folds = len(loaded) == 1 and "folds" in loaded[0].split
    lost = None if outlasted is None else outlasted.lost
    return FileJudgments(options, cards, items, names, tally, report, in_folds, account, lost)


def _file(options: JudgeFileOptions, watch: Watch) -> str:
    """The file to judge; traces of MLflow are written to one first, which the rows and messages then name."""
    file = str(options.file)
    if not file.startswith(MLFLOW_PREFIX):
        return file
    experiment = file.removeprefix(MLFLOW_PREFIX)
    store = tracking_store(options.home, options.tracking_uri, os.environ)
    watch.stage("traces", f"{experiment} in {store.shown}")
    kept = options.home / ".judgec" / "traces" / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', experiment)}.jsonl"
    save_traces(store, experiment, kept, os.environ)
    return str(kept)


def _check_jurors(cards: Sequence[ProgramCard]) -> None:
    if tasks := sorted({card.task for card in cards[1:]} - {cards[0].task}):
        raise UserError(f"--jury: tasks {cards[0].task}, {', '.join(tasks)}; judges of one task are valid.")
    names = Counter(f"{card.name}@{card.version}" for card in cards)
    if twice := [name for name, count in names.items() if count > 1]:
        raise UserError(
            f"--jury: {', '.join(twice)} more than once, which would agree with itself; different judges are valid. "
            "Name each once; --samples asks one judge several times."
        )


def _check_out(options: JudgeFileOptions) -> None:
    out = options.out
    if out.is_file() or not out.exists():
        kind_of(out)
    if not out.parent.is_dir():
        raise UserError(f"--out {out}: no such folder {out.parent}; create it, or name another.")
    if out.exists() and not out.is_file():
        raise UserError(f"--out {out}: not a file that can be replaced; the path of a file is valid. Name one.")
    if out.exists() and Path(options.file).exists() and out.samefile(options.file):
        raise UserError(f"--out {out}: the file to judge; its judgments would replace it. Name another.")


@dataclass(slots=True)
class Tally:
    """Counts over all pieces; accepts and rejects by aspect.

    Args:
        scale: The judge's.
        aspects: What is graded.
        items: How many there were.
        judged: Those that a judge graded, whether or not it was sure enough.
        unscored: Those without a judgment in the end.
        kinds: Of the reasons for that.
        reasons: The same word by word.
        accepts: By aspect, how many items have each outcome.
        not_asked: Those of these that nobody was asked about, since the service was lost.
        escalated: Items on which a cascade asked its strong judge; None where no cascade judged.
        disagree: Items whose grade and accept disagree.
        no_claims: Judged items of which no claim is known, since the model's lines could not be read.
        inputs: What the items have.
    """

    scale: Scale
    aspects: tuple[str, ...]
    items: int = 0
    judged: int = 0
    unscored: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    accepts: dict[str, Counter[int]] = field(default_factory=dict)
    disagree: int = 0
    escalated: int | None = None
    not_asked: int = 0
    no_claims: int = 0

    @property
    def failed(self) -> int:
        """Items that a judge was asked about and did not grade; not those that it graded without being sure enough."""
        return self.items - self.judged - self.not_asked

    inputs: InputCounts = field(default_factory=InputCounts)

    def add(self, judgments: Judgments) -> None:
        """Count a piece."""
        self.items += len(judgments.item_ids)
        lost = [reason for reason in judgments.unscored if reason is not None]
        self.unscored += len(lost)
        self.not_asked += sum(reason.startswith(f"{SERVICE_ERROR}: {NOT_ASKED}") for reason in lost)
        self.kinds.update(reason.partition(":")[0] for reason in lost)
        if len(self.reasons) < MOST_DISTINCT:
            self.reasons.update(lost)
        if judgments.escalated is not None:
            self.escalated = (self.escalated or 0) + int(judgments.escalated.sum())
        self.disagree += disagreements(judgments, self.scale)
        details = zip(judgments.details or (), judgments.scored, strict=False)
        self.no_claims += sum(bool(scored) and found.get("claims", ()) is None for found, scored in details)
        for aspect, accepts in zip(self.aspects, judgments.accept[judgments.scored].T, strict=True):
            outcomes, counts = np.unique(accepts, return_counts=True)
            found = dict(zip(outcomes.tolist(), counts.tolist(), strict=True))
            self.accepts.setdefault(aspect, Counter()).update(found)

    def require_scored(self, allowed: float | None, where: str) -> None:
        """Refuse too many failures.

        Args:
            allowed: The share of what was asked that may fail, or None.
            where: The rows with the reasons.

        Raises:
            GateError: More did.
        """
        asked = self.items - self.not_asked
        if allowed is not None and self.failed > allowed * asked:
            raise GateError(
                f"--max-unscored {allowed:g}: {self.failed} of {plural(asked, 'item')} that were asked about failed "
                f"({percent(self.failed / asked, 1)}); the reasons are in the rows of {where}. Run it again, or allow "
                "more."
            )

    def merge(self, other: "Tally") -> None:
        """Count what another has counted."""
        self.items += other.items
        self.judged += other.judged
        self.unscored += other.unscored
        self.kinds.update(other.kinds)
        if len(self.reasons) < MOST_DISTINCT:
            self.reasons.update(other.reasons)
        self.disagree += other.disagree
        self.inputs.merge(other.inputs)
        self.not_asked += other.not_asked
        self.no_claims += other.no_claims
        if other.escalated is not None:
            self.escalated = (self.escalated or 0) + other.escalated
        for aspect, outcomes in other.accepts.items():
            self.accepts.setdefault(aspect, Counter()).update(outcomes)

    def to_json(self) -> dict[str, object]:
        """The counts as JSON."""
        counted = ("items", "judged", "unscored", "kinds", "reasons", "disagree", "escalated", "not_asked", "no_claims")
        outcomes = {aspect: {str(one): n for one, n in counts.items()} for aspect, counts in self.accepts.items()}
        inputs = {"items": self.inputs.items, "given": dict(self.inputs.given)}
        return {name: getattr(self, name) for name in counted} | {"accepts": outcomes, "inputs": inputs}

    @classmethod
    def from_json(cls, scale: Scale, aspects: tuple[str, ...], state: Mapping[str, Any]) -> "Tally":
        """Reads what ``to_json`` gave."""
        accepts = {name: Counter({int(one): n for one, n in each.items()}) for name, each in state["accepts"].items()}
        kinds, reasons = Counter(state["kinds"]), Counter(state["reasons"])
        counts = {name: state[name] for name in ("items", "judged", "unscored", "disagree", "escalated")}
        counts |= {name: state.get(name, 0) for name in ("not_asked", "no_claims")}  # of shards of an earlier version
        known = state.get("inputs", {"items": 0, "given": {}})  # shards that were judged before it was counted lack it
        inputs = InputCounts(known["items"], Counter(known["given"]))
        return cls(scale, aspects, kinds=kinds, reasons=reasons, accepts=accepts, inputs=inputs, **counts)

    def known(self, aspect: str) -> bool:
        """False where items were scored and nobody knows which of them are accepted."""
        counts = self.accepts.get(aspect, Counter())
        return not counts or counts.keys() != {UNSCORED}

    def counts(self, outcome: int) -> dict[str, int | None]:
        """Number of scored items that were accepted (1) or rejected (0); None where nobody knows."""
        return {
            aspect: self.accepts.get(aspect, Counter())[outcome] if self.known(aspect) else None
            for aspect in self.aspects
        }

    def sentences(self) -> list[str]:
        """Each aspect's counts in words."""
        said = []
        for aspect in self.aspects:
            outcomes = self.accepts.get(aspect, Counter())
            name = f"{aspect}: " if len(self.aspects) > 1 else ""
            known = outcomes[0] + outcomes[1] > 0
            counts = f"{outcomes[1]} accepted, {outcomes[0]} rejected" if known else "no accept threshold"
            said.append(f"{name}{counts}")
        return said

    def by_aspect(self, outcome: int) -> int | dict[str, int | None] | None:
        """The same as a number, or by aspect where there are several."""
        counts = self.counts(outcome)
        return counts if len(counts) > 1 else counts[self.aspects[0]]


def _counts(
    options: JudgeFileOptions, cards: Sequence[ProgramCard], items: OpenItems, tally: Tally, spent: Spent
) -> dict[str, object]:
    names = [{"program": card.name, "version": card.version} for card in cards]
    return {
        "judge": None if options.jury else names[0],
        "jury": names if options.jury else None,
        "samples": options.samples,
        "items": len(items.items),
        "rows": items.rows,
        "learned": int(items.learned.sum()),
        "unscored": tally.unscored,
        "unscored_reasons": dict(tally.kinds.most_common()),
        "accepted": tally.by_aspect(1),
        "rejected": tally.by_aspect(0),
        "accept_grade_disagree": tally.disagree,
        **({} if tally.escalated is None else {"escalated": tally.escalated}),
        **spent.to_json(),
        "out": str(options.out),
    }


def _asking_nothing(judges: Sequence[GivenJudge]) -> list[str]:
    """Sentences on judges that ask no language model."""
    names = [one.name for one in judges if not one.asks_lm]
    return [f"{', '.join(names)}: {EVIDENCE_ALONE}; no language model was asked"] if names else []


def _known(items: OpenItems) -> list[str]:
    """Of how many items the judge knows the query: it looks better on them than it is."""
    learned = int(items.learned.sum())
    known = (
        f"{learned} of {len(items.items)} items are of queries that the judge has learned from: learned is true there."
    )
    return [known] if learned else []


def _raters(program: Program) -> tuple[str, ...]:
    """The annotators' columns in the labels that the judge was compiled on; the same file may be judged."""
    source = program.report.get("source")
    names = source.get("annotators") if isinstance(source, dict) else None
    return tuple(map(str, names or ()))


def _unfrozen(jury: OpenJudge) -> list[str]:
    """Sentences on prompts that could not be frozen."""
    return [
        f"{name}: DSPy renders each prompt anew, which takes longer ({prompt.departure})."
        for name, prompt in jury.prompts
        if prompt.departure is not None
    ]


MOST_REASONS = 5  # for missing judgments; the rows have them all


def judged_report(found: FileJudgments) -> Report:
    """Counts, notes and the next command."""
    agreement = found.report["agreement"]
    kappa = agreement["fleiss_kappa"] if isinstance(agreement, dict) else None
    among = [f"the verdicts among themselves: Fleiss' kappa {number(kappa)}"] if isinstance(kappa, float) else []
    return Report(
        data=found.report,
        verdict=[found.verdict],
        lines=[*asked_lines(found.report, found.tally), *among, f"written: {found.path}"],
        notes=notes_of(found.report),
        next=next_step(found),
    )


def asked_lines(report: Mapping[str, object], tally: Tally) -> list[str]:
    """Sentences on how many were left unscored and why, and what was asked."""
    return [
        *(f"unscored {count}: {reason}" for reason, count in tally.reasons.most_common(MOST_REASONS)),
        f"{report['lm_calls']} LM calls, {report['journaled']} from the journal",
    ]


def notes_of(report: Mapping[str, object]) -> list[str]:
    """The notes of a report."""
    notes = report["notes"]
    return notes if isinstance(notes, list) else []


def next_step(found: FileJudgments) -> list[str]:
    """Commands that measure the judge on the labels in the file; where it has none, a sheet to grade on."""
    options, items, labelled = found.options, found.items, found.items.labelled
    if options.inputs and (pair := _measured(found)):
        expert, judge = pair
        label = {one: bool(label_columns([options.columns.get(one, one)], found.cards[0].task)) for one in labelled}
        people = [one for one in labelled if not label[one] and "," not in one]
        maps = maps_typed(str(options.file), {expert: ours} if (ours := options.columns.get(expert)) else {})
        declared = read_datasheet(str(options.file)).annotators
        named = ",".join(declared if label[expert] else people or [expert])
        whose = [*(maps if label[expert] else ()), *(["--annotators", named] if named else ())]
        scale, task, told = found.cards[0].scale, TASKS[found.cards[0].task], find_project(str(options.out))
        own = label[expert] and expert not in options.columns and scale.grades == task.scale.grades
        known = own or task.settled or read_datasheet(str(options.out)).scale is not None
        known = known or (told is not None and told.applies_to(str(options.out)) and told.scale is not None)
        whose += [] if known else scale_typed(scale)
        typed = ["agreement", str(options.out), *whose, "--judges", judge, *_cluster(found)]
        return [command(*typed, home=options.home if found.in_folds else Path())]
    if items.labelled or items.learned.all():
        return []
    maps = maps_typed(str(options.file), options.columns)
    if options.judge is not None and not found.cards[0].version:  # nobody compiled it: there is no scale to look up
        at = [] if options.api_base is None else ["--api-base", options.api_base]
        asked = ["--judge", options.judge, "--lm", str(options.lm), *at]
        return [command("labels", "next", str(options.file), str(FEW), *maps, *asked, home=options.home)]
    sheets = (options.out.with_name(f"{options.out.stem}.to-grade{n or ''}.csv") for n in count())
    sheet = next(path for path in sheets if not path.exists())
    typed = ["labels", "export", str(options.file), str(sheet), *maps, "--judge", found.judges[0]]
    return [command(*typed, home=options.home)]


def _measured(found: FileJudgments) -> tuple[str, str] | None:
    """An expert's column, and what ``--judges`` calls the judge beside it."""
    added, modes = found.names.added, len(found.cards[0].aspects) > 1
    for expert in found.items.labelled:
        ours = found.options.columns.get(expert, expert)
        aspect = ours.partition(".")[2] if ours.startswith(PREFIXES) else ""
        names = ("accept",) if ours == "accept" else (f"grade.{aspect}", "grade") if aspect else ("grade",)
        if ours.startswith(MODE_PREFIX) and modes:
            names = ("grades", f"grade.{aspect}")
        if (column := next((added[name] for name in names if name in added), None)) is not None:
            return expert, column.removesuffix(f".{aspect}") if aspect else column
    return None


def _cluster(found: FileJudgments) -> list[str]:
    """Answers to one query are not independent."""
    rename = found.options.columns
    theirs = {rename.get(name, name): name for name in found.items.table.columns}
    column = theirs.get("query_id", theirs.get("query"))
    return [] if column is None else ["--cluster", column]
