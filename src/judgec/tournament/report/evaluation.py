"""Holds everything that an evaluation found out, and its JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from judgec.records.card import ProgramCard
from judgec.records.estimate import Estimate
from judgec.report.numbers import statistic_name
from judgec.stats.agreement.objective import parse_objective
from judgec.stats.agreement.registry import statistic_of_objective
from judgec.stats.rating.length_control import LengthControlled
from judgec.stats.systems.compare import SystemComparison
from judgec.tournament.files.entries import Entries
from judgec.tournament.files.graded import GradedAgents
from judgec.tournament.gate import Held
from judgec.tournament.leaderboard import Leaderboard
from judgec.tournament.play import Cell, Mark, Played
from judgec.tournament.pooling import Relevance, Showing
from judgec.tournament.report.aspects import AspectTest
from judgec.tournament.report.costs import costs_json
from judgec.tournament.report.effects import MainEffect
from judgec.tournament.report.rates import Corrected, length_json
from judgec.tournament.retrieval import RetrievalTable


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluation of agents by a judge.

    Args:
        entries: What the agents brought.
        card: Of the judge.
        board: The leaderboard.
        played: Every game, in the order played.
        unproven: Why the judge is not proven, or empty.
        unmeasured: Why its known agreement does not hold of these answers, or empty.
        showing: What a comparing judge was shown, or None.
        marks: A judge of single answers: what it said of each, by query and agent.
        tie_band: Such a judge's, in words; empty otherwise.
        retrieval: The retrieval table, or None.
        relevance: Grades of the documents, or None.
        aspects: Paired tests of agents, and of pools of agents, by the judge and by experts.
        graded: What experts gave the agents' answers, or None.
        systems: The agents as the judge has them and experts' grades correct it; None without such grades.
        effects: Of the agents' settings, where these are known.
        corrected: Win rates corrected by experts, or None.
        lengths: Ratings at equal length, or None.
        learned: Queries that the judge has learned from.
        notes: What the reader has to know, one sentence each.
        gate: What became of ``--gate``, or None where none was asked for.
        agreement: Of a jury, its members and how far they agreed; None of one judge.
    """

    entries: Entries
    card: ProgramCard
    board: Leaderboard
    played: tuple[Played, ...]
    unproven: str = ""
    unmeasured: str = ""
    showing: Showing | None = None
    marks: Mapping[Cell, Mark] = field(default_factory=dict)
    tie_band: str = ""
    retrieval: RetrievalTable | None = None
    relevance: Relevance | None = None
    aspects: tuple[AspectTest, ...] = ()
    graded: GradedAgents | None = None
    systems: SystemComparison | None = None
    effects: tuple[MainEffect, ...] = ()
    corrected: Corrected | None = None
    lengths: LengthControlled | None = None
    learned: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    gate: Held | None = None
    agreement: Mapping[str, object] | None = None

    @property
    def jury(self) -> tuple[str, ...]:
        """The names of a jury's members; empty of one judge."""
        members = (self.agreement or {}).get("members", ())
        return tuple(map(str, members)) if isinstance(members, list) else ()

    @property
    def skipped(self) -> int:
        """Games that could not be played because one of the two agents has no answer to the query."""
        n = len(self.entries.agents)
        return sum((n * (n - 1) - len(has) * (len(has) - 1)) // 2 for has in self.entries.answered.values())

    @property
    def flip_rate(self) -> float | None:
        """Share of the games asked in both orders whose verdict changed with the order; None without any."""
        known = [one.flipped for one in self.played if one.flipped is not None]
        return sum(known) / len(known) if known else None

    @property
    def without_contexts(self) -> int:
        """Games that a judge of documents judged without any."""
        return sum(one.without_contexts for one in self.played)

    @property
    def identical(self) -> int:
        """Games between two answers that are the same: ties about which no judge was asked."""
        return sum(one.identical for one in self.played)

    def to_json(self, run_id: str | None) -> dict[str, object]:
        """The report of ``--json``."""
        report = self.board.to_json()
        report["notes"] = [*self.board.notes, *self.notes, *(self.retrieval.notes if self.retrieval else ())]
        report["retrieval"] = {} if self.retrieval is None else self.retrieval.to_json()
        if self.retrieval is not None:
            report["retrieval_pairs"] = self.retrieval.pairs_json()
        report["judge"] = {
            "program": self.card.name,
            "version": self.card.version,
            **{name: found.to_json() for name, found in judge_agreement(self.card, self.unmeasured).items()},
            "unproven": self.unproven or None,
            "unmeasured": self.unmeasured or None,
            "tie_band": self.tie_band or None,
            "audit": None if self.card.audit is None else self.card.audit.to_json(),
        }
        if self.agreement is not None:
            report["jury"] = dict(self.agreement)
        report["costs"] = costs_json(self.entries)
        report["skipped"] = self.skipped
        report["missing_answers"] = self.entries.missing
        report["flip_rate"] = self.flip_rate
        report["games_without_contexts"] = self.without_contexts
        report["games_identical"] = self.identical
        if self.gate is not None:
            report["gate"] = self.gate.to_json()
        if len(self.entries.agents) == 2:
            judged = [test for test in self.aspects if test.grader == "judge" and not test.pooled]
            if judged:  # the difference is a number here, as before every pair was tested
                report["aspects"] = {
                    test.aspect: test.to_json() | {"difference": test.difference.value} for test in judged
                }
        if self.aspects:
            report["aspect_tests"] = [test.to_json() for test in self.aspects]
        if self.systems is not None:
            report["systems"] = self.systems.to_json()
        if self.effects:
            report["effects"] = [one.to_json() for one in self.effects]
        if self.corrected is not None:
            report |= self.corrected.to_json()
        if self.lengths is not None:
            report |= length_json(self.lengths)
        report["mlflow_run_id"] = run_id
        return report


def judge_agreement(card: ProgramCard, unmeasured: str = "") -> dict[str, Estimate]:
    """The judge's known agreement with experts: ``tau_b`` and ``accept_agreement`` of its test split.

    Args:
        card: Of the judge.
        unmeasured: Why it is not known of what was judged, or empty.
    """
    known = {} if unmeasured else card.test
    unknown = Estimate(value=None, note=unmeasured or "not on the judge's card")
    return {name: known.get(name, unknown) for name in ("tau_b", "accept_agreement")}


def audit_note(card: ProgramCard) -> str:
    """Sentence on the judge's known faults; empty of one that was never saved."""
    if not card.version:
        return ""
    if card.audit is None:
        return f"The judge was not audited: judgec audit --judge {card.name}@{card.version}."
    return f"The judge's audit: {card.audit.summary}."


def why_unproven(card: ProgramCard) -> str:
    """The reason why nobody should rank agents by this judge yet, or an empty text.

    A judge is proven when it was promoted and the test interval of each statistic of its objective lies above 0. A
    perfect judge has a value without an interval, since nothing was seen of its spread.
    """
    name = f"{card.name}@{card.version}"
    if not card.promoted:
        return f"{name} was not shown to be better than its baselines: {card.reason}"
    for _, term in parse_objective(card.objective).terms:
        statistic = statistic_of_objective(term)
        found = card.test.get(statistic)
        if found is None:
            continue
        least = found.value if found.low is None else found.low
        if least is None or least <= 0:
            return f"{name}: the test interval of {statistic_name(statistic)} touches 0, so it may agree with nobody"
    return ""
