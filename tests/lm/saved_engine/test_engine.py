import itertools
import json
from pathlib import Path
from typing import Any, Literal

import dspy
import numpy as np
import pytest
from dspy.lm15 import InvalidRequestError
from scipy.stats import kendalltau

from judgec.lm.client import open_lm
from judgec.lm.logprobs import from_prediction, label_probabilities
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage

DATA = Path(__file__).parents[4] / "shared" / "data" / "labels"


def judge(inputs: tuple[str, ...], grades: dict[str, tuple[object, ...]]) -> dspy.Predict:
    fields: dict[str, Any] = {name: (str, dspy.InputField()) for name in inputs}  # types made at run time
    fields["reason"] = (str, dspy.OutputField())
    fields |= {name: (Literal[labels], dspy.OutputField()) for name, labels in grades.items()}
    fields["confidence"] = (int, dspy.OutputField(desc="0 to 100"))
    return dspy.Predict(dspy.Signature(fields, "Judge it."))


@pytest.fixture(scope="module")
def lm() -> dspy.LM:
    return open_lm(LMSpec.parse("embedded"), journal=None, budget=Budget(), usage=Usage())


def ask(lm: dspy.LM, predict: dspy.Predict, adapter: dspy.Adapter | None = None, **inputs: str) -> dspy.Prediction:
    with dspy.context(lm=lm, adapter=adapter or dspy.ChatAdapter(use_json_adapter_fallback=False)):
        return predict(**inputs)


CONTEXT = "The Kell bridge was opened in 1931 by the engineer Ada Lund. It is 410 metres long."


@pytest.mark.parametrize("adapter", [None, dspy.JSONAdapter()], ids=["chat", "json"])
@pytest.mark.parametrize("labels", [(1, 2, 3, 4, 5), (0, 1), (0, 1, 2, 3), ("0.5", "1.5", "2.5"), ("bad", "good")])
def test_complete_grade_orders_supported_above_invented_above_refused(
    lm: dspy.LM, labels: tuple[object, ...], adapter: dspy.Adapter | None
) -> None:
    predict = judge(("query", "answer", "contexts"), {"grade": labels})
    scores = []
    for answer in ("It was opened in 1931 by Ada Lund.", "It was bombed by pirates from Peru.", ""):
        said = ask(lm, predict, adapter, query="When was the Kell bridge opened?", answer=answer, contexts=CONTEXT)
        spread = label_probabilities(from_prediction(said.logprobs), "grade", [str(label) for label in labels])
        assert spread is not None
        assert sum(spread) == pytest.approx(1.0)
        assert said.grade == labels[int(np.argmax(spread))]  # what is said is what is likeliest
        assert 0 <= said.confidence <= 100
        assert said.reason
        scores.append(float(np.arange(len(labels)) @ np.array(spread)))
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[1] + 0.2


def test_complete_aspects_grades_each_and_learns_each_apart(lm: dspy.LM) -> None:
    predict = judge(("query", "answer", "contexts"), {"accuracy": (0, 1, 2), "style": (0, 1, 2)})
    item = {
        "query": "When was the Kell bridge opened?",
        "answer": "It was opened in 1931.",
        "contexts": CONTEXT,
    }
    predict.demos = [dspy.Example(**item, accuracy=2, style=0) for _ in range(4)]
    said = ask(lm, predict, **item)
    assert (said.accuracy, said.style) == (2, 0)


def test_complete_relevance_orders_documents(lm: dspy.LM) -> None:
    predict = judge(("query", "document"), {"grade": (0, 1, 2)})
    near = ask(lm, predict, query="length of the Kell bridge in metres", document=CONTEXT)
    far = ask(lm, predict, query="length of the Kell bridge in metres", document="Beetroot soup wants dill.")
    assert near.grade > far.grade


def test_complete_preference_is_antisymmetric_and_ties_equal_answers(lm: dspy.LM) -> None:
    predict = judge(("query", "answer_a", "answer_b", "reference"), {"preference": ("a", "b", "tie")})
    good, bad = "It was opened in 1931 by Ada Lund.", "It was opened in 1850."

    def spread(first: str, second: str) -> tuple[float, ...]:
        said = ask(lm, predict, query="When was it opened?", answer_a=first, answer_b=second, reference=good)
        found = label_probabilities(from_prediction(said.logprobs), "preference", ["a", "b", "tie"])
        assert found is not None
        return found

    ahead, behind, equal = spread(good, bad), spread(bad, good), spread(bad, bad)
    assert ahead[0] > 0.5
    assert (behind[1], behind[0], behind[2]) == pytest.approx(ahead)
    assert equal[0] == pytest.approx(equal[1])
    assert equal[2] > ahead[2]


def test_complete_demonstrations_of_a_harsh_expert_lower_the_grade(lm: dspy.LM) -> None:
    predict = judge(("query", "answer", "contexts"), {"grade": (1, 2, 3, 4, 5)})
    item = {
        "query": "When was the Kell bridge opened?",
        "answer": "It was opened in 1931.",
        "contexts": CONTEXT,
    }
    before = ask(lm, predict, **item).grade
    predict.demos = [
        dspy.Example(query=f"When was it opened, {n}?", answer=f"In 1931, by Ada Lund {n}.", contexts=CONTEXT, grade=2)
        for n in range(6)
    ]
    said = ask(lm, predict, **item)
    assert said.grade < before
    assert "6 demonstrations" in said.reason


def test_complete_same_prompt_gives_the_same_reply_from_another_engine() -> None:
    predict = judge(("query", "answer", "reference"), {"grade": (1, 2, 3)})
    texts = []
    for _ in range(2):
        lm = open_lm(LMSpec.parse("embedded"), journal=None, budget=Budget(), usage=Usage())
        said = ask(lm, predict, query="q", answer="It is blue.", reference="It is blue | red")
        texts.append((said.reason, said.grade, json.dumps(said.logprobs)))
    assert texts[0] == texts[1]


def test_complete_prompt_that_asks_for_prose_is_refused(lm: dspy.LM) -> None:
    with pytest.raises(dspy.utils.exceptions.LMInvalidRequestError, match="gives grades alone"):
        ask(lm, dspy.Predict("question -> answer"), question="Why?")
    with pytest.raises(InvalidRequestError):
        lm.engine.calls.backend.complete(lm.engine.plain([{"role": "user", "content": "Why?"}]).request())


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no expert labels at {DATA}: the engine is not measured")
def test_complete_without_demonstrations_ranks_real_answers_as_experts_do(lm: dspy.LM) -> None:
    lines = (DATA / "clapnq_faithfulness.jsonl").read_text().splitlines()[:450]  # three annotators an item
    rows = [json.loads(line) for line in lines]
    predict = judge(("query", "answer", "contexts"), {"grade": (1, 2, 3, 4)})
    expert, score = [], []
    for _, group in itertools.groupby(rows, key=lambda row: row["item_id"]):
        labelled = list(group)
        texts = {name: labelled[0].get(name) or "" for name in ("query", "answer")}
        said = ask(lm, predict, **texts, contexts=json.dumps(labelled[0]["contexts"]))
        spread = label_probabilities(from_prediction(said.logprobs), "grade", ["1", "2", "3", "4"])
        expert.append(float(np.median([row["grade"] for row in labelled])))
        score.append(float(np.arange(4) @ np.array(spread)))
    assert len(expert) == 150
    assert kendalltau(score, expert).statistic > 0.55  # .64 on all 400; a constant judge has none
