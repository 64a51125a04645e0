"""Ways of grading that make several prompts of one: what differs is how the grade is found, not what it means.

A weak model asked in several ways and averaged agrees better than asked once (``docs/design/several-judges.md``),
and no model is needed to write these.
"""

from collections.abc import Mapping
from types import MappingProxyType

MANNERS: Mapping[str, str] = MappingProxyType(
    {
        "plain": "",
        "criteria": (
            "Go through what the scale asks for one criterion at a time. Say of each whether it is met, then "
            "choose the grade that fits all of them."
        ),
        "ideal": (
            "First say in a sentence what the best possible answer would hold, from the material that you are "
            "given. Then compare, and grade by what is missing or wrong."
        ),
        "faults": (
            "Look for faults first: what is wrong, missing, unsupported or beside the point. Begin at the best "
            "grade and go down as far as these faults are serious, and no further."
        ),
        "upwards": (
            "Begin at the worst grade. Go up one grade at a time, and stop at the last one whose meaning is fully met."
        ),
        "reader": (
            "Put yourself in the place of whoever asked. Grade by what they would need, and by what they would "
            "now believe that is not so."
        ),
        "neighbours": (
            "Name the two grades that fit best. Say what speaks for each of them, then choose the one with the "
            "better grounds."
        ),
        "brief": "Decide on your first careful reading. Give the grade with one short sentence for it.",
    }
)
"""By name, the most different first; ``plain`` adds nothing."""
