"""Columns that hold conversations: checked, and made into the query, the answer and the turns before them."""

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from judgec.errors import InputError, UserError
from judgec.labels.rows.items import digest
from judgec.records.conversation import (
    ASSISTANT,
    CHATS,
    DIALOGUE,
    EACH,
    RESULTS,
    ROLES,
    SPEAKERS,
    TURNS,
    USER,
    WHOLE,
    Message,
    TurnChoice,
    as_turn,
    is_written,
    role_of,
    written,
)
from judgec.records.counts import plural
from judgec.records.tasks.spec import PREFIXES
from judgec.table.rows.cells import as_id, as_number, as_text, as_texts, is_missing
from judgec.table.rows.columns import ROLE, listed
from judgec.table.table import Row, Table

TURN = "turn"  # of a pair's row: which answer is compared, from 1, as MT-Bench has it
DIALOGUE_ID = "query_id"  # the column that ``with_turns`` gives every row
ONE, *SIDES = TURNS
NEEDED = 'a list of {"role": ..., "content": ...} is needed'
MOST_SAID = 5  # rows that are left out, in a note
_OF_TURN = {
    "role",
    "from",
    "type",
    "content",
    "value",
    "name",
    "tool_calls",
}  # keys of a turn that say what it is; others are about it
_LABELS = {"grade", "accept", "rationale"}  # and aspects: what a row says of itself, not of each of its turns


class _FaultError(ValueError):
    """A fault of a row.

    Args:
        fault: What is wrong.
        role: The role that nobody knows, where that is it.
    """

    def __init__(self, fault: str, role: str = "") -> None:
        super().__init__(fault)
        self.role = role


@dataclass(frozen=True, slots=True)
class _Said:
    """A conversation and, turn by turn, what else its file says of the turn."""

    turns: tuple[Message, ...]
    more: tuple[Mapping[str, object], ...]


def holding(columns: Iterable[str]) -> tuple[str, ...]:
    """The columns among these that hold a conversation; ``CHATS`` only where nothing else is judged."""
    names = set(columns)
    if names & {"document", "passage"}:  # what is graded is no answer
        return ()
    found = [name for name in TURNS if name in names]
    judged = {"answer", "answer_a", "answer_b", "document"}
    chats = [] if ONE in names or names & judged else [name for name in CHATS if name in names][:1]
    return (*found, *chats)


def with_turns(
    table: Table, turn: TurnChoice | None = None, usual: TurnChoice | None = None, *, every: bool = False
) -> Table:
    """The table with what is judged of each conversation as query and answer, and what was said before it.

    A row whose conversation is none is left out, and a note says so; most of them are an error. Rows without a
    conversation, and tables without such a column, are as they were; so are those whose column holds plain words beside
    a query and an answer, unless a turn is chosen.

    Args:
        table: Under judgec's names of columns.
        turn: ``last``: the last answer, in the conversation before it. ``each``: a row for each answer. ``whole``: the
            dialogue; ``dialogue`` says how long it is. None: nobody chose.
        usual: What is judged then; None: ``last``.
        every: Each row is needed: one whose conversation is none is an error.

    Raises:
        InputError: Every conversation that is none, with its place; of roles that nobody knows, the roles.
        UserError: A turn is chosen and there is no conversation, or each turn of two of them.
    """
    names = holding(table.columns)
    if turn is not None and not names:
        raise UserError(
            f"{table.path}: --turn {turn}; none of its columns ({', '.join(table.columns)}) holds conversations. "
            "Drop --turn, or rename theirs with --map THEIRS=conversation."
        )
    if not names or (turn is None and _of_another_kind(table, names)):
        return table
    turn = turn or usual
    if turn == EACH and set(SIDES) & set(names):
        raise UserError(
            f"{table.path}: --turn each; two conversations are compared in their last answers or as a whole. "
            "Give --turn last or --turn whole."
        )
    rows: list[Row] = []
    lines: list[int] = []
    faults: list[tuple[int, _FaultError]] = []
    for index, row in enumerate(table.rows):
        try:
            made = list(_rows(row, names, turn))
        except _FaultError as fault:
            faults.append((index, fault))
            continue
        rows += made
        lines += [table.lines[index]] * len(made)
    if faults:
        held = sum(any(not is_missing(row.get(name)) for name in names) for row in table.rows)
        if 2 * sum(bool(fault.role) for _, fault in faults) > held:
            raise InputError([_unknown_roles(table, names)])
        said = [f"{table.where(index)}: {fault}" for index, fault in faults]
        if every or 2 * len(faults) > held:
            raise InputError(said)
        more = f" And {len(said) - MOST_SAID} more." if len(said) > MOST_SAID else ""
        left = f"{plural(len(said), 'row')} of {len(table.rows)} left out: {' '.join(said[:MOST_SAID])}{more}"
        table = replace(table, notes=(*table.notes, left))
    return replace(table, columns=columns_with(table.columns, rows), rows=tuple(rows), lines=tuple(lines))


def roles_in(table: Table, names: Sequence[str]) -> tuple[Counter[str], dict[str, str]]:
    """How often each role speaks in columns of conversations; and what those that nobody knows may be, ``?`` or one."""
    seen: Counter[str] = Counter()
    for cell in (cell for name in names for cell in table.column(name).given()):
        with suppress(_FaultError):
            said = [role_of(one) for one in _turns_in(cell, "") if isinstance(one, Mapping)]
            seen.update(str(role) for role in said if role is not None)
    strange = [role for role in seen if role not in ROLES]
    lacking = [role for role in (USER, ASSISTANT) if role not in seen]
    return seen, dict.fromkeys(strange, lacking[0] if len(strange) == len(lacking) == 1 else "?")


def _unknown_roles(table: Table, names: Sequence[str]) -> str:
    """The fault of a table in most of whose conversations somebody speaks whose role nobody knows."""
    seen, strange = roles_in(table, names)
    line = " ".join(f"--map {shlex.quote(f'{ROLE}{role}={ours}')}" for role, ours in strange.items())
    roles = listed(f"{role} ({count})" for role, count in seen.most_common())
    known = listed([*ROLES, *SPEAKERS])
    return f"{table.path}: the roles of turns are {roles}; known are {known}. Say what the others are: {line}."


def _of_another_kind(table: Table, names: Sequence[str]) -> bool:
    """True if the columns hold something else of that name, such as ids, beside what is judged."""
    if not {"query", "answer"} <= set(table.columns):
        return False
    cells = [value for name in names for value in table.column(name).values if not is_missing(value)]
    return bool(cells) and not any(
        not isinstance(cell, str | int | float) or (isinstance(cell, str) and cell.lstrip()[:1] in {"[", "{"})
        for cell in cells
    )


def require_labelled_turns(table: Table) -> None:
    """Check that turns have labels of their own, after ``with_turns`` with ``each``.

    Raises:
        InputError: None has any.
    """
    if not any(_of_row(name) and not is_missing(value) for row in table.rows for name, value in row.items()):
        example = '{"role": "assistant", "content": "...", "grade": 5}'
        seen = f"{table.path}:1: --turn each, and no turn has a label; the label of a turn stands in it: {example}"
        raise InputError([f"{seen}. Add them, or judge dialogues with --turn whole."])


def judged_row(row: Row, turn: TurnChoice) -> Row:
    """One row as ``with_turns`` makes it, of its last answer or the whole dialogue.

    Raises:
        ValueError: Its conversation is none.
    """
    return next(_rows(row, holding(row), turn))


def columns_with(columns: Iterable[str], rows: Iterable[Row] = ()) -> tuple[str, ...]:
    """The columns that a table has after ``with_turns``.

    Args:
        columns: Those of the file.
        rows: As they became.
    """
    known = dict.fromkeys(columns)
    pair = bool({*SIDES, "answer_a", "answer_b"} & set(known))
    made = ("query", "answer_a", "answer_b") if pair else ("query", "answer")
    found = dict.fromkeys((*known, *(made if holding(known) else ()), *(name for row in rows for name in row)))
    return tuple(name for name in found if name not in CHATS or name not in holding(known))


def _rows(row: Row, names: Sequence[str], turn: TurnChoice | None) -> Iterator[Row]:
    said = {name: _said(row[name], name) for name in names if not is_missing(row.get(name))}
    rest = {name: value for name, value in row.items() if name not in names}
    if not said:
        yield rest
        return
    if not any(side in said for side in SIDES) and not {"answer_a", "answer_b"} & row.keys():
        ((name, one),) = said.items()
        one = _completed(one, row, "answer")
        rest = _named(rest, one)
        if turn == EACH:
            yield from _each(rest, one, name)
            return
        yield rest | _judged(one, rest, name, turn)
        return
    yield _pair(rest, said, turn)


def _turns_in(value: object, name: str) -> Sequence[object]:
    """The turns of a cell, before anybody looks at them.

    Raises:
        _FaultError: It is no list.
    """
    given = value
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            given = json.loads(value)
        except json.JSONDecodeError as error:
            raise _FaultError(f"{name} is no JSON ({error.msg} at {error.pos}); {NEEDED}. Mend the row.") from None
    if not isinstance(given, list | tuple):
        kind = "text" if isinstance(given, str) else type(given).__name__
        raise _FaultError(f"{name} is {kind}; {NEEDED}. Mend the row, or rename the column with --map {name}=other.")
    return given


def _said(value: object, name: str) -> _Said:
    """A conversation as the file has it.

    Raises:
        _FaultError: It is none.
    """
    turns: list[Message] = []
    more: list[Mapping[str, object]] = []
    for number, one in enumerate(_turns_in(value, name), 1):
        if isinstance(one, str) and is_written(one):  # as judgec writes turns in tables of its own
            turns.append(as_turn(one))
            more.append({})
            continue
        if not isinstance(one, Mapping):
            raise _FaultError(f"{name}, turn {number}: {_short(one)} is no turn; {NEEDED}. Mend the row.")
        spoken = _with_content(one)
        turns.append(_turn(spoken, f"{name}, turn {number}"))
        more.append({key: of for key, of in spoken.items() if key not in _OF_TURN and of is not None})
    return _Said(tuple(turns), tuple(more))


def _with_content(one: Mapping[str, object]) -> Mapping[str, object]:
    """The turn with its only text as ``content``, where no key is called so."""
    texts = [key for key, of in one.items() if key not in _OF_TURN and isinstance(of, str)]
    if len(texts) != 1 or {"content", "value", "tool_calls"} & one.keys():
        return one
    return {key: of for key, of in one.items() if key != texts[0]} | {"content": one[texts[0]]}


def _turn(one: Mapping[str, object], where: str) -> Message:
    role = role_of(one)
    if role not in ROLES:
        seen = "no role" if role is None else f"role {_short(role)}"
        advice = f"Say what it is with --map {ROLE}{role}=assistant."
        if role is None:
            advice = f"Its keys are {listed(one)}: call the one that says who speaks role."
        raise _FaultError(f"{where}: {seen}; valid are {listed([*ROLES, *SPEAKERS])}. {advice}", str(role or ""))
    content, calls, name = one.get("content", one.get("value")), one.get("tool_calls"), one.get("name")
    if is_missing(calls):
        calls = []
    if not isinstance(calls, list):
        raise _FaultError(f"{where}: tool_calls is {type(calls).__name__}; a list of calls is needed. Mend the row.")
    if content is None and not {"content", "value"} & one.keys() and not calls:
        raise _FaultError(f"{where}: no content; its keys are {listed(one)}, and content is needed. Rename the text's.")
    lines = [_text(content, where), *(_call(call, where) for call in calls)]
    text = "\n".join(line for line in lines if line)
    return Message(str(role), text, "" if is_missing(name) else as_id(name), calls=bool(calls))


def _text(content: object, where: str) -> str:
    """The text of a message; of one in parts that of the parts, and in brackets what is no text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return as_text(content)
    if not isinstance(content, list) or not all(isinstance(part, str | Mapping) for part in content):
        raise _FaultError(f"{where}: content is {_short(content)}; a text, or a list of parts is needed. Mend the row.")
    parts = [part if isinstance(part, str) else part.get("text") or f"[{part.get('type', 'part')}]" for part in content]
    return "\n".join(map(as_text, parts))


def _call(call: object, where: str) -> str:
    named = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(named, Mapping) or not isinstance(named.get("name"), str):
        raise _FaultError(f"{where}: {_short(call)} is no call; a name and arguments are needed. Mend the row.")
    arguments = next((named[key] for key in ("arguments", "args") if not is_missing(named.get(key))), "")
    return f"[calls {named['name']}({as_text(arguments)})]"


def _completed(said: _Said, row: Row, answer: str) -> _Said:
    """The conversation with the query and the answer that stand in columns of their own, where it lacks them."""
    if answer not in row:
        return said
    text = "" if is_missing(row[answer]) else as_text(row[answer])
    last = said.turns[-1] if said.turns else None
    if last and last.role == ASSISTANT and (not text or last.content.strip() == text.strip()):
        return said
    query = "" if is_missing(row.get("query")) else as_text(row["query"])
    asked = last is not None and last.role == USER and (not query or last.content.strip() == query.strip())
    more = [Message(USER, query)] if query and not asked else []
    more.append(Message(ASSISTANT, text))
    return _Said((*said.turns, *more), (*said.more, *({} for _ in more)))


def _named(row: Row, said: _Said) -> Row:
    """The row with the identity of its dialogue: what the users said, whoever answered."""
    if not is_missing(row.get(DIALOGUE_ID)):
        return row
    given = row.get("conversation_id")
    users = [turn.content for turn in said.turns if turn.role == USER]
    return row | {DIALOGUE_ID: digest(users)[:16] if is_missing(given) else as_id(given)}


def _answers(said: _Said, name: str) -> list[int]:
    """The positions of the turns that answer a user.

    Raises:
        _FaultError: There is none.
    """
    first = next((at for at, turn in enumerate(said.turns) if turn.role == USER), len(said.turns))
    found = [at for at, turn in enumerate(said.turns) if turn.role == ASSISTANT and at > first and not turn.calls]
    if not found:
        roles = ", ".join(turn.role for turn in said.turns[:6]) or "no turns"
        seen = f"{name} ({roles}{', ...' if len(said.turns) > 6 else ''}) has no answer to a user"
        raise _FaultError(f"{seen}; an assistant's turn behind a user's is needed. Mend the row, or delete it.")
    return found


def _until(row: Row, said: _Said, name: str) -> _Said:
    """The conversation up to the answer that the row's ``turn`` counts, where more follows.

    Raises:
        _FaultError: It counts from 0, or otherwise.
    """
    turn, answers = as_number(row.get(TURN)), _answers(said, name)
    if turn is None or len(answers) < 2 or turn >= len(answers):
        return said
    if turn < 1 or not turn.is_integer():
        seen = f"{TURN} is {_short(row[TURN])}, and {name} has {len(answers)} answers; they are counted from 1"
        raise _FaultError(f"{seen}. Correct it, or rename the column with --map {TURN}=other.")
    end = answers[int(turn) - 1] + 1
    return _Said(said.turns[:end], said.more[:end])


def _judged(said: _Said, row: Row, name: str, turn: TurnChoice | None) -> Row:
    answers = _answers(said, name)
    if turn != WHOLE:
        return _answer(said, answers[-1], row)
    first = next(turn.content for turn in said.turns if turn.role == USER)
    spoken = sum(turn.role == ASSISTANT for turn in said.turns)
    contexts = dict.fromkeys(text for more in said.more for text in as_texts(more.get("contexts"))[0])
    found: Row = {
        "query": first,
        "answer": tuple(map(written, said.turns)),
        DIALOGUE: f"{plural(len(said.turns), 'turn')}, {spoken} of them the assistant's",
    }
    return found | ({"contexts": list(contexts)} if contexts and is_missing(row.get("contexts")) else {})


def _answer(said: _Said, at: int, row: Row) -> Row:
    """One answer: what it answers, and what was said before that.

    What tools returned in between is its contexts, unless the file has some.
    """
    user = max(before for before in range(at) if said.turns[before].role == USER)
    between = said.turns[user + 1 : at]
    contexts = as_texts(said.more[at].get("contexts"))[0]
    results = tuple(turn.content for turn in between if turn.role in RESULTS and turn.content.strip())
    given = bool(contexts) or not is_missing(row.get("contexts"))
    before = [*said.turns[:user], *(turn for turn in between if given or turn.role not in RESULTS)]
    found: Row = {"query": said.turns[user].content, "answer": said.turns[at].content}
    if before:
        found[ONE] = list(map(written, before))
    if contexts or (results and not given):
        found["contexts"] = list(contexts or results)
    return found


def _each(row: Row, said: _Said, name: str) -> Iterator[Row]:
    """A row for each answer, with what its turn says of it; labels of the row are none of its turns."""
    rest = {key: value for key, value in row.items() if not _of_row(key) and key != "answer"}
    for number, at in enumerate(_answers(said, name), 1):
        named = {} if is_missing(row.get("item_id")) else {"item_id": f"{as_id(row['item_id'])}#{number}"}
        more = {key: value for key, value in said.more[at].items() if key != "contexts"}
        yield more | rest | named | _answer(said, at, rest)


def _of_row(column: str) -> bool:
    return column in _LABELS or column.startswith(PREFIXES)


def _pair(row: Row, said: Mapping[str, _Said], turn: TurnChoice | None) -> Row:
    """Two conversations, or two answers in one."""
    if ONE in said and not set(SIDES) & said.keys():
        turns = list(said[ONE].turns)
        if turns and turns[-1].role == USER and is_missing(row.get("query")):
            row = row | {"query": turns[-1].content}
        row = _named(row, said[ONE])
        if turns and turns[-1].role == USER and turns[-1].content.strip() == as_text(row.get("query")).strip():
            turns.pop()
        return row | ({ONE: list(map(written, turns))} if turns else {})
    found: dict[str, Row] = {}
    for side in SIDES:
        answer = side.replace(ONE, "answer")
        whole = _completed(said.get(side, _Said((), ())), row, answer)
        row = _named(row, whole)
        found[answer] = _judged(_until(row, whole, side), row, side, turn)
    (query, *others) = dict.fromkeys(str(one["query"]).strip() for one in found.values())
    if others:
        raise _FaultError(
            f"the conversations end in different questions ({_short(query)}, {_short(others[0])}); last answers are "
            "compared to one question. Give --turn whole."
        )
    for answer, one in found.items():
        row = row | {"query": one["query"], answer: one["answer"]}
        if ONE in one:
            row = row | {answer.replace("answer", ONE): one[ONE]}
        if DIALOGUE in one:
            lengths = sorted(str(each[DIALOGUE]) for each in found.values())  # as of (b, a)
            row = row | {DIALOGUE: "; ".join(lengths)}
    return row


def _short(value: object) -> str:
    text = " ".join(as_text(value).split())
    return repr(text if len(text) <= 40 else f"{text[:39]}…")
