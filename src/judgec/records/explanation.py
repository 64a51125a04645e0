"""Holds why an agent answered from these passages: what it searched for, what was found, how rankings were fused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

Ranked: TypeAlias = tuple[tuple[str, float], ...]
"""Passage ids with their scores, best first."""


@dataclass(frozen=True, slots=True)
class Search:
    """One search and what it found.

    Args:
        query: The text that was searched for.
        ranking: What was found, best first.
        ranks: Of a search that fused rankings itself (``hybrid``): by passage, its rank in each of them that has it,
            from 1, so that its score is the sum of 1 / (rrf_k + rank).
        rrf_k: The constant of that fusion; None where nothing was fused.
    """

    query: str
    ranking: Ranked
    ranks: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    rrf_k: int | None = None

    def to_json(self) -> dict[str, object]:
        """``query`` and ``ranking``; of a hybrid search also ``rrf_k``, and ``ranks`` of each passage."""
        rows = _ranks(self.ranking, "score")
        if self.rrf_k is None:
            return {"query": self.query, "ranking": rows}
        told = [{**row, "ranks": dict(self.ranks.get(str(row["passage_id"]), {}))} for row in rows]
        return {"query": self.query, "rrf_k": self.rrf_k, "ranking": told}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:  # Any: what a JSON file holds
        """The same back."""
        ranks = {
            str(one["passage_id"]): {str(name): int(rank) for name, rank in one["ranks"].items()}
            for one in found["ranking"]
            if "ranks" in one
        }
        k = found.get("rrf_k")
        return cls(str(found["query"]), _ranked(found["ranking"], "score"), ranks, None if k is None else int(k))

    def why(self, key: str) -> str:
        """The reason for the passage's score in a hybrid search; empty for another search."""
        parts = self.ranks.get(key, {}) if self.rrf_k is not None else {}
        said = " + ".join(f"{name} rank {rank} (1/{(self.rrf_k or 0) + rank})" for name, rank in parts.items())
        return f" = {said}" if said else ""


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

    searches: tuple[Search, ...]
    fused: Ranked = ()
    rrf_k: int | None = None
    decision: str = ""

    def to_json(self) -> dict[str, object]:
        """``searches`` of query and ranking, ``rrf_k``, ``fused``; ranks from 1."""
        return {
            "searches": [search.to_json() for search in self.searches],
            "rrf_k": self.rrf_k,
            "fused": _ranks(self.fused, "rrf_score"),
            **({"decision": self.decision} if self.decision else {}),
        }

    @classmethod
    def from_json(cls, found: object) -> Self | None:
        """The same back; None where it is something else, such as a user's own column."""
        try:
            assert isinstance(found, Mapping)
            searches = tuple(Search.from_json(one) for one in found["searches"])
            k = found["rrf_k"]
            decision = str(found.get("decision") or "")
            return cls(searches, _ranked(found["fused"], "rrf_score"), None if k is None else int(k), decision)
        except (AssertionError, AttributeError, KeyError, TypeError, ValueError):
            return None

    def why(self) -> tuple[str, ...]:
        """A line for each passage of the answer: its score and the places that gave it."""
        told = (self.decision,) if self.decision else ()
        if self.rrf_k is None:
            first = self.searches[0] if self.searches else Search("", ())
            return *told, *(
                f"{place}. {key}: score {score:.4g} for “{first.query}”{first.why(key)}"
                for place, (key, score) in _placed(self.fused or first.ranking)
            )
        lines = []
        for place, (key, score) in _placed(self.fused):
            ranks = [
                f"rank {rank} for “{search.query}” (1/{self.rrf_k + rank})"
                for search in self.searches
                for rank, (other, _) in _placed(search.ranking)
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
