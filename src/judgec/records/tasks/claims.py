"""The task of grading an answer by its claims, or by a rubric of its query: what is supported, denied or missing."""

from judgec.records.claim import NUGGETS
from judgec.records.scale import Scale
from judgec.records.tasks.grade import ONE_TO_FIVE, ONE_TO_FIVE_ACCEPT
from judgec.records.tasks.spec import TaskSpec

TASK = TaskSpec(
    name="claims",
    required=("query", "answer"),
    optional=("contexts", "reference", NUGGETS),
    one_of=("contexts", "reference", NUGGETS),
    labels=("grade", "accept"),
    scale=Scale(grades=ONE_TO_FIVE, accept_at=ONE_TO_FIVE_ACCEPT),
    meanings=(
        "what the answer claims is contradicted, or nothing of it is supported",
        "most of its claims are not supported",
        "about half of its claims are supported, or an important one is not",
        "all but details are supported, and little that matters is missing",
        "every claim is supported, and nothing that matters is missing",
    ),
    lists=("contexts", NUGGETS),
    signature="judgec.raters.tasks.claims:CheckClaims",
    shown=("query", "reference", "answer", NUGGETS, "contexts"),
    inferred_by=(NUGGETS,),
    evidence={
        "answer": ("answer",),
        "reference": ("reference",),
        "contexts": ("contexts",),
        "told": ("answer",),
        "rubric": (NUGGETS,),
    },
    rates_answers=True,
    details=("claims", "found_nuggets", "vital_recall", "nugget_recall"),
)
