"""``make demo-tournament``: people, a model as it is and a compiled judge rank eleven writers; no model is asked."""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd

from judgec.records.label import FloatArray, IntArray
from judgec.records.ratings import people_mean
from judgec.report.numbers import number, show
from judgec.report.progress import Bar
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.report.systems_table import systems_lines
from judgec.stats.agreement.habits import mean_estimate
from judgec.stats.agreement.systems import system_agreement
from judgec.verbs.cli.demo import ALL_MODELS, MODEL, compile_stories
from judgec.verbs.cli.output import exit_with_code, print_report
from judgec.verbs.typed import command

FAMILY = "hanna-tournament"
FOLDS = 5  # every story is judged by a judge that had not learned from its prompt


def demo_writers(home: Path) -> Report:
    """Compile a judge in five folds, and rank the writers by what it says of stories that it had not learned from.

    Args:
        home: Folder that holds ``programs/``.
    """
    bar = Bar(shown=True)
    raw = compile_stories(f"{FAMILY}-{MODEL.lower()}", home, bar, model=MODEL, folds=FOLDS).saved.compiled
    compiled = compile_stories(FAMILY, home, bar, folds=FOLDS).saved.compiled
    bar.close()
    test = compiled.dataset.test
    agents = [str(item.agent) for item in test.items]
    grades = people_mean(test.experts.grade_by, np.array(compiled.dataset.labels.scale.values)).mean(axis=1)
    place = {item_id: row for row, item_id in enumerate(raw.verification.judgments["uncompiled"].item_ids)}
    order = [place[item.item_id] for item in test.items]
    together = f"{ALL_MODELS}, compiled"
    scores = {
        f"{MODEL} as it is": raw.verification.judgments["uncompiled"].score.mean(axis=1)[order],
        together: compiled.verification.judgments["compiled"].score.mean(axis=1),
    }
    columns = {"people": grades, **scores}
    ranked = [_ranked(agents, said, test.experts.cluster) for said in columns.values()]
    writers = list(ranked[0])
    rows = [(writer, *(each[writer] for each in ranked)) for writer in writers]
    found = {name: system_agreement(agents, test.experts.cluster, grades, said) for name, said in scores.items()}
    ranks = {name: one for name, one in found.items() if one is not None}
    best, worst = ranks[together], ranks[f"{MODEL} as it is"]
    cluster = test.experts.cluster
    leaders = {name: _leader(agents, columns[name], cluster, by) for name, by in zip(columns, ranked, strict=True)}
    leads = f"{leaders[together]} by the compiled judge; by people, {leaders['people']}."
    said = (
        f"Compiled, {ALL_MODELS} rank {len(writers)} writers as people do with tau-b {number(best.tau_b.value)}; "
        f"{MODEL} as it is with {number(worst.tau_b.value)}."
    )
    title = "Rank and mean grade of relevance, with 95 % intervals over prompts"
    return Report(
        verdict=[leads, said],
        tables=[TextTable(title, ("writer", *columns), rows)],
        lines=[f"{name}: {line}" for name, one in ranks.items() for line in systems_lines(one)],
        next=[command("open", FAMILY, home=home), "make demo-rag"],
    )


def _leader(agents: Sequence[str], said: FloatArray, cluster: IntArray, ranked: Iterable[str]) -> str:
    """``Human is best: Human - Fusion = +.50 [.31, .69] grades``; the two best on the prompts of both."""
    first, second = islice(ranked, 2)
    means = pd.DataFrame({"agent": agents, "prompt": cluster, "said": said}).pivot_table("said", "prompt", "agent")
    apart = (means[first] - means[second]).dropna()
    lead = mean_estimate(apart.to_numpy(), apart.index.to_numpy())
    return f"{first} is best: {first} - {second} = {show(lead, sign=True)} grades"


def _ranked(agents: Sequence[str], said: FloatArray, cluster: IntArray) -> dict[str, str]:
    """Each writer's rank and mean score, best first."""
    means = {}
    for writer in set(agents):
        own = np.array([agent == writer for agent in agents]) & ~np.isnan(said)
        means[writer] = mean_estimate(said[own], cluster[own])
    best_first = sorted(means, key=lambda writer: (-(means[writer].value or 0.0), writer))
    return {writer: f"{rank}. {show(means[writer])}" for rank, writer in enumerate(best_first, 1)}


if __name__ == "__main__":
    exit_with_code(lambda: print_report(demo_writers(Path())))
