"""The ranking world as a search sees it: labels, the real client in front of the fake endpoint, a task."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import dspy

from judgec.compile.assemble import Bench
from judgec.compile.dataset import Dataset, make_dataset
from judgec.compile.search.candidates import UNCOMPILED, Candidate, first_predictor
from judgec.compile.search.plan import plan_compile
from judgec.compile.search.registry import find_optimizer
from judgec.compile.search.search import Searched, search_prompt
from judgec.compile.search.task import Task
from judgec.compile.settings import CallSettings, CompileSettings, SearchSettings, reflection_spec
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Silent
from judgec.raters.registry import judge_module
from judgec.records.label import Item, Label, LabelSet
from judgec.records.scale import Scale
from judgec.stats.agreement.objective import parse_objective
from tests.compile.small import session_of
from tests.prompts import read_prompt
from tests.service.ranking_world import GRADES, rows, style

SCALE = Scale(grades=GRADES, accept_at=4)
FIELDS = ("query", "answer", "contexts")


def labels(items: int, seed: int) -> LabelSet:
    made = rows(items, seed)
    return LabelSet(
        task="grade",
        scale=SCALE,
        aspects=("grade",),
        items=tuple(
            Item(
                str(row["item_id"]),
                str(row["query_id"]),
                {"query": str(row["query"]), "answer": str(row["answer"]), "contexts": ("Nothing is known.",)},
            )
            for row in made
        ),
        labels=tuple(
            Label(str(row["item_id"]), "expert", {"grade": int(str(row["grade"])) - 1}, rationale=str(row["rationale"]))
            for row in made
        ),
        accept_only=False,
        digest=f"world-{seed}",
    )


@dataclass
class World:
    """One seed of the world."""

    dataset: Dataset
    session: Session
    settings: CompileSettings
    module: dspy.Module
    said: list[str] = field(default_factory=list)

    @property
    def bench(self) -> Bench:
        return Bench(
            self.dataset,
            self.session.finish,
            None,
            self.settings.seed,
            parse_objective(self.settings.objective),
            self.module,
        )

    def task(self, *, room: int | None = None) -> Task:
        self.bench.raw(Candidate(UNCOMPILED, self.module), self.dataset.dev)
        return Task(
            module=self.module,
            train=self.dataset.train,
            dev=self.dataset.dev,
            verdicts=self.bench.raw(Candidate(UNCOMPILED, self.module), self.dataset.train),
            scale=self.dataset.labels.scale,
            accept_only=False,
            objective=parse_objective(self.settings.objective),
            ask=self.session.ask,
            lm=self.session.lm,
            reflection=self.session.reflection,
            no_reflection="none was given",
            room=lambda: room,
            seed=self.settings.seed,
            watch=Silent(),
        )

    def choose(self) -> Searched:
        """The whole search, as ``compile_judge`` runs it."""
        optimizer = find_optimizer(self.settings.search.optimizer, reflection=self.session.reflection is not None)
        plan = plan_compile(self.dataset, self.module, self.settings, optimizer)
        uncompiled = Candidate(UNCOMPILED, self.module)
        self.session.preflight(reflects=plan.reflects)
        return search_prompt(self.bench, uncompiled, self.settings, self.session, plan, optimizer, Silent())

    def style_of(self, module: dspy.Module) -> str:
        """What a prompt makes of the grader, read from the prompt as it is sent."""
        predict = first_predictor(module)
        messages = dspy.ChatAdapter().format(predict.signature, predict.demos, dict.fromkeys(FIELDS, "x"))
        system = str(messages[0]["content"])
        return style(system, read_prompt(system, [(m["role"], m["content"]) for m in messages[1:]]))


@contextmanager
def world(
    base_url: str,
    *,
    seed: int,
    optimizer: str = "auto",
    objective: str = "tau_b",
    items: int = 240,
    budget: int | None = None,
    home: Path | None = None,
) -> Iterator[World]:
    with tempfile.TemporaryDirectory() as folder:
        spec = LMSpec.parse("openai/fake", api_base=base_url)
        settings = CompileSettings(
            name="world",
            home=home or Path(folder),
            lm=spec,
            objective=objective,
            search=SearchSettings(optimizer, reflection_spec(spec, None)[0]),
            seed=seed,
            caps=CallSettings(budget),
        )
        with session_of(settings) as session:
            module = judge_module("grade", SCALE, ("grade",), FIELDS)
            yield World(make_dataset(labels(items, seed), seed), session, settings, module)
