"""Finds recorded verdicts: a file, columns of the labels or items themselves, or a DataFrame."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from judgec.compile.settings import PoolLimit
from judgec.connect.tracking.traces import MLFLOW_PREFIX
from judgec.errors import InputError, UserError
from judgec.labels.project import columns_in
from judgec.labels.rows.judged import verdicts_in
from judgec.labels.rows.ranges import Range, with_range
from judgec.lm.spec import RECORDED, LMSpec
from judgec.raters.judge import JudgeTree
from judgec.raters.recorded import OnWhat, RecordedVerdicts, check_against, read_recorded
from judgec.raters.tree import EVIDENCE, PromptLeaf
from judgec.raters.verdicts import as_recorded
from judgec.records.card import ProgramCard
from judgec.table.arrow import HUB_PREFIX
from judgec.table.rows.columns import listed, named_here, renamed
from judgec.table.table import IN_MEMORY, Table
from judgec.table.tables import TableSource, opened
from judgec.verbs.candidates import ALL, AUTO, BEST, Candidates, Recorded, RecordedFile, competing
from judgec.verbs.frames import Source, as_frame, as_table, is_path, named_table, table_source
from judgec.verbs.labels import Labels
from judgec.verbs.options.compile_judge import CompileJudgeOptions

COLUMNS = "columns"  # ``recorded:columns``: the verdicts are columns of the file that is judged
NAMES = "verdicts"  # what messages call rows in memory
LEAST_MEMBERS = 2
CASCADED = 2  # judges of a cascade


@dataclass(frozen=True, slots=True)
class FoundVerdicts:
    """Recorded verdicts for a compile.

    Args:
        model: How ``--lm`` names them.
        judges: Those that are named, as far as they share enough items with the labels.
        every: The same with those that share too few.
    """

    model: str
    judges: RecordedVerdicts
    every: RecordedVerdicts


def recorded_of(options: CompileJudgeOptions, labels: Labels, *, asked: bool = False) -> FoundVerdicts | None:
    """Recorded verdicts of the judges of a compile; None where a model is asked.

    Args:
        options: With the verdicts.
        labels: That they are compared with.
        asked: Candidates are asked side by side in their place.

    Raises:
        UserError: Options that need recorded verdicts without any, or that these have no use for.
        InputError: As ``raters.recorded.read_recorded``.
    """
    file = options.lm.removeprefix(RECORDED) if options.lm.startswith(RECORDED) else None
    given = given_verdicts(options)
    if asked:
        return None
    columns = competing(options)
    if file is None and not given and not columns:
        for option, value in (
            ("--baseline", options.baseline),
            ("--panel", options.panel),
        ):
            if value is not None:
                raise UserError(
                    f"{option} {value}: chooses among recorded judges, and there are none; --judges COLUMN,... or "
                    "several --candidate is valid beside it. Add one, or drop it."
                )
        return None
    for option, has in (("--optimizer", options.optimizer != "auto"), ("--reflection-lm", options.reflection_lm)):
        if has:
            raise UserError(f"{option}: nobody writes prompts for recorded verdicts. Leave it out.")
    names = {} if file is None else verdict_columns(options.columns, file, options.missing)
    reading = options.reading().model_copy(update={"columns": names, "judges": columns})
    source: TableSource
    pattern = next((one.glob for one in given if isinstance(one, RecordedFile)), None)
    if file is not None:
        source, model = table_source(file, NAMES, options.missing), options.lm
    elif given:
        ranged = {one.name: one.range for one in given if isinstance(one, Recorded) and one.range is not None}
        reading = reading.model_copy(update={"judges": {name: str(Range(*ends)) for name, ends in ranged.items()}})
        source, model = named_table(_frame(given), NAMES, options.missing), f"{RECORDED}{IN_MEMORY}"
    else:
        source, model = _columns(options, labels, columns), f"{RECORDED}{COLUMNS}"
    found = read_recorded(source, OnWhat.of(labels.label_set, reading), pattern, "refused")
    judges = check_against(found, labels.label_set)
    if options.baseline is not None:
        judges.require(options.baseline)
    return FoundVerdicts(model, judges, found)


def verdict_columns(columns: Mapping[str, str], source: object, missing: Sequence[str] = ()) -> dict[str, str]:
    """The part of ``--map`` that is about a file of verdicts, or about rows of them."""
    file = with_range(source)[0] if isinstance(source, str) else source
    return named_here(opened(table_source(file, NAMES, missing)).columns, columns) if columns else {}


def label_columns_of(
    columns: Mapping[str, str], labels: Source, verdicts: object, missing: Sequence[str] = ()
) -> dict[str, str]:
    """The part of ``--map`` that is about labels: without the names that the verdicts beside them alone have."""
    others = verdict_columns(columns, verdicts, missing)
    if not others or (is_path(labels) and str(labels).startswith((HUB_PREFIX, MLFLOW_PREFIX))):
        return dict(columns)
    own = columns_in(str(labels)) if is_path(labels) else as_table(labels).columns
    return {theirs: ours for theirs, ours in columns.items() if theirs in own or theirs not in others}


def given_verdicts(options: CompileJudgeOptions) -> tuple[object, ...]:
    """The tables of verdicts that Python passes, and those of candidates."""
    if options.verdicts is None:
        return ()
    return options.verdicts if isinstance(options.verdicts, tuple) else (options.verdicts,)


def _columns(options: CompileJudgeOptions, labels: Labels, columns: Collection[str]) -> Table:
    """What the judges said in the table of the labels.

    Raises:
        InputError: One of them is not there.
    """
    path = str(labels.source.get("path") or IN_MEMORY)
    judged = {name: own for name in columns if (own := labels.label_set.judged.get(name))}
    if lacks := [name for name in columns if name not in judged]:
        read = "; these labels were read without it" if isinstance(options.labels, Labels) else ""
        seen = f"{path}: --judges {listed(lacks)}: no such column, and no annotator of that name{read}"
        raise InputError([f"{seen}. Correct --judges."])
    return as_recorded(path, judged, labels.label_set.task)


def panel_of(options: CompileJudgeOptions, judges: int) -> PoolLimit | None:
    """Limit on the number of judges in a panel; None for a single one.

    Args:
        options: Without ``--panel``, several judges are a panel of as few as are enough where nothing else was asked.
        judges: How many are compared.

    Raises:
        UserError: Neither ``all``, ``auto``, ``best`` nor a whole number from 2, or an option that panels do not go
            with.
    """
    if options.panel is None:
        return None if judges < LEAST_MEMBERS or options.cascade else PoolLimit(few=True)
    asked = str(options.panel).strip()
    if asked == BEST:
        return None
    if asked == ALL:
        return PoolLimit()
    if asked == AUTO:
        return PoolLimit(few=True)
    if not asked.isdecimal() or int(asked) < LEAST_MEMBERS:
        raise UserError(
            f"--panel {asked}: no size; all, auto, best, or a whole number from {LEAST_MEMBERS}, is valid. Correct it."
        )
    return PoolLimit(int(asked))


def cascade_of(
    options: CompileJudgeOptions, spec: LMSpec, recorded: RecordedVerdicts | None, candidates: Candidates
) -> tuple[str, str] | None:
    """The two judges of a cascade; None where nobody asked for one.

    Raises:
        UserError: Not two different recorded judges, nor evidence and the model that is asked, or an option that
            cascades do not go with.
    """
    if not options.cascade:
        return None
    said = f"--cascade {','.join(options.cascade)}"
    if len(options.cascade) != CASCADED or options.cascade[0] == options.cascade[1] or options.cascade[1] == EVIDENCE:
        raise UserError(
            f"{said}: two different judges are valid, first the cheap one, which may be {EVIDENCE}, then the strong "
            "one. Name both."
        )
    if options.panel is not None:
        raise UserError(f"{said} and --panel: one of them is valid. Drop the other.")
    cheap, strong = options.cascade
    if candidates.beside:
        others = () if recorded is None else recorded.judges
        cheap, strong = (name if name == EVIDENCE else candidates.named(name, others) for name in (cheap, strong))
        if cheap == strong:
            raise UserError(f"{said}: {cheap} twice; two different candidates are valid. Name both.")
    elif recorded is not None:
        for name in (strong,) if cheap == EVIDENCE else (cheap, strong):
            recorded.require(name)
    elif spec.no_model or (cheap, strong) != (EVIDENCE, spec.model):
        raise UserError(
            f"{said}: with a model that is asked, {EVIDENCE},MODEL is valid, where --lm MODEL is a language model; two "
            "judges are compared from recorded verdicts, or as candidates. Add --lm recorded:FILE, or two --candidate."
        )
    if cheap == EVIDENCE and not options.evidence:
        raise UserError(f"{said}: --no-evidence leaves {EVIDENCE} out. Drop one of them.")
    return cheap, strong


def recorded_for(
    card: ProgramCard,
    judge: JudgeTree,
    spec: LMSpec,
    items: TableSource = "",
    columns: Mapping[str, str] | None = None,
    *,
    needed: bool = True,
) -> RecordedVerdicts | None:
    """The verdicts that a compiled judge reads; None where there are none and its prompts can be asked.

    Args:
        card: Of the judge.
        judge: As loaded.
        spec: Where they are.
        items: What is judged, for verdicts that are columns of it.
        columns: judgec's names of these columns by theirs.
        needed: A file that is not here is an error; else it answers for nothing, where all prompts can be asked.

    Raises:
        UserError: The judge was compiled from verdicts in memory, or for a model that is asked.
        InputError: As ``raters.recorded.read_recorded``.
    """
    about, file = OnWhat.of_card(card), spec.recorded
    names = [leaf.name for leaf in judge.leaves if leaf.verdicts]
    unasked = [leaf.name for leaf in judge.leaves if leaf.verdicts and not isinstance(leaf, PromptLeaf)]
    lost = not (needed or unasked) and file is not None and file != COLUMNS and _lost(file)
    if lost or file == IN_MEMORY or file is None or (file == COLUMNS and not items):
        if not unasked:
            return None
        raise UserError(
            f"{card.name}@{card.version}: compiled from verdicts that are in no file of their own; verdicts of "
            f"{listed(names)} in a file are valid. Name it with --lm recorded:FILE."
        )
    if file == COLUMNS:
        table = renamed(opened(items), columns or {})
        judged = verdicts_in(table, names, card.task, card.aspects)
        if lacks := [name for name in unasked if name not in judged]:
            made = f"{card.name}@{card.version} was compiled from the verdicts in {listed(names)}"
            raise UserError(
                f"{table.path}: no column {listed(lacks)}; {made}, and judges items that have them. Add what the same "
                "judge says of these items, or compile a judge that asks a model: judgec compile-judge --lm MODEL."
            )
        said = as_recorded(table.path, judged, card.task) if judged else None
        return read_recorded(said, about) if said is not None and (len(said.rows) or unasked) else None
    return read_recorded(file, about)


def _lost(file: str) -> bool:
    """True if verdicts were recorded in a file that is not here: then the prompts are asked about every item."""
    name, _ = with_range(file)
    return not name.startswith((HUB_PREFIX, MLFLOW_PREFIX)) and not Path(name).exists()


def without(name: str, lacks: int, items: int, then: str | None = None) -> str:
    """That some items have no verdict of a recorded judge, which the others are asked without.

    Args:
        name: Of the judge.
        lacks: How many have none.
        items: Of so many.
        then: Who is asked in its place, of a cascade that it is the first of.

    Raises:
        UserError: None has one.
    """
    if lacks == items:
        raise UserError(
            f"{name}: none of {items:,} items has a recorded verdict of it, and the judge was measured with them; "
            "--lm recorded:FILE with its verdicts on these items is valid (in Python verdicts=). Record them first."
        )
    done = "judged without it" if then is None else f"asked of {then}"
    return f"{lacks:,} of {items:,} items have no verdict of {name}: {done}"


def _frame(given: Sequence[object]) -> object:
    if named := [one for one in given if isinstance(one, Recorded)]:
        import pandas as pd

        return pd.concat([as_frame(one.verdicts).assign(judge=one.name) for one in named], ignore_index=True)
    (frame,) = given if len(given) == 1 else (None,)
    if frame is None:
        raise UserError("verdicts: several tables; one DataFrame is valid. Pass one.")
    return frame
