"""Checks ``--gate 'new>=old-30'``: whether one agent is shown to be no worse than another, within a margin."""

import math
import re
from collections.abc import Collection
from dataclasses import dataclass

from judgec.errors import UserError
from judgec.records.estimate import Estimate
from judgec.report.numbers import percent
from judgec.stats.intervals.gate import GateVerdict
from judgec.stats.rating.corrected_ratings import CorrectedRatings
from judgec.stats.rating.ratings import Ratings

WIDE = 100.0  # Elo points; 36 % of the points, more than anybody overlooks between two releases
MARGIN = re.compile(r"(?P<agent>.*?)\s*(?P<sign>[+-])\s*(?P<points>\d+(\.\d+)?|\.\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RatingGate:
    """``agent >= other + margin`` in Elo points."""

    agent: str
    other: str
    margin: float

    @property
    def warning(self) -> str:
        """The reason why a margin is too wide to be worth a gate, or empty."""
        if abs(self.margin) <= WIDE:
            return ""
        share = 1.0 / (1.0 + 10.0 ** (-self.margin / 400.0))
        return (
            f"--gate: a margin of {self.margin:+g} Elo is over {WIDE:g}: it asks only that {self.agent} gets more than "
            f"{percent(share)} of the points against {self.other}. A few dozen points are usual."
            if self.margin < 0
            else f"--gate: a margin of {self.margin:+g} Elo is over {WIDE:g}: {self.agent} must get more than "
            f"{percent(share)} of the points against {self.other}, which few releases do. Write {self.agent}>="
            f"{self.other}-{self.margin:g} for how much worse it may be."
        )

    def outcome(self, difference: Estimate) -> GateVerdict:
        """``passed``: ``verdict`` opens the gate; ``failed``: the whole interval is at or below the margin.

        Args:
            difference: As in ``verdict``.
        """
        if self.verdict(difference)[0]:
            return "passed"
        return "failed" if difference.high is not None and difference.high <= self.margin else "not shown"

    def verdict(self, difference: Estimate) -> tuple[bool, str]:
        """Decides whether the gate opens; with a sentence for people.

        It opens only if the lower bound of the paired difference is above the margin. If not, it says ``worse``
        where the estimate itself is not above it, and else how many queries would be needed for this estimate,
        the interval narrowing with their square root. It never opens on fewer queries than would be needed by an
        agent that wins them all.

        Args:
            difference: Rating of ``agent`` minus that of ``other``.
        """
        said = f"{self.agent} - {self.other}"
        there, fewest = difference.n_clusters, _fewest(self.margin, difference.level)
        if difference.value is None:
            return False, f"too few queries: about {fewest} needed; {difference.note}"
        bound = "no lower bound" if difference.low is None else f"at least {difference.low:+.0f}"
        bound += "" if difference.high is None else f", at most {difference.high:+.0f}"
        shown = f"{said} = {difference.value:+.0f} Elo, {bound}, margin {self.margin:+g}"
        room = difference.value - self.margin
        if room <= 0:
            chance = difference.high is None or difference.high > self.margin
            return False, f"worse: {shown}{'; it may be chance' if chance else ''}"
        if there >= fewest and difference.low is not None:
            if difference.low > self.margin:
                return True, shown
            fewest = max(fewest, math.ceil(there * ((difference.value - difference.low) / room) ** 2) + 1)
        return False, f"too few queries: about {max(fewest, there + 1)} needed, there are {there}; {shown}"


@dataclass(frozen=True, slots=True)
class Held:
    """Outcome of a gate.

    Args:
        gate: What was demanded.
        verdict: As ``RatingGate.outcome``.
        sentence: As ``RatingGate.verdict``.
        difference: What it was held against.
    """

    gate: RatingGate
    verdict: GateVerdict
    sentence: str
    difference: Estimate

    def to_json(self) -> dict[str, object]:
        """The part ``gate`` of the report."""
        return {
            "agent": self.gate.agent,
            "other": self.gate.other,
            "margin": self.gate.margin,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "difference": self.difference.to_json(),
            "queries": self.difference.n_clusters,
        }


def held(gate: RatingGate, ratings: Ratings | CorrectedRatings) -> Held:
    """The gate held against ratings: those that people's votes corrected, where there are any."""
    difference = ratings.difference(gate.agent, gate.other)
    return Held(gate, gate.outcome(difference), gate.verdict(difference)[1], difference)


def _fewest(margin: float, level: float) -> int:
    """Queries at which winning all of them first shows a difference above ``margin`` Elo points."""
    chance = 1.0 / (1.0 + 10.0 ** (-margin / 400.0))
    return math.ceil(math.log((1.0 - level) / 2.0) / math.log(chance)) if 0.0 < chance < 1.0 else 1


def parse_gate(text: str, agents: Collection[str], form: str = "NEW>=OLD-30") -> RatingGate:
    """Read ``NEW>=OLD-30``; a name may hold any characters, so names are looked up, longest first.

    Raises:
        UserError: When it is of another form, or names an agent that does not play.
    """
    for left, right in ((text[: m.start()], text[m.end() :]) for m in re.finditer(">=", text)):
        agent, rest = left.strip(), right.strip()
        if agent not in agents:
            continue
        if rest in agents and rest != agent:
            return RatingGate(agent, rest, 0.0)
        match = MARGIN.fullmatch(rest)
        if match and match["agent"] in agents and match["agent"] != agent:
            return RatingGate(agent, match["agent"], float(match["sign"] + match["points"]))
    raise UserError(f"--gate {text!r}: not of the form {form} with two of {', '.join(sorted(agents))}. Correct it.")
