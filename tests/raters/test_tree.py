"""Trees: saved and loaded they judge the same to the bit, whatever stands in whatever; what each node is for people."""

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgec.evidence.model import EvidenceModel
from judgec.lm.executor import Ask
from judgec.raters.calibrator import Calibrator, Linear
from judgec.raters.decision import DecisionRule, Sureness
from judgec.raters.judge import JudgeTree, kind_of, load_judge, outline, recorded_judges, sentence_of, uncompiled
from judgec.raters.predictors import saved_prompt
from judgec.raters.programs import Program
from judgec.raters.rate import nobody, rate_all
from judgec.raters.rater import Rater
from judgec.raters.registry import judge_module
from judgec.raters.run import Bound
from judgec.raters.signatures import demonstration
from judgec.raters.tree import (
    Calibrated,
    Cascade,
    EvidenceAlone,
    FunctionLeaf,
    Leaf,
    Mean,
    Node,
    PromptLeaf,
    Rates,
    RecordedLeaf,
    calibrated_by,
)
from judgec.records.card import EVIDENCE_ALONE
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.records.scale import Scale
from tests.raters.engine import ScriptedEngine, asking, reply
from tests.raters.judgments import judgments
from tests.raters.trees import GivenVerdicts, looking_up
from tests.records.test_card import make_card

SCALE = Scale(grades=(1, 2, 3), accept_at=3)
FIELDS = ("query", "answer", "reference")
ASPECTS = ("grade",)
ANSWERS = ("the red one", "blue", "I do not know", "red", "the red one or the blue one", "one")
ITEMS = tuple(
    Item(str(n), str(n // 2), {"query": "Which one?", "answer": answer, "reference": "the red one"})
    for n, answer in enumerate(ANSWERS)
)
COLUMNS = "recorded:columns"


@cache
def evidence() -> EvidenceModel:
    return EvidenceModel.fit(ITEMS)


def weights(rows: int, columns: int, seed: int) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, np.random.default_rng(seed).normal(size=(rows, columns))))


def fitted(source: str, seed: int = 0, **more: object) -> Calibrator:
    """A calibrator of made-up weights."""
    names = evidence().names if source != "lm" else ()
    width = len(names) + 2 * (source != "evidence")
    return Calibrator.model_validate(
        {
            "source": source,
            "family": "multinomial",
            "n_grades": 3,
            "prior": (0.2, 0.3, 0.5),
            "smoothing": 0.013,
            "center": weights(1, width, seed)[0],
            "spread": tuple(abs(x) + 0.3 for x in weights(1, width, seed + 1)[0]),
            "linear": Linear(coefficients=weights(3, width, seed + 2), intercepts=(0.1, 0.2, 0.3), classes=(0, 1, 2)),
            "feature_names": names,
            "rule": DecisionRule(name="cuts", cuts=(1.7, 2.2)),
            "sureness": Sureness(slope=1.1, intercept=0.07),
            "accept_threshold": 0.37,
            **more,
        }
    )


def prompt(name: str = "p") -> PromptLeaf:
    """A prompt with a demonstration."""
    module = judge_module("grade", SCALE, ASPECTS, FIELDS)
    module.demos = [demonstration(module, ITEMS[0], [2], SCALE, reason="So \u2028 it is: é.", confidence=70)]
    return saved_prompt(module, SCALE, name, {"model": "openai/x", "temperature": 0.3})


def nested(below: float = 0.6) -> Cascade:
    """Cascade(EvidenceAlone, Calibrated(Mean(PromptLeaf, RecordedLeaf)))."""
    first = EvidenceAlone(model=evidence(), by={"grade": fitted("evidence")})
    both = Mean(of=(prompt(), RecordedLeaf(name="r", verdicts=COLUMNS)))
    then = Calibrated(of=both, by={"grade": fitted("both", 5)}, beside=evidence())
    return Cascade(first=first, then=then, below=below)


def judge_of(tree: Rates) -> JudgeTree:
    return JudgeTree(tree, "grade", SCALE, ASPECTS, 0.25)


def recorded(seed: int = 0) -> Judgments:
    """Verdicts of somebody else, who said nothing of one item."""
    spread = np.random.default_rng(seed).dirichlet((1, 1, 1), len(ITEMS))
    spread[3] = np.nan
    reasons = [None if n != 3 else "no verdict" for n in range(len(ITEMS))]
    grade = np.where(np.isnan(spread[:, 0]), -1, np.nan_to_num(spread).argmax(axis=1))
    return judgments(
        spread, grade, ids=[one.item_id for one in ITEMS], values=SCALE.values, unscored=reasons, reason="recorded"
    )


def looked_up(leaf: Leaf) -> Rater:
    return GivenVerdicts(recorded(sum(map(ord, leaf.name))))


def model() -> Ask:
    return asking(ScriptedEngine(lambda said, _: reply(1 + len(said) % 3, reason=f"of {len(said)}"))).run


def loaded(judge: JudgeTree) -> JudgeTree:
    """As from a file."""
    card = make_card(scale=SCALE, fields=FIELDS, tie_band=judge.tie_band)
    return load_judge(Program(card, json.loads(json.dumps(judge.saved())), {}, {}))


def same(one: Judgments, other: Judgments) -> None:
    """To the bit."""
    for name in (each.name for each in fields(one)):
        value = getattr(one, name)
        if isinstance(value, np.ndarray):
            assert value.tobytes() == getattr(other, name).tobytes(), name
        elif isinstance(value, Judgments):
            same(value, getattr(other, name))
        else:
            assert value == getattr(other, name), name


P, R = prompt(), RecordedLeaf(name="r", verdicts=COLUMNS)
F = FunctionLeaf(name="f", lm={"model": "function/f"}, inputs=("answer",))
ALONE = EvidenceAlone(model=evidence(), by={"grade": fitted("evidence")})
EVIDENCE = {"kind": "evidence", "name": "evidence"}
SAID_P = {"kind": "prompt", "name": "p", "model": "openai/x"}
SAID_R = {"kind": "recorded", "name": "r"}


def test_a_nested_tree_that_was_saved_and_loaded_judges_the_same_to_the_bit() -> None:
    sure = judge_of(ALONE).judge(ITEMS, nobody).confidence
    judge = judge_of(nested(float(np.median(sure))))
    again = loaded(judge)
    assert again.saved() == judge.saved()
    assert (again.tie_band, again.kind, again.sentence) == (0.25, judge.kind, judge.sentence)
    found = looking_up(judge, ITEMS, model(), looked_up)
    same(found, looking_up(again, ITEMS, model(), looked_up))
    assert found.escalated is not None
    assert 0 < found.escalated.sum() < len(ITEMS)  # both of its judges decided some


@st.composite
def trees(draw: st.DrawFn, depth: int = 2) -> Rates:
    """Trees of nodes of all kinds but functions, whose leaves have names of their own."""
    named = P.model_copy(update={"name": f"p{draw(st.integers(0, 9))}"})
    leaves: tuple[Rates, ...] = (named, RecordedLeaf(name=f"r{draw(st.integers(0, 9))}", verdicts=COLUMNS))
    if not depth:
        return draw(st.sampled_from((*leaves, ALONE)))
    inner = trees(depth=depth - 1)
    kind = draw(st.sampled_from(["calibrated", "mean", "cascade"]))
    if kind == "mean":
        return Mean(of=tuple(draw(st.lists(inner, min_size=2, max_size=3))))
    source = draw(st.sampled_from(["lm", "both"]))
    by = {"grade": fitted(source, draw(st.integers(0, 99)))}
    above = Calibrated(of=draw(inner), by=by, beside=evidence() if source == "both" else None)
    below = draw(st.floats(0, 1))
    return above if kind == "calibrated" else Cascade(first=above, then=draw(inner), below=below)


@settings(max_examples=12, deadline=None)
@given(tree=trees())
def test_any_tree_that_was_saved_and_loaded_judges_the_same_to_the_bit(tree: Rates) -> None:
    judge = judge_of(tree)
    again = loaded(judge)
    assert again.saved() == judge.saved()
    by_prompt = {leaf.name: looked_up(leaf) for leaf in judge.leaves}

    def rated(one: JudgeTree) -> Judgments:
        run = one.run(lambda leaf: by_prompt[leaf.name])
        return rate_all(Bound(one.rater, run), ITEMS)

    same(rated(judge), rated(again))
    assert [leaf.name for leaf in again.leaves] == [leaf.name for leaf in judge.leaves]
    assert outline(again.rater) == outline(judge.rater)


@settings(max_examples=20, deadline=None)
@given(order=st.permutations("abcd"), calibrated=st.booleans())
def test_a_mean_is_the_same_whatever_the_order_of_its_members(order: Sequence[str], calibrated: bool) -> None:
    def mean(names: Sequence[str]) -> Judgments:
        leaves = [RecordedLeaf(name=name, verdicts=COLUMNS) for name in names]
        of = [
            Calibrated(of=leaf, by={"grade": fitted("lm", ord(leaf.name))}) if calibrated else leaf for leaf in leaves
        ]
        return looking_up(judge_of(Mean(of=tuple(of))), ITEMS, nobody, looked_up)

    one, other = mean("abcd"), mean(order)
    assert one.probabilities == pytest.approx(other.probabilities, abs=1e-15, nan_ok=True)
    assert one.score == pytest.approx(other.score, abs=1e-14, nan_ok=True)
    assert one.grade.tolist() == other.grade.tolist()
    assert one.accept.tolist() == other.accept.tolist()
    assert one.unscored == other.unscored


@pytest.mark.parametrize(
    ("node", "kind", "sentence", "drawn"),
    [
        (P, "prompt", "prompt p", SAID_P),
        (R, "recorded", "recorded r", SAID_R),
        (P.model_copy(update={"verdicts": COLUMNS}), "recorded", "recorded p", {**SAID_P, "kind": "recorded"}),
        (F, "function", "function f", {"kind": "function", "name": "f", "model": "f"}),
        (ALONE, "evidence", EVIDENCE_ALONE, {"kind": "calibrated", "how": "multinomial", "of": [EVIDENCE]}),
        (Calibrated(of=P), "prompt", "prompt p", SAID_P),
        (
            Calibrated(of=P, by={"grade": fitted("lm")}),
            "prompt",
            "prompt p",
            {"kind": "calibrated", "how": "multinomial", "of": [SAID_P]},
        ),
        (
            Calibrated(of=R, by={"grade": fitted("both")}, beside=evidence()),
            "recorded",
            "recorded r",
            {"kind": "calibrated", "how": "multinomial", "of": [SAID_R, EVIDENCE]},
        ),
        (
            Mean(of=(P, R)),
            "panel",
            "panel prompt p, recorded r",
            {"kind": "pool", "how": "mean", "of": [SAID_P, SAID_R]},
        ),
        (
            Cascade(first=ALONE, then=Calibrated(of=Mean(of=(P, R))), below=0.5),
            "cascade",
            f"cascade {EVIDENCE_ALONE}, panel prompt p, recorded r",
            {
                "kind": "cascade",
                "of": [
                    {"kind": "calibrated", "how": "multinomial", "of": [EVIDENCE]},
                    {"kind": "pool", "how": "mean", "of": [SAID_P, SAID_R]},
                ],
            },
        ),
    ],
)
def test_each_node_says_what_it_is(node: Node, kind: str, sentence: str, drawn: dict[str, object]) -> None:
    assert kind_of(node) == kind
    assert sentence_of(node) == sentence
    assert outline(node) == drawn


def test_a_judge_knows_its_leaves_calibrators_and_evidence() -> None:
    judge = judge_of(nested())
    assert [leaf.name for leaf in judge.leaves] == ["p", "r"]
    assert [one.name for one in judge.prompts] == ["p"]
    assert judge.asks_lm
    assert judge.calibrators["grade"].source == "both"  # of the second
    assert judge.evidence is not None
    assert judge.evidence.digest == evidence().digest
    assert judge.uncalibrated.kind == "panel"
    assert recorded_judges(Program(make_card(scale=SCALE), judge.saved(), {}, {})) == ("r",)
    alone = judge_of(ALONE)
    assert not alone.asks_lm
    assert alone.leaves == ()
    twice = judge_of(Cascade(first=Calibrated(of=P, by={"grade": fitted("lm")}), then=P, below=0.5))
    assert [leaf.name for leaf in twice.leaves] == ["p"]


def test_a_calibrator_of_the_evidence_alone_makes_a_judge_that_asks_nobody() -> None:
    by = {"grade": fitted("evidence")}
    assert calibrated_by(P, by, evidence(), ASPECTS) == ALONE
    two = calibrated_by(P, by, evidence(), ("grade", "tone"))  # the other aspect keeps its verdict
    assert isinstance(two, Calibrated)
    assert two.beside is not None
    plain = calibrated_by(P, {"grade": fitted("lm")}, evidence(), ASPECTS)
    assert isinstance(plain, Calibrated)
    assert plain.beside is None  # nobody reads it


def test_changed_prompts_change_nothing_else() -> None:
    judge = judge_of(nested())
    told = judge.with_prompts(lambda one: one.model_copy(update={"instructions": "Be strict."}))
    assert [one.instructions for one in told.prompts] == ["Be strict."]
    assert told.with_prompts(lambda one: prompt()).saved() == judge.saved()


def test_a_prompt_that_nobody_compiled_keeps_its_verdicts() -> None:
    module = judge_module("grade", SCALE, ASPECTS, FIELDS)
    judge = uncompiled(module, "grade", SCALE, ASPECTS)
    found = judge.judge(ITEMS, model())
    again = replace(judge, tree=judge.prompts[0]).judge(ITEMS, model())
    assert found.grade.tolist() == again.grade.tolist()
    assert found.confidence.tolist() == [[0.8]] * len(ITEMS)
