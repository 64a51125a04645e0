"""Options of ``judgec.rank``."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import (
    Columns,
    Missing,
    Seed,
    UnusedPlaces,
    Votes,
    WinnerWords,
)

if TYPE_CHECKING:
    from judgec.verbs.frames import Source


@dataclass(frozen=True, kw_only=True)
class RankOptions(UnusedPlaces):
    """Options that decide a ranking."""

    games: Annotated[
        "Source",
        Option(
            "CSV, TSV, JSONL or Parquet: query_id?, agent_a, agent_b, winner (a, b, tie, empty).",
            metavar="GAMES",
            positional=True,
            needed=True,
            panel="What",
            project="games",
        ),
    ]
    votes: Votes = None
    k: Annotated[float, Option("Elo: points at stake in a game.")] = 32.0
    initial: Annotated[
        float | None, Option("Elo: rating before the first game; default 500, or 1000 with --ragelo-compat.")
    ] = None
    tournaments: Annotated[int, Option("Elo: shuffles to average.")] = 500
    order: Annotated[Literal["file", "shuffled"], Option("Elo: order of the games.")] = "shuffled"
    ragelo_compat: Annotated[bool, Option("Elo: start at 1000 and truncate after every game, as RAGElo does.")] = False
    seed: Seed = 0
    columns: Columns = field(default_factory=dict)
    winner_words: WinnerWords = field(default_factory=dict)
    missing: Missing = ()
