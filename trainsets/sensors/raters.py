"""The documented rules by which the constructed grades follow from the planted faults.

Ines applies the rule table and grades everything. Marek and Tomas give second opinions: each starts from the
same table, reads a few faults differently for a stated reason, and now and then slips.
"""

import hashlib
import re
from dataclasses import dataclass

RULES = {  # (fault, extent) -> grade; extent is how much of what was asked for is affected
    ("complete", ""): 5,  # everything that was asked, in the catalogue's words
    ("reworded", ""): 5,  # the same in other words
    ("converted", ""): 5,  # the same in other units
    ("verbose", ""): 5,  # the same among correct things that nobody asked for
    ("bare", ""): 5,  # the same as a list of values
    ("terse", ""): 4,  # right, without a condition or detail that the reference gives
    ("vague", ""): 4,  # right, rounded where the reference is exact
    ("hedged", ""): 4,  # right, wrapped in doubt
    ("half", ""): 3,  # one part of the question is not answered
    ("partial_refusal", ""): 3,  # the same, and says so
    ("contradiction", ""): 3,  # gives the right answer and its opposite
    ("refusal", ""): 2,  # honestly says that it cannot answer
    ("other_question", ""): 1,  # true, but the answer to another question about the product
    ("off_topic", ""): 1,  # general knowledge, nothing about what was asked
    **{
        (fault, extent): grade
        for fault in ("wrong_number", "wrong_date", "neighbour", "invention")
        for extent, grade in (("some", 3), ("all", 1))
    },
}
LEAD = "ines"
SLIP_PERCENT = 6  # of the second opinions
MANY_WORDS = 60  # Marek's patience with a padded answer
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer with what was planted in it."""

    item_id: str
    reference: str
    answer: str
    fault: str
    extent: str
    hazard: bool  # a wrong value here can break something or hurt somebody


def digest(text: str) -> int:
    """A number that depends on nothing but the text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def lead_grade(item: Answer) -> int:
    return RULES[item.fault, item.extent]


def marek_grade(item: Answer) -> int:
    """A field engineer: could I act on this answer?"""
    if item.fault == "terse":
        return 5  # the bare right answer is all he needs
    if item.fault == "hedged":
        return 3  # he would have to look it up himself
    if item.fault == "verbose" and len(item.answer.split()) >= MANY_WORDS:
        return 4
    if item.hazard and (item.extent == "some" or item.fault == "contradiction"):
        return 1  # one wrong value in a warning makes the whole answer useless to him
    return lead_grade(item)


def tomas_grade(item: Answer) -> int:
    """A documentation editor: how much of the reference is there?"""
    wanted = set(NUMBER.findall(item.reference))
    share = len(wanted & set(NUMBER.findall(item.answer))) / len(wanted) if wanted else 1.0
    if item.fault == "terse":
        return 3 if share < 0.5 else 4
    if item.fault == "half":
        return 4 if share > 0.5 else 3  # the larger half is there
    if item.fault == "vague":
        return 3
    if item.fault == "reworded":
        return 4 if share < 1 else 5  # he wants the figures as printed
    if item.fault in {"wrong_number", "wrong_date"} and not item.answer.startswith(("Yes", "No")):
        return 3  # a wrong value of the right product is an error to him, a wrong yes or no is worse
    return lead_grade(item)


def slip(annotator: str, item: Answer, grade: int) -> int:
    """The grade after an occasional lapse of attention.

    Nobody takes an answer for a refusal, so grade 2 is left and never entered: a refusal is dismissed (1), a
    wrong answer is called an error (3), an answer with errors is rejected outright (1), an incomplete one
    let pass (4), and the two accepted grades are confused.
    """
    if digest(f"{annotator}/{item.item_id}") % 100 >= SLIP_PERCENT:
        return grade
    spoilt = bool(item.extent) or item.fault == "contradiction"
    return {1: 3, 2: 1, 3: 1 if spoilt else 4, 4: 5, 5: 4}[grade]


def opinions(item: Answer) -> dict[str, int]:
    """Grades by annotator: all items have one, three in ten Marek's, two in ten Tomas's, one in ten both."""
    grades = {LEAD: lead_grade(item)}
    tenth = digest(item.item_id) % 10
    if tenth in {4, 5, 6, 9}:
        grades["marek"] = slip("marek", item, marek_grade(item))
    if tenth in {7, 8, 9}:
        grades["tomas"] = slip("tomas", item, tomas_grade(item))
    return grades
