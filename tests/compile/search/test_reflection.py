import inspect
import json
import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import dspy
import gepa
import numpy as np
import pytest
from dspy.teleprompt.gepa.gepa_utils import DspyAdapter

from judgec.compile.dataset import with_split
from judgec.compile.gepa_driver import RepeatsItemError
from judgec.compile.search.candidates import UNCOMPILED, Candidate, first_predictor, split_rubric
from judgec.compile.search.reflection import IDLE, MINIBATCH, Gepa, ShareAdapter, lessons
from judgec.errors import ServiceError
from judgec.labels.split.family import Split
from judgec.raters.pairwise import EXCHANGED
from judgec.raters.registry import judge_module
from judgec.records.judgment import Judgments
from judgec.records.label import Item, Label, LabelSet
from judgec.records.scale import Scale
from judgec.records.tasks.preference import PREFERENCE_SCALE
from tests.compile.search.test_auto import UserChoices
from tests.compile.search.world import World, world
from tests.raters.judgments import judgments
from tests.service.fake_openai import FakeOpenAI
from tests.service.policies import Policy, always
from tests.service.ranking_world import REWRITES, STRICT, STRICT_PHRASE, grader
from tests.service.replies import Call, Outcome, Status, Text, answer

SORRY = "I am sorry, I cannot help with that."


def judged(grades: list[int | None], world_: World) -> Judgments:
    """Verdicts as positions, None being unscored."""
    ids = [item.item_id for item in world_.dataset.train.items[: len(grades)]]
    reasons = ["refusal: no" if grade is None else None for grade in grades]
    position = np.array([-1 if grade is None else grade for grade in grades])
    made = judgments(
        np.full((len(grades), 5), np.nan), position, ids=ids, accept_from=3, reason="seen", unscored=reasons
    )
    return replace(made, score=np.where(position < 0, np.nan, position + 1.0)[:, None])


def test_lessons_say_signed_error_reason_and_inverted_neighbours(server: FakeOpenAI) -> None:
    with world(server.base_url, seed=0, items=60) as found:
        task = found.task()
        expert = found.dataset.train.experts.target[:, 0, 0]
        rows = [int(np.flatnonzero(expert == position)[0]) for position in (1, 2, 4)]  # the experts: 2, 3, 5
        told = lessons(task, found.dataset.train.rows(rows), judged([3, 1, None], found))
    assert [lesson["Example"] for lesson in told] == [1, 2, 3]
    off, inverted, why = str(told[0]["Feedback"]).splitlines()
    assert re.findall(r"\d|too high", off) == ["2", "4", "2", "too high"]
    assert re.findall(r"above example \d|gave that one \d", inverted) == ["above example 2", "gave that one 3"]
    assert why.endswith(": Worth what its stars say.")
    assert re.findall(r"\d|too low", str(told[1]["Feedback"]))[:4] == ["3", "2", "1", "too low"]
    assert "(refusal: no)" in str(told[2]["Feedback"])
    inputs = told[0]["Inputs"]
    assert isinstance(inputs, dict)
    assert inputs["answer"].startswith("> ")


def test_adapter_gives_scores_whose_mean_is_the_objective(server: FakeOpenAI) -> None:
    with world(server.base_url, seed=1, items=90) as found:
        task = found.task()
        adapter = ShareAdapter(task, Candidate(UNCOMPILED, found.module))
        name, predict = found.module.named_predictors()[0]
        above = split_rubric(predict.signature.instructions)[0]
        pool = task.pool()
        batch = adapter.evaluate([(pool, i) for i in range(len(pool))], {name: above}, capture_traces=True)
        value = task.value(pool, task.judge(found.module, pool))
    assert np.mean(batch.scores) == pytest.approx(value, abs=1e-12)
    assert len(batch.trajectories) == len(pool)


def test_gepa_rewrites_instructions_keeps_the_rubric_and_names_what_they_were_written_from(server: FakeOpenAI) -> None:
    with world(server.base_url, seed=0, optimizer="gepa", items=120) as found:
        task = found.task()
        candidates = Gepa().search(task)
        best = candidates[0]
        instructions = first_predictor(best.module).signature.instructions
        pool = {item.query_id for item in task.pool().items}
        assert found.style_of(best.module) == STRICT
    assert STRICT_PHRASE in instructions
    assert split_rubric(instructions)[1] == split_rubric(first_predictor(found.module).signature.instructions)[1] != ""
    assert set(best.reflected) == pool
    assert not best.queries


def test_gepa_with_the_same_seed_finds_the_same_prompts(server: FakeOpenAI, tmp_path: Path) -> None:
    texts = []
    for folder in ("one", "other"):
        with world(server.base_url, seed=3, optimizer="gepa", items=75, home=tmp_path / folder) as found:
            texts.append([first_predictor(c.module).signature.instructions for c in Gepa().search(found.task())])
    assert texts[0]
    assert texts[0] == texts[1]


def test_gepa_goes_on_within_a_room_until_no_rewrite_fits(server: FakeOpenAI) -> None:
    with world(server.base_url, seed=0, optimizer="gepa", items=120) as found:
        task, room = found.task(), 150
        before = found.session.spent.calls
        task = replace(task, room=lambda: room - (found.session.spent.calls - before))
        Gepa().search(task)
        sizes = task.sizes()
        left = task.left()
    assert 0 <= left < 2 * MINIBATCH + 1 + sizes.valued + 3 * (sizes.slices[-1] - sizes.valued)


def test_gepa_without_room_for_a_round_does_nothing_and_one_without_caps_stops_when_nothing_is_better(
    server: FakeOpenAI,
) -> None:
    with world(server.base_url, seed=0, optimizer="gepa", items=120) as found:
        task = found.task(room=20)
        before = found.session.spent.calls
        assert Gepa().search(task) == []
        assert found.session.spent.calls == before
        Gepa().search(replace(task, room=lambda: None))
        assert found.session.spent.calls - before < Gepa().effort(task.sizes()).judgments / 2


def test_gepa_over_a_judge_that_becomes_unreachable_raises(server: FakeOpenAI) -> None:
    broken = Status(401, "Incorrect API key provided", "invalid_api_key")

    def policy(call: Call) -> Outcome:
        return always(broken)(call) if "new_instruction" in {o.name for o in call.prompt.outputs} else grader(call)

    with FakeOpenAI(policy) as down, world(down.base_url, seed=0, items=60) as found:
        task = found.task()
        with pytest.raises(ServiceError, match="refused the key"):
            Gepa().search(task)


def test_gepa_reads_rewrites_in_another_format_than_json() -> None:
    """``test_gepa_reply`` reads all of them."""

    def policy(call: Call) -> Outcome:
        if "new_instruction" not in {o.name for o in call.prompt.outputs}:
            return grader(call)
        return Text(f"Here is the new instruction:\n```text\n{REWRITES[STRICT]}\n```\nIt is stricter.")

    said = UserChoices()
    with FakeOpenAI(policy) as other, world(other.base_url, seed=0, optimizer="gepa", items=120) as found:
        candidates = Gepa().search(replace(found.task(), watch=said))
        assert found.style_of(candidates[0].module) == STRICT
    assert STRICT_PHRASE in first_predictor(candidates[0].module).signature.instructions
    assert said.notes == []


def test_gepa_counts_replies_that_nobody_can_read_and_says_so_instead_of_nothing_better() -> None:
    asked: list[int] = []

    def policy(call: Call) -> Outcome:
        if "new_instruction" not in {o.name for o in call.prompt.outputs}:
            return grader(call)
        asked.append(call.number)
        return Text(SORRY)

    said = UserChoices()
    with FakeOpenAI(policy) as mute, world(mute.base_url, seed=0, optimizer="gepa", items=120) as found:
        task = replace(found.task(), watch=said)
        assert Gepa().search(task) == []
    assert len(asked) == IDLE
    (note,) = said.notes
    assert note.startswith(f"gepa: {IDLE} of {IDLE} replies")
    assert SORRY in note


def rewriting(answers: Callable[[Call], str], asked: list[Call]) -> Policy:
    """Grades, and rewrites as it is told."""

    def policy(call: Call) -> Outcome:
        if "new_instruction" not in {output.name for output in call.prompt.outputs}:
            return grader(call)
        asked.append(call)
        return answer(call, {"new_instruction": answers(call)})

    return policy


def test_reflection_reads_the_rubric_as_fixed_and_is_told_to_write_general_criteria() -> None:
    asked: list[Call] = []
    policy = rewriting(lambda _: REWRITES[STRICT], asked)
    with FakeOpenAI(policy) as server, world(server.base_url, seed=0, optimizer="gepa", items=60) as found:
        Gepa().search(found.task())
        rubric = split_rubric(first_predictor(found.module).signature.instructions)[1].strip()
    for call in asked:
        assert call.prompt.inputs["fixed"].endswith(rubric)
        assert rubric not in call.prompt.inputs["current_instruction"]
        assert "quoted with '> '" in call.instructions
        told = " ".join(call.instructions.split())
        assert "Leave out the names, figures, facts and sentences of the examples" in told
        assert "factual information" not in told  # DSPy's own text, which asks for the facts of the examples


def test_what_each_aspect_asks_is_fixed_too(server: FakeOpenAI) -> None:
    with world(server.base_url, seed=0, items=60) as found:
        scale = Scale(name="quality", grades=(0, 1, 2))
        module = judge_module("answer", scale, ("accuracy", "tone"), ("query", "answer", "contexts"))
        task = replace(found.task(), module=module)
        adapter = ShareAdapter(task, Candidate(UNCOMPILED, module))
        fixed = adapter.fixed(module.named_predictors()[0][0])
    assert "grade_accuracy: accuracy: is the answer factually correct" in fixed
    assert "0: the answer is factually wrong" in fixed


def copied(call: Call) -> str:
    """A train answer, word for word."""
    examples = json.loads(call.prompt.inputs["examples_with_feedback"])
    return f"Remember: {examples[0]['Inputs']['answer'].removeprefix('> ')}"


@pytest.mark.parametrize("stubborn", [False, True])
def test_rewrite_that_repeats_a_train_item_is_dropped_counted_and_asked_for_once_more(stubborn: bool) -> None:
    asked: list[Call] = []
    policy = rewriting(
        lambda call: copied(call) if stubborn or "repeated" not in call.prompt.inputs else REWRITES[STRICT], asked
    )
    said = UserChoices()
    with FakeOpenAI(policy) as server, world(server.base_url, seed=0, optimizer="gepa", items=120) as found:
        task = replace(found.task(), watch=said)
        effort = Gepa().effort(task.sizes())
        candidates = Gepa().search(task)
    again = [call.prompt.inputs["repeated"] for call in asked if "repeated" in call.prompt.inputs]
    assert len(again) == len(asked) / 2
    assert all(words.startswith("> reply ") and len(words.split()) == 1 + 8 for words in again)  # quoted
    assert len(asked) <= effort.reflections
    assert f"gepa: {len(asked) if stubborn else len(again)} rewritten instruction" in said.notes[0]
    assert bool(candidates) is not stubborn
    for candidate in candidates:
        assert "Reply" not in first_predictor(candidate.module).signature.instructions


def test_words_of_an_experts_reason_may_be_used(server: FakeOpenAI) -> None:
    with world(server.base_url, seed=0, items=60) as found:
        adapter = ShareAdapter(found.task(), Candidate(UNCOMPILED, found.module))
    name = adapter.student.named_predictors()[0][0]
    words = "an answer is worth what its stars say of it"
    lesson = {"Inputs": {"answer": f"> {words}"}, "Feedback": f"An expert's reason: {words}"}
    for feedback, taken in ((lesson["Feedback"], True), ("the same", False)):
        asked: list[Call] = []
        with FakeOpenAI(rewriting(lambda _: f"Grade as follows: {words}.", asked)) as other:
            adapter.reflection_lm = dspy.LM("openai/fake", api_base=other.base_url, api_key="test", cache=False)
            adapter.left = 2
            with nullcontext() if taken else pytest.raises(RepeatsItemError, match="an answer is worth what"):
                adapter.propose_new_texts({name: "Grade."}, {name: [{**lesson, "Feedback": feedback}]}, [name])
        assert len(asked) == (1 if taken else 2)


def test_lesson_of_a_pair_says_what_the_judge_said_of_each_order_and_that_it_flipped(server: FakeOpenAI) -> None:
    module = judge_module("preference", PREFERENCE_SCALE, ("grade",), ("query", "answer_a", "answer_b"))
    pairs = [Item("1", "1", {"query": "Which?", "answer_a": "one", "answer_b": "two"})]
    labels = LabelSet(
        "preference", PREFERENCE_SCALE, ("grade",), tuple(pairs), (Label("1", "e", {"grade": 2}),), False, "d"
    )
    both = replace(
        judgments(
            np.full((1, 3), 1 / 3), np.array([2]), ids=["1"], accept_from=3, reason=f"a is longer{EXCHANGED}b is"
        ),
        flipped=np.array([True]),
    )
    with world(server.base_url, seed=0, items=60) as found:
        part = with_split(labels, Split((0,), (), (), {}), 0).train
        (told,) = lessons(replace(found.task(), module=module, scale=PREFERENCE_SCALE), part, both)
    assert told["Generated Outputs"] == {
        "reason": "a is longer",
        "reason, with the answers exchanged": "b is",
        "preference": "tie",
    }
    assert "With the answers exchanged the assistant chose otherwise" in str(told["Feedback"])
    assert "the judge" not in str(told)  # the prompt calls it the assistant


def test_the_installed_libraries_still_have_what_the_adapter_overrides() -> None:
    for name in ("build_program", "evaluate", "batch_evaluate", "make_reflective_dataset", "propose_new_texts"):
        theirs = inspect.signature(getattr(DspyAdapter, name)).parameters
        assert list(inspect.signature(getattr(ShareAdapter, name)).parameters) == list(theirs)
    assert {"seed_candidate", "max_metric_calls", "stop_callbacks", "seed"} <= set(
        inspect.signature(gepa.optimize).parameters
    )
