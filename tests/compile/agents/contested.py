"""A finished compile of an agent from answers and scores as given, without a model."""

from collections.abc import Mapping, Sequence

from judgec.compile.agents.candidates import AgentCandidate
from judgec.compile.agents.compile import WORDS, AgentCompile, AnsweredQueries, CompiledAgent
from judgec.compile.agents.metric import ScoredAnswer
from judgec.compile.family_state import FamilyState
from judgec.compile.pipeline import Contested, MeanVerdict, decide_means
from judgec.labels.split.family import Split
from judgec.rag.agents.answer import Answer
from judgec.rag.agents.rag import RAG, AgentSettings
from judgec.records.label import Item
from judgec.tournament.files.queries import Query
from tests.rag.agents.world import Shelf

Scores = Mapping[str, Sequence[ScoredAnswer]]


def decided(scores: Scores, settings: AgentCompile, standing: FamilyState | None = None) -> MeanVerdict:
    """The verdict on test answers that scored so."""
    test = {who: AnsweredQueries((), found) for who, found in scores.items()}
    return decide_means(WORDS, "a prompt", test, standing or FamilyState(1, None), settings.pipeline.resampling)


def compiled_agent(
    queries: Sequence[Query],
    answers: Mapping[str, Sequence[Answer]],
    scores: Scores,
    settings: AgentCompile,
    *,
    chosen: AgentCandidate | None = None,
    dev: Mapping[str, Sequence[float]] | None = None,
    notes: tuple[str, ...] = (),
) -> CompiledAgent:
    """All queries are of the test split."""
    rows = tuple(range(len(queries)))
    tried = {who: AnsweredQueries((), [ScoredAnswer(v) for v in values]) for who, values in (dev or {}).items()}
    found = Contested(
        items=tuple(Item(query.query_id, query.query_id, {"query": query.text}) for query in queries),
        split=Split((), (), rows, {"train": "", "dev": "", "test": "t"}),
        chosen=chosen or AgentCandidate("x", RAG(Shelf(), AgentSettings())),
        dev=tried,
        test={who: AnsweredQueries(answers[who], scores[who]) for who in scores},
        verdict=decided(scores, settings),
        notes=notes,
    )
    return CompiledAgent(RAG(Shelf(), AgentSettings()), tuple(queries), found, notes)
