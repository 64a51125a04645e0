"""Text inside XML: what it does not allow is replaced, what means something in it is escaped."""

from xml.sax.saxutils import escape, quoteattr

_CONTROL = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535), "�")  # not allowed in XML


def attribute(text: str) -> str:
    """The value of an attribute in quotes; white space is one blank."""
    return quoteattr(" ".join(text.translate(_CONTROL).split()))


def content(text: str) -> str:
    """Text between tags."""
    return escape(text.translate(_CONTROL))
