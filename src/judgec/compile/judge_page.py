"""Turns a compile into the data of its judge's page."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote

import numpy as np
from markupsafe import Markup

from judgec.compile.cascades import CascadeFound
from judgec.compile.compile import Compiled, PanelFound
from judgec.compile.costs import size_costs
from judgec.compile.modes import found_modes
from judgec.compile.page_groups import by_group
from judgec.compile.promote import shortfalls, standing_above
from judgec.compile.replacement import replacement
from judgec.compile.search.candidates import UNCOMPILED
from judgec.compile.settings import CompileSettings
from judgec.compile.verify import BEST_ALONE
from judgec.errors import JudgecError
from judgec.labels.split.family import write_whole
from judgec.raters import programs
from judgec.raters.decision import acceptability
from judgec.raters.judge import JudgeTree, load_judge, outline, uncompiled
from judgec.raters.recorded import RECORDED_KIND, RecordedVerdicts
from judgec.raters.tree import EVIDENCE, PromptLeaf, RecordedLeaf
from judgec.records.audit import Finding
from judgec.records.card import EVIDENCE_ALONE, NO_MODEL, ProgramCard
from judgec.records.consensus import accept_rate_of, mean_of, people_mean
from judgec.records.counts import plural
from judgec.records.judgment import NOT_ASKED
from judgec.records.label import FloatArray, IntArray, Label
from judgec.report.items import BrowsedItem
from judgec.report.kit import render
from judgec.report.numbers import count, dollars, number, objective_name, show, statistic_name
from judgec.report.page import charts
from judgec.report.page.audits import with_audits
from judgec.report.page.confusion import confidence_counts, count_table
from judgec.report.page.grade_charts import DrawnGrades, grade_charts
from judgec.report.page.judged_items import browsed_items
from judgec.report.page.page import JudgePage
from judgec.report.page.page import judge_page as rendered
from judgec.report.page.prompt import prompt_lines
from judgec.report.page.verdict import JudgeVerdict, beside_experts, headline, judge_verdict
from judgec.report.systems_table import systems_lines
from judgec.stats.agreement.ceiling import expert_panel, judge_panel
from judgec.stats.agreement.measure import Resampling
from judgec.stats.agreement.systems import SystemAgreement

PROMPT = "prompt"  # what the only prompt of a judge is called among its lines
MOST_REASONS = 5  # why items are unscored
STATED = "Confidence that the model stated: how many items got each grade with each"
KINDS = {
    "prompt": "a prompt, asked of a model",
    "recorded": "recorded verdicts",
    "function": "a Python function",
    "evidence": "features of the item, no model asked",
}


def verdict_of(compiled: Compiled, settings: CompileSettings, card_name: str) -> JudgeVerdict:
    """The one verdict of a compile: what screen, page, JSON and MLflow say of it.

    It says how the judge agrees with the experts, whether it was promoted, and over what; a judge that was not promoted
    is praised nowhere.

    Args:
        compiled: The outcome.
        settings: What was asked for.
        card_name: What the judge is called.
    """
    labels, test = compiled.dataset.labels, compiled.dataset.test
    agreements = compiled.verification.agreements
    statistic = headline(settings.objective, agreements["compiled"])
    judged, only_accepts = compiled.verification.judgments["compiled"], labels.accept_only
    difference = beside_experts(
        statistic,
        judge_panel(test.experts, judged, labels.scale, accept_only=only_accepts),
        expert_panel(test.experts, labels.scale, accept_only=only_accepts),
        Resampling(resamples=settings.resamples, seed=settings.seed),
    )
    decision = compiled.decision
    found = judge_verdict(
        card_name if compiled.judge.asks_lm else f"{card_name} ({EVIDENCE_ALONE})",
        agreements,
        difference,
        statistic=statistic,
        constructed=labels.constructed,
        below=shortfalls(decision.below_majority),
        above=standing_above(decision.above, settings.objective) if decision.above else "",
    )
    outcome = "Promoted" if decision.promoted else "NOT PROMOTED"
    praised = found.standing in {"better", "as well"} and not decision.promoted
    standing = "unclear" if praised else found.standing
    before = "" if compiled.as_it_is is None else f"{compiled.as_it_is.sentence} "
    sentence = f"{before}{found.sentence} {outcome}: {decision.reason.rstrip('.')}."
    return replace(found, standing=standing, sentence=sentence)


def page_of(compiled: Compiled, settings: CompileSettings, card: ProgramCard) -> str:
    """``report.html`` of a version.

    Args:
        compiled: The outcome.
        settings: What was asked for.
        card: Of the version as saved.
    """
    labels = compiled.dataset.labels
    judged = compiled.verification.judgments["compiled"]
    reasons = Counter(reason for reason in judged.unscored if reason not in {None, NOT_ASKED})
    parent, before = _parent(compiled, settings, card)
    agreements = compiled.verification.agreements
    alike = {name for name in agreements if agreements[name].estimates == agreements["uncompiled"].estimates}
    absent = {"uncompiled", "compiled_prompt"} if settings.no_model else {BEST_ALONE, "compiled_prompt"} & alike
    return rendered(
        JudgePage(
            card=card,
            verdict=verdict_of(compiled, settings, f"{card.name}@{card.version}"),
            agreements={name: one for name, one in agreements.items() if name not in absent},
            facts=_facts(compiled, card),
            charts={aspect: _charts(compiled, j) for j, aspect in enumerate(labels.aspects)},
            groups=by_group(compiled),
            costs=compiled.costs,
            sizes=() if compiled.panel is None else size_costs(compiled.panel.curve, ship=compiled.judge.asks_lm),
            alt_test=replacement(compiled.dataset, compiled.verification.judgments),
            unscored=dict(reasons.most_common(MOST_REASONS)),
            prompt=_prompt_lines(compiled.judge, settings.rated.recorded),
            before=before,
            parent=parent,
            data=_data(compiled, settings, card),
            notes=compiled.notes,
            next=_next(compiled, card),
            items=items_of(compiled),
            modes=found_modes(compiled),
            systems=compiled.systems,
            tree=_picture(compiled),
        )
    )


def _picture(compiled: Compiled) -> Markup:
    """The judge as nested boxes, with what each rater costs and adds."""
    facts: dict[str, list[str]] = {}
    for row in compiled.costs:
        price = dollars(row.usd_per_1000) + (" for 1,000 items" if row.usd_per_1000 else "")
        facts[EVIDENCE if row.kind == "evidence" else row.judge] = [price]
    for one in () if compiled.panel is None else compiled.panel.members:
        facts.setdefault(one.judge, []).append(f"adds {show(one.adds, 3)}")
    found = compiled.combined
    share = f" ({100 * found.share:.0f} % of the items)" if isinstance(found, CascadeFound) else ""
    then = f"where it is unsure{share}"
    return render("tree.html", {"tree": outline(compiled.judge.rater), "facts": facts, "words": KINDS, "then": then})


def items_of(compiled: Compiled) -> tuple[BrowsedItem, ...]:
    """The test items of a compile with what experts and judge said of each."""
    labels, test = compiled.dataset.labels, compiled.dataset.test
    judged = compiled.verification.judgments["compiled"]
    target = test.experts.target_accept if labels.accept_only else test.experts.target
    return browsed_items(test.items, target, judged, labels.scale, _by_item(compiled))


def _by_item(compiled: Compiled) -> dict[str, list[Label]]:
    found: dict[str, list[Label]] = {}
    for label in compiled.dataset.labels.labels:
        found.setdefault(label.item_id, []).append(label)
    return found


def put_audits(
    home: Path, card: ProgramCard, found: Sequence[Finding], systems: Mapping[str, object] | None = None
) -> None:
    """Put the audits of a version into its page; a version without a page (an older one) is left alone.

    Args:
        home: The folder that holds ``programs/``.
        card: Of the version.
        found: All of its audits.
        systems: How it ranked whoever answered, as the card has it.
    """
    path = programs.page_path(home, card)
    ranked = None if systems is None else SystemAgreement.from_json(systems)
    if path.exists():
        write_whole(path, with_audits(path.read_text(encoding="utf-8"), found, f"{card.name}@{card.version}", ranked))


def _facts(compiled: Compiled, card: ProgramCard) -> list[str]:
    decision = compiled.decision
    facts: list[str] = []
    if not card.promoted:  # where a difference was shown nobody asks how many labels would show one
        if decision.detectable is not None and number(decision.detectable) not in card.reason:
            smallest = number(decision.detectable)
            facts.append(f"The smallest difference that this test set would have shown with 80 % power: {smallest}.")
        sentence = compiled.detectable_difference.sentence
        facts += [f"{sentence[0].upper()}{sentence[1:]}."] if sentence else []
    facts += [f"{said[0].upper()}{said[1:]}." for said in systems_lines(compiled.systems)]
    match compiled.combined:
        case PanelFound() as panel if not card.evidence_alone:
            gain = (
                f"{show(panel.gain, 3, sign=True)} on test over the best single judge, {panel.incumbent}, both compiled"
            )
            said = "The picture says what each member adds out of fold on train and dev."
            facts.append(f"Panel ({panel.kind}) of {len(panel.members)}: {gain}. {said}")
        case CascadeFound() as cascade:
            facts.append(f"Cascade, {cascade.reason}.")
    objective = compiled.prompt_gain.get(headline(card.objective, compiled.verification.agreements["compiled"]))
    if card.settings.get("kind") != RECORDED_KIND and objective is not None and objective.value is not None:
        facts.append(f"What the prompt alone brought, both calibrated: {show(objective)}.")
    return facts


def _next(compiled: Compiled, card: ProgramCard) -> list[str]:
    """Next steps after reading, a sentence each."""
    name = f"{card.name}@{card.version}"
    if card.labels == "constructed":
        return ["Let experts grade items of your own (judgec labels FILE), and compile on their labels."]
    labels = str(compiled.promotion_test.settings.source.get("path") or "")
    file = quote(labels) if Path(labels).is_file() else "FILE"
    steps = [f"Judge with it: judgec judge {file} --judge {card.name if card.promoted else name}."]
    if not card.promoted:
        steps = [f"See what it says of a file: judgec judge {file} --judge {name}."]
    sentence = compiled.interval_width(card.objective).sentence
    steps += [f"{sentence[0].upper()}{sentence[1:]}."] if sentence else []
    steps.append(f"Let experts grade the items that it is least sure of: judgec labels next {file} 50 --judge {name}.")
    steps.append(
        "Read the items below where judge and experts are farthest apart: is the judge wrong, or are the labels?"
    )
    audit = [f"Before others rely on it: judgec audit --judge {name}; what was found is below."]
    return [*steps, *(audit if card.promoted else [])]


def _charts(compiled: Compiled, j: int) -> Markup:
    labels, experts = compiled.dataset.labels, compiled.dataset.test.experts
    scale, judged = labels.scale, compiled.verification.judgments["compiled"]
    only_accepts = labels.accept_only
    expert = (experts.target_accept if only_accepts else experts.target)[:, j]
    judge = (judged.accept if only_accepts else judged.grade)[:, j]
    measured = compiled.verification.agreements["compiled"]
    limits = measured.aspects.get(labels.aspects[j], measured).bland_altman
    raters = experts.accept_by if only_accepts else experts.grade_by
    drawings, tables = grade_charts(
        DrawnGrades(
            expert=expert,
            judge=judge,
            given=people_mean(raters, np.array(scale.values))[:, j],
            said=judged.score[:, j] if scale.interval else _values(judge, scale.values),
            grades=() if scale.interval else [str(grade) for grade in scale.grades],
            raters=[(name, raters[n, :, j]) for n, name in enumerate(experts.annotators)],
            confidence=judged.confidence[:, j],
            limits=None if scale.level == "nominal" else limits,
        )
    )
    if judged.stated is not None and not scale.interval:
        grades = [str(grade) for grade in scale.grades]
        if (sure := confidence_counts(judge, judged.stated, grades)) is not None:
            drawings.append((sure.drawn(STATED, ("confidence from, %", "judge")), f"{STATED}."))
            tables.append(count_table(sure, STATED, "judge ↓ confidence from, % →"))
    chances, happened, words = _stated(compiled, j)
    _, query = np.unique([item.query_id for item in compiled.dataset.test.items], return_inverse=True)
    reliability = charts.reliability_chart(chances, happened, query, words=words)
    drawings.append((reliability, "Reliability: dots on the dashed line are calibrated; lines are 95 % intervals."))
    if j == 0:
        curve = [(p.coverage, p.agreement.value) for p in compiled.abstention.curve]
        coverage = charts.coverage_chart([(x, y) for x, y in curve if y is not None])
        of = statistic_name(compiled.abstention.of)
        drawings.append((coverage, f"Leaving the least sure items to a human: {of} of the rest."))
    return charts.figures(drawings, tables)


def _stated(compiled: Compiled, j: int) -> tuple[FloatArray, FloatArray, tuple[str, str]]:
    """Data of the reliability chart: chance of acceptance and accepts, or for classes confidence and hits."""
    labels, experts = compiled.dataset.labels, compiled.dataset.test.experts
    judged = compiled.verification.judgments["compiled"]
    target, accepts = experts.target[:, j], accept_rate_of(experts.target_accept[:, j])
    if labels.scale.level == "nominal" or np.isnan(accepts).all():
        right = np.where(judged.scored, mean_of(target == judged.grade[:, j, None], target), np.nan)
        return judged.confidence[:, j], right, ("confidence of the judge (%)", "same grade as the experts (%)")
    chances = np.full(len(judged.item_ids), np.nan)
    chances[judged.scored] = acceptability(judged.probabilities[judged.scored, j], labels.scale)
    return chances, accepts, ("stated chance of acceptance (%)", "accepted by the experts (%)")


def _parent(compiled: Compiled, settings: CompileSettings, card: ProgramCard) -> tuple[str, list[str] | None]:
    """The version that this one is compared with: the champion, or the one before, or the uncompiled prompt."""
    before = card.parent or card.version - 1
    if before:
        name = f"{card.name}@{before}"
        try:
            return name, _prompt_lines(load_judge(programs.load(settings.home, name)))
        except JudgecError:
            return f"readable {name}", None
    start = next((one.candidate for one in compiled.scored if one.candidate.name == UNCOMPILED), None)
    if start is None:
        return "the uncompiled prompt", None
    return "the uncompiled prompt", _prompt_lines(uncompiled(start.module, card.task, card.scale, card.aspects))


def _prompt_lines(judge: JudgeTree, recorded: RecordedVerdicts | None = None) -> list[str]:
    """Those that a judge is made of as lines: their prompts, as far as they are known; none of evidence alone."""
    lines: list[str] = []
    for one in judge.leaves:
        if isinstance(one, PromptLeaf):
            name = one.name if len(judge.leaves) > 1 else PROMPT
            lines += prompt_lines({name: one.model_dump(mode="json")})
        else:
            known = recorded.judges[one.name].prompt if recorded is not None and isinstance(one, RecordedLeaf) else None
            lines += [f"== {one.name}: {KINDS[one.kind]}", *(known or "").splitlines()]
    return lines


def _data(compiled: Compiled, settings: CompileSettings, card: ProgramCard) -> list[tuple[str, str]]:
    dataset, cost = compiled.dataset, card.cost
    parts = (dataset.train, dataset.dev, dataset.test)
    sampling: Mapping[str, object] = {k: v for k, v in card.lm.items() if k not in {"model", "api_base"}}
    first = compiled.choice
    known = (("uncompiled", first.uncompiled), ("best alone", first.alone))
    on = "train and dev" if any(one.estimate is not None for one in compiled.scored) else "dev"
    prompted = {
        "model": str(card.lm.get("model", "")) + (f" ({card.engine})" if card.engine else ""),
        "sampling": ", ".join(f"{name} {value}" for name, value in sampling.items() if value is not None),
        "optimizer": f"{card.optimizer}: {plural(len(compiled.scored), 'candidate')} on {on}",
    }
    facts = {
        "labels": str(settings.source.get("path") or "").rpartition("/")[2],
        "labels SHA-256": card.data_digest,
        "test split SHA-256": card.split_digest,
        **{f"{part.name}": f"{plural(count(len(part)), 'item')} of {count(part.n_queries)} queries" for part in parts},
        "annotators": count(len(dataset.test.experts.annotators)),
        "scale": f"{card.scale.name}: {', '.join(map(str, card.scale.grades))}"
        + ("" if card.scale.accept_at is None else f"; accepted from {card.scale.accept_at}"),
        **({"model": card.engine} if card.engine == NO_MODEL else prompted),
        "judge": compiled.judge.sentence,
        "objective": objective_name(card.objective),
        "recorded judges": "; ".join(f"{what} {one.name}" for what, one in known if one is not None and first.alone),
        "calibrator": "; ".join(f"{a}: {c.source}, {c.family}" for a, c in compiled.judge.calibrators.items()),
        "seed": str(card.seed),
        "use of the test split": str(card.looks),
        "cost": f"{count(cost.lm_calls)} LM calls, {dollars(cost.usd)}, {cost.seconds:.0f} s",
        "made with": ", ".join(f"{name} {version}" for name, version in card.versions.items()),
        **{f"source: {name}": value for name, value in dataset.labels.source.items()},
    }
    return [(name, value) for name, value in facts.items() if value]


def _values(positions: IntArray, values: tuple[float, ...]) -> FloatArray:
    return np.where(positions >= 0, np.array(values)[np.maximum(positions, 0)], np.nan)
