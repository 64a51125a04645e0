"""Holds why an agent answered from these passages: what it searched for, what was found, how rankings were fused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

Ranked: TypeAlias = tuple[tuple[str, float], ...]
"""Passage ids with their scores, best first."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The rankings behind an answer.

    Args:
        searches: Each text that was searched for, the query itself first, with its ranking.
        fused: The passages of the answer with their scores by reciprocal rank, best first; empty where one search
            was all there was and all of it was used.
        rrf_k: The constant of the fusion: a passage has the sum of 1 / (rrf_k + rank) over the rankings; None
            where nothing was fused.
        decision: What the agent decided of what it found, and why, where it decides anything.
    """

    searches: tuple[tuple[str, Ranked], ...]
    fused: Ranked = ()
    rrf_k: int | None = None
    decision: str = ""

    def to_json(self) -> dict[str, object]:
        """``searches`` of query and ranking, ``rrf_k``, ``fused``; ranks from 1."""
        return {
            "searches": [{"query": query, "ranking": _ranks(ranking, "score")} for query, ranking in self.searches],
            "rrf_k": self.rrf_k,
            "fused": _ranks(self.fused, "rrf_score"),
            **({"decision": self.decision} if self.decision else {}),
        }

    @classmethod
    def from_json(cls, found: object) -> Self | None:
        """The same back; None where it is something else, such as a user's own column."""
        try:
            assert isinstance(found, Mapping)
            searches = tuple((str(one["query"]), _ranked(one["ranking"], "score")) for one in found["searches"])
            k = found["rrf_k"]
            decision = str(found.get("decision") or "")
            return cls(searches, _ranked(found["fused"], "rrf_score"), None if k is None else int(k), decision)
        except (AssertionError, KeyError, TypeError, ValueError):
            return None

    def why(self) -> tuple[str, ...]:
        """A line for each passage of the answer: its score and the places that gave it."""
        told = (self.decision,) if self.decision else ()
        if self.rrf_k is None:
            query, ranking = self.searches[0] if self.searches else ("", ())
            ranking = self.fused or ranking
            return *told, *(
                f"{place}. {key}: score {score:.4g} for “{query}”" for place, (key, score) in _placed(ranking)
            )
        lines = []
        for place, (key, score) in _placed(self.fused):
            ranks = [
                f"rank {rank} for “{query}” (1/{self.rrf_k + rank})"
                for query, ranking in self.searches
                for rank, (other, _) in _placed(ranking)
                if other == key
            ]
            lines.append(f"{place}. {key}: {score:.5f} = " + " + ".join(ranks))
        return *told, *lines


def _placed(ranking: Ranked) -> list[tuple[int, tuple[str, float]]]:
    return list(enumerate(ranking, 1))


def _ranks(ranking: Ranked, name: str) -> list[dict[str, object]]:
    return [{"passage_id": key, "rank": rank, name: score} for rank, (key, score) in _placed(ranking)]


def _ranked(found: Sequence[Mapping[str, object]], name: str) -> Ranked:
    return tuple((str(one["passage_id"]), float(str(one[name]))) for one in found)
