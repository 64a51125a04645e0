"""Compares systems by a judge's grades, corrected by experts': means, differences of all pairs, compact letters."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import special

from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.game import Games
from judgec.records.label import FloatArray
from judgec.records.ratings import BoolArray
from judgec.stats.correction.mean import MIN_CLUSTERS
from judgec.stats.correction.support import out_of_range
from judgec.stats.rating.corrected_ratings import corrected_ratings
from judgec.stats.systems.means import METHOD, MIN_LABELLED, Cells, CorrectedMeans, Means, corrected_means, differences
from judgec.stats.systems.needed import more_labels
from judgec.stats.systems.rows import RATING, PairRows, SystemRows

DIFFERS = 0.3  # standard deviations between labelled rows and others from which they are no random sample
CHANCE = 0.05  # of a random sample that differs as much, above which a note says so
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class SystemFigure:
    """One statistic of one system.

    Args:
        experts: From the labelled rows alone.
        judge: As the judge has it.
        corrected: The number to report: of new queries like these.
        corrected_these_rows: The same of these very rows.
    """

    experts: Estimate
    judge: Estimate
    corrected: Estimate
    corrected_these_rows: Estimate

    def to_json(self) -> dict[str, object]:
        """By name."""
        return {
            "experts": self.experts.to_json(),
            "judge": self.judge.to_json(),
            "corrected": self.corrected.to_json(),
            "corrected_these_rows": self.corrected_these_rows.to_json(),
        }


@dataclass(frozen=True, slots=True)
class SystemStanding:
    """One system.

    Args:
        n: Its rows.
        labelled: Those that experts graded and that correct the judge.
        figures: By statistic.
    """

    n: int
    labelled: int
    figures: Mapping[str, SystemFigure]

    def to_json(self) -> dict[str, object]:
        """By name."""
        figures = {name: one.to_json() for name, one in self.figures.items()}
        return {"n": self.n, "labelled": self.labelled, **figures}


@dataclass(frozen=True, slots=True)
class SystemDifference:
    """What is between two systems.

    Args:
        a: One.
        b: The other; None: the mean of all others.
        difference: ``a`` less ``b``; the interval holds for all pairs together.
        p: That there is none, adjusted for all pairs (Holm); None where it is unknown.
        shown: The two are told apart.
    """

    a: str
    b: str | None
    difference: Estimate
    p: float | None
    shown: bool

    def to_json(self) -> dict[str, object]:
        """By name."""
        found = self.difference
        named = {"system": self.a} if self.b is None else {"a": self.a, "b": self.b}
        numbers = {"difference": found.value, "low": found.low, "high": found.high, "p": self.p, "shown": self.shown}
        return {**named, **numbers}


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """Which system is best, and how sure that is.

    Args:
        systems: By name, best first; those without a corrected value last.
        statistic: The one that differences, letters and needed are of.
        pairs: Of all systems, in the order of ``systems``.
        letters: By system; two that share one are not told apart.
        favours: By how much the judge's error on a system is above its mean error on the others.
        needed: About how many more labels of a system tell it from the first, more than it has rows where further
            queries are needed; None where the two are equal.
        weight: How far the judge is trusted, 0-1.
        notes: What to know about it.
        judge: Its name, where there are several.
        judges: What each judge needs, by name.
    """

    systems: Mapping[str, SystemStanding]
    statistic: str
    pairs: tuple[SystemDifference, ...]
    letters: Mapping[str, str]
    favours: tuple[SystemDifference, ...]
    needed: Mapping[str, int | None]
    weight: float
    notes: tuple[str, ...] = ()
    judge: str = ""
    judges: Mapping[str, Mapping[str, int | None]] = field(default_factory=dict)

    @property
    def beside(self) -> list[str]:
        """Systems that are not told apart from the first one."""
        first = next(iter(self.letters), "")
        apart = {pair.b for pair in self.pairs if pair.a == first and pair.shown}
        return [name for name in self.letters if name != first and name not in apart]

    @property
    def undecided(self) -> tuple[str, ...]:
        """The first system and those beside it, else all that are not told apart; and those with few labels."""
        few = [name for name in self.systems if name not in self.letters]
        open_ = {name for pair in self.pairs if not pair.shown and pair.b for name in (pair.a, pair.b)} - {*few}
        first = {*list(self.letters)[:1], *self.beside} if self.beside else open_
        return tuple(name for name in self.systems if name in first or name in few)

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        return {
            "systems": {name: one.to_json() for name, one in self.systems.items()},
            "statistic": self.statistic,
            "judge": self.judge,
            "judges": {name: {"needed": dict(needed)} for name, needed in self.judges.items()},
            "pairs": [one.to_json() for one in self.pairs],
            "letters": dict(self.letters),
            "favours": [one.to_json() for one in self.favours],
            "needed": dict(self.needed),
            "weight": self.weight,
            "notes": list(self.notes),
        }


def compare_systems(rows: SystemRows | PairRows, *, level: float = 0.95) -> SystemComparison:
    """Compare systems, paired by query.

    Args:
        rows: Of at least one system; the labelled rows of each are a random sample of its rows.
        level: Coverage of the intervals, and what a pair is told apart at.
    """
    return _Compared.of(rows, level).comparison()


def compare_judges(by_judge: Mapping[str, SystemRows | PairRows], *, level: float = 0.95) -> SystemComparison:
    """Compare systems by the one of several judges that needs the fewest labels: whose differences vary least.

    Args:
        by_judge: The same rows, with the grades of each judge.
        level: As in ``compare_systems``.
    """
    every = {name: _Compared.of(rows, level) for name, rows in by_judge.items()}
    name = min(every, key=lambda one: (every[one].spread, one))
    best = every[name]
    found = best.comparison()
    needed = {one: each.needed(best.main.corrected.value, best.order, found.pairs) for one, each in every.items()}
    return replace(found, judge=name, judges=needed)


@dataclass(frozen=True, slots=True)
class _Compared:
    """Systems by one judge."""

    rows: SystemRows
    found: Mapping[str, CorrectedMeans]
    refused: tuple[str, ...]
    games: PairRows | None

    @classmethod
    def of(cls, rows: SystemRows | PairRows, level: float) -> "_Compared":
        games = rows if isinstance(rows, PairRows) else None
        rows = (rows.rows if isinstance(rows, PairRows) else rows).without_chosen()
        cells = Cells.of(rows.query, rows.system, len(rows.names))
        found = {name: corrected_means(cells, one, level=level) for name, one in rows.measures.items()}
        return cls(rows, found, _refused(rows, next(iter(found.values()))), games)

    @property
    def main(self) -> CorrectedMeans:
        """The statistic that decides."""
        return next(iter(self.found.values()))

    @property
    def known(self) -> BoolArray:
        """Systems that have a corrected interval."""
        known: BoolArray = self.main.enough & np.array([not one for one in self.refused])
        return known

    @property
    def order(self) -> list[int]:
        """Systems, the best first; those without an interval last."""
        value = np.where(self.known, self.main.corrected.value, -np.inf)
        order: list[int] = np.lexsort((np.array(self.rows.names), -value)).tolist()
        return order

    @property
    def spread(self) -> float:
        """Mean variance of a difference; infinite without one."""
        variance = self.main.corrected.contrasts(differences(np.flatnonzero(self.known), len(self.rows.names)))[1]
        return float(variance.mean()) if len(variance) else float("inf")

    def needed(
        self, value: FloatArray, order: Sequence[int], pairs: Sequence[SystemDifference]
    ) -> dict[str, int | None]:
        """How many more labels tell the first from those that it is not told apart from, by system."""
        names, first = self.rows.names, order[0]
        open_ = [i for i, pair in zip(order[1:], pairs, strict=False) if not pair.shown]
        count = np.bincount(self.rows.system, minlength=len(names)).tolist()
        found = more_labels(self.main.corrected, value, count, open_, first, self.known)
        return {names[i]: found[i] for i in order if found.get(i, 0) != 0}

    def comparison(self) -> SystemComparison:
        """What is told of them."""
        names, order, main = self.rows.names, self.order, self.main
        count = np.bincount(self.rows.system, minlength=len(names))
        figures = {name: _figures(one, self.refused) for name, one in self.found.items()}
        if self.games is not None:
            figures |= _rated(self.games)
        two_by_two = differences(np.array(order), len(names))
        pairs = _told(names, main.corrected, two_by_two, self.known, against=True)
        needed = self.needed(main.corrected.value, order, pairs)
        return SystemComparison(
            systems={
                names[i]: SystemStanding(
                    int(count[i]), int(main.experts.n[i]), {name: one[i] for name, one in figures.items()}
                )
                for i in order
            },
            statistic=next(iter(self.found)),
            pairs=pairs,
            letters=_letters([names[i] for i in order if self.known[i]], pairs),
            favours=_told(names, main.error, _against_others(main), main.error.enough()),
            needed=needed,
            weight=main.weight,
            notes=tuple(self._notes(needed)),
        )

    def _notes(self, needed: Mapping[str, int | None]) -> Iterator[str]:
        """What to know, a system after the other."""
        rows, main = self.rows, self.main
        for i, name in enumerate(rows.names):
            n, queries = int(main.experts.n[i]), int(main.experts.queries[i])
            if self.refused[i]:
                yield f"{name} has no corrected value: {self.refused[i]}. Label a random sample of {name}."
            elif not main.enough[i]:
                more = max(MIN_LABELLED - n, MIN_LABELLED - queries)
                there = f"{plural(n, 'labelled row')} on {plural(queries, 'query', 'queries')}"
                yield (
                    f"{name} has {there}, too few for an interval ({MIN_LABELLED} on {MIN_LABELLED}). "
                    f"Label {more} more of {name}, on other queries."
                )
        without = np.bincount(rows.system, ~rows.labelled, len(rows.names))
        if short := [name for name, more in needed.items() if more and more > without[rows.names.index(name)]]:
            yield f"{', '.join(short)}: fewer rows without a label than labels that are needed. Add queries, too."
        differs, p = labelled_differ(rows)
        for i in np.flatnonzero(np.abs(differs) > DIFFERS).tolist():
            name, where = rows.names[i], "above" if differs[i] > 0 else "below"
            sure = "are no random sample" if p[i] <= CHANCE else f"may be no random sample (p {p[i]:.2f})"
            yield (
                f"The labels {sure} of {name}: the judge's mean of the labelled rows is "
                f"{abs(differs[i]):.2f} standard deviations {where} that of the others."
            )
        if alone := [rows.names[i] for i in np.flatnonzero(main.alone & self.known)]:
            yield f"Of {', '.join(alone)} the mean of the labels alone is printed: its interval is the narrower one."
        chosen = 0 if rows.chosen is None else int(rows.chosen.sum()) // (1 if self.games is None else 2)
        if chosen:
            yield f"{plural(chosen, 'label')} of rows that the judge was unsure of correct nothing: they were chosen."


def labelled_differ(rows: SystemRows) -> tuple[FloatArray, FloatArray]:
    """How far the judge's mean of a system's labelled rows lies from that of its others, in standard deviations.

    Returns:
        By system, the difference and the chance of one so large in a random sample; 0 and 1 where it is unknown.
    """
    scored, known = ~np.isnan(rows.judge), rows.labelled
    differs, p = np.zeros(len(rows.names)), np.ones(len(rows.names))
    for i in range(len(rows.names)):
        own = scored & (rows.system == i)
        labelled, others = rows.judge[own & known], rows.judge[own & ~known]
        sd = float(rows.judge[own].std()) if own.any() else 0.0
        if len(labelled) < MIN_LABELLED or len(others) < MIN_LABELLED or not sd:
            continue
        differs[i] = (labelled.mean() - others.mean()) / sd
        draws = len(np.unique(rows.query[own & known]))
        p[i] = 2.0 * special.ndtr(-abs(differs[i]) / np.sqrt(1.0 / draws + 1.0 / len(others)))
    return differs, p


def _refused(rows: SystemRows, main: CorrectedMeans) -> tuple[str, ...]:
    """Why the labels of a system cannot speak for its other rows, by system; empty where they can."""
    known, scored = rows.labelled, ~np.isnan(rows.judge)
    looks = int(main.enough.sum())
    return tuple(
        out_of_range(rows.judge[own & known], rows.judge[own & ~known], int(queries), looks=looks) if enough else ""
        for own, queries, enough in (
            (scored & (rows.system == i), main.experts.queries[i], main.enough[i]) for i in range(len(rows.names))
        )
    )


def _figures(found: CorrectedMeans, refused: Sequence[str]) -> list[SystemFigure]:
    """One a system."""
    figures = zip(
        found.experts.estimates(found.enough),
        found.judge.estimates(found.judge.queries >= MIN_CLUSTERS),
        found.corrected.estimates(found.enough),
        found.these_rows.estimates(found.enough),
        strict=True,
    )
    return [
        SystemFigure(
            experts,
            judge,
            *(Estimate(value=None, note=why or one.note) if why or one.low is None else one for one in corrected),
        )
        for (experts, judge, *corrected), why in zip(figures, refused, strict=True)
    ]


def _rated(games: PairRows) -> dict[str, list[SystemFigure]]:
    """Bradley-Terry ratings of each system; none without a vote."""
    votes = games.expert if games.chosen is None else np.where(games.chosen, np.nan, games.expert)
    if np.isnan(votes).all():
        return {}
    queries = tuple(map(str, range(int(games.query.max(initial=-1)) + 1)))
    found = corrected_ratings(Games(games.names, queries, games.a, games.b, games.query, games.judge), votes)
    nothing = Estimate(value=None, note="ratings are of games like these")
    return {
        RATING: [
            SystemFigure(voted, Estimate(value=(corrected.value or 0.0) + (error.value or 0.0)), corrected, nothing)
            for voted, error, corrected in zip(found.voted, found.error, found.corrected, strict=True)
        ]
    }


def _against_others(main: CorrectedMeans) -> FloatArray:
    """Weights of the judge's error on each system less its mean error on the others; of two, on the favoured one."""
    enough = main.error.enough()
    own = np.flatnonzero(enough)
    weights = (np.eye(len(enough)) * len(own) - 1.0) / max(len(own) - 1, 1)
    weights[:, ~enough] = 0.0
    if len(own) == 2:
        return weights[own[[int(main.error.value[own].argmax())]]]
    return weights[own] if len(own) > 2 else weights[:0]


def _told(
    names: Sequence[str], means: Means, weights: FloatArray, enough: BoolArray, *, against: bool = False
) -> tuple[SystemDifference, ...]:
    """Differences with intervals that hold together, Holm's p, and whether each is shown."""
    known = ~((weights != 0) @ ~enough)
    found = []
    for row, has, one, low, high, p in zip(
        weights, known.tolist(), *(one.tolist() for one in means.tested(weights, known)), strict=True
    ):
        limits = {"low": low, "high": high} if has else {"note": "too few labels for an interval"}
        plain = Estimate(value=None if np.isnan(one) else one, level=means.level, method=METHOD)
        a, b = names[int(row.argmax())], names[int(row.argmin())] if against else None
        shown = bool(has and p <= 1.0 - means.level)
        found.append(SystemDifference(a, b, plain.model_copy(update=limits), p if has else None, shown))
    return tuple(found)


def _letters(names: list[str], pairs: tuple[SystemDifference, ...]) -> dict[str, str]:
    """Compact letters: two systems share one where they are not told apart.

    Source: Piepho (2004), Journal of Computational and Graphical Statistics 13(2), insert and absorb.
    """
    groups = [frozenset(names)] if names else []
    for pair in pairs:
        if pair.shown and pair.b is not None:
            split = [part for one in groups for part in _split(one, pair.a, pair.b)]
            groups = [
                one for i, one in enumerate(split) if not any(one < other for other in split) and one not in split[:i]
            ]
    groups.sort(key=lambda one: sorted(names.index(name) for name in one))
    return {name: "".join(_letter(i) for i, one in enumerate(groups) if name in one) for name in names}


def _split(group: frozenset[str], a: str, b: str) -> list[frozenset[str]]:
    return [group - {a}, group - {b}] if a in group and b in group else [group]


def _letter(group: int) -> str:
    """Letters a to z, then aa, ab, ..."""
    return (_letter(group // len(LETTERS) - 1) if group >= len(LETTERS) else "") + LETTERS[group % len(LETTERS)]
