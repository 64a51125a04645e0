"""Makes what a compiled judge is on disk of what a compile found: card, tree, report, page."""

from judgec.compile.judge_page import judge_page, prompt_of
from judgec.compile.measured import Compiled, card_settings
from judgec.compile.prepare import missing_of
from judgec.compile.release import Finished, Place, Saved, card_facts
from judgec.compile.report import report_of
from judgec.compile.rivals import judgments_table
from judgec.compile.search.candidates import UNCOMPILED
from judgec.compile.settings import CompileSettings
from judgec.labels.split.draw import split_record
from judgec.labels.split.memory import JUDGE, measured_by
from judgec.raters.judge import signature_of, uncompiled
from judgec.records.card import EVIDENCE_ALONE, NO_MODEL, Cost, ProgramCard
from judgec.records.label import Label
from judgec.records.language import languages_of
from judgec.report.items import BrowsedItem
from judgec.report.page.judged_items import browsed_items

SavedJudge = Saved[Compiled]


def finished(compiled: Compiled, settings: CompileSettings, cost: Cost, created: str) -> Finished[Compiled]:
    """A compiled judge that is not on disk yet.

    Args:
        compiled: The outcome.
        settings: What was asked for.
        cost: What the run used.
        created: When, ISO 8601.
    """
    dataset, judge, choice, test = compiled.dataset, compiled.judge, compiled.choice, compiled.promotion_test
    recorded, labels = settings.candidates.recorded, compiled.dataset.labels
    report, items = report_of(compiled, settings, cost), items_of(compiled)
    start = choice.searched[UNCOMPILED][0].module if UNCOMPILED in choice.searched else None
    first = None if start is None else prompt_of(uncompiled(start, labels.task, labels.scale, labels.aspects))
    prompts = {} if recorded is None else {name: one.prompt or "" for name, one in recorded.judges.items()}
    judged, whole = compiled.verification.judgments["compiled"], dataset.split.folds > 1
    return Finished(
        place=Place(settings.home, settings.name, JUDGE),
        card=_card(compiled, settings, cost, created),
        tree=judge.saved(),
        split=lambda salt: split_record(dataset.split, labels.items, measured_by(labels, settings.source), salt),
        report=report,
        standing=compiled.standing,
        stands=test.standing,
        decided=lambda standing: finished(compiled.again(standing), settings, cost, created),
        page=lambda card: judge_page(report, card, items, prompt_of(judge, prompts), start=first, home=settings.home),
        browsed=items,
        kept={"judgments": judgments_table(dataset.test.items, judged, whole=whole)},
        earlier=compiled.earlier,
        compiled=compiled,
    )


def items_of(compiled: Compiled) -> tuple[BrowsedItem, ...]:
    """The test items of a compile with what experts and judge said of each."""
    labels, test = compiled.dataset.labels, compiled.dataset.test
    by_item: dict[str, list[Label]] = {}
    for label in labels.labels:
        by_item.setdefault(label.item_id, []).append(label)
    target = test.experts.target_accept if labels.accept_only else test.experts.target
    return browsed_items(test.items, target, compiled.verification.judgments["compiled"], labels.scale, by_item)


def _card(compiled: Compiled, settings: CompileSettings, cost: Cost, created: str) -> ProgramCard:
    labels, judge = compiled.dataset.labels, compiled.judge
    return ProgramCard(
        name=settings.name,
        task=labels.task,
        scale=labels.scale,
        aspects=labels.aspects,
        fields=labels.fields,
        missing=missing_of(labels),
        signature=signature_of(judge),
        data_digest=labels.digest,
        split_digest=compiled.dataset.split.digests["test"],
        languages=languages_of(labels.items),
        labels=labels.source.get("labels", ""),
        lm=settings.asked_by(judge).describe(),
        engine=NO_MODEL if settings.no_model else "" if judge.asks_lm else EVIDENCE_ALONE,
        judge_kind=judge.kind,
        optimizer=settings.search.optimizer,
        settings=card_settings(compiled.shipped, settings, judge),
        objective=settings.objective,
        seed=settings.seed,
        tie_band=judge.tie_band,
        test=dict(compiled.verification.agreements["compiled"].estimates),
        **card_facts(compiled.decision, compiled.standing, cost, created),
    )
