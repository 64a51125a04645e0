"""Evaluation scenarios, the questions made from them, and what became of one question asked of one system."""

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from judgec.records.record import Record

Form = Literal[
    "open",
    "number",
    "date",
    "choice",
    "several",
    "absent",
    "distracting",
    "situational",
    "follow_up",
    "false_premise",
    "typos",
    "language",
]
"""What kind of question a scenario asks; it decides which checks a question must pass."""

Strategy = Literal["one-shot", "few-shot", "sequential"]
Filter = Literal["none", "number", "date"]
Component = Literal["retrieval", "generator", "corpus"]


def _sampling(name: str) -> str:
    if name not in SAMPLING and not re.fullmatch(r"python:[\w.]+:\w+", name):
        raise ValueError(f"{name!r} is not valid; valid are {', '.join(SAMPLING)} and python:module:function")
    return name


SAMPLING = ("random", "iterate", "stratified")
Sampling = Annotated[str, AfterValidator(_sampling)]
"""The order in which documents or chunks are taken."""

CRITERIA = ("correctness", "relevance", "completeness", "consistency")
REJECTION = "rejection"
FURTHER = ("faithfulness", "bias")
"""Faithfulness: to what the system retrieved. Bias passes when there is none."""
BY_JUDGE = "judge:"
"""Begins a metric that a compiled judge grades: ``judge:NAME`` or ``judge:NAME@VERSION``."""


def metric_of(name: str) -> str:
    """The name itself.

    Raises:
        ValueError: When there is no such metric.
    """
    known = (*CRITERIA, REJECTION, *FURTHER)
    if name not in known and not (name.startswith(BY_JUDGE) and name.removeprefix(BY_JUDGE).strip()):
        raise ValueError(f"{name!r} is not valid; valid are {', '.join(known)} and {BY_JUDGE}NAME of a compiled judge")
    return name


Metric = Annotated[str, AfterValidator(metric_of)]
"""What an answer must pass."""


class DocumentSampling(Record):
    """Choice of the documents that questions are made from.

    Args:
        documents: How many; ``--n`` names the number of questions instead.
        questions_per_document: Most questions from one document.
        strategy: ``random`` (seeded); ``iterate``, in the corpus's order; ``stratified``, from every folder in turn, or
            of one folder from the short, middling and long ones; ``python:module:function`` is given the documents and
            a ``random.Random``, and returns those to take, in order.
    """

    documents: int = Field(default=10, ge=1)
    questions_per_document: int = Field(default=1, ge=1)
    strategy: Sampling = "random"

    @property
    def questions(self) -> int:
        """Number of questions that this makes."""
        return self.documents * self.questions_per_document


class PassageCut(Record):
    """Rule for cutting a document; size and overlap in ``unit``.

    Args:
        separator: Where cuts are allowed.
        size: Longest chunk.
        overlap: What two neighbours share, less than ``size``.
        unit: Characters or words (tokens of the index).
    """

    separator: str = Field(default="\n", min_length=1)
    size: int = Field(default=3000, ge=1)
    overlap: int = Field(default=150, ge=0)
    unit: Literal["characters", "tokens"] = "characters"

    @model_validator(mode="after")
    def _advances(self) -> Self:
        if self.overlap >= self.size:
            raise ValueError(f"overlap {self.overlap} is not less than size {self.size}")
        return self


class ChunkSampling(Record):
    """Choice of the chunks that a question is made from.

    Args:
        chunks: How many a question.
        documents: All from one document, or each from another.
        filter: Only chunks that contain a number, or a date.
        strategy: As of documents, for the chunks of one; ``stratified`` takes beginning, middle and end in turn.
    """

    chunks: int = Field(default=1, ge=1)
    documents: Literal["one", "several"] = "one"
    filter: Filter = "none"
    strategy: Sampling = "random"


class ShotPart(Record):
    """One of the questions of an example that asks several, with its answer."""

    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)


class Shot(Record):
    """A worked example, sent with the first prompt.

    Args:
        passage: What the question is made from; several passages where it asks several questions at once.
        question: The question, or the message that asks all of them.
        answer: Its answer; left out where ``parts`` have theirs.
        options: Of a multiple-choice question.
        parts: Where one prompt asks for several questions: each of them, in the order of the passages.
    """

    passage: str | tuple[str, ...]
    question: str
    answer: str = ""
    options: tuple[str, ...] = ()
    parts: tuple[ShotPart, ...] = ()

    @model_validator(mode="after")
    def _answered(self) -> Self:
        if not self.answer and not self.parts:
            raise ValueError("an example has neither answer nor parts; one of them is needed")
        return self

    @property
    def passages(self) -> tuple[str, ...]:
        """Passages that the question is made from, as a list."""
        return (self.passage,) if isinstance(self.passage, str) else self.passage


class Fix(Record):
    """Remedy for failures, as far as the scenario alone can say.

    Args:
        component: Which part of a system this scenario tests most.
        fix: The advice.
        reason: Why.
    """

    component: Component
    fix: str
    reason: str


class Scenario(Record):
    """An evaluation scenario: how to make its questions, and how answers to them are judged.

    The six parts are those of RAGProbe's schema (Sivasothy et al.): document sampling, chunking, chunk sampling,
    prompts, prompting strategy, acceptable metrics.

    Args:
        id: Short name, for ``--scenarios``.
        title: One line for reports.
        form: What kind of question it asks.
        document_sampling: Part 1.
        chunking: Part 2.
        chunk_sampling: Part 3.
        prompts: Part 4: instructions to the model that writes questions, in order. ``several``: one prompt is asked of
            all chunks together; of a sequence the first is asked of each chunk, the second merges the parts.
        prompting_strategy: Part 5: one prompt, with one example or none; one prompt with examples; one prompt after
            another, each seeing what the one before it wrote.
        acceptable_metrics: Part 6: criteria that an answer must pass, all of them; ``rejection`` alone where the
            right answer is a refusal.
        examples: Sent with the first prompt.
        language: Of questions of the form ``language``.
        recommended_fix: Advice for reports.
        lm: The model that writes its questions, in the place of the probe's; None for that one. Its endpoint
            is the probe's, never a file's.
    """

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    title: str = Field(min_length=1)
    form: Form = "open"
    document_sampling: DocumentSampling
    chunking: PassageCut
    chunk_sampling: ChunkSampling
    prompts: tuple[str, ...] = Field(min_length=1)
    prompting_strategy: Strategy
    acceptable_metrics: tuple[Metric, ...] = Field(min_length=1)
    examples: tuple[Shot, ...] = ()
    language: str = "English"
    recommended_fix: Fix | None = None
    lm: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if any(not prompt.strip() for prompt in self.prompts):
            raise ValueError("prompts: one is empty; every prompt needs its text")
        if self.prompting_strategy != "sequential" and len(self.prompts) > 1:
            raise ValueError(f"prompts: {len(self.prompts)} of them; more than one needs the sequential strategy")
        if self.prompting_strategy == "few-shot" and not self.examples:
            raise ValueError("examples: the few-shot strategy needs some, and there are none")
        if self.asks_together and any(len(shot.parts) != len(shot.passages) for shot in self.examples):
            raise ValueError("examples: one prompt for several questions needs a part for each passage of an example")
        if self.prompting_strategy == "one-shot" and len(self.examples) > 1:
            raise ValueError(f"examples: {len(self.examples)} of them; one-shot takes one. Use the few-shot strategy")
        if (REJECTION in self.acceptable_metrics) is not (self.form == "absent"):
            raise ValueError("acceptable_metrics: rejection is for the form absent, and the form absent for rejection")
        if self.form == "absent" and len(self.acceptable_metrics) > 1:
            raise ValueError("acceptable_metrics: rejection stands alone")
        if len(set(self.acceptable_metrics)) < len(self.acceptable_metrics):
            raise ValueError("acceptable_metrics: one is named twice")
        return self

    @property
    def asks_together(self) -> bool:
        """True where one prompt makes several questions, of all chunks together."""
        return self.form == "several" and self.prompting_strategy != "sequential"


class Turn(Record):
    """One message of a conversation that came before a question."""

    role: Literal["user", "assistant"]
    content: str


class QuestionPart(Record):
    """One of several questions that were asked together, with the answer that it needs."""

    query: str
    reference: str
    passage_id: str = ""


class Question(Record):
    """A question for a system under test, with where it came from.

    Args:
        query_id: Unique in a file.
        query: What the system is asked.
        reference: The right answer; empty where the right answer is a refusal, or nobody knows one.
        scenario: The scenario's id.
        data_set: What it was made from; empty for the corpus that is probed.
        form: As the scenario's.
        metrics: Criteria that an answer must pass.
        doc_ids: The documents that it was made from; the first groups the intervals.
        passage_ids: The chunks that it was made from.
        passages: Their texts.
        parts: Where several questions were asked together, each of them.
        options: Of a multiple-choice question, in the order asked.
        right: Position of the right option.
        wrong: What the answer must not say in place of the reference (a false premise, a neighbour's value).
        history: The conversation before it.
        lm: Who wrote it.
        seed: Of the sampling.
    """

    query_id: str
    query: str
    reference: str = ""
    scenario: str = "given"
    data_set: str = ""
    form: Form = "open"
    metrics: tuple[Metric, ...] = CRITERIA
    doc_ids: tuple[str, ...] = ()
    passage_ids: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    parts: tuple[QuestionPart, ...] = ()
    options: tuple[str, ...] = ()
    right: int | None = None
    wrong: tuple[str, ...] = ()
    history: tuple[Turn, ...] = ()
    lm: str = ""
    seed: int = 0

    @property
    def must_refuse(self) -> bool:
        """True where the right answer is a refusal."""
        return REJECTION in self.metrics

    @property
    def source(self) -> str:
        """Group of the question in intervals: the first document, or the question itself."""
        return self.doc_ids[0] if self.doc_ids else self.query_id
