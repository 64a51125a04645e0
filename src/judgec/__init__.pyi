from judgec.api.compilation import Compilation as Compilation
from judgec.api.compile_judge import compile_judge as compile_judge
from judgec.api.judging import Judge as Judge
from judgec.api.judging import Judgment as Judgment
from judgec.api.judging import load_judge as load_judge
from judgec.api.labels import Labels as Labels
from judgec.api.labels import read_labels as read_labels
from judgec.api.rank import Ranking as Ranking
from judgec.api.rank import rank as rank

__version__: str
__all__ = [
    "Compilation",
    "Judge",
    "Judgment",
    "Labels",
    "Ranking",
    "__version__",
    "compile_judge",
    "load_judge",
    "rank",
    "read_labels",
]
