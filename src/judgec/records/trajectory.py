"""Steps of a run, and the text by which an item holds each."""

import re
from dataclasses import dataclass

STEPS = "steps"  # the input that holds the steps of a run
TOOL, RETRIEVER, MODEL, STEP = "tool", "retriever", "model", "step"
KINDS = (TOOL, RETRIEVER, MODEL, STEP)
ERROR, RESULT = "error: ", "result: "

_HEAD = re.compile(rf"({'|'.join(KINDS)})(?: ([\w.-]+))?:(?: (.*))?", re.ASCII)
_ENDS = re.compile(r"[\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a run.

    Args:
        kind: One of ``KINDS``: a tool's call, a search for documents, what a model said on the way, anything else.
        name: Of the tool, or empty.
        arguments: What it was given, in one line.
        result: What came back.
        error: What failed, in one line, or empty.
    """

    kind: str
    name: str = ""
    arguments: str = ""
    result: str = ""
    error: str = ""

    @property
    def called(self) -> bool:
        """True if something was called: a tool, or a search."""
        return self.kind in {TOOL, RETRIEVER}


def written_step(step: Step) -> str:
    """A step as one text, the same whatever the result says: only the result may have several lines.

    ``tool search: {"q": "width"}``, a line ``error: ...`` where it failed, ``result: ...`` where there is one.
    """
    arguments = _line(step.arguments)
    lines = [f"{title(step)}:{' ' if arguments else ''}{arguments}"]
    if step.error:
        lines.append(ERROR + _line(step.error))
    if step.result:
        lines.append(RESULT + step.result)
    return "\n".join(lines)


def title(step: Step) -> str:
    """Name of a step: ``tool search``."""
    name = re.sub(r"[^\w.-]+", "_", step.name, flags=re.ASCII)
    return f"{step.kind}{f' {name}' if name else ''}"


def as_step(text: str) -> Step:
    """The step that ``written_step`` wrote; any other text is a step with that result."""
    head, _, rest = text.partition("\n")
    found = _HEAD.fullmatch(head)
    if found is None or (rest and not rest.startswith((ERROR, RESULT))):
        return Step(STEP, result=text)
    error = ""
    if rest.startswith(ERROR):
        line, _, rest = rest.partition("\n")
        error = line.removeprefix(ERROR)
        if rest and not rest.startswith(RESULT):
            return Step(STEP, result=text)
    return Step(found[1], found[2] or "", found[3] or "", rest.removeprefix(RESULT), error)


def titled(text: str) -> tuple[str, str]:
    """A written step as its title and all that it did, for people to read."""
    step = as_step(text)
    said = [step.arguments, f"{ERROR}{step.error}" if step.error else "", step.result]
    return title(step), "\n".join(part for part in said if part)


def _line(text: str) -> str:
    return _ENDS.sub(" ", text).strip()
