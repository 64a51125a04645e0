"""The result of ``judgec.answer``: rows, counts, and the files that ``judgec evaluate`` reads."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import fmean, median

import pandas as pd

from judgec.errors import ServiceError
from judgec.labels.split.family import write_whole
from judgec.lm.usage import Spent
from judgec.rag.agents.answer import REFUSAL, Answer
from judgec.records.counts import plural
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.tournament.files.queries import Query
from judgec.verbs.frames import frame_part
from judgec.verbs.typed import command


@dataclass(frozen=True)
class Answers:
    """Answers of agents to queries.

    Args:
        given: Every answer and every failure: agents in the order that they were named, queries in theirs.
        queries: What was asked.
        out: The file that holds the answers, or None.
        settings: Of the agents of a grid, by name.
        spent: On judgec's own agents' models.
    """

    given: tuple[Answer, ...]
    queries: tuple[Query, ...]
    out: Path | None = None
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)

    @cached_property
    def answers(self) -> pd.DataFrame:
        """A row an answer, as in the file: query_id, query, agent, answer, contexts, what it took."""
        return pd.DataFrame(self.rows)

    @cached_property
    def failures(self) -> pd.DataFrame:
        """A row a query that an agent failed at: query_id, agent, error; a failure is no answer."""
        return pd.DataFrame(self.failed, columns=["query_id", "agent", "error"])

    @cached_property
    def counts(self) -> pd.DataFrame:
        """By agent: answers, failed, refused, cites; median seconds, mean tokens and dollars of an answer."""
        return pd.DataFrame.from_dict(dict(self.report), orient="index")

    @cached_property
    def rows(self) -> list[dict[str, object]]:
        """Of the file of answers."""
        by_id = {query.query_id: query for query in self.queries}
        return [
            _row(answer, by_id[answer.query_id], settings=self.settings.get(answer.agent))
            for answer in self.given
            if answer.text is not None
        ]

    @cached_property
    def failed(self) -> list[dict[str, object]]:
        """Of the file of failures."""
        return [
            {"query_id": answer.query_id, "agent": answer.agent, "error": answer.error}
            for answer in self.given
            if answer.text is None
        ]

    @cached_property
    def report(self) -> Mapping[str, Mapping[str, object]]:
        """Counts and means by agent, as in ``judgec answer --json``; None where nothing is known."""
        agents = dict.fromkeys(answer.agent for answer in self.given)
        return {agent: _summary([answer for answer in self.given if answer.agent == agent]) for agent in agents}

    @property
    def verdict(self) -> str:
        """Sentence on how many answers there are."""
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"{len(self.rows)} answers of {len(self.report)} agents to {plural(len(self.queries), 'query')}{failed}"

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<Answers: {self.verdict}>"

    def _repr_html_(self) -> str:
        return frame_part(self.verdict, self.counts, digits=4)


@dataclass(frozen=True, slots=True)
class AnswerPlan:
    """The plan of an ``answer``.

    Args:
        calls: Most calls of each agent; an HTTP request or a call of a function is one.
        queries: How many are asked.
        indexes: That the agents of the grid share.
        missing: Indexes that have to be built first.
        asked: The models that are asked, and where.
    """

    calls: Mapping[str, int]
    queries: int
    indexes: int
    missing: int
    asked: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        return {
            "dry_run": True,
            "agents": dict(self.calls),
            "queries": self.queries,
            "answers": self.queries * len(self.calls),
            "indexes": self.indexes,
            "indexes_to_build": self.missing,
            "calls": sum(self.calls.values()),
            "asked": list(self.asked),
        }


def failed_path(out: Path) -> Path:
    """Path of the failures: beside the answers."""
    return out.with_name(f"{out.stem}.failed.jsonl")


def write_answers(found: Answers, out: Path) -> None:
    """Write the answers, and the failures beside them."""
    write_whole(out, _lines(found.rows))
    if found.failed:
        write_whole(failed_path(out), _lines(found.failed))
    else:
        failed_path(out).unlink(missing_ok=True)


def _lines(rows: Sequence[object]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)


def _row(answer: Answer, query: Query, *, settings: Mapping[str, str] | None) -> dict[str, object]:
    row: dict[str, object] = {
        "query_id": answer.query_id,
        "query": query.text,
        "agent": answer.agent,
        "answer": answer.text,
        "contexts": [context.text for context in answer.contexts],
        "seconds": None if answer.seconds is None else round(answer.seconds, 6),
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
        "usd": answer.usd,
    }
    ids = [context.passage_id for context in answer.contexts]
    if all(ids):
        row["passage_ids"] = ids
        row["cited"] = [ids[place] for place in answer.cited]
    if answer.citation_form:
        row["citation_form"] = answer.citation_form
    if settings is not None:
        row["settings"] = dict(settings)
    if answer.searched:
        row["searched"] = list(answer.searched)
    if query.reference:
        row["reference"] = query.reference
    if query.nuggets:
        row["nuggets"] = list(query.nuggets)
    return row


def _summary(own: Sequence[Answer]) -> dict[str, object]:
    said = [answer for answer in own if answer.text is not None]
    seconds = [answer.seconds for answer in said if answer.seconds is not None]
    tokens = [
        answer.input_tokens + answer.output_tokens
        for answer in said
        if answer.input_tokens is not None and answer.output_tokens is not None
    ]
    usd = [answer.usd for answer in said if answer.usd is not None]
    return {
        "answers": len(said),
        "failed": len(own) - len(said),
        "refused": sum(answer.text == REFUSAL for answer in said),
        "cites": sum(bool(answer.cited) for answer in said),
        "median_seconds": median(seconds) if seconds else None,
        "tokens_per_answer": fmean(tokens) if tokens else None,
        "usd_per_answer": fmean(usd) if len(usd) == len(said) and usd else None,
    }


MOST_REASONS = 5


def answers_report(found: Answers, home: Path) -> Report:
    """Counts by agent, why some failed, and the next command."""
    assert found.out is not None  # the command does not go without --out
    heads = ("agent", "answers", "failed", "refused", "cite", "median s", "tokens", "$ an answer")
    rows = [(agent, *map(_text, row.values())) for agent, row in found.report.items()]
    reasons = dict.fromkeys(f"{row['agent']}: {row['error']}" for row in found.failed)
    failures = [f"Failures are in {failed_path(found.out)}; they are no answers."] if reasons else []
    return Report(
        data={"out": str(found.out), "agents": found.report, **found.spent.to_json()},
        tables=[TextTable(str(found.out), heads, rows)],
        lines=[
            *list(reasons)[:MOST_REASONS],
            *failures,
            f"A judge NAME ranks the agents: judgec evaluate --answers {found.out} --judge NAME",
        ],
        next=[command("labels", "review", str(found.out), home=home)],
    )


def plan_report(plan: AnswerPlan) -> Report:
    """Report of the most that would be asked."""
    rows = [(name, str(plan.queries), f"{calls:,}") for name, calls in plan.calls.items()]
    rows.append(("in all", f"{plan.queries * len(plan.calls):,}", f"{sum(plan.calls.values()):,}"))
    of = f" of {', '.join(plan.asked)}" if plan.asked else ""
    shared = f"{plan.indexes} indexes, of which {plan.missing} have to be built; " if plan.indexes else ""
    return Report(
        data=plan.to_json(),
        tables=[TextTable(f"{plural(len(plan.calls), 'agent')}, at most{of}", ("agent", "answers", "calls"), rows)],
        lines=[f"{shared}nothing was asked and nothing was written"],
    )


def require_answers(found: Answers) -> None:
    """Fail where nobody answered anything.

    Raises:
        ServiceError: Every query failed; everything is written all the same.
    """
    if not found.rows and found.out is not None:
        raise ServiceError(
            f"--agents {','.join(found.report)}: no query was answered; the reasons are in {failed_path(found.out)}."
        )


def _text(value: object) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
