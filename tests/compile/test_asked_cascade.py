"""Evidence first and a model where that pays: a world in which half of the answers say by themselves what they are."""

import json
import random
from pathlib import Path

import pytest

import judgec
from judgec.compile.measured import Compiled
from judgec.compile.settings import CallSettings, CandidateSettings, Combine, CompileSettings, SearchSettings
from judgec.labels.labels import read_labels
from judgec.lm.spec import LMSpec
from judgec.verbs.judge import load_judge
from tests.compile.small import Rows, compiled_on, write
from tests.prompts import unquote
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, answer

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "kmnprst"]


def rows(items: int, seed: int = 0) -> Rows:
    """An answer that repeats the reference is right, one of other words wrong; of half repeated nobody knows.

    What is right of the latter stands in a code that evidence does not read: a word that ends in ``x``.
    """
    chance, made = random.Random(seed), []
    for number in range(items):
        reference = chance.sample(WORDS, 8)
        other = chance.sample(WORDS, 4)
        kind, good = number % 4, chance.random() < 0.5
        said = {0: reference, 1: other + chance.sample(WORDS, 4)}.get(kind, reference[:4] + other)
        right = kind == 0 or (kind > 1 and good)
        made.append(
            {
                "item_id": f"i{seed}-{number}",
                "query_id": f"q{seed}-{number}",
                "query": f"What is number {number}?",
                "answer": " ".join(
                    word + ("x" if right and i == 7 else "y" if i == 7 else "") for i, word in enumerate(said)
                ),
                "reference": " ".join(reference),
                "grade": 4 if right else 1,
            }
        )
    return made


def reads_the_code(call: Call) -> Outcome:
    said = " ".join(unquote(call.prompt.inputs.get("answer", "")))
    grade = "4" if said.endswith("x") else "1"
    return answer(call, {output.name: grade for output in call.prompt.outputs if output.labels})


def compiled_with(home: Path, server: FakeOpenAI) -> Compiled:
    labels = read_labels(str(write(home / "labels.jsonl", rows(400))))
    spec = LMSpec.parse("openai/gpt-4o-mini", api_base=server.base_url)
    settings = CompileSettings(
        "first", home, spec, "kappa", SearchSettings("labeled"), folds=1, caps=CallSettings(4000),
        candidates=CandidateSettings(combine=Combine(cascade=("evidence", spec.model))),
    )  # fmt: skip
    return compiled_on(labels, settings).compiled


@pytest.mark.full
def test_evidence_first_asks_the_model_about_the_rest_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    with FakeOpenAI(reads_the_code) as server:
        compiled = compiled_with(tmp_path, server)
        found = json.loads(json.dumps(compiled.combined["cascade"]))
        assert found["shipped"], found["reason"]
        assert 0.3 < found["share"] < 0.7
        assert found["minus_dear"]["value"] == pytest.approx(0.0, abs=0.02)
        alone = {row.judge: row for row in compiled.costs}
        row = alone["evidence > openai/gpt-4o-mini"]
        assert row.chosen
        assert row.calls_per_item == pytest.approx(found["share"], abs=0.15)
        assert found["cost_per_1000"] is not None
        dear = alone["zero-shot"].usd_per_1000
        assert dear is not None
        assert row.usd_per_1000 is not None
        assert row.usd_per_1000 < 0.75 * dear
        new = rows(600, 1)
        unlabelled = [{k: v for k, v in row.items() if k != "grade"} for row in new]
        items = write(tmp_path / "items.jsonl", unlabelled)
        begun = server.calls
        done = judgec.judge_file(
            items, judge="first@latest", home=tmp_path, out=tmp_path / "out.jsonl", api_base=server.base_url
        )
        asked = server.calls - begun
        escalated = done.report["escalated"]
        assert isinstance(escalated, int)
        assert escalated <= asked <= escalated + 1  # one more where the endpoint is looked at first
        assert 200 < escalated < 400
        frame = done.frame()
        truth = [row["grade"] for row in new]
        assert sum(a == b for a, b in zip(frame["grade"], truth, strict=True)) > 570
        assert frame["item_id"].tolist() == [row["item_id"] for row in new]
        judge = load_judge("first@latest", home=tmp_path, api_base=server.base_url)
        begun = server.calls
        again = judge(unlabelled)
        assert again["grade"].tolist() == frame["grade"].tolist()
        assert server.calls == begun  # the journal has them
