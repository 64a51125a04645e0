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
from judgec.evidence.model import EvidenceModel
from judgec.lm.adapters import with_verdict
from judgec.lm.executor import Reply, Request
from judgec.raters.calibrator import Calibrator, Linear
from judgec.raters.decision import acceptability, accepted, disagreements, nearest_grade
from judgec.raters.export.python import python_files
from judgec.raters.judge import JudgeTree, load_judge
from judgec.raters.predictors import module_of, saved_prompt
from judgec.raters.programs import Program, load, save
from judgec.raters.registry import judge_module
from judgec.raters.signatures import demonstration, fingerprint
from judgec.raters.tree import Calibrated, Cascade, Mean, Rates, RecordedLeaf
from judgec.records.judgment import UNSCORED
from judgec.records.label import Item
from judgec.records.scale import Scale
from tests.raters.engine import ScriptedEngine, asking, reply
from tests.raters.trees import judge_of
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


def compiled(*, evidence: EvidenceModel | None = None, **calibrators: Calibrator) -> JudgeTree:
    module = judge_module("grade", SCALE, ("grade",), FIELDS)
    return judge_of(module, SCALE, ("grade",), evidence, calibrators)


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


def test_judge_that_was_saved_without_a_tree_refuses_to_judge_in_one_line_that_compiles_it_again() -> None:
    saved = replace(program(), tree={}, report={"source": {"path": "my labels.csv"}})
    judge = load_judge(saved)

    refusals = []
    for asks in (
        lambda: judge.judge(ITEMS, never),
        lambda: judge.graded(ITEMS, None),
        judge.saved,
        lambda: python_files(saved, judge),
    ):
        with pytest.raises(ArtifactError) as caught:
            asks()
        refusals.append(str(caught.value))

    card = saved.card
    command = f"judgec compile-judge 'my labels.csv' --name {card.name} --lm {card.lm['model']}"
    assert refusals == [judge.gone] * 4
    assert judge.gone.startswith(f"{card.name}@{card.version}: ")
    assert judge.gone.endswith(command)
    assert "\n" not in judge.gone


@pytest.mark.parametrize(("turns", "end"), [((), "--name sensors"), (("conversation",), "--lm provider/name")])
def test_judge_of_evidence_without_a_tree_is_compiled_with_a_model_where_no_rule_reads_the_labels(
    turns: tuple[str, ...], end: str
) -> None:
    card = make_card(scale=SCALE, fields=(*FIELDS, *turns), lm={"model": "embedded"})

    assert load_judge(Program(card, {}, {}, {})).gone.endswith(end)


@pytest.mark.parametrize(("fitted", "found"), [(0.3, {"grade": 0.3}), (None, {})])
def test_accept_thresholds_are_those_that_were_fitted(fitted: float | None, found: dict[str, float]) -> None:
    assert compiled(grade=passing(fitted)).rater.thresholds == found


def test_judge_of_two_aspects_asks_the_lm_when_one_needs_it() -> None:
    evidence = EvidenceModel.fit(ITEMS)
    aspects = ("a", "b")
    module = judge_module("answer", SCALE, aspects, FIELDS)
    judge = judge_of(module, SCALE, aspects, evidence, {"a": reading(evidence), "b": passing()})
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
    return Program(make_card(scale=SCALE, fields=FIELDS), judge.saved(), {}, {})


def prompted() -> Program:
    """A prompt with a demonstration beside the evidence."""
    evidence = EvidenceModel.fit(ITEMS)
    module = judge_module("grade", SCALE, ("grade",), FIELDS)
    module.demos = [demonstration(module, ITEMS[0], [4], SCALE)]
    alone, width = reading(evidence), len(evidence.names)
    both = alone.model_copy(
        update={
            "source": "both",
            "center": (0.0,) * 4 + alone.center,
            "spread": (1.0,) * 4 + alone.spread,
            "linear": Linear(coefficients=((0.5,) * (4 + width),), intercepts=(0.0,), classes=(4,)),
        }
    )
    judge = judge_of(module, SCALE, ("grade",), evidence, {"grade": both})
    return Program(make_card(scale=SCALE, fields=FIELDS, signature=fingerprint(module)), judge.saved(), {}, {})


def test_the_form_of_a_verdict_that_a_prompt_asks_for_is_saved_with_it(tmp_path: Path) -> None:
    form, plain = "Nota: {v}", judge_module("grade", SCALE, ("grade",), FIELDS)
    own = with_verdict(plain.deepcopy(), form)
    both = Mean(of=tuple(saved_prompt(one, SCALE, name) for name, one in (("own", own), ("plain", plain))))
    judge = JudgeTree(both, "grade", SCALE, ("grade",))
    saved = save(tmp_path, Program(make_card(scale=SCALE, fields=FIELDS), judge.saved(), {}, {}))

    found = load_judge(load(tmp_path, f"sensors@{saved.version}"))

    assert {one.name: one.verdict for one in found.prompts} == {"own": form, "plain": None}


def test_load_judge_of_a_saved_program_judges_alike(tmp_path: Path) -> None:
    saved = save(tmp_path, program())

    judge = load_judge(load(tmp_path, f"sensors@{saved.version}"))

    evidence = EvidenceModel.fit(ITEMS)
    expected = compiled(evidence=evidence, grade=reading(evidence)).judge(ITEMS, never)
    assert judge.judge(ITEMS, never).score.tolist() == expected.score.tolist()


def test_load_judge_of_a_saved_prompt_has_its_demonstrations_and_asks_the_same(tmp_path: Path) -> None:
    made = prompted()
    saved = save(tmp_path, made)
    engines = [ScriptedEngine(lambda _prompt, _times: reply(4)) for _ in range(2)]

    judge = load_judge(load(tmp_path, f"sensors@{saved.version}"))

    found, expected = (
        one.judge(ITEMS, asking(engine).run) for one, engine in zip((judge, load_judge(made)), engines, strict=True)
    )
    assert module_of(judge.prompts[0], SCALE).demos[0]["answer"] == "> the red one"
    assert found.score.tolist() == expected.score.tolist()
    assert engines[0].asked == engines[1].asked


@pytest.mark.parametrize(
    "changes",
    [{"scale": Scale(grades=(1, 2, 3, 4))}, {"aspects": ("tone",)}, {"aspects": ("grade", "tone")}],
)
@pytest.mark.parametrize("make", [program, prompted])
def test_load_judge_under_a_card_of_other_grades_is_refused(
    make: Callable[[], Program], changes: dict[str, object]
) -> None:
    other = make()

    with pytest.raises(ArtifactError, match=r"sensors@0: tree\.json: .*\. Compile it again"):
        load_judge(replace(other, card=other.card.model_copy(update=changes)))


Poison = Callable[[dict[str, Any]], object]  # JSON that is wrong on purpose has no narrower type
THREE_GRADES = json.loads(passing(n_grades=3).model_dump_json())
EVERY: dict[str, Poison] = {  # of a node with calibrators
    "unknown key": lambda tree: tree.update(forward="os.system"),
    "address": lambda tree: tree.update(lm={"api_base": "http://evil"}),
    "unknown kind": lambda tree: tree.update(kind="exec"),
    "no kind": lambda tree: tree.pop("kind"),
    "nothing": lambda tree: tree.clear(),
    "calibrators of another type": lambda tree: tree.update(by=[]),
    "calibrator of another aspect": lambda tree: tree["by"].update(tone=tree["by"]["grade"]),
    "calibrator of other grades": lambda tree: tree["by"].update(grade=THREE_GRADES),
    "calibrator of no family": lambda tree: tree["by"]["grade"].update(family="exec"),
    "calibrator of other features": lambda tree: tree["by"]["grade"].update(feature_names=["x"]),
    "calibrator of as many other features": lambda tree: tree["by"]["grade"]["feature_names"].reverse(),
    "calibrator with an unknown key": lambda tree: tree["by"]["grade"].update(extra=1),
    "calibrator with infinity": lambda tree: tree["by"]["grade"].update(smoothing=float("inf")),
}
ALONE: dict[str, Poison] = {  # of evidence alone
    "no evidence": lambda tree: tree.pop("model"),
    "evidence of another type": lambda tree: tree.update(model=None),
    "evidence cut short": lambda tree: tree.update(model=tree["model"][:-9]),
    "evidence of another family": lambda tree: tree.update(model=tree["model"].replace('"answer"', '"peers"')),
    "evidence of another version": lambda tree: tree.update(model=tree["model"].replace('"version":', '"version":9')),
    "no calibrator": lambda tree: tree.update(by={}),
    "calibrator that reads a verdict": lambda tree: tree["by"].update(grade=json.loads(passing().model_dump_json())),
}
PROMPTS: dict[str, Poison] = {  # of a prompt under a calibrator
    "nobody": lambda tree: tree.pop("of"),
    "no evidence beside it": lambda tree: tree.update(beside=None),
    "evidence beside it cut short": lambda tree: tree.update(beside=tree["beside"][:-9]),
    "prompt with an unknown key": lambda tree: tree["of"].update(traces=[1]),
    "demonstration of another field": lambda tree: tree["of"]["demos"][0].update(document="x"),
    "demonstration of another type": lambda tree: tree["of"].update(demos="x"),
    "demonstration with an object": lambda tree: tree["of"]["demos"].append({"query": {"$ref": "x"}}),
    "instructions of another type": lambda tree: tree["of"].update(instructions=["x"]),
    "form that nobody knows": lambda tree: tree["of"].update(form="loud"),
    "field with an unknown key": lambda tree: tree["of"]["fields"][0].update(prefix="x"),
    "field of another type": lambda tree: tree["of"]["fields"][0].update(type="os.system"),
    "no fields": lambda tree: tree["of"].update(fields=[]),
    "a field less than its card": lambda tree: tree["of"].update(fields=tree["of"]["fields"][1:], demos=[]),
    "form of a verdict without a place for it": lambda tree: tree["of"].update(verdict="x"),
    "two raters of one name": lambda tree: tree.update(
        of={"kind": "mean", "of": [tree["of"], {**tree["of"], "instructions": "x"}]}
    ),
    "fields and turns": lambda tree: tree["of"].update(turns={"": [["user", "{query}"]]}),
    "no grade": lambda tree: tree["of"].update(fields=[one for one in tree["of"]["fields"] if one["type"] != "grade"]),
    "two grades": lambda tree: tree["of"]["fields"].append({**tree["of"]["fields"][-2], "name": "other"}),
}


@pytest.mark.parametrize("poison", [*EVERY.values(), *ALONE.values()], ids=[*EVERY, *ALONE])
def test_load_judge_of_poisoned_evidence_is_refused(poison: Poison) -> None:
    refuses(program(), poison)


@pytest.mark.parametrize("poison", [*EVERY.values(), *PROMPTS.values()], ids=[*EVERY, *PROMPTS])
def test_load_judge_of_a_poisoned_prompt_is_refused(poison: Poison) -> None:
    refuses(prompted(), poison)


def refuses(made: Program, poison: Poison) -> None:
    state = json.loads(json.dumps(made.tree))
    load_judge(replace(made, tree=state))  # as it was saved it loads
    poison(state)
    state = state or {"kind": ""}  # nothing at all is a version without a tree

    with pytest.raises(ArtifactError, match=r"sensors@0: tree\.json: .*;?.*ompile"):
        load_judge(replace(made, tree=state))


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "mean", "of": [], "first": None},
        {"kind": "mean", "of": [{"kind": "recorded", "name": "a", "verdicts": "recorded:columns"}]},
        {"kind": "mean", "of": [{"kind": "recorded", "name": "a"}] * 2, "weights": [0.7, 0.3]},
        {"kind": "cascade", "first": {"kind": "recorded"}, "then": {"kind": "recorded"}, "below": 1.5},
        {"kind": "cascade", "first": {"kind": "recorded"}, "below": 0.5},
        {"kind": "cascade", "first": {"kind": "recorded"}, "then": {"kind": "recorded"}, "below": None},
        {"kind": "recorded", "path": "/etc/passwd"},
        {"kind": "function", "name": "f", "lm": {"model": {"a": 1}}, "inputs": []},
    ],
)
def test_load_judge_of_a_poisoned_node_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ArtifactError, match=r"sensors@0: tree\.json: .*ompile"):
        load_judge(replace(program(), tree=changes))


@pytest.mark.parametrize("around", [lambda node: Mean(of=(node, RecordedLeaf(name="r"))), lambda node: Cascade(
    first=Calibrated(of=RecordedLeaf(name="r")), then=node, below=0.5)], ids=["mean", "cascade"])  # fmt: skip
def test_load_judge_finds_what_does_not_fit_anywhere_in_the_tree(around: Callable[[Rates], Rates]) -> None:
    judge = compiled(grade=passing(n_grades=3))
    nested = replace(judge, tree=around(judge.rater)).saved()
    with pytest.raises(ArtifactError, match=r"tree\.json: grade with 3 grades"):
        load_judge(Program(make_card(scale=SCALE), nested, {}, {}))
