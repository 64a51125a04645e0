"""A judge: its tree, and what that grades."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self, cast

import dspy
from pydantic import ValidationError

from judgec.errors import ArtifactError, UserError
from judgec.evidence.model import EvidenceModel
from judgec.lm.executor import Ask
from judgec.lm.spec import FUNCTION, members_of
from judgec.raters.about_judges import ROLES
from judgec.raters.calibrator import Calibrator
from judgec.raters.checks import COLUMNS
from judgec.raters.piece import Piece
from judgec.raters.pool import merged
from judgec.raters.predictors import damaged, module_of, saved_prompt
from judgec.raters.programs import BEFORE, Json, Program, gone
from judgec.raters.prompt import leaf_rater
from judgec.raters.rate import rate_all
from judgec.raters.rater import Rater
from judgec.raters.replies import is_form
from judgec.raters.run import Bound, Run
from judgec.raters.signatures import fingerprint
from judgec.raters.tree import (
    Calibrated,
    Cascade,
    EvidenceAlone,
    FunctionLeaf,
    Leaf,
    Mean,
    Node,
    PromptLeaf,
    Rates,
    SavedTree,
)
from judgec.raters.turns import unfit
from judgec.records.card import EVIDENCE_ALONE, ProgramCard
from judgec.records.cost import JudgeKind
from judgec.records.counts import plural
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.records.scale import Scale
from judgec.records.tasks.registry import TASKS, compares
from judgec.records.tasks.spec import PAIR

A_MODEL = "provider/name"  # as --lm is typed
FORESTS = frozenset({"trees", "mix", "mirrored", "mirrored_mix"})  # families of calibrators until 0.9


def no_verdicts(leaf: Leaf, judge: str = "") -> Rater:
    """A leaf whose verdicts nobody gives; ``judge`` names the judge that it is of.

    Raises:
        UserError: Always.
    """
    whose = f"{judge}: {leaf.name}" if judge else leaf.name
    raise UserError(
        f"{whose}: its verdicts were recorded, and a judge that is made of them is asked by judge FILE and load_judge "
        "alone, which look them up. Name a judge whose members are all asked, or compile one without recorded ones."
    )


def require_asked(judge: "JudgeTree", name: str) -> None:
    """Refuse a judge, by its name, of which somebody's verdicts were recorded, of other items than are judged here.

    Raises:
        UserError: Naming whose.
        ArtifactError: It needs what is gone.
    """
    for leaf in judge.rater.leaves:
        if leaf.verdicts:
            no_verdicts(leaf, name)


@dataclass(frozen=True)
class JudgeTree:
    """Everything that turns items into judgments.

    Args:
        tree: Who is asked, and how grades follow; None of a judge that was saved before trees were.
        task: What is judged.
        scale: The grades.
        aspects: What is graded of each item.
        tie_band: Scores that differ by at most this are a tie, in scale units; None when none was fitted.
        remarks: What calibration and evidence have to say stands behind a verdict's own reason.
        gone: Why it cannot judge any more, from ``programs.gone``; empty for a judge that can.
    """

    tree: Rates | None
    task: str
    scale: Scale
    aspects: tuple[str, ...]
    tie_band: float | None = None
    remarks: bool = field(default=True, repr=False, compare=False)
    gone: str = field(default="", repr=False, compare=False)

    @property
    def rater(self) -> Rates:
        """The tree.

        Raises:
            ArtifactError: It needs what is gone.
        """
        if self.tree is None:
            raise ArtifactError(self.gone)
        return self.tree

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """Those whose verdicts come from outside, each once; none of evidence alone."""
        return () if self.tree is None else tuple({one.name: one for one in self.tree.leaves}.values())

    @property
    def prompts(self) -> tuple[PromptLeaf, ...]:
        """The leaves that are prompts."""
        return tuple(one for one in self.leaves if isinstance(one, PromptLeaf))

    @property
    def asks_lm(self) -> bool:
        """False when evidence alone judges."""
        return bool(self.leaves) or self.tree is None

    @property
    def calibrators(self) -> Mapping[str, Calibrator]:
        """By aspect those that give the grades; of a cascade the second judge's."""
        return {} if self.tree is None else self.tree.calibrators

    @property
    def evidence(self) -> EvidenceModel | None:
        """The evidence that these read, or None."""
        node = self.tree
        while isinstance(node, Cascade):
            node = node.then
        return node.model if isinstance(node, EvidenceAlone) else node.beside if isinstance(node, Calibrated) else None

    @cached_property
    def pairs(self) -> bool:
        """True if it compares two answers."""
        return compares(self.task) or any({*PAIR} <= {*one.inputs} for one in self.prompts)

    @property
    def kind(self) -> JudgeKind:
        """What the grades follow from, under the calibrators."""
        return kind_of(self.rater)

    @property
    def sentence(self) -> str:
        """What judges, for people."""
        return sentence_of(self.rater)

    @property
    def uncalibrated(self) -> Self:
        """The same without its calibrators: of a cascade the second judge."""
        node = self.rater
        while isinstance(node, Calibrated | Cascade):
            node = node.of if isinstance(node, Calibrated) else node.then
        return replace(self, tree=node)

    def with_prompts(self, change: Callable[[PromptLeaf], PromptLeaf]) -> Self:
        """The same with other prompts."""
        return replace(self, tree=_changed(self.rater, change))

    def run(self, open: Callable[[Leaf], Rater], **more: Any) -> Run:  # noqa: A002 - as of a file; more as of Run
        """What it rates with, given its leaves."""
        details = TASKS[self.task].details if self.task in TASKS else ()
        checks = next((output for output, columns in COLUMNS.items() if columns == details), "")
        return Run(self.scale, self.aspects, open, self.pairs, checks, remarks=self.remarks, **more)

    def judge(
        self,
        items: Sequence[Item],
        ask: Ask,
        *,
        one_order: bool = False,
    ) -> Judgments:
        """Judge items; one that nobody gave a verdict on stays unscored, whatever the evidence says.

        Args:
            items: Any number.
            ask: Sends requests to the models, which they call by the names of the leaves where there are several.
            one_order: Of a judge that compares two answers: ask one order only.

        Raises:
            UserError: Verdicts of a leaf were recorded, and nobody gives them.
            ArtifactError: It needs what is gone.
        """

        def opened(leaf: Leaf) -> Rater:
            if leaf.verdicts:
                return no_verdicts(leaf)
            to = leaf.name if len(self.leaves) > 1 else ""
            return leaf_rater(leaf, self.scale, self.aspects, both_orders=self.pairs and not one_order, to=to)

        return rate_all(Bound(self.rater, self.run(opened)), items, ask)

    def graded(self, items: Sequence[Item], raw: Judgments | None) -> Judgments:
        """The judgments that follow from raw verdicts, or from evidence alone where ``raw`` is None.

        Args:
            items: What was judged, in the order of ``raw``.
            raw: Of a cascade those of its second judge, with those of the first in ``first``.
        """
        piece = Piece(tuple(item.item_id for item in items), (b"",) * len(items), items)
        return _graded(self.rater, piece, raw, self.run(no_verdicts))

    def saved(self) -> Json:
        """The tree as JSON."""
        return self.rater.model_dump(mode="json")


def uncompiled(module: dspy.Module, task: str, scale: Scale, aspects: tuple[str, ...]) -> JudgeTree:
    """A prompt as a judge, as nobody compiled it.

    Args:
        module: The prompt.
        task: What it judges.
        scale: The grades.
        aspects: What is graded.
    """
    return JudgeTree(Calibrated(of=saved_prompt(module, scale)), task, scale, aspects)


def load_judge(program: Program) -> JudgeTree:
    """The judge that was saved; one that needs what is gone refuses to judge.

    Raises:
        ArtifactError: The saved tree is damaged, or none of this judge.
    """
    card = program.card
    about = card.task, card.scale, card.aspects, card.tie_band
    forest = next((family for family in _families(program.tree) if family in FORESTS), "")
    if not program.tree or forest:
        asks = card.task in TASKS and TASKS[card.task].read_by_models(card.fields)
        lm = A_MODEL if asks and not card.evidence_alone else ""
        what = f"a calibrator of the family {forest}" if forest else BEFORE
        return JudgeTree(None, *about, gone=gone(program, what, lm))
    where = f"{card.name}@{card.version}: tree.json"
    try:
        tree = SavedTree.model_validate_json(json.dumps({"tree": program.tree})).tree
    except ValidationError as error:
        raise damaged(error, where, "judge holds prompts, names and numbers") from error
    except ArtifactError as fault:  # of the evidence
        raise ArtifactError(f"{where}: {fault}") from fault
    _require_sound(tree, card, where)
    judge = JudgeTree(tree, *about)
    _require_own(judge, card, where)
    return judge


def _families(saved: object) -> Iterator[str]:
    """The families of the calibrators in a saved tree."""
    if isinstance(saved, dict):
        if {"family", "n_grades"} <= saved.keys():
            yield str(saved["family"])
        saved = list(saved.values())
    for part in saved if isinstance(saved, list) else ():
        yield from _families(part)


def _require_own(judge: JudgeTree, card: ProgramCard, where: str) -> None:
    """Refuse leaves that are not those of the card.

    Raises:
        ArtifactError: Another prompt, or two raters of one name.
    """
    by_name = {one.name: one for one in judge.leaves}
    if twice := [one.name for one in judge.rater.leaves if one != by_name[one.name]]:
        raise ArtifactError(f"{where}: two raters of the name {twice[0]}; one is valid. Compile it again.")
    members = members_of(card.lm)
    if members and (strange := [name for name in by_name if name not in members]):
        known = ", ".join(members)
        raise ArtifactError(
            f"{where}: rater {strange[0]!r}; those of the card, {known}, were expected. Compile it again."
        )
    signature = signature_of(judge)
    if signature and card.signature and signature != tuple(card.signature):
        other = sorted({*signature} ^ {*card.signature}) or ["the order of the fields"]
        raise ArtifactError(f"{where}: the prompt is none of its card: {', '.join(other)} differ. Compile it again.")


def _require_sound(node: Node, card: ProgramCard, where: str) -> None:
    """Refuse parts that do not fit the card.

    Raises:
        ArtifactError: Saying which.
    """
    for one in node.parts:
        _require_sound(one, card, where)
    if isinstance(node, PromptLeaf) and (fault := _fault(node, card)):
        raise ArtifactError(f"{where}: prompt {node.name}: {fault}. Compile it again.")
    fitted = node.by if isinstance(node, Calibrated | EvidenceAlone) else {}
    model = node.model if isinstance(node, EvidenceAlone) else node.beside if isinstance(node, Calibrated) else None
    for aspect, by in fitted.items():
        names = () if by.source == "lm" else by.feature_names
        alone = isinstance(node, EvidenceAlone) and by.source != "evidence"
        fits = not alone and (not names or (model is not None and model.names == names))
        if aspect not in card.aspects or by.n_grades != len(card.scale.grades) or not fits:
            raise ArtifactError(
                f"{where}: {aspect} with {by.n_grades} grades and {plural(len(names), 'feature')}; "
                f"{', '.join(card.aspects)} with {plural(len(card.scale.grades), 'grade')} and the features of the "
                "evidence beside them were expected. Compile it again."
            )
    if isinstance(node, EvidenceAlone) and (missing := set(card.aspects) - fitted.keys()):
        raise ArtifactError(f"{where}: evidence without {', '.join(sorted(missing))}. Compile it again.")


def _fault(prompt: PromptLeaf, card: ProgramCard) -> str:
    """What does not fit the card, and what would; empty where all does."""
    if prompt.verdict is not None and not is_form(prompt.verdict):
        return f"verdict {prompt.verdict!r}; a text with {{v}} for the grade is valid"
    if prompt.turns:
        if roles := {role for turns in prompt.turns.values() for role, _ in turns} - ROLES:
            return f"role {min(roles)}; {', '.join(sorted(ROLES))} are valid"
        return unfit(prompt.turns, card.task, card.aspects) if card.task in TASKS else ""
    if len(prompt.grades) != len(card.aspects):
        found = ", ".join(prompt.grades) or "none"
        return f"grades {found}; one for each of {', '.join(card.aspects)} was expected"
    return ""


def _graded(node: Node, piece: Piece, raw: Judgments | None, run: Run) -> Judgments:
    """What a node makes of raw verdicts; evidence alone reads none."""
    if raw is None or isinstance(node, EvidenceAlone):
        return rate_all(Bound(node, run), piece.items)
    if isinstance(node, Calibrated):
        return node.graded(piece, raw, run)
    if not isinstance(node, Cascade):
        return raw
    first = _graded(node.first, piece, raw.first, run)
    rows = node.passed_on(first)
    some = rows.tolist()
    return merged(first, _graded(node.then, piece.only(some), raw.subset(some), run), rows)


def _changed(node: Rates, change: Callable[[PromptLeaf], PromptLeaf]) -> Rates:
    """The same tree with other prompts."""
    if isinstance(node, PromptLeaf):
        return change(node)
    if isinstance(node, Calibrated):
        return node.model_copy(update={"of": _changed(node.of, change)})
    if isinstance(node, Mean):
        return node.model_copy(update={"of": tuple(_changed(one, change) for one in node.of)})
    if isinstance(node, Cascade):
        return node.model_copy(update={"first": _changed(node.first, change), "then": _changed(node.then, change)})
    return node


def kind_of(node: Node) -> JudgeKind:
    """What the grades of a node follow from, under the calibrators."""
    if isinstance(node, Calibrated):
        return kind_of(node.of)
    if isinstance(node, Leaf) and node.verdicts:
        return "recorded"
    return "panel" if isinstance(node, Mean) else cast("JudgeKind", node.kind)


def sentence_of(node: Node) -> str:
    """What a node is, for people."""
    if isinstance(node, Calibrated):
        return sentence_of(node.of)
    if isinstance(node, EvidenceAlone):
        return EVIDENCE_ALONE
    named = node.name if isinstance(node, Leaf) else ", ".join(map(sentence_of, node.parts))
    return f"{kind_of(node)} {named}"


def recorded_judges(*programs: Program) -> tuple[str, ...]:
    """The recorded judges that saved ones were made of; none of a judge that asks models alone."""
    return tuple(dict.fromkeys(leaf.name for one in programs for leaf in load_judge(one).leaves if leaf.verdicts))


def signature_of(judge: JudgeTree) -> tuple[str, ...]:
    """Name, direction and type of every field of its prompt, for the card; empty without one in fields."""
    written = [one for one in judge.prompts if one.fields]
    return fingerprint(module_of(written[0], judge.scale)) if written else ()


def outline(node: Node) -> dict[str, object]:
    """The report's ``tree``: kind, name, model, how and ``of``; what does not apply is left out."""
    evidence: dict[str, object] = {"kind": "evidence", "name": "evidence"}
    how = ", ".join(dict.fromkeys(one.family for one in node.calibrators.values()))
    if isinstance(node, EvidenceAlone):
        return {"kind": "calibrated", "how": how, "of": [evidence]}
    if isinstance(node, Calibrated):
        beside = [evidence] if any(one.source != "lm" for one in node.by.values()) else []
        return {"kind": "calibrated", "how": how, "of": [outline(node.of), *beside]} if node.by else outline(node.of)
    if isinstance(node, Leaf):
        model = (
            str(node.lm.get("model") or "").removeprefix(f"{FUNCTION}/")
            if isinstance(node, PromptLeaf | FunctionLeaf)
            else ""
        )
        return {"kind": kind_of(node), "name": node.name, **({"model": model} if model else {})}
    pooled = {"kind": "pool", "how": "mean"} if isinstance(node, Mean) else {"kind": "cascade"}
    return {**pooled, "of": [*map(outline, node.parts)]}
