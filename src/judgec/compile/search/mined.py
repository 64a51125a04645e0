"""Mines criteria: looks at all reasons of the experts, for what they look at and the prompt does not say.

A rewrite reads a minibatch; most criteria are named in a few reasons only, so that all of them are read at once. The
text then comes from every label of train and dev. So each of a few folds of their queries has a prompt of its own,
mined from the reasons of the other folds, and that one judges its items wherever a prompt is valued or calibrated.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate

import dspy
import numpy as np
from dspy.utils.exceptions import AdapterParseError

from judgec.compile.dataset import Part, joined
from judgec.compile.gepa_driver import FIELD, AnyFormat, reply_fields
from judgec.compile.search.candidates import Candidate, Unseen, first_predictor, split_rubric
from judgec.compile.search.task import Task
from judgec.compile.stopping import Stop
from judgec.raters.criteria import MineCriteria
from judgec.raters.fencing import fence
from judgec.raters.predictors import with_instructions
from judgec.records.consensus import settled

MINED = "mined"
FOLDS = 5  # of train and dev, each with a prompt that has not seen it
REASON_CHARACTERS = 24_000  # of all reasons together, about 6,000 tokens
MOST_CRITERIA, CRITERION_CHARACTERS = 12, 240
FOUND = "The experts also look at this:"
LOOKS, IDLE = 10, 3  # most looks at the reasons for a prompt; so many in a row without anything new are the last
MIN_REASONS = 4  # fewer are read in a minibatch just as well


@dataclass(frozen=True, slots=True)
class Reason:
    """Reason of an expert for a grade, and the item's query."""

    query: str
    text: str


def reasons_of(task: Task) -> list[Reason]:
    """The experts' reasons on train and dev, those first where the judge or another expert says something else.

    An item whose grade two grades share is no example of either.
    """
    told: list[tuple[bool, Reason]] = []
    said = task.said(task.verdicts)
    for part in (task.train, task.dev):
        expert, every = settled(task.expert(part)), task.expert(part)[..., 0]
        for i, item in enumerate(part.items):
            if (expert[i] != every[i]).any():
                continue
            differs = part is task.train and bool((said[i] != expert[i]).any())
            for label in part.reasoned(i):
                gave = ", ".join(f"{name} {task.scale.grades[grade]}" for name, grade in label.grades.items())
                reason = Reason(item.query_id, f"{gave}: {label.rationale}")
                told.append((differs or not part.agrees(label, i), reason))
    return [reason for _, reason in sorted(told, key=lambda one: not one[0])]


def mined(task: Task, looks: int = LOOKS) -> Candidate | None:
    """The judge's prompt with the criteria of all reasons; None where there are too few reasons, or none was found.

    Args:
        task: The search.
        looks: Most looks at the reasons, for each prompt.

    Raises:
        ServiceError: When the LM cannot be reached. A cap only ends the search.
    """
    reasons, learned = reasons_of(task), joined(task.train, task.dev)
    if task.reflection is None or len(reasons) < MIN_REASONS:
        return None
    queries = np.random.default_rng([task.seed, 3]).permutation(sorted({item.query_id for item in learned.items}))
    folds = [frozenset(map(str, queries[k::FOLDS])) for k in range(FOLDS)]
    found, unseen = None, list[Unseen]()
    with Stop().ending(MINED, task.watch):
        found = told(task, reasons, looks)
        for fold in folds if found is not None else []:
            own = told(task, [one for one in reasons if one.query not in fold], looks)
            unseen.append(Unseen(fold, own or task.module))  # nothing found without them: the prompt as it was
    if found is None or len(unseen) < len(folds):
        return None
    settings: dict[str, str | int] = {"instructions": MINED, "reasons": len(reasons), "folds": FOLDS}
    return Candidate(MINED, found, settings=settings, unseen=tuple(unseen))


def mined_from(task: Task, part: Part, looks: int = LOOKS) -> Candidate | None:
    """The same from the reasons of one part alone: what a rewrite that reads this part may begin with."""
    own = {item.query_id for item in part.items}
    reasons = [one for one in reasons_of(task) if one.query in own]
    found = None
    with Stop().ending(MINED, task.watch):
        found = told(task, reasons, looks) if reasons else None
    return None if found is None else Candidate(MINED, found, reflected=tuple(sorted(own)))


def told(task: Task, reasons: Sequence[Reason], looks: int = LOOKS) -> dspy.Module | None:
    """The judge with the criteria that the reflection model finds in these reasons; None where it finds none.

    One look names some of them. So it is asked again, with what it has found in the rubric and the reasons in another
    order, until it adds nothing: what several looks in a row do not find is not there.

    Raises:
        ServiceError: When the model cannot be asked.
    """
    predict = first_predictor(task.module)
    above, rubric = split_rubric(predict.signature.instructions)
    sizes = accumulate(len(one.text) for one in reasons)
    texts = [one.text for one, size in zip(reasons, sizes, strict=True) if size <= REASON_CHARACTERS]
    ask, criteria, idle = dspy.Predict(MineCriteria), list[str](), 0
    for look in range(looks):
        order = np.random.default_rng([task.seed, 4, look]).permutation(len(texts)) if look else range(len(texts))
        whole = f"{_with(above, criteria)}\n\n{reply_fields(predict)}{rubric}"
        idle += 1
        with dspy.context(lm=task.reflection, adapter=AnyFormat()), suppress(AdapterParseError):
            reply = ask(rubric=whole, reasons=fence("contexts", tuple(texts[i] for i in order)))
            lines = (line.strip().lstrip("-*• ").strip() for line in str(reply[FIELD]).splitlines())
            new = [f"- {line[:CRITERION_CHARACTERS]}" for line in lines if line and line not in above]
            new = [line for line in dict.fromkeys(new) if line not in criteria]
            idle = 0 if new else idle
            criteria = [*criteria, *new][:MOST_CRITERIA]
        if idle == IDLE or not criteria or len(criteria) == MOST_CRITERIA:
            break
    return with_instructions(task.module, _with(above, criteria) + rubric) if criteria else None


def _with(above: str, criteria: Sequence[str]) -> str:
    return "\n".join([above, "", FOUND, *criteria]) if criteria else above
