"""Checks a label file: what it holds, how the experts grade, and how far they agree."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from judgec.errors import UserError
from judgec.labels.labels import LabelFile, read_label_file
from judgec.labels.split.family import as_family, default_family
from judgec.labels.split.memory import read_memory
from judgec.records.label import LabelSet
from judgec.verbs.options.labels import LabelsOptions

LEAST = 2  # agents that can be compared

if TYPE_CHECKING:
    from judgec.report.label_report import LabelReport
    from judgec.tournament.report.aspects import AspectTest


def check_labels(options: LabelsOptions) -> tuple[LabelFile, "LabelReport", "tuple[AspectTest, ...]"]:
    """The labels as read, what ``judgec labels --json`` prints of them, and the tests of agents that were asked for.

    Raises:
        InputError: All faults of the file.
        UserError: An unknown task, a threshold off the scale, a name that no judge can have.
    """
    family = default_family(options.file) if options.name is None else as_family(options.name)
    content = read_label_file(options.file, options.reading(options.task), texts=False)
    from judgec.report.label_report import label_report  # after bad input has been refused: SciPy is slow

    report = label_report(content, family, memory=read_memory(options.home, family), consensus=options.consensus)
    tests = tested_agents(content.labels, options.pool) if options.pool else ()
    if options.pool:
        report["agent_tests"] = [test.to_json() for test in tests]
    return content, report, tests


def tested_agents(labels: LabelSet, pools: Sequence[str]) -> "tuple[AspectTest, ...]":
    """Paired tests of the agents whose answers people graded, and of pools of them; nothing is asked.

    Raises:
        UserError: Rows that name no agents, or pools that none is in.
    """
    from judgec.tournament.files.graded import agent_scores
    from judgec.tournament.report.aspects import agents_and_pools, parse_pools

    scores = agent_scores(labels)
    agents = sorted({agent for _, agent in scores})
    if len(agents) < LEAST:
        seen = ", ".join(agents) or "no agent"
        raise UserError(
            f"--pool: the labels name {seen}; a column agent with two or more is needed. Name it with --map."
        )
    return agents_and_pools({"experts": scores}, agents, parse_pools(pools, agents))
