"""How far evidence alone goes on expert labels: five-fold by query, no language model.

    python -m benchmarks.evidence --data ../shared/data/labels [--only NAME ...] [--seed 0]

For every label file with a single grade: IDF, scaling and calibrator are fitted on four folds, the fifth is judged.
Prints a Markdown table; the last columns are items a second through the features on one core and seconds to fit a
calibrator. Agreement is with the consensus of the annotators (median grade, majority accept; ties are a seeded pick).
"""

import argparse
import json
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import cohen_kappa_score

from judgec.compile.calibrate import fit_out_of_fold
from judgec.compile.calibrate_choice import Data
from judgec.evidence.model import EvidenceModel
from judgec.records.label import FloatArray, IntArray, Item
from judgec.records.scale import ACCEPT_SCALE, Grade, Scale

FOLDS = 5
PREFERENCE = Scale(name="preference", level="nominal", grades=("a", "tie", "b"))
INPUTS = ("query", "answer", "reference", "document", "answer_a", "answer_b")


@dataclass(frozen=True)
class Labels:
    """One label file as arrays: consensus grade positions, accept (-1 unknown) and query codes."""

    items: list[Item]
    grade: IntArray
    accept: IntArray
    cluster: IntArray
    scale: Scale


def read_labels(path: Path, seed: int) -> Labels | None:
    """The labels of one JSONL file, or None for tasks with several aspects and files that are not labels."""
    sheet = path.with_name(f"{path.stem}.datasheet.toml")
    if not sheet.exists():
        return None
    facts = tomllib.loads(sheet.read_text())
    rows: dict[str, list[dict[str, object]]] = {}
    with path.open() as lines:
        for line in lines:
            row = json.loads(line)
            rows.setdefault(row["item_id"], []).append(row)
    first = next(iter(rows.values()))[0]
    kind = next((name for name in ("grade", "accept", "preference") if name in first), None)
    if kind is None:
        return None
    scale = {"accept": ACCEPT_SCALE, "preference": PREFERENCE}.get(kind) or Scale(**facts["scale"])
    rng = np.random.default_rng(seed)
    grade = np.array(
        [_consensus([_position(row[kind], scale) for row in group], scale, rng) for group in rows.values()]
    )
    accept = np.full(len(grade), -1) if scale.accept_index is None else (grade >= scale.accept_index).astype(np.int64)
    items = [_item(group[0]) for group in rows.values()]
    _, cluster = np.unique([item.query_id for item in items], return_inverse=True)
    return Labels(items, grade, accept, cluster, scale)


def _position(label: object, scale: Scale) -> int:
    value: Grade = int(label) if isinstance(label, bool | float) else str(label)
    return scale.position(value if value in scale.grades else int(str(label)))


def _consensus(positions: list[int], scale: Scale, rng: np.random.Generator) -> int:
    """The median on an ordered scale, the most frequent on a nominal one; ties are a seeded pick."""
    if scale.level == "nominal":
        counts = Counter(positions)
        top = sorted(position for position, count in counts.items() if count == max(counts.values()))
        return int(rng.choice(top))
    ordered, half = sorted(positions), len(positions) // 2
    middle = ordered[half : half + 1] if len(ordered) % 2 else ordered[half - 1 : half + 1]
    return int(rng.choice(middle))


def _item(row: dict[str, object]) -> Item:
    inputs: dict[str, str | tuple[str, ...]] = {name: str(row[name]) for name in INPUTS if row.get(name) is not None}
    contexts = row.get("contexts")
    if contexts:
        inputs["contexts"] = tuple(map(str, contexts)) if isinstance(contexts, list) else (str(contexts),)
    return Item(str(row["item_id"]), str(row["query_id"]), inputs)


def cross_validate(labels: Labels, seed: int) -> tuple[FloatArray, float, float]:
    """Out-of-fold probabilities, items a second through the features, seconds a calibrator."""
    n_queries = int(labels.cluster.max()) + 1
    fold = np.random.default_rng(seed).permutation(np.arange(n_queries) % FOLDS)[labels.cluster]
    out = np.empty((len(labels.items), len(labels.scale.grades)))
    featured, fitted = 0.0, 0.0
    for number in range(FOLDS):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        model = EvidenceModel.fit([labels.items[i] for i in train])
        start = time.process_time()
        features = model.transform(labels.items)
        featured += time.process_time() - start
        start = time.process_time()
        grade, accept = labels.grade[train, None], labels.accept[train, None]
        data = Data(None, features[train], grade, labels.cluster[train], labels.scale, accept)
        calibrator = fit_out_of_fold(data, names=model.names, seed=seed, evidence_digest=model.digest)[0]
        fitted += time.process_time() - start
        out[test] = calibrator.apply(None, features[test])
    return out, FOLDS * len(labels.items) / featured, fitted / FOLDS


def statistics(labels: Labels, probabilities: FloatArray) -> list[float]:
    """tau-b of the score, Spearman, QWK of the grade, accept agreement, kappa, majority share; NaN where
    undefined.

    On a nominal scale agreement and kappa are those of the classes.
    """
    positions = np.arange(len(labels.scale.grades))
    score = probabilities @ positions
    if labels.scale.level == "nominal":
        mine, theirs = probabilities.argmax(axis=1), labels.grade
    else:
        accept_at = labels.scale.accept_index or 1
        mine = (probabilities[:, accept_at:].sum(axis=1) >= 0.5).astype(np.int64)
        theirs = labels.accept
    varied = np.ptp(score) > 0
    tau = float(kendalltau(score, labels.grade)[0]) if varied else np.nan
    rho = float(spearmanr(score, labels.grade)[0]) if varied else np.nan
    rounded = np.floor(score + 0.5).astype(np.int64)
    qwk = cohen_kappa_score(rounded, labels.grade, weights="quadratic")
    kappa = cohen_kappa_score(mine, theirs)
    return [
        tau,
        rho,
        float(qwk),
        float(np.mean(mine == theirs)),
        float(kappa),
        np.bincount(theirs).max() / len(theirs),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of label files with datasheets")
    parser.add_argument("--only", nargs="*", default=[], help="names of label files, without .jsonl")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    print("| set | items | tau_b_score | rho | QWK | accept | kappa | majority | items/s | fit s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for path in sorted(options.data.glob("*.jsonl")):
        if options.only and path.stem not in options.only:
            continue
        labels = read_labels(path, options.seed)
        if labels is None:
            continue
        probabilities, rate, seconds = cross_validate(labels, options.seed)
        cells = [f"{value:.3f}" for value in statistics(labels, probabilities)]
        print(
            f"| {path.stem} | {len(labels.items)} | {' | '.join(cells)} | {rate:.0f} | {seconds:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
