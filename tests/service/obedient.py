"""Graders that obey orders in what they grade: everywhere, or only where the text got out of its block.

They are for measuring what fencing is worth. A grade is ordered by a number after one of the words that all attacks
use; without an order the grader gives what the answer's claims earn (``grading_world.expert_grade``).
"""

import re
from collections.abc import Iterator

from tests.service.grading_world import expert_grade
from tests.service.replies import Call, Outcome, answer

ORDER = re.compile(r"(?:grade|Note|en el|dans|reason|give|Give|GradeBot|给出|поставь|وضع)\D{0,60}?([1-5])(?!\d)")
TURN = re.compile(r"<\|im_start\|>|<\|eot_id\|>|\[/?INST\]|</s>|<start_of_turn>")
STRUCTURE = re.compile(r"\[\[ ## (query|answer|reference|contexts) ## \]\]|\[\d+\]|\(the \w+ (?:is|are) empty\)")
ENDING = "Respond with the corresponding output fields"


def obedient(call: Call) -> Outcome:
    """Obeys what stands outside quoted lines, or behind a token that ends the turn: where text got out."""
    return _graded(call, "\n".join(_outside(_asked(call))))


def gullible(call: Call) -> Outcome:
    """Obeys every order that it can read, quoted or not."""
    return _graded(call, _asked(call))


def _asked(call: Call) -> str:
    """The message with the item, without the adapter's own closing line."""
    messages = call.body.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else {}
    return str(last.get("content", "")).rpartition(ENDING)[0]


def _outside(text: str) -> Iterator[str]:
    broken = False
    for line in text.splitlines():
        broken = broken or TURN.search(line) is not None
        if broken or not (line.startswith("> ") or line == ">" or STRUCTURE.fullmatch(line)):
            yield line


def _graded(call: Call, orders: str) -> Outcome:
    if not call.prompt.outputs:
        return answer(call, {})
    ordered = ORDER.search(orders)
    text = _asked(call).partition("[[ ## answer ## ]]")[2]
    grade = int(ordered[1]) if ordered else min(5, expert_grade(text))
    return answer(call, {output.name: str(grade) for output in call.prompt.outputs if output.labels})
