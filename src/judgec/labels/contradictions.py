"""Checks of who graded by what they gave: in no language, after somebody has said who is a person."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from judgec.errors import UserError
from judgec.labels.reading import EVERYBODY
from judgec.records.label import UNLABELLED, IntArray, LabelSet

LEAST = 20  # items that two have in common
LEFT_OUT = 0.2  # of the items, by each other person
TWO = 2
ADVICE = 'turn the grades round, or write checked = ["{}"] in judgec.toml or datasheet.toml.'


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A thing that labels say against what somebody said of them.

    Args:
        name: Whose grades they are.
        text: For people.
        stops: True where it is shown, and not only odd.
    """

    name: str
    text: str
    stops: bool = False


def running_against(labels: LabelSet) -> Iterator[Contradiction]:
    """Lists people whose grades are shown to run against those of each other person."""
    graded = _by_person(labels)
    query = {item.item_id: item.query_id for item in labels.items}
    numbered = {name: n for n, name in enumerate(dict.fromkeys(query.values()))}
    cluster = np.array([numbered[one] for one in query.values()], dtype=np.int64)
    for name, own in graded.items():
        others = [other for who, other in graded.items() if who != name]
        if len(graded) > TWO and all(_against(own, other, cluster) for other in others):
            text = f"the grades of {name} run against those of all other people (tau-b below 0, 97.5 % limit)"
            yield Contradiction(
                name, f"{text}; people agree. Leave {name} out of the annotators, {ADVICE.format(name)}", True
            )
    if len(graded) == TWO:
        (one, own), (other, theirs) = graded.items()
        if _against(own, theirs, cluster):
            text = f"the grades of {one} and {other} run against each other (tau-b below 0, 97.5 % limit)"
            yield Contradiction(one, f"{text}; is one of them turned? Leave one out, {ADVICE.format(one)}", True)


def require_no_one_against(labels: LabelSet, where: str, checked: Collection[str] = ()) -> None:
    """Refuse labels of a person whose grades are shown to run against all others'.

    Args:
        labels: As they were read.
        where: The file.
        checked: Graders whom somebody looked at, ``*`` for everybody.

    Raises:
        UserError: There is one.
    """
    if tuple(checked) != EVERYBODY:
        for one in running_against(labels):
            if one.name not in checked:
                raise UserError(f"{where}: {one.text}")


def contradictions(labels: LabelSet) -> Iterator[Contradiction]:
    """Lists people who run against all others, gave one grade for everything, or left nothing out where others did."""
    yield from running_against(labels)
    graded = _by_person(labels)
    for name, own in graded.items():
        given = own[own != UNLABELLED]
        others = [other for who, other in graded.items() if who != name]
        if (
            len(given) >= LEAST
            and len(set(given.tolist())) == 1
            and any(len(set(o[o >= 0].tolist())) > 1 for o in others)
        ):
            yield Contradiction(name, f"{name} gave one grade to all {len(given)} items: is it a person's?")
        left = [float((other == UNLABELLED).mean()) for other in others]
        if left and (own != UNLABELLED).all() and min(left) >= LEFT_OUT:
            yield Contradiction(name, f"{name} graded every item, where each other left a fifth out: is it a person?")


def _by_person(labels: LabelSet) -> dict[str, IntArray]:
    """Each person's grades of the first aspect by item, or accept and reject, -1 where there is none."""
    place = {item.item_id: at for at, item in enumerate(labels.items)}
    found: dict[str, IntArray] = {}
    for label in labels.labels:
        own = found.setdefault(label.annotator, np.full(len(place), UNLABELLED, dtype=np.int64))
        grade = label.accept if labels.accept_only else label.grades.get(labels.aspects[0])
        if grade is not None:
            own[place[label.item_id]] = grade
    return found if labels.scale.level != "nominal" else {}


def _against(one: IntArray, other: IntArray, cluster: IntArray) -> bool:
    """True where tau-b is shown to be below 0, one-sided at 2.5 %."""
    both = (one != UNLABELLED) & (other != UNLABELLED)
    if both.sum() < LEAST or len(set(one[both].tolist())) == 1 or len(set(other[both].tolist())) == 1:
        return False
    from judgec.stats.agreement.rank_correlation import concordance  # loads SciPy, which one person's labels need not
    from judgec.stats.agreement.statistic import tau_b_score
    from judgec.stats.intervals.bootstrap import interval

    table = np.zeros((int(one.max()) + 1, int(other.max()) + 1))
    np.add.at(table, (one[both], other[both]), 1)
    if concordance(table) >= 0:
        return False
    own = np.unique(cluster[both], return_inverse=True)[1].astype(np.int64)
    found = interval(tau_b_score(one[both], other[both].astype(np.float64), own), resamples=500)
    return found.value == -1 if found.high is None else found.high < 0  # without spread where no item says otherwise
