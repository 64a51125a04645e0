"""Writes a probe's replies with its verdicts as a label file, so that people can grade them and be compared with it."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from judgec.errors import UserError
from judgec.records.scenario.outcome import Probed

VERDICTS = "verdicts.jsonl"  # what ``labels review`` opens
MEANINGS = "verdicts.datasheet.toml"
DATASHEET = """task = "grade"

[scale]
name = "accept"
grades = ["fail", "pass"]
meanings = ["the reply does not do what the reference says", "it does"]
accept_at = "pass"
"""
REFUSAL = "A refusal: the documents do not answer this. Describing what they are about, without an answer, passes too."
LABEL, JUDGED = "grade", "judge_grade"  # who reads the page sees no verdict of the probe


def verdict_lines(folder: Path, probed: Sequence[Probed]) -> str:
    """The replies that have an answer, a row each; rows that people have graded stay, with today's verdict.

    Args:
        folder: Of the probe, with the file as people left it.
        probed: Every question put to every system.
    """
    rows = {str(row["item_id"]): row for one in probed if (row := _row(one)) is not None}
    graded = [row for row in _rows(folder / VERDICTS) if row.get(LABEL)]
    kept = [row | {JUDGED: rows.get(str(row.get("item_id")), row).get(JUDGED)} for row in graded]
    done = {str(row.get("item_id")) for row in graded}
    fresh = [row for name, row in rows.items() if name not in done]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in [*kept, *fresh])


def _row(one: Probed) -> dict[str, object] | None:
    question, reply, verdict = one.question, one.reply, one.verdict
    if reply.answer is None or verdict.outcome == "error":
        return None
    told = [verdict.data_set, question.query_id, question.query, verdict.system, reply.answer]
    return {
        "item_id": hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16],
        "query_id": f"{verdict.data_set}/{verdict.source or question.query_id}",
        "query": question.query,
        "answer": reply.answer,
        "reference": question.reference or (REFUSAL if question.must_refuse else ""),
        "agent": verdict.system,
        "group": verdict.scenario,
        JUDGED: verdict.outcome if verdict.outcome != "unscored" else None,
    }


def _rows(path: Path) -> list[dict[str, object]]:
    """The rows of an earlier run; none where there is no file.

    Raises:
        UserError: A line is damaged.
    """
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8")
    found = []
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines: an answer may hold U+2028
        try:
            found += [json.loads(line)] if line.strip() else []
        except ValueError as error:
            raise UserError(
                f"{path}:{number}: {error}; a row of JSON is valid, and none of people's grades is overwritten. Mend "
                "the line, or name another --out."
            ) from error
    return found
