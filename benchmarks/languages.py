"""What a language's own stemmer and function words bring on constructed labels.

python -m benchmarks.languages [--queries 40] [--seed 0]

The label sets are those of ``tests/evidence/language_sets.py``: constructed, graded by nobody. Five folds by query;
evidence is read with the rules of English, as before languages were told apart, and with the language's own.
"""

import argparse
from collections.abc import Sequence

import numpy as np
from scipy.stats import kendalltau
from tests.evidence.language_sets import GRADES, NOUNS, language_set

from judgec.compile.calibrate import fit_calibrator
from judgec.evidence.model import EvidenceModel
from judgec.records.language import ENGLISH, languages_of
from judgec.records.scale import Scale

FOLDS = 5
SCALE = Scale(grades=GRADES, accept_at=3)


def recall(language: str, read_as: str, queries: int, seed: int) -> float:
    """Mean share of the reference's words that right answers are seen to have."""
    items, grades = language_set(language, queries, seed)
    right = [item for item, grade in zip(items, grades, strict=True) if grade == max(grades)]
    model = EvidenceModel.fit(items, "grade", (read_as,))
    return float(model.transform(right)[:, model.names.index("reference.recall_content")].mean())


def tau(language: str, read_as: str, queries: int, seed: int) -> float:
    """tau-b of the evidence's score with the grades, every query judged by folds without it."""
    items, grades = language_set(language, queries, seed)
    target = np.array(grades)
    _, cluster = np.unique([item.query_id for item in items], return_inverse=True)
    fold = np.random.default_rng(seed).permutation(np.arange(queries) % FOLDS)[cluster]
    score = np.empty(len(items))
    for number in range(FOLDS):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        model = EvidenceModel.fit([items[i] for i in train], "grade", (read_as,))
        features = model.transform(items)
        calibrator = fit_calibrator(
            verdicts=None,
            evidence=features[train],
            target=target[train],
            cluster=cluster[train].astype(np.int64),
            scale=SCALE,
            names=model.names,
            seed=seed,
            evidence_digest=model.digest,
        )
        score[test] = calibrator.apply(None, features[test]) @ np.array(SCALE.values)
    return float(kendalltau(score, target)[0])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    print("| constructed set | detected | words seen, English rules | own rules | tau-b, English rules | own rules |")
    print("|---|---|---|---|---|---|")
    for language in NOUNS:
        detected = languages_of(language_set(language, options.queries, options.seed)[0])
        cells = [
            *(f"{100 * recall(language, one, options.queries, options.seed):.0f} %" for one in (ENGLISH, language)),
            *(f"{tau(language, one, options.queries, options.seed):.3f}" for one in (ENGLISH, language)),
        ]
        print(f"| {language.title()} | {', '.join(detected)} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
