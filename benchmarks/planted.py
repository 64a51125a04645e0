"""Optimizers on planted LMs, whose grades get better with each criterion that their prompt names.

    python -m benchmarks.planted [--seeds 5] [--sizes 60 200] [--lms cases] [--optimizers auto] [--budget 700] [--write]

Experts grade by how many of a few criteria an answer meets, one grade in ten is off by one, and some of their reasons
below full marks name a criterion that is missed, each in words of its own. The LM sees whether a criterion is met only
where its instructions name it, or two reasons in its demonstrations do; of the others it guesses. Asked for anything
but a grade (a prompt, what it observes), it keeps what is there and adds what the reasons that it is shown mention
(``needed`` of them), as a reflection model would: it invents nothing. That of *steps* adds two criteria a rewrite at
most, misses three in ten, its judge follows instructions alone, and only it sees whether a criterion is met: a search
takes three accepted rewrites in a row, and neither a demonstration nor a word of the answer helps. In *unsaid* experts
give no reasons, and the LM reads in the answers what they are about. It runs in this process.

judgec's rows are whole compiles with their defaults, as ``compile-judge`` runs them: every call is counted, of the
reflection model too. Those of the libraries see the train and dev items alone, and their calls hold nothing back for a
test. Agreement (QWK) is with the experts' grades of 400 new items; *attainable* is what the criteria alone would reach.
"""

import argparse
import json
import logging
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

import dspy
import numpy as np
from dspy.lm15 import Message, Request, Response, TextPart, Usage
from sklearn.metrics import cohen_kappa_score
from tests.compile.search import plain
from tests.service.replies import Call, answer, digest, read_call

from benchmarks.figures import all_done, table
from judgec.compile.compile import compile_judge
from judgec.compile.dataset import Dataset, Part, make_dataset
from judgec.compile.prepare import default_objective
from judgec.compile.search.candidates import first_predictor, task_module
from judgec.compile.settings import CallSettings, CompileSettings, SearchSettings, reflection_spec
from judgec.labels.labels import label_file
from judgec.labels.reading import Datasheet
from judgec.lm import client
from judgec.lm.backend import Backend
from judgec.lm.endpoint.exchange import system_text
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Silent
from judgec.raters.prompt import verdicts
from judgec.raters.signatures import demonstration
from judgec.records.judgment import Judgments, concatenate
from judgec.records.label import LabelSet
from judgec.records.scale import Scale
from judgec.table.table import Table

PAGE, FIGURES = Path(__file__).with_suffix(".md"), Path(__file__).with_suffix(".json")
MODEL = "hosted_vllm/planted"
TOPICS = 2  # of the criteria, that an answer in a hidden world is about
UNSEEN, OFF = 400, 0.1  # new items that a judge is measured on; share of expert grades that are off by one
SHOWN_TWICE = 2  # reasons in demonstrations that make a criterion plain
OURS = ("auto", "gepa", "mipro", "labeled")
THEIRS = ("dspy.GEPA", "dspy.MIPROv2", "mlflow.GEPAAlignment")
HEADER = ("LM", "labels", "optimizer", "QWK, mean", "worst", "calls, mean", "most", "seeds")


@dataclass(frozen=True)
class Criterion:
    """One thing that experts look at.

    Args:
        rule: How an instruction names it.
        met: What an answer that meets it says.
        missed: What one says that does not.
        reasons: How experts say that it is missed.
        often: How often a reason is about it, relative to the others.
    """

    rule: str
    met: str
    missed: str
    reasons: tuple[str, ...]
    often: int = 1


@dataclass(frozen=True)
class Planted:
    """A world and its LM.

    Args:
        criteria: What experts look at.
        reasoned: Share of the labels below full marks that have a reason which names a criterion.
        needed: Reasons in one prompt that a rewrite takes to name a criterion.
        most: New criteria that a rewrite names at most.
        missed: Share of the criteria that could be named anew and are not, in each rewrite.
        shown: Whether demonstrations make a criterion plain.
        budget: Calls that a compile may take, or None.
        hidden: Whether an answer shows what some criteria are about, not whether they are met.
        topics: Whether a rewrite may name what answers are about.
    """

    criteria: tuple[Criterion, ...]
    reasoned: float = 0.6
    needed: int = 1
    most: int = 99
    missed: float = 0.0
    shown: bool = True
    budget: int | None = None
    hidden: bool = False
    topics: bool = False

    def sees(self, one: Criterion, answer: str) -> bool:
        """True where an answer meets a criterion, for those who know of it."""
        if not self.hidden:
            return one.met in answer
        return digest("met", one.rule, answer[answer.index("Case ") :].partition(":")[0]) % 2 == 1

    def rows(self, count: int, seed: int, name: str) -> list[dict[str, object]]:
        """Labelled answers, one a query."""
        chance, made = random.Random(f"{name}{seed}"), []
        for number in range(count):
            met = [chance.random() < 0.5 for _ in self.criteria]
            if self.hidden:
                met = [self.sees(one, f"Case {name}{number}:") for one in self.criteria]
            grade = sum(met)
            if chance.random() < OFF:
                grade = min(max(grade + chance.choice((-1, 1)), 0), len(met))
            missed = [one for one, is_met in zip(self.criteria, met, strict=True) if not is_met]
            reason = ""
            if missed and chance.random() < self.reasoned:
                reason = chance.choice(chance.choices(missed, [one.often for one in missed])[0].reasons)
            said = [one.met if is_met else one.missed for one, is_met in zip(self.criteria, met, strict=True)]
            if self.hidden:
                said = chance.sample([one.met for one in self.criteria], TOPICS)
            row = {
                "item_id": f"{name}{number}",
                "query_id": f"{name}{number}",
                "query": f"What became of case {name}{number}?",
                "answer": f"Case {name}{number}: {' '.join(said)}",
                "grade": grade,
                "rationale": reason,
            }
            made.append(row)
        return made

    def labels(self, rows: Sequence[dict[str, object]]) -> LabelSet:
        """Them as a label file's."""
        columns = tuple(rows[0])
        read = Table("planted", columns, tuple(rows), tuple(range(1, len(rows) + 1)), by_line=False)
        scale = Scale(grades=tuple(range(len(self.criteria) + 1)), accept_at=len(self.criteria) - 1)
        return label_file(read, Datasheet(task="grade", scale=scale)).labels

    def reply(self, call: Call) -> str:
        """What the LM says."""
        graded = [output.name for output in call.prompt.outputs if output.labels]
        if not graded:  # an instruction, or what is observed of the items on the way to one
            return answer(call, {output.name: self._rewritten(call) for output in call.prompt.outputs}).text
        text = call.prompt.inputs.get("answer", "")
        known = self._known(call)
        grade = sum(
            self.sees(one, text) if one in known else digest("guess", one.rule, text) % 2 for one in self.criteria
        )
        return answer(call, dict.fromkeys(graded, str(grade))).text

    def _known(self, call: Call) -> set[Criterion]:
        demonstrations = call.prompt.demonstrations if self.shown else ()
        shown = "\n".join(text for demo in demonstrations for text in demo.outputs.values())
        return {one for one in self.criteria if one.rule in call.instructions or _mentions(one, shown) >= SHOWN_TWICE}

    def _rewritten(self, call: Call) -> str:
        """The criteria that are named already, and those that enough of the reasons mention."""
        read = json.dumps(call.body["messages"], ensure_ascii=False)
        chance = random.Random(digest("rewrite", read))
        told = {one: _mentions(one, read) + self.topics * read.count(one.met) for one in self.criteria}
        new = [one for one in self.criteria if one.rule not in read and told[one] >= self.needed]
        new = [one for one in chance.sample(new, len(new)) if chance.random() >= self.missed][: self.most]
        named = [one for one in self.criteria if one.rule in read or one in new]
        return "\n".join(["Grade the answer with care.", *(f"- {one.rule}" for one in named)])


def _mentions(one: Criterion, text: str) -> int:
    return sum(text.count(reason) for reason in one.reasons)


CASES = Planted(
    (
        Criterion(
            "The source of the account must be named.",
            "The registry of the court tells it.",
            "It is told in the town.",
            ("no way to check where this comes from", "I miss who says so", "whose word is this?"),
        ),
        Criterion(
            "The day on which it ended must be given.",
            "It closed on the ninth of May.",
            "It closed at some time.",
            ("when was that?", "the date is left open", "I cannot tell how long ago"),
        ),
        Criterion(
            "The sum must carry its currency.",
            "Forty francs were paid.",
            "Forty were paid.",
            ("forty of what?", "an amount without a unit", "money, but which?"),
        ),
        Criterion(
            "What remains open must be admitted.",
            "An appeal may yet follow.",
            "That is all there is.",
            ("sounds surer than it can be", "hides what is unsettled", "no word of the doubts"),
        ),
        Criterion(
            "Both sides must be heard.",
            "Owner and tenant were asked.",
            "The owner was asked.",
            ("one-sided", "only half of the people speak", "the tenant is missing"),
        ),
    )
)
RECIPES = Planted(
    (
        Criterion(
            "A dish needs its oven heat.",
            "Bake it at 180 degrees.",
            "Bake it hot.",
            ("how hot?", "I would burn this", "the heat is anybody's guess"),
            often=5,
        ),
        Criterion(
            "Amounts must be weighed.",
            "Take 300 grams of flour.",
            "Take some flour.",
            ("how much flour?", "no scale can help me here", "quantities are vague"),
            often=3,
        ),
        Criterion(
            "Allergens must be flagged.",
            "It holds nuts, beware.",
            "It holds good things.",
            ("dangerous for my daughter", "nothing for people who cannot eat all", "no warning"),
            often=2,
        ),
        Criterion(
            "Portions must be counted.",
            "It feeds six.",
            "It feeds a table.",
            ("for how many?", "will my guests be fed?", "the servings are unclear"),
        ),
        Criterion(
            "Leftovers need a storage hint.",
            "Keep it cold for two days.",
            "Enjoy it.",
            ("and the rest of it?", "it would spoil", "what about tomorrow"),
        ),
    ),
    needed=2,
)
TICKETS = Planted(
    (
        Criterion(
            "An apology comes first.",
            "We are sorry for the trouble.",
            "We have read your note.",
            ("cold tone", "not a word of regret", "they do not seem to care"),
        ),
        Criterion(
            "The next step belongs to us, with a name.",
            "Mira will call you.",
            "Somebody may call.",
            ("who does what now?", "nobody takes it on", "left hanging"),
        ),
        Criterion(
            "A deadline is promised.",
            "You hear from us by Friday.",
            "You hear from us.",
            ("by when?", "this could take for ever", "open-ended"),
        ),
        Criterion(
            "The ticket number is repeated.",
            "It is ticket 4411.",
            "It is your ticket.",
            ("which case?", "I could not find this again", "no handle to refer to"),
        ),
    ),
    reasoned=0.4,
)
STEPS = replace(CASES, most=2, missed=0.3, shown=False, budget=700, hidden=True)
UNSAID = replace(STEPS, reasoned=0.0, topics=True)
LMS: Mapping[str, Planted] = {
    "cases": CASES,
    "recipes": RECIPES,
    "tickets": TICKETS,
    "steps": STEPS,
    "unsaid": UNSAID,
}


class PlantedBackend:
    """The LM of a world, in this process."""

    def __init__(self, planted: Planted) -> None:
        self.identity = "planted"
        self._planted = planted

    def complete(self, request: Request) -> Response:
        """Answer one prompt."""
        turns = [{"role": message.role, "content": message.text or ""} for message in request.messages]
        messages = [{"role": "system", "content": system_text(request)}, *turns]
        text = self._planted.reply(read_call(0, {"messages": messages}))
        return Response(
            id=None,
            model=MODEL,
            message=Message.assistant([TextPart(text)]),
            finish_reason="stop",
            usage=Usage(input_tokens=1, output_tokens=1),
        )

    async def acomplete(self, request: Request) -> Response:
        """As ``complete``."""
        return self.complete(request)

    async def aclose(self) -> None:
        """Nothing is held."""


@contextmanager
def serving(planted: Planted) -> Iterator[None]:
    """For as long as the block lasts ``MODEL`` is the LM of this world."""

    def opened(_: LMSpec, environ: Mapping[str, str] | None = None) -> Backend:  # noqa: ARG001 - as it is called
        return PlantedBackend(planted)

    with patch.object(client, "open_backend", opened):
        yield


@dataclass(frozen=True)
class Run:
    """What one optimizer made of one draw of labels."""

    lm: str
    labels: int
    optimizer: str
    seed: int
    qwk: float
    calls: int
    prompt: str
    promoted: bool | None = None


def run(lm: str, size: int, optimizer: str, seed: int, budget: int | None = None) -> Run:
    """Compile on ``size`` labels and measure on new ones; ``budget`` is the world's own where it is None."""
    planted = LMS[lm]
    labels = planted.labels(planted.rows(size, seed, "c"))
    unseen = make_dataset(planted.labels(planted.rows(UNSEEN, seed, "u")), seed)
    spec = LMSpec.parse(MODEL)
    reflection, why = reflection_spec(spec, None)
    with serving(planted), tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        cap = (budget or planted.budget) if optimizer in OURS else None
        measuring = Session(spec, home)  # what a compile may ask is no part of what its judge is measured with
        with Session(spec, home, reflection=reflection, budget=cap) as session, measuring:
            if optimizer in OURS:
                settings = CompileSettings(
                    name="planted",
                    home=home,
                    lm=spec,
                    objective=default_objective(labels),
                    seed=seed,
                    search=SearchSettings(optimizer, reflection, why),
                    caps=CallSettings(cap),
                )
                found = compile_judge(labels, settings, session, Silent())
                calls, promoted, prompt = session.spent.calls, found.decision.promoted, found.shipped.name
                judge = partial(found.judge.judge, ask=measuring.ask)
                return Run(lm, size, optimizer, seed, _qwk(unseen, judge), calls, prompt, promoted)
            module = theirs(optimizer, session, make_dataset(labels, seed), labels, seed)
            calls = session.spent.calls
            judge = partial(verdicts, module, ask=session.ask, scale=labels.scale, aspects=labels.aspects)
            return Run(lm, size, optimizer, seed, _qwk(unseen, judge), calls, "")


def theirs(optimizer: str, session: Session, parts: Dataset, labels: LabelSet, seed: int) -> dspy.Module:
    """The judge that a library makes of the same prompt, with its default effort."""
    module = task_module(labels)
    predict, learned = first_predictor(module), (parts.train, parts.dev)
    train, dev = ([_example(predict, part, i, labels) for i in range(len(part))] for part in learned)
    top = len(labels.scale.grades) - 1

    def score(gold: dspy.Example, said: dspy.Prediction, trace: object = None) -> float:  # noqa: ARG001 - as it is called
        return 1 - abs(int(gold.grade) - int(said.grade)) / top if str(said.get("grade")).isdigit() else 0.0

    def exact(gold: dspy.Example, said: dspy.Prediction, trace: object = None) -> bool:
        return score(gold, said, trace) == 1

    def told(gold: dspy.Example, said: dspy.Prediction, *_: object) -> dspy.Prediction:
        text = f"The expert gave {gold.grade}, you {said.get('grade')}. {gold.get('reason') or ''}"
        return dspy.Prediction(score=score(gold, said), feedback=text.strip())

    with plain.quiet(), reported(optimizer), dspy.context(lm=session.lm, num_threads=1):
        if optimizer == "dspy.GEPA":
            gepa = dspy.GEPA(told, reflection_lm=session.reflection, auto="light", num_threads=1, seed=seed)
            return gepa.compile(module, trainset=train, valset=dev)
        if optimizer == "dspy.MIPROv2":
            mipro = dspy.MIPROv2(score, prompt_model=session.reflection, auto="light", num_threads=1, seed=seed + 1)
            return mipro.compile(module, trainset=train, valset=dev)
        from mlflow.genai.judges import optimizers

        judge = module.deepcopy()
        judge.set_lm(session.lm)
        align = optimizers.GEPAAlignmentOptimizer(model="openai:/unused")
        with dspy.context(lm=session.reflection):  # what ``align`` calls, on this judge instead of MLflow's own
            return align._dspy_optimize(judge, [*train, *dev], exact)  # noqa: SLF001


@contextmanager
def reported(optimizer: str) -> Iterator[None]:
    """Stops the run where the optimizer swallowed an error: what it made of the rest would pass for its best."""
    errors: list[str] = []
    handler, log = logging.Handler(logging.ERROR), logging.getLogger("dspy")
    handler.emit = lambda record: errors.append(record.getMessage())  # type: ignore[method-assign]
    log.addHandler(handler)
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.removeHandler(handler)
    if errors:
        sys.exit(f"{optimizer}: {len(errors)} errors that it went on after. The run stops. The first: {errors[0]}")


def _example(predict: dspy.Predict, part: Part, i: int, labels: LabelSet) -> dspy.Example:
    grades = [int(grade) for grade in part.experts.target[i, :, 0]]
    return demonstration(predict, part.items[i], grades, labels.scale, reason=part.rationale(i))


def _qwk(unseen: Dataset, judge: partial[Judgments]) -> float:
    """Agreement on all new items."""
    parts = (unseen.train, unseen.dev, unseen.test)
    expert = np.concatenate([part.experts.target[:, 0, 0] for part in parts])
    said = concatenate([judge(part.items) for part in parts])
    all_done("the judge", int(said.scored.sum()), len(expert))
    return float(cohen_kappa_score(expert, said.grade[:, 0], weights="quadratic"))


def attainable(lm: str, seed: int = 0) -> float:
    """What the experts' grades of new items agree with the number of criteria that are met."""
    planted = LMS[lm]
    rows = planted.rows(UNSEEN, seed, "u")
    met = [sum(planted.sees(one, str(row["answer"])) for one in planted.criteria) for row in rows]
    return float(cohen_kappa_score([row["grade"] for row in rows], met, weights="quadratic"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--sizes", type=int, nargs="+", default=[60, 200])
    parser.add_argument("--lms", nargs="+", choices=list(LMS), default=list(LMS))
    parser.add_argument("--optimizers", nargs="+", choices=[*OURS, *THEIRS], default=[*OURS[:2], *THEIRS])
    parser.add_argument("--budget", type=int, help="calls that a compile of ours may take")
    parser.add_argument("--write", action="store_true", help=f"into {PAGE.name} and {FIGURES.name}; other rows stay")
    options = parser.parse_args(arguments)
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    known: dict[str, list[dict[str, object]]] = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    for lm in options.lms:
        for size in options.sizes:
            for optimizer in options.optimizers:
                seeds = range(options.first, options.first + options.seeds)
                runs = [asdict(run(lm, size, optimizer, seed, options.budget)) for seed in seeds]
                known[f"{lm} {size} {optimizer}"] = runs
                print(" | ".join(_row(runs)), flush=True)
                if options.write:
                    _write(known)


def _row(runs: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    qwk = np.array([float(str(one["qwk"])) for one in runs])
    calls = np.array([int(str(one["calls"])) for one in runs])
    first, numbers = runs[0], (f"{qwk.mean():.3f}", f"{qwk.min():.3f}", f"{calls.mean():.0f}", f"{calls.max()}")
    return (str(first["lm"]), str(first["labels"]), str(first["optimizer"]), *numbers, str(len(runs)))


def _write(known: Mapping[str, Sequence[Mapping[str, object]]]) -> None:
    """The page and the figures that it is made of."""
    FIGURES.write_text(json.dumps(known, indent=1) + "\n")
    about = ", ".join(f"{lm} {attainable(lm):.3f}" for lm in LMS)
    lines = ["# Optimizers on planted LMs", "", "Written by `python -m benchmarks.planted --write`, row by row.", ""]
    lines += [f"Attainable with every criterion: {about}.", "", *table(HEADER, [_row(runs) for runs in known.values()])]
    PAGE.write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
