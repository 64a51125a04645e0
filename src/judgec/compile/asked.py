"""Candidates of a compile that are asked side by side: compiled judges, models with a prompt, functions.

Each says of the labelled items what it says. From then on their verdicts are recorded ones: choice, panels, cascades,
calibration and promotion are those of ``compile.recorded``; only the judge that ships asks its members again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import dspy
import numpy as np

from judgec.compile.folds.parts import Parts
from judgec.compile.held_out import memory_of
from judgec.compile.manners import MANNERS
from judgec.compile.search.candidates import UNCOMPILED, first_predictor, split_rubric, task_module
from judgec.compile.search.plan import (
    ASKED_AGAIN,
    DOLLAR_MARGIN,
    CallPlan,
    Stage,
    add,
    asked_once,
    check_caps,
    whole,
    with_demonstrations,
)
from judgec.compile.settings import JURY_KIND, AskedCandidate, CompileSettings
from judgec.errors import UserError
from judgec.labels.rows.ranges import MARK
from judgec.lm.adapters import with_verdict
from judgec.lm.executor import Ask
from judgec.lm.prices import CostEstimate
from judgec.lm.spec import FUNCTION, LMSpec
from judgec.lm.watch import Watch
from judgec.raters.about_judges import AboutJudge
from judgec.raters.judge import load_judge
from judgec.raters.piece import Piece
from judgec.raters.predictors import module_of, with_instructions
from judgec.raters.programs import Program, model_of
from judgec.raters.prompt import PromptRater
from judgec.raters.rate import rate_all
from judgec.raters.rater import BothOrders, Rater, Rating, together
from judgec.raters.recorded import MOST_OFF, NO_VERDICT, OnWhat, RecordedVerdicts, Recording
from judgec.raters.signatures import fenced_inputs
from judgec.raters.values import OFF
from judgec.records.judgment import Judgments, concatenate
from judgec.records.label import Item, LabelSet
from judgec.records.tasks.registry import compares
from judgec.table.rows.columns import listed

STAGE = "jurors"


def juror_name(program: Program) -> str:
    """``NAME@VERSION``: what a juror is called among judges."""
    return f"{program.card.name}@{program.card.version}"


def check_juror(program: Program, labels: LabelSet) -> None:
    """A compiled judge can sit on a jury for these labels.

    Raises:
        UserError: It judges something else, reads other fields, or has no prompt of its own that is asked.
    """
    card, where = program.card, f"candidate {juror_name(program)}"
    here = (labels.task, labels.aspects, labels.scale.grades)
    if (card.task, card.aspects, card.scale.grades) != here:
        raise UserError(
            f"{where}: judges {card.task} on {', '.join(map(str, card.scale.grades))}; these labels are of "
            f"{labels.task} on {', '.join(map(str, labels.scale.grades))}. Leave it out."
        )
    if set(card.fields) != set(labels.fields):
        raise UserError(
            f"{where}: reads {', '.join(card.fields)}; these labels have {', '.join(labels.fields)}. Compile it on "
            "them first."
        )
    if card.evidence_alone:
        raise UserError(f"{where}: is evidence alone and has no prompt; one with a prompt is valid. Leave it out.")
    kind = card.settings.get("kind")
    if kind in {JURY_KIND, "recorded"} or card.settings.get("cascade") is not None:
        members = listed(list(model_of(card, asks=False).members) or ["recorded verdicts"])
        raise UserError(
            f"{where}: has no prompt of its own, it is made of {members}; a judge with one is valid. Name these."
        )


def of_judge(program: Program) -> AskedCandidate:
    """A compiled judge as a candidate.

    Raises:
        ArtifactError: It needs what is gone.
    """
    judge = load_judge(program).uncalibrated
    (prompt,) = judge.prompts
    return AskedCandidate(juror_name(program), module_of(prompt, judge.scale), program)


def of_task(
    name: str, labels: LabelSet, instructions: str | None = None, manner: str = "plain", verdict: str | None = None
) -> AskedCandidate:
    """A candidate with the prompt of the task of the labels, or with instructions in place of the task's.

    Args:
        name: What it is called.
        labels: Of the task.
        instructions: In place of the task's; None keeps these.
        manner: Of ``MANNERS``; it stands above the rubric.
        verdict: The form of a verdict that the instructions ask for.

    Raises:
        UserError: Such a form where there are several aspects.
    """
    if verdict is not None and len(labels.aspects) > 1:
        seen = f"--candidate {name}: verdict {verdict!r}, and {len(labels.aspects)} aspects"
        raise UserError(f"{seen}; of one aspect alone a prompt may have its form. Take the line out of the file.")
    module = task_module(labels)
    if instructions is not None:
        module = with_instructions(module, instructions)
    if added := MANNERS[manner]:
        above, rubric = split_rubric(first_predictor(module).signature.instructions)
        module = with_instructions(module, f"{above.rstrip()}\n{added}{rubric}")
    return AskedCandidate(name, with_verdict(module, verdict))


def plan_candidates(settings: CompileSettings, labels: LabelSet) -> CallPlan:
    """Plans the calls that asking all candidates takes.

    Raises:
        UserError: It does not fit the caps.
    """
    asked = [settings.lm.members[one.name] for one in settings.rated.asked]
    models = len([one for one in asked if not one.in_process])
    reflects = settings.reflection is not None and bool(settings.rewrites)
    stages = [Stage("preflight", CostEstimate(models + reflects, 0, 0.0))]
    for one in settings.rated.asked:
        spec = settings.lm.members[one.name]
        price = asked_once(one.module, labels.items, spec)
        if one in settings.rewrites:  # a search may add demonstrations
            price = with_demonstrations(price, spec, one.module, labels.items)
        price = whole(price, settings)
        stages.append(Stage(f"{STAGE}: {one.name}", price))
    least = add([stage.most for stage in stages[1:]])
    check_caps(least, settings)
    n_waits = models if settings.batch else 0
    kept = least.calls + int(ASKED_AGAIN * least.calls) + 1
    usd = None if least.usd is None else DOLLAR_MARGIN * least.usd
    return CallPlan(tuple(stages), kept, usd, None, searches=True, reflects=False, waits=n_waits)


def check_untaught(parts: Parts, candidates: Sequence[AskedCandidate]) -> None:
    """No compiled judge among them has learned from what the compile tests.

    Raises:
        UserError: One has, which would make the test a memory.
    """
    items = {item.item_id: item for dataset in parts.tested for item in dataset.test.items}
    for program in (one.program for one in candidates if one.program is not None):
        if _learned_nothing(program):
            continue
        if learned := int(memory_of(program).among(list(items.values())).sum()):
            raise UserError(
                f"candidate {juror_name(program)}: its prompt was made from queries of {learned} of {len(items)} items "
                "that this compile tests on; judges that were tested on the same single split are valid. "
                + ("Add --folds 1, or compile it with --folds 1." if parts.refit else "Compile it on these labels.")
            )


def _learned_nothing(program: Program) -> bool:
    """True if its prompt is what it was before anybody saw a label."""
    return program.card.settings.get("prompt") == UNCOMPILED


def ask_candidates(labels: LabelSet, settings: CompileSettings, ask: Ask, watch: Watch) -> RecordedVerdicts:
    """Asks each candidate about the labelled items; returns that beside what was recorded of others.

    Of queries that its demonstrations show, or that its prompt was made from, a candidate is not asked.

    Args:
        labels: Of the items.
        settings: With the candidates and their models.
        ask: The way to the models of all.
        watch: Told who is asked.

    Raises:
        UserError: Many values of a function are off the scale.
        ServiceError: A model fails for good; what is paid is in the journal.
        BudgetError: The caps are reached; likewise.
    """
    said = {}
    functions = {one.name for one in settings.rated.asked if settings.lm.members[one.name].provider == FUNCTION}
    for name in functions if labels.scale.level == "nominal" else ():
        if "range" in settings.lm.members[name].extra:
            grades = ", ".join(map(str, labels.scale.grades))
            raise UserError(f"function {name}: a range, where {grades} have no order. Let it return one of these.")
    for those in (functions, {one.name for one in settings.rated.asked} - functions):  # values are checked before money
        side = _SideBySide([one for one in settings.rated.asked if one.name in those], labels)
        for one, found in side.judged(ask, settings, watch):
            model, items = settings.lm.members[one.name], len(found.item_ids)
            if one.name in functions:
                _check_values(one.name, found, labels, model.extra.get("range"))
            price = asked_once(one.module, [labels.items[row] for row in side.rows[one.name]], model).usd
            said[one.name] = found, None if price is None or not items else price / items
    asked = _recorded(labels, settings, said)
    return asked if settings.rated.recorded is None else settings.rated.recorded.beside(asked)


class _SideBySide:
    """Candidates that are asked at the same time, each about the items whose query it does not show."""

    def __init__(self, candidates: Sequence[AskedCandidate], labels: LabelSet) -> None:
        self._candidates, self._labels = candidates, labels
        self._said: list[Judgments] = []
        self.rows = {
            one.name: [row for row, item in enumerate(labels.items) if not _shown(item, one)] for one in candidates
        }

    def judged(self, ask: Ask, settings: CompileSettings, watch: Watch) -> Iterable[tuple[AskedCandidate, Judgments]]:
        """Yields the judgments of each candidate."""
        if not self._candidates:
            return ()
        for one in self._candidates:
            about = f"{settings.lm.members[one.name].model}, about {len(self.rows[one.name]):,} items"
            watch.stage("ask", f"{one.name}, {about}")
        rate_all(self, self._labels.items, ask)
        return zip(self._candidates, self._said, strict=True)

    def rate(self, piece: Piece) -> Rating:
        """As ``Rater.rate``: the judgments of the first."""
        scale, aspects = self._labels.scale, self._labels.aspects
        both = compares(self._labels.task)
        ratings, parts = [], list[tuple[int, list[int]]]()
        for number, one in enumerate(self._candidates):
            for module, rows in _by_prompt(one, self._labels.items, self.rows[one.name]).items():
                alone = PromptRater(module, scale=scale, aspects=aspects, to=one.name)
                rater: Rater = BothOrders(alone, scale) if both else alone
                ratings.append(rater.rate(piece.only(rows)))
                parts.append((number, rows))
        said = yield from together(ratings)
        self._said = []
        for number in range(len(self._candidates)):
            pieces = [one for one, (of, _) in zip(said, parts, strict=True) if of == number]
            rows = [row for of, those in parts if of == number for row in those]
            self._said.append(concatenate(pieces).subset([int(row) for row in np.argsort(rows)]))
        return self._said[0]


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


def _by_prompt(one: AskedCandidate, items: Sequence[Item], rows: Sequence[int]) -> dict[dspy.Module, list[int]]:
    """Rows of items by the prompt that has seen nothing of their query in its instructions."""
    own = {} if one.searched is None else {name: part.module for part in one.searched.unseen for name in part.queries}
    found: dict[dspy.Module, list[int]] = {}
    for row in rows:
        found.setdefault(own.get(items[row].query_id, one.module), []).append(row)
    return found or {one.module: []}


def _shown(item: Item, one: AskedCandidate) -> bool:
    """True if the prompt knows the item's label: of its query, or, where items have none, of the item itself."""
    if one.searched is not None and item.query_id in {*one.searched.queries, *one.searched.reflected}:
        return True
    predict = first_predictor(one.module)
    texts = fenced_inputs(predict, item) if predict.demos else {}
    same = ("query",) if item.inputs.get("query") else tuple(texts)
    return any(all(demo.get(name) == texts[name] for name in same) for demo in predict.demos)


def _recorded(
    labels: LabelSet, settings: CompileSettings, said: Mapping[str, tuple[Judgments, float | None]]
) -> RecordedVerdicts:
    about, found = {one.name: one for one in settings.rated.asked}, {}
    for name, (judged, cost) in sorted(said.items()):
        n, model = len(judged.item_ids), settings.lm.members[name]
        found[name] = Recording(
            about=AboutJudge(model.model, _prompt(about[name], model)),
            said=replace(judged, unscored=tuple(None if one is None else NO_VERDICT for one in judged.unscored)),
            cost=np.full(n, np.nan if cost is None else cost),
            calls=np.full(n, 1.0 + compares(labels.task)),
        )
    notes = (
        "what candidates cost is by list price and the length of their prompts",
        *_searched(settings.rated.asked, {name: len(labels.items) - len(one.cost) for name, one in found.items()}),
        *_unscored(said),
    )
    return RecordedVerdicts("candidates", OnWhat.of(labels), found, notes)


def _prompt(candidate: AskedCandidate, model: LMSpec) -> str:
    """The prompt, for whoever reads the report."""
    if model.provider == FUNCTION:
        return f"{model.model} is a Python function, which is given the item and no prompt."
    return str(first_predictor(candidate.module).signature.instructions)


def _unscored(said: Mapping[str, tuple[Judgments, float | None]]) -> Iterator[str]:
    for name, (judgments, _) in said.items():
        kinds = sorted({reason.partition(":")[0] for reason in judgments.unscored if reason})
        if kinds:
            yield f"{name}: {sum(map(bool, judgments.unscored)):,} items without a verdict: {', '.join(kinds)}"


def _searched(candidates: Sequence[AskedCandidate], left_out: Mapping[str, int]) -> Iterator[str]:
    """Yields the prompts that the searches have made, and for each the number of items that it is not asked about."""
    for one in candidates:
        if one.searched is None:
            continue
        yield from (f"{one.name}: {note}" for note in one.notes)
        same = one.searched.name == UNCOMPILED
        kept = "its prompt stays as it was" if same else f"asked with prompt {one.searched.name}"
        missing = left_out[one.name]
        more = f"; not asked about {missing:,} items whose labels the prompt was made from" if missing else ""
        yield f"{one.name}: {kept}{more}"
