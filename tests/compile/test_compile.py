"""The whole pipeline in this process: what it learns, from whom, and what it does when things go wrong."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judgec.compile import assemble, rated
from judgec.compile.assemble import Bench
from judgec.compile.dataset import Part, ratings_of
from judgec.compile.search.candidates import Candidate
from judgec.compile.verify import JUDGES
from judgec.errors import ServiceError, UserError
from judgec.raters.judge import JudgeTree
from judgec.records.judgment import Judgments
from judgec.stats.agreement.objective import parse_objective
from tests.compile.small import Outcome, compiled_from, notes_of
from tests.service import grading_world, policies
from tests.service.fake_openai import FakeOpenAI
from tests.service.policies import Policy
from tests.service.replies import Call, Garbage, Reset, answer
from tests.service.replies import Outcome as Reply

WORLD = grading_world.rows(150, per_query=2)
SMALL = grading_world.rows(60, per_query=2)


def through(home: Path, policy: Policy | str, rows: list[dict[str, object]] = WORLD, **options: object) -> Outcome:
    with FakeOpenAI(policy) as server:
        return compiled_from(home, rows, lm="openai/fake", api_base=server.base_url, **options)  # type: ignore[arg-type]  # passed on


def test_server_that_ignores_its_prompt_gains_nothing_from_prompts(tmp_path: Path) -> None:
    outcome = through(tmp_path, "stubborn")
    gain = outcome.compiled.prompt_gain["tau_b"]
    assert gain.low is not None
    assert gain.high is not None
    assert gain.low <= 0 <= gain.high
    assert outcome.compiled.decision.rival != "majority"


@pytest.mark.parametrize("policy", [policies.malformed, policies.off_scale, policies.refusing])
def test_judge_that_never_answers_scores_nothing_and_is_not_promoted(tmp_path: Path, policy: Policy) -> None:
    outcome = through(tmp_path, policy, SMALL)
    report = outcome.saved.report
    for name in ("uncompiled", "compiled_prompt", "compiled"):
        column = report["test"][name]  # type: ignore[index]  # JSON is untyped
        assert column["n"] == 0
        assert column["unscored"] == len(outcome.compiled.dataset.test)
        assert column["tau_b"]["value"] is None
        judged = outcome.compiled.verification.judgments[name]
        assert (judged.grade == -1).all()
        assert np.isnan(judged.score).all()
    assert not report["promoted"]
    count = len(outcome.compiled.dataset.test)
    why = f"{count} unscored" if policy is policies.refusing else f"{count} of {count} verdicts"
    assert why in str(report["reason"])


def between(call: Call) -> Reply:
    """A verdict half way between two grades for items with a remark."""
    if not call.prompt.outputs or not is_between(call.prompt.inputs["answer"]):
        return policies.good(call)
    return answer(call, {output.name: "3.5" for output in call.prompt.outputs if output.labels})


def is_between(text: str) -> bool:
    return "Remark: " in text


@pytest.mark.parametrize("folds", [1, 2])
def test_verdicts_half_way_between_two_grades_are_counted_in_the_notes(
    tmp_path: Path, plain: Outcome, folds: int
) -> None:
    rows = grading_world.rows(24, per_query=2)
    wanted = sum(is_between(str(row["answer"])) for row in rows)
    outcome = through(tmp_path, between, rows, folds=folds)
    assert wanted > 3
    counted = [note for note in notes_of(outcome) if "half way" in note]
    assert [note.partition(" ")[0] for note in counted] == [str(wanted)]
    assert counted[0] in outcome.saved.report["notes"]  # type: ignore[operator]  # JSON is untyped
    assert not any("half way" in note for note in notes_of(plain))


@pytest.mark.full
def test_half_malformed_server_is_counted_on_every_judge_and_adds_up(tmp_path: Path) -> None:
    outcome = through(tmp_path, policies.every(2, policies.malformed, grading_world.teachable))
    n = len(outcome.compiled.dataset.test)
    unscored = []
    for name in JUDGES:
        if name in outcome.compiled.verification.judgments:
            agreement = outcome.compiled.verification.agreements[name]
            assert agreement.n + agreement.unscored == n
            unscored.append(agreement.unscored)
    assert max(unscored) > 0
    assert outcome.compiled.verification.agreements["majority"].unscored == 0


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return through(tmp_path_factory.mktemp("clean"), "teachable", SMALL)


@pytest.mark.full
@pytest.mark.parametrize(
    "bad", [policies.TOO_MANY, policies.BROKEN, Reset(), Garbage()], ids=["429", "500", "reset", "garbage"]
)
def test_passing_faults_change_nothing_in_the_outcome(tmp_path: Path, clean: Outcome, bad: object) -> None:
    rough = through(tmp_path, policies.every(9, bad, grading_world.teachable), SMALL)  # type: ignore[arg-type]  # an outcome
    assert rough.compiled.verification.agreements == clean.compiled.verification.agreements
    assert rough.saved.card.reason == clean.saved.card.reason


@pytest.mark.full
def test_dead_endpoint_stops_with_a_service_error_and_saves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="keeps failing"):
        through(tmp_path, "always_broken", SMALL)
    assert not list(tmp_path.glob("programs/*/0*"))


def test_items_without_labels_are_never_asked_about(tmp_path: Path) -> None:
    rows = [{**row, "grade": None} if k % 2 else row for k, row in enumerate(SMALL)]
    with FakeOpenAI("good") as server:
        compiled_from(tmp_path, rows, lm="openai/fake", api_base=server.base_url)
        asked = "".join(json.dumps(body["messages"]) for body in server.bodies)
    words = [str(row["answer"]) for row in rows if row["grade"] is None]
    assert sum(word in asked for word in words) == 0
    assert sum(str(row["answer"]) in asked for row in rows if row["grade"] is not None) == 30


@pytest.mark.parametrize(
    ("change", "objective", "accept_at"),
    [
        (lambda row: {"grade": min(3, row["grade"] - 1)}, None, None),
        (lambda row: {"grade": min(3, row["grade"] - 1)}, "accept", "2"),
        (lambda row: {"grade": min(3, row["grade"] - 1), "accept": row["grade"] == 5}, "accept", None),
        (lambda row: {"grade": None, "accept": row["grade"] > 3}, None, None),
    ],
    ids=["0-3", "0-3 with --accept-at", "accept column beats the threshold", "accept only"],
)
def test_every_shape_of_labels_compiles_saves_and_reports(
    tmp_path: Path,
    change: Callable[[dict[str, object]], dict[str, object]],
    objective: str | None,
    accept_at: str | None,
) -> None:
    rows = [{name: value for name, value in {**row, **change(row)}.items() if value is not None} for row in WORLD]
    outcome = compiled_from(tmp_path, rows, objective=objective, accept_at=accept_at, best="3")
    report = outcome.saved.report
    json.dumps(report, allow_nan=False)
    column = report["test"]["majority"]  # type: ignore[index]  # JSON is untyped
    test = {item.item_id for item in outcome.compiled.dataset.test.items}
    kept = [row for row in rows if row["item_id"] in test]
    if "accept" in rows[0]:
        assert column["reject_rate"]["expert"] == pytest.approx(np.mean([not row["accept"] for row in kept]))
    elif accept_at:
        assert column["reject_rate"]["expert"] == pytest.approx(np.mean([row["grade"] < 2 for row in kept]))  # type: ignore[operator]  # numbers
    else:
        assert column["reject_rate"] == {"expert": None, "judge": None}
        assert "--accept-at" in column["accept_agreement"]["note"]
    assert report["objective"] == (objective or ("kappa" if "grade" not in rows[0] else "tau_b"))


def test_accept_objective_without_a_threshold_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    rows = [{**row, "grade": min(3, int(str(row["grade"])) - 1)} for row in SMALL]
    with pytest.raises(UserError, match=r"--objective accept: .* --accept-at"):
        through(tmp_path, "always_broken", rows, objective="accept", best="3")


@pytest.mark.parametrize("n", [6, 9, 20])
def test_few_items_are_compiled_and_never_promoted(tmp_path: Path, n: int) -> None:
    outcome = compiled_from(tmp_path, grading_world.rows(n, per_query=1))
    assert not outcome.saved.card.promoted
    assert "at least 10 are needed" in outcome.saved.card.reason


def test_answer_task_reports_flattened_and_by_aspect(tmp_path: Path) -> None:
    rows = [
        {**{k: v for k, v in row.items() if k != "grade"}, "grade.claims": min(2, grade // 2)}
        | ({} if number % 5 == 0 else {"grade.tone": number % 3})
        for number, row in enumerate(WORLD)
        for grade in (int(str(row["grade"])),)
    ]
    outcome = compiled_from(tmp_path, rows)
    judges = outcome.saved.report["test"]
    assert isinstance(judges, dict)
    for name in JUDGES:
        if name != "evidence_only":
            assert list(judges[name]["aspects"]) == ["claims", "tone"]
            parts = judges[name]["aspects"].values()
            assert judges[name]["n"] == sum(part["n"] for part in parts)
            exact = sum(part["exact"]["value"] * part["n"] for part in parts) / judges[name]["n"]
            assert judges[name]["exact"]["value"] == pytest.approx(exact)
    test = outcome.compiled.dataset.test
    tones = sum("grade.tone" in row for row in rows if row["item_id"] in {item.item_id for item in test.items})
    assert (
        judges["compiled"]["aspects"]["tone"]["n"] == tones < judges["compiled"]["aspects"]["claims"]["n"] == len(test)
    )
    assert set(outcome.compiled.judge.calibrators) == {"claims", "tone"}


def unscored(judged: Judgments, lost: np.ndarray) -> Judgments:
    rows, nan = lost[:, None], np.nan
    return replace(
        judged,
        probabilities=np.where(rows[..., None], nan, judged.probabilities),
        grade=np.where(rows, -1, judged.grade),
        score=np.where(rows, nan, judged.score),
        accept=np.where(rows, -1, judged.accept),
        confidence=np.where(rows, nan, judged.confidence),
        unscored=tuple("lost" if gone else reason for gone, reason in zip(lost, judged.unscored, strict=True)),
    )


def test_unscoring_any_items_never_raises_an_objective_of_a_compile(plain: Outcome) -> None:
    dataset, rng = plain.compiled.dataset, np.random.default_rng(0)
    n = len(dataset.test)
    experts = dataset.test.experts
    guess = plain.compiled.verification.judgments["majority"]
    grade = np.where(rng.random((n, 1)) < 0.6, experts.target[..., 0], rng.integers(0, 5, (n, 1)))
    judged = replace(guess, grade=grade, score=grade + 1.0, accept=(grade >= 3).astype(np.int64))
    for name in ("tau_b", "accept", "kappa", "qwk", "exact", "balanced_accuracy", "0.7*tau_b+0.3*accept"):
        objective = parse_objective(name)
        lost = np.zeros(n, dtype=bool)
        value = objective.value(ratings_of(dataset, dataset.test, judged))
        for item in rng.permutation(n):
            lost[item] = True
            now = objective.value(ratings_of(dataset, dataset.test, unscored(judged, lost)))
            assert now <= value + 1e-12, (name, lost.sum())
            value = now


def test_calibrators_of_the_prompt_that_is_used_are_fitted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted: list[str] = []
    fit = assemble.fitted

    def counted(bench: Bench, candidate: Candidate, part: Part, raw: Judgments | None) -> JudgeTree:
        fitted.append(candidate.name)
        return fit(bench, candidate, part, raw)

    for module in (assemble, rated):
        monkeypatch.setattr(module, "fitted", counted)
    chosen = through(tmp_path, "teachable", SMALL).compiled.shipped.name
    assert chosen != "zero-shot"
    assert fitted.count(chosen) == 1
