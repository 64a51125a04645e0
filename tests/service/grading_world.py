"""A world with a rule for good answers, and two graders in it: one that a prompt can teach, one that none
can.

An answer makes some *verified* claims and may name its source. The experts' grade is 1 + verified claims (at
most 3), and one more for a named source. Both graders see the claims, make the same small mistakes, and do
not know at first that a source counts; they are also a grade too harsh with answers that are not the worst.

- The teachable grader credits sources once a demonstration shows it (an answer with a source and a grade that
  its claims alone do not earn) or the instructions contain ``KEY_PHRASE``; likewise it stops being harsh once
  a demonstration has a grade above its own, or the instructions contain ``MILD_PHRASE``.
- The stubborn grader ignores everything but the item.
"""

import random
import re
from collections.abc import Sequence

from tests.prompts import PromptParts, unquote
from tests.service.replies import Call, Outcome, answer, digest

KEY_PHRASE = "credit answers that name their source"
MILD_PHRASE = "do not be harsh"
GRADES = (1, 2, 3, 4, 5)
MISTAKES = 0.1  # share of answers that a grader misreads by one grade, the same whoever asks

_TOPICS = ("pump", "valve", "sensor", "gateway", "relay", "battery", "antenna", "housing", "display", "motor")
_CLAIM = "It is verified that the {topic} holds {number} units."
_HEDGE = "It is assumed that the {topic} holds {number} units."
_SOURCE = "Source: the handbook of the {topic}, page {number}."
_NO_SOURCE = "Remark: the story of the {topic}, part {number}."


def rows(items: int, seed: int = 0, per_query: int = 3, *, reasoned: bool = False) -> list[dict[str, object]]:
    """Labelled answers for the ``grade`` task: item_id, query_id, query, answer, contexts, grade; rationale if asked.

    All answers have four sentences of equal length, so that length says nothing; ``contexts`` support none of
    them.
    """
    chance = random.Random(seed)
    made: list[dict[str, object]] = []
    for number in range(items):
        query = number // per_query
        topic = f"{_TOPICS[query % len(_TOPICS)]} {query}"
        claims, sourced = chance.randint(0, 3), chance.random() < 0.5
        sentences = [
            (_CLAIM if i < claims else _HEDGE).format(topic=topic, number=chance.randint(10, 99)) for i in range(3)
        ]
        chance.shuffle(sentences)
        sentences.append((_SOURCE if sourced else _NO_SOURCE).format(topic=topic, number=chance.randint(10, 99)))
        made.append(
            {
                "item_id": f"i{number:04d}",
                "query_id": f"q{query:04d}",
                "query": f"How many units does the {topic} hold?",
                "answer": " ".join(sentences),
                "contexts": ["Nothing is known about this product."],
                "grade": 1 + claims + sourced,
                **({"rationale": f"Verified: {claims} of 3; a source: {sourced}."} if reasoned else {}),
            }
        )
    return made


def expert_grade(text: str) -> int:
    """The grade by the rule."""
    return 1 + text.count("is verified") + ("Source:" in text)


def teachable(call: Call) -> Outcome:
    """Grades by what its prompt has taught it."""
    if not call.prompt.outputs:
        return answer(call, {})
    lessons = [_lesson(inputs, outputs) for inputs, outputs in _shown(call.prompt)]
    sources = KEY_PHRASE in call.instructions.lower() or any(source for source, _ in lessons)
    mild = MILD_PHRASE in call.instructions.lower() or any(above for _, above in lessons)
    return _graded(call, sources=sources, mild=mild)


def stubborn(call: Call) -> Outcome:
    """Grades by the item alone."""
    return _graded(call, sources=False, mild=False) if call.prompt.outputs else answer(call, {})


def _graded(call: Call, *, sources: bool, mild: bool) -> Outcome:
    text = " ".join(unquote(call.prompt.inputs.get("answer", "")))
    grade = 1 + text.count("is verified") + (sources and "Source:" in text)
    if not mild and grade > 1:
        grade -= 1
    if digest("mistake", text) % 1000 < 1000 * MISTAKES:
        grade += 1 if digest("way", text) % 2 else -1
    grade = min(max(grade, GRADES[0]), GRADES[-1])
    return answer(call, {output.name: str(grade) for output in call.prompt.outputs if output.labels})


def _shown(prompt: PromptParts) -> Sequence[tuple[str, int]]:
    """Answer and grade of each demonstration that has both."""
    graded = [output.name for output in prompt.outputs if output.labels]
    return [
        (" ".join(unquote(demo.inputs.get("answer", ""))), int(demo.outputs[name]))
        for demo in prompt.demonstrations
        for name in graded[:1]
        if re.fullmatch(r"\d", demo.outputs.get(name, ""))
    ]


def _lesson(text: str, grade: int) -> tuple[bool, bool]:
    """Whether a demonstration shows that sources count, and that the grader was too harsh."""
    claims = 1 + text.count("is verified")
    return "Source:" in text and grade > claims, grade > max(1, claims - 1)
