"""Says what people's votes change in a judge's league: corrected ratings, and whom the judge flatters."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.game import Games
from judgec.report.columns import Column, TableColumns
from judgec.report.numbers import count, percent, show
from judgec.stats.rating.corrected_ratings import CorrectedRatings, corrected_ratings
from judgec.stats.rating.expert_sample import require_random
from judgec.table.table import Table
from judgec.tournament.files.votes import Votes, read_votes
from judgec.tournament.render import rated_best, same_rating

ALPHA = 0.05
LITTLE = 0.1  # a judge trusted less than this adds next to nothing


@dataclass(frozen=True, slots=True)
class VoteRow:
    """An agent as people's votes correct it."""

    agent: str
    corrected: Estimate
    error: Estimate
    voted: Estimate
    votes: int


VOTES: TableColumns[VoteRow] = TableColumns(
    (
        Column("agent", lambda row: row.agent, value=lambda row: row.agent, csv="agent"),
        Column(
            "corrected", lambda row: show(row.corrected, 0), value=lambda row: row.corrected, json=(None, "corrected")
        ),
        Column(value=lambda row: row.corrected.value, csv="corrected"),
        Column(value=lambda row: row.corrected.low, csv="low"),
        Column(value=lambda row: row.corrected.high, csv="high"),
        Column(
            "judge flatters by",
            lambda row: show(row.error, 0, sign=True),
            value=lambda row: row.error,
            json=(None, "judge_error"),
        ),
        Column(value=lambda row: row.error.value, csv="judge_error"),
        Column(value=lambda row: row.error.low, csv="judge_error_low"),
        Column(value=lambda row: row.error.high, csv="judge_error_high"),
        Column("votes alone", lambda row: show(row.voted, 0), value=lambda row: row.voted, json=(None, "votes_alone")),
        Column(value=lambda row: row.voted.value, csv="votes_alone"),
        Column("votes", lambda row: str(row.votes), value=lambda row: row.votes, csv="votes", json=(None, "votes")),
    ),
    lambda row: row.agent,
)


@dataclass(frozen=True, slots=True)
class VotedLeague:
    """A judge's league, corrected by people's votes.

    Args:
        found: The ratings.
        agreement: Share of points that judge and people give to the same agent, on the games of both.
        others: Votes on games that the judge did not decide.
        sample: How the votes are known to be a random sample.
    """

    found: CorrectedRatings
    agreement: float
    others: int
    sample: str

    @property
    def rows(self) -> list[VoteRow]:
        """Agents by corrected rating, best first."""
        found = self.found
        return [
            VoteRow(found.agents[one], found.corrected[one], found.error[one], found.voted[one], int(found.votes[one]))
            for one in found.order
        ]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences on what was corrected, and how far that is to be trusted."""
        found = self.found
        decided = f"People decided {count(found.labelled)} of the judge's {count(found.games)} games ({self.sample})"
        said = [f"{decided}; the judge gives {percent(self.agreement)} of the points as they do.", self._weight()]
        said += [*self._errors(), self._leader()]
        if self.others:
            votes = plural(count(self.others), "vote is", "votes are")
            said.append(f"{votes} on games that the judge did not decide: left out.")
        if short := [row for row in self.rows if row.corrected.low is None]:
            said.append(f"{', '.join(row.agent for row in short)}: {short[0].corrected.note}.")
        return tuple(said)

    def to_json(self) -> dict[str, object]:
        """As JSON-ready data."""
        found = self.found
        return {
            "games": found.games,
            "votes": found.labelled,
            "queries": found.queries,
            "votes_left_out": self.others,
            "random": self.sample,
            "agreement": self.agreement,
            "weight": found.weight,
            "agents": VOTES.json(self.rows),
            "pairs": [
                {
                    "agents": [found.agents[i], found.agents[j]],
                    "difference": estimate.to_json(),
                    "p_holm": found.p_holm[i, j],
                }
                for (i, j), estimate in found.differences.items()
            ],
            "notes": list(self.sentences),
        }

    def _weight(self) -> str:
        weight = self.found.weight
        if weight < LITTLE:
            return (
                f"The judge's other games count {percent(weight)}: its verdicts hardly predict people's, so the "
                "corrected ratings rest on the votes alone."
            )
        return (
            f"In the corrected ratings, the judge's other games count {percent(weight)}, with its errors on the "
            "games of both subtracted; at 0 % only the votes would count."
        )

    def _errors(self) -> list[str]:
        known = [row for row in self.rows if row.error.low is not None and row.error.high is not None]
        flattered = [f"{row.agent} by {show(row.error, 0, sign=True)}" for row in known if (row.error.low or 0.0) > 0]
        hard = [f"{row.agent} by {show(row.error, 0, sign=True)}" for row in known if (row.error.high or 0.0) < 0]
        said = [f"The judge flatters {', '.join(flattered)} Elo."] if flattered else []
        said += [f"The judge is hard on {', '.join(hard)} Elo."] if hard else []
        if known and not said:
            said.append(
                "The judge is not shown to favour or disadvantage any agent. Its own ratings have narrower intervals, "
                "but hold only if it makes no errors; the corrected ratings hold in either case."
            )
        return said

    def _leader(self) -> str:
        found = self.found
        first, *others = found.order
        unsure = [
            found.agents[one]
            for one in others
            if (p := found.p_holm[min(first, one), max(first, one)]) is None or p > ALPHA
        ]
        pairs = found.differences
        equal = [found.agents[one] for one in others if same_rating(pairs[min(first, one), max(first, one)])]
        best = f"Corrected, {rated_best(found.agents[first], equal)}"
        if not unsure:
            return f"{best}, and better than every other agent (5 %, all pairs, Holm)."
        if len(unsure) == len(others):
            return f"{best}, but no agent is told apart from it: more votes are needed to name a winner."
        return f"{best}; it is not told apart from {', '.join(unsure)}."


def corrected_by(
    table: Table, judged: Games, rename: dict[str, str], seed: int, said: Mapping[str, str] = MappingProxyType({})
) -> VotedLeague:
    """The league as people would decide it.

    Args:
        table: Their votes.
        judged: The judge's games.
        rename: Our column names by theirs.
        seed: Of the test whether the votes look drawn at random.
        said: As ``games_of``.

    Raises:
        InputError: Faulty votes.
        UserError: None is on a game of the judge's, or they differ from the other games too much to be a random sample.
    """
    votes: Votes = read_votes(table, judged, rename, said)
    sample = require_random(votes.games, votes.points, table.path, claimed=True, seed=seed)
    both = ~np.isnan(votes.points) & votes.games.scored
    miss = np.abs(votes.points - votes.games.score)[both]
    agreement = float(1.0 - miss.mean()) if len(miss) else float("nan")
    return VotedLeague(corrected_ratings(votes.games, votes.points), agreement, votes.others, sample)
