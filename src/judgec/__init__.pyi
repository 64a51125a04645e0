from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Literal

from judgec.api.agent_compilation import AgentCompilation as AgentCompilation
from judgec.api.answered import Answers as Answers
from judgec.api.compilation import Compilation as Compilation
from judgec.api.compile_judge import compile_judge as compile_judge
from judgec.api.frames import Source
from judgec.api.index import CorpusIndex as CorpusIndex
from judgec.api.judging import Judge as Judge
from judgec.api.judging import Judgment as Judgment
from judgec.api.judging import load_judge as load_judge
from judgec.api.labels import Labels as Labels
from judgec.api.labels import read_labels as read_labels
from judgec.api.rank import Ranking as Ranking
from judgec.api.tournament import Tournament as Tournament
from judgec.lm.watch import Watch

__version__: str
__all__ = [
    "AgentCompilation",
    "Answers",
    "Compilation",
    "CorpusIndex",
    "Judge",
    "Judgment",
    "Labels",
    "Ranking",
    "Tournament",
    "__version__",
    "answer",
    "compile_agent",
    "compile_judge",
    "evaluate",
    "index",
    "load_judge",
    "rank",
    "read_labels",
]

def answer(
    *,
    queries: Source,
    agents: str | Sequence[str],
    out: str | Path | None = None,
    index: str | PathLike[str] | None = None,
    columns: Mapping[str, str] | None = None,
    lm: str = "embedded",
    home: str | Path = ".",
    tracking_uri: str | None = None,
    rerank: str | None = None,
    in_flight: int = 32,
    k: int = 5,
    variations: int = 4,
    persona: str = "",
    citations: bool = True,
    api_base: str | None = None,
    budget: int | None = None,
    max_cost: float | None = None,
    progress: bool | Watch | None = None,
) -> Answers: ...
def compile_agent(
    agent: str,
    *,
    index: str | PathLike[str],
    queries: Source,
    judge: Judge | str | None = None,
    labels: Labels | Source | None = None,
    report_judge: Judge | str | None = None,
    unproven: bool = False,
    name: str | None = None,
    lm: str = "embedded",
    columns: Mapping[str, str] | None = None,
    accept_at: str | None = None,
    optimizer: str = "auto",
    reflection_lm: str | None = None,
    seed: int = 0,
    k: int = 5,
    variations: int = 4,
    persona: str = "",
    citations: bool = True,
    api_base: str | None = None,
    budget: int | None = None,
    max_cost: float | None = None,
    home: str | Path = ".",
    tracking_uri: str | None = None,
    progress: bool | Watch | None = None,
) -> AgentCompilation: ...
def evaluate(
    manifest: str | PathLike[str] | None = None,
    *,
    judge: Judge | str,
    relevance_judge: str | None = None,
    out: str | Path = "evaluation",
    unproven: bool = False,
    gate: str | None = None,
    queries: Source | None = None,
    answers: Source | Sequence[Source] = (),
    documents: Source | None = None,
    runs: str | Path | Sequence[str | Path] = (),
    qrels: Source | None = None,
    columns: Mapping[str, str] | None = None,
    cutoff: int = 5,
    games: int | None = None,
    adaptive: bool = False,
    resolution: float = 20.0,
    seed: int = 0,
    one_order: bool = False,
    threshold: int = 2,
    raw_documents: bool = True,
    annotations: bool = True,
    factors: str = "",
    has_citations: bool = False,
    length_control: bool = False,
    preferences: Source | None = None,
    sample: int | None = None,
    random_sample: bool = False,
    lm: str | None = None,
    index: str | PathLike[str] | None = None,
    agents: str | Sequence[str] = (),
    agents_lm: str = "embedded",
    api_base: str | None = None,
    budget: int | None = None,
    max_cost: float | None = None,
    home: str | Path = ".",
    tracking_uri: str | None = None,
    rerank: str | None = None,
    in_flight: int = 32,
    k: int = 5,
    variations: int = 4,
    persona: str = "",
    citations: bool = True,
    progress: bool | Watch | None = None,
) -> Tournament: ...
def index(
    paths: str | Path | Sequence[str | Path],
    *,
    out: str | Path,
    chunk: str | None = None,
    embedder: str | None = None,
    language: str | None = None,
    columns: Mapping[str, str] | None = None,
    seed: int = 0,
    postgres: str | None = None,
    api_base: str | None = None,
    home: str | Path = ".",
    tracking_uri: str | None = None,
    progress: bool | Watch | None = None,
) -> CorpusIndex: ...
def rank(
    games: Source,
    *,
    k: float = 32.0,
    initial: float | None = None,
    tournaments: int = 500,
    order: Literal["file", "shuffled"] = "shuffled",
    ragelo_compat: bool = False,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    home: str | Path = ".",
    tracking_uri: str | None = None,
    progress: bool | Watch | None = None,
) -> Ranking: ...
