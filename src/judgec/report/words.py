"""Words of tables in plain English: under the table, on pages and in ``docs/words.md``."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from judgec.stats.agreement.registry import KNOWN

JUDGES: Mapping[str, str] = MappingProxyType(
    {
        "majority": "always the most frequent grade",
        "evidence_only": "what can be counted, no prompt",
        "uncompiled": "the prompt or recorded judge as it was",
        "compiled_prompt": "the compiled prompt alone",
        "best_alone": "the recorded judge that was best as it is",
        "compiled_single": "the best single judge, compiled",
        "compiled": "the judge that you get",
        "compiled_loo": "the same, against all annotators but one",
        "ceiling": "each annotator, against all others",
    }
)
"""The rows that a compile compares, by key."""

RIVALS: Mapping[str, str] = MappingProxyType(
    {
        "majority": "the most frequent grade",
        "evidence_only": "evidence alone",
        "uncompiled": "the judge as it was",
        "best_alone": "the best recorded judge as it was",
        "compiled_prompt": "the compiled prompt alone",
        "compiled_single": "the best single judge, compiled",
        "champion": "the champion",
    }
)
"""The same in a sentence."""

_ROWS = {"evidence_only": RIVALS["evidence_only"], "compiled_loo": "compiled, one annotator left out"}

MEANINGS: Mapping[str, str] = MappingProxyType(
    {one.label: one.meaning for one in KNOWN.values() if one.meaning}
    | {"bias [limits of agreement]": "judge minus expert on average, and where 95 % of the differences lie"}
)
"""The statistics whose names do not explain themselves, as tables write them."""

TEST_USE = "one comparison on this test split; the 5 % error level is shared, so each is stricter than the last"
"""What ``test use 1`` counts, in the sentence on what was promoted."""

LEADERBOARD: Mapping[str, str] = MappingProxyType(
    {
        "rating": "strength in Elo points, fitted to all games at once (Bradley-Terry); 100 more wins 64 % of games",
        "rank": "the range of possible ranks: 1-3 is first, second or third",
        "group": "agents that share a letter are not shown to differ",
        "Elo": "the paper's rating, game after game, averaged over shuffled orders of the games",
        "± shuffles": "how much Elo depends on that order",
        "wins %": "share of its games that the agent won; a tie is not a win",
    }
)
"""Columns of a leaderboard."""


CLAIMS: Mapping[str, str] = MappingProxyType(
    {
        "supported": "the contexts or the reference say what the claim says; of a nugget: the answer gives it",
        "partly supported": "the answer gives a part of the nugget, or meets a part of the criterion",
        "contradicted": "the contexts or the reference say otherwise: another figure or name, or the opposite",
        "not found": "they do not mention it; the closest of their sentences stands beside it",
    }
)
"""What is found of a claim or nugget, on pages and in rows of ``judge``."""


CONSTRUCTED = "CONSTRUCTED LABELS. No expert gave them: agreement with them says nothing about experts."
"""Stands above every number that was measured on labels whose datasheet says ``labels = "constructed"``."""


def row_name(key: str) -> str:
    """Name of a row in tables, pages and notes: its key, where that is words."""
    return _ROWS.get(key, key.replace("_", " "))


def judges(names: Iterable[str]) -> dict[str, str]:
    """Meanings of the rows of a table of judges; nothing for names that users gave."""
    return {row_name(name): JUDGES[name] for name in names if name in JUDGES}


def statistics(names: Iterable[str]) -> dict[str, str]:
    """Meanings of the statistics of a table, of those that need it."""
    return {name: MEANINGS[name] for name in names if name in MEANINGS}


def leaderboard(heads: Iterable[str]) -> dict[str, str]:
    """Meanings of the columns of a leaderboard, of those that need it."""
    return {head: LEADERBOARD[head] for head in heads if head in LEADERBOARD}
