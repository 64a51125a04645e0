"""A candidate: a prompt that might become the judge, and what it has seen of the train labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import dspy

from judgec.lm.adapters import CHAT, with_adapter
from judgec.lm.executor import Ask
from judgec.raters.piece import Piece
from judgec.raters.predictors import with_instructions
from judgec.raters.programs import Program
from judgec.raters.prompt import prompt_rater
from judgec.raters.rate import rate_all
from judgec.raters.rater import Rating, together
from judgec.raters.registry import judge_module
from judgec.raters.tree import Rates
from judgec.records.judgment import NOT_ASKED, Judgments, concatenate
from judgec.records.label import Item, LabelSet
from judgec.records.language import languages_of
from judgec.records.scale import Scale

UNCOMPILED = "zero-shot"
RUBRIC = "\n\nGrades"  # where the rubric begins that ``raters.signatures`` writes under a task's instructions


def as_it_was(name: str) -> str:
    """Name of a candidate before a search changed its prompt."""
    return f"{name} {UNCOMPILED}"


@dataclass(frozen=True, slots=True)
class Unseen:
    """A stand-in for a prompt on some queries: the same prompt, made without their labels."""

    queries: frozenset[str]
    module: dspy.Module


@dataclass(frozen=True, slots=True)
class Candidate:
    """A prompt that might become the judge.

    Args:
        name: Unique in a compile.
        module: The judge with this prompt; of what is not asked in this compile, that of the task.
        queries: The query of each demonstration, in order; an item of these is judged without its demonstrations.
        settings: How it was made, for the record.
        reflected: The queries whose labels the instructions were written from; likewise.
        unseen: Where all of them were: what judges a query in its place when it is valued or fits a calibrator.
        rater: It as it will be saved, where that is not the prompt in ``module``.
        program: The compiled judge that it is, or None.
    """

    name: str
    module: dspy.Module
    queries: tuple[str, ...] = ()
    settings: Mapping[str, str | int] = field(default_factory=dict)
    reflected: tuple[str, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    rater: Rates | None = None
    program: Program | None = field(default=None, repr=False)

    def form(self, query: str) -> dspy.Module | None:
        """The prompt that is put to items of a query, which has seen nothing of it; None where every form has.

        Args:
            query: Its id.
        """
        if query in self.reflected:
            return None
        module = next((one.module for one in self.unseen if query in one.queries), self.module)
        if query not in self.queries:
            return module
        shown = zip(first_predictor(module).demos, self.queries, strict=True)
        return with_demonstrations(module, [demo for demo, of in shown if of != query])

    def verdicts(self, items: Sequence[Item], *, ask: Ask, scale: Scale, aspects: tuple[str, ...]) -> Judgments:
        """Raw verdicts, each of a form of the prompt that has seen nothing of the item's query; else it is not asked.

        Args:
            items: As for ``raters.prompt.verdicts``, and so are the others.
            ask: Sends the requests.
            scale: The grades.
            aspects: What is graded.
        """
        return rate_all(CandidateRater(self, scale, aspects), items, ask)

    def asked_about(self, items: Sequence[Item]) -> list[int]:
        """The rows of items that it is asked about."""
        return [row for form, rows in self.rows(items).items() if form is not None for row in rows]

    def rows(self, items: Sequence[Item]) -> dict[dspy.Module | None, list[int]]:
        """The rows of items by the form of the prompt that is put to them, ``None`` for those that it is not asked."""
        forms = {query: self.form(query) for query in dict.fromkeys(item.query_id for item in items)}
        found: dict[dspy.Module | None, list[int]] = {}
        for row, item in enumerate(items):
            found.setdefault(forms[item.query_id], []).append(row)
        return found


@dataclass(frozen=True, slots=True)
class CandidateRater:
    """Rates with a candidate, each item by a form of its prompt that has seen nothing of the item's query.

    Args:
        of: The candidate.
        scale: The grades.
        aspects: What is graded.
        to: What requests call its model.
    """

    of: Candidate
    scale: Scale
    aspects: tuple[str, ...]
    to: str = ""

    def rate(self, piece: Piece) -> Rating:
        """As ``Rater.rate``."""
        rows = self.of.rows(piece.items)
        spared = rows.pop(None, [])
        raters = [prompt_rater(form, scale=self.scale, aspects=self.aspects, to=self.to) for form in rows if form]
        said = yield from together(
            [one.rate(piece.only(those)) for one, those in zip(raters, rows.values(), strict=True)]
        )
        if spared or not said:
            said.append(not_asked([piece.items[row] for row in spared], self.scale, self.aspects))
        if len(said) == 1:
            return said[0]
        place = [row for those in (*rows.values(), spared) for row in those]
        return concatenate(said).subset(sorted(range(len(place)), key=place.__getitem__))


def not_asked(items: Sequence[Item], scale: Scale, aspects: tuple[str, ...]) -> Judgments:
    """Judgments of items that nobody was asked about."""
    return Judgments.blank([item.item_id for item in items], aspects, len(scale.grades), NOT_ASKED)


def with_demonstrations(module: dspy.Module, demos: Sequence[dspy.Example]) -> dspy.Module:
    """A copy of the judge that shows these demonstrations and no others."""
    copy = module.deepcopy()
    first_predictor(copy).demos = list(demos)
    return copy


def task_module(labels: LabelSet, adapter: str = CHAT) -> dspy.Module:
    """The prompt of a judge of these labels before anything is compiled, in the form of an adapter."""
    module = judge_module(labels.task, labels.scale, labels.aspects, labels.fields, languages_of(labels.items))
    return with_adapter(module, adapter)


def instructed(module: dspy.Module, texts: Mapping[str, str]) -> tuple[Candidate, ...]:
    """The user's own prompts as candidates, each above the rubric of the judge.

    Args:
        module: The judge as it is.
        texts: By the name of the candidate.
    """
    rubric = split_rubric(first_predictor(module).signature.instructions)[1]
    return tuple(
        Candidate(name, with_instructions(module, text.strip() + rubric), settings={"kind": "instructions"})
        for name, text in texts.items()
    )


def first_predictor(module: dspy.Module) -> dspy.Predict:
    """The judge's one predictor."""
    return module.predictors()[0]


def split_rubric(instructions: str) -> tuple[str, str]:
    """Splits off the part that an optimizer may rewrite from the rubric that stays, with the blank line before it."""
    above, start, rubric = instructions.rpartition(RUBRIC)
    return (above, start + rubric) if start else (instructions, "")
