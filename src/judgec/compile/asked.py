"""Asks candidates that stand beside each other: compiled judges, models with a prompt, functions.

Each says of the labelled items what it says. From then on their verdicts are recorded ones; only the judge that ships
asks its members again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from judgec.compile.held_out import memory_of
from judgec.compile.parts import Parts
from judgec.compile.search.candidates import (
    UNCOMPILED,
    Candidate,
    CandidateRater,
    first_predictor,
)
from judgec.compile.search.plan import (
    CallPlan,
    Stage,
    asked_once,
    check_caps,
    whole,
    with_demonstrations,
    with_margin,
)
from judgec.compile.settings import PROMPT, CompileSettings
from judgec.errors import UserError
from judgec.labels.rows.ranges import MARK
from judgec.lm.executor import Ask
from judgec.lm.prices import CostEstimate
from judgec.lm.session import way_to
from judgec.lm.spec import FUNCTION, LMSpec
from judgec.lm.watch import Watch
from judgec.raters.about_judges import AboutJudge
from judgec.raters.piece import Piece
from judgec.raters.programs import Program
from judgec.raters.rate import rate_all
from judgec.raters.rater import Rating, together
from judgec.raters.recorded import MOST_OFF, NO_VERDICT, OnWhat, RecordedVerdicts, Recording
from judgec.raters.values import OFF
from judgec.records.judgment import Judgments
from judgec.records.label import LabelSet
from judgec.records.tasks.registry import compares
from judgec.table.rows.columns import listed

STAGE = "jurors"


def plan_candidates(settings: CompileSettings, labels: LabelSet, champion: CostEstimate) -> CallPlan:
    """Plans the calls that asking all candidates takes, and a champion about new items.

    Raises:
        UserError: It does not fit the caps.
    """
    asked = [settings.lm.members[one.name] for one in settings.candidates.asked]
    services = [way_to(one) for one in asked if not one.in_process]
    reflects = settings.search.reflection is not None and bool(settings.rewrites)
    stages = [Stage("preflight", CostEstimate(len(set(services)) + reflects))]
    for one in settings.candidates.asked:
        spec = settings.lm.members[one.name]
        price = asked_once(one.module, labels.items, spec)
        if one in settings.rewrites:  # a search may add demonstrations
            price = with_demonstrations(price, spec, one.module, labels.items)
        price = whole(price, settings)
        stages.append(Stage(f"{STAGE}: {one.name}", price))
    stages += [Stage("champion", champion)] if champion.calls else []
    least = sum((stage.most for stage in stages[1:]), CostEstimate())
    check_caps(least, settings)
    n_waits = len(services) if settings.caps.batch else 0
    kept = with_margin(least)
    return CallPlan(tuple(stages), kept.calls, kept.usd, None, searches=True, reflects=False, waits=n_waits)


def check_untaught(parts: Parts, candidates: Sequence[Candidate]) -> None:
    """No compiled judge among them has learned from what the compile tests.

    Raises:
        UserError: One has, which would make the test a memory.
    """
    items = {item.item_id: item for dataset in parts.tested for item in dataset.test.items}
    for one in candidates:
        if one.program is None or _learned_nothing(one.program):
            continue
        if learned := int(memory_of(one.program).among(list(items.values())).sum()):
            raise UserError(
                f"candidate {one.name}: its prompt was made from queries of {learned} of {len(items)} items "
                "that this compile tests on; judges that were tested on the same single split are valid. "
                + ("Add --folds 1, or compile it with --folds 1." if parts.refit else "Compile it on these labels.")
            )


def _learned_nothing(program: Program) -> bool:
    """True if its prompt is what it was before anybody saw a label."""
    return program.card.settings.get("prompt") == UNCOMPILED


def ask_candidates(
    labels: LabelSet, settings: CompileSettings, ask: Ask, watch: Watch, searched: Sequence[str] = ()
) -> RecordedVerdicts:
    """Asks each candidate about the labelled items; returns that beside what was recorded of others.

    Of queries that every form of its prompt has seen a candidate is not asked.

    Args:
        labels: Of the items.
        settings: With the candidates and their models.
        ask: The way to the models of all.
        watch: Told who is asked.
        searched: What the searches for prompts have said.

    Raises:
        UserError: Many values of a function are off the scale.
        ServiceError: A model fails for good; what is paid is in the journal.
        BudgetError: The caps are reached; likewise.
    """
    models, said = settings.lm.members, dict[str, Judgments]()
    functions = {one.name for one in settings.candidates.asked if models[one.name].provider == FUNCTION}
    for name in functions if labels.scale.level == "nominal" else ():
        if "range" in models[name].extra:
            grades = ", ".join(map(str, labels.scale.grades))
            raise UserError(f"function {name}: a range, where {grades} have no order. Let it return one of these.")
    for those in (functions, models.keys() - functions):  # values are checked before money
        side = _SideBySide(
            {
                one.name: CandidateRater(one, labels.scale, labels.aspects, one.name)
                for one in settings.candidates.asked
                if one.name in those
            }
        )
        for name, rater in side.raters.items():
            watch.stage("ask", f"{name}, {models[name].model}, about {len(rater.of.asked_about(labels.items)):,} items")
        if side.raters:
            rate_all(side, labels.items, ask)
        for name, found in side.said.items():
            said[name] = found.subset(np.flatnonzero(found.asked).tolist())
            if name in functions:
                _check_values(name, said[name], labels, models[name].extra.get("range"))
    asked = _recorded(labels, settings, said, searched)
    return asked if settings.candidates.recorded is None else settings.candidates.recorded.beside(asked)


@dataclass(slots=True)
class _SideBySide:
    """Candidates that are asked at the same time: what each says stands in ``said``, by name."""

    raters: Mapping[str, CandidateRater]
    said: dict[str, Judgments] = field(default_factory=dict)

    def rate(self, piece: Piece) -> Rating:
        """As ``Rater.rate``: the judgments of the first."""
        said = yield from together([one.rate(piece) for one in self.raters.values()])
        self.said = dict(zip(self.raters, said, strict=True))
        return said[0]


def _check_values(name: str, said: Judgments, labels: LabelSet, within: object) -> None:
    """Refuse a function that failed on all items, or whose values are not those of the scale or of its range.

    Raises:
        UserError: More than a few are off.
    """
    reasons = [reason for reason in said.unscored if reason is not None]
    off = [reason for reason in reasons if reason.startswith(OFF)]
    if reasons and not off and len(reasons) == len(said.unscored):
        raise UserError(
            f"function {name}: no value of any of {len(reasons):,} items ({reasons[0]}). Mend the function."
        )
    why = None
    if len(off) > MOST_OFF * len(said.unscored):
        grades = "grades of the scale" if within is None else f"numbers of its range {within}"
        why = f"{len(off):,} of {len(said.unscored):,} values are no {grades} ({off[0]})"
    if why is None:
        return
    grades, many = listed(labels.scale.grades), len(labels.aspects) > 1
    if labels.scale.level == "nominal" or many or labels.accept_only:
        what = f"a dict by aspect ({', '.join(labels.aspects)}) of" if many else "one of"
        raise UserError(f"function {name}: {why}. Let it return {what} {grades}.")
    raise UserError(
        f"function {name}: {why}. Say its range, python:module:function{MARK}0..1 or "
        f"Function({name!r}, ..., range=(0, 1)), or let it return one of {grades}."
    )


def _recorded(
    labels: LabelSet, settings: CompileSettings, said: Mapping[str, Judgments], searched: Sequence[str]
) -> RecordedVerdicts:
    found, kept = {}, list[str]()
    for one in sorted(settings.candidates.asked, key=lambda one: one.name):
        judged, model = said[one.name], settings.lm.members[one.name]
        n, row = len(judged.item_ids), {item.item_id: item for item in labels.items}
        usd = asked_once(one.module, [row[item_id] for item_id in judged.item_ids], model).usd
        found[one.name] = Recording(
            about=AboutJudge(model.model, _prompt(one, model)),
            said=replace(judged, unscored=tuple(None if why is None else NO_VERDICT for why in judged.unscored)),
            cost=np.full(n, np.nan if usd is None or not n else usd / n),
            calls=np.full(n, 1.0 + compares(labels.task)),
        )
        if PROMPT in one.settings:
            kept.append(_kept(one, len(labels.items) - n))
    notes = (
        "what candidates cost is by list price and the length of their prompts",
        *searched,
        *kept,
        *_unscored(said),
    )
    return RecordedVerdicts("candidates", OnWhat.of(labels), found, notes)


def _prompt(candidate: Candidate, model: LMSpec) -> str:
    """The prompt, for whoever reads the report."""
    if model.provider == FUNCTION:
        return f"{model.model} is a Python function, which is given the item and no prompt."
    return str(first_predictor(candidate.module).signature.instructions)


def _unscored(said: Mapping[str, Judgments]) -> Iterator[str]:
    for name, judgments in said.items():
        kinds = sorted({reason.partition(":")[0] for reason in judgments.unscored if reason})
        if kinds:
            yield f"{name}: {sum(map(bool, judgments.unscored)):,} items without a verdict: {', '.join(kinds)}"


def _kept(one: Candidate, missing: int) -> str:
    """Says which prompt a search has made of a candidate, and about how many items it is not asked."""
    made = one.settings[PROMPT]
    kept = "its prompt stays as it was" if made == UNCOMPILED else f"asked with prompt {made}"
    more = f"; not asked about {missing:,} items whose labels the prompt was made from" if missing else ""
    return f"{one.name}: {kept}{more}"
