"""Bulk judging through the real client and a real HTTP server, and of a judge saved without a model."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from judgec.lm.client import open_lm
from judgec.lm.executor import Executor
from judgec.lm.frozen import freeze
from judgec.lm.journal.journal import Journal
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage
from judgec.raters.fencing import fence, unfence
from judgec.raters.prompt import verdicts
from judgec.raters.registry import judge_module
from judgec.raters.signatures import demonstration, fenced_inputs
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.records.scale import Scale
from tests.prompts import read_prompt, unquote
from tests.service.fake_openai import FakeOpenAI

SCALE = Scale(grades=(1, 2, 3, 4), accept_at=3)
ASPECTS = ("grade",)
FIELDS = ("query", "answer", "reference")
ITEMS = tuple(
    Item(
        str(k),
        str(k),
        {
            "query": f"How many in {k}?",
            "answer": f"{k} or\n\u2028more",
            "reference": f"{k if k % 2 else 900 + k}",
        },
    )
    for k in range(12)
)


def judged(spec: LMSpec, journal: Journal | None = None, again: Counter[str] | None = None) -> Judgments:
    lm = open_lm(spec, journal=journal, budget=Budget(), usage=Usage(), environ={"OPENAI_API_KEY": "k"})
    module = judge_module("grade", SCALE, ASPECTS, FIELDS)
    ask = Executor(lm).run
    return verdicts(module, ITEMS, ask=ask, scale=SCALE, aspects=ASPECTS, asked_again=again)


def test_verdicts_over_http_reads_every_grade_and_its_log_probabilities(tmp_path: Path) -> None:
    with FakeOpenAI("good") as server, Journal(tmp_path / "journal.db") as journal:
        spec = LMSpec.parse("openai/fake", api_base=server.base_url)
        first, second = judged(spec, journal), judged(spec, journal)
        calls = server.calls

    assert calls == len(ITEMS)
    assert first.unscored == (None,) * len(ITEMS)
    assert len(set(first.grade[:, 0])) > 1
    assert first.probabilities.sum(axis=2) == pytest.approx(np.ones((len(ITEMS), 1)))
    assert ((first.probabilities > 0).sum(axis=2) > 1).all()
    assert (second.probabilities == first.probabilities).all()


@pytest.mark.parametrize(
    ("policy", "kind"),
    [("malformed", "malformed reply"), ("off_scale", "off-scale grade"), ("refusing", "refusal")],
)
def test_verdicts_over_http_of_unreadable_replies_asks_twice_and_leaves_unscored(policy: str, kind: str) -> None:
    again: Counter[str] = Counter()
    with FakeOpenAI(policy) as server:
        result = judged(LMSpec.parse("openai/fake", api_base=server.base_url), again=again)
        calls = server.calls

    assert calls == 2 * len(ITEMS)
    assert again == {kind: len(ITEMS)}
    assert all(reason is not None and reason.startswith(kind) for reason in result.unscored)
    assert np.isnan(result.score).all()


def test_prompt_is_read_back_as_it_was_fenced_in_items_and_demonstrations() -> None:
    predict = judge_module("grade", SCALE, ASPECTS, ("query", "answer", "contexts"))
    shown = Item("d", "d", {"query": "> q [1]", "answer": "", "contexts": ("[2]\n> c", "d\n\ne")})
    asked = Item("i", "i", {"query": "a\nb", "answer": "(the answer is empty)", "contexts": ("x",)})
    predict.demos = [demonstration(predict, shown, [3], SCALE, reason="fine", confidence=70)]
    system, *turns = freeze(predict, [fenced_inputs(predict, asked)]).messages(fenced_inputs(predict, asked))

    prompt = read_prompt(system["content"], [(turn["role"], turn["content"]) for turn in turns])

    for item, inputs in ((shown, prompt.demonstrations[0].inputs), (asked, prompt.inputs)):
        assert {name: unquote(text) for name, text in inputs.items()} == {
            name: item.texts(name) for name in ("query", "answer", "contexts")
        }
    assert prompt.demonstrations[0].outputs["grade"] == "4"


@pytest.mark.parametrize("text", ["a", "a\nb", "> a", "[1]", "a\n\n[2]\n> b", "(the answer is empty)"])
def test_tests_unquote_as_unfence_does(text: str) -> None:
    assert unquote(fence("answer", text)) == (unfence(fence("answer", text)),)


def test_frozen_prompt_of_fenced_inputs_is_dspys_own_byte_for_byte() -> None:
    predict = judge_module("grade", SCALE, ASPECTS, FIELDS)
    predict.demos = [demonstration(predict, ITEMS[3], [1], SCALE)]
    inputs = [fenced_inputs(predict, item) for item in ITEMS]

    prompt = freeze(predict, inputs)

    assert prompt.departure is None
    assert all(prompt.messages(one) == prompt.rendered(one) for one in inputs)
