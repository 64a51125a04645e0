"""Systems with one planted fault each, and a healthy one; they know the right answers."""

from collections.abc import Mapping, Sequence

from judgec.rag.agents.answer import Context
from judgec.rag.agents.external import ExternalReply, SystemFailedError
from judgec.rag.probes.judging.panel import ReplyPanel
from judgec.rag.probes.runner import Limits, Running
from judgec.rag.probes.systems import External, asked
from judgec.rag.probes.verdicts import verdicts
from judgec.rag.queries.scenarios import SHIPPED
from judgec.rag.queries.scenarios.building import build
from judgec.rag.queries.scenarios.reading import read_scenario
from judgec.rag.rules.writer import RuleWriter
from judgec.records.scenario.outcome import Probed
from judgec.records.scenario.schema import Question
from tests.rag.queries.catalogue import catalogue

REFUSAL = "The documents do not answer this question."
INVENTED = "It is 4711, and it has been so since 1 April 1999."
FAULTS = (
    "healthy",
    "never refuses",
    "refuses then answers",
    "ignores half the question",
    "first option",
    "stale date",
    "neighbour product",
    "errors every third call",
)


def make(scenario: str, n: int = 12, seed: int = 0) -> tuple[Question, ...]:
    corpus = catalogue()
    writer = RuleWriter(corpus.passages)
    return build(
        read_scenario(SHIPPED / f"{scenario}.yaml"), corpus.documents, writer, corpus.terms, n=n, seed=seed
    ).questions


class Planted:
    """Answers from the questions themselves, as its fault says."""

    def __init__(self, fault: str, questions: Sequence[Question]) -> None:
        assert fault in FAULTS
        self.name = self.identity = fault
        self._known: Mapping[str, Question] = {asked(question): question for question in questions}
        self._calls = 0

    def ask(self, query: str) -> ExternalReply:
        self._calls += 1
        if self.name == "errors every third call" and self._calls % 3 == 0:
            raise SystemFailedError("it broke")
        question = self._known[query]
        return ExternalReply(self._answer(question), tuple(Context(text) for text in question.passages))

    def _answer(self, question: Question) -> str:
        if question.must_refuse:
            refusals = {"never refuses": INVENTED, "refuses then answers": f"{REFUSAL} However, {INVENTED.lower()}"}
            return refusals.get(self.name, REFUSAL)
        if self.name == "first option" and question.options:
            return f"A) {question.options[0]}"
        if question.options:
            return f"{'ABCD'[question.right or 0]}) {question.reference}"
        if self.name == "ignores half the question" and question.parts:
            return f"It is {question.parts[0].reference}."
        if question.parts:
            return ". ".join(f"{part.query} {part.reference}" for part in question.parts)
        if self.name == "stale date":
            return "It was on 29 February 1996."
        if self.name == "neighbour product":
            return "The Fenn 99 has 123456 of it, and the Caldo 99 as well."
        if question.form == "false_premise":
            return question.reference
        return f"It is {question.reference}."


def probed(fault: str, questions: Sequence[Question]) -> list[Probed]:
    system = Planted(fault, questions)
    subject = External(system, Limits(in_flight=1, retries=0), Running())
    replies = subject.replies(questions, lambda reply: None)
    return verdicts(questions, replies, ReplyPanel(), data_set="catalogue", terms=catalogue().terms)


def outcomes(fault: str, questions: Sequence[Question]) -> list[str]:
    return [one.verdict.outcome for one in probed(fault, questions)]
