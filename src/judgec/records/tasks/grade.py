"""The task of giving an answer one grade, against a reference, contexts or both (vRAG-Eval)."""

from judgec.records.scale import Scale
from judgec.records.tasks.spec import TaskSpec

ONE_TO_FIVE = (1, 2, 3, 4, 5)
ONE_TO_FIVE_ACCEPT = 4  # vRAG-Eval: 4-5 accept, 1-3 reject
VRAG_EVAL = (  # vRAG-Eval, Table 2
    "not aligned, off topic or hallucinated; a hallucination is worse than an honest 'I don't know'",
    "honestly admits that it cannot answer, or that context is missing",
    "relevant, with notable errors",
    "acceptable and sufficient, not exhaustive",
    "fully accurate and comprehensive",
)

TASK = TaskSpec(
    name="grade",
    required=("query", "answer"),
    optional=("reference", "contexts", "conversation", "dialogue"),
    labels=("grade", "accept"),
    scale=Scale(grades=ONE_TO_FIVE, accept_at=ONE_TO_FIVE_ACCEPT),
    meanings=VRAG_EVAL,
    signature="judgec.raters.tasks.answers:GradeAnswer",
    shown=("dialogue", "conversation", "query", "reference", "answer", "contexts"),
    told_by=("answer",),
    rates_answers=True,
)


def borrowed_meanings(task: str, scale: Scale, takes: str = "the prompt takes") -> tuple[str, ...]:
    """A note on prompts and forms that take vRAG-Eval's meanings of 1-5, since nobody said what these grades mean."""
    if task != TASK.name or scale.grades != ONE_TO_FIVE or scale.meanings:
        return ()
    said = "meanings = [...] under [scale] in judgec.toml or the datasheet says what yours mean"
    return (f"nobody said what grades 1-5 mean: {takes} vRAG-Eval's meanings; {said}",)
