"""Judgments or labels as scores for a label or trace tool, in the form in which it takes them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from judgec.connect.scores.registry import tool_of
from judgec.connect.scores.sent import SENDERS, scores_of, sent
from judgec.errors import UserError
from judgec.labels.split.family import default_family, write_whole
from judgec.records.counts import plural
from judgec.report.report import Report
from judgec.table.rows.columns import renamed
from judgec.table.tables import read_table
from judgec.verbs.options.labels import LabelExportOptions

LINES, DOCUMENT = ".jsonl", ".json"


@dataclass(frozen=True)
class ExportedScores:
    """Scores on their way back to a tool.

    Args:
        out: The file.
        records: Grades in the rows that were read; ``scores`` and ``skipped`` add up to it.
        scores: How many the tool can take.
        skipped: How many it cannot, by reason.
        how: What takes the file.
    """

    out: Path
    records: int
    scores: int
    skipped: Mapping[str, int]
    how: str

    def to_json(self) -> dict[str, object]:
        """The JSON that ``labels export TOOL:FILE --json`` prints."""
        return {
            "out": str(self.out),
            "records": self.records,
            "scores": self.scores,
            "skipped": dict(self.skipped),
            "how": self.how,
        }


def export_scores(options: LabelExportOptions) -> ExportedScores:
    """Write the scores of ``options.file`` for the tool and the file of ``options.export``, ``TOOL:FILE``.

    Raises:
        UserError: A tool that takes no scores; a file that is there, or whose format is not one of its.
        InputError: Rows without the tool's ids or without grades.
    """
    tool, file = tool_of(options.export) or ("", "")
    if tool not in SENDERS:
        raise UserError(
            f"labels export {options.export}: {tool or 'it'} takes no scores; {', '.join(SENDERS)} do. Name one of "
            "these, or a sheet."
        )
    out = Path(file)
    if out.suffix not in {LINES, DOCUMENT} or not out.parent.is_dir() or out.exists():
        raise UserError(
            f"labels export {options.export}: a new file in a folder that is there is needed, {LINES} (one score a "
            f"line) or {DOCUMENT} (as the tool takes them together). Name another."
        )
    table = renamed(read_table(options.file), options.columns)
    scores, skipped = scores_of(table, options.name, default_family(options.file))
    bodies, lost = sent(tool, scores)
    if out.suffix == LINES:
        write_whole(out, "".join(json.dumps(body, ensure_ascii=False, default=str) + "\n" for body in bodies))
    else:
        whole = {SENDERS[tool].envelope: bodies} if SENDERS[tool].envelope else bodies
        write_whole(out, json.dumps(whole, ensure_ascii=False, indent=1, default=str) + "\n")
    records = len(scores) + skipped.total()
    return ExportedScores(out, records, len(scores) - lost.total(), dict(skipped + lost), SENDERS[tool].how)


def sent_report(found: ExportedScores) -> Report:
    """Report of how many scores go back, and what takes them."""
    return Report(
        data=found.to_json(),
        verdict=[f"{found.out}: {found.scores} of {plural(found.records, 'score')}"],
        lines=[f"{count} left out: {reason}" for reason, count in found.skipped.items()],
        next=[found.how],
    )
