from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from judgec.api.compare_probes import ComparedProbes as ComparedProbes
from judgec.api.compare_probes import compare_probes as compare_probes
from judgec.api.compilation import Compilation as Compilation
from judgec.api.compile_judge import compile_judge as compile_judge
from judgec.api.compile_queries import QueryCompilation as QueryCompilation
from judgec.api.frames import Source
from judgec.api.generate_queries import GeneratedQueries as GeneratedQueries
from judgec.api.judging import Judge as Judge
from judgec.api.judging import Judgment as Judgment
from judgec.api.judging import load_judge as load_judge
from judgec.api.labels import Labels as Labels
from judgec.api.labels import read_labels as read_labels
from judgec.api.probe import ProbeReport as ProbeReport
from judgec.api.rank import Ranking as Ranking
from judgec.api.rank import rank as rank
from judgec.lm.watch import Watch

__version__: str
__all__ = [
    "ComparedProbes",
    "Compilation",
    "GeneratedQueries",
    "Judge",
    "Judgment",
    "Labels",
    "ProbeReport",
    "QueryCompilation",
    "Ranking",
    "__version__",
    "compare_probes",
    "compile_judge",
    "compile_queries",
    "generate_queries",
    "load_judge",
    "probe",
    "rank",
    "read_labels",
]

_Texts: TypeAlias = str | Sequence[str]
_Shares: TypeAlias = str | float | Mapping[str, float] | Sequence[str]

def compile_queries(
    *,
    index: str | Path,
    experts: Source | Sequence[str],
    lm: str = "embedded",
    judge: str = "rules",
    labels: Labels | Source | None = None,
    name: str = "queries",
    per_passage: int = 5,
    passages: int | None = None,
    passage_size: str = "2000t",
    reflection_lm: str | None = None,
    seed: int = 0,
    temperature: float = 0.7,
    api_base: str | None = None,
    budget: int | None = None,
    max_cost: float | None = None,
    home: str | Path = ".",
    tracking_uri: str | None = None,
    progress: bool | Watch | None = None,
) -> QueryCompilation: ...
def generate_queries(
    *,
    index: str | Path,
    experts: Source | Sequence[str] | None = None,
    lm: _Texts = "embedded",
    per_passage: int = 10,
    sample: str | int | Mapping[str, int] | Sequence[str] = (),
    out: str | Path = "queries.jsonl",
    references: bool = False,
    reliability: str = "rules",
    generator: str | None = None,
    passages: int | None = None,
    passage_size: str = "2000t",
    seed: int = 0,
    temperature: float = 0.7,
    home: str | Path = ".",
    api_base: str | None = None,
    budget: int | None = None,
    max_cost: float | None = None,
    progress: bool | Watch | None = None,
) -> GeneratedQueries: ...
def probe(
    *,
    scenarios: _Texts = (),
    index: str | Path | Sequence[str | Path] = (),
    system: _Texts = (),
    n: int | None = None,
    out: str | Path = "probe",
    questions: Source | None = None,
    max_failure: _Shares = (),
    lm: str = "embedded",
    seed: int = 0,
    reliability: str = "none",
    k: int = 5,
    agent_lm: str | None = None,
    judge: str | None = None,
    rejection_judge: str | None = None,
    unproven: bool = False,
    temperature: float = 0.7,
    api_base: str | None = None,
    budget: int | None = None,
    max_cost: float | None = None,
    home: str | Path = ".",
    tracking_uri: str | None = None,
    progress: bool | Watch | None = None,
) -> ProbeReport: ...
