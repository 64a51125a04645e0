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
from judgec.verbs.judge import load_judge
from tests.compile import recorded_world, test_jury
from tests.service import checking_world, grading_world
from tests.service.fake_openai import FakeOpenAI
from tests.service.policies import Policy
from tests.verbs.cli.judging import save_judge

HERE = Path(__file__).parent
SENSORS = HERE.parents[1] / "trainsets" / "sensors" / "labels.jsonl"
LM = "openai/gpt-4o-mini"

Rows = list[dict[str, object]]


@dataclass(frozen=True)
class Kind:
    """How a judge is compiled, and what it judges afterwards.

    Args:
        rows: Labelled rows by a seed; 0 are compiled, the first forty of 1 are judged.
        options: Of ``compile_judge``.
        policy: What the fake model says, or None without one.
        verdicts: Recorded verdicts on rows, or None.
        before: What has to be in the home, such as jurors.
    """

    rows: Callable[[int], Rows]
    options: Mapping[str, object] = field(default_factory=dict)
    policy: Policy | None = None
    verdicts: Callable[[Rows], Rows] | None = None
    before: Callable[[Path], None] | None = None

    def items(self) -> Rows:
        """New items, without what people said of them."""
        labels = {"grade", "accept", "preference", "outcome", "annotator", "rationale"}
        new = [{name: value for name, value in row.items() if name not in labels} for row in self.rows(1)[:40]]
        return [{name: value for name, value in row.items() if not name.startswith("grade.")} for row in new]

    def said(self) -> Rows | None:
        """The recorded verdicts on the new items."""
        return None if self.verdicts is None else self.verdicts(self.rows(1)[:40])


def sensors(seed: int) -> Rows:
    """Answers about sensors with three experts' grades."""
    rows: Rows = [json.loads(line) for line in SENSORS.read_text(encoding="utf-8").splitlines()]
    return rows[:150] if seed == 0 else rows[-60:]


def accepts(seed: int) -> Rows:
    """The same, accepted or rejected."""
    return [{**row, "accept": int(str(row["grade"])) >= 4, "grade": None} for row in sensors(seed)]


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


def pair_verdicts(rows: Rows) -> Rows:
    """What two judges said of each pair, in both orders; the second likes what stands first."""
    chance = random.Random(5)
    made: Rows = []
    for row in rows:
        for order in ("ab", "ba"):
            for judge, right in (("good", 0.8), ("first", 0.5)):
                said = row["preference"] if chance.random() < right else ("a" if order == "ab" else "b")
                made.append({"item_id": row["item_id"], "judge": judge, "preference": said, "order": order})
    return made


def claims(seed: int) -> Rows:
    """Answers of three claims each."""
    return [checking_world.claims_row(number + 400 * seed) for number in range(80)]


def documents(seed: int) -> Rows:
    """Relevance labels whose grade no text gives away."""
    if seed == 0:
        return recorded_world.labels()
    new = recorded_world.labels(20, 4)
    return [{**row, **{name: f"q9{str(row[name])[1:]}" for name in ("item_id", "query_id")}} for row in new]


def noisy(**noise: float) -> Callable[[Rows], Rows]:
    """Judges that guess each so often."""

    def said(rows: Rows) -> Rows:
        chance = random.Random(7)
        return [
            {
                "item_id": row["item_id"],
                "judge": judge,
                "grade": chance.randint(0, 3) if chance.random() < rate else row["grade"],
                "cost_usd": 0.01,
            }
            for row in rows
            for judge, rate in noise.items()
        ]

    return said


def jurors(home: Path) -> None:
    """Three judges with prompts and models of their own."""
    for name, model in test_jury.MODELS.items():
        save_judge(home, name, instructions=f"Grade as {name} does.", lm={"model": model, "temperature": 0.0})


def graded(seed: int) -> Rows:
    """Answers of the grading world."""
    return grading_world.rows(150, seed)


def one_of(judge: str) -> dict[str, object]:
    """Options for one recorded judge."""
    return {"judges": judge, "objective": "qwk", "evidence": False}


JOINED: dict[str, object] = {"objective": "qwk", "evidence": False, "folds": 1}
KINDS: Mapping[str, Kind] = {
    "evidence_alone": Kind(sensors),
    "accepting": Kind(accepts),
    "abstaining": Kind(sensors, {"abstain_below": 0.6}),
    "two_aspects": Kind(aspects, {"task": "answer", "objective": "qwk"}),
    "classes": Kind(outcomes),
    "pairs": Kind(pairs),
    "claims_asked": Kind(
        claims, {"task": "claims", "lm": LM, "evidence": False, "optimizer": "labeled"}, checking_world.check
    ),
    "prompt": Kind(graded, {"lm": LM, "evidence": False, "optimizer": "labeled"}, grading_world.teachable),
    "prompt_and_evidence": Kind(sensors, {"lm": LM, "optimizer": "labeled"}, grading_world.stubborn),
    "recorded": Kind(documents, one_of("gpt/odd"), verdicts=recorded_world.verdicts),
    "recorded_pairs": Kind(pairs, {"judges": "good", "evidence": False, "objective": "kappa"}, verdicts=pair_verdicts),
    "panel_alike": Kind(documents, {**JOINED, "panel": "all"}, verdicts=noisy(a=0.4, b=0.4, c=0.4)),
    "jury_single": Kind(
        lambda seed: list(map(dict, test_jury.rows(160, seed))),
        {**JOINED, "accept_at": "4", "jury": ("one", "three")},
        test_jury.unsure,
        before=jurors,
    ),
    "jury_panel": Kind(
        lambda seed: list(map(dict, test_jury.rows(160, seed))),
        {**JOINED, "accept_at": "4", "jury": ("one", "two", "three"), "panel": "all"},
        test_jury.unsure,
        before=jurors,
    ),
    "cascade": Kind(
        lambda seed: list(map(dict, test_jury.rows(400, seed))),
        {**JOINED, "accept_at": "4", "jury": ("one", "three"), "cascade": ("one", "three")},
        test_jury.in_the_middle,
        before=jurors,
    ),
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
    judge = load_judge(
        f"{name}@1", home=home, verdicts=None if said is None else pd.DataFrame(said), api_base=base(server)
    )
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
        if kind.before is not None:
            kind.before(work)
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
