"""The task of saying whether the cited documents support the sentences that cite them."""

from judgec.records.scale import Scale
from judgec.records.tasks.spec import TaskSpec

SUPPORTED_WORDS = ("yes", "true", "y", "t", "supported", "attributable", "full", "complete")
NOT_SUPPORTED_WORDS = ("no", "false", "n", "f", "not_supported", "not_attributable", "unsupported", "none")

TASK = TaskSpec(
    name="cited",
    required=("query", "answer", "contexts"),
    labels=("supported",),
    scale=Scale(name="supported", grades=(0, 1), accept_at=1),
    settled=True,
    meanings=(
        "a cited document contradicts what its sentence says, or does not say it",
        "each cited document says what the sentence says that cites it",
    ),
    signature="judgec.raters.tasks.claims:CheckCitations",
    shown=("query", "answer", "contexts"),
    evidence={"answer": ("answer",), "contexts": ("contexts",), "told": ("answer",)},
    spellings=dict.fromkeys(SUPPORTED_WORDS, "1") | dict.fromkeys(NOT_SUPPORTED_WORDS, "0"),
    details=("claims",),
)
