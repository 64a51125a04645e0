"""What grade a pool gives that nobody compiled: the middle one of its members' grades, or that of their mean.

    python -m benchmarks.pooling [--data ../shared/data/recorded]

Juries are drawn from the raw verdicts of every recorded set with graded labels. *votes*: the middle one of the grades
that the members stated, of two middle ones the likelier by the mean distribution. *mean*: the median of the mean
distribution. The gain is QWK of *mean* minus QWK of *votes*, the mean over all juries of a set; its 95 % interval is
of a bootstrap of queries. Pairs and classes have the likeliest either way.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.figures import table
from judgec.labels.experts import experts_of
from judgec.labels.labels import read_label_file
from judgec.raters.decision import DecisionRule
from judgec.raters.recorded import OnWhat, read_recorded
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import Experts, FloatArray, IntArray
from judgec.records.ratings import pair
from judgec.records.scale import Scale
from judgec.stats.agreement.kappa import qwk_table

HEADER = ("set", "members", "juries", "other grade", "votes", "mean", "gain", "from-to")
SIZES = (2, 3, 5)
JURIES = 60  # of each size
RESAMPLES = 400
LEAST_SHARED = 0.5  # of a set's items that all members of a jury judged


def votes(ballots: Sequence[Judgments], spread: FloatArray) -> IntArray:
    """The middle grade of those that were stated, shape (n_items, n_aspects); ``spread`` is the mean distribution."""
    given = np.sort([one.grade for one in ballots], axis=0)
    low, high = given[(len(given) - 1) // 2], given[len(given) // 2]
    at = np.nan_to_num(spread)
    chance = [np.take_along_axis(at, np.maximum(one, 0)[..., None], axis=-1)[..., 0] for one in (low, high)]
    return np.asarray(np.where(chance[1] > chance[0], high, low))


def of_mean(spread: FloatArray, scale: Scale) -> IntArray:
    """The median of the mean distribution."""
    flat = np.nan_to_num(spread, nan=1.0 / spread.shape[-1]).reshape(-1, spread.shape[-1])
    return DecisionRule(name="median").grades(flat, scale).reshape(spread.shape[:-1])


def rows_of(path: Path) -> Iterator[tuple[str, ...]]:
    """The lines of one set."""
    labels = read_label_file(str(path)).labels
    recorded = read_recorded(str(path.with_suffix("")) + ".verdicts.parquet", OnWhat.of(labels))
    scale, items, experts = labels.scale, [item.item_id for item in labels.items], experts_of(labels)
    said = {name: recorded.judgments(name, items) for name in recorded.judges}
    rng = np.random.default_rng(0)
    for size in SIZES:
        gains, level, other = list[FloatArray](), list[list[float]](), list[float]()
        for _ in range(20 * JURIES):
            if len(gains) == JURIES or len(said) < size:
                break
            ballots = [said[name] for name in rng.choice(sorted(said), size, replace=False)]
            scored = np.logical_and.reduce([one.scored for one in ballots])
            if scored.mean() < LEAST_SHARED:
                continue
            spread = np.mean([one.probabilities for one in ballots], axis=0)
            grades = [votes(ballots, spread), of_mean(spread, scale)]
            tables = [
                _tables(replace(ballots[0], grade=np.where(scored[:, None], one, UNSCORED)), experts, scale)
                for one in grades
            ]
            other.append(float((grades[0] != grades[1])[scored].mean()))
            gains.append(np.stack(tables))
            level.append([float(qwk_table(one.sum(axis=0))) for one in tables])
        if gains:
            every = np.stack(gains)  # jury, rule, query, expert, judge
            drawn = [_gain(every[:, :, rng.integers(0, every.shape[2], every.shape[2])]) for _ in range(RESAMPLES)]
            low, high = np.nanquantile(drawn, [0.025, 0.975])
            by_votes, by_mean = np.mean(level, axis=0)
            yield (
                path.stem, str(size), str(len(gains)), f"{np.mean(other):.1%}", f"{by_votes:.3f}", f"{by_mean:.3f}",
                f"{_gain(every):+.4f}", f"{low:+.4f} to {high:+.4f}",
            )  # fmt: skip


def _tables(judged: Judgments, experts: Experts, scale: Scale) -> FloatArray:
    """Expert by judge, of each query."""
    pairs = pair(experts, judged, scale, accept_only=False)
    kept = (pairs.expert >= 0) & (pairs.judge >= 0)
    tables = np.zeros((pairs.n_clusters, len(scale.grades), len(scale.grades)))
    np.add.at(tables, (pairs.cluster[kept], pairs.expert[kept], pairs.judge[kept]), 1)
    return tables


def _gain(every: FloatArray) -> float:
    values = qwk_table(every.sum(axis=2))
    return float(np.nanmean(values[:, 1] - values[:, 0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/recorded"))
    options = parser.parse_args()
    found = list[tuple[str, ...]]()
    for verdicts in sorted(options.data.glob("*.verdicts.parquet")):
        path = verdicts.with_name(verdicts.name.replace(".verdicts.parquet", ".jsonl"))
        if read_label_file(str(path)).labels.scale.level == "ordinal":
            found += rows_of(path)
            print("\n".join(table(HEADER, found)), flush=True)


if __name__ == "__main__":
    main()
