"""Compiles of agents against an endpoint in this process."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from judgec.compile.agents.compile import AgentContest, items_of, rated
from judgec.compile.agents.metric import AcceptedMetric, AnswerTrace, ScoredAnswer
from judgec.compile.agents.optimizers import check_optimizer, proposed
from judgec.compile.contest import Contested, RatedProgram, compile_program, decide_means
from judgec.compile.contest_report import finished
from judgec.compile.family_state import FamilyState
from judgec.compile.release import Saved, release
from judgec.compile.search.candidates import Candidate
from judgec.labels.split.family import Split
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Silent
from judgec.rag.agents.answer import Answer
from judgec.rag.agents.rag import RAG, AgentSettings
from judgec.rag.retrieval.retrievers import Retriever
from judgec.records.card import Cost
from judgec.tournament.files.queries import Query
from tests.rag.agents.world import FACTS, Shelf
from tests.service.fake_openai import FakeOpenAI

NAMES = [name for name in FACTS if name != "dirac"]
QUERIES = [Query(f"q{n}", f"{NAMES[n % 3].title()} sensor measures variant {n}") for n in range(90)]
ACCEPTED: Mapping[str, tuple[str, ...]] = {q.query_id: (FACTS[q.text.split()[0].lower()],) for q in QUERIES}
SETTINGS = AgentSettings(k=2)
FREE = Cost(lm_calls=0, usd=0.0, seconds=1.0)
Found = Contested[AnswerTrace]


def contest_of(home: Path, session: Session, start: RAG | None = None, **changed: Any) -> AgentContest:
    queries, accepted = changed.get("queries", QUERIES), changed.pop("accepted", ACCEPTED)
    about: dict[str, Any] = {
        "name": "ag",
        "home": home,
        "items": items_of(queries),
        "start": start or RAG(Shelf(), SETTINGS),
        "settings": {"agent": "rag-bm25", **asdict(SETTINGS)},
        "lm": session.spec,
        "keeping": lambda _: nullcontext(),
        "optimizer": "labeled",
        "agent": "rag-bm25",
        "queries": queries,
        "metric": AcceptedMetric(accepted),
        "propose": proposed,
        "session": session,
        "accepted": accepted,
    }
    return AgentContest(**about | changed)


def compiled(
    home: Path,
    server: FakeOpenAI,
    start: RAG | None = None,
    *,
    rewrites: bool = False,
    retrieve: Callable[[str], Retriever] | None = None,
    **changed: Any,
) -> Found:
    spec = LMSpec.parse("openai/fake", api_base=server.base_url)
    reflection = spec if rewrites else None
    with Session(spec, home, reflection=reflection, environ={"OPENAI_API_KEY": "test"}) as session:
        contest = contest_of(home, session, start, retrieve=retrieve, **changed)
        check_optimizer(contest.optimizer, session)
        return compile_program(contest, Silent())


def saved(found: Found) -> Saved[Found]:
    return release(finished(found, FREE, "2026-01-01"))


def answered(
    values: Sequence[float | None], answers: Sequence[Answer] = (), queries: Sequence[Query] = QUERIES
) -> RatedProgram[AnswerTrace]:
    """An agent whose answers are worth so much."""
    said = answers or [Answer(query_id=query.query_id, agent="ag", text="it is") for query in queries]
    return rated([(q, a, ScoredAnswer(v, "well said")) for q, a, v in zip(queries, said, values, strict=False)])


def outcome(home: Path, test: Mapping[str, RatedProgram[AnswerTrace]], **changed: Any) -> Found:
    """A compile whose test came out so; all queries are of the test split."""
    with Session(LMSpec.parse("openai/fake"), home, environ={"OPENAI_API_KEY": "test"}) as session:
        contest = contest_of(home, session, **changed)
    rows = tuple(range(len(contest.queries)))
    split = Split((), (), rows, {"train": "", "dev": "", "test": "t"})
    decision = decide_means(contest, "a prompt", test, 1)
    chosen = Candidate("labelled-2", contest.start)
    return Contested(contest, split, chosen, {}, test, FamilyState(1, None), decision, ())
