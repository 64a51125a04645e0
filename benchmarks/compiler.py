"""judgec's optimizers beside unmodified DSPy and MLflow ones: agreement on unseen items, calls, seconds.

``python -m benchmarks.compiler``, in the project's root, prints one table in about three minutes. All start from the
same judge, see the same train and dev items, call the same models through the same meter, and are measured on the
same test items by what their prompt alone says; the last row of a block adds judgec's calibrator. MLflow's optimizers
run as ``judge.align`` runs them (its settings, its metric, no dev set), on this DSPy judge instead of one made by
``make_judge``; MemAlign, which has no DSPy program, runs on a judge made by ``make_judge`` and on traces
(``memalign.py``), where there is an endpoint that embeds. It writes the table into benchmarks/README.md.

The arena: a simulated grader in which the prompt that ranks perfectly is a grade too harsh and the one that matches
most ranks badly (``tests/service/ranking_world.py``).

The real world: 27 prompts of three real models on TREC DL20, replayed from recorded verdicts. DSPy and MLflow choose by
the mean of their metric, judgec by the objective of the set, each on four folds of queries, folds drawn ten times; a
row says what the choice loses on the fifth against the best prompt there, and how many judgments it took. ``--real``
runs it alone.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.request import urlopen

import dspy
from tests.compile.search import plain
from tests.compile.search.world import labels as world_labels
from tests.service.fake_openai import FakeOpenAI

from benchmarks.agreement import write
from benchmarks.choosing_prompts import STEM, read_models, selectors_section
from benchmarks.memalign import aligned_judgments, endpoint
from judgec.compile.assemble import Bench, calibrated
from judgec.compile.choose import choose_prompt
from judgec.compile.dataset import Dataset, make_dataset, ratings_of
from judgec.compile.search.candidates import UNCOMPILED, Candidate
from judgec.compile.search.plan import plan_compile
from judgec.compile.search.registry import OPTIMIZERS
from judgec.compile.settings import CompileSettings, reflection_spec
from judgec.evidence.model import EvidenceModel
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Silent
from judgec.raters.prompt import verdicts
from judgec.raters.registry import judge_module
from judgec.records.judgment import Judgments
from judgec.records.label import LabelSet
from judgec.report.numbers import show
from judgec.stats.agreement.measure import Resampling, measure
from judgec.stats.agreement.objective import parse_objective

WORLD_ITEMS = 240
START, END = "<!-- compiler: start -->", "<!-- compiler: end -->"
REAL, REAL_END = "<!-- real prompts: start -->", "<!-- real prompts: end -->"
MLFLOW = ("GEPAAlignmentOptimizer", "SIMBAAlignmentOptimizer")


@dataclass(frozen=True)
class Arena:
    """Labels, a model and a seed."""

    name: str
    labels: LabelSet
    spec: LMSpec
    seed: int

    @property
    def dataset(self) -> Dataset:
        """The labels, split."""
        return make_dataset(self.labels, self.seed)

    @property
    def module(self) -> dspy.Module:
        """The uncompiled judge."""
        labels = self.labels
        return judge_module(labels.task, labels.scale, labels.aspects, labels.fields)


@dataclass(frozen=True)
class Row:
    """What one optimizer achieved."""

    name: str
    tau_b: str
    calls: int
    cpu: float
    wall: float


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--recorded", type=Path, default=Path("../shared/data/recorded"), help="of the real world")
    parser.add_argument("--real", action="store_true", help="the real world alone")
    options = parser.parse_args()
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # LiteLLM would ask the internet for its prices
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)  # MLflow's own LMs would answer from it
    real_world(options.recorded)
    if options.real:
        return
    lines = [say(f"{'':<54}{'test tau-b':>20}{'LM calls':>10}{'CPU s':>8}{'wall s':>8}")]
    with FakeOpenAI(endpoint) as server:
        spec = LMSpec.parse("openai/fake", api_base=server.base_url)
        lines += block(Arena("simulated grader", world_labels(WORLD_ITEMS, options.seed), spec, options.seed))
    write("```\n" + "\n".join(line.rstrip() for line in lines) + "\n```\n", START, END)


def real_world(folder: Path) -> None:
    """Who chooses how well among the recorded prompts."""
    if not (folder / f"{STEM}.jsonl").is_file():
        print(f"real prompts: left out, {STEM}.jsonl is not in {folder}; name its folder with --recorded")
        return
    text = selectors_section(read_models(folder))
    print(text)
    write(text, REAL, REAL_END)


def say(line: str) -> str:
    """Print a line as soon as it is known, and keep it."""
    print(line, flush=True)
    return line


def block(arena: Arena) -> list[str]:
    """One arena's rows, as they are finished."""
    parts = arena.dataset
    lines = [say(f"{arena.name}: train {len(parts.train)}, dev {len(parts.dev)}, test {len(parts.test)} items")]
    for name, act in contestants():
        try:
            row = timed(arena, name, act)
        except Exception as error:  # noqa: BLE001 - a library that cannot do it is a row of the table
            lines.append(say(f"  {name:<52}could not run: {str(error).splitlines()[0][:70]}"))
        else:
            numbers = f"{row.tau_b:>20}{row.calls:>10,}{row.cpu:>8.1f}{row.wall:>8.1f}"
            lines.append(say(f"  {row.name:<52}{numbers}"))
    return lines


Prompt = Callable[[Session, Dataset, Arena, dspy.Module], dspy.Module]
"""Compiles the judge."""
Act = Callable[[Session, Dataset, Arena, dspy.Module], Judgments]
"""Compiles it, and judges the test items."""


def contestants() -> Iterator[tuple[str, Act]]:
    """Everybody who can be asked."""
    yield "uncompiled", asked
    for name in plain.PLAIN:
        yield f"dspy {name}, exact match", after(partial(theirs, name))
    for name in MLFLOW:
        yield f"mlflow {name}", after(partial(mlflows, name))
    yield "mlflow MemAlignOptimizer", memalign
    for name in OPTIMIZERS:
        yield f"judgec {name}, tau-b", after(partial(ours, name))
    yield "judgec auto, with its calibrator", whole


def after(compiled: Prompt) -> Act:
    """What the compiled prompt says of the test items."""

    def act(session: Session, parts: Dataset, arena: Arena, module: dspy.Module) -> Judgments:
        return asked(session, parts, arena, compiled(session, parts, arena, module))

    return act


def timed(arena: Arena, name: str, act: Act) -> Row:
    """Run one, in a folder of its own; the calls that judge the test items are not counted."""
    parts, reflection = arena.dataset, reflection_spec(arena.spec, None)[0]
    with tempfile.TemporaryDirectory() as folder, Session(arena.spec, Path(folder), reflection=reflection) as session:
        wall, cpu = time.perf_counter(), time.process_time()
        judged = act(session, parts, arena, arena.module)
        spent = session.spent.calls - len(parts.test)
        found = measure(ratings_of(parts, parts.test, judged), Resampling()).estimates["tau_b"]
        return Row(name, show(found), max(0, spent), time.process_time() - cpu, time.perf_counter() - wall)


def asked(session: Session, parts: Dataset, arena: Arena, module: dspy.Module) -> Judgments:
    """What a prompt says of the test items."""
    labels = arena.labels
    return verdicts(module, parts.test.items, ask=session.ask, scale=labels.scale, aspects=labels.aspects)


def theirs(name: str, session: Session, parts: Dataset, arena: Arena, module: dspy.Module) -> dspy.Module:
    """One of DSPy's."""
    return plain.run(
        name,
        module,
        parts.train,
        parts.dev,
        arena.labels.scale,
        lm=session.lm,
        reflection=session.reflection or session.lm,
        seed=arena.seed,
    )


def mlflows(name: str, session: Session, parts: Dataset, arena: Arena, module: dspy.Module) -> dspy.Module:
    """One of MLflow's: all examples are its train set."""
    from mlflow.genai.judges import optimizers
    from mlflow.genai.judges.optimizers.dspy_utils import agreement_metric

    def agrees(example: dspy.Example, prediction: dspy.Prediction, trace: object = None) -> bool:
        named = dspy.Example(result=str(example.grade)), dspy.Prediction(result=str(prediction.grade))
        return bool(agreement_metric(*named, trace))

    optimizer = getattr(optimizers, name)(model="openai:/unused")
    both = [
        *plain.examples(module, parts.train, arena.labels.scale),
        *plain.examples(module, parts.dev, arena.labels.scale),
    ]
    with plain.quiet(), dspy.context(lm=session.reflection or session.lm):
        judge = module.deepcopy()
        judge.set_lm(session.lm)
        return optimizer._dspy_optimize(judge, both, agrees)  # noqa: SLF001 - what ``align`` calls


def memalign(session: Session, parts: Dataset, arena: Arena, module: dspy.Module) -> Judgments:  # noqa: ARG001 - an Act
    """MLflow's MemAlign, which asks the endpoint past the session: the endpoint's count goes to the meter."""
    url = str(arena.spec.api_base)
    before = answered(url)
    with tempfile.TemporaryDirectory() as folder:
        judged = aligned_judgments(parts, arena.labels.scale, url, Path(folder))
    for _ in range(answered(url) - before):
        session.usage.paid(0, 0, None)
    return judged


def answered(url: str) -> int:
    """How many calls the fake endpoint has answered."""
    with urlopen(f"{url}/stats") as reply:  # noqa: S310 - our own server
        return int(json.loads(reply.read())["answered"])


def ours(name: str, session: Session, parts: Dataset, arena: Arena, module: dspy.Module) -> dspy.Module:
    """One of judgec's."""
    return chosen(name, session, parts, arena, module).module


def chosen(name: str, session: Session, parts: Dataset, arena: Arena, module: dspy.Module) -> Candidate:
    """The candidate that one of judgec's chooses."""
    reflection, why = reflection_spec(arena.spec, None)
    settings = CompileSettings(
        name="bench",
        home=Path(),
        lm=arena.spec,
        optimizer=name,
        seed=arena.seed,
        reflection=reflection,
        no_reflection=why,
    )
    bench = Bench(parts, session.finish, None, arena.seed)
    uncompiled = Candidate(UNCOMPILED, module)
    plan = plan_compile(parts, module, settings, OPTIMIZERS[name], champion=False)
    choice = choose_prompt(
        bench, uncompiled, settings, session, plan, OPTIMIZERS[name], parse_objective("tau_b"), Silent()
    )
    return choice.chosen


def whole(session: Session, parts: Dataset, arena: Arena, module: dspy.Module) -> Judgments:
    """The judge that ``compile-judge`` would save."""
    prompt = chosen("auto", session, parts, arena, module)
    bench = Bench(parts, session.finish, EvidenceModel.fit(parts.train.items), arena.seed)
    return calibrated(bench, prompt).judge(parts.test.items, session.ask)


if __name__ == "__main__":
    main()
