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
more backslash.

Marking every line, rather than the two ends, is the stronger defence: Hines et al. (2024), "Defending against
indirect prompt injection attacks with spotlighting", arXiv:2403.14720.
"""

import re

from judgec.records.label import Text

QUOTE = "> "
LINE_END = re.compile(r"(\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029])")  # what str.splitlines() splits at
MARKER = re.compile(r"\[(\\*)(?=\[\s*##)")
ESCAPED_MARKER = re.compile(r"\[(\\*)\\(?=\[\s*##)")
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
        return _quote(value)
    return "\n".join(f"[{number}]\n{_quote(text)}" for number, text in enumerate(value, 1))


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
    texts = [ESCAPED_MARKER.sub(r"[\1", text) for text in texts]
    if numbered:
        return tuple(texts)
    return texts[0] if texts else ""


def escape_markers(text: str) -> str:
    """The text, not quoted, with DSPy's field markers made harmless: for a reason inside a demonstration."""
    return MARKER.sub(r"[\1\\", text)


def _quote(text: str) -> str:
    return QUOTE + LINE_END.sub(rf"\1{QUOTE}", escape_markers(text))
