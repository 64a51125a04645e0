"""Both orders, flips, and the symmetry of the calibrated judge."""

import json
import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.evidence.model import EvidenceModel
from judgec.lm.frozen import freeze
from judgec.raters import programs
from judgec.raters.calibrator import Calibrator, Linear
from judgec.raters.judge import JudgeTree, load_judge
from judgec.raters.pairwise import is_pairwise, mirror, mirrored
from judgec.raters.predictors import module_of
from judgec.raters.prompt import verdicts
from judgec.raters.registry import PAPER, judge_module
from judgec.raters.signatures import fenced_inputs
from judgec.raters.tasks.papers import PaperPair
from judgec.raters.tasks.preference import weighing
from judgec.records.judgment import UNSCORED
from judgec.records.label import Item
from judgec.records.tasks.preference import PREFERENCE_SCALE as SCALE
from tests.raters.engine import ScriptedEngine, asking
from tests.raters.trees import judge_of
from tests.records.test_card import make_card

FIELDS = ("query", "answer_a", "answer_b")
MODULE = judge_module("preference", SCALE, ("grade",), FIELDS)
A, B, TIE = (SCALE.position(word) for word in ("a", "b", "tie"))


def item(a: str, b: str) -> Item:
    return Item(f"{a}/{b}", "q", {"query": "Which?", "answer_a": a, "answer_b": b})


def said(word: str) -> str:
    return (
        f"[[ ## reason ## ]]\nbecause\n\n[[ ## preference ## ]]\n{word}\n\n"
        "[[ ## confidence ## ]]\n80\n\n[[ ## completed ## ]]\n"
    )


def answers(prompt: str) -> tuple[str, str]:
    first, second = re.findall(r"\[\[ ## answer_[ab] ## \]\]\n> (\w+)", prompt)
    return first, second


def engine(choose: Callable[[str, str], str]) -> ScriptedEngine:
    return ScriptedEngine(lambda prompt, _: said(choose(*answers(prompt))))


def by_quality(first: str, second: str) -> str:
    """Prefers what comes later in the alphabet, except that it likes the first place when "tricky" plays."""
    if "tricky" in (first, second):
        return "a"
    return "tie" if first == second else "a" if first > second else "b"


ITEMS = [item("zebra", "ant"), item("ant", "zebra"), item("tricky", "ant"), item("ant", "ant")]


def test_both_orders_agree_and_a_flip_is_recorded_and_scored_as_a_tie() -> None:
    llm = engine(by_quality)
    found = verdicts(MODULE, ITEMS, ask=asking(llm).run, scale=SCALE, aspects=("grade",))
    assert found.grade[:, 0].tolist() == [A, B, TIE, TIE]
    assert found.flipped is not None
    assert found.flipped.tolist() == [False, False, True, False]
    assert found.probabilities[2, 0].tolist() == [0.5, 0.5, 0.0]
    assert found.rationale[0] == "because [answers exchanged:] because"
    assert sum(llm.asked.values()) == 8


def test_one_order_asks_once_and_knows_no_flips() -> None:
    llm = engine(by_quality)
    found = verdicts(MODULE, ITEMS, ask=asking(llm).run, scale=SCALE, aspects=("grade",), one_order=True)
    assert found.flipped is None
    assert found.grade[:, 0].tolist() == [A, B, A, TIE]
    assert sum(llm.asked.values()) == 4


def test_a_pair_without_a_reply_in_one_order_is_unscored_with_the_reason() -> None:
    def silent(prompt: str, _: int) -> str:
        first, second = answers(prompt)
        return "no idea" if (first, second) == ("ant", "zebra") else said(by_quality(first, second))

    found = verdicts(
        MODULE, [item("zebra", "ant")], ask=asking(ScriptedEngine(silent)).run, scale=SCALE, aspects=("grade",)
    )
    assert found.grade.tolist() == [[UNSCORED]]
    assert np.isnan(found.probabilities).all()
    reason = found.unscored[0]
    assert reason is not None
    assert reason.endswith("(answers exchanged)")


def test_mirrored_twice_is_the_item_itself_and_mirror_moves_probabilities() -> None:
    one = item("x", "y")
    assert mirrored(one).text("answer_a") == "y"
    assert mirrored(mirrored(one)) == one
    found = verdicts(MODULE, ITEMS, ask=asking(engine(by_quality)).run, scale=SCALE, aspects=("grade",))
    turned = mirror(found, SCALE)
    assert turned.grade[:, 0].tolist() == [B, A, TIE, TIE]
    assert turned.probabilities[0, 0].tolist() == [0.0, 1.0, 0.0]
    assert np.array_equal(mirror(turned, SCALE).probabilities, found.probabilities)


def lopsided() -> JudgeTree:
    """A judge of the evidence alone that has learned to like the first place, and long answers a little."""
    evidence = EvidenceModel.fit([item("one two", "three"), item("four", "five six seven")])
    n = len(evidence.names)
    calibrator = Calibrator(
        source="evidence",
        family="multinomial",
        n_grades=3,
        prior=(0.4, 0.4, 0.2),
        smoothing=0.0,
        center=(0.0,) * n,
        spread=(1.0,) * n,
        linear=Linear(
            coefficients=((0.3,) * n, (-0.3,) * n, (0.0,) * n), intercepts=(1.0, 0.2, 0.1), classes=(0, 1, 2)
        ),
        feature_names=evidence.names,
    )
    return judge_of(MODULE, SCALE, ("grade",), evidence, {"grade": calibrator})


@given(a=st.text("ab ", max_size=12), b=st.text("ab ", max_size=12))
def test_calibrated_judge_of_the_mirror_image_is_the_mirror_image(a: str, b: str) -> None:
    judge = lopsided()
    pair = item(a, b)
    found, turned = judge.graded([pair], None), mirror(judge.graded([mirrored(pair)], None), SCALE)
    assert found.probabilities == pytest.approx(turned.probabilities, abs=1e-12)
    assert found.grade.tolist() == turned.grade.tolist()
    if a == b:
        assert found.probabilities[0, 0, A] == found.probabilities[0, 0, B]
        assert found.grade[0, 0] == TIE


def test_a_flip_stays_a_tie_whatever_the_calibrator_says() -> None:
    found = judge_of(MODULE, SCALE, ("grade",)).judge(ITEMS, asking(engine(by_quality)).run)
    assert found.grade[:, 0].tolist() == [A, B, TIE, TIE]
    assert found.flipped is not None
    assert found.flipped.tolist() == [False, False, True, False]


def test_judges_of_single_answers_are_asked_once() -> None:
    assert is_pairwise(MODULE)
    assert not is_pairwise(judge_module("grade", SCALE, ("grade",), ("query", "answer")))


def test_weighing_replaces_the_factors_and_adds_citations_without_touching_the_judge() -> None:
    before = MODULE.predictors()[0].signature.instructions
    told = weighing(MODULE, factors="brevity \\1 alone", citations=True).predictors()[0].signature.instructions
    assert "Weigh brevity \\1 alone." in " ".join(told.split())
    assert "helpfulness" not in told
    assert "comprehensive" not in told
    assert "statement is an error" in told
    assert MODULE.predictors()[0].signature.instructions == before
    rewritten = MODULE.deepcopy()
    rewritten.predictors()[0].signature = rewritten.predictors()[0].signature.with_instructions("Choose.")
    assert weighing(rewritten, factors="tone").predictors()[0].signature.instructions == "Choose.\n\nWeigh tone."


def test_weighing_replaces_the_factors_of_the_papers_own_words() -> None:
    module = judge_module("preference", SCALE, ("grade",), PaperPair.input_fields, wording=PAPER)
    told = weighing(module, factors="tone and tact").predictors()[0].signature.instructions
    assert "such as tone and tact." in " ".join(told.split())
    assert "comprehensive" not in told


def test_factors_are_the_papers_seven() -> None:
    said = " ".join(MODULE.predictors()[0].signature.instructions.split())
    seven = "comprehensiveness, correctness, helpfulness, completeness, accuracy, depth and level of detail"
    assert f"Weigh {seven}. An answer is comprehensive" in said


def test_both_orders_of_a_game_share_a_prompt_up_to_its_answers() -> None:
    fields = ("query", "answer_a", "answer_b", "contexts", "reference")
    module = judge_module("preference", SCALE, ("grade",), fields)
    pair = item("first", "second")
    shown = Item(pair.item_id, "q", {**pair.inputs, "contexts": ("a fact",), "reference": "right"})
    one, other = (
        "".join(turn["content"] for turn in freeze(module, []).messages(fenced_inputs(module, each)))
        for each in (shown, mirrored(shown))
    )
    shared = one[: next(i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)]
    assert "> a fact" in shared
    assert "> right" in shared
    assert shared.endswith("[[ ## answer_a ## ]]\n> ")


def test_a_saved_pairwise_judge_keeps_the_order_of_its_inputs() -> None:
    """Fields are asked in the order in which they were saved, whatever order a task has today."""
    made = judge_of(judge_module("preference", SCALE, ("grade",), (*FIELDS, "contexts")), SCALE, ("grade",))
    order = ["query", "contexts", "answer_a", "answer_b"]
    assert list(made.prompts[0].inputs) == order
    tree = json.loads(json.dumps(made.saved()))
    fields = tree["of"]["fields"]
    fields.insert(3, fields.pop(1))
    card = make_card(task="preference", scale=SCALE, fields=tuple(order))
    judge = load_judge(programs.Program(card, tree, {}, {}))
    moved = ["query", "answer_a", "answer_b", "contexts"]
    assert list(judge.prompts[0].inputs) == moved
    predict = module_of(judge.prompts[0], SCALE)
    assert [*predict.signature.input_fields] == moved
    assert predict.signature.instructions == module_of(made.prompts[0], SCALE).signature.instructions
    assert judge.pairs
