"""``make demo-tournament``: people, a model as it is and a compiled judge rank eleven writers; no model is asked."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from judgec.raters.programs import page_path
from judgec.records.consensus import people_mean
from judgec.records.label import FloatArray
from judgec.report.numbers import number
from judgec.report.progress import Bar
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.report.systems_table import systems_lines
from judgec.stats.agreement.systems import system_agreement
from judgec.verbs.cli.demo import ALL_MODELS, MODEL, compile_stories
from judgec.verbs.cli.output import exit_with_code, print_report

FAMILY = "hanna-tournament"
FOLDS = 5  # every story is judged by a judge that had not learned from its prompt


def demo_writers(home: Path) -> Report:
    """Compile a judge in five folds, and rank the writers by what it says of stories that it had not learned from.

    Args:
        home: Folder that holds ``programs/``.
    """
    bar = Bar(shown=True)
    raw = compile_stories(f"{FAMILY}-{MODEL.lower()}", home, bar, model=MODEL, folds=FOLDS).saved.compiled
    saved = compile_stories(FAMILY, home, bar, folds=FOLDS).saved
    bar.close()
    compiled = saved.compiled
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
    ranked = [_ranked(agents, said) for said in columns.values()]
    writers = list(ranked[0])
    rows = [(writer, *(each[writer] for each in ranked)) for writer in writers]
    found = {name: system_agreement(agents, test.experts.cluster, grades, said) for name, said in scores.items()}
    ranks = {name: one for name, one in found.items() if one is not None}
    best, worst = ranks[together], ranks[f"{MODEL} as it is"]
    leaders = {name: next(iter(by)) for name, by in zip(columns, ranked, strict=True)}
    leads = f"{leaders[together]} is best by the compiled judge; by people, {leaders['people']}."
    said = (
        f"Compiled, {ALL_MODELS} rank {len(writers)} writers as people do with tau-b {number(best.tau_b.value)}; "
        f"{MODEL} as it is with {number(worst.tau_b.value)}."
    )
    title = "Rank and mean grade of relevance"
    return Report(
        verdict=[leads, said],
        tables=[TextTable(title, ("writer", *columns), rows)],
        lines=[f"{name}: {line}" for name, one in ranks.items() for line in systems_lines(one)],
        file=page_path(home, saved.card),
        next=["make demo-rag"],
    )


def _ranked(agents: Sequence[str], said: FloatArray) -> dict[str, str]:
    """Each writer's rank and mean score, best first."""
    means = {writer: float(np.nanmean(said[np.array(agents) == writer])) for writer in set(agents)}
    best_first = sorted(means, key=lambda writer: (-means[writer], writer))
    return {writer: f"{rank}. {number(means[writer])}" for rank, writer in enumerate(best_first, 1)}


if __name__ == "__main__":
    exit_with_code(lambda: print_report(demo_writers(Path())))
