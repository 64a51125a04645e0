from collections.abc import Mapping, Sequence
from pathlib import Path

from judgec.api.compilation import Compilation as Compilation
from judgec.api.compile_judge import compile_judge as compile_judge
from judgec.api.estimate import RateEstimate as RateEstimate
from judgec.api.frames import Source
from judgec.api.judge import Judge as Judge
from judgec.api.judge import Judgment as Judgment
from judgec.api.judge import load_judge as load_judge
from judgec.api.judge_file import FileJudgments as FileJudgments
from judgec.api.labels import Labels as Labels
from judgec.api.labels import read_labels as read_labels
from judgec.api.rank import Ranking as Ranking
from judgec.api.rank import rank as rank
from judgec.lm.watch import Watch
from judgec.workspace import Workspace as Workspace

__version__: str
__all__ = [
    "Compilation",
    "FileJudgments",
    "Judge",
    "Judgment",
    "Labels",
    "Ranking",
    "RateEstimate",
    "Workspace",
    "__version__",
    "compile_judge",
    "estimate",
    "judge_file",
    "load_judge",
    "rank",
    "read_labels",
]

def estimate(
    items: Source,
    *,
    judge: Judge | str,
    labels: Source,
    statistic: str = "accept_rate",
    columns: Mapping[str, str] | None = None,
    annotators: Sequence[str] = (),
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
def judge_file(
    file: str | Path,
    *,
    judge: str | None = None,
    jury: Sequence[str] = (),
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
