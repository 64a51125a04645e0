"""Chooses the unlabelled items that are worth a label next, and writes them as a sheet to fill in."""

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from judgec.errors import InputError, UserError
from judgec.labels.reading import NAME as DATASHEET
from judgec.labels.rows.conversations import with_turns
from judgec.labels.rows.items import collect_items
from judgec.labels.rows.modes import with_modes
from judgec.labels.rows.raters import columns_of, rejoined
from judgec.labels.split.draw import trainable
from judgec.labels.split.family import locked_family, read_family, write_family, write_whole
from judgec.labels.split.memory import read_memory
from judgec.labels.split.queries import queries_of
from judgec.lm.watch import Watch
from judgec.records.card import ProgramCard
from judgec.records.conversation import TurnChoice, usual_turn
from judgec.records.counts import plural
from judgec.records.judgment import Judgments
from judgec.records.label import FloatArray, Item, LabelSet, Task
from judgec.records.scale import ACCEPT_SCALE, Scale
from judgec.records.tasks.preference import PREFERENCE_SCALE
from judgec.records.tasks.registry import TASKS
from judgec.records.tasks.spec import PREFIXES
from judgec.report.report import Report
from judgec.table.formulas import guarded
from judgec.table.rows.cells import as_grade, is_missing
from judgec.table.rows.columns import RANDOM, STRATUM, UNCERTAIN, renamed, require_columns
from judgec.table.table import Table
from judgec.table.tables import read_table
from judgec.verbs.given_judge import given_judge
from judgec.verbs.opened import asked_by
from judgec.verbs.options.labels import NextOptions
from judgec.verbs.options.option import carried_over
from judgec.verbs.options.systems import SystemsOptions
from judgec.verbs.spending import account_for, session_for
from judgec.verbs.system_rows import read_systems
from judgec.verbs.typed import command, labels_typed
from judgec.verbs.validity import require_inputs
from judgec.verbs.whom import GivenJudge, as_loaded
from judgec.verbs.zero_shot import is_zero_shot, zero_shot_of_file

RANDOM_SHARE = 0.5  # of a batch: enough to estimate from, without which a sample of hard items says nothing


@dataclass(frozen=True, slots=True)
class Pick:
    """An item to be graded.

    Args:
        item: The item.
        stratum: ``uncertain`` or ``random``.
        probability: With which the item got into its stratum: 1 for the uncertain ones, which are no sample.
    """

    item: Item
    stratum: str
    probability: float


def uncertainty(judgments: Judgments, scale: Scale) -> FloatArray:
    """Uncertainty of the judge on each item, 0-1, shape (n_items,); the mean over aspects.

    The variance of the score under the judge's distribution, as a share of the largest there can be; on a nominal
    scale the entropy. An item that the judge could not grade at all is as uncertain as can be.
    """
    p = judgments.probabilities
    if scale.level == "nominal":
        logs = np.log(np.where(p > 0, p, 1.0))
        unsure = -(p * logs).sum(axis=2) / np.log(p.shape[2])
    else:
        values = np.array(scale.values)
        mean = p @ values
        unsure = (p @ values**2 - mean**2) / ((values[-1] - values[0]) ** 2 / 4)
    return np.asarray(np.nan_to_num(unsure, nan=1.0).mean(axis=1))


def said_doubt(judgments: Judgments, uncertain: FloatArray) -> FloatArray:
    """The same of a judge without calibration: what a model is sure of by a bare grade is doubted as it says itself.

    Args:
        judgments: Of which the confidence that was stated counts where one grade has all the probability.
        uncertain: From ``uncertainty``.
    """
    bare = uncertain <= 0
    stated = np.full(len(uncertain), np.nan) if judgments.stated is None else judgments.stated
    return np.where(bare, np.nan_to_num(1 - stated, nan=0.0), uncertain)


def next_labels(
    items: Sequence[Item], uncertain: FloatArray, n: int, *, trainable: Sequence[int], seed: int = 0
) -> tuple[Pick, ...]:
    """Choose ``n`` items, in the order of ``items``; all of them where there are no more.

    The random half comes first: a query at random, then one of its items (when there are fewer queries than draws,
    items at random), each with its known probability, so that weighting by 1 / probability estimates anything about
    the unlabelled items without bias. The uncertain ones are the least sure of the rest, one a query before a second
    of any, and only from queries whose split is train: items chosen for being hard must never become test items, or
    every later judge would look worse than it is. Where train has fewer than ``n`` items left, all are random.

    Args:
        items: Unlabelled ones.
        uncertain: From ``uncertainty``, shape (n_items,).
        n: How many.
        trainable: Positions of the items whose query is of train.
        seed: Of the random half.
    """
    n = min(n, len(items))
    n_random = n if len(trainable) < n else round(RANDOM_SHARE * n)  # so the draws never use train up
    drawn = _random(items, n_random, np.random.default_rng(seed))
    rest = [i for i in trainable if i not in drawn]
    hard = _spread(items, sorted(rest, key=lambda i: (-uncertain[i], i)), n - len(drawn))
    picks = {i: Pick(items[i], RANDOM, probability) for i, probability in drawn.items()}
    picks |= {i: Pick(items[i], UNCERTAIN, 1.0) for i in hard}
    return tuple(picks[i] for i in sorted(picks))


def _random(items: Sequence[Item], n: int, rng: np.random.Generator) -> dict[int, float]:
    """Rows drawn at random with the probability of each."""
    queries: dict[str, list[int]] = {}
    for i, item in enumerate(items):
        queries.setdefault(item.query_id, []).append(i)
    if n > len(queries):
        return {int(i): n / len(items) for i in rng.choice(len(items), n, replace=False)}
    names = sorted(queries)
    chosen = [queries[names[k]] for k in rng.choice(len(names), n, replace=False)]
    return {int(rng.choice(rows)): n / len(names) / len(rows) for rows in chosen}


def _spread(items: Sequence[Item], ranked: Sequence[int], n: int) -> list[int]:
    """The first ``n`` of ``ranked``, taking one a query before a second of any."""
    rounds: dict[int, list[int]] = {}
    seen: dict[str, int] = {}
    for i in ranked:
        query = items[i].query_id
        seen[query] = seen.get(query, -1) + 1
        rounds.setdefault(seen[query], []).append(i)
    return [i for turn in sorted(rounds) for i in rounds[turn]][:n]


@dataclass(frozen=True, slots=True)
class Unlabelled:
    """Items to choose from.

    Args:
        items: Those without a label, in file order.
        labelled: How many items have one.
    """

    items: tuple[Item, ...]
    labelled: int


def read_unlabelled(
    path: str,
    *,
    task: Task,
    rename: Mapping[str, str] | None = None,
    annotators: Sequence[str] = (),
    turn: TurnChoice | None = None,
    usual: TurnChoice | None = None,
) -> Unlabelled:
    """Read a file that may hold items with and without labels; any annotator's label counts.

    Args:
        path: Any file that ``read_table`` reads; it may have no label column at all.
        task: What the labels are of.
        rename: Our column names by theirs.
        annotators: Columns that hold one annotator's labels each.
        turn: What of a conversation is judged; as ``with_turns``.
        usual: As ``with_turns``.

    Raises:
        InputError: A missing column, an item_id with different inputs, what ``read_table`` raises.
    """
    table = with_modes(with_turns(renamed(read_table(path), rename or {}), turn, usual), task)
    require_columns(table, task, labelled=False)
    collected = collect_items(table, task)
    if collected.faults:
        raise InputError([sentence for _, sentence in collected.faults])
    columns = _label_columns(table, task, annotators)
    labelled = {
        item
        for row, item in zip(table.rows, collected.item_of, strict=True)
        if any(as_grade(row.get(column)) is not None for column in columns)
    }
    items = tuple(item for i, item in enumerate(collected.items) if i not in labelled)
    return Unlabelled(items, len(labelled))


def _label_columns(table: Table, task: Task, annotators: Sequence[str]) -> list[str]:
    own = [
        column
        for name in rejoined(annotators, table.columns)
        for column, field in columns_of(name, table.columns).items()
        if field != "rationale"
    ]
    return [*own, *(name for name in table.columns if name.startswith(PREFIXES)), *TASKS[task].labels]


@dataclass(frozen=True)
class ChosenItems:
    """Items to label next; they are in ``out``.

    Args:
        card: Of the judge whose doubts decided.
        picks: The items, with why and how likely each was chosen.
        out: The sheet.
        datasheet: What its labels mean, beside it.
        unlabelled: Items to choose from.
        labelled: Items of the file that have a label.
        calls: LM calls that were made.
    """

    card: ProgramCard
    picks: tuple[Pick, ...]
    out: Path
    datasheet: Path
    unlabelled: int
    labelled: int
    calls: int

    @property
    def strata(self) -> Mapping[str, int]:
        """Number of items that were drawn at random, and of those that the judge is unsure of."""
        return Counter(pick.stratum for pick in self.picks)

    @property
    def columns(self) -> list[str]:
        """Columns that the experts fill in."""
        return label_columns(self.card)

    def to_json(self) -> dict[str, object]:
        """The JSON that ``labels next --json`` prints."""
        return {
            "out": str(self.out),
            "datasheet": str(self.datasheet),
            "judge": {"program": self.card.name, "version": self.card.version},
            "unlabelled": self.unlabelled,
            "labelled": self.labelled,
            "picked": len(self.picks),
            "strata": dict(self.strata),
            "item_ids": [pick.item.item_id for pick in self.picks],
            "lm_calls": self.calls,
        }


@dataclass(frozen=True)
class ChosenQueries:
    """Rows to label next so that systems are told apart; they are in ``out``.

    Args:
        labels: What is graded, and on which scale.
        systems: Those that are not told apart.
        picks: The rows.
        out: The sheet.
        datasheet: What its labels mean, and how it was drawn, beside it.
        unlabelled: Rows of these systems to choose from.
    """

    labels: LabelSet
    systems: tuple[str, ...]
    picks: tuple[Pick, ...]
    out: Path
    datasheet: Path
    unlabelled: int

    @property
    def queries(self) -> int:
        """Queries that were drawn."""
        return len({pick.item.query_id for pick in self.picks})

    def to_json(self) -> dict[str, object]:
        """The JSON that ``labels next --for systems --json`` prints."""
        return {
            "out": str(self.out),
            "datasheet": str(self.datasheet),
            "systems": list(self.systems),
            "unlabelled": self.unlabelled,
            "picked": len(self.picks),
            "queries": self.queries,
            "item_ids": [pick.item.item_id for pick in self.picks],
        }


def whole_queries(items: Sequence[Item], n: int, *, seed: int = 0) -> tuple[Pick, ...]:
    """Draws queries at random, with all of their items, until there are ``n`` items; one query at least.

    Args:
        items: Unlabelled ones.
        n: Most items, where a query has no more.
        seed: Of the draw.
    """
    queries: dict[str, list[Item]] = {}
    for item in items:
        queries.setdefault(item.query_id, []).append(item)
    names = sorted(queries)
    drawn: list[str] = []
    for place in np.random.default_rng(seed).permutation(len(names)).tolist():
        if drawn and sum(len(queries[name]) for name in (*drawn, names[place])) > n:
            break
        drawn.append(names[place])
    kept = set(drawn)
    share = len(kept) / max(len(names), 1)
    return tuple(Pick(item, RANDOM, share) for item in items if item.query_id in kept)


def choose_for_systems(options: NextOptions, watch: Watch) -> ChosenQueries:
    """Compare the systems of a table, draw queries of those that are not told apart, and write the sheet.

    Raises:
        UserError: Every system is told apart from every other, or all rows of the others have labels; as
            ``read_systems``.
    """
    if options.judge is not None:
        raise UserError(f"--for systems draws at random: --judge {options.judge} has nothing to choose. Drop one.")
    read = read_systems(carried_over(SystemsOptions, options), watch)
    labels, out = read.labels, options.out
    if (scale := labels.scale).interval:  # whose grades are what somebody gave
        ends = scale.listed or (scale.grades[0], scale.grades[-1])
        labels = replace(labels, scale=scale.model_copy(update={"grades": ends, "listed": ()}))
    _require_room(out, labels)
    systems = read.compared().undecided
    if not systems:
        raise UserError(
            f"{options.file}: every system is told apart from every other, so that more labels decide nothing; systems "
            "that are not told apart are needed. Run judgec systems FILE."
        )
    items = [item for item, answered in read.unlabelled if {*answered} <= {*systems}]
    if not items:
        raise UserError(
            f"{options.file}: all rows of {', '.join(systems)} have labels; unlabelled ones are needed. Add some."
        )
    picks = whole_queries(items, options.next, seed=options.seed)
    write_whole(out, sheet(picks, labels, blind=True))
    drawn = {"draw": f"whole queries at random, of {', '.join(systems)}", "seed": str(options.seed)}
    beside = out.with_name(f"{out.stem}.{DATASHEET}")
    write_whole(beside, datasheet(labels, drawn))
    return ChosenQueries(labels, systems, picks, out, beside, len(items))


def _require_room(out: Path, form: ProgramCard | LabelSet) -> None:
    """Refuse a sheet that cannot be written, or that holds labels.

    Raises:
        UserError: It is so.
    """
    if not out.parent.is_dir():
        raise UserError(f"--out {out}: no such folder {out.parent}; create it, or name another.")
    filled = label_columns(form)
    if out.exists() and any(not is_missing(row.get(name)) for row in read_table(str(out)).rows for name in filled):
        raise UserError(f"--out {out}: it holds labels, which would be lost. Move it, or name another.")


def choose_next(options: NextOptions, watch: Watch) -> ChosenItems:
    """Judge what is unlabelled, choose ``options.next`` items and write the sheet.

    Raises:
        UserError: When there is no such judge, its task is a plugin's, or every item has a label.
        ServiceError: When the judge's model fails.
    """
    if (name := options.judge) is None:
        raise UserError("--judge: not given; the judge whose doubts choose is needed, or --for systems. Give one.")
    judge = _judge(options, name)
    card, out = judge.card, options.out
    if card.task not in TASKS:
        raise UserError(f"--judge {name}: its task {card.task} has no label columns. Name another judge.")
    _require_room(out, card)
    found = read_unlabelled(
        options.file,
        task=card.task,
        rename=options.columns,
        annotators=options.annotators,
        turn=options.turn,
        usual=usual_turn(card.fields),
    )
    if not found.items:
        raise UserError(
            f"{options.file}: all {found.labelled} items have a label; unlabelled ones are needed. Add some."
        )
    require_inputs([card], found.items)
    watch.stage("judge", f"{plural(len(found.items), 'unlabelled item')} by {_called(card)}, {judge.spec.asked_at}")
    account = account_for(options, name)
    with session_for(options, judge.spec, options.home, watch, account=account) as session:
        judgments = asked_by(judge, session).judged(found.items)
        calls = session.spent.calls
    uncertain = uncertainty(judgments, card.scale)
    if not judge.compiled.calibrators:
        uncertain = said_doubt(judgments, uncertain)
    picks = _picked(options, card, found.items, uncertain)
    write_whole(out, sheet(picks, card))
    beside = out.with_name(f"{out.stem}.{DATASHEET}")
    write_whole(beside, datasheet(card))
    return ChosenItems(card, picks, out, beside, len(found.items), found.labelled, calls)


def _judge(options: NextOptions, name: str) -> GivenJudge:
    """The judge of this name; the prompt that nobody compiled is built for the file's columns."""
    if not is_zero_shot(name, options.home):
        return given_judge(name, home=options.home, lm=options.lm, api_base=options.api_base)
    program = zero_shot_of_file(name, options.file, options.columns, options.lm, options.api_base)
    return as_loaded(program, api_base=options.api_base)


def _called(card: ProgramCard) -> str:
    return f"{card.name}@{card.version}" if card.version else f"{card.name} (unproven)"


def _picked(options: NextOptions, card: ProgramCard, items: Sequence[Item], uncertain: FloatArray) -> tuple[Pick, ...]:
    """The items to grade; the home remembers which were chosen for being hard: these never become test items."""
    memory = read_memory(options.home, card.name)
    picks = next_labels(items, uncertain, options.next, trainable=trainable(items, memory), seed=options.seed)
    key_of = {item.item_id: key for item, key in zip(items, queries_of(items, memory.keys).key_of, strict=True)}
    hard = {key_of[pick.item.item_id] for pick in picks if pick.stratum == UNCERTAIN}
    with locked_family(options.home, card.name):
        family = read_family(options.home, card.name)
        if not hard <= set(family.hard):
            write_family(options.home, family.model_copy(update={"hard": tuple(sorted({*family.hard, *hard}))}))
    return picks


def label_columns(card: ProgramCard | LabelSet) -> list[str]:
    """The columns that the experts fill in."""
    spec = TASKS[card.task]
    if spec.takes_accept and card.scale.name == ACCEPT_SCALE.name:
        return ["accept"]
    return list(spec.columns(card.aspects))


def datasheet(card: ProgramCard | LabelSet, source: Mapping[str, str] = MappingProxyType({})) -> str:
    """Datasheet of the sheet's labels, as TOML: twenty grades do not show the whole scale, and words no order.

    Args:
        card: Task and scale.
        source: How they were chosen.
    """
    lines = [f"task = {json.dumps(card.task)}"]
    if card.scale not in (ACCEPT_SCALE, PREFERENCE_SCALE):  # these are known by their columns
        declared = card.scale.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        # Texts, numbers and lists of them are written alike in JSON and TOML.
        lines += ["", "[scale]", *(f"{key} = {json.dumps(value)}" for key, value in declared.items())]
    lines += ["", "[source]", *(f"{key} = {json.dumps(value)}" for key, value in source.items())] if source else []
    return "\n".join(lines) + "\n"


def sheet(picks: Sequence[Pick], card: ProgramCard | LabelSet, *, blind: bool = False) -> str:
    """The picks as CSV, with empty label columns; contexts are a JSON list.

    Neither the judge's grade nor its doubt is in it: experts would anchor on them.

    Args:
        picks: The items.
        card: Of the labels.
        blind: Without the systems that answered.
    """
    spec = TASKS[card.task]
    fields = [name for name in spec.inputs if any(name in pick.item.inputs for pick in picks)]
    optional = [name for name in ("agent", "group") if any(getattr(pick.item, name) is not None for pick in picks)]
    if blind:
        fields, optional = (
            [name for name in names if name not in ("agent", *spec.hidden)] for names in (fields, optional)
        )
    labels = [*label_columns(card), "annotator", "rationale"]
    columns = ["item_id", "query_id", *optional, *fields, *labels, STRATUM, "inclusion_probability"]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, restval="")
    writer.writeheader()
    for pick in picks:
        item = pick.item
        inputs = {
            name: json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else value
            for name, value in item.inputs.items()
            if name in fields
        }
        named = {name: getattr(item, name) or "" for name in optional}
        row = {"item_id": item.item_id, "query_id": item.query_id, **named, **inputs}
        safe = {name: guarded(str(cell)) for name, cell in row.items()}
        writer.writerow({**safe, STRATUM: pick.stratum, "inclusion_probability": f"{pick.probability:.6g}"})
    return text.getvalue()


def chosen_report(found: ChosenItems, options: NextOptions) -> Report:
    """Report of the items that were chosen, and what to do with them."""
    unsure, drawn = found.strata["uncertain"], found.strata["random"]
    why = f"{unsure} that {_called(found.card)} is unsure of and {drawn} at random"
    return Report(
        data=found.to_json(),
        verdict=[f"{found.out}: {len(found.picks)} of {plural(found.unlabelled, 'unlabelled item')} to grade, {why}"],
        lines=[f"{found.calls} LM calls", f"Fill in {', '.join(found.columns)} in {found.out} first."],
        next=[command("labels", str(found.out), home=options.home)],
    )


def drawn_report(found: ChosenQueries, options: NextOptions) -> Report:
    """Report of the queries that were drawn, and what to do with them."""
    rows, queries = plural(len(found.picks), "row"), plural(found.queries, "query")
    filled, typed = ", ".join(label_columns(found.labels)), labels_typed(options, options.file)
    return Report(
        data=found.to_json(),
        verdict=[f"{found.out}: {rows} of {queries} to grade, drawn at random, of {', '.join(found.systems)}"],
        lines=[f"Fill in {filled} in {found.out} first."],
        next=[command("labels", "import", options.file, str(found.out), *typed, home=options.home)],
    )
