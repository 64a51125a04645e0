"""The tools whose exports are read, by the name that ``labels import FILE TOOL:FILE`` begins with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from judgec.connect.scores.argilla import read_argilla
from judgec.connect.scores.files import read_export
from judgec.connect.scores.label_studio import read_label_studio
from judgec.connect.scores.langfuse import read_langfuse
from judgec.connect.scores.langsmith import read_langsmith
from judgec.connect.scores.opik import read_opik
from judgec.connect.scores.other import read_other
from judgec.connect.scores.phoenix import read_phoenix
from judgec.connect.scores.promptfoo import read_promptfoo
from judgec.connect.scores.records import ExportRecord, ScoreExport, some
from judgec.errors import InputError

Reader = Callable[[Sequence[ExportRecord], Mapping[str, str]], ScoreExport]

TOOLS: Mapping[str, Reader] = {
    "langfuse": read_langfuse,
    "langsmith": read_langsmith,
    "phoenix": read_phoenix,
    "opik": read_opik,
    "label-studio": read_label_studio,
    "argilla": read_argilla,
    "promptfoo": read_promptfoo,
    "other": read_other,
}


def tool_of(source: str) -> tuple[str, str] | None:
    """The tool and the file of ``TOOL:FILE``, or None for a source of another kind."""
    tool, colon, file = source.partition(":")
    return (tool, file) if colon and tool in TOOLS else None


def read_scores(tool: str, file: str, rename: Mapping[str, str]) -> ScoreExport:
    """The scores of an export, and what they are of.

    Raises:
        InputError: What ``read_export`` raises, or a file in which the tool's records are not found.
    """
    records = read_export(file)
    found = TOOLS[tool](records, rename)
    if not found.scores and not found.items:
        fields = some(name for record in records for name in record.fields)
        raise InputError(
            [
                (
                    f"{file}: no record of {tool}; the fields are {fields}. Check that it is an export of {tool}, or "
                    "read it with labels import OUT other:FILE --map THEIRS=query --map THEIRS=answer --map "
                    "THEIRS=grade."
                )
            ]
        )
    if not found.scores and not found.skipped:
        fields = some(name for record in records for name in record.fields)
        how = "labels import OUT other:FILE --map FIELD=grade reads one of them."
        note = f"No score in {file}; the fields are {fields}. {how}"
        return replace(found, notes=(*found.notes, note))
    return found
