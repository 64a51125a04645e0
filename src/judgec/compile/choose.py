"""Chooses the prompt: an optimizer proposes candidates within the budget, a race on dev decides."""

from dataclasses import dataclass, field, replace

from judgec.compile.assemble import Bench, Fitted, calibration_data, everything_asked, fitted
from judgec.compile.search.candidates import Candidate, instructed
from judgec.compile.search.plan import CallPlan
from judgec.compile.search.race import RaceStanding
from judgec.compile.search.registry import Optimizer
from judgec.compile.search.task import Task
from judgec.compile.settings import CompileSettings
from judgec.lm.session import Session
from judgec.lm.watch import Noting, Watch
from judgec.raters.pool import MEAN
from judgec.raters.tree import Mean
from judgec.records.estimate import Estimate
from judgec.records.judgment import Judgments
from judgec.records.ratings import GradePairs
from judgec.report.numbers import objective_name
from judgec.stats.agreement.objective import Objective
from judgec.stats.intervals.paired_gain import PairedGain

SINGLE = "single"  # the kind of a panel that was not better than the best single judge


@dataclass(frozen=True, slots=True)
class ScoredCandidate:
    """A candidate and its objective on dev.

    Args:
        candidate: The prompt.
        dev: The objective on the dev items that it ran on before it lost, or on all.
        unscored: How many of these it left unscored.
        items: How many these were.
        estimate: Of a recorded judge, the same as an estimate, on train and dev.
        cost_usd: Of a recorded judge, what its verdicts on these items cost; None where nobody knows.
        calls: Of a recorded judge, how often it was asked about the items of train and dev.
        asked: About how many of them.
        worth: Of a recorded judge, its objective once it is calibrated, out of fold on train and dev.
        rated: The grades that ``worth`` is of, beside the experts' labels.
        members: Of a panel, its members.
    """

    candidate: Candidate
    dev: float
    unscored: int
    items: int
    estimate: Estimate | None = None
    cost_usd: float | None = None
    calls: float = 0.0
    asked: int = 0
    worth: Estimate | None = None
    rated: GradePairs | None = field(default=None, repr=False)
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PanelSize:
    """Cost and agreement of a panel of a given size.

    Args:
        members: How many judges.
        calls_per_item: How often they are asked about an item.
        usd_per_1000: US dollars for a thousand items, as recorded; None where nobody knows.
        worth: The objective out of fold on train and dev; members and cut points are those of the other folds.
        error: Its standard error, clustered by query; None where it is undefined.
        below_best: How much more the best size is worth, on the items of both.
        chosen: It ships.
    """

    members: int
    calls_per_item: float
    usd_per_1000: float | None
    worth: Estimate
    error: float | None
    below_best: PairedGain
    chosen: bool = False

    def to_json(self) -> dict[str, object]:
        """A row of the report's ``panel.curve``."""
        below = {"value": self.below_best.value, "standard_error": self.below_best.error}
        return {
            "members": self.members,
            "calls_per_item": self.calls_per_item,
            "usd_per_1000": self.usd_per_1000,
            "objective": self.worth.to_json() | {"standard_error": self.error},
            "below_best": below,
            "chosen": self.chosen,
            "n": self.worth.n,
        }


@dataclass(frozen=True, slots=True)
class ChosenPanel:
    """Result of the search for a panel of recorded judges.

    Args:
        panel: What ships; None where it is the best single judge.
        incumbent: That judge.
        single: The same, calibrated, with evidence.
        curve: Of ``--panel auto``, the sizes that were compared; else empty.
    """

    panel: Mean | None
    incumbent: Candidate
    single: Fitted
    curve: tuple[PanelSize, ...] = ()

    @property
    def kind(self) -> str:
        """``mean`` or ``single``."""
        return SINGLE if self.panel is None else MEAN

    @property
    def members(self) -> tuple[str, ...]:
        """The judges whose verdicts are needed."""
        return (self.incumbent.name,) if self.panel is None else self.panel.members


@dataclass(frozen=True, slots=True)
class ChosenPrompt:
    """The prompt that was chosen, every candidate that ran, and what the user should know.

    Args:
        chosen: The prompt.
        fitted: The judge with it as ``assemble.fitted`` makes it, where choosing took one, or None.
        scored: Every candidate.
        notes: For the user.
        uncompiled: Of recorded judges, the one to compare with; None where that is the task's own prompt.
        alone: Of recorded judges, the best one as it is, out of fold; else None.
        panel: Of recorded judges, what came of looking for a panel; None where nobody asked for one.
    """

    chosen: Candidate
    fitted: Fitted | None
    scored: tuple[ScoredCandidate, ...]
    notes: tuple[str, ...]
    uncompiled: Candidate | None = None
    alone: Candidate | None = None
    panel: ChosenPanel | None = None

    def without_ratings(self) -> "ChosenPrompt":
        """The same for a fold that does not ship: without every judge's grades, which fill memory."""
        return replace(self, scored=tuple(replace(one, rated=None) for one in self.scored))


def choose_prompt(
    bench: Bench,
    uncompiled: Candidate,
    settings: CompileSettings,
    session: Session,
    plan: CallPlan,
    optimizer: Optimizer,
    objective: Objective,
    watch: Watch,
) -> ChosenPrompt:
    """Search for a prompt that ranks dev better, and leave the caps room for calibrating and testing it.

    Args:
        bench: Labels, scale, and the way to judge what must be judged.
        uncompiled: The judge as it is.
        settings: What was asked for.
        session: The models and the caps.
        plan: What must be kept back.
        optimizer: Proposes.
        objective: Decides.
        watch: Told what happens.
    """
    watch.stage("baselines", "the uncompiled judge on train")
    verdicts = bench.raw(uncompiled, bench.dataset.train)
    watch.stage("search", f"{settings.optimizer}, on dev, by {objective_name(objective.name)}")
    notes = Noting(watch)
    standings: dict[str, tuple[Candidate, RaceStanding]] = {}
    task = Task(
        module=uncompiled.module,
        train=bench.dataset.train,
        dev=bench.dataset.dev,
        verdicts=verdicts,
        scale=bench.scale,
        accept_only=bench.dataset.labels.accept_only,
        objective=objective,
        ask=session.ask,
        lm=session.lm,
        reflection=session.reflection,
        no_reflection=settings.no_reflection,
        room=lambda: session.room(plan.usd_a_call),
        seed=settings.seed,
        watch=notes,
        standings=standings,
        own=instructed(uncompiled.module, settings.prompts),
    )
    with session.keeping_back(plan.kept_back, plan.kept_back_usd):
        chosen = _winner(task, uncompiled, optimizer, notes) if plan.searches else uncompiled
        if not plan.searches:
            why = f"the caps leave {task.room()} calls for one" if len(task.dev) else "no label falls into dev"
            notes.note(f"no search: {why}; the judge is calibrated as it is")
    if not standings:
        standings[uncompiled.name] = (uncompiled, _standing(task, bench.raw(uncompiled, task.dev)))
    if settings.batch and chosen.name != uncompiled.name:
        watch.stage("batch", f"prompt {chosen.name} on what calibrates and tests it")
        session.together(lambda ask: everything_asked(replace(bench, ask=ask), chosen), bench.ask)
    judge = None if chosen.name == uncompiled.name else _informed(bench, chosen, uncompiled)
    if chosen.name != uncompiled.name and judge is None:
        notes.note(
            f"prompt {chosen.name} won on dev but, once calibrated, agrees less than the uncompiled one: not used"
        )
        chosen = uncompiled
    scored = tuple(ScoredCandidate(one, at.value, at.unscored, at.items) for one, at in standings.values())
    return ChosenPrompt(chosen, judge, scored, tuple(notes.said))


def _winner(task: Task, uncompiled: Candidate, optimizer: Optimizer, notes: Noting) -> Candidate:
    found = [uncompiled, *task.own, *optimizer.search(task)]
    raced = task.race(found)
    if raced.stopped:
        notes.note(f"the race was cut short: {raced.stopped}")
    return found[raced.chosen]


def _informed(bench: Bench, chosen: Candidate, uncompiled: Candidate) -> Fitted | None:
    """The chosen prompt, calibrated, if it agrees with the experts at least as well as the uncompiled one does.

    A prompt can rank dev better as it is and still carry less that a calibrator and a decision rule can use. Both
    judges are cross-validated on the same items, none of which the prompt was made from; their verdicts are needed
    anyway.
    """
    part, raw = calibration_data(bench, chosen)
    mine, bare = (
        fitted(bench, one, part, said) for one, said in ((chosen, raw), (uncompiled, bench.raw(uncompiled, part)))
    )
    return mine if _worth(mine) >= _worth(bare) else None


def _worth(judge: Fitted) -> float:
    """Mean out-of-fold objective of the aspects; 0 where nothing could be cross-validated."""
    values = [choice.value or 0.0 for one in judge.calibrators.values() for choice in one.choices if choice.chosen]
    return sum(values) / len(values) if values else 0.0


def _standing(task: Task, raw: Judgments) -> RaceStanding:
    return RaceStanding(task.value(task.dev, raw), len(task.dev), int((~raw.scored).sum()))
