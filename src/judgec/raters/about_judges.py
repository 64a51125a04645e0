"""Reads ``STEM.judges.json``: models, prompts, ranges and forms of recorded judges, beside their verdicts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from judgec.errors import InputError
from judgec.labels.rows.ranges import Range
from judgec.raters.replies import is_form
from judgec.records.tasks.registry import plain
from judgec.table.rows.cells import as_text, is_missing

ORDER = "order"  # of a pair's answers
EVERY = ""  # the aspect of a prompt that is for all
ROLES = frozenset({"system", "user", "assistant", "developer"})
ABOUT = "judges.json"  # STEM.judges.json beside STEM.verdicts.* or STEM.*
VERDICTS = ".verdicts"
A_FORM = "a text with {v} in the place of the grade, such as 'Score: {v}', is valid"
AS_SHOWN, MAPPED = ORDERS = ("as_shown", "mapped")  # what a verdict on a pair in the other order says
EXPLAINED = "as shown, A is the answer that stood first; mapped back, A is answer_a in both orders"


@dataclass(frozen=True, slots=True)
class AboutJudge:
    """Facts known of a recorded judge beside its verdicts.

    Args:
        model: The language model, or None.
        prompt: Its prompt as text, or None; of several aspects their prompts one below the other.
        note: Whatever else somebody wrote.
        messages: The prompt as it was sent: role and text of each turn, by aspect, ``""`` for all; empty when unknown.
        range: From the worst to the best of its numbers, where these are not grades of the scale.
        order: What a verdict on a pair in the other order means, a key of ``ORDERS``; None where nobody says.
        verdict: The form of its replies, with ``{v}`` in the place of the grade, which alone is read; None for any.
    """

    model: str | None = None
    prompt: str | None = None
    note: str = ""
    messages: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    range: Range | None = None
    order: str | None = None
    verdict: str | None = None


def read_about(path: Path) -> tuple[dict[str, AboutJudge], str | None]:
    """Reads what ``STEM.judges.json`` beside the file says of each judge, and of the order of all; nothing without one.

    Raises:
        InputError: When it is not an object of objects, beside ``"order"``, or that is another one.
        UserError: A range is none.
    """
    stems = dict.fromkeys((path.name.partition(VERDICTS)[0], path.stem))
    file = next((one for name in stems if (one := path.parent / f"{name}.{ABOUT}").is_file()), None)
    if file is None:
        return {}, None
    where = f"{file}:1"
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"))
    except (ValueError, UnicodeDecodeError) as error:
        line = getattr(error, "lineno", 1)
        raise InputError([f"{file}:{line}: not JSON in UTF-8; an object of judges is needed. Fix the file."]) from error
    of_all = content.pop(ORDER) if isinstance(content, dict) and isinstance(content.get(ORDER), str) else None
    if not isinstance(content, dict) or not all(isinstance(one, dict) for one in content.values()):
        valid = "{JUDGE: {model, prompt}} is valid. Fix the file, or remove it."
        raise InputError([f"{where}: not an object of objects; {valid}"])
    order = _order(of_all, where)
    about = {
        name: AboutJudge(
            _text(one.get("model")),
            _prompt(one.get("prompt")),
            _text(one.get("note")) or "",
            messages_of(one.get("prompt")),
            Range.parse(_ends(one["range"]), f"{where}: {name}") if "range" in one else None,
            _order(one.get(ORDER), where),
            _verdict(one["verdict"], f"{where}: {name}") if "verdict" in one else None,
        )
        for name, one in content.items()
    }
    return about, order


def _order(value: object, where: str) -> str | None:
    said = None if value is None else plain(str(value))
    if said not in (None, *ORDERS):
        valid = f"{' or '.join(map(repr, ORDERS))} is valid. Correct it: {EXPLAINED}."
        raise InputError([f"{where}: order {said!r}; {valid}"])
    return said


def _ends(value: object) -> str:
    return "..".join(map(str, value)) if isinstance(value, list) else str(value)


def _verdict(value: object, where: str) -> str:
    if not isinstance(value, str) or not is_form(value):
        raise InputError([f"{where}: verdict is {value!r}; {A_FORM}. Fix the file."])
    return value


def _text(value: object) -> str | None:
    return None if is_missing(value) else as_text(value)


def _prompt(value: object) -> str | None:
    """A prompt as one text: a system and a user turn, or one prompt an aspect, under their names."""
    if isinstance(value, dict):
        return "\n\n".join(f"[{name}]\n{_prompt(one)}" for name, one in value.items() if not is_missing(one)) or None
    return _text(value)


def messages_of(prompt: object) -> dict[str, tuple[tuple[str, str], ...]]:
    """A prompt as it was sent: one text, turns by role, or either of these by aspect; nothing where there is none.

    A turn may be one text for all aspects, or one for each: ``{"system": TEXT, "user": {ASPECT: TEXT}}``.
    """
    if not isinstance(prompt, dict):
        return {} if is_missing(prompt) else {EVERY: (("user", as_text(prompt)),)}
    known = {str(name): one for name, one in prompt.items() if not is_missing(one)}
    if not known or not known.keys() <= ROLES:
        return {name: found[EVERY] for name, one in known.items() if EVERY in (found := messages_of(one))}
    texts = {role: one if isinstance(one, dict) else {EVERY: one} for role, one in known.items()}
    aspects = dict.fromkeys(str(name) for own in texts.values() for name in own)
    if len(aspects) > 1:
        aspects.pop(EVERY, None)
    turns = {
        aspect: tuple((role, as_text(own.get(aspect, own.get(EVERY)))) for role, own in texts.items())
        for aspect in aspects
        if all(not is_missing(own.get(aspect, own.get(EVERY))) for own in texts.values())
    }
    return {aspect: one for aspect, one in turns.items() if one}
