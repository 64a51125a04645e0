"""A page as a strict reader sees it: well-formed, with no script but the kit's, loading nothing."""

import re
from html.parser import HTMLParser

from judgec.report.kit import script

VOID = {"meta", "br", "link", "img", "input", "hr"}
UNCLOSED = {"th", "td", "tr", "li", "thead", "tbody", "body", "html", "head"}  # HTML closes these by itself


def without_labels(html: str) -> str:
    """The page without the names of columns that cells of stacked tables carry for phones."""
    return re.sub(r' data-label="[^"]*"', "", html)


class Page(HTMLParser):
    """Collects tags, texts and faults."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.faults: list[str] = []
        self._open: list[str] = []
        self._texts: list[str] = []
        self._script, self.scripts, self.script = False, 0, ""
        self.feed(text)
        self.close()
        self.faults += [f"never closed: {tag}" for tag in self._open if tag not in UNCLOSED]
        self.faults += ["a script that is not the kit's"] * (self.scripts > 1 or self.script not in {"", str(script())})
        self.text = "".join(self._texts).replace("\u00a0", " ")  # as people read it

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.faults += [f"event handler {name} in {tag}" for name, _ in attrs if name.startswith("on")]
        self.faults += [
            f"{name}={value} in {tag}"
            for name, value in attrs
            if name in {"src", "href", "action", "srcset", "data"} and not (value or "").startswith("#")
        ]
        kind = dict(attrs).get("type")
        if tag == "script":
            self._script = kind != "application/json"
            self.scripts += self._script
        if tag in {"iframe", "object", "embed", "base", "form", "link", "img"}:
            self.faults.append(f"element {tag}")
        if tag not in VOID and not (self.get_starttag_text() or "").endswith("/>"):
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open[-1] != tag and self._open[-1] in UNCLOSED:
            self._open.pop()
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"stray end of {tag} at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "script" and self._script:
            self.script += data
        else:
            self._texts.append(data)
