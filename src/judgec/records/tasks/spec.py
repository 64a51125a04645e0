"""Declares what a task is: its columns, what experts are asked, its usual scale, its evidence and its prompt."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from judgec.errors import UserError
from judgec.records.conversation import DIALOGUE, TURNS
from judgec.records.counts import plural
from judgec.records.scale import Scale
from judgec.records.trajectory import STEPS

ASPECT_PREFIX = "grade."
MODE_PREFIX = "mode."
PREFIXES = (ASPECT_PREFIX, MODE_PREFIX)  # of label columns
BY_ASPECT = f"{ASPECT_PREFIX}<aspect>"  # the label column of a task with a grade for each of several aspects
BY_MODE = f"{MODE_PREFIX}<mode>"  # of a task whose aspects are faults that are there or not
PAIR = ("answer_a", "answer_b")
PAIR_AGENTS = ("agent_a", "agent_b")
PAIR_GRADES: tuple[Literal["a", "b", "tie"], ...] = ("a", "b", "tie")
BY_MODELS = {*TURNS, DIALOGUE, STEPS}  # inputs that no rule reads
TOLD = ("told", "rubric")  # families of what a language model said: only tasks read them that name them
FAMILIES = (
    *("document", "answer", "reference", "contexts"),
    *TOLD,
)


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """Everything that the program knows about one task.

    Args:
        name: What ``--task`` and the datasheet call it.
        required: Input columns that every file has; ``query`` is the first.
        labels: Label columns; they are alternatives, one of them is enough. ``accept`` among them: accept / reject
            may be labelled instead. ``(BY_ASPECT,)`` for a grade for each of several aspects, ``(BY_MODE,)`` for faults
            that are there or not.
        scale: The usual scale, where nobody declared one; its name is that of declared grades, too.
        signature: ``module:name`` of the DSPy Signature, or of a function that builds the module
            (``raters.registry.JudgeBuilder``). It is imported when a judge is built, so that reading labels is quick.
        optional: Input columns that a file may have.
        settled: The scale needs no declaration.
        meanings: What the grades of the usual scale mean, where the scale that is used gives no meanings.
        aspects: What is asked about each aspect, by name, in the order in which they are asked.
        aspect_meanings: What the grades of the usual scale mean for an aspect, by name; it goes before ``meanings``.
        usual_aspects: The aspects that are asked where the file names none; default: all of ``aspects``.
        other_aspects: What is asked about an aspect that the file made up.
        graded: The inputs that are graded: an item without them is judged as empty, never left out.
        lists: Inputs that are several texts.
        joined: Inputs that are one text; of several, alternatives separated by ``" | "``.
        hidden: Inputs that tell who answered; people who grade do not see them.
        shown: The other inputs in the order of reading; default: as they are declared.
        told_by: Input columns that tell the task where no label column does.
        evidence: The inputs that each family of evidence reads (the first that an item has), by family: ``document``,
            ``answer``, ``reference``, ``contexts``; default: those called like the family. ``told`` (what a model said
            of claims) and ``rubric`` (what it said of nuggets) are read by tasks alone that name them.
        rates_answers: A judge of it can tell which of two systems answers better.
        one_of: Inputs of which a file has at least one.
        inferred_by: Inputs one of which tells the task, where its labels are those of another task too; without one it
            is taken only where somebody names it.
        details: Further columns of ``judge`` rows.
        spellings: Grades by what people write for them, as ``registry.plain`` has it; beside the grades themselves.
        modes_task: The task that takes its place where the labels are failure modes.
    """

    name: str
    required: tuple[str, ...]
    labels: tuple[str, ...]
    scale: Scale
    signature: str
    optional: tuple[str, ...] = ()
    settled: bool = False
    meanings: tuple[str, ...] = ()
    aspects: Mapping[str, str] = field(default_factory=dict)
    aspect_meanings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    usual_aspects: tuple[str, ...] = ()
    other_aspects: str = "judged by itself"
    graded: tuple[str, ...] = ("answer",)
    lists: tuple[str, ...] = ("contexts", *TURNS, STEPS)
    joined: tuple[str, ...] = ("reference",)
    hidden: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    told_by: tuple[str, ...] = ()
    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rates_answers: bool = False
    spellings: Mapping[str, str] = field(default_factory=dict)
    one_of: tuple[str, ...] = ()
    inferred_by: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    modes_task: str = ""

    def __post_init__(self) -> None:
        """Say what is wrong with the declaration of a plugin, before a file is read with it."""
        tuples = (
            "required",
            "optional",
            "labels",
            "meanings",
            "graded",
            "lists",
            "joined",
            "hidden",
            "shown",
            "told_by",
            "one_of",
            "inferred_by",
            "details",
        )
        if texts := [name for name in tuples if isinstance(getattr(self, name), str)]:
            raise UserError(
                f"task {self.name}: {', '.join(texts)} is one text; a tuple of texts is needed. Add a comma."
            )
        inputs = self.inputs
        used = {
            *self.graded,
            *self.shown,
            *self.told_by,
            *self.one_of,
            *self.inferred_by,
            *(name for names in self.evidence.values() for name in names),
        }
        others = set(self.evidence) - set(FAMILIES)
        uneven = [name for name, said in self.aspect_meanings.items() if len(said) != len(self.scale.grades)]
        faults = {
            f"required is {list(self.required)}; the first is 'query'": self.required[:1] != ("query",),
            "labels is empty; at least one column is needed": not self.labels,
            f"graded is {list(self.graded)}; at least one required input is needed": not set(self.graded)
            & set(self.required),
            f"{sorted(used - set(inputs))} are not among the inputs {list(inputs)}": not used <= set(inputs),
            f"{sorted({*self.labels} & {*inputs})} are inputs and labels": bool({*self.labels} & {*inputs}),
            f"evidence has {sorted(others)}; the families are {', '.join(FAMILIES)}": bool(others),
            f"{len(self.meanings)} meanings for {plural(len(self.scale.grades), 'grade')}; one a grade, or none": len(
                self.meanings
            )
            not in {0, len(self.scale.grades)},
            f"aspect_meanings of {', '.join(uneven)}: {len(self.scale.grades)} are needed, one a grade": bool(uneven),
            f"signature is {self.signature!r}; 'module:name' is needed": self.signature.count(":") != 1,
            f"the grades of a task that compares answers are {', '.join(PAIR_GRADES)}": self.pairs
            and self.scale.grades != PAIR_GRADES,
        }
        if wrong := [sentence for sentence, applies in faults.items() if applies]:
            raise UserError(f"task {self.name}: {'; '.join(wrong)}. Correct its declaration.")

    @property
    def inputs(self) -> tuple[str, ...]:
        """All input fields, in the order in which they are hashed."""
        return self.required + self.optional

    @property
    def reading(self) -> tuple[str, ...]:
        """The inputs that people who grade see, in the order of reading."""
        first = [name for name in self.shown if name not in self.hidden]
        return (*first, *(name for name in self.inputs if name not in {*first, *self.hidden}))

    @property
    def by_aspect(self) -> bool:
        """True when each of several aspects gets a grade."""
        return bool(self.prefix)

    @property
    def prefix(self) -> str:
        """Prefix of the label columns of several aspects; empty for a task with one grade."""
        return {BY_ASPECT: ASPECT_PREFIX, BY_MODE: MODE_PREFIX}.get(self.labels[0], "")

    @property
    def of_modes(self) -> bool:
        """True when each aspect is a fault that is there or not."""
        return self.prefix == MODE_PREFIX

    @property
    def pairs(self) -> bool:
        """True when two answers are compared."""
        return set(PAIR) <= set(self.required)

    def read_by_models(self, fields: Iterable[str]) -> tuple[str, ...]:
        """What no rule reads of items with these inputs, so that a language model has to; empty for most tasks."""
        found = [*(["claims"] if not {*TOLD}.isdisjoint(self.evidence) else []), *sorted({*fields} & BY_MODELS)]
        return tuple(found)

    @property
    def takes_accept(self) -> bool:
        """True when accept / reject may be labelled."""
        return "accept" in self.labels

    @property
    def reads(self) -> Mapping[str, tuple[str, ...]]:
        """The inputs that each family of evidence reads."""
        return self.evidence or {
            family: (family,) for family in FAMILIES if family in self.inputs and family not in TOLD
        }

    def columns(self, aspects: tuple[str, ...]) -> tuple[str, ...]:
        """The column of each aspect's grade."""
        return tuple(f"{self.prefix}{aspect}" for aspect in aspects) if self.by_aspect else self.labels[:1]

    def meanings_of(self, scale: Scale, aspect: str = "") -> tuple[str, ...]:
        """Meanings of the grades of a scale for an aspect; may be empty.

        The first that there is: what the scale says of the aspect, of all of them, and, on the task's usual grades,
        what the task says of the aspect, of all of them.
        """
        own = scale.aspect(aspect).meanings or scale.meanings
        if own or scale.grades != self.scale.grades:
            return own
        return self.aspect_meanings.get(aspect.casefold(), self.meanings)

    def question(self, aspect: str, scale: Scale) -> str:
        """The question about an aspect, in the words of the scale's author or the task's; may be empty."""
        return scale.aspect(aspect).asks or self.aspects.get(aspect.casefold(), self.other_aspects)
