from judgec.api.agreement import MeasuredAgreement as MeasuredAgreement
from judgec.api.agreement import agreement as agreement
from judgec.api.audit import JudgeAudit as JudgeAudit
from judgec.api.audit import audit as audit
from judgec.api.compare import JudgeComparison as JudgeComparison
from judgec.api.compare import compare as compare
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
    "JudgeAudit",
    "JudgeComparison",
    "Judgment",
    "Labels",
    "MeasuredAgreement",
    "Ranking",
    "__version__",
    "agreement",
    "audit",
    "compare",
    "compile_judge",
    "load_judge",
    "rank",
    "read_labels",
]
