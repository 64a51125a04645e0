"""Commands as somebody types them: what a report says to do next."""

import shlex
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from judgec.labels.project import find_project
from judgec.labels.reading import scale_option
from judgec.records.scale import ACCEPT_SCALE, Scale
from judgec.records.tasks.winners import flat_words
from judgec.verbs.options.labels import LabelExportOptions, LabelsOptions
from judgec.verbs.options.shared import LabelColumns


def command(*arguments: str, home: Path) -> str:
    """A judgec command to type next, with ``--home`` where the user gave one."""
    given = [] if home == Path() else ["--home", str(home)]
    return f"{judgec_here()} {shlex.join([*arguments, *given])}"


def judgec_here() -> str:
    """The command that calls this judgec from here, quoted for a shell.

    Returns: ``judgec`` where the PATH leads to this one, else its path; ``python -m judgec`` where it has no command.
    """
    called = sys.argv[0]
    by_name = Path(called).stem == "judgec" and Path(called).is_file()
    own = called if by_name else shutil.which("judgec", path=sysconfig.get_path("scripts"))
    if own is None:
        return shlex.join([nearest(Path(sys.executable)), "-m", "judgec"])
    found = shutil.which("judgec")
    if found is not None and Path(found).samefile(own):
        return "judgec"
    return shlex.quote(nearest(Path(own)))


def nearest(path: Path) -> str:
    """The path as it is typed from here: relative below the current folder, else absolute."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def judges_typed(judges: Mapping[str, str]) -> str:
    """Judges as ``--judges`` takes them."""
    return ",".join(f"{name}={own}" if own else name for name, own in judges.items())


def maps_typed(file: str, columns: Mapping[str, str]) -> list[str]:
    """``--map`` as it is typed for this file; without what ``judgec.toml`` says of it."""
    project = find_project(file)
    known = project.columns if project is not None and project.applies_to(file) else {}
    maps = [f"{theirs}={ours}" for theirs, ours in columns.items() if known.get(theirs) != ours]
    return [part for one in maps for part in ("--map", one)]


def scale_typed(scale: Scale) -> list[str]:
    """A scale as it is typed beside labels that declare none; accept and reject, and classes, need none."""
    first, last = scale.grades[0], scale.grades[-1]
    if scale.name == ACCEPT_SCALE.name or scale.level == "nominal" or any("," in str(one) for one in scale.grades):
        return []
    ranged = isinstance(first, int) and isinstance(last, int) and scale.grades == tuple(range(first, last + 1))
    listed = f"{first}..{last}" if ranged or scale.interval else ",".join(map(str, scale.grades))
    at = [] if scale.accept_at is None else ["--accept-at", str(scale.accept_at)]
    return ["--scale" if scale.interval else "--grades", listed, *at]


def labels_typed(options: LabelColumns, file: str, **other: object) -> list[str]:
    """The options of any verb that say how a label file is read, as ``as_typed``; ``other`` go before them."""
    said: dict[str, Any] = {one.name: getattr(options, one.name) for one in fields(LabelColumns)}  # any option's value
    return as_typed(LabelsOptions(file=file, **{**said, **other}))


def as_typed(options: LabelsOptions | LabelExportOptions) -> list[str]:
    """The options that say how the file is read, as they are typed; without those that ``judgec.toml`` has."""
    found = find_project(options.file)
    told = found if found is not None and found.applies_to(options.file) else None
    maps = maps_typed(options.file, options.columns)
    known = {} if told is None else flat_words(told.winner_words)
    words = {word: side for word, side in options.winner_words.items() if known.get(word) != side}
    scale = None if told is not None and scale_option(told.scale) == options.scale else options.scale
    ends = scale["grades"] if scale is not None and scale.get("level") == "interval" else None
    accepted = None if told is not None and told.accepted_from == str(options.accept_at) else options.accept_at
    annotators = () if told is not None and tuple(told.annotators) == tuple(options.annotators) else options.annotators
    judges = {} if told is not None and dict(told.judges) == dict(options.judges) else options.judges
    single = (
        ("--task", None if told is not None and told.task == options.task else options.task),
        *zip(maps[::2], maps[1::2], strict=True),
        ("--annotators", ",".join(annotators) or None),
        ("--judges", judges_typed(judges) or None),
        ("--orders", options.orders),
        ("--best", None if options.best is None else str(options.best)),
        ("--grades", ",".join(options.grades) or None),
        ("--accept-at", None if accepted is None else str(accepted)),
        ("--scale", f"{ends[0]}..{ends[-1]}" if isinstance(ends, list) else None),
        ("--turn", options.turn),
        ("--round", None if told is not None and told.round == options.round else options.round),
        ("--repeats", None if told is not None and told.repeats == options.repeats else options.repeats),
        ("--missing", ",".join(word for word in options.missing if told is None or word not in told.missing) or None),
        ("--winner-words", ",".join(f"{word}={side}" for word, side in words.items()) or None),
    )
    return [part for option, value in single if value is not None for part in (option, value)]
