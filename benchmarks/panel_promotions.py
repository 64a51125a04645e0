"""How often a panel of recorded judges is promoted that knows nothing, and how often one that has learned something.

    python -m benchmarks.panel_promotions --data ../shared/data/recorded [--compiles 140]

Each compile draws 40 of HANNA's 96 prompts, one of its six aspects and five of its sixteen judges, and makes a panel of
all with the single split, every tenth with five folds. *Permuted*: every query has the labels of another one, whole
queries together and in a drawn order within the query, since the same eleven systems answer each: every promotion is
false. *As they are*: a promotion is right. *panel*: how many compiles ship one. Intervals are Clopper and Pearson's.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.false_promotions import RESAMPLES, share
from judgec.compile.compile import compile_judge
from judgec.compile.settings import Combine, CompileSettings, RatedCandidates
from judgec.labels.labels import label_file
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Silent
from judgec.raters.recorded import RECORDED_KIND, OnWhat, check_against, read_recorded
from judgec.records.scale import Scale
from judgec.table.datasheet import Datasheet
from judgec.table.table import Table

STEM = "hanna_aspects"
QUERIES, JUDGES, FOLDED = 40, 5, 10  # every tenth compile has five folds
COMPILES = 140
SHEET = Datasheet(task="grade", scale=Scale(grades=(1, 2, 3, 4, 5), accept_at=4))


def compiled(labels: pd.DataFrame, verdicts: pd.DataFrame, seed: int, *, permuted: bool) -> tuple[bool, bool]:
    """Whether a compile's judge was promoted, and whether it is a panel."""
    rng = np.random.default_rng([seed, int(permuted)])
    aspects = sorted(verdicts["aspect"].unique())
    aspect = aspects[seed % len(aspects)]
    queries = rng.choice(labels["query_id"].unique(), QUERIES, replace=False)
    judges = rng.choice(verdicts["judge"].unique(), JUDGES, replace=False)
    drawn = [labels[labels["query_id"] == query] for query in queries]
    given = [one[f"grade.{aspect}"].tolist() for one in drawn]
    if permuted:
        given = [rng.permutation(given[other]).tolist() for other in rng.permutation(QUERIES)]
    own = pd.concat([one.assign(grade=grades) for one, grades in zip(drawn, given, strict=True)])
    said = verdicts[(verdicts["aspect"] == aspect) & verdicts["judge"].isin(judges)]
    said = said[said["item_id"].isin(own["item_id"])].assign(grade=lambda one: one["grade"].round())
    label_set = label_file(_table(own[["item_id", "query_id", "query", "answer", "grade"]]), SHEET).labels
    recorded = read_recorded(_table(said[["item_id", "judge", "grade"]].dropna()), OnWhat.of(label_set))
    with tempfile.TemporaryDirectory() as folder:
        settings = CompileSettings(
            name="permuted",
            home=Path(folder),
            lm=LMSpec.parse("recorded:verdicts"),
            objective="qwk",
            optimizer=RECORDED_KIND,
            evidence=False,
            seed=seed,
            resamples=RESAMPLES,
            folds=1 if seed % FOLDED else 5,
            rated=RatedCandidates(check_against(recorded, label_set)),
            combine=Combine("all"),
        )
        with Session(settings.lm, settings.home) as session:
            found = compile_judge(label_set, settings, session, Silent())
    return found.decision.promoted, found.panel is not None and found.panel.kind != "single"


def _table(frame: pd.DataFrame) -> Table:
    rows = tuple(json.loads(frame.to_json(orient="records")))
    return Table("hanna", tuple(frame.columns), rows, tuple(range(1, len(rows) + 1)), by_line=False)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the compiles and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of recorded verdicts with their labels")
    parser.add_argument(
        "--compiles", type=int, default=COMPILES, help="with permuted labels; a quarter as many with labels as they are"
    )
    options = parser.parse_args(arguments)
    labels = pd.read_json(options.data / f"{STEM}.jsonl", lines=True)
    verdicts = pd.read_parquet(options.data / f"{STEM}.verdicts.parquet")
    print("| labels | compiles | promoted | panel |\n|---|--:|--:|--:|")
    for name, permuted, count in (("permuted", True, options.compiles), ("as they are", False, options.compiles // 4)):
        found = [compiled(labels, verdicts, seed, permuted=permuted) for seed in range(count)]
        promoted, panel = (share(sum(one[i] for one in found), count) for i in (0, 1))
        print(f"| {name} | {count} | {promoted} | {panel} |", flush=True)


if __name__ == "__main__":
    main()
