"""Scenario files (YAML, one scenario each) and question files (JSON lines, or any table)."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from pydantic import ValidationError

from judgec.errors import InputError, UserError
from judgec.records.scenario.schema import CRITERIA, REJECTION, Question, Scenario
from judgec.table.regular import regular
from judgec.table.rows.cells import as_id, as_text, is_missing
from judgec.table.safe_yaml import load_yaml
from judgec.table.table import Row, Table

SUFFIXES = (".yaml", ".yml")
Loc = tuple[int | str, ...]


def read_scenario(path: Path) -> Scenario:
    """One scenario from its file.

    Raises:
        InputError: Not YAML, an unknown or missing key, a wrong value; each fault with its line.
    """
    try:
        text = regular(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([f"{path}: cannot be read ({error}); a YAML scenario in UTF-8 is needed."]) from error
    try:
        content = load_yaml(path, text)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise InputError([f"{path}:{line}: not YAML ({problem}); see docs/scenarios.md. Fix the line."]) from error
    if not isinstance(node, yaml.MappingNode) or not isinstance(content, dict):
        raise InputError([f"{path}:1: no keys; a scenario is a mapping with id, title, prompts and the like."])
    repeated = list(_repeated(path, node))
    if repeated:
        raise InputError(repeated)
    try:
        return Scenario.model_validate_json(_as_json(content))
    except ValidationError as error:
        found = sorted((_line(node, _place(fault)), _sentence(fault)) for fault in error.errors(include_url=False))
        raise InputError([f"{path}:{line}: {sentence}" for line, sentence in found]) from error


def read_scenarios(names: Sequence[str], shipped: Path, own: Path) -> tuple[Scenario, ...]:
    """The scenarios that ``names`` ask for, in that order.

    Args:
        names: Ids, files, or folders of files.
        shipped: Folder of the scenarios that come with judgec.
        own: Folder of the user's (``scenarios/`` in the home); its ids beat the shipped ones.

    Raises:
        InputError: A damaged file.
        UserError: An id that nobody has, or two scenarios with one id.
    """
    known: dict[str, Path] = {}
    for folder in (shipped, own):
        known |= {path.stem: path for path in files_in(folder)}
    found: dict[str, Scenario] = {}
    for name in names:
        path = Path(name)
        if path.is_dir():
            paths = files_in(path)
        elif path.suffix in SUFFIXES:
            paths = [path]
        else:
            paths = [known[name]] if name in known else []
        if not paths:
            raise UserError(
                f"--scenarios {name}: no such scenario; there are {', '.join(sorted(known))}, or a YAML file. "
                "Name one of these."
            )
        for scenario in map(read_scenario, paths):
            if scenario.id in found:
                raise UserError(f"--scenarios: {scenario.id} is named twice; ids must differ. Drop one.")
            found[scenario.id] = scenario
    return tuple(found.values())


def files_in(folder: Path) -> list[Path]:
    """The YAML files of a folder by name; none when there is no such folder."""
    return sorted(path for path in folder.glob("*") if path.suffix in SUFFIXES) if folder.is_dir() else []


def questions_of(table: Table, scenarios: Mapping[str, Scenario] = MappingProxyType({})) -> tuple[Question, ...]:
    """The questions in a table.

    Args:
        table: Its columns are fields of ``Question``.
        scenarios: By id: a question that names one has its form and metrics, where the table says nothing of these.

    Raises:
        InputError: No column ``query``, an empty query, a repeated query_id, a field of the wrong kind.
    """
    if "query" not in table.columns:
        names = ", ".join(table.columns)
        raise InputError(
            [f"{table.path}:1: no column 'query'; the columns are {names}. Rename the one with the questions."]
        )
    faults: list[str] = []
    questions: dict[str, Question] = {}
    for index, row in enumerate(table.rows):
        question = _question(table, index, row, scenarios, faults)
        if question is None:
            continue
        if question.query_id in questions:
            faults.append(f"{table.where(index)}: query_id {question.query_id} again; ids must differ. Rename it.")
        questions[question.query_id] = question
    if faults:
        raise InputError(faults)
    return tuple(questions.values())


def _question(
    table: Table, index: int, row: Row, scenarios: Mapping[str, Scenario], faults: list[str]
) -> Question | None:
    where = table.where(index)
    if is_missing(row.get("query")):
        faults.append(f"{where}: no query; every row needs one. Fill it in, or delete the row.")
        return None
    values: dict[str, object] = {
        name: value for name, value in row.items() if name in Question.model_fields and not is_missing(value)
    }
    values |= {name: as_text(values[name]) for name in ("query", "reference") if name in values}
    values["query_id"] = as_id(values["query_id"]) if "query_id" in values else f"q{index + 1}"
    named = scenarios.get(as_text(values.get("scenario", "")))
    if named is not None and "form" not in values and "metrics" not in values:
        values |= {"form": named.form, "metrics": named.acceptable_metrics}
    if "metrics" not in values:
        values["metrics"] = (REJECTION,) if values.get("form") == "absent" else CRITERIA
    try:
        return Question.model_validate_json(_as_json(values))
    except ValidationError as error:
        faults += [f"{where}: {_sentence(fault)}" for fault in error.errors(include_url=False)]
        return None


def _as_json(content: Mapping[Any, object]) -> str:  # YAML keys may be anything
    import json

    return json.dumps({str(key): value for key, value in content.items()}, default=str)


def _repeated(path: Path, node: yaml.MappingNode) -> Iterable[str]:
    seen: dict[str, int] = {}
    for key, _ in node.value:
        line = key.start_mark.line + 1
        if key.value in seen:
            first = seen[key.value]
            yield f"{path}:{line}: key {key.value} again, first in line {first}; once is valid. Drop one."
        seen[key.value] = line


def _line(node: yaml.Node, loc: Loc) -> int:
    """The line of the deepest part of ``loc`` that stands in the file."""
    line: int = node.start_mark.line + 1
    for step in loc:
        if isinstance(node, yaml.MappingNode):
            pair = next(((key, value) for key, value in node.value if key.value == str(step)), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _place(fault: Any) -> Loc:  # as in _sentence
    """Place of a fault; one of the scenario as a whole names its key at the start of its message."""
    named = str(fault["msg"]).removeprefix("Value error, ").partition(":")[0]
    return tuple(fault["loc"]) or ((named,) if named in Scenario.model_fields else ())


def _sentence(fault: Any) -> str:  # pydantic's ErrorDetails is a TypedDict with open ends
    loc: Loc = tuple(fault["loc"])
    if not loc and _place(fault):
        return f"{str(fault['msg']).removeprefix('Value error, ')}. Fix the entry."
    name = ".".join(map(str, loc)) or "the scenario"
    keys = _keys_at(loc[:-1])
    if fault["type"] == "extra_forbidden":
        return f"key {name} is not known; valid are {', '.join(keys)}. Correct or drop it."
    if fault["type"] == "missing":
        return f"{name} is missing; a scenario needs it. Add it, see docs/scenarios.md."
    message = str(fault["msg"]).removeprefix("Value error, ")
    if fault["type"] == "literal_error":
        message = f"{fault['input']!r} is not valid; valid are {fault['ctx']['expected']}"
    if fault["type"] in {"too_short", "string_too_short"}:
        message = "is empty; at least one is needed"
    return f"{name}: {message}. Fix the entry."


def _keys_at(loc: Loc) -> list[str]:
    model: Any = Scenario  # walked by field name, whatever the field's type
    for step in loc:
        field = getattr(model, "model_fields", {}).get(step)
        model = field.annotation if field is not None else None
    return list(getattr(model, "model_fields", Scenario.model_fields))
