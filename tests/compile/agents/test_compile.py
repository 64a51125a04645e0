"""Compiling an agent whose model answers well only when its prompt shows how."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from judgec.compile.contest import COMPILED, UNCOMPILED, best_program
from judgec.compile.family_state import FamilyState
from judgec.compile.release import Place, Saved, check_place
from judgec.errors import ArtifactError, UserError
from judgec.labels.split.family import SPLITS, read_family
from judgec.rag.agents.compiled import load_agent, settings_of
from judgec.raters import programs
from judgec.tournament.files.queries import Query
from tests.compile.agents.world import QUERIES, SETTINGS, Found, answered, compiled, outcome, saved
from tests.rag.agents.world import FACTS, Shelf
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, Text


def learner(call: Call) -> Outcome:
    """Right for the sensor that was asked about when the prompt shows an example; else it says little."""
    if not call.prompt.outputs:
        return Text("ready")
    asked = call.prompt.inputs["query"].lower()
    name = next(name for name in FACTS if name in asked)
    said = FACTS[name] if call.prompt.demonstrations else "A sensor."
    return Text(f"[[ ## answer ## ]]\n{said}\n\n[[ ## completed ## ]]")


@dataclass(frozen=True)
class Learned:
    """An agent that was compiled and saved, and the endpoint of its model."""

    home: Path
    server: FakeOpenAI
    found: Found
    kept: Saved[Found]


@pytest.fixture(scope="module")
def learned_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Learned]:
    home = tmp_path_factory.mktemp("agent")
    with FakeOpenAI(learner) as server:
        found = compiled(home, server)
        yield Learned(home, server, found, saved(found))


@pytest.fixture
def learned(learned_once: Learned, tmp_path: Path) -> Learned:
    """In a home of its own."""
    home = shutil.copytree(learned_once.home, tmp_path / "home")
    found = replace(learned_once.found, contest=replace(learned_once.found.contest, home=home))
    return replace(learned_once, home=home, found=found)


def sides(found: Found) -> dict[str, set[str]]:
    items = found.contest.items
    return {name: {items[i].text("query").casefold() for i in getattr(found.split, name)} for name in SPLITS}


def test_agent_that_learns_from_examples_is_promoted_and_runs_from_disk(learned: Learned) -> None:
    found, home = learned.found, learned.home
    assert found.decision.promoted, found.decision.reason
    assert found.chosen.name == "labelled-2"  # as good on dev as four, and first by name
    assert set(found.test[COMPILED].values["score"]) == {1.0}
    assert max(found.test[UNCOMPILED].values["score"]) < 0.7
    split = sides(found)
    assert not split["train"] & (split["dev"] | split["test"])
    assert programs.aliases(home, "ag") == {"champion": 1}
    assert [look.version for look in read_family(home, "ag").looks] == ["0001"]
    program = programs.load(home, "ag")
    assert settings_of(program) == ("rag-bm25", SETTINGS)
    loaded = load_agent(program, Shelf())
    assert [dict(demo) for demo in loaded.answer.demos] == [dict(demo) for demo in found.chosen.module.answer.demos]
    made = learned.kept
    card = made.card
    assert made.report["promoted"] is True
    assert "answers" in program.report
    assert "answers" not in made.report
    page = programs.page_path(home, card)
    assert "compiled minus uncompiled" in page.read_text(encoding="utf-8")
    damaged = program.tree | {"answer": {**program.tree["answer"], "extra": 1}}
    with pytest.raises(ArtifactError):
        load_agent(programs.Program(program.card, damaged, {}, {}), Shelf())
    with pytest.raises(UserError, match="--name ag: that is"):
        check_place(Place(home, "ag", "judge"))


def test_second_version_is_asked_from_the_journal_and_meets_the_champion_at_the_next_look(learned: Learned) -> None:
    calls = learned.server.calls
    second = compiled(learned.home, learned.server)
    assert learned.server.calls == calls  # every call was journaled
    assert [one.objective.point() for one in second.dev.values()] == [
        one.objective.point() for one in learned.found.dev.values()
    ]
    assert second.standing == FamilyState(2, 1)
    assert second.decision.rival == "champion"
    assert not second.decision.promoted
    assert "use 2 of" in second.decision.reason


def test_bootstrap_without_good_answers_keeps_the_uncompiled_agent(tmp_path: Path) -> None:
    with FakeOpenAI(learner) as server:
        found = compiled(tmp_path, server, optimizer="bootstrap")
    assert found.chosen.name == UNCOMPILED
    assert not found.decision.promoted
    assert any("no prompt was better" in note for note in found.notes)


def test_too_few_queries_and_impossible_optimizers_are_refused(tmp_path: Path) -> None:
    with FakeOpenAI(learner) as server:
        with pytest.raises(UserError, match="about 40"):
            compiled(tmp_path, server, queries=QUERIES[:2])
        with pytest.raises(UserError, match="auto, labeled, bootstrap, settings, gepa"):
            compiled(tmp_path, server, optimizer="luck")
        with pytest.raises(UserError, match="--reflection-lm"):
            compiled(tmp_path, server, optimizer="gepa")


def test_decision_needs_ten_queries_and_an_interval_above_zero(tmp_path: Path) -> None:
    ups, downs = [0.5 + 0.01 * (n % 7) for n in range(30)], [0.2 + 0.01 * (n % 5) for n in range(30)]

    def decided(ours: list[float], theirs: list[float]) -> Found:
        return outcome(tmp_path, {COMPILED: answered(ours), UNCOMPILED: answered(theirs)})

    better = decided(ups, downs).decision
    assert better.promoted
    assert better.difference.value == pytest.approx((sum(ups) - sum(downs)) / 30)
    assert better.by_statistic == {"score": better.difference}
    assert not decided(downs, ups).decision.promoted
    few = decided(ups[:9], downs[:9]).decision
    assert not few.promoted
    assert "test queries: 9" in few.reason


def test_failing_never_pays(tmp_path: Path) -> None:
    mixed = [0.9 if n % 2 else 0.4 for n in range(40)]
    hiding = [None if value == 0.4 else value for value in mixed]
    found = outcome(tmp_path, {COMPILED: answered(hiding), UNCOMPILED: answered(mixed)})
    assert (found.decision.difference.value or 0) < 0


def test_compile_that_another_one_overtook_is_decided_again_and_never_promoted_unmet(learned: Learned) -> None:
    """A second compile that had begun before the first was saved: its verdict is the first one's."""
    card = saved(learned.found).card
    assert (card.looks, card.parent, card.promoted) == (2, 1, False)
    assert "champion" in card.reason
    assert programs.aliases(learned.home, "ag") == {"champion": 1, "challenger": 2}


def test_refusal_stays_when_it_is_decided_again(learned: Learned) -> None:
    refused = replace(learned.found, refusal="its champion is damaged")
    assert learned.found.again(FamilyState(2, None)).decision.promoted
    assert refused.again(FamilyState(2, None)).decision.reason.startswith("its champion is damaged")


def test_queries_stay_on_their_side_under_another_name_and_other_ids(learned: Learned) -> None:
    renamed = [Query(f"x{n}", q.text.upper()) for n, q in enumerate(QUERIES)]
    accepted = {q.query_id: (FACTS[q.text.split()[0].lower()],) for q in renamed}
    other = compiled(learned.home, learned.server, name="other", queries=renamed[::-1], accepted=accepted)
    assert other.standing == FamilyState(2, None)  # uses belong to the queries, whatever an agent is called
    assert sides(learned.found) == sides(other)


def test_winner_is_better_by_a_standard_error_whatever_the_order_and_else_the_uncompiled_agent() -> None:
    start = [0.0, 1.0] * 10
    scores = {UNCOMPILED: start, "b": [0.2, 1.0] * 10, "a": [0.2, 1.0] * 10, "luck": [*start[:-2], 0.5, 0.6]}
    tried = {name: answered(values) for name, values in scores.items()}
    assert best_program(tried) == best_program(dict(reversed(tried.items()))) == "a"
    assert best_program({name: tried[name] for name in (UNCOMPILED, "luck")}) == UNCOMPILED  # .005, error .03
    assert best_program({UNCOMPILED: tried[UNCOMPILED]}) == best_program({}) == UNCOMPILED
