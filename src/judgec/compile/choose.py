"""Chooses among candidates: all of them on train and dev together, out of fold.

Each one's verdicts get a calibrator and a decision rule of their own, and what counts is the objective of the grades
that follow, each from folds without its query: a judge that uses its scale oddly can be the better one once compiled.
Evidence is left out of this and joins the winner. Two candidates are compared on the items that both were asked about.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from judgec.compile.assemble import Bench
from judgec.compile.rated import Rated, best_of, median_of
from judgec.compile.search.candidates import Candidate, as_it_was, not_asked
from judgec.compile.search.race import RaceStanding
from judgec.compile.winner import LEAST, in_common, incumbent, lead
from judgec.errors import UserError
from judgec.raters.recorded import RECORDED_KIND
from judgec.records.counts import plural
from judgec.table.rows.columns import shortly

MOST_FITTED = 100  # candidates that get a calibrator of their own; of more, the best as they are


@dataclass(frozen=True, slots=True)
class Choice:
    """Who ships of the candidates of a split, and whom it is compared with.

    Args:
        best: Who ships, unless something is made of several.
        uncompiled: The one to compare with.
        alone: Of several that stand beside each other, the best one as it is; else None.
        rated: Those that were compared, by name.
        searched: Of one prompt, those that a search has tried, as far as each ran on dev.
        notes: For the user.
    """

    best: Rated
    uncompiled: Rated
    alone: Rated | None = None
    rated: Mapping[str, Rated] = field(default_factory=dict)
    searched: Mapping[str, tuple[Candidate, RaceStanding]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of_nobody(cls, bench: Bench, candidate: Candidate) -> Self:
        """Where nobody is asked: evidence alone judges.

        Args:
            bench: What it is made from.
            candidate: The prompt of the task, which is put to nobody.
        """
        nothing = Rated.of(bench, candidate, not_asked(bench.learned.items, bench.scale, bench.aspects))
        return cls(nothing, nothing)

    def without_verdicts(self) -> "Choice":
        """The same for a fold that does not ship: without every candidate's grades, which fill memory."""
        return replace(self, rated={})


def choose(
    bench: Bench,
    candidates: Sequence[Candidate],
    *,
    beside: str | None = None,
    rewritten: Collection[str] = (),
) -> Choice:
    """The candidate whose verdicts are worth most once they are calibrated.

    Args:
        bench: What they are judged with.
        candidates: At least one.
        beside: The name of the one to compare with; None for the one whose objective is the median.
        rewritten: Names of those that a search made of another one, which is among them: no rivals of what ships.

    Raises:
        UserError: Nobody has enough labels to learn from, or the one to compare with has not.
    """
    asked = {one.name: Rated.of(bench, one) for one in candidates}
    if len(asked) == 1 and bench.recorded is None:
        (only,) = asked.values()
        return Choice(only, only, rated=asked)
    rated = {name: one for name, one in asked.items() if one.usable or bench.recorded is None}
    notes = []
    if few := [f"{name} ({one.items})" for name, one in asked.items() if name not in rated]:
        notes.append(
            f"judges with too few labels in train and dev, or one grade only, are not compared: {shortly(few)}"
        )
    if not rated:
        raise UserError(
            f"{_where(bench)}: no judge has {LEAST} labels of two grades in train and dev, the most are "
            f"{max(one.items for one in asked.values())}. Label more items, or record more verdicts."
        )
    rivals = {name: one for name, one in rated.items() if name not in rewritten} or rated
    beside = _beside(rivals, beside, rewritten, bench)
    near = [name for name in rated if in_common(rated[name].ratings, rated[beside].ratings) >= LEAST]
    if apart := [name for name in rated if name not in near and bench.recorded is not None]:
        notes.append(f"judges with fewer than {LEAST} items in common with {beside} are not compared: {shortly(apart)}")
    leads = {name: lead(rated[name].ratings, rated[beside].ratings, bench.objective) for name in near or [beside]}
    order = sorted(leads, key=lambda name: (-leads[name], name))
    if left := len(order[MOST_FITTED:]):
        notes.append(f"not calibrated: {plural(left, 'judge')} that agree least with the experts uncalibrated")
    rated |= {name: rated[name].calibrated(bench) for name in order[:MOST_FITTED]}
    raw = {name: rated[name].ratings for name in order}
    graded = {name: found for name in order if (found := rated[name].graded) is not None}
    best, first = best_of(raw, graded, beside, bench.objective), order[0]
    if best != first:
        notes.append(f"{first} agrees best uncalibrated; {best} agrees better once both are calibrated")
    if best != beside and bench.recorded is not None:
        shared = in_common(raw[best], raw[beside])
        notes.append(f"{best} and {beside} were both asked about {shared:,} labels of train and dev")
    alone = incumbent({name: raw[name] for name in order if name in rivals}, beside, bench.objective)
    return Choice(
        rated[best], rated[beside], None if bench.recorded is None else rated[alone], rated, notes=tuple(notes)
    )


def _beside(rated: Mapping[str, Rated], named: str | None, rewritten: Collection[str], bench: Bench) -> str:
    """The one to compare with.

    Raises:
        UserError: It is not among those that can be compared.
    """
    if named is None:
        return median_of(rated, bench)
    named = as_it_was(named) if named in rewritten else named
    if bench.recorded is not None:
        bench.recorded.require(named)
    if named not in rated:
        raise UserError(f"--baseline {named}: too few labels in common with {_where(bench)}. Name another judge.")
    return named


def recorded_candidate(bench: Bench, name: str) -> Candidate:
    """A judge whose verdicts stand in a table as a candidate."""
    assert bench.recorded is not None  # the caller has looked
    facts: dict[str, str | int] = {"kind": RECORDED_KIND, "judge": name}
    if model := bench.recorded.judges[name].model:
        facts["model"] = model
    return Candidate(name, bench.module, settings=facts, rater=bench.leaves[name])


def _where(bench: Bench) -> str:
    return "labels" if bench.recorded is None else bench.recorded.path
