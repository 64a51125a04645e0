"""Holds what a writer of questions returns, and checks it before it may test anybody."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from judgec.evidence.text import Library
from judgec.rag.queries.filters import DATE, has_date
from judgec.rag.queries.sampling import Draw, seeded
from judgec.rag.queries.terms import TermIndex, content
from judgec.rag.retrieval.passages import Passage
from judgec.records.scenario.schema import Question, QuestionPart, Scenario, Turn

REDRAWS = 3  # drafts beyond the first that a question may take, where a draft costs calls
SUPPORTED = 0.5  # share of an answer's content words that must stand in the passages
LETTERS = "ABCDEFGH"
ANSWERED = "the documents may answer it"
_UNSEEN = re.compile(
    r"\b(?:the|this|these|that|above|given|provided) (?:passage|text|excerpt|document|context|paragraph|section|table)"
    r"s?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A question as it was written, before any check.

    Args:
        query: The question.
        reference: The answer; empty for a question without one.
        parts: The single questions of a message that asks several.
        options: Of a multiple-choice question, the right one among them.
        wrong: What an answer must not give in place of the reference.
        history: The conversation before the question.
        focus: What is asked, in words that the documents should not hold together with the subject; ``absent`` only.
        subject: What it is asked about; ``absent`` only.
    """

    query: str
    reference: str
    parts: tuple[QuestionPart, ...] = ()
    options: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    history: tuple[Turn, ...] = ()
    focus: str = ""
    subject: str = ""


class QuestionWriter(Protocol):
    """Writes questions: rules (``rag.rules``) or a language model (``rag.queries.asking``)."""

    @property
    def name(self) -> str:
        """The model, as reports name it."""
        ...

    @property
    def redraws(self) -> int:
        """Drafts beyond the first that a question may take, on average; ``sys.maxsize`` where a draft is free."""
        ...

    def usable(self, scenario: Scenario, passage: Passage) -> bool:
        """True if a question of the scenario can be made from a passage at all."""
        ...

    def write(self, scenario: Scenario, drawn: Sequence[Draw]) -> list[Draft | str]:
        """A draft for each draw, in order, or the reason why there is none."""
        ...


def check(draft: Draft, scenario: Scenario, draw: Draw, terms: TermIndex) -> str:
    """The reason why a draft cannot be used, or nothing.

    Rules only: what a rule can see. A reliability judge sees more.
    """
    if not draft.query.strip():
        return "no question"
    if scenario.form == "absent":
        return ANSWERED if terms.answered(content(draft.focus), content(draft.subject)) else ""
    if not draft.reference.strip():
        return "no answer"
    if _UNSEEN.search(draft.query):
        return "the question points at its passage"
    passages = "\n".join(f"{chunk.title}\n{chunk.text}" for chunk in draw.chunks)
    if scenario.form == "choice" and (fault := choice_fault(draft, passages)):
        return fault
    if scenario.form == "several" and len(draft.parts) < 2:
        return "fewer than two parts"
    said = [part.reference for part in draft.parts] or [draft.reference]  # without the numbers of a list
    # What is wrong in a false premise is named in the answer, too.
    known = _figures(f"{passages}\n{draft.query}" if scenario.form == "false_premise" else passages)
    if not set().union(*map(_figures, said)) <= known:
        return "a figure or date of the answer is not in the passage"
    if scenario.form == "number" and not _figures(DATE.sub(" ", draft.reference)):
        return "the answer has no number"
    if scenario.form == "date" and not has_date(f"in {draft.reference}"):  # a year alone is one, too
        return "the answer has no date"
    if scenario.form == "false_premise":  # it says that something is wrong, in words of its own
        return ""
    answer = [word for word in content(draft.reference) if word not in content(draft.query)]
    if answer and sum(word in content(passages) for word in answer) / len(answer) < SUPPORTED:
        return "the answer is not in the passage"
    return ""


def _figures(text: str) -> set[str]:
    """The numbers of a text, in figures or words, and the months of its dates, in one written form."""
    dates = " ".join(found.group() for found in DATE.finditer(text))
    return {*Library().read(text).numbers, *Library().read(dates).months}


def choice_fault(draft: Draft, passages: str) -> str:
    """The reason why not exactly one option is right, or nothing.

    One option equals the answer; the others differ from it and from each other, and none of them stands in the passage
    beside it when it is a figure or a date.
    """
    same = [option for option in draft.options if plain(option) == plain(draft.reference)]
    written = {_written(option) for option in draft.options}
    if len(draft.options) < 2 or len(written) < len(draft.options):
        return "options are missing or repeated"
    if len(same) != 1:
        return "not exactly one option is the answer"
    text = plain(passages)
    figures = [option for option in draft.options if option not in same and any(map(str.isdigit, option))]
    if any(re.search(rf"(?<!\w){re.escape(plain(option))}(?!\w)", text) for option in figures):
        return "a wrong option stands in the passage"
    return ""


def _written(option: str) -> tuple[str, ...]:
    """An option in one written form: 1,000 is 1000, and 2024-05-01 is 1 May 2024; a sign makes a difference."""
    return (*sorted(Library().read(option).stems), *re.findall(r"(?<!\w)-(?=\d)", option))


def plain(text: str) -> str:
    """A text without case, punctuation at its ends and repeated spaces: what makes two options the same."""
    return " ".join(text.casefold().split()).strip(" .,;:")


def finished(draft: Draft, scenario: Scenario, draw: Draw, lm: str) -> Question:
    """The question as systems are asked it; options are shuffled by the draw's seed and lettered."""
    options = list(draft.options)
    seeded(draw.seed, "options").shuffle(options)
    query, right = draft.query.strip(), None
    if options:
        right = next(i for i, option in enumerate(options) if plain(option) == plain(draft.reference))
        listed = "\n".join(f"{LETTERS[i]}) {option}" for i, option in enumerate(options))
        query = f"{query}\n{listed}\nAnswer with the letter and the option."
    return Question(
        query_id=draw.key,
        query=query,
        reference="" if scenario.form == "absent" else draft.reference.strip(),
        scenario=scenario.id,
        form=scenario.form,
        metrics=scenario.acceptable_metrics,
        doc_ids=tuple(dict.fromkeys(chunk.doc_id for chunk in draw.chunks)),
        passage_ids=tuple(chunk.passage_id for chunk in draw.chunks),
        passages=tuple(chunk.text for chunk in draw.chunks),
        parts=draft.parts,
        options=tuple(options),
        right=right,
        wrong=draft.wrong,
        history=draft.history,
        lm=lm,
        seed=draw.seed,
    )
