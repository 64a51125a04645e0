"""Completes what was typed by what ``judgec.toml`` says, and says so."""

from collections.abc import Mapping
from pathlib import Path

from judgec.errors import UserError
from judgec.labels.project import NAME, Project, columns_in, find_project
from judgec.labels.reading import scale_option
from judgec.labels.rows.raters import columns_of, is_measured
from judgec.raters import programs
from judgec.records.tasks.winners import flat_words
from judgec.table.arrow import HUB_PREFIX
from judgec.table.rows.columns import ROLE
from judgec.verbs.cli.output import say
from judgec.verbs.options.option import Declared, declared

OF_A_FILE = (  # keys that say how a file is read
    *("task", "annotators", "judges", "orders", "columns", "winner_words", "scale", "accept_at", "round", "repeats"),
    "turn",
)
OF_A_JUDGE = ("name", "lm", "budget", "max_cost")


def completed(kind: type, typed: Mapping[str, object]) -> dict[str, object]:
    """The options of a verb: as typed, else as ``judgec.toml`` has them; one line on stderr says which.

    Args:
        kind: The dataclass that declares them.
        typed: What was typed, by name.

    Raises:
        InputError: Faults of ``judgec.toml``.
        UserError: An option that the verb needs and nobody gave.
    """
    keyed = {one.option.project: one for one in declared(kind) if one.option.project}
    about = keyed.get("labels") or keyed.get("file")
    path = None if about is None else typed.get(about.name)
    project = find_project(None if path is None else str(path))
    found = dict(typed) if project is None else _filled(keyed, about, typed, project)
    if (graded := keyed.get("grades")) is not None and (path := typed.get(graded.name)) is not None:
        told = find_project(str(path))  # one file of several: it says nothing about the judge that grades the others
        found = found if told is None else _filled(keyed, graded, found, told, of_a_judge=False)
    if (answers := keyed.get("answers")) is not None:
        for path in _names(typed.get(answers.name)):
            found |= _columns_of(path, found)
    if "games" in keyed and (path := typed.get("games")) is not None:
        found |= _columns_of(str(path), found, answers=False)
    for key, one in keyed.items():
        if one.required and one.name not in found:
            asked = one.option.metavar or one.name.upper() if one.option.positional else one.flag
            advice = f"Give it, or run judgec init FILE, whose {NAME} has its {key}."
            if key == "file" and project is not None and project.label_path is not None:
                advice = f"It is not taken from {project.path}, whose labels are in {project.label_path}: give it."
            raise UserError(f"{asked}: not given; it is needed ({one.option.help.rstrip('.')}). {advice}")
    return found


def _columns_of(path: str, found: Mapping[str, object], *, answers: bool = True) -> dict[str, object]:
    """``columns`` with what the project says of a table of answers, or of games; nothing where it is not about it."""
    project = find_project(path)
    if project is None or not project.columns:
        return {}
    if answers and _own_columns(project, found, path, texts=True) is None:
        return {}
    given = found.get("columns")
    given = given if isinstance(given, dict) else {}
    if rest := _further(_value(project, "columns", columns_in(path)), given):
        say(f"{project.path}: {_shown('columns', project, rest)}")
    return {"columns": rest | given}


def _further(columns: object, given: Mapping[str, str]) -> dict[str, str]:
    """Of the columns that a project names those of which nobody typed anything."""
    known = columns if isinstance(columns, dict) else {}
    return {theirs: ours for theirs, ours in known.items() if theirs not in given and ours not in given.values()}


def _filled(
    keyed: Mapping[str, Declared],
    about: Declared | None,
    typed: Mapping[str, object],
    project: Project,
    *,
    of_a_judge: bool = True,
) -> dict[str, object]:
    path = None if about is None else typed.get(about.name)
    if path is None and "labels" in keyed and project.label_path is not None:
        path = project.label_path
    columns = _own_columns(project, typed, path, texts=of_a_judge)
    if columns is None:
        return dict(typed)
    wanted = {"labels": path} if "labels" in keyed else {}
    keys = (*(OF_A_JUDGE if of_a_judge else ()), *(OF_A_FILE if path else ()))
    wanted |= {key: _value(project, key, columns) for key in keys}
    if about is not None and about.name != "labels" and typed.get("labels") is not None:
        wanted.pop("judges", None)  # they are in a file of their own
    judges, people = typed.get("judges"), typed.get("annotators")
    if isinstance(people, tuple) and isinstance(own := wanted.get("judges"), dict):  # what is typed goes first
        wanted |= {"judges": {one: said for one, said in own.items() if not is_measured(one, people)}}
    if isinstance(judges, dict):
        wanted |= {"annotators": tuple(x for x in _names(wanted.get("annotators")) if not is_measured(x, judges))}
    if "judge" in keyed and of_a_judge and not typed.get("jury"):
        wanted["judge"] = _judge(Path(str(typed.get("home") or ".")), project.name)
    found, used = dict(typed), list[str]()
    for key, value in wanted.items():
        one = keyed.get(key)
        if one is None or not value:
            continue
        given = typed.get(one.name)
        if isinstance(value, dict) and isinstance(given, dict) and key == "columns":
            rest = _further(value, given)
            found[one.name] = rest | given
            used += [_shown(key, project, rest)] if rest else []
        elif one.name not in typed:
            found[one.name] = value
            used.append(_shown(key, project, value))
    if used:
        say(f"{project.path}: {'; '.join(used)}")
    return found


def _own_columns(project: Project, typed: Mapping[str, object], path: object, *, texts: bool) -> tuple[str, ...] | None:
    """The columns of another file than the label file; empty for that one, None where the project is not about it.

    Without ``texts`` a file may name each answer by its query's id and the agent.
    """
    if path is None or project.names(str(path)):
        return ()
    if not isinstance(path, str) or path.startswith((HUB_PREFIX, "mlflow:")) or project.task is None:
        return None
    columns = columns_in(path)
    given = typed.get("columns")
    ours = [given.get(name, name) for name in columns] if isinstance(given, dict) else columns
    if typed.get("task") not in (None, project.task):
        say(f"{project.path} is not used: it is about the task {project.task}, not {typed['task']}.")
        return None
    by_name = not texts and {"query_id", "agent"} <= {project.columns.get(name, name) for name in ours}
    if (lacks := project.lacking(ours)) and not by_name:
        theirs = {ours: theirs for theirs, ours in project.columns.items()}
        named = ", ".join(f"{theirs[one]!r} ({one})" if one in theirs else repr(one) for one in lacks)
        say(f"{project.path} is not used: {path} has no column {named}.")
        return None
    return columns


def _judge(home: Path, name: str | None) -> str | None:
    """The family; where none of its versions was promoted, the newest: there is no other that could be meant."""
    return programs.champion_or_newest(home, name) if name else name


def _value(project: Project, key: str, columns: tuple[str, ...]) -> object:
    """What the project says, as far as the file has it."""
    if key == "columns":
        said = {**project.columns, **project.columns_of_reasons}
        return {t: o for t, o in said.items() if not columns or t in columns or t.startswith(ROLE)}
    if key == "annotators":
        return tuple(name for name in project.annotators if not columns or columns_of(name, columns))
    if key == "judges":  # none of its columns: they may be among those who graded
        known = columns or columns_in(str(project.label_path))
        return {name: own for name, own in project.judges.items() if name in known} or dict(project.judges)
    if key == "scale":
        return scale_option(project.scale)
    if key == "accept_at":
        return project.accepted_from
    return flat_words(project.winner_words) if key == "winner_words" else getattr(project, key)


def _names(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def _shown(key: str, project: Project, value: object) -> str:
    if key == "columns":
        return "columns " + ", ".join(f"{t}={o}" for t, o in dict(value).items())  # type: ignore[call-overload]  # a mapping
    if key == "winner_words":
        return "winner words " + ", ".join(f"{word}={side}" for word, side in flat_words(project.winner_words).items())
    if key == "annotators":
        return "annotators " + ", ".join(project.annotators)
    if key == "scale" and project.scale is not None:
        at = project.scale.accept_at
        return f"scale {' '.join(map(str, project.scale.grades))}" + (f", accepted from {at}" if at is not None else "")
    if key == "judge" and str(value).endswith(f"@{programs.LATEST}"):
        return f"judge {value}, since no version of it was promoted"
    if key == "judges":
        return (
            f"judge {', '.join(project.judges)}" if len(project.judges) == 1 else f"judges {', '.join(project.judges)}"
        )
    return f"{key} {value}"
