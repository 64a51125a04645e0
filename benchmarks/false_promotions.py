"""How often a compile promotes a judge that knows nothing, and how often one that has learned something.

    python -m benchmarks.false_promotions [--compiles 420]

Each compile draws a world of its own: labels whose queries differ in difficulty, and eight prompts of one model that
read the expert's grade with noise, shifted and squeezed, each in its own way; the first is the prompt as it was. Own
prompts compete with it on dev as those of ``--prompts`` do, the winner is calibrated, and the test decides. The model
answers in this process.

*Permuted*: every query has the labels of another one, drawn at random, whole queries together, so that labels and
verdicts keep all that hangs together within a query, and every promotion is false. *As they are*: the verdicts know
something, and a promotion is right. Of five compiles two are of grades (tau-b) with a single split, two of pairs
(kappa) and one, which takes as long as the four, of grades with five folds. *Before* is the same compile with its own
prompt without a calibrator as a further rival, which it has to beat on the same test. Intervals are Clopper and
Pearson's.
"""

import argparse
import re
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from judgec.compile.compile import compile_judge
from judgec.compile.measured import Compiled
from judgec.compile.prepare import default_objective
from judgec.compile.promote import decide
from judgec.compile.rivals import _baselines
from judgec.compile.search.candidates import Candidate
from judgec.compile.search.registry import OPTIMIZERS
from judgec.compile.search.task import Effort, Sizes, Task
from judgec.compile.settings import CompileSettings, SearchSettings
from judgec.labels.labels import label_file
from judgec.labels.reading import Datasheet
from judgec.lm.executor import Reply, Request
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Silent
from judgec.records.label import LabelSet
from judgec.stats.agreement.objective import parse_objective
from judgec.table.table import Table

GRADES = ("1", "2", "3", "4", "5")
MIRRORED = {"a": "b", "b": "a"}
PROMPTS = tuple(f"Prompt number {number}." for number in range(1, 8))
RESAMPLES = 400
COMPILES = 420
NUMBER = re.compile(r"<(\d+)>(?: (one|two))?")


@dataclass(frozen=True)
class Kind:
    """A kind of compile: what is labelled, how many queries with how many items each, and in how many folds."""

    name: str
    pairs: bool
    queries: int
    each: int
    folds: int


SINGLE = Kind("grades, single split", pairs=False, queries=60, each=2, folds=1)
FOLDS = Kind("grades, five folds", pairs=False, queries=30, each=2, folds=5)
PAIRS = Kind("pairs, single split", pairs=True, queries=70, each=1, folds=1)
TURNS = (SINGLE, PAIRS, SINGLE, PAIRS, FOLDS)


class OwnPrompts:
    """An optimizer that proposes nothing: only the prompts of ``--prompts`` compete."""

    needs_reflection = False

    def effort(self, sizes: Sizes) -> Effort:  # noqa: ARG002 - the protocol's
        """Nothing."""
        return Effort(judgments=0, reflections=0, candidates=0)

    def search(self, task: Task) -> Sequence[Candidate]:  # noqa: ARG002 - the protocol's
        """Nothing."""
        return ()


@dataclass(frozen=True)
class World:
    """Labels, and what each prompt says of each item: by the prompt's first line and the item's number."""

    labels: LabelSet
    verdicts: dict[str, list[str]]


def world(kind: Kind, seed: int, *, permuted: bool) -> World:
    """A world of this kind."""
    rng = np.random.default_rng([seed, zlib.crc32(kind.name.encode())])
    shape = (kind.queries, kind.each)
    truth = rng.normal(size=(kind.queries, 1)) * 0.7 + rng.normal(size=shape) * 0.7  # half of it the query's
    verdicts = {}
    for prompt in ("", *PROMPTS):
        noise, shift, slope = rng.uniform(0.4, 2.0), rng.uniform(-1.0, 1.0), rng.uniform(0.4, 1.2)
        seen = slope * (truth + noise * rng.normal(size=shape)) + shift
        verdicts[prompt] = _said(kind, seen).ravel().tolist()
    given = _said(kind, truth)
    if permuted:
        given = given[rng.permutation(kind.queries)]
    rows = [_row(kind, query, item, given[query, item]) for query in range(kind.queries) for item in range(kind.each)]
    columns = tuple(rows[0])
    table = Table("world", columns, tuple(rows), tuple(range(1, len(rows) + 1)), by_line=False)
    sheet = Datasheet(task="preference" if kind.pairs else "grade")
    return World(label_file(table, sheet).labels, verdicts)


def _said(kind: Kind, value: np.ndarray) -> np.ndarray:
    if kind.pairs:
        return np.where(value < -0.25, "a", np.where(value > 0.25, "b", "tie"))
    graded: np.ndarray = np.array(GRADES)[np.digitize(value, [-1.2, -0.4, 0.4, 1.2])]
    return graded


def _row(kind: Kind, query: int, item: int, said: str) -> dict[str, object]:
    number = query * kind.each + item
    row: dict[str, object] = {"item_id": f"i{number}", "query_id": f"q{query}", "query": f"Question {query}"}
    if kind.pairs:
        longer = "." * (number % 3)
        return {**row, "answer_a": f"<{number}> one{longer}", "answer_b": f"<{number}> two.", "preference": said}
    return {**row, "answer": f"<{number}>", "grade": int(said)}


class Instant(Session):
    """A session whose model answers in this process, by the world's table."""

    def __init__(self, made: World, home: Path, *, pairs: bool) -> None:
        super().__init__(
            LMSpec.parse("openai/made", api_base="http://127.0.0.1:9"), home, environ={"OPENAI_API_KEY": "-"}
        )
        self._made, self._pairs = made, pairs

    def preflight(self, *, reflects: bool = True) -> None:
        """Nothing to find out."""

    def ask(self, requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:  # noqa: ARG002
        """Look the verdicts up."""
        for request in requests:
            yield Reply(request.key, self._reply("\n".join(str(turn["content"]) for turn in request.messages)))

    ask_whole = ask

    def _reply(self, text: str) -> str:
        prompt = next((one for one in PROMPTS if one in text), "")
        numbers = NUMBER.findall(text)
        said = self._made.verdicts[prompt][int(numbers[-1][0])]
        if self._pairs and numbers[-1][1] == "one":  # the answers are in the other order
            said = MIRRORED.get(said, said)
        field = "preference" if self._pairs else "grade"
        values = {"reason": "as it is", field: said, "confidence": "50"}
        return "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in values.items())


@dataclass(frozen=True)
class Promoted:
    """Whether a compile's judge was promoted, and whether it had been with its own prompt as a rival."""

    now: bool
    before: bool
    reason: str


def compiled(kind: Kind, seed: int, *, permuted: bool) -> Promoted:
    """One compile in a home of its own."""
    made = world(kind, seed, permuted=permuted)
    with tempfile.TemporaryDirectory() as folder, Instant(made, Path(folder), pairs=kind.pairs) as session:
        settings = CompileSettings(
            name="made",
            home=Path(folder),
            lm=session.spec,
            objective=default_objective(made.labels),
            seed=seed,
            evidence=False,
            folds=kind.folds,
            search=SearchSettings(
                "own",
                no_reflection="nobody writes prompts here",
                prompts={f"p{number}": prompt for number, prompt in enumerate(PROMPTS)},
            ),
        )
        found = compile_judge(made.labels, settings, session, Silent())
    return Promoted(found.decision.promoted, _before(found, settings), found.decision.reason)


def _before(found: Compiled, settings: CompileSettings) -> bool:
    """The same decision with the compiled prompt among the rivals, unless it is the compiled judge unchanged."""
    ratings = found.verification.ratings
    rivals = _baselines(found.verification, evidence_alone=False)
    if not np.array_equal(ratings["compiled_prompt"].judge, ratings["compiled"].judge):
        rivals["compiled_prompt"] = ratings["compiled_prompt"]
    return decide(
        ratings["compiled"],
        rivals,
        parse_objective(settings.objective),
        test_use=1,
        majority=ratings["majority"],
        nominal=found.dataset.labels.scale.level == "nominal",
    ).promoted


def row(name: str, found: Sequence[Promoted]) -> tuple[str, ...]:
    """A row of the table: how many compiles, and how many were promoted by either rule."""
    cells = [share(sum(getattr(one, which) for one in found), len(found)) for which in ("now", "before")]
    return (name, str(len(found)), *cells)


def share(count: int, of: int) -> str:
    low, high = stats.binomtest(count, of).proportion_ci(method="exact")
    return f"{count} ({100 * count / of:.1f} % [{100 * low:.1f}, {100 * high:.1f}])"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the compiles and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.false_promotions", description=__doc__)
    parser.add_argument(
        "--compiles", type=int, default=COMPILES, help="with permuted labels; a quarter as many with labels as they are"
    )
    options = parser.parse_args(arguments)
    OPTIMIZERS["own"] = OwnPrompts()
    rows: list[tuple[str, ...]] = []
    for permuted, count in ((True, options.compiles), (False, options.compiles // 4)):
        labels = "permuted" if permuted else "as they are"
        by_kind: dict[str, list[Promoted]] = {kind.name: [] for kind in (SINGLE, PAIRS, FOLDS)}
        for number in range(count):
            kind = TURNS[number % len(TURNS)]
            by_kind[kind.name].append(compiled(kind, number, permuted=permuted))
        rows += [row(f"{labels}: {name}", found) for name, found in by_kind.items()]
        rows.append(row(f"**{labels}, all**", [one for found in by_kind.values() for one in found]))
    head = ("labels", "compiles", "promoted", "before")
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ("---", "--:", "--:", "--:"), *rows))
    print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
