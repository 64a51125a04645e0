"""The task of saying which of two answers is better."""

from judgec.records.conversation import TURNS
from judgec.records.scale import Scale
from judgec.records.tasks.spec import PAIR, PAIR_AGENTS, PAIR_GRADES, TaskSpec

PREFERENCE_SCALE = Scale(
    name="preference",
    level="nominal",
    grades=PAIR_GRADES,
    meanings=("answer A is better", "answer B is better", "they are equally good"),
)

SPELLINGS = {  # no numbers: 0 and 1 are a tie and A with some, A and B with others
    **{f"{what}_{side}": side for what in ("model", "answer", "response", "assistant", "system") for side in "ab"},
    **{spelling.format(side): side for spelling in ("{}_is_better", "{}_wins", "prefer_{}") for side in "ab"},
    "left": "a",
    "first": "a",
    "right": "b",
    "second": "b",
    **dict.fromkeys(("both", "both_good", "both_bad", "bothbad", "tie_bothbad", "tie_both_bad", "equal"), "tie"),
    **dict.fromkeys(("draw", "same", "neither", "no_preference", "equally_good"), "tie"),
}

TASK = TaskSpec(
    name="preference",
    required=("query", *PAIR),
    optional=("contexts", "reference", *PAIR_AGENTS, *TURNS, "dialogue"),
    labels=("preference",),
    scale=PREFERENCE_SCALE,
    settled=True,
    signature="judgec.raters.tasks.preference:CompareAnswers",
    graded=PAIR,
    hidden=PAIR_AGENTS,
    shown=(
        "dialogue",
        "conversation",
        "query",
        "reference",
        "conversation_a",
        "answer_a",
        "conversation_b",
        "answer_b",
        "contexts",
    ),
    told_by=PAIR,
    evidence={
        "answer": PAIR,
        "reference": ("reference",),
        "contexts": ("contexts",),
    },
    rates_answers=True,
    spellings=SPELLINGS,
)
