"""Takes off a reply what is none of it: reasoning, marks of its end, and what it only quotes."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from judgec.raters.refusals import refuses

WHOLE = "stop"  # why a reply ended that says all that it was to say
CUT = {"length", "max_tokens", "model_length"}  # why one ended that does not
LONGEST = 1 << 20  # characters that are read, from the end
SHOWN = 60  # characters of a bad reply in the reason
SPACE = " \t\r\n\u00a0"
INVISIBLE = (
    "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\ufe0f\u20e3\ufeff"
)
WRAPPING = SPACE + "\"'`*_“”„«»「」✅✔❌☑" + INVISIBLE
HIDDEN = "\ue000"  # stands for each character that is only quoted

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
    return UnreadableReplyError(f"{'refusal' if refuses(rest[-LONGEST:]) else 'malformed reply'}: {short(rest)}")


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


# ---- Quotations ----

STRUCK = re.compile(r"~~[^~\n]{1,400}~~|<(del|strike)>[^<\n]{0,400}</\1>|<s>[^<\n]{1,400}</s>(?=\s*\S)", re.IGNORECASE)
FENCE = re.compile(
    r"^[ \t]{0,3}(`{3,}|~{3,})[^\n`]*$(?P<inside>.*?)(?:^[ \t]{0,3}\1[`~]*[ \t]*$|\Z)"
    r"|(?<=[^\n`])(`{3,})(?!`)(?:json\b)?(?P<within>[^`]*)\3",
    re.MULTILINE | re.DOTALL,
)
INLINE_CODE = re.compile(r"(`{1,2})([^`\n]{1,1000})\1")
BLOCK_QUOTE = re.compile(r"^[ \t]{0,3}(?:>|&gt;|\|\s{0,2}>)[^\n]*", re.MULTILINE)
INDENTED = re.compile(r"(?:(?<=\n\n)|(?<=\n \n))(?:(?: {4}|\t)[^\n]*(?:\n|\Z))+")
# What a reply repeats of the item; "Answer: B" states one.
ECHO = re.compile(
    r"^[ \t*_#>-]{0,8}(?:(?:the|user|candidate|student|model|assistant|reference|gold|expected|generated|given"
    r"|submitted)(?:'s)?[ \t]{1,3})?(?:answer|response|reply|question|query|prompt|reference|context|contexts|passage"
    r"|document|claim|quote|excerpt|example|user|student|assistant|antwort|frage|respuesta|pregunta|réponse)"
    r"(?:[ \t]{1,3}[ab12])?[ \t*_]{0,4}:(?P<rest>[^\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
ECHO_TAGS = re.compile(
    r"<(query|question|prompt|answer|response|reference|context|contexts|passage|document|quote|blockquote|q|code"
    r"|pre|candidate|example|user|item|input)(?: [^<>\n]{0,60})?>",
    re.IGNORECASE,
)
CLOSERS = dict(
    zip("\"“”„«»「『《‹‘'", ('"', '”“"', "”", '“”"', "»", "«", "」", "』", "》", "›", "’", "'"), strict=True)
)
CLOSER = {mark: re.compile(f"[{closers}]") for mark, closers in CLOSERS.items()}
SINGLE, LONGEST_SINGLE = "'‘’", 1000
LONGEST_BARE = 200  # characters of a grade with a comment; more is an essay
QUOTE = re.compile(f"[{''.join(CLOSERS)}]")
BLANK_LINE = re.compile(r"\n[ \t]*\n")


class Spoken:
    """A reply whose quotations are hidden; what is hidden keeps its place and its lines.

    Args:
        text: From ``said``.
        bare: Whether a text is a grade alone, which is none the less when it stands in quotation marks.

    Attributes:
        text: Everything.
        objects: Without code and block quotes: where JSON, which is full of quotation marks, is looked for.
        open: Without any quotation.
        fenced: Begin and inside of each block of code.
    """

    def __init__(self, text: str, bare: Callable[[str], bool]) -> None:
        self.text = _unwrapped(STRUCK.sub(lambda gone: " " * len(gone[0]), text)).strip()
        fences = [one for one in _fences(self.text) if not bare(self.text[one[2] : one[3]].strip())]
        text = _hide(self.text, [(start, end) for start, end, _, _ in fences])
        text = _hide(text, sorted(found.span() for part in (BLOCK_QUOTE, INDENTED) for found in part.finditer(text)))
        self.objects = _hide(text, [found.span() for found in INLINE_CODE.finditer(text) if not bare(found[2])])
        text = _hide(self.objects, _echoes(self.objects, bare))
        self.open = _hide(text, _quotations(text, bare))
        self.fenced = [(start, self.text[inner:outer]) for start, _, inner, outer in fences]


def _unwrapped(text: str) -> str:
    """The content of a reply that is a single block of code, or in quotation marks as a whole."""
    text = text.strip()
    fences = _fences(text)
    if len(fences) == 1 and fences[0][:2] == (0, len(text)):
        text = text[fences[0][2] : fences[0][3]].strip()
    marks = {text[:1], text[-1:]}
    if len(text) > 1 and text[0] in "\"'“" and text[-1] in CLOSERS[text[0]] and not set(text[1:-1]) & marks:
        text = text[1:-1].strip()
    return text


def _hide(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with the characters of some spans, in rising order, hidden."""
    parts, at = [], 0
    for start, end in spans:
        if end > at:
            begin = max(start, at)
            parts += [text[at:begin], re.sub(r"[^\n]", HIDDEN, text[begin:end])]
            at = end
    return "".join([*parts, text[at:]])


def _fences(text: str) -> list[tuple[int, int, int, int]]:
    """Begin and end of each block of code, and of what is in it."""
    return [(*found.span(), *found.span("inside" if found[1] else "within")) for found in FENCE.finditer(text)]


def _echoes(text: str, bare: Callable[[str], bool]) -> Sequence[tuple[int, int]]:
    """Places where a reply repeats what it judges under its name, in tags or on a line."""
    lines = [one for one in ECHO.finditer(text) if one["rest"].strip(WRAPPING) and not bare(one["rest"])]
    spans = [(line.start("rest"), line.end()) for line in lines]
    at, lower = 0, text.lower()
    missing: set[str] = set()
    while (tag := ECHO_TAGS.search(text, at)) is not None:
        name, at = tag[1].lower(), tag.end()
        end = -1 if name in missing else lower.find(f"</{name}>", at)
        if end < 0:
            missing.add(name)
        elif not bare(text[at:end][: LONGEST_BARE + 1]):
            spans.append((at, end))
            at = end
    return sorted(spans)


def _quotations(text: str, bare: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """Yields the parts in quotation marks, but for a grade alone; one that nothing closes ends with its paragraph."""
    at, never = 0, set[str]()
    closing: dict[str, list[int]] = {}
    while (mark := QUOTE.search(text, at)) is not None:
        start, at = mark.start(), mark.end()
        before, behind = text[start - 1 : start], text[at : at + 1]
        if before.isalnum() or not behind.strip() or behind == HIDDEN:  # an apostrophe, an inch, a closing mark
            continue
        if mark[0] not in closing:
            closing[mark[0]] = _closing(text, at, mark[0])
        places = closing[mark[0]]
        place = bisect_left(places, at)
        end = places[place] if place < len(places) else -1
        if mark[0] in SINGLE and not (at <= end < at + LONGEST_SINGLE and "\n" not in text[at:end]):
            continue
        if end < 0 or mark[0] in never:
            never.add(mark[0])
            paragraph = BLANK_LINE.search(text, at)
            end = paragraph.start() if paragraph else len(text)
        if not bare(text[at:end][: LONGEST_BARE + 1]):
            yield start, end
        at = end + 1


def _closing(text: str, at: int, mark: str) -> list[int]:
    """Places where quotations in such marks may end, from a place on."""
    found = (closer.start() for closer in CLOSER[mark].finditer(text, at))
    return [end for end in found if not (text[end - 1 : end].isspace() or text[end + 1 : end + 2].isalnum())]


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
