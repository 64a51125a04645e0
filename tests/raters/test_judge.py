"""A compiled judge: verdict and evidence through the calibrator; saved, loaded, refused when unfit."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgec.errors import ArtifactError
from judgec.evidence.model import GONE, EvidenceModel
from judgec.lm.adapters import verdict_form, with_verdict
from judgec.lm.executor import Reply, Request
from judgec.raters.calibrator import Calibrator, Linear
from judgec.raters.decision import DecisionRule, acceptability, nearest_grade
from judgec.raters.export.python import python_files
from judgec.raters.judge import (
    CompiledJudge,
    accepted,
    disagreements,
    load_judge,
)
from judgec.raters.pool import Panel
from judgec.raters.programs import Program, dump_module, gone, load, save
from judgec.raters.registry import judge_module
from judgec.raters.signatures import demonstration, fingerprint
from judgec.records.judgment import UNSCORED
from judgec.records.label import Item
from judgec.records.scale import Scale
from tests.raters.engine import ScriptedEngine, asking, reply
from tests.records.test_card import make_card

SCALE = Scale(grades=(1, 2, 3, 4, 5), accept_at=4)
FIELDS = ("query", "answer", "reference")
ITEMS = tuple(
    Item(str(k), str(k), {"query": "Which?", "answer": answer, "reference": "the red one"})
    for k, answer in enumerate(("the red one", "blue", "I do not know", "red"))
)
HALF_AND_HALF = {"1": log(0.5), "5": log(0.5)}


def passing(threshold: float | None = None, n_grades: int = 5) -> Calibrator:
    """Passes the LM's verdict on."""
    return Calibrator(
        source="lm",
        family="none",
        n_grades=n_grades,
        prior=(1 / n_grades,) * n_grades,
        smoothing=0.0,
        accept_threshold=threshold,
    )


def reading(evidence: EvidenceModel) -> Calibrator:
    """Grades 5 or 1 by the first feature that tells the items apart."""
    features = evidence.transform(ITEMS)
    telling = int(np.flatnonzero(features.std(axis=0) > 0)[0])
    width = len(evidence.names)
    return Calibrator(
        source="evidence",
        family="multinomial",
        n_grades=5,
        prior=(0.2,) * 5,
        smoothing=0.1,
        center=tuple(features.mean(axis=0)),
        spread=tuple(features.std(axis=0)),
        linear=Linear(
            coefficients=tuple(tuple(sign * (k == telling) for k in range(width)) for sign in (-1.0, 1.0)),
            intercepts=(0.0, 0.5),
            classes=(0, 4),
        ),
        feature_names=evidence.names,
    )


def compiled(*, evidence: EvidenceModel | None = None, **calibrators: Calibrator) -> CompiledJudge:
    module = judge_module("grade", SCALE, ("grade",), FIELDS)
    return CompiledJudge(module, SCALE, ("grade",), evidence, calibrators)


def never(requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
    raise AssertionError("the LM was asked")


def test_judge_with_calibrator_grades_by_expected_score_and_accepts_by_its_own_threshold() -> None:
    ask = asking(ScriptedEngine(lambda _prompt, _times: (reply(5), HALF_AND_HALF))).run

    lenient = compiled(grade=passing(0.5)).judge(ITEMS[:1], ask)
    strict = compiled(grade=passing(0.6)).judge(ITEMS[:1], ask)

    assert lenient.score.tolist() == [[3.0]]  # .5 * 1 + .5 * 5
    assert lenient.grade.tolist() == [[2]]
    assert lenient.confidence.tolist() == [[0.0]]  # of grade 3, which the LM thinks impossible
    assert (lenient.accept.tolist(), strict.accept.tolist()) == ([[1]], [[0]])
    assert (disagreements(lenient, SCALE), disagreements(strict, SCALE)) == (1, 0)
    assert lenient.rationale == ("because",)


def test_judge_without_calibrator_keeps_the_verdict() -> None:
    ask = asking(ScriptedEngine(lambda _prompt, _times: (reply(5, confidence=70), HALF_AND_HALF))).run

    result = compiled().judge(ITEMS[:1], ask)

    assert (result.grade.tolist(), result.score.tolist(), result.accept.tolist()) == ([[4]], [[3.0]], [[1]])
    assert result.confidence.tolist() == [[0.7]]


def test_judge_of_an_item_without_verdict_leaves_it_unscored_whatever_the_calibrator() -> None:
    ask = asking(ScriptedEngine(lambda prompt, _times: "?" if "> blue" in prompt else reply(4))).run

    result = compiled(grade=passing(0.5)).judge(ITEMS, ask)

    assert result.unscored == (None, "malformed reply: ?", None, None)
    assert result.grade[:, 0].tolist() == [3, UNSCORED, 3, 3]
    assert result.accept[:, 0].tolist() == [1, UNSCORED, 1, 1]
    assert np.isnan(result.score[:, 0]).tolist() == [False, True, False, False]


def test_judge_that_reads_evidence_alone_never_asks_the_lm() -> None:
    evidence = EvidenceModel.fit(ITEMS)
    judge = compiled(evidence=evidence, grade=reading(evidence))

    result = judge.judge(ITEMS, never)

    spread = reading(evidence).apply(None, evidence.transform(ITEMS))
    assert not judge.asks_lm
    assert result.unscored == (None,) * 4
    assert result.probabilities[:, 0].tolist() == spread.tolist()
    assert result.score[:, 0] == pytest.approx(spread @ [1, 2, 3, 4, 5])
    assert len(set(result.score[:, 0].round(6))) > 1
    assert all(result.rationale)
    assert replace(judge, remarks=False).judge(ITEMS, never).rationale == ("",) * 4  # its remarks are for people alone


def test_judge_that_needs_what_is_gone_refuses_to_judge_in_one_line_that_compiles_it_again() -> None:
    saved = program()
    source = {"source": {"path": "my labels.csv"}}
    judge = replace(load_judge(saved), refusal=gone(replace(saved, report=source), "the rules of old", "openai/gpt-4o"))

    refusals = []
    for asks in (
        lambda: judge.judge(ITEMS, never),
        lambda: judge.calibrate(ITEMS, None),
        lambda: python_files(saved, judge),
    ):
        with pytest.raises(ArtifactError) as caught:
            asks()
        refusals.append(str(caught.value))

    card = saved.card
    command = f"judgec compile-judge 'my labels.csv' --name {card.name} --lm {card.lm['model']}"
    assert refusals == [judge.refusal] * 3
    assert judge.refusal.startswith(f"{card.name}@{card.version}: ")
    assert judge.refusal.endswith(command)
    assert "the rules of old" in judge.refusal
    assert "\n" not in judge.refusal


@pytest.mark.parametrize(("kind", "what"), [("weighted", "a weighted panel"), ("stack", "a stack of judges")])
def test_saved_panel_that_is_no_mean_loads_and_refuses_to_judge(kind: str, what: str) -> None:
    saved = program()
    panel = {"kind": kind, "members": ["a", "b"], "weights": [0.7, 0.3], "stacks": {}}

    judge = load_judge(replace(saved, calibration={**saved.calibration, "panel": panel}))

    assert judge.joint == Panel(members=("a", "b"))
    assert f"it judged with {what}, gone since" in judge.refusal
    with pytest.raises(ArtifactError, match="compile-judge"):
        judge.judge(ITEMS, never)


@pytest.mark.parametrize(
    ("scale", "rule", "fitted", "found"),
    [
        (SCALE, DecisionRule(name="median"), 0.3, {"grade": 0.3}),
        (SCALE, DecisionRule(name="median"), None, {}),
        (SCALE, DecisionRule(), None, {"grade": 0.5}),
        (Scale(grades=(1, 2, 3, 4, 5)), DecisionRule(), None, {}),
    ],
)
def test_accept_thresholds_are_those_that_were_fitted_and_even_odds_of_rules_of_before(
    scale: Scale, rule: DecisionRule, fitted: float | None, found: dict[str, float]
) -> None:
    judge = replace(compiled(grade=passing(fitted).model_copy(update={"rule": rule})), scale=scale)
    assert judge.thresholds == found


def reading_also(family: str, saved: Program) -> Program:
    """The program, of an earlier version that read one more family."""
    calibration = json.loads(json.dumps(saved.calibration))
    evidence = json.loads(calibration["evidence"])
    evidence["families"].append(family)
    return replace(saved, calibration={**calibration, "evidence": json.dumps(evidence)})


@pytest.mark.parametrize("family", GONE)
def test_saved_judge_whose_evidence_is_gone_loads_and_refuses_to_judge(family: str) -> None:
    judge = load_judge(reading_also(family, program()))

    assert f"evidence of {family}" in judge.refusal
    with pytest.raises(ArtifactError, match="compile-judge"):
        judge.judge(ITEMS, never)


@pytest.mark.parametrize(("turns", "end"), [((), "--name sensors"), (("conversation",), "--lm provider/name")])
def test_judge_of_evidence_that_is_gone_is_compiled_with_a_model_where_no_rule_reads_the_labels(
    turns: tuple[str, ...], end: str
) -> None:
    fields, evidence = (*FIELDS, *turns), EvidenceModel.fit(ITEMS)
    module = judge_module("grade", SCALE, ("grade",), fields)
    judge = CompiledJudge(module, SCALE, ("grade",), evidence, {"grade": reading(evidence)})
    card = make_card(scale=SCALE, fields=fields, signature=fingerprint(module), lm={"model": "embedded"})
    saved = Program(card, dump_module(module), judge.calibration(), {}, {})

    assert load_judge(reading_also("claims", saved)).refusal.endswith(end)


def test_judge_of_two_aspects_asks_the_lm_when_one_needs_it() -> None:
    evidence = EvidenceModel.fit(ITEMS)
    aspects = ("a", "b")
    module = judge_module("answer", SCALE, aspects, FIELDS)
    judge = CompiledJudge(module, SCALE, aspects, evidence, {"a": reading(evidence), "b": passing()})
    text = "[[ ## grade_a ## ]]\n1\n[[ ## grade_b ## ]]\n2"

    result = judge.judge(ITEMS, asking(ScriptedEngine(lambda _prompt, _times: text)).run)

    assert judge.asks_lm
    assert result.grade[:, 1].tolist() == [1] * 4
    assert result.score[:, 0].tolist() != [1.0] * 4


def test_judge_of_nothing_gives_empty_columns() -> None:
    evidence = EvidenceModel.fit(ITEMS)

    assert compiled(evidence=evidence, grade=reading(evidence)).judge([], never).grade.shape == (0, 1)
    assert compiled(grade=passing()).judge([], never).grade.shape == (0, 1)


@pytest.mark.parametrize(
    ("scale", "row", "acceptable", "grade"),
    [
        (SCALE, [0.1, 0.1, 0.1, 0.3, 0.4], 0.7, 3),  # score 3.8
        (SCALE, [0.5, 0, 0, 0.5, 0], 0.5, 1),  # score 2.5, between 2 and 3: the lower
        (Scale(grades=(0, 10)), [0.4, 0.6], 0.6, 1),
        (
            Scale(grades=(1, 2, 5)),
            [0, 0.5, 0.5],
            0.625,
            1,
        ),  # score 3.5: (3.5 - 1) / 4, nearer to 2 by nothing
        (
            Scale(grades=("a", "b", "tie"), level="nominal"),
            [0.45, 0.1, 0.45],
            0.5,
            0,
        ),  # the mean would be "b"
    ],
)
def test_acceptability_and_nearest_grade_of_a_distribution(
    scale: Scale, row: list[float], acceptable: float, grade: int
) -> None:
    spread = np.array([row])

    assert acceptability(spread, scale) == pytest.approx([acceptable])
    assert nearest_grade(spread, scale).tolist() == [grade]


def test_accepted_without_threshold_is_unknown_unless_the_scale_says_which_grades_are() -> None:
    spread = np.array([[0.5, 0.5], [0.6, 0.4]])

    assert accepted(spread, Scale(grades=(0, 1))).tolist() == [UNSCORED, UNSCORED]
    assert accepted(spread, Scale(grades=(0, 1), accept_at=1)).tolist() == [1, 0]
    assert accepted(spread, Scale(grades=(0, 1)), 0.4).tolist() == [1, 1]


def program() -> Program:
    evidence = EvidenceModel.fit(ITEMS)
    judge = compiled(evidence=evidence, grade=reading(evidence))
    judge.module.demos = [demonstration(judge.module, ITEMS[0], [4], SCALE)]
    card = make_card(scale=SCALE, fields=FIELDS, signature=fingerprint(judge.module))
    return Program(card, dump_module(judge.module), judge.calibration(), {}, {})


def test_the_form_of_a_verdict_that_a_prompt_asks_for_is_saved_with_it(tmp_path: Path) -> None:
    form, made = "Nota: {v}", program()
    judge = compiled(grade=reading(EvidenceModel.fit(ITEMS)))
    jurors = {"own": with_verdict(judge.module.deepcopy(), form), "plain": judge.module}
    calibration = replace(load_judge(made), jurors=jurors).calibration()
    card = made.card.model_copy(update={"settings": {**made.card.settings, "verdict": form}})
    saved = save(tmp_path, replace(made, card=card, calibration=calibration))
    found = load_judge(load(tmp_path, f"sensors@{saved.version}"))
    assert verdict_form(found.module) == form
    assert {name: verdict_form(one) for name, one in found.jurors.items()} == {"own": form, "plain": None}


def test_load_judge_of_a_saved_program_judges_alike(tmp_path: Path) -> None:
    saved = save(tmp_path, program())

    judge = load_judge(load(tmp_path, f"sensors@{saved.version}"))

    evidence = EvidenceModel.fit(ITEMS)
    expected = compiled(evidence=evidence, grade=reading(evidence)).judge(ITEMS, never)
    assert judge.judge(ITEMS, never).score.tolist() == expected.score.tolist()
    assert judge.module.demos[0]["answer"] == "> the red one"


@pytest.mark.parametrize(
    "changes",
    [
        {"fields": ("query", "answer")},
        {"scale": Scale(grades=(1, 2, 3, 4))},
        {"task": "relevance"},
        {"aspects": ("tone",)},
        {"signature": fingerprint(judge_module("grade", SCALE, ("grade",), FIELDS))[::-1]},
    ],
)
def test_load_judge_into_another_signature_is_refused_with_the_difference(changes: dict[str, object]) -> None:
    other = program()

    with pytest.raises(ArtifactError, match=r"saved for another signature, with .*; .* now give .*\. Compile it again"):
        load_judge(replace(other, card=other.card.model_copy(update=changes)))


Poison = Callable[[dict[str, Any]], object]  # JSON that is wrong on purpose has no narrower type


@pytest.mark.parametrize(
    "poison",
    [
        lambda state: state.update(lm={"api_base": "http://evil"}),
        lambda state: state.pop("evidence"),
        lambda state: state.update(evidence=None),
        lambda state: state.update(calibrators=[]),
        lambda state: state["calibrators"].update(tone=state["calibrators"]["grade"]),
        lambda state: state["calibrators"].update(grade=json.loads(passing(n_grades=3).model_dump_json())),
        lambda state: state["calibrators"]["grade"].update(family="exec"),
        lambda state: state["calibrators"]["grade"].update(feature_names=["x"]),
        lambda state: state["calibrators"]["grade"].update(extra=1),
    ],
)
def test_load_judge_with_a_poisoned_calibration_is_refused(poison: Poison) -> None:
    other = program()
    state = json.loads(json.dumps(other.calibration))
    poison(state)

    with pytest.raises(ArtifactError, match=r"sensors@0: calibration\.json: .*;.*ompile"):
        load_judge(replace(other, calibration=state))
