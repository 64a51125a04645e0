"""The parts that all pages are made of: Jinja2 templates in which every text is escaped, and what fills their cells.

A text that is not ``Markup`` is escaped wherever it gets into a page; only this file makes ``Markup``, from templates.
"""

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from judgec.records.estimate import Estimate
from judgec.report import numbers
from judgec.table import seal

TEMPLATES = Path(__file__).parent / "templates"
_INSIDE_NUMBERS = re.compile(r"(?<=\d) (?=%|\[[-+.\d])|(?<=\d %) (?=\[[-+.\d])|(?<=\d,) (?=[-+.\d]+\])")
NUMBERS = (numbers.number, numbers.signed, numbers.show, numbers.percent, numbers.count)


def render(template: str, values: Mapping[str, object]) -> Markup:
    """A template of ``templates/`` filled in; a name that it uses and ``values`` lacks is an error."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704 -- the template escaped it


def page(template: str, values: Mapping[str, object]) -> str:
    """A whole page's template filled in, as text for a file: no script but the kit's, nothing loaded."""
    return str(render(template, values))


def whole(sentence: str) -> str:
    """The sentence with spaces that do not break inside ``97.5 %`` and ``.66 [.48, .79]``; nothing else changes."""
    return _INSIDE_NUMBERS.sub("\u00a0", sentence)


def script() -> Markup:
    """The one script of all pages, the item browser; a page's policy allows it by its hash and nothing else."""
    return Markup(_script())  # noqa: S704 -- a file of this package


def script_hash() -> str:
    """Name of the script in the policy: the SHA-256 of its text, in base64."""
    return b64encode(hashlib.sha256(_script().encode()).digest()).decode()


def script_data(values: object) -> Markup:
    """Data as JSON in which no text can end the block that holds it or become markup.

    Raises:
        ValueError: For NaN, which JSON has not.
    """
    text = json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029\0":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 -- no sign of markup is left in it


def _script() -> str:
    return (TEMPLATES / "items.js").read_text(encoding="utf-8")


def shown(estimate: Estimate | None, digits: int = 2, *, sign: bool = False) -> Markup:
    """``.56 [.48, .63]`` as HTML, or a dash that says why on hover; with ``sign`` a gain has one too."""
    if estimate is None or estimate.value is None:
        return _part("unknown", estimate.note if estimate else "")
    write = numbers.signed if sign else numbers.number
    bounds = numbers.brackets(estimate.low, estimate.high, digits, sign=sign)
    return _part("estimate", write(estimate.value, digits), bounds)


def interval_bar(estimate: Estimate | None, low: float, high: float, line: float | None = None) -> Markup:
    """The interval as a bar and the value as a dot on an axis from ``low`` to ``high``; ``line`` is marked."""
    if estimate is None or estimate.value is None:
        return Markup()
    bounds = (estimate.low, estimate.high)
    return _bar(estimate.value, None if None in bounds else bounds, low, high, line)


def open_bar(
    value: float | None, bounds: tuple[float | None, float | None], low: float, high: float, line: float
) -> Markup:
    """Like ``interval_bar``, but drawn to the edge where the data set no bound."""
    if value is None:
        return Markup()
    least, most = bounds
    reach = None if bounds == (None, None) else (low if least is None else least, high if most is None else most)
    return _bar(value, reach, low, high, line)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "", *, label: str) -> Markup:
    """A table that scrolls sideways on narrow screens, by keyboard too.

    Args:
        head: Of the columns.
        rows: Cells; the first of each is its heading.
        kind: CSS class.
        label: What the table is, for screen readers.
    """
    return _part("table", head, rows, kind, label)


def heat(percent: float, text: str, kind: str = "cell") -> Markup:
    """A cell that is shaded by its share of 100; of the kind ``rate`` a fault is shaded."""
    return _part("heat", percent, text, kind)


def two_lines(first: str, second: str) -> Markup:
    """A cell with a quiet second line."""
    return _part("two_lines", first, second)


def marked(kind: str, text: str) -> Markup:
    """A word that is coloured by what it says: ``pass``, ``fail``, ``quiet``."""
    return _part("marked", kind, text)


def explained(text: str, meaning: str) -> Markup:
    """A short text that says what it means on hover."""
    return _part("explained", text, meaning)


def cut(text: str, most: int) -> Markup:
    """Plain text as HTML, shortened to ``most`` characters; says so where it is empty or shortened."""
    return _part("cut", text, most)


def _bar(value: float, bounds: object, low: float, high: float, line: float | None) -> Markup:
    return _part("bar", value, bounds, low, high, line)


def _part(name: str, *values: object) -> Markup:
    """A macro of ``kit.html``."""
    macro = getattr(_environment().get_template("kit.html").module, name)
    return Markup(macro(*values))  # noqa: S704 -- the template escaped it


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {write.__name__: write for write in NUMBERS}
    made.filters["whole"] = whole
    made.globals |= {"of_versions": seal.notes}
    made.globals |= {"shown": shown, "interval_bar": interval_bar, "script": script, "script_hash": script_hash}
    return made
