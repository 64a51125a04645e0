"""Grades of the agents whose answers a label file has, by its people."""

from typing import TypedDict

import numpy as np

from judgec.records.label import UNLABELLED, Experts, LabelSet
from judgec.records.ratings import people_mean
from judgec.records.tasks.registry import finds_modes
from judgec.stats.agreement.habits import mean_estimate
from judgec.stats.intervals.proportion import share


class AgentGrades(TypedDict):
    """An agent's ``n`` labelled items: the mean of what people gave and the share that people accept, each with its
    interval over queries; None of classes without an order, and where nothing says which grades are accepted.
    """

    agent: str
    n: int
    mean: dict[str, float | str | None] | None
    accepted: dict[str, float | str | None] | None


def agent_grades(labels: LabelSet, experts: Experts, seed: int = 0) -> list[AgentGrades]:
    """Gives each agent's mean grade and accept rate, best first; nothing of failure modes or of a single agent.

    An item's grade is the mean over its annotators and aspects, and it is accepted where every aspect is.
    """
    agents = sorted({item.agent for item in labels.items if item.agent is not None})
    if len(agents) < 2 or finds_modes(labels.task):
        return []
    given = people_mean(experts.grade_by, np.array(labels.scale.values)).mean(axis=1)  # NaN where an aspect has none
    nominal = labels.scale.level == "nominal"
    found: list[AgentGrades] = []
    for agent in agents:
        own = np.array([item.agent == agent for item in labels.items])
        graded = np.flatnonzero(own & ~np.isnan(given))
        decided = np.flatnonzero(own & (experts.accept != UNLABELLED).all(axis=1))
        accepted = (experts.accept[decided] == 1).all(axis=1).astype(np.int64)
        mean = None if nominal or not len(graded) else mean_estimate(given[graded], experts.cluster[graded], seed)
        rate = share(accepted, experts.cluster[decided]) if len(decided) else None
        found.append(
            {
                "agent": agent,
                "n": max(len(graded), len(decided)),
                "mean": None if mean is None else mean.to_json(),
                "accepted": None if rate is None else rate.to_json(),
            }
        )
    return sorted(found, key=lambda one: (-_value(one["mean"]), -_value(one["accepted"])))


def _value(estimate: dict[str, float | str | None] | None) -> float:
    value = None if estimate is None else estimate["value"]
    return value if isinstance(value, float) else -np.inf
