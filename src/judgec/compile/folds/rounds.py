"""One round of a compile: choose a prompt and calibrate it on train and dev, and judge the round's test items."""

from dataclasses import dataclass, replace

from judgec.compile.assemble import Bench, Fitted, calibrated, evidence_only
from judgec.compile.cascades import MadeCascade, make_cascade
from judgec.compile.choose import ChosenPrompt
from judgec.compile.dataset import Dataset
from judgec.compile.folds.parts import Parts
from judgec.compile.leaves import leaves_of
from judgec.compile.panels import choose_panel
from judgec.compile.recorded import choose_recorded
from judgec.compile.search.candidates import Candidate
from judgec.compile.search.plan import CallPlan
from judgec.compile.search.registry import Optimizer
from judgec.compile.search.search import choose_prompt
from judgec.compile.settings import CompileSettings
from judgec.compile.verify import COMPILED_SINGLE, judge_test
from judgec.errors import UserError
from judgec.evidence.model import EvidenceModel
from judgec.lm.session import Session
from judgec.lm.watch import Watch
from judgec.records.counts import plural
from judgec.records.judgment import Judgments
from judgec.records.language import languages_of
from judgec.stats.agreement.objective import Objective


@dataclass(frozen=True, slots=True)
class Round:
    """Result of a round.

    Args:
        bench: Its data, with evidence fitted on its train items.
        choice: Its prompt, and every candidate.
        judge: With that prompt, calibrated.
        judged: The test items by each judge; empty where the round tests nothing.
        bare: The test items by the uncompiled prompt with a calibrator of its own.
        cascade: What came of two judges one after the other, where somebody asked for it.
    """

    bench: Bench
    choice: ChosenPrompt
    judge: Fitted
    judged: dict[str, Judgments]
    bare: Judgments | None
    cascade: MadeCascade | None = None

    def without_ratings(self) -> "Round":
        """The same without the grades of every judge that was compared."""
        return replace(self, choice=self.choice.without_ratings())

    def with_cascade(self) -> "Round":
        """The same with the cascade as its judge, and the strong judge alone beside it."""
        made = self.cascade
        assert made is not None  # the caller has looked
        scored = (*self.choice.scored, made.scored)
        choice = replace(self.choice, chosen=made.candidate, fitted=made.judge, scored=scored, panel=None)
        judged = dict(self.judged)
        if made.tested is not None:
            test = made.tested
            judged |= {"compiled_prompt": test.raw, COMPILED_SINGLE: test.strong, "compiled": test.whole}
        return replace(self, choice=choice, judge=made.judge, judged=judged)


def bench_of(dataset: Dataset, settings: CompileSettings, session: Session, objective: Objective) -> Bench:
    """The parts that all judges of a round share, with evidence fitted on its train items."""
    labels, evidence = dataset.labels, None
    if settings.evidence:
        evidence = EvidenceModel.fit(dataset.train.items, labels.task, languages_of(labels.items))
    return Bench(
        dataset,
        session.finish,
        evidence,
        settings.seed,
        no_model=settings.no_model,
        objective=objective,
        recorded=settings.rated.recorded,
        leaves=leaves_of(settings, labels),
        lm={} if settings.lm.members else settings.lm.describe(),
    )


@dataclass(frozen=True, slots=True)
class Compiling:
    """The parts that all rounds of a compile share; ``tested`` is the number of queries that they test together."""

    uncompiled: Candidate
    settings: CompileSettings
    session: Session
    optimizer: Optimizer
    objective: Objective
    watch: Watch
    tested: int

    def round(self, dataset: Dataset, plan: CallPlan, of: str = "") -> Round:
        """Choose, calibrate and test.

        Args:
            dataset: The round's.
            plan: What it may take, and what it must leave to the rounds after it.
            of: Which round it is, for the watch; empty with the single split.
        """
        settings, labels = self.settings, dataset.labels
        bench = bench_of(dataset, settings, self.session, self.objective)
        if settings.rated.recorded is not None:
            choice = choose_recorded(bench, self.uncompiled.module, settings, self.objective, self.watch)
            if settings.combine.panel is not None:
                choice = choose_panel(bench, choice, settings, self.objective, self.watch)
        elif settings.no_model:
            choice = ChosenPrompt(self.uncompiled, evidence_only(bench, self.uncompiled), (), ())
        else:
            choice = choose_prompt(
                bench, self.uncompiled, settings, self.session, plan, self.optimizer, self.objective, self.watch
            )
        uncompiled = choice.uncompiled or self.uncompiled
        self.watch.stage("calibrate", f"{'evidence' if settings.no_model else f'prompt {choice.chosen.name}'}{of}")
        judge = calibrated(bench, choice.chosen, choice.fitted)
        if settings.no_model and judge.asks_lm:
            missing = ", ".join(name for name in labels.aspects if name not in judge.calibrators)
            raise UserError(
                f"{missing}: no label of it falls into train or dev, and nobody else would grade it; labels or a model "
                "that is asked are needed. Label more items, or name a model with --lm."
            )
        cascade = None
        if settings.combine.cascade is not None:
            module, chosen = self.uncompiled.module, choice.chosen
            cascade = make_cascade(bench, module, chosen, settings, self.objective, self.watch, self.tested)
        if not dataset.test.items:
            return Round(bench, choice, judge, {}, None, cascade)
        self.watch.stage("verify", f"{plural(len(dataset.test), 'test item')}{of}")
        judged, bare = judge_test(bench, judge, choice.chosen, uncompiled, choice.alone, choice.panel)
        return Round(bench, choice, judge, judged, bare, cascade)


def pooled_judgments(parts: Parts, rounds: list[Round]) -> tuple[dict[str, Judgments], Judgments]:
    """Every test item as each judge of its round judged it, and as the uncompiled prompt, calibrated, did."""
    names = rounds[0].judged
    bare = parts.pool([one.bare for one in rounds if one.bare is not None])
    return {name: parts.pool([one.judged[name] for one in rounds]) for name in names}, bare
