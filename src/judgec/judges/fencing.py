r"""Untrusted text in a prompt, quoted line by line so that it cannot end its block or open another field.

The format, which a reader of the rendered prompt can undo exactly::

    one text                  several texts (contexts)      no text
    > first line              [1]                           (the answer is empty)
    > second line             > first text
                              [2]
                              > second text

Every line of the text, whatever character ended the line before it, begins with ``> ``. So the block ends at
the first line that does not, and no text can write such a line. Inside a line, DSPy's field marker
``[[ ## name ## ]]`` is written ``[\[ ## name ## ]]``; a text that already holds the written form gets one
more backslash. Likewise the tokens with which chat templates begin and end turns (``<|im_end|>``, ``[INST]``,
``</s>``, ``<end_of_turn>``) are written with a backslash after their first character, because servers read them as
what they are even inside a message. Characters that show nothing or reorder what is shown (Unicode tags, bidirectional
controls) are written ``[u+e0041]``.

Marking every line, rather than the two ends, is the stronger defence: Hines et al. (2024), "Defending against
indirect prompt injection attacks with spotlighting", arXiv:2403.14720.
"""

import re

from judgec.records.label import Text

QUOTE = "> "
LINE_END = re.compile(r"(\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029])")  # what str.splitlines() splits at
MARKER = re.compile(r"\[(\\*)(?=\[\s*##)")
ESCAPED_MARKER = re.compile(r"\[(\\*)\\(?=\[\s*##)")
TURN = r"(?=[|｜]|/?s>|/?INST\]|/?SYS>|/?(?:start|end)_of_turn>)"
TURN_TOKEN = re.compile(rf"([<\[])(\\*){TURN}")
ESCAPED_TURN = re.compile(rf"([<\[])(\\*)\\{TURN}")
UNSEEN = re.compile("[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069]")
SPELLED = re.compile(r"\[(\\*)(?=u\+[0-9a-f]{4,5}\])")
SPELLED_UNSEEN = re.compile(r"\[u\+([0-9a-f]{4,5})\]")
ESCAPED_SPELLED = re.compile(r"\[(\\*)\\(?=u\+[0-9a-f]{4,5}\])")
HEADING = re.compile(r"\[\d+\]")


def fence(name: str, value: Text) -> str:
    """Quote the text of one input field; several texts are numbered from 1.

    Args:
        name: What the prompt calls the field; only read when there is no text.
        value: One text, or several.

    Returns:
        The block; an empty value says so in a line that no quoted text can look like.
    """
    if not value:
        return f"(the {name} {'are' if name.endswith('s') else 'is'} empty)"
    if isinstance(value, str):
        return _quote(disarmed(value))
    return "\n".join(f"[{number}]\n{_quote(disarmed(text))}" for number, text in enumerate(value, 1))


def unfence(fenced: str) -> Text:
    """The text or texts that ``fence`` was given; an empty value comes back as one empty text.

    A prompt may have lost white space at the very end of the block; nothing else is lost.
    """
    parts = LINE_END.split(fenced)
    texts: list[str] = []
    numbered = False
    ended = ""  # how the line before ended, when it belongs to the same text
    for line, end in zip(parts[::2], [*parts[1::2], ""], strict=True):
        if line.startswith(QUOTE) or line == QUOTE.rstrip():
            content = line[len(QUOTE) :]
            if ended and texts:
                texts[-1] += ended + content
            else:
                texts.append(content)
            ended = end
        else:
            numbered = numbered or HEADING.fullmatch(line) is not None
            ended = ""
    texts = [_armed(ESCAPED_MARKER.sub(r"[\1", text)) for text in texts]
    if numbered:
        return tuple(texts)
    return texts[0] if texts else ""


def disarmed(text: str) -> str:
    """The text with turn tokens broken and unseen characters spelled out; ``unfence`` puts both back."""
    if "<" not in text and "[" not in text and text.isascii():  # most texts
        return text
    text = TURN_TOKEN.sub(r"\1\2\\", SPELLED.sub(r"[\1\\", text))
    return UNSEEN.sub(lambda match: f"[u+{ord(match[0]):04x}]", text)


def _armed(text: str) -> str:
    text = SPELLED_UNSEEN.sub(_unseen, text)
    return ESCAPED_SPELLED.sub(r"[\1", ESCAPED_TURN.sub(r"\1\2", text))


def _unseen(match: re.Match[str]) -> str:
    char = chr(int(match[1], 16))
    return char if UNSEEN.fullmatch(char) else match[0]


def escape_markers(text: str) -> str:
    """The text, not quoted, with DSPy's field markers made harmless: for a reason inside a demonstration."""
    return MARKER.sub(r"[\1\\", text) if "##" in text else text


def _quote(text: str) -> str:
    lines = escape_markers(text).splitlines(keepends=True)  # at what LINE_END matches, ten times faster
    if not lines or lines[-1].splitlines()[0] != lines[-1]:  # a line end at the very end begins one more line
        lines.append("")
    return QUOTE + QUOTE.join(lines)
