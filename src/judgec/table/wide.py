"""One row a question with several answers beside each other (``Reply r1``, ``Mia r1``, ``Reply r2``, ...), read as one
row an answer.

Such a table is known by heads that differ in one part, the answer's own among them; the part is the agent. Where that
is not sure the table is refused with the line to type: grades of another answer are worse than none.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from judgec.errors import InputError
from judgec.records.counts import plural
from judgec.records.tasks.registry import also_called, plain
from judgec.records.tasks.spec import ANSWERS, PAIR, PAIR_AGENTS, SYSTEMS
from judgec.records.tasks.winners import WORDS as WINNERS
from judgec.table.ladders import is_graded
from judgec.table.rows.cells import as_grade, as_id, is_missing
from judgec.table.rows.columns import listed, renamed
from judgec.table.rows.heads import is_nobodys
from judgec.table.table import Row, Table, Wide
from judgec.table.toml import read_toml
from judgec.table.workbooks import split_sheet

PROJECT = "judgec.toml"
AGENT = "{agent}"  # its place in a head
ANSWER_WORDS = frozenset({*ANSWERS, "completion"})
NO_ANSWER = frozenset(  # words of heads that hold what is wanted, asked or said of an answer
    [
        *(
            "reference",
            "gold",
            "golden",
            "expected",
            "truth",
            "ideal",
            "referenz",
            "muster",
            "correct",
            "true",
            "target",
        ),
        *(
            "desired",
            "wanted",
            "gewuenschte",
            "erwartete",
            "soll",
            "id",
            "length",
            "time",
            "tokens",
            "type",
            "short",
            "long",
        ),
    ]
)
RATERS = frozenset(
    {"human", "expert", "judge", "annotator", "rater", "mensch", "experte"}
)  # a part that may be who graded
AGENT_STEMS = frozenset({"agent", *SYSTEMS})  # a column of it for each answer: whose it is
WINNER_WORDS = frozenset({"winner", "preferred", "preference", "better", "besser", "gewinner", "favourite", "favorite"})
WINS = frozenset({"a", "b", *(word for word, side in WINNERS.items() if side == "tie")} - {"c"})
MOST_GRADES = 12  # different values of a column of grades
WRITTEN = 4  # ways to write one: A, a, [A]
_MARK = re.compile(r"[\s_.\-:/|,;#–—]+")
_BEHIND = re.compile(r"(.+?)[\s_.\-]*[(\[{](.+?)[)\]}]")
_BEFORE = re.compile(r"[(\[{](.+?)[)\]}][\s_.\-:]*(.+)")
_JOINT = (re.compile(r"(.*[^\W\d_])(\d{1,3})"), re.compile(r"(.*[a-zäöüß])([A-Z])"))


@dataclass(frozen=True, slots=True)
class _Head:
    """A head taken apart.

    Args:
        column: The head.
        stem: What it shares with others.
        part: In what it differs from them.
        pattern: The head with ``{agent}`` in place of the part.
    """

    column: str
    stem: str
    part: str
    pattern: str


def as_long(table: Table, said: Wide | bool | None = None, having: Collection[str] = ()) -> Table:
    """The table with one row an answer; any other table as it is.

    With the column of a winner beside two answers it is one of pairs: the answers are then ``answer_a`` and
    ``answer_b``. Each answer's row has ``agent``, and where the table has no ``query_id``, the row's id, else its
    number, as that.

    Args:
        table: As it stands in the file.
        said: What ``judgec.toml`` says; False: never; None: the heads are to tell.
        having: Columns that somebody names.

    Raises:
        InputError: It may be such a table, and the heads do not tell how; or ``having`` names a head with its part.
    """
    if said is False or {*PAIR, "preference"} <= set(table.columns):
        return table
    if isinstance(said, Wide) and len(families := _as_said(table, said)) == len(said.columns):
        return _melted(table, families, said, said=True)
    table, new = _with_firsts(table)
    if isinstance(said, Wide) and (families := _as_said(table, said)):
        return _melted(table, families, said, said=True)
    having = [name if new.get(name) == f"{name} 1" else new.get(name, name) for name in having]
    found = _found(table)
    if found is None:
        return table
    parts, families = found
    heads = {head.column for family in families.values() for head in family.values()}
    who = [head.column for stem, own in families.items() if plain(stem) in AGENT_STEMS for head in own.values()]
    agents = {_key(as_id(value)) for column in who for value in _values(table, column)}
    winners = _winners(table, agents | (set() if all(map(str.isdigit, parts)) else set(parts)), heads)
    answers = next(iter(families.values()))
    if winners and len(parts) == len(PAIR):
        return _pairs(table, parts, answers, winners)
    if len(families) == 1:  # nothing but the answers: nobody graded each of them
        return table
    wide = Wide(tuple(parts.values()), tuple(next(iter(family.values())).pattern for family in families.values()))
    if winners:
        _refuse(table, wide, f"{winners[0]} names the best of {len(parts)} answers, and other columns grade each")
    if RATERS & parts.keys():
        _refuse(table, wide, f"{listed(parts.values())} may be who graded or who answered")
    if named := [name for name in having if name in heads]:
        stems = listed(map(_stem, wide.columns))
        seen = f"{table.path}:1: {named[0]!r} is named, one of {plural(len(parts), 'column')} alike"
        advice = f"Name it without its part, for example --map {json.dumps(f'{_stem(wide.columns[0])}=answer')}."
        raise InputError([f"{seen}; a row becomes one row an answer, with the columns {stems}. {advice}"])
    return _melted(table, families, wide)


def wide_heads(columns: Collection[str]) -> bool:
    """True where the heads alone allow several answers a row: whoever reads in pieces must read such a file whole."""
    stems: dict[str, set[str]] = {}
    bare = {plain(name) for name in columns}  # Reply beside Reply.1
    for head in (head for name in columns for head in _heads(name) if _is_answer(head.stem)):
        first = {""} if head.part.isdecimal() and plain(head.stem) in bare else set[str]()
        stems.setdefault(plain(head.stem), first).add(plain(head.part))
    return any(len(parts) > 1 for parts in stems.values())


def said_beside(path: str) -> tuple[Wide | bool | None, tuple[str, ...]]:
    """Reads what the ``judgec.toml`` of a file says of answers beside each other, and which further words say nothing.

    One that is faulty says nothing here; ``labels.project`` names its faults.
    """
    folders = (Path(split_sheet(path)[0]).parent, Path())
    file = next((one for folder in folders if (one := folder / PROJECT).is_file()), None)
    if file is None:
        return None, ()
    try:
        content = read_toml(file)[1]
    except InputError:
        return None, ()
    words = content.get("missing")
    missing = tuple(map(str, words)) if isinstance(words, list) else ()
    try:
        return (as_wide(content["wide"]) if "wide" in content else None), missing
    except ValueError:
        return None, missing


def as_wide(value: object) -> Wide | bool:
    """Reads ``[wide]``.

    Raises:
        ValueError: It is neither ``false`` nor a table of agents and of columns with ``{agent}``.
    """
    if value is False:
        return False
    if not isinstance(value, Mapping) or set(value) != {"agents", "columns"}:
        raise ValueError("keys")
    agents, columns = value["agents"], value["columns"]
    for one in (agents, columns):
        if not isinstance(one, list) or not one or not all(isinstance(text, str) and text.strip() for text in one):
            raise ValueError("lists")
    if not all(pattern.count(AGENT) == 1 and _stem(pattern) for pattern in columns):
        raise ValueError("patterns")
    return Wide(tuple(agents), tuple(columns))


def _stem(pattern: str) -> str:
    """The column that the columns of a pattern become."""
    bare = re.sub(r"[(\[]\s*\{agent\}\s*[)\]]", AGENT, pattern)
    return bare.replace(AGENT, "").strip(" \t_.-:/|,;#–—")


def _as_said(table: Table, said: Wide) -> dict[str, dict[str, _Head]]:
    """The columns of each pattern by agent, the first pattern's first; nothing where the table has not all of these."""
    families: dict[str, dict[str, _Head]] = {}
    for pattern in said.columns:
        heads = {agent: pattern.replace(AGENT, agent) for agent in said.agents}
        own = {a: _Head(head, _stem(pattern), a, pattern) for a, head in heads.items() if head in table.columns}
        if own:
            families[_stem(pattern)] = own
    first = families.get(_stem(said.columns[0]), {})
    return families if len(first) == len(said.agents) else {}


def _heads(column: str) -> Iterator[_Head]:
    """The ways to take a head apart, the part behind or before."""
    text = column.strip()
    at = column.index(text) if text else 0
    if found := _BEHIND.fullmatch(text):
        yield _Head(column, found[1], found[2], _with_agent(column, at + found.start(2), at + found.end(2)))
    if found := _BEFORE.fullmatch(text):
        yield _Head(column, found[2], found[1], _with_agent(column, at + found.start(1), at + found.end(1)))
    if "(" not in text and "[" not in text:
        for mark in _MARK.finditer(text):
            left, right = text[: mark.start()], text[mark.end() :]
            if left and right:
                yield _Head(column, left, right, _with_agent(column, at + mark.end(), at + len(text)))
                yield _Head(column, right, left, _with_agent(column, at, at + mark.start()))
    for joint in _JOINT:
        if found := joint.fullmatch(text):
            yield _Head(column, found[1], found[2], _with_agent(column, at + found.start(2), at + found.end(2)))


def _with_agent(column: str, begin: int, end: int) -> str:
    return column[:begin] + AGENT + column[end:]


def _key(part: str) -> str:
    return plain(part) or part.strip().casefold()


def _is_answer(stem: str) -> bool:
    words = set(plain(stem).split("_"))
    known = plain(stem) in {"answer", *also_called("answer")} - {"text"}
    return (known or bool(words & ANSWER_WORDS)) and not words & NO_ANSWER


def _found(table: Table) -> tuple[dict[str, str], dict[str, dict[str, _Head]]] | None:
    """The parts as written by what they are, and columns by stem and part, the answers first; None of other tables."""
    if not wide_heads(table.columns):
        return None
    every = {name: list(_heads(name)) for name in table.columns}
    groups: dict[str, dict[str, _Head]] = {}
    for name, heads in every.items():
        for head in heads:
            if _is_answer(head.stem) and not set(_key(head.part).split("_")) & NO_ANSWER and _is_text(table, name):
                groups.setdefault(plain(head.stem), {}).setdefault(_key(head.part), head)
    candidates = []
    for answers in groups.values():
        if len({head.column for head in answers.values()}) > 1:
            families = _families(table, every, answers)
            graded = sum(any(_is_graded(table, one.column) for one in own.values()) for own in families.values())
            columns = sum(map(len, families.values()))
            length = sum(len(head.part) for head in answers.values())
            fits = (graded > 0, len(answers), graded, columns, length)
            candidates.append((fits, answers, families))
    if not candidates:
        return None
    (graded, *_), answers, families = max(candidates, key=lambda one: one[0])
    parts = {key: head.part for key, head in answers.items()}
    own = {_stem(next(iter(answers.values())).pattern): answers}
    if not graded:
        return parts, own
    _check_families(table, every, parts, own | families)
    return parts, own | families


def _families(
    table: Table, every: Mapping[str, Sequence[_Head]], answers: Mapping[str, _Head]
) -> dict[str, dict[str, _Head]]:
    """The other columns whose heads have one of the parts, by stem."""
    taken = {head.column for head in answers.values()}
    families: dict[str, dict[str, _Head]] = {}
    for name in table.columns:
        fits = [head for head in every[name] if _key(head.part) in answers and name not in taken]
        if fits:
            head = max(fits, key=lambda one: len(one.part))
            families.setdefault(plain(head.stem) or head.stem, {}).setdefault(_key(head.part), head)
    for stem in RATERS & families.keys():  # annotator1 to annotator3 beside two answers graded both
        if any(plain(head.stem) == stem and _key(head.part) not in answers for one in every.values() for head in one):
            del families[stem]
    return {_stem(next(iter(own.values())).pattern): own for own in families.values()}


def _check_families(
    table: Table,
    every: Mapping[str, Sequence[_Head]],
    parts: Mapping[str, str],
    families: Mapping[str, Mapping[str, _Head]],
) -> None:
    """Refuse heads with one of the parts alone, with a part that no answer has, or without any."""
    shapes = {re.sub(r"\d+", "#", key) for key in parts}
    wide = Wide(tuple(parts.values()), tuple(next(iter(own.values())).pattern for own in families.values()))
    taken = {head.column for own in families.values() for head in own.values()}
    for stem, own in families.items():
        first = next(iter(own.values()))
        if len(own) == 1 and len(parts) > 1 and _is_graded(table, first.column):
            _refuse(table, wide, f"{first.column} has no like of another answer")
        for name in table.columns:
            odd = [
                head
                for head in every[name]
                if name not in taken and plain(head.stem) == plain(stem) and _is_graded(table, name)
            ]
            if any(re.sub(r"\d+", "#", _key(head.part)) in shapes for head in odd):
                _refuse(table, wide, f"{name} is of no answer; the answers are {listed(parts.values())}")
        if any(plain(name) == plain(stem) for name in table.columns):
            _refuse(table, wide, f"{stem} stands there with and without {listed(parts.values())}")
    graded = [own for own in families.values() if all(_is_graded(table, head.column) for head in own.values())]
    given = {as_id(value) for own in graded for head in own.values() for value in _values(table, head.column)}
    if once := [name for name in table.columns if name not in taken and _may_be_of(table, name, given)]:
        part = next(iter(parts.values()))
        said = f"the column {once[0]} exists only once, although it holds grades like those of each answer"
        hint = (
            f"if it is about the answer {part}, rename it {once[0]} {part}; with the line below it is about all answers"
        )
        _refuse(table, wide, f"{said}: {hint}")


def _with_firsts(table: Table) -> tuple[Table, dict[str, str]]:
    """The table in which the first of heads alike has a number, too, and the new heads by the old ones.

    ``Reply, Mia, Reply.1, Mia.1``, as pandas names them, become ``Reply 1, Mia 1, Reply 2, Mia 2``; ``Reply, Reply 2``
    likewise. Grades that stand there once get the number of the first answer, so that somebody is asked.

    Raises:
        InputError: There are such heads of answers and grades, and their parts do not tell which belong together.
    """
    known = {_key(name): name for name in table.columns}
    numbered: dict[str, dict[int, str]] = {}
    words: dict[str, dict[str, str]] = {}
    for name in table.columns:
        for head in _heads(name):
            first = known.get(_key(head.stem), name)
            if re.fullmatch(r"\d{1,2}", head.part):
                numbered.setdefault(_key(head.stem), {})[int(head.part)] = name
            if first != name:
                words.setdefault(first, {})[_key(head.part)] = name
    whole = {stem: own for stem, own in numbered.items() if stem not in known and sorted(own) == _upto(own)}
    alike: dict[str, dict[int, str]] = {}
    for stem, own in numbered.items():
        if stem in known and sorted(own) in (_upto(own), [number + 1 for number in _upto(own)]):
            alike[stem] = dict(enumerate((known[stem], *(own[number] for number in sorted(own))), 1))
    texts = {len(own): stem for stem, own in (alike | whole).items() if _is_answer(stem) and _all(_is_text, table, own)}
    for n, answer in texts.items():
        same = {stem: own for stem, own in (alike | whole).items() if len(own) == n}
        graded = [own for own in same.values() if _all(_is_graded, table, own)]
        made = {stem: own for stem, own in same.items() if stem in alike}
        if not graded or not made or any(_all(_says_sides, table, own) for own in same.values()):
            continue
        new = {column: f"{known[stem]} {number}" for stem, own in made.items() for number, column in own.items()}
        if answer in alike:
            given = {as_id(value) for own in graded for column in own.values() for value in _values(table, column)}
            taken = {column for own in same.values() for column in own.values()}
            new |= {name: f"{name} 1" for name in table.columns if name not in taken and _may_be_of(table, name, given)}
        if not set(new.values()) & {name for name in table.columns if name not in new}:
            shown = ", ".join(f"{old} is {now}" for old, now in new.items() if old != now)
            note = f"Heads that are alike are numbered: {shown}."
            return replace(renamed(table, new), notes=(*table.notes, note)), new
    pairs = [(first, part, again) for first, own in words.items() for part, again in own.items()]
    answers = [one for one in pairs if _is_answer(one[0]) and _is_text(table, one[0]) and _is_text(table, one[2])]
    for one, part, other in answers:
        for first, _, second in (pair for pair in pairs if pair[1] == part and _are_grades(table, pair[0], pair[2])):
            seen = f"{one} and {other}, {first} and {second} look like two answers a row with a grade each"
            advice = f"Rename the heads, for example {one} A, {first} A, {one} B, {first} B."
            raise InputError([f"{table.path}:1: {seen}, and the first has no name. {advice}"])
    return table, {}


def _upto(own: Collection[int]) -> list[int]:
    return [*range(1, len(own) + 1)]


def _says_sides(table: Table, column: str) -> bool:
    return {_key(as_id(value)) for value in _values(table, column)} <= WINS


def _all(holds: Callable[[Table, str], bool], table: Table, own: Mapping[int, str]) -> bool:
    return all(holds(table, column) for column in own.values())


def _may_be_of(table: Table, column: str, given: Collection[str]) -> bool:
    """True for grades among these that may be of one of several answers."""
    own = {as_id(value) for value in _values(table, column)}
    return bool(own) and own <= set(given) and not is_nobodys(column)


def _are_grades(table: Table, *columns: str) -> bool:
    """True for grades with a value in common."""
    values = [{as_id(value) for value in _values(table, name)} for name in columns]
    return all(_is_graded(table, name) for name in columns) and bool(set.intersection(*values))


def _refuse(table: Table, wide: Wide, why: str) -> None:
    line = (
        f"wide = {{agents = {json.dumps(list(wide.agents), ensure_ascii=False)}, "
        f"columns = {json.dumps(list(wide.columns), ensure_ascii=False)}}}"
    )
    seen = f"{table.path}:1: it looks like one row a question with {plural(len(wide.agents), 'answer')}, but {why}"
    advice = f"Say how it is read, in {PROJECT} beside it: {line}, the answers first; or wide = false."
    raise InputError([f"{seen}. {advice}"])


def _values(table: Table, column: str) -> list[object]:
    return table.column(column).given()


def _is_text(table: Table, column: str) -> bool:
    """False for numbers, and for words that are grades."""
    grades = {grade for value in _values(table, column) if (grade := as_grade(value)) is not None}
    return bool(grades) and not all(map(is_graded, grades))


def _is_graded(table: Table, column: str) -> bool:
    """Few different values, or numbers; or nothing yet."""
    grades = [grade for value in _values(table, column) if (grade := as_grade(value)) is not None]
    words = {grade for grade in grades if isinstance(grade, str)}
    return not grades or not words or (len(words) <= MOST_GRADES and len(words) <= max(2, len(grades) / 2))


def _winners(table: Table, sides: set[str], taken: Collection[str]) -> list[str]:
    """The columns that say which answer is better: by the name, or by what stands there (a side, or its agent)."""
    found = []
    for name in table.columns:
        written = set() if name in taken else {as_id(value) for value in _values(table, name)}
        if not written or len(written) > WRITTEN * MOST_GRADES:  # texts, which are many, are not looked into
            continue
        values = set(map(_key, written))
        if len(values) > MOST_GRADES:
            continue
        unknown = values - sides - WINS
        said = values & sides and len(unknown) < len(PAIR) and all(len(word) > 1 for word in unknown)
        if said or set(plain(name).split("_")) & WINNER_WORDS:
            found.append(name)
    return found


def _pairs(table: Table, parts: Mapping[str, str], answers: Mapping[str, _Head], winners: Sequence[str]) -> Table:
    """The table with two answers as ``answer_a`` and ``answer_b``, and the winner as one of them."""
    sides = dict(zip(parts, ("a", "b"), strict=True))
    if set(parts) in ({"a", "b"}, {"1", "2"}) or {*PAIR, *PAIR_AGENTS} & set(table.columns):
        return table  # known by these names
    new = {answers[key].column: f"answer_{side}" for key, side in sides.items()}
    agents: Row = {f"agent_{side}": parts[key] for key, side in sides.items()}
    rows = []
    for row in table.rows:
        made: Row = {new.get(name, name): value for name, value in row.items()} | agents
        for winner in winners:
            if not is_missing(value := row.get(winner)):
                made[winner] = sides.get(_key(as_id(value)), value)
        rows.append(made)
    columns = (*(new.get(name, name) for name in table.columns), *agents)
    said = " and ".join(new)
    note = f"Two answers a row and the better one in {listed(winners)}: {said} are read as answer_a and answer_b."
    return replace(table, columns=columns, rows=tuple(rows), notes=(*table.notes, note))


def _melted(table: Table, families: Mapping[str, Mapping[str, _Head]], wide: Wide, *, said: bool = False) -> Table:
    """One row an answer; an answer that a row says nothing about has none.

    Where somebody has ``said`` how it is read, a column of a name alone (``Mia`` beside ``Mia r1``) is left out.
    """
    taken = {head.column for own in families.values() for head in own.values()}
    shared = [name for name in table.columns if name not in taken and (not said or name not in families)]
    if clash := [name for name in ("agent", *families) if name in shared]:
        seen = f"{table.path}:1: column {clash[0]!r} stands beside several answers a row"
        raise InputError([f"{seen}, which become rows with a column of that name. Rename it."])
    answers = next(iter(families.values()))
    names = {key: head.part for key, head in answers.items()}
    id_of = _id_column(table, shared)
    rows: list[Row] = []
    lines: list[int] = []
    for number, (row, line) in enumerate(zip(table.rows, table.lines, strict=True), 1):
        rest: Row = {name: row[name] for name in shared if name in row and name != id_of}
        if "query_id" not in shared:
            rest["query_id"] = as_id(row[id_of]) if id_of else str(number)
        for key, agent in names.items():
            cells = {stem: row.get(own[key].column) if key in own else None for stem, own in families.items()}
            if not all(map(is_missing, cells.values())):
                rows.append({**rest, "agent": agent, **cells})
                lines.append(line)
    columns = [name for name in shared if name != id_of]
    columns += ["query_id"] * ("query_id" not in shared) + ["agent", *families]
    replies = ", ".join(head.column for head in answers.values())
    query = "" if "query_id" in shared else f"; {id_of or 'the row number'} is the query's id"
    note = (
        f"One row a question with {len(names)} answers ({replies}) is read as one row an answer: the agents are "
        f"{listed(names.values())}; {listed([*families][1:]) or 'no other column'} of each{query}."
    )
    return replace(
        table, columns=tuple(columns), rows=tuple(rows), lines=tuple(lines), notes=(*table.notes, note), wide=wide
    )


def _id_column(table: Table, shared: Sequence[str]) -> str | None:
    """The column that names each row: its id is that of the query."""
    for name in shared:
        if plain(name) in {"item_id", *also_called("item_id")}:
            ids = list(map(as_id, table.column(name).given()))
            if len(ids) == len(table.rows) == len(set(ids)):
                return name
    return None
