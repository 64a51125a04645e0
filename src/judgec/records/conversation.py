"""Turns of a conversation, and the text by which an item holds each."""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

TurnChoice = Literal["last", "each", "whole"]
LAST: TurnChoice = "last"
EACH: TurnChoice = "each"
WHOLE: TurnChoice = "whole"
USER, ASSISTANT = "user", "assistant"
RESULTS = ("tool", "function")  # roles whose turns are what a tool returned
ROLES = ("system", "developer", USER, ASSISTANT, *RESULTS)
SPEAKERS = {"human": USER, "customer": USER, "ai": ASSISTANT, "bot": ASSISTANT}  # what others call two of these
TURNS = ("conversation", "conversation_a", "conversation_b")  # inputs that hold the turns before an answer
CHATS = ("messages", "conversations")  # what OpenAI's chat logs and ShareGPT call a conversation
DIALOGUE = "dialogue"  # the input that says that what is graded is a whole dialogue

_WRITTEN = re.compile(rf"({'|'.join(ROLES)})(?: \(([\w.-]+)\))?: ", re.ASCII)


@dataclass(frozen=True, slots=True)
class Message:
    """One message.

    Args:
        role: One of ``ROLES``.
        content: What was said; of a call its name and arguments too.
        name: Of the tool or the speaker, or empty.
        calls: It calls tools, so it is a step towards an answer and no answer.
    """

    role: str
    content: str
    name: str = ""
    calls: bool = False


def role_of(turn: Mapping[str, object]) -> object:
    """The role that a turn of a file has: ``role``, ShareGPT's ``from``, LangChain's ``type``; None where it has none.

    One that judgec knows by its own name or by another is that; any other is as it stands.
    """
    said = next((turn[key] for key in ("role", "from", "type") if turn.get(key) is not None), None)
    name = said.strip().casefold() if isinstance(said, str) else ""
    known = {**SPEAKERS, "gpt": ASSISTANT} if "from" in turn else SPEAKERS
    return name if name in ROLES else known.get(name, said)


def written(turn: Message) -> str:
    """A turn as one text: ``user: How wide?``, ``tool (search): 70 m3/h``. The role always comes first."""
    return f"{speaker(turn)}: {turn.content}"


def speaker(turn: Message) -> str:
    """The speaker: ``user``, ``tool (search)``."""
    name = re.sub(r"[^\w.-]+", "_", turn.name, flags=re.ASCII)
    return f"{turn.role}{f' ({name})' if name else ''}"


def as_turn(text: str) -> Message:
    """The turn that ``written`` wrote; any other text is a user's."""
    found = _WRITTEN.match(text)
    return Message(USER, text) if found is None else Message(found[1], text[found.end() :], found[2] or "")


def is_written(text: str) -> bool:
    """True for what ``written`` writes."""
    return _WRITTEN.match(text) is not None


def holds_turns(field: str, fields: Container[str]) -> bool:
    """True if the texts of an input field are turns: those before an answer, or the answer that is a whole dialogue.

    Args:
        field: Its name.
        fields: All that the item has.
    """
    return field in TURNS or (DIALOGUE in fields and field.startswith("answer"))


def spoken(value: str | tuple[str, ...]) -> str:
    """An answer as one text; of a whole dialogue what the assistant says in it."""
    if isinstance(value, str):
        return value
    return "\n\n".join(turn.content for turn in map(as_turn, value) if turn.role == ASSISTANT)


def usual_turn(fields: Sequence[str]) -> TurnChoice:
    """The part of a conversation that a judge of these inputs grades."""
    return WHOLE if DIALOGUE in fields else LAST
