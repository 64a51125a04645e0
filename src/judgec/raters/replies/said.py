"""Takes off a reply what is none of it, reasoning and marks of its end; names why there is no verdict in one."""

import re
from collections.abc import Callable, Sequence
from functools import cache

WHOLE = "stop"  # why a reply ended that says all that it was to say
CUT = {"length", "max_tokens", "model_length"}  # why one ended that does not
LONGEST = 1 << 20  # characters that are read, from the end
SHOWN = 60  # characters of a bad reply in the reason
SPACE = " \t\r\n\u00a0"
INVISIBLE = (
    "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\ufe0f\u20e3\ufeff"
)
WRAPPING = SPACE + "\"'`*_“”„«»「」✅✔❌☑" + INVISIBLE
UNSEEN = re.compile(f"[{INVISIBLE}]")
_GRADE = r"(?:grade|judge|rate|score|assess|evaluate|comply|assign)"
REFUSES = re.compile(
    rf"\bi(?: am|['’]m) (?:sorry|unable|not able)\b|\bi (?:can(?:not| not|['’]t)|won['’]t|will not)\b"
    rf"|\bi (?:must |have to |would |will )?(?:refuse|decline)\b|\bi (?:do not|don['’]t) (?:want|wish|{_GRADE})"
    rf"|\b(?:refus(?:e|ing)|declin(?:e|ing)|unable|not able) to {_GRADE}\b"
    rf"|\bcan(?:not| not|['’]t) be {_GRADE}d\b|\bas an ai\b|\bno (?:grade|rating|score|verdict)\b",
    re.IGNORECASE,
)

OFF_SCALE = "recorded grade off the scale"
UNREAD = ("malformed reply", "off-scale grade", OFF_SCALE)  # how reasons begin of verdicts that are there, and not read


class UnreadableReplyError(Exception):
    """A reply without a verdict; the message becomes the reason of an unscored row.

    Args:
        message: Its kind, a colon, what was seen.
        final: Asking again is of no use.
    """

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


def is_unread(reason: str) -> bool:
    """True if an unscored row has a verdict that could not be read, rather than none: no refusal and no failure."""
    return reason.startswith(UNREAD)


def no_verdict(text: str, rest: str, finish: str) -> UnreadableReplyError:
    """The error of a reply of which ``said`` leaves a rest without a verdict."""
    if finish in CUT:
        seen = f"cut reply: it ended ({finish}) before its verdict: {short(text)}".rstrip(": ")
        return UnreadableReplyError(seen, final=True)
    if not text.strip(INVISIBLE + SPACE):
        return UnreadableReplyError("empty reply")
    if not rest.strip():
        return UnreadableReplyError(f"malformed reply: reasoning without a verdict: {short(text)}")
    return UnreadableReplyError(f"{'refusal' if REFUSES.search(rest[-LONGEST:]) else 'malformed reply'}: {short(rest)}")


def short(text: str) -> str:
    """The begin of a text, on one line."""
    line = " ".join(text[: 10 * SHOWN].split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"


# ---- Reasoning, and marks of the end ----

_THINK = r"(?:seed:)?(?:think|thinking|thoughts?)"
_ASIDE = r"reasoning|reflection|scratchpad|analysis|inner_monologue"
# A model's own marks: all before the last closing one is reasoning, also where the template ate the opening one.
OWN = (
    re.compile(rf"<{_THINK}>|\[THINK\]|◁think▷|<\|(?:begin_of_thought|think|START_THINKING)\|>", re.IGNORECASE),
    re.compile(
        rf"</{_THINK}>|\[/THINK\]|◁/think▷|<\|(?:end_of_thought|/think|END_THINKING)\|>", re.IGNORECASE
    ),
)  # fmt: skip
ASKED = (re.compile(rf"<(?:{_ASIDE})>", re.IGNORECASE), re.compile(rf"</(?:{_ASIDE})>", re.IGNORECASE))
CHANNEL = re.compile(r"<\|channel\|>\s{0,3}(\w{1,20})[^<\n]{0,40}<\|message\|>")
LEAKED = re.compile(r"\A\s{0,9}analysis(?=[A-Z\s])")  # the same where the server dropped the marks
LEAKED_FINAL = "assistantfinal"
_MARK = (
    r"<[|｜][^<>|｜\n]{1,40}[|｜]>|</?s>|<eot>|<eos>|<bos>|<pad>|<(?:start|end)_of_turn>|<turn\|>"
    r"|\[/?INST\]|\[EO[ST]\]|\[gMASK\]|<sop>|<eop>"
)
BEGINS, MARKED = re.compile(rf"\A(?:\s|[{INVISIBLE}]|{_MARK}){{1,64}}"), re.compile(_MARK)
END_OF_TURN = re.compile(
    r"<[|｜](?:im_end|eot_id|end|endoftext|end_of_text|eom_id|return|call|end▁of▁sentence|im_start|user|endofturn"
    r"|END_OF_TURN_TOKEN)[|｜]>|<eot>|<eos>|<end_of_turn>|<turn\|>"
)


def said(text: str) -> str:
    """The content of a reply: without its reasoning, marks of its end, and what is invisible at its edges.

    Empty where there is reasoning alone.
    """
    channels = list(CHANNEL.finditer(text))
    if channels:
        last = next((one for one in reversed(channels) if one[1] == "final"), None)
        text = "" if last is None else text[last.end() :]
    elif LEAKED.match(text) and LEAKED_FINAL in text:
        text = text[text.rindex(LEAKED_FINAL) + len(LEAKED_FINAL) :]
    text = BEGINS.sub("", _without(_without(text, *OWN, own=True), *ASKED, own=False))
    turn = END_OF_TURN.search(text)
    text = text[: turn.start()] if turn else text
    text = text.rstrip(INVISIBLE + SPACE)
    while (mark := MARKED.search(text, max(0, len(text) - 60))) and mark.end() == len(text):
        text = text[: mark.start()].rstrip(INVISIBLE + SPACE)
    return text


def _without(text: str, opened: re.Pattern[str], closed: re.Pattern[str], *, own: bool) -> str:
    """A text without reasoning in marks: a model's own, or tags that a prompt asked for."""
    opening, closings = opened.search(text), list(closed.finditer(text))
    if not closings:
        before = text[: opening.start()] if opening else text
        return before if own or before.strip() else text
    before = text[: opening.start()] if opening and opening.start() < closings[-1].start() else ""
    rest = text[closings[-1].end() :]
    if not own:
        return before + rest
    again = opened.search(rest)
    rest = rest[: again.start()] if again else rest
    return rest if rest.strip() else before


# ---- What stands in the item's own texts ----

MOST_SPANS = 200  # different statements that are looked up in them


def quoted_in(texts: Sequence[str]) -> Callable[[str], bool]:
    """A function: True if a text of the item has a statement word for word; a grade alone stands everywhere."""
    known = [_plain(one) for one in texts]

    @cache
    def holds(span: str) -> bool:
        if holds.cache_info().misses > MOST_SPANS:
            raise UnreadableReplyError(f"malformed reply: more than {MOST_SPANS} different verdicts")
        whole = re.compile(re.escape(span) + (r"(?!\d)" if span[-1].isdigit() else ""))
        return any(whole.search(text) for text in known)

    def quoted(statement: str) -> bool:
        span = _plain(statement)
        return len(span) > 3 and bool(re.search(r"[^\W\d]|\[\[", span)) and holds(span)

    return quoted


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[*_`\"'#>~]", "", text).casefold().split())
