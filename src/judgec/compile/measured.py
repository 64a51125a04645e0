"""Measures what a compile has made on the test items of all its splits, and decides about it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from judgec.compile.assemble import Fitted
from judgec.compile.cascades import CascadeFound
from judgec.compile.choose import Choice
from judgec.compile.costs import judge_costs
from judgec.compile.dataset import Dataset, ratings_of
from judgec.compile.family_state import FamilyState
from judgec.compile.made import Made
from judgec.compile.pair_columns import LONGEST, follows_length
from judgec.compile.parts import Parts
from judgec.compile.promote import Decision
from judgec.compile.rated import Rated
from judgec.compile.rivals import PromotionTest
from judgec.compile.search.candidates import Candidate
from judgec.compile.settings import JURY_KIND, PROMPT, CompileSettings
from judgec.compile.verify import BEST_ALONE, COMPILED_SINGLE, NO_PROMPT, Verification, verify
from judgec.compile.winner import difference
from judgec.labels.split.family import read_family
from judgec.lm.adapters import CHAT
from judgec.lm.session import Session
from judgec.raters import programs
from judgec.raters.judge import JudgeTree
from judgec.raters.replies import is_unread
from judgec.records.card import ProgramCard, Setting
from judgec.records.cost import JudgeCost
from judgec.records.estimate import Estimate
from judgec.records.label import LabelSet
from judgec.records.tasks.registry import compares
from judgec.stats.agreement.difference import differences

MOST_UNREAD = 0.05  # share of the baseline's verdicts that may be unreadable where a gain over it counts


@dataclass(frozen=True)
class Compiled:
    """Everything a compile found out.

    Args:
        dataset: Labels and split.
        judge: The compiled judge.
        shipped: The candidate that it is made of.
        choice: The candidates.
        made: What was made of several of them.
        verification: All judges on the test split.
        prompt_gain: Compiled minus uncompiled, both calibrated: what the prompt alone brought.
        decision: Whether it was promoted.
        notes: What came up on the way.
        promotion_test: How it was decided; decided again when another compile finishes first.
        standing: The test use, and the champion it was compared with.
        combined: What came of a pool or a cascade, ``panel`` or ``cascade`` of the report; empty where nobody asked.
        costs: What each judge that could have shipped costs, and what it is worth.
        folds: The candidate that each fold shipped, where there are several.
        earlier: The version that this compile had made before, or None.
    """

    dataset: Dataset
    judge: Fitted
    shipped: Candidate
    choice: Choice
    made: tuple[Rated, ...]
    verification: Verification
    prompt_gain: Mapping[str, Estimate]
    decision: Decision
    notes: tuple[str, ...]
    promotion_test: PromotionTest
    standing: FamilyState
    combined: Mapping[str, object]
    costs: tuple[JudgeCost, ...]
    folds: tuple[str, ...] = ()
    earlier: ProgramCard | None = None

    def again(self, standing: FamilyState) -> "Compiled":
        """Decided as the family stands by now."""
        return replace(self, decision=self.promotion_test.decide(standing), standing=standing, earlier=None)


def measured(
    parts: Parts, made: Sequence[Made], cascade: CascadeFound | None, settings: CompileSettings, session: Session
) -> Compiled:
    """Measure what was compiled on the test items of all splits, and decide about it.

    Args:
        parts: The data.
        made: What each split has brought; the last one ships.
        cascade: What came of two judges one after the other; None where nobody asked.
        settings: What was asked for.
        session: The way to a champion's model.
    """
    dataset, last, tested = parts.pooled, made[-1], made[: len(parts.tested)]
    labels, judge = dataset.labels, last.judge
    found = verify(dataset, {name: parts.pool([one.judged[name] for one in tested]) for name in tested[0].judged})
    bare = ratings_of(dataset, dataset.test, parts.pool([one.bare for one in tested if one.bare is not None]))
    gain = differences(found.ratings["compiled"], bare, nominal=labels.scale.level == "nominal")
    refusal, unread = _refusal(labels, settings, judge, found), _unread(found)
    if unread or settings.no_model:
        gain = {name: Estimate(value=None, note=unread or NO_PROMPT) for name in gain}
    test = PromotionTest(dataset, found, settings, session, refusal, evidence_alone=not judge.asks_lm, unread=unread)
    earlier = _earlier(dataset, settings, card_settings(last.shipped, settings, judge), judge)
    standing = test.standing() if earlier is None else FamilyState(earlier.looks, earlier.parent)
    tried = (last.pooled, last.cascade if cascade is not None and cascade.shipped else None)
    several = tuple(one.rated for one in tried if one is not None and one.rated is not None)
    combined: dict[str, object] = {} if cascade is None else {"cascade": cascade.to_json()}
    if last.pooled is not None:
        combined["panel"] = _panel(last, found)
    return Compiled(
        dataset=dataset,
        judge=judge,
        shipped=last.shipped,
        choice=last.choice,
        made=several,
        verification=found,
        prompt_gain=gain,
        decision=test.decide(standing),
        notes=(
            *([] if cascade is None else [f"cascade: {cascade.reason}"]),
            *last.choice.notes,
            *([] if last.pooled is None else [last.pooled.note]),
        ),
        promotion_test=test,
        standing=standing,
        combined=combined,
        costs=judge_costs(last.bench, last.choice, several, last.shipped.name if judge.asks_lm else "", settings),
        folds=tuple(one.shipped.name for one in tested) if parts.refit else (),
        earlier=earlier,
    )


def _panel(last: Made, found: Verification) -> dict[str, object]:
    """The report's ``panel``."""
    pooled, bench = last.pooled, last.bench
    assert pooled is not None  # the caller has looked
    assert bench.recorded is not None  # pools are of several candidates
    ids = [item.item_id for item in bench.learned.items]
    adds, ratings = pooled.adds(bench, last.choice.rated), found.ratings
    return {
        "kind": pooled.kind,
        "members": [
            {"judge": name, "adds": one.to_json(), "cost_usd": bench.recorded.cost_of(name, ids)}
            for name, one in adds.items()
        ],
        "incumbent": last.choice.best.name,
        "gain": difference(ratings["compiled"], ratings[COMPILED_SINGLE], bench.objective).to_json(),
        **({"curve": [one.to_json() for one in pooled.curve]} if pooled.curve else {}),
    }


def card_settings(chosen: Candidate, settings: CompileSettings, judge: JudgeTree) -> dict[str, Setting]:
    """Settings with which the judge was made, for its card."""
    found: dict[str, Setting] = {"prompt": chosen.name, **chosen.settings}
    if settings.candidates.asked and settings.asked_by(judge).recorded is None:
        found["kind"] = JURY_KIND
    if searched := [
        f"{one.name}: {one.settings[PROMPT]}" for one in settings.candidates.asked if PROMPT in one.settings
    ]:
        found["prompts"] = "; ".join(searched)
    written = [one for one in judge.prompts if one.fields]
    if (form := next((one.form for one in written), CHAT)) != CHAT:
        found["adapter"] = form
    if not settings.candidates.asked and (own := next((one.verdict for one in written), None)) is not None:
        found["verdict"] = own
    if settings.abstain_below is not None:
        found["abstain_below"] = settings.abstain_below
    if settings.candidates.recorded is not None:
        found |= settings.candidates.recorded.settings
    return found


def _earlier(
    dataset: Dataset, settings: CompileSettings, made: Mapping[str, Setting], judge: JudgeTree
) -> ProgramCard | None:
    """The version that this very compile wrote before it was killed: the same content, its test use not counted yet.

    A compile that was finished and is asked for again makes a version of its own, which meets the champion.
    """
    facts: dict[str, object] = {
        "data_digest": dataset.labels.digest,
        "split_digest": dataset.split.digests["test"],
        "lm": settings.asked_by(judge).describe(),
        "optimizer": settings.search.optimizer,
        "settings": made,
        "objective": settings.objective,
        "seed": settings.seed,
    }
    found = programs.find(settings.home, settings.name, facts, judge.saved())
    uses = read_family(settings.home, settings.name).looks
    return None if found and f"{found.version:04d}" in {use.version for use in uses} else found


def _refusal(labels: LabelSet, settings: CompileSettings, judge: JudgeTree, found: Verification) -> str:
    reads_model = judge.asks_lm and not settings.lm.no_model
    if compares(labels.task) and not reads_model and "reference" not in labels.fields:
        length = follows_length(found.ratings["compiled"], found.ratings[LONGEST])
        why = "a preference judge needs a model's verdict or a reference, and this one reads neither"
        return f"{why}{f'; {length}' if length else ''}"
    return ""


def _unread(found: Verification) -> str:
    """The reason why no gain counts: too many verdicts of the rival could not be read."""
    for name in ("uncompiled", BEST_ALONE):
        if name not in found.judgments:
            continue
        asked = int(found.judgments[name].asked.sum())
        reasons = Counter(why for why in found.judgments[name].unscored if why is not None and is_unread(why))
        if reasons.total() > MOST_UNREAD * asked:
            who = "uncompiled judge" if name == "uncompiled" else "recorded judge that was best as it is"
            seen = f"{reasons.total():,} of {asked:,} verdicts of the {who} on the test items could not be read"
            return (
                f"{seen} ({reasons.most_common(1)[0][0]}), so a gain over this judge does not count. "
                "Correct its verdicts, or change its prompt so that it states a grade."
            )
    return ""
