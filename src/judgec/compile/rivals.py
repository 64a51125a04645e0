"""Finds and measures what the compiled judge has to beat: the champion, or without one the best baseline."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from judgec.compile.dataset import Dataset, ratings_of
from judgec.compile.family_state import FamilyState, family_state
from judgec.compile.held_out import NOT_SAVED, saved_judgments
from judgec.compile.pair_columns import LONGEST
from judgec.compile.promote import Decision, decide
from judgec.compile.settings import CompileSettings
from judgec.compile.verify import BEST_ALONE, COMPILED_SINGLE, Verification
from judgec.errors import JudgecError, ServiceError, UserError
from judgec.labels.labels import item_digest
from judgec.labels.split.memory import measured_by
from judgec.lm.executor import Ask
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.raters import programs
from judgec.raters.asking import SERVICE_ERROR
from judgec.raters.judge import JudgeTree, load_judge
from judgec.raters.pool import merged
from judgec.raters.programs import Program
from judgec.raters.rate import rate_all
from judgec.raters.rater import Count, RecordedRater
from judgec.raters.recorded import RECORDED_KIND
from judgec.raters.run import Bound
from judgec.records.card import ProgramCard
from judgec.records.judgment import Judgments
from judgec.records.label import Item, LabelSet
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.objective import parse_objective
from judgec.table.rows.columns import listed

BASELINES = ("majority", "evidence_only", "uncompiled", BEST_ALONE, LONGEST)  # rivals where there is no champion


def standing_of(dataset: Dataset, settings: CompileSettings) -> FamilyState:
    """The family as it stands on disk, and which use of the test queries a compile of these labels is."""
    measured = measured_by(dataset.labels, settings.source)
    return family_state(settings.home, settings.name, dataset.test.items, measured)


def new_to_champion(dataset: Dataset, settings: CompileSettings) -> tuple[JudgeTree, LMSpec, list[Item]] | None:
    """The champion, its model, and the test items that it is asked about: those that it was not tested on.

    None without a champion that is asked.
    """
    champion = programs.aliases(settings.home, settings.name).get(programs.CHAMPION)
    if champion is None:
        return None
    try:
        program = programs.load(settings.home, f"{settings.name}@{champion}")
        same = _comparable(program.card, dataset.labels, settings.objective)
        if _looked_up(program.card, settings) or not same or not program.tree:
            return None
        judge, spec = load_judge(program), programs.model_of(program.card, asks=False)
    except JudgecError:
        return None  # the decision says why it could not be measured
    return judge, spec, [dataset.test.items[i] for i in _kept(program, dataset.test.items)[1]]


def _looked_up(card: ProgramCard, settings: CompileSettings) -> bool:
    """True where a version's verdicts on new items were recorded, and nobody is asked."""
    return card.settings.get("kind") == RECORDED_KIND and settings.candidates.recorded is not None


def _kept(program: Program, items: Sequence[Item]) -> tuple[Judgments, list[int]]:
    """What a version said of items when it was tested, and the rows of those that are new to it."""
    judged = saved_judgments(program.report, items, program.card)
    return judged, [i for i, reason in enumerate(judged.unscored) if reason == NOT_SAVED]


@dataclass(frozen=True, slots=True)
class PromotionTest:
    """All that the decision depends on but the family's standing, so that it can be taken again.

    Args:
        dataset: Labels and split.
        verification: All judges on the test split.
        settings: What was asked for.
        session: The way to the language models.
        refusal: Why the judge must not be promoted whatever the numbers say, or empty.
        evidence_alone: The compiled judge asks nothing: it is the judge of evidence alone, not its rival.
        unread: Why there is no gain to report: too many verdicts of a baseline could not be read; or empty.
    """

    dataset: Dataset
    verification: Verification
    settings: CompileSettings
    session: Session = field(repr=False)
    refusal: str = ""
    evidence_alone: bool = False
    unread: str = ""

    def standing(self) -> FamilyState:
        """The family as it stands on disk."""
        return standing_of(self.dataset, self.settings)

    def decide(self, standing: FamilyState) -> Decision:
        """Compare the compiled judge with its rivals."""
        settings = self.settings
        baselines = _baselines(self.verification, evidence_alone=self.evidence_alone)
        rivals, refusal = self._rivals(standing.champion)
        found = decide(
            self.verification.ratings["compiled"],
            rivals,
            parse_objective(settings.objective),
            test_use=standing.test_use,
            majority=self.verification.ratings["majority"],
            table=baselines | self._forms(),
            nominal=self.dataset.labels.scale.level == "nominal",
            refusal=self.refusal or refusal,
        )
        return found.without_gain(self.unread) if self.unread else found

    def _forms(self) -> dict[str, GradePairs]:
        """Further rows of its table: itself without a calibrator, and beside a panel the best single judge, compiled.

        Both are forms of the judge and nothing that was there before it, so neither is a rival; but it is not called
        better without a word where one of them stands above it.
        """
        ratings = self.verification.ratings
        return {name: ratings[name] for name in ("compiled_prompt", COMPILED_SINGLE) if name in ratings}

    def _rivals(self, champion: int | None) -> tuple[dict[str, GradePairs], str]:
        """The champion's test judgments: those saved with it, and where items are new, its own model's.

        Without a champion the baselines; and why nothing may be promoted over these, or empty.
        """
        baselines = _baselines(self.verification, evidence_alone=self.evidence_alone)
        if champion is None:
            return baselines, ""
        name = f"{self.settings.name}@{champion}"
        labels, test = self.dataset.labels, self.dataset.test
        try:
            program = programs.load(self.settings.home, name)
            card = program.card
            if not _comparable(card, labels, self.settings.objective):
                grades = (
                    f"{card.task} on {', '.join(map(str, card.scale.grades))}, accepted from {card.scale.accept_at}"
                )
                seen = f"the champion {name} judges {grades}, so the two cannot be compared"
                return baselines, f"{seen}: give this judge another --name"
            judged, missing = _kept(program, test.items)
            if missing and not program.tree:
                return baselines, ""  # of before there were trees: nobody can ask it any more
            if missing:
                fresh = self._judged(program, [test.items[i] for i in missing])
                if failed := sum((reason or "").startswith(SERVICE_ERROR) for reason in fresh.unscored):
                    raise ServiceError(f"{card.lm.get('model')} failed on {failed} test items. Compile again later.")
                judged = merged(judged, fresh, np.array(missing))
        except JudgecError as error:
            return baselines, f"the champion {name} could not be measured beside it: {error}"
        return {"champion": ratings_of(self.dataset, test, judged)}, ""

    def _judged(self, program: Program, items: Sequence[Item]) -> Judgments:
        """Judgments of the champion on items that it was not tested on: from its own model, or as recorded."""
        judge, recorded = load_judge(program), self.settings.candidates.recorded
        if not judge.asks_lm:
            return judge.graded(items, None)
        if recorded is not None and _looked_up(program.card, self.settings):
            if lost := [leaf.name for leaf in judge.leaves if leaf.name not in recorded.judges]:
                seen = f"it is made of {listed(lost)}, of which these verdicts have nothing"
                raise UserError(f"{seen}. Add theirs, or give this judge another --name.")
            run = judge.run(lambda leaf: RecordedRater(recorded, leaf.name, Count()))
            return rate_all(Bound(judge.rater, run), items)
        return judge.judge(items, _own_model(program.card, self.session))


def _comparable(card: ProgramCard, labels: LabelSet, objective: str) -> bool:
    """True if a version's grades mean what these labels' grades mean."""
    same_threshold = card.scale.accept_at == labels.scale.accept_at or not parse_objective(objective).needs_accept
    same = (card.task, card.aspects, card.scale.grades) == (labels.task, labels.aspects, labels.scale.grades)
    return same and same_threshold


def _baselines(verification: Verification, *, evidence_alone: bool) -> dict[str, GradePairs]:
    """The judges that were there without this compile, with a language model or without.

    Its own prompt without a calibrator is none of them: which of the two ships is decided out of fold, before the test.
    The recorded judge that was best alone is the compiled judge where its verdicts pass unchanged, not its rival, and
    so is evidence alone where that is what ships. An uncompiled judge that is the compiled one is its rival: then
    compiling brought nothing; and so is evidence alone that grades as a judge with a prompt does: then the prompt
    brought nothing. A judge of preferences has to beat the longer answer, too.
    """
    ratings = verification.ratings
    names = [name for name in BASELINES if name in ratings]
    if BEST_ALONE in names and _same(ratings[BEST_ALONE], ratings["compiled"]):
        names.remove(BEST_ALONE)
    if evidence_alone and "evidence_only" in names:
        names.remove("evidence_only")
    return {name: ratings[name] for name in names}


def _same(one: GradePairs, other: GradePairs) -> bool:
    return np.array_equal(one.judge, other.judge) and np.array_equal(one.judge_accept, other.judge_accept)


def judgments_table(items: Sequence[Item], judged: Judgments, *, whole: bool = False) -> dict[str, object]:
    """The test judgments that ``report.json`` keeps, by digest of the item: enough to compare versions later.

    Args:
        items: That were judged.
        judged: The judgments.
        whole: Keep all of each: out of fold they stand for the judge's own, since it has learned from the items.
    """
    more = [_details(judged, i) if whole else {} for i in range(len(items))]
    return {
        item_digest(item): {
            "grade": judged.grade[i].tolist(),
            "accept": judged.accept[i].tolist(),
            "score": [None if np.isnan(score) else score for score in judged.score[i].tolist()],
            "unscored": judged.unscored[i],
            **more[i],
        }
        for i, item in enumerate(items)
    }


def _details(judged: Judgments, i: int) -> dict[str, object]:
    known = bool(np.isfinite(judged.probabilities[i]).all() and np.isfinite(judged.confidence[i]).all())
    return {
        "probabilities": judged.probabilities[i].tolist() if known else None,
        "confidence": judged.confidence[i].tolist() if known else None,
        "rationale": judged.rationale[i],
    }


def _own_model(card: ProgramCard, session: Session) -> Ask:
    """The way to the model that a judge was compiled for.

    An endpoint is never taken from a card: only the one that this run was given, where the card names the same.
    """
    endpoint = card.lm.get("api_base")
    if endpoint not in {None, session.spec.api_base}:
        raise ServiceError(
            f"{card.lm.get('model')} was asked at {endpoint}, and some test items are new to it; this run has "
            f"--api-base {session.spec.api_base}. Judge with that endpoint, or give this judge another --name."
        )
    spec = programs.model_of(card, api_base=None if endpoint is None else session.spec.api_base)
    same = spec.describe() == session.settled(session.spec).describe()
    return session.ask_whole if same else session.other_whole(spec)
