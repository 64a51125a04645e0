import inspect
from dataclasses import replace
from pathlib import Path

import pytest
from dspy.teleprompt.mipro_optimizer_v2 import MIPROv2
from hypothesis import given
from hypothesis import strategies as st

from judgec.compile.search.candidates import first_predictor, split_rubric
from judgec.compile.search.mipro import CorpusMIPRO, Mipro, positive_score
from tests.compile.search.world import world
from tests.service.fake_openai import FakeOpenAI
from tests.service.ranking_world import grader


@given(st.floats(-50, 50), st.floats(-50, 50))
def test_positive_score_keeps_the_order_and_beats_what_an_exception_gets(one: float, other: float) -> None:
    assert 0 < positive_score(one) < 100
    if one < other - 1e-9:
        assert positive_score(one) < positive_score(other)


def test_mipro_finds_the_same_prompts_again_says_nothing_and_names_what_they_have_seen(
    server: FakeOpenAI, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = []
    for folder in ("one", "other"):
        with world(server.base_url, seed=2, optimizer="mipro", items=60, home=tmp_path / folder) as found:
            task = found.task()
            runs.append(Mipro().search(task))
            pool = {item.query_id for item in task.pool().items}
    assert capsys.readouterr() == ("", "")
    prompts = [[(first_predictor(c.module).signature.instructions, c.queries) for c in run] for run in runs]
    assert prompts[0] == prompts[1]
    rubric = split_rubric(first_predictor(found.module).signature.instructions)[1]
    assert rubric
    assert any(c.queries for c in runs[0])
    for candidate in runs[0]:
        predict = first_predictor(candidate.module)
        assert split_rubric(predict.signature.instructions)[1] == rubric
        assert len(candidate.queries) == len(predict.demos)
        assert set(candidate.reflected) == (pool if candidate.settings["instructions"] == "mipro" else set())


def test_mipro_proposals_but_the_own_are_made_from_demonstrations_of_the_pool(tmp_path: Path) -> None:
    with (
        FakeOpenAI(grader) as server,
        world(server.base_url, seed=2, optimizer="mipro", items=60, home=tmp_path) as found,
    ):
        task = found.task()
        Mipro().search(task)
        shown = {item.text("query") for item in task.pool().items}
        others = {item.text("query") for item in task.train.items} - shown
    asked = [text for body in server.bodies if "`task_demos`" in (text := str(body["messages"]))]
    asked = [text.partition("'user'")[2] for text in asked]
    own = [text for text in asked if "No task demos provided" in text]
    assert (len(asked), len(own)) == (5, 1)  # the first set is empty: DSPy's place for the judge's own instructions
    for text in asked:
        assert text in own or any(query in text for query in shown)
        assert not any(query in text for query in others)


def test_mipro_within_a_room_stays_within_it_and_without_room_for_a_trial_does_nothing(tmp_path: Path) -> None:
    with FakeOpenAI(grader) as server, world(server.base_url, seed=0, items=120, home=tmp_path) as found:
        task = found.task()
        before = found.session.spent.calls
        task = replace(task, room=lambda: 100 - (found.session.spent.calls - before))
        assert Mipro().search(task)
        assert 0 < found.session.spent.calls - before <= 100
        before = found.session.spent.calls
        assert not Mipro().search(replace(task, room=lambda: 20))
        assert found.session.spent.calls == before


def test_the_installed_miprov2_still_has_what_is_overridden() -> None:
    theirs = inspect.signature(MIPROv2._optimize_prompt_parameters).parameters
    assert list(theirs)[:5] == ["self", "program", "instruction_candidates", "demo_candidates", "evaluate"]
    for name in ("_bootstrap_fewshot_examples", "_propose_instructions"):
        assert callable(getattr(MIPROv2, name))
        assert name in vars(CorpusMIPRO)
