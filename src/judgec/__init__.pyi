from collections.abc import Mapping, Sequence
from pathlib import Path

from judgec.api.compare_probes import ComparedProbes as ComparedProbes
from judgec.api.compare_probes import compare_probes as compare_probes
from judgec.api.compilation import Compilation as Compilation
from judgec.api.compile_queries import QueryCompilation as QueryCompilation
from judgec.api.estimate import RateEstimate as RateEstimate
from judgec.api.frames import Source
from judgec.api.generate_queries import GeneratedQueries as GeneratedQueries
from judgec.api.judge import Judge as Judge
from judgec.api.judge import Judgment as Judgment
from judgec.api.judge import load_judge as load_judge
from judgec.api.judge_file import FileJudgments as FileJudgments
from judgec.api.labels import Labels as Labels
from judgec.api.labels import read_labels as read_labels
from judgec.api.probe import ProbeReport as ProbeReport
from judgec.api.rank import Ranking as Ranking
from judgec.api.rank import rank as rank
from judgec.lm.watch import Watch
from judgec.workspace import Workspace as Workspace

__version__: str
__all__ = [
    "ComparedProbes",
    "Compilation",
    "FileJudgments",
    "GeneratedQueries",
    "Judge",
    "Judgment",
    "Labels",
    "ProbeReport",
    "QueryCompilation",
    "Ranking",
    "RateEstimate",
    "Workspace",
    "__version__",
    "compare_probes",
    "compile_judge",
    "compile_queries",
    "estimate",
    "generate_queries",
    "judge_file",
    "load_judge",
    "probe",
    "rank",
    "read_labels",
]

def compile_judge(
    labels: Labels | Source,
    *,
    lm: str = "embedded",
    name: str | None = None,
    objective: str | None = None,
    task: str | None = None,
    reflection_lm: str | None = None,
    optimizer: str = "auto",
    seed: int = 0,
    evidence: bool = True,
    abstain_below: float | None = None,
    promise: float | None = None,
    risk: float = 0.1,
    learning_curve: bool = False,
    folds: int | None = None,
    assessment: str | None = None,
    factors: str = "",
    has_citations: bool = False,
    api_base: str | None = None,
    budget: int | None = None,
    max_cost: float | None = None,
    columns: Mapping[str, str] | None = None,
    annotators: str | Sequence[str] = (),
    accept_at: str | None = None,
    home: str | Path = ".",
    tracking_uri: str | None = None,
    progress: bool | Watch | None = None,
) -> Compilation: ...
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
def estimate(
    items: Source,
    *,
    judge: Judge | str,
    labels: Source,
    statistic: str = "accept_rate",
    columns: Mapping[str, str] | None = None,
    annotators: str | Sequence[str] = (),
    lm: str | None = None,
    abstain_below: float | None = None,
    samples: int = 1,
    temperature: float | None = None,
    structured: bool = False,
    in_flight: int | None = None,
    engine: str = "local",
    ray_address: str | None = None,
    api_base: str | None = None,
    budget: int | None = None,
    max_cost: float | None = None,
    home: str | Path = ".",
    tracking_uri: str | None = None,
    progress: bool | Watch | None = None,
) -> RateEstimate: ...
def generate_queries(
    *,
    index: str | Path,
    experts: Source | Sequence[str] | None = None,
    lm: str | Sequence[str] = ("embedded",),
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
def judge_file(
    file: str | Path,
    *,
    judge: str | None = None,
    jury: str | Sequence[str] = (),
    out: str | Path,
    inputs: bool = True,
    columns: Mapping[str, str] | None = None,
    home: str | Path = ".",
    lm: str | None = None,
    abstain_below: float | None = None,
    samples: int = 1,
    temperature: float | None = None,
    structured: bool = False,
    in_flight: int | None = None,
    engine: str = "local",
    ray_address: str | None = None,
    api_base: str | None = None,
    budget: int | None = None,
    max_cost: float | None = None,
    progress: bool | Watch | None = None,
) -> FileJudgments: ...
def probe(
    *,
    scenarios: str | Sequence[str] = (),
    index: str | Path | Sequence[str | Path] = (),
    system: str | Sequence[str] = (),
    n: int | None = None,
    out: str | Path = "probe",
    questions: Source | None = None,
    max_failure: str | float | Mapping[str, float] | Sequence[str] = (),
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
