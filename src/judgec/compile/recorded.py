"""Chooses among recorded judges: all of them on train and dev together, out of fold, since asking them costs nothing.

Each judge's verdicts get a calibrator and a decision rule of their own, and what counts is the objective of the grades
that follow, each from folds without its query: a judge that uses its scale oddly can be the better one once compiled.
The judge that is best as it is stays, unless another one is clearly better then.
Evidence is left out of this and joins the winner. Two judges are compared on the items that both were asked about.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import dspy

from judgec.compile.assemble import Bench, bill_of, fitted, learned_part, rated_out_of_fold
from judgec.compile.choose import ChosenPrompt, ScoredCandidate
from judgec.compile.compared import LEAST, gain, in_common
from judgec.compile.dataset import Part, ratings_of
from judgec.compile.search.candidates import Candidate, as_it_was
from judgec.compile.settings import CompileSettings
from judgec.errors import UserError
from judgec.lm.watch import Watch
from judgec.raters.recorded import RECORDED_KIND, RecordedVerdicts
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.ratings import GradePairs, on_both
from judgec.report.numbers import objective_name
from judgec.stats.agreement.objective import Objective
from judgec.stats.intervals.jackknife import interval
from judgec.table.rows.columns import shortly

MOST_FITTED = 100  # judges that get a calibrator of their own; of more, the best as they are


@dataclass(frozen=True, slots=True)
class Rated:
    """A recorded judge on train and dev.

    Args:
        raw: Its verdicts.
        ratings: They beside the experts' labels.
        train: Its objective on train alone.
    """

    raw: Judgments
    ratings: GradePairs
    train: float

    @property
    def n(self) -> int:
        """Labels of items that it was asked about."""
        return int(self.ratings.labelled.sum())


def choose_recorded(
    bench: Bench, module: dspy.Module, settings: CompileSettings, objective: Objective, watch: Watch
) -> ChosenPrompt:
    """The judge whose verdicts are worth most once they are calibrated.

    Args:
        bench: With the recorded verdicts.
        module: What a judge of these labels looks like.
        settings: With ``baseline``, the judge to compare with; by default the one whose objective is the median.
        objective: Decides.
        watch: Told what happens.

    Raises:
        UserError: No judge has enough labels to learn from, or the baseline is not among them.
    """
    recorded = bench.recorded
    assert recorded is not None  # the caller has looked
    part = learned_part(bench)
    watch.stage(
        "search", f"{len(recorded.judges)} recorded judges, on train and dev, by {objective_name(objective.name)}"
    )
    rated = {name: _rated(bench, name, part, objective) for name in recorded.judges}
    usable = {name: one for name, one in rated.items() if one.n >= LEAST and _grades(one.ratings) > 1}
    notes = []
    if few := [f"{name} ({rated[name].n})" for name in rated if name not in usable]:
        notes.append(
            f"judges with too few labels in train and dev, or one grade only, are not compared: {shortly(few)}"
        )
    if not usable:
        raise UserError(
            f"{recorded.path}: no judge has {LEAST} labels of two grades in train and dev, the most are "
            f"{max(one.n for one in rated.values())}. Label more items, or record more verdicts."
        )
    rivals = {name: one for name, one in usable.items() if name not in settings.compiled_names} or usable
    named = settings.baseline
    named = as_it_was(named) if named is not None and named in settings.compiled_names else named
    baseline = _baseline(rivals, named, recorded)
    gains, apart = _gains({name: one.ratings for name, one in usable.items()}, baseline, objective)
    if apart:
        notes.append(
            f"judges with fewer than {LEAST} items in common with {baseline} are not compared: {shortly(apart)}"
        )
    best = max(gains, key=lambda name: gains[name])
    alone = max((name for name in gains if name in rivals), key=lambda name: gains[name])
    tried = sorted(gains, key=lambda name: -gains[name])[:MOST_FITTED]
    if left := len(gains) - len(tried):
        notes.append(f"not calibrated: {plural(left, 'judge')} that agree least with the experts uncalibrated")
    without = replace(bench, evidence=None)
    calibrated = {}
    for name in tried:
        raw, candidate = rated[name].raw, candidate_of(bench, name, module)
        calibrated[name] = rated_out_of_fold(bench, fitted(without, candidate, part, raw), part, raw)
    chosen = _best_calibrated(calibrated, best, objective)
    if chosen != best:
        notes.append(f"{best} agrees best uncalibrated; {chosen} agrees better once both are calibrated")
    if chosen != baseline:
        shared = in_common(usable[chosen].ratings, usable[baseline].ratings)
        notes.append(f"{chosen} and {baseline} were both asked about {shared:,} labels of train and dev")
    scored = tuple(
        scored_candidate(
            candidate_of(bench, name, module),
            recorded,
            one.raw,
            one.ratings,
            objective,
            settings,
            calibrated.get(name),
        )
        for name, one in usable.items()
    )
    return ChosenPrompt(
        chosen=candidate_of(bench, chosen, module),
        fitted=None,
        scored=scored,
        notes=tuple(notes),
        uncompiled=candidate_of(bench, baseline, module),
        alone=candidate_of(bench, alone, module),
    )


def candidate_of(bench: Bench, name: str, module: dspy.Module) -> Candidate:
    """A recorded judge as a candidate."""
    assert bench.recorded is not None  # the caller has looked
    facts: dict[str, str | int] = {"kind": RECORDED_KIND, "judge": name}
    if model := bench.recorded.judges[name].model:
        facts["model"] = model
    return Candidate(name, module, settings=facts, rater=bench.leaves[name])


def _rated(bench: Bench, name: str, part: Part, objective: Objective) -> Rated:
    assert bench.recorded is not None  # the caller has looked
    raw = bench.recorded.judgments(name, [item.item_id for item in part.items])
    n_train = len(bench.dataset.train)
    train = ratings_of(bench.dataset, bench.dataset.train, raw.subset(range(n_train)))
    return Rated(raw, ratings_of(bench.dataset, part, raw), objective.value(train))


def _grades(ratings: GradePairs) -> int:
    """Number of different grades that experts gave to items that the judge scored."""
    known = ratings.target[ratings.judge != UNSCORED]
    return len(set(known[known >= 0].tolist()))


def _baseline(rated: Mapping[str, Rated], asked: str | None, recorded: RecordedVerdicts) -> str:
    """The judge that was named, or the one whose objective on train is the median, of two the lower."""
    if asked is None:
        order = sorted(rated, key=lambda name: (rated[name].train, name))
        return order[(len(order) - 1) // 2]
    recorded.require(asked)
    if asked not in rated:
        raise UserError(f"--baseline {asked}: too few labels in common with {recorded.path}. Name another judge.")
    return asked


def _gains(
    ratings: Mapping[str, GradePairs], baseline: str, objective: Objective
) -> tuple[dict[str, float], list[str]]:
    """Gain of each judge over the baseline on the items of both; and the judges that share too few with it."""
    gains, apart = {}, []
    for name, own in ratings.items():
        if in_common(own, ratings[baseline]) < LEAST:
            apart.append(name)
            continue
        one, other = on_both(own, ratings[baseline])
        gains[name] = objective.value(one) - objective.value(other)  # an undefined one counts as 0
    return gains, apart


def _best_calibrated(rated: Mapping[str, GradePairs], incumbent: str, objective: Objective) -> str:
    """The judge that ships: the one that is best as it is, or whoever is worth clearly more once all are calibrated.

    Clearly is a paired out-of-fold gain of more than one standard error (jackknife over queries) on the items of both;
    of several the largest gain wins. It is the rule by which a decision rule replaces the raw verdict.
    """
    best = (0.0, incumbent)
    for name, own in rated.items():
        if name == incumbent or in_common(own, rated[incumbent]) < LEAST:
            continue
        better = gain(own, rated[incumbent], objective)
        if better.clear and better.value > best[0]:
            best = better.value, name
    return best[1]


def best_single(
    raw: Mapping[str, GradePairs], calibrated: Mapping[str, GradePairs], baseline: str, objective: Objective
) -> str:
    """The judge that ``choose_recorded`` takes where these are all the items.

    Args:
        raw: Each judge as it is.
        calibrated: Of the same judges, once they are calibrated.
        baseline: Whom they are compared with; who ships where too few items are left to compare.
        objective: Decides.
    """
    gains, _ = _gains(raw, baseline, objective)
    alone = max(gains, key=lambda name: gains[name], default=baseline)
    return _best_calibrated(calibrated, alone, objective)


def scored_candidate(
    candidate: Candidate,
    recorded: RecordedVerdicts,
    raw: Judgments,
    ratings: GradePairs,
    objective: Objective,
    settings: CompileSettings,
    calibrated: GradePairs | None,
) -> ScoredCandidate:
    """Scores verdicts as they are, and their cost.

    Args:
        candidate: Whose they are; ``recorded`` has its name.
        recorded: All verdicts.
        raw: The candidate's, on train and dev.
        ratings: They beside the experts' labels.
        objective: What they are worth.
        settings: Of the interval.
        calibrated: Grades out of fold once they are calibrated, beside the experts' labels; None where nobody fitted.
    """
    assert candidate.rater is not None  # ``candidate_of`` and panels say whose verdicts they are
    calls, asked, dollars = bill_of(candidate.rater, recorded, raw.item_ids)
    return ScoredCandidate(
        candidate,
        objective.value(ratings),
        int((ratings.labelled & (ratings.judge == UNSCORED)).sum()),
        int(ratings.labelled.sum()),
        estimate=worth_of(ratings, objective, settings),
        cost_usd=dollars,
        calls=calls,
        asked=asked,
        worth=None if calibrated is None else worth_of(calibrated, objective, settings),
        rated=calibrated,
    )


def worth_of(rated: GradePairs, objective: Objective, settings: CompileSettings) -> Estimate:
    """The objective of a judge with its interval.

    Args:
        rated: Its grades beside the experts' labels.
        objective: What they are worth.
        settings: Of the interval.
    """
    found = interval(objective.statistic(rated), resamples=settings.resamples, seed=settings.seed)
    return found.estimate(int(rated.labelled.sum()))
