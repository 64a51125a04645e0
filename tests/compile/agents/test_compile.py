"""Compiling an agent whose model answers well only when its prompt shows how."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from judgec.compile.agents.compile import AgentCompile, AnsweredQueries, CompiledAgent, compile_agent
from judgec.compile.agents.metric import AcceptedMetric, ScoredAnswer
from judgec.compile.agents.report import Provenance, SavedAgent, save_agent
from judgec.compile.family_state import FamilyState
from judgec.compile.pipeline import COMPILED, UNCOMPILED, winner
from judgec.compile.release import Place, check_place
from judgec.errors import ArtifactError, UserError
from judgec.labels.split.family import read_family
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Silent
from judgec.rag.agents.compiled import load_agent, settings_of
from judgec.rag.agents.rag import RAG, AgentSettings
from judgec.rag.retrieval.retrievers import Retriever
from judgec.raters import programs
from judgec.records.scale import ACCEPT_SCALE
from judgec.tournament.files.queries import Query
from tests.compile.agents.contested import decided
from tests.rag.agents.world import FACTS, Shelf
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, Text

NAMES = [name for name in FACTS if name != "dirac"]
QUERIES = [Query(f"q{n}", f"{NAMES[n % 3].title()} sensor measures variant {n}") for n in range(90)]
ACCEPTED: Mapping[str, tuple[str, ...]] = {q.query_id: (FACTS[q.text.split()[0].lower()],) for q in QUERIES}
SETTINGS = AgentSettings(k=2)


def learner(call: Call) -> Outcome:
    """Right for the sensor that was asked about when the prompt shows an example; else it says little."""
    if not call.prompt.outputs:
        return Text("ready")
    asked = call.prompt.inputs["query"].lower()
    name = next(name for name in FACTS if name in asked)
    said = FACTS[name] if call.prompt.demonstrations else "A sensor."
    return Text(f"[[ ## answer ## ]]\n{said}\n\n[[ ## completed ## ]]")


def run(
    agent: RAG,
    settings: AgentCompile,
    server: FakeOpenAI,
    *,
    queries: Sequence[Query] = QUERIES,
    accepted: Mapping[str, tuple[str, ...]] = ACCEPTED,
    rewrites: bool = False,
    retrieve: Callable[[str], Retriever] | None = None,
) -> CompiledAgent:
    spec = LMSpec.parse("openai/fake", api_base=server.base_url)
    reflection = spec if rewrites else None
    with Session(spec, settings.home, reflection=reflection, environ={"OPENAI_API_KEY": "test"}) as session:
        given = agent, agent.retriever, queries, AcceptedMetric(accepted), settings, session, Silent()
        return compile_agent(*given, accepted=accepted, retrieve=retrieve)


def settings_for(home: Path, optimizer: str, name: str = "ag") -> AgentCompile:
    return AgentCompile(name, home, "rag-bm25", SETTINGS, optimizer=optimizer, resamples=300)


def compiled(home: Path, server: FakeOpenAI, optimizer: str = "labeled", name: str = "ag", **how: Any) -> CompiledAgent:
    return run(RAG(Shelf(), SETTINGS), settings_for(home, optimizer, name), server, **how)


def saved(home: Path, found: CompiledAgent) -> SavedAgent:
    spec = LMSpec.parse("openai/fake")
    with Session(spec, home) as session:
        origin = Provenance(
            "accepted answers", ACCEPT_SCALE, ("grade",), "", spec, "i", "2026-01-01", 1.0, session.spent
        )
        return save_agent(found, settings_for(home, "auto"), origin)


@dataclass(frozen=True)
class Learned:
    """An agent that was compiled and saved, and the endpoint of its model."""

    home: Path
    server: FakeOpenAI
    found: CompiledAgent
    kept: SavedAgent


@pytest.fixture(scope="module")
def learned_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Learned]:
    home = tmp_path_factory.mktemp("agent")
    with FakeOpenAI(learner) as server:
        found = compiled(home, server)
        yield Learned(home, server, found, saved(home, found))


@pytest.fixture
def learned(learned_once: Learned, tmp_path: Path) -> Learned:
    """In a home of its own."""
    return replace(learned_once, home=shutil.copytree(learned_once.home, tmp_path / "home"))


def test_agent_that_learns_from_examples_is_promoted_and_runs_from_disk(learned: Learned) -> None:
    found, home = learned.found, learned.home
    assert found.verdict.promoted, found.verdict.reason
    assert found.chosen.name == "labelled-2"  # as good on dev as four, and tried first
    values = {name: [one.value for one in scores] for name, scores in found.scores.items()}
    assert set(values[COMPILED]) == {1.0}
    assert max(value or 0.0 for value in values[UNCOMPILED]) < 0.7
    train = {query.query_id for query in found.parts["train"]}
    assert not train & {query.query_id for query in (*found.parts["dev"], *found.parts["test"])}
    assert programs.aliases(home, "ag") == {"champion": 1}
    assert [look.version for look in read_family(home, "ag").looks] == ["0001"]
    program = programs.load(home, "ag")
    assert settings_of(program) == ("rag-bm25", SETTINGS)
    loaded = load_agent(program, Shelf())
    assert [dict(demo) for demo in loaded.answer.demos] == [dict(demo) for demo in found.chosen.module.answer.demos]
    assert learned.kept.report["promoted"] is True
    page = Path(str(learned.kept.report["report_html"]))
    assert page.parts[-4:] == ("programs", "ag", "0001", "report.html")
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
    assert second.dev == learned.found.dev
    assert second.verdict.standing == FamilyState(2, 1)
    assert second.verdict.rival == "champion"
    assert not second.verdict.promoted
    assert "use 2 of" in second.verdict.reason


def test_bootstrap_without_good_answers_keeps_the_uncompiled_agent(tmp_path: Path) -> None:
    with FakeOpenAI(learner) as server:
        found = compiled(tmp_path, server, "bootstrap")
    assert found.chosen.name == UNCOMPILED
    assert not found.verdict.promoted
    assert any("no prompt was better" in note for note in found.notes)


def test_too_few_queries_and_impossible_optimizers_are_refused(tmp_path: Path) -> None:
    with FakeOpenAI(learner) as server:
        with pytest.raises(UserError, match="about 40"):
            compiled(tmp_path, server, "auto", queries=QUERIES[:2])
        with pytest.raises(UserError, match="auto, labeled, bootstrap, settings, gepa"):
            compiled(tmp_path, server, "luck")


def test_decision_needs_ten_queries_and_an_interval_above_zero(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, "auto")
    ups = [ScoredAnswer(0.5 + 0.01 * (n % 7)) for n in range(30)]
    downs = [ScoredAnswer(0.2 + 0.01 * (n % 5)) for n in range(30)]
    better = decided({COMPILED: ups, UNCOMPILED: downs}, settings)
    assert better.promoted
    gain = sum(s.counted for s in ups) / 30 - sum(s.counted for s in downs) / 30
    assert better.difference.value == pytest.approx(gain)
    assert not decided({COMPILED: downs, UNCOMPILED: ups}, settings).promoted
    few = decided({COMPILED: ups[:9], UNCOMPILED: downs[:9]}, settings)
    assert not few.promoted
    assert "test queries: 9" in few.reason


def test_failing_never_pays(tmp_path: Path) -> None:
    mixed = [ScoredAnswer(0.9 if n % 2 else 0.4) for n in range(40)]
    hiding = [ScoredAnswer(None if one.value == 0.4 else one.value) for one in mixed]
    found = decided({COMPILED: hiding, UNCOMPILED: mixed}, settings_for(tmp_path, "auto"))
    assert (found.difference.value or 0) < 0


def test_compile_that_another_one_overtook_is_decided_again_and_never_promoted_unmet(learned: Learned) -> None:
    """A second compile that had begun before the first was saved: its verdict is the first one's."""
    late = saved(learned.home, learned.found)
    assert (late.card.looks, late.card.parent, late.card.promoted) == (2, 1, False)
    assert "champion" in late.card.reason
    assert programs.aliases(learned.home, "ag") == {"champion": 1, "challenger": 2}


def test_queries_stay_on_their_side_under_another_name_and_other_ids(learned: Learned) -> None:
    renamed = [Query(f"x{n}", q.text.upper()) for n, q in enumerate(QUERIES)]
    accepted = {q.query_id: (FACTS[q.text.split()[0].lower()],) for q in renamed}
    other = compiled(learned.home, learned.server, name="other", queries=renamed[::-1], accepted=accepted)
    assert other.verdict.standing == FamilyState(2, None)  # uses belong to the queries, whatever an agent is called
    sides = [
        {name: {query.text.casefold() for query in part} for name, part in found.parts.items()}
        for found in (learned.found, other)
    ]
    assert sides[0] == sides[1]


def test_winner_is_better_by_a_standard_error_whatever_the_order_and_else_the_uncompiled_agent() -> None:
    start = [0.0, 1.0] * 10
    scores = {UNCOMPILED: start, "b": [0.2, 1.0] * 10, "a": [0.2, 1.0] * 10, "luck": [*start[:-2], 0.5, 0.6]}
    tried = {name: AnsweredQueries((), [ScoredAnswer(value) for value in found]) for name, found in scores.items()}
    assert winner(tried) == winner(dict(reversed(tried.items()))) == "a"
    assert winner({name: tried[name] for name in (UNCOMPILED, "luck")}) == UNCOMPILED  # .005 with an error of .03
    assert winner({UNCOMPILED: tried[UNCOMPILED]}) == UNCOMPILED
