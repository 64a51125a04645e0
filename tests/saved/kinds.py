"""A judge of every kind, compiled on constructed labels: what ``test_saved`` judges with again.

``python -m tests.saved.kinds`` compiles each that is not there yet, writes ``programs/`` and what each says of new
items. A judge that is there is never made anew: it is what somebody has saved.
"""

import json
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import judgec
from judgec.lm.spec import LMSpec
from judgec.raters import programs
from judgec.raters.judge import JudgeTree
from judgec.raters.judge import load_judge as load_saved
from judgec.raters.tree import Calibrated, Cascade, Mean, PromptLeaf
from judgec.verbs.judge import load_judge
from tests.compile import recorded_world, test_jury
from tests.prompts import unquote
from tests.saved.functions import recall
from tests.service import grading_world
from tests.service.fake_openai import FakeOpenAI
from tests.service.policies import Policy
from tests.service.replies import Call, Outcome, answer
from tests.verbs.cli.judging import save_judge

HERE = Path(__file__).parent
SENSORS = HERE.parents[1] / "trainsets" / "sensors" / "labels.jsonl"
LM = "openai/gpt-4o-mini"
RECALL = "recall=python:tests.saved.functions:recall#range=0..1"

Rows = list[dict[str, object]]


@dataclass(frozen=True)
class Kind:
    """How a judge is compiled, and what it judges afterwards.

    Args:
        rows: Labelled rows by a seed; 0 are compiled, the first forty of 1 are judged.
        options: Of ``compile_judge``.
        policy: What the fake model says, or None without one.
        verdicts: Recorded verdicts on rows, or None.
        functions: What it calls.
        saved: Saves the judge by a name in a home, where no compile makes one.
    """

    rows: Callable[[int], Rows]
    options: Mapping[str, object] = field(default_factory=dict)
    policy: Policy | None = None
    verdicts: Callable[[Rows], Rows] | None = None
    functions: Mapping[str, Callable[..., object]] = field(default_factory=dict)
    saved: Callable[[Path, str], None] | None = None

    def items(self) -> Rows:
        """New items, without what people said of them."""
        return told(self.rows(1)[:40])

    def said(self) -> Rows | None:
        """The recorded verdicts on the new items."""
        return None if self.verdicts is None else self.verdicts(self.rows(1)[:40])


def sensors(seed: int) -> Rows:
    """Answers about sensors with three experts' grades."""
    rows: Rows = [json.loads(line) for line in SENSORS.read_text(encoding="utf-8").splitlines()]
    return rows[:150] if seed == 0 else rows[-60:]


def seldom_right(call: Call) -> Outcome:
    """What an expert said of two of five answers about sensors, and 3 of the others: evidence beside it tells more."""
    said = "\n".join(unquote(call.prompt.inputs.get("answer", "")))
    known = {str(row["answer"]): str(row["grade"]) for row in (*sensors(0), *sensors(1))}
    sure = said in known and random.Random(said).random() < 0.4
    return answer(call, {one.name: known[said] if sure else "3" for one in call.prompt.outputs if one.labels})


def aspects(seed: int) -> Rows:
    """Answers of which two things are graded: how long they are, and how much they share with the context."""
    chance = random.Random(seed)
    made: Rows = []
    for number in range(160):
        length, near = chance.randint(0, 2), chance.randint(0, 2)
        words = [f"word{number}x{k}" for k in range(6 + 8 * length)]
        context = words[: len(words) * near // 2] + [f"other{number}x{k}" for k in range(6)]
        made.append(
            {
                "item_id": f"a{seed}-{number}",
                "query_id": f"q{seed}-{number // 2}",
                "query": f"Which words belong to number {number // 2}?",
                "answer": " ".join(words),
                "contexts": [" ".join(context)],
                "grade.completeness": length if chance.random() < 0.9 else chance.randint(0, 2),
                "grade.accuracy": near if chance.random() < 0.9 else chance.randint(0, 2),
            }
        )
    return made


def outcomes(seed: int) -> Rows:
    """What systems did with questions that nobody can answer."""
    said = {
        "refused": "I cannot answer that: the documents do not say anything about {n}.",
        "answered": "The value of {n} is {n}0 units, as everybody knows.",
        "described": "The documents describe pumps and valves, among them number {n}.",
        "error": "",
    }
    chance = random.Random(seed)
    made: Rows = []
    for number in range(120):
        outcome = list(said)[number % 4]
        shown = outcome if chance.random() < 0.95 else "answered"
        text = said[shown].format(n=number)
        made.append(
            {
                "item_id": f"o{seed}-{number}",
                "query_id": f"q{seed}-{number // 2}",
                "query": f"What is the value of {number // 2}?",
                "answer": text,
                "outcome": outcome,
            }
        )
    return made


def pairs(seed: int) -> Rows:
    """Two answers of which the one that says more of the context is better."""
    chance = random.Random(seed)
    made: Rows = []
    for number in range(160):
        words = [f"fact{number}x{k}" for k in range(12)]
        takes = [chance.randint(2, 12), chance.randint(2, 12)]
        better = "tie" if abs(takes[0] - takes[1]) < 2 else "ab"[takes[1] > takes[0]]
        made.append(
            {
                "item_id": f"p{seed}-{number}",
                "query_id": f"q{seed}-{number // 2}",
                "query": f"What is said of number {number // 2}?",
                "answer_a": " ".join(words[: takes[0]]),
                "answer_b": " ".join(words[: takes[1]]),
                "contexts": [" ".join(words)],
                "preference": better,
            }
        )
    return made


def documents(seed: int) -> Rows:
    """Relevance labels whose grade no text gives away."""
    if seed == 0:
        return recorded_world.labels()
    new = recorded_world.labels(20, 4)
    return [{**row, **{name: f"q9{str(row[name])[1:]}" for name in ("item_id", "query_id")}} for row in new]


def graded(seed: int) -> Rows:
    """Answers of the grading world."""
    return grading_world.rows(150, seed)


def one_of(judge: str) -> dict[str, object]:
    """Options for one recorded judge."""
    return {"judges": judge, "objective": "qwk", "evidence": False, "best": "3"}


def told(rows: Rows) -> Rows:
    """New rows without what people said of them."""
    labels = {"grade", "accept", "preference", "outcome", "annotator", "rationale"}
    new = [{name: value for name, value in row.items() if name not in labels} for row in rows]
    return [{name: value for name, value in row.items() if not name.startswith("grade.")} for row in new]


def answered(seed: int) -> Rows:
    """Answers that three judges grade."""
    return list(map(dict, test_jury.rows(160, seed)))


def jurors(home: Path) -> None:
    """Three judges with prompts and models of their own."""
    for name, model in test_jury.MODELS.items():
        save_judge(home, name, instructions=f"Grade as {name} does.", lm={"model": model, "temperature": 0.0})


def mean_in_a_cascade(home: Path, name: str) -> None:
    """Two jurors as one, asked where the third is not sure: no compile makes one, so its tree is put together."""
    jurors(home)
    one, two, three = (_named(home, name) for name in test_jury.MODELS)
    tree = Cascade(first=one, then=Mean(of=(two, three)), below=0.7)
    models = {name: LMSpec.parse(model, temperature=0.0) for name, model in test_jury.MODELS.items()}
    card = programs.load(home, "one").card
    card = card.model_copy(update={"name": name, "lm": LMSpec.jury(models).describe(), "judge_kind": "cascade"})
    judge = JudgeTree(tree, card.task, card.scale, card.aspects)
    programs.save(home, programs.Program(card, judge.saved(), {}, {}))


def _named(home: Path, name: str) -> Calibrated:
    """A saved judge of one prompt, with its prompt named as it is."""
    tree = load_saved(programs.load(home, name)).rater
    assert isinstance(tree, Calibrated)
    assert isinstance(tree.of, PromptLeaf)
    return tree.model_copy(update={"of": tree.of.model_copy(update={"name": name})})


PEOPLE: dict[str, object] = {"annotators": "*"}
KINDS: Mapping[str, Kind] = {
    "prompt": Kind(graded, {"lm": LM, "evidence": False, "optimizer": "labeled"}, grading_world.teachable),
    "prompt_and_evidence": Kind(sensors, {**PEOPLE, "lm": LM, "optimizer": "labeled"}, seldom_right),
    "evidence": Kind(sensors, {**PEOPLE, "abstain_below": 0.6}),
    "recorded": Kind(documents, one_of("gpt/odd"), verdicts=recorded_world.verdicts),
    "function": Kind(sensors, {**PEOPLE, "candidates": [RECALL], "evidence": False}, functions={"recall": recall}),
    "pairs": Kind(pairs),
    "classes": Kind(outcomes),
    "two_aspects": Kind(aspects, {"task": "answer", "objective": "qwk", "best": "2"}),
    "mean_in_a_cascade": Kind(answered, policy=test_jury.unsure, saved=mean_in_a_cascade),
}


@contextmanager
def serving(kind: Kind) -> Iterator[FakeOpenAI | None]:
    """The kind's model, if it asks one."""
    if kind.policy is None:
        yield None
        return
    before = os.environ.get("OPENAI_API_KEY")
    os.environ["OPENAI_API_KEY"] = "not-a-key"
    try:
        with FakeOpenAI(kind.policy) as server:
            yield server
    finally:
        os.environ.pop("OPENAI_API_KEY")
        if before is not None:
            os.environ["OPENAI_API_KEY"] = before


def base(server: FakeOpenAI | None) -> str | None:
    """Where the model is asked."""
    return None if server is None else server.base_url


def judged(name: str, home: Path, server: FakeOpenAI | None) -> Rows:
    """What the saved judge says of its new items through ``load_judge``, floats in hex."""
    kind, said = KINDS[name], KINDS[name].said()
    verdicts = None if said is None else pd.DataFrame(said)
    judge = load_judge(f"{name}@1", home=home, verdicts=verdicts, api_base=base(server), functions=kind.functions)
    items = pd.DataFrame(kind.items())
    frame = judge(items, progress=False)
    return exact(frame[[column for column in frame.columns if column not in items.columns]])


def exact(frame: pd.DataFrame) -> Rows:
    """Rows whose numbers are written to the last bit."""
    return [{str(name): _exact(value) for name, value in row.items()} for row in frame.to_dict("records")]


def _exact(value: object) -> object:
    if isinstance(value, float):
        return value.hex() if value == value else None  # noqa: PLR0124  # the one float that is not itself
    if value is pd.NA:
        return None
    if isinstance(value, str) and value.startswith(("{", "[")):
        return json.dumps(_deep(json.loads(value)), sort_keys=True)
    if isinstance(value, np.generic):
        return _exact(value.item())
    return _deep(value)


def _deep(value: object) -> object:
    if isinstance(value, dict):
        return {key: _deep(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_deep(inner) for inner in value]
    return value.hex() if isinstance(value, float) else value


def make(name: str, home: Path) -> None:
    """Compile the kind in a home and copy what it saved."""
    kind = KINDS[name]
    with serving(kind) as server, tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        shutil.copytree(home / "programs", work / "programs")
        if kind.saved is not None:
            kind.saved(work, name)
        else:
            rows = kind.rows(0)
            said = {} if kind.verdicts is None else {"verdicts": pd.DataFrame(kind.verdicts(rows))}
            options: dict[str, Any] = {"api_base": base(server), **said, **kind.options}  # Any: as the verb takes them
            found = judgec.compile_judge(pd.DataFrame(rows), name=name, home=work, progress=False, **options)
            print(name, found.report["prompt"], found.saved.card.promoted)
        unread = shutil.ignore_patterns("report.html", "items.jsonl")
        shutil.copytree(work / "programs" / name, home / "programs" / name, ignore=unread)


def main(wanted: list[str]) -> None:
    """Make what is not there yet."""
    (HERE / "programs").mkdir(exist_ok=True)
    (HERE / "expected").mkdir(exist_ok=True)
    for name in wanted or KINDS:
        if not (HERE / "programs" / name).is_dir():
            make(name, HERE)
            with serving(KINDS[name]) as server:
                rows = judged(name, HERE, server)
            text = json.dumps(rows, indent=0, ensure_ascii=False)
            (HERE / "expected" / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
