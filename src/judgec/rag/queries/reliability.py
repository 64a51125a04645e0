"""Decides whether a generated question and its answer can be trusted: by rules, or by a compiled judge."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from judgec.lm.executor import Ask
from judgec.rag.queries.terms import content
from judgec.raters.judge import JudgeTree
from judgec.records.label import Item
from judgec.records.tasks.reliability import QUESTIONS

ASPECTS = tuple(QUESTIONS)
ANSWERED = "answer_in_passage"
UNSCORED = "unscored"
Faults = tuple[str, ...]
"""The conditions that fail, of ``ASPECTS``, or ``UNSCORED`` alone; empty for what can be trusted."""
ASKED = 0.6  # share of the question's content words that must stand in the passage
STATED = 0.8  # of the answer's
_POINTS = re.compile(
    r"\b(?:the|this|these|above|given|provided|following) (?:passage|text|excerpt|document|context|paragraph|section|"
    r"table|figure|statement|author)s?\b(?! (?:of|about|for|in)\b)"
    r"|\b(?:as )?(?:mentioned|described|stated) (?:above|here)\b",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"^\W*(?:(?:and|but|so|or)\b\W*)?(?:is|was|does|did|can|what|when|where|how|who|why)\W+(?:\w+\W+){0,2}?"
    r"(?:it|its|he|she|they|them|this|these|those|him|her)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A generated question with its passage; without an answer the question alone is checked."""

    query: str
    passage: str
    answer: str = ""


class Reliability(Protocol):
    """Says of each pair which of the three conditions fail; an empty tuple is a reliable pair."""

    @property
    def name(self) -> str:
        """For reports: ``rules``, or the judge's name and version."""
        ...

    def faults(self, pairs: Sequence[Pair]) -> list[Faults]:
        """The failing aspects of each pair, in order; ``(UNSCORED,)`` where nobody could say."""
        ...


class Rules:
    """Checks by rules: words in common with the passage, and words that point at it.

    A question is in the passage when most of its content words are; an answer when nearly all of its are, figures all;
    a question is self-contained when it does not point at its passage and has a name, a figure or three content words
    to be found by.
    """

    name = "rules"

    def faults(self, pairs: Sequence[Pair]) -> list[Faults]:
        """The failing aspects of each pair, in order."""
        return [self._faults(pair) for pair in pairs]

    def _faults(self, pair: Pair) -> Faults:
        known, asked, stated = content(pair.passage), content(pair.query), content(pair.answer)
        found = []
        if _share(asked, known) < ASKED:
            found.append(ASPECTS[0])
        figures = [word for word in stated if word[0].isdigit()]
        if pair.answer and (_share(stated, known) < STATED or not all(word in known for word in figures)):
            found.append(ANSWERED)
        if _POINTS.search(pair.query) or _BARE.search(pair.query) or len(asked) < 2:
            found.append(ASPECTS[2])
        return tuple(found)


class ReliabilityJudge:
    """A compiled reliability judge.

    Args:
        name: Its name and version.
        judge: The judge; an aspect passes when it is accepted.
        ask: Sends requests to its model.
    """

    def __init__(self, name: str, judge: JudgeTree, ask: Ask) -> None:
        self._name = name
        self._judge = judge
        self._ask = ask

    @property
    def name(self) -> str:
        """The judge's name and version."""
        return self._name

    def faults(self, pairs: Sequence[Pair]) -> list[Faults]:
        """The failing aspects of each pair, in order."""
        items = [
            Item(str(n), str(n), {"query": pair.query, "passage": pair.passage, "answer": pair.answer})
            for n, pair in enumerate(pairs)
        ]
        judgments = self._judge.judge(items, self._ask)
        best = len(self._judge.scale.grades) - 1
        results: list[Faults] = []
        for row, pair in enumerate(pairs):
            if judgments.unscored[row] is not None:
                results.append((UNSCORED,))
                continue
            failing = []
            for column, aspect in enumerate(judgments.aspects):
                accept = int(judgments.accept[row, column])
                passed = accept == 1 if accept >= 0 else int(judgments.grade[row, column]) == best
                if not passed and (pair.answer or aspect != ANSWERED):
                    failing.append(aspect)
            results.append(tuple(failing))
        return results


def _share(words: dict[str, None], known: dict[str, None]) -> float:
    return sum(word in known for word in words) / len(words) if words else 1.0
