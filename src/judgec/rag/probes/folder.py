"""The folder of a probe: replies as they come, so that an interrupted run goes on where it was, and the reports."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from judgec.errors import UserError
from judgec.labels.split.family import write_whole
from judgec.rag.probes.systems import ProbedSystem, asked
from judgec.records.scenario.outcome import SystemReply
from judgec.records.scenario.schema import Question

REPLIES = "replies.jsonl"


def answered(
    folder: Path, data_set: str, subject: ProbedSystem, questions: Sequence[Question], notes: list[str] | None = None
) -> list[SystemReply]:
    """A system's replies in the order of the questions; those that the folder has are not asked for again.

    Each reply is on disk before the next is waited for. Replies that are errors are asked for again.

    Args:
        folder: Of the probe.
        data_set: Name of the corpus.
        subject: The system.
        questions: To ask.
        notes: Told how many replies are from an earlier run.

    Raises:
        UserError: When the folder cannot be written to.
    """
    path = folder / REPLIES
    known = _known(path)
    keys = {question.query_id: _key(data_set, subject, question) for question in questions}
    missing = [question for question in questions if keys[question.query_id] not in known]
    if notes is not None and len(missing) < len(questions):
        notes.append(
            f"{subject.name} on {data_set}: {len(questions) - len(missing)} of {len(questions)} replies are from an "
            f"earlier run, in {path}; for fresh ones name another --out"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:

            def keep(reply: SystemReply) -> None:
                if reply.answer is not None:
                    row = {"key": keys[reply.query_id], **reply.model_dump(mode="json")}
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
                    file.flush()

            fresh = {reply.query_id: reply for reply in subject.replies(missing, keep)} if missing else {}
    except OSError as error:
        raise UserError(f"--out {folder}: {error.strerror}; a folder to write to is needed. Name another.") from error
    return [
        fresh[question.query_id]
        if question.query_id in fresh
        else known[keys[question.query_id]].model_copy(update={"query_id": question.query_id})
        for question in questions
    ]


def write_probe(folder: Path, files: Mapping[str, str]) -> None:
    """Write the reports, every file whole or not at all.

    Raises:
        UserError: When the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_whole(folder / name, text)
    except OSError as error:
        raise UserError(f"--out {folder}: {error.strerror}; a folder to write to is needed. Name another.") from error


def _known(path: Path) -> dict[str, SystemReply]:
    """Replies by key; a line that was cut by a kill is no reply."""
    known: dict[str, SystemReply] = {}
    if not path.is_file():
        return known
    text = path.read_text(encoding="utf-8", errors="replace")
    for line in text.split("\n"):  # not splitlines: an answer may hold U+2028
        try:
            row = json.loads(line)
            key = str(row.pop("key"))
            known[key] = SystemReply.model_validate_json(json.dumps(row))
        except (ValueError, KeyError, AttributeError, ValidationError):
            continue
    if text and not text.endswith("\n"):
        with path.open("a", encoding="utf-8") as file:
            file.write("\n")
    return known


def _key(data_set: str, subject: ProbedSystem, question: Question) -> str:
    parts = [data_set, subject.name, subject.identity, question.query_id, asked(question)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]
