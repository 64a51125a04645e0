"""A world in which the better judge looks worse: one prompt ranks perfectly but is harsh by one grade, another matches
often but ranks badly.

Every answer shows what it is worth, and experts give that grade. How the grader grades depends on its prompt:

- *strict*: always one grade below the experts, so its order is perfect and it matches no grade;
- *lenient*: the commonest grade for most answers, so it matches two grades in three and ranks badly;
- *untaught*: the right grade, or one off.

Instructions decide (``STRICT_PHRASE``, ``LENIENT_PHRASE``); without either, the desk that the first demonstration
comes from. The same endpoint rewrites instructions: into strict, lenient or neither, by chance.
"""

import random
import re
from collections.abc import Mapping

from tests.prompts import PromptParts, unquote
from tests.service.replies import Call, Outcome, Text, answer, digest

STRICT_PHRASE = "hold every answer to the strictest reading"
LENIENT_PHRASE = "most answers deserve a four"
STRICT, LENIENT, UNTAUGHT = "strict", "lenient", "untaught"
GRADES = (1, 2, 3, 4, 5)
COMMONEST = 4
WORTH = (2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5)  # of twenty answers
NOTICED = 0.3  # share of answers that the lenient grader reads
REWRITES: Mapping[str, str] = {
    STRICT: f"Read the answer twice and {STRICT_PHRASE}.",
    LENIENT: f"Be fair: {LENIENT_PHRASE}.",
    UNTAUGHT: "Grade the answer with care.",
}


def rows(items: int, seed: int = 0, per_query: int = 3) -> list[dict[str, object]]:
    """Labelled answers for the ``grade`` task: item_id, query_id, query, answer, contexts, grade, rationale."""
    chance = random.Random(seed)
    made: list[dict[str, object]] = []
    for number in range(items):
        worth, desk = chance.choice(WORTH), chance.choice(("north", "south"))
        made.append(
            {
                "item_id": f"i{number:04d}",
                "query_id": f"q{number // per_query:04d}",
                "query": f"What does part {number // per_query} do?",
                "answer": f"Reply {number} is worth {'*' * worth} by the {desk} desk.",
                "contexts": ["Nothing is known about this part."],
                "grade": worth,
                "rationale": "Worth what its stars say.",
            }
        )
    return made


def grader(call: Call) -> Outcome:
    """Grades, and rewrites instructions."""
    outputs = {output.name for output in call.prompt.outputs}
    for field in ("new_instruction", "proposed_instruction"):
        if field in outputs:
            return answer(call, {field: _rewritten(call)})
    graded = [output.name for output in call.prompt.outputs if output.labels]
    if not graded:
        return answer(call, {})
    text = " ".join(unquote(call.prompt.inputs.get("answer", "")))
    grade = str(graded_as(style(call.instructions, call.prompt), text))
    # The whole belief on the grade: a spread would tell a calibrator what the grade does not say.
    said = answer(call, dict.fromkeys(graded, grade))
    return Text(said.text, {name: {grade: 1.0} for name in graded})


def style(instructions: str, prompt: PromptParts) -> str:
    """What this prompt makes of the grader."""
    told = instructions.lower()
    if STRICT_PHRASE in told:
        return STRICT
    if LENIENT_PHRASE in told:
        return LENIENT
    if not prompt.demonstrations:
        return UNTAUGHT
    return STRICT if "north" in prompt.demonstrations[0].inputs.get("answer", "") else LENIENT


def graded_as(style_: str, text: str) -> int:
    """The grade that a style gives to an answer."""
    worth = len(re.findall(r"\*", text))
    if style_ == STRICT:
        return worth - 1
    if style_ == LENIENT:
        return worth if digest("noticed", text) % 1000 < 1000 * NOTICED else COMMONEST
    return min(max(worth + digest("slip", text) % 3 - 1, GRADES[0]), GRADES[-1])


def _rewritten(call: Call) -> str:
    whole = str(call.body.get("messages"))
    return REWRITES[(STRICT, LENIENT, UNTAUGHT)[digest("rewrite", whole) % 3]]
