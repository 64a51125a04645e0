"""Reads the instruction in a reflection model's reply, in whatever frame it comes.

DSPy's proposer asks for JSON and takes nothing else, yet models often answer in the chat format of other prompts, or
in a fenced block, as GEPA's own prompt asks for.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

FIELD = "new_instruction"
FORMATS = f"JSON with {FIELD!r}, '[[ ## {FIELD} ## ]]' or one ``` block"

_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_HEADER = re.compile(r"^[ \t>*`]*\[\[ *## *(\w+) *## *\]\][ \t*]*", re.MULTILINE)
_TAGGED = re.compile(r"<(\w*instructions?)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_LANGUAGE = re.compile(r"\A[\w+-]*[ \t]*\n")
_FENCE = "```"


class AnyFormat(dspy.JSONAdapter):  # type: ignore[misc]  # DSPy's classes are untyped
    """DSPy's JSON adapter, whose replies may also come in the chat format, in a tag or in a fenced block."""

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:  # as DSPy types it
        """The output fields of a reply.

        Raises:
            AdapterParseError: When there is no instruction in it.
        """
        if set(signature.output_fields) != {FIELD}:
            found: dict[str, Any] = super().parse(signature, completion)
            return found
        text = instruction_in(completion)
        if text is None:
            raise AdapterParseError(
                adapter_name=type(self).__name__,
                signature=signature,
                lm_response=completion,
                message=f"No instruction could be read; {FORMATS} is valid.",
            )
        return {FIELD: text}


def instruction_in(reply: str) -> str | None:
    """The new instruction that a reply holds, or None: text without any frame may be anything, a refusal too."""
    bare = _THOUGHTS.sub("", reply).strip()
    for read in (_in_json, _in_chat, _in_tag, _in_fence):
        text = read(bare)
        if text is not None and text.strip():
            return text.strip()
    return None


def _in_json(text: str) -> str | None:
    for candidate in (text, _in_fence(text) or "", text[text.find("{") : text.rfind("}") + 1]):
        try:
            found = json.loads(candidate, strict=False)  # a line break within a string is common
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return _named({str(key): value for key, value in found.items() if isinstance(value, str)})
    return None


def _in_chat(text: str) -> str | None:
    headers = list(_HEADER.finditer(text))
    fields: dict[str, str] = {}
    for number, header in enumerate(headers, 1):
        end = headers[number].start() if number < len(headers) else len(text)
        fields.setdefault(header[1], text[header.end() : end])
    found = _named(fields)
    return None if found is None else _unfenced(found)


def _in_tag(text: str) -> str | None:
    return _named({name.lower(): _unfenced(inner) for name, inner in _TAGGED.findall(text)})


def _in_fence(text: str) -> str | None:
    """What stands between the first and the last fence: an instruction may have blocks of its own."""
    begin, end = text.find(_FENCE), text.rfind(_FENCE)
    if begin < 0:
        return None
    inner = text[begin + len(_FENCE) : end if end > begin else None]
    return _LANGUAGE.sub("", inner).strip()


def _unfenced(text: str) -> str:
    """The text without a fence around all of it, and without the end of one that began before it."""
    bare = text.strip()
    if bare.startswith(_FENCE) and bare.endswith(_FENCE) and len(bare) > len(_FENCE):
        return _in_fence(bare) or ""
    return bare.removesuffix(_FENCE).strip() if bare.count(_FENCE) % 2 else bare


def _named(fields: Mapping[str, str]) -> str | None:
    """The field that is asked for, or the only one that is named like it ("improved_instruction")."""
    if FIELD in fields:
        return fields[FIELD]
    like = [text for name, text in fields.items() if "instruction" in name.lower() and "current" not in name.lower()]
    return like[0] if len(like) == 1 else None
