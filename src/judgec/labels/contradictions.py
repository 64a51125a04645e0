"""Checks of who graded by what they gave: in no language, after somebody has said who is a person."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from judgec.errors import UserError
from judgec.labels.reading import EVERYBODY
from judgec.records.label import UNLABELLED, IntArray, LabelSet
from judgec.records.tasks.registry import compares

LEAST = 20  # items that two have in common
HALF = 0.5  # of the people whose grades vary
LEFT_OUT = 0.2  # of the items, by each other person
SIDES = (0, 2, 1)  # of a, b and tie, from one side to the other


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
    """Lists people whose grades of an aspect are shown to run against those of every person beside them.

    Two stand beside each other where both graded enough items and neither gave all of them one grade. In a crowd most
    others have to.
    """
    said: set[str] = set()
    numbered: dict[str, int] = {}
    queries = np.array([numbered.setdefault(item.query_id, len(numbered)) for item in labels.items], dtype=np.int64)
    for graded in map(partial(_by_person, labels), labels.aspects):
        beside: dict[str, dict[str, float]] = {name: {} for name in graded}
        for one, other in combinations(graded, 2):
            if (leaning := _leaning(graded[one], graded[other])) is not None:
                beside[one][other] = beside[other][one] = leaning
        varied = sum(len(set(own[own != UNLABELLED].tolist())) > 1 for own in graded.values())
        for name, others in beside.items():
            if name in said or HALF * varied > len(others) + 1 or max(others.values(), default=0) >= 0:
                continue
            if not all(_is_against(graded[name], graded[other], queries) for other in others):
                continue
            whose, who = f"the grades of {name} run against those of all other people", name
            if len(others) == 1 and beside[other := next(iter(others))].keys() == {name}:
                whose, who = f"the grades of {name} and {other} run against each other", "one"
                said.add(other)
            said.add(name)
            advice = f'Leave {who} out, turn the grades round, or write checked = ["{name}"] in judgec.toml'
            text = f"{whose} (tau-b below 0, 97.5 % limit); is somebody's scale turned? {advice} or datasheet.toml."
            yield Contradiction(name, text, stops=True)


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
    graded = _by_person(labels, labels.aspects[0])
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


def _by_person(labels: LabelSet, aspect: str) -> dict[str, IntArray]:
    """Each person's grades of an aspect by item, or accept and reject, -1 where there is none; of classes nothing.

    A pair's tie stands between its sides.
    """
    sides = compares(labels.task)
    if labels.scale.level == "nominal" and not sides:
        return {}
    place = {item.item_id: at for at, item in enumerate(labels.items)}
    names = dict.fromkeys(label.annotator for label in labels.labels)
    found = {name: np.full(len(place), UNLABELLED, dtype=np.int64) for name in names}
    for label in labels.labels if len(found) > 1 else ():  # one person contradicts nobody
        grade = label.accept if labels.accept_only else label.grades.get(aspect)
        if grade is not None:
            found[label.annotator][place[label.item_id]] = SIDES[grade] if sides else grade
    return found


def _leaning(one: IntArray, other: IntArray) -> float | None:
    """Concordant less discordant pairs of items; None where two do not stand beside each other."""
    both = (one != UNLABELLED) & (other != UNLABELLED)
    if both.sum() < LEAST or len(set(one[both].tolist())) == 1 or len(set(other[both].tolist())) == 1:
        return None
    from judgec.stats.agreement.rank_correlation import concordance  # loads SciPy, which one person's labels need not

    table = np.zeros((int(one.max()) + 1, int(other.max()) + 1))
    np.add.at(table, (one[both], other[both]), 1)
    return float(concordance(table))


def _is_against(one: IntArray, other: IntArray, cluster: IntArray) -> bool:
    """True where tau-b of two that stand beside each other is shown to be below 0, one-sided at 2.5 %."""
    from judgec.stats.agreement.score_correlation import scored_items, tau_b_score
    from judgec.stats.intervals.jackknife import interval

    both = (one != UNLABELLED) & (other != UNLABELLED)
    own = np.unique(cluster[both], return_inverse=True)[1].astype(np.int64)
    found = interval(tau_b_score(scored_items(one[both], other[both].astype(np.float64), own)))
    return found.value == -1 if found.high is None else found.high < 0  # without spread where no item says otherwise
