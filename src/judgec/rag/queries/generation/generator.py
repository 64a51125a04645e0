"""Several questions from one long passage, in the manner of the experts': a DSPy module, or rules."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import dspy

from judgec.lm.executor import Ask
from judgec.lm.spec import NO_LM
from judgec.rag.queries.asking import ask_fields
from judgec.rag.queries.sampling import seeded
from judgec.rag.retrieval.passages import Passage
from judgec.rag.rules.facts import Kind, facts_of
from judgec.raters.fencing import fence
from judgec.raters.signatures import QUOTED
from judgec.records.claim import Nugget, as_nugget
from judgec.records.claim import written as nugget_text

_ITEM = re.compile(r"^\s*(?:[-*•]|\(?\d+[.):])\s*")
SHORTEST = 8  # characters of a question; less is debris of a list


class WriteQueries(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Write questions that users of these documents would ask and that the passage answers.

    Ask as the experts ask in the examples: the same length, the same depth, the same kinds of questions, about other
    things. Name what each question is about, so that it is understood without the passage. No two questions ask for
    the same thing.
    """

    # What all passages of a run share comes first: a provider's cache serves a prompt's beginning.
    examples: str = dspy.InputField(desc=f"questions that experts asked, numbered ({QUOTED})")
    passage: str = dspy.InputField(desc=f"what the questions are made from ({QUOTED})")
    count: str = dspy.InputField(desc="how many questions to write at most, and like which of the examples, if any")
    queries: str = dspy.OutputField(desc="the questions, one a line, without numbers")


class AnswerQuery(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Answer the question from the passage alone, completely and in as few words as that takes."""

    passage: str = dspy.InputField(desc=f"where the answer stands ({QUOTED})")
    query: str = dspy.InputField(desc=f"the question ({QUOTED})")
    answer: str = dspy.OutputField(desc="the answer, or NONE when the passage does not hold it")


class WriteRubric(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Write what a good answer to the question says, from the passage alone, so that an answer can be checked by it.

    Each line is one fact in one short sentence that is understood by itself. It is vital where an answer without it is
    wrong or of no use, and okay where it is good to have. At most ten lines, the vital ones first.
    """

    passage: str = dspy.InputField(desc=f"where the answer stands ({QUOTED})")
    query: str = dspy.InputField(desc=f"the question ({QUOTED})")
    nuggets: str = dspy.OutputField(desc="a fact a line: 'vital: ' or 'okay: ' and the fact; NONE where there is none")


class QueryGenerator(dspy.Module):  # type: ignore[misc]  # dspy ships no types
    """The module that is compiled: one predictor that writes questions."""

    def __init__(self) -> None:
        super().__init__()
        self.write = dspy.Predict(WriteQueries)

    def forward(self, **inputs: str) -> dspy.Prediction:
        """Write questions from one passage."""
        return self.write(**inputs)


@dataclass(frozen=True, slots=True)
class Written:
    """A question and, where they were asked for, its answer and the nuggets of its rubric."""

    query: str
    reference: str = ""
    nuggets: tuple[str, ...] = ()


Asked = tuple[Passage, Written]
"""A question with the passage that it was made from."""
Completed = Literal["reference", "nuggets"]


class Generator(Protocol):
    """Writes questions from long passages."""

    @property
    def name(self) -> str:
        """The model, as the rows name it."""
        ...

    def write(self, passages: Sequence[Passage], count: int) -> list[list[Written] | str]:
        """At most ``count`` questions a passage, in order, or the reason why there are none."""
        ...

    def complete(self, asked: Sequence[Asked], what: Completed) -> list[Written | str]:
        """Each question with its answer or nuggets, empty where the passage holds none, or why there is no reply."""
        ...


class PromptedGenerator:
    """A language model behind ``QueryGenerator``.

    Args:
        name: The model.
        ask: Sends requests to it.
        experts: The experts' questions, all of them examples, in one seeded order.
        reads: Sends the requests whose replies are read off a passage, at temperature 0; by default ``ask``.
        seed: Tells one run's calls from another's, and orders the examples.
        module: A compiled generator.
    """

    def __init__(
        self,
        name: str,
        ask: Ask,
        experts: Sequence[str],
        *,
        reads: Ask | None = None,
        seed: int = 0,
        module: QueryGenerator | None = None,
    ) -> None:
        self._name = name
        self._ask = ask
        self._reads = reads or ask
        self._seed = seed
        self._module = module or QueryGenerator()
        examples = list(experts)
        seeded(seed, "examples").shuffle(examples)
        self._examples, self._shown = fence("examples", tuple(examples)), len(examples)

    @property
    def name(self) -> str:
        """The model."""
        return self._name

    def write(self, passages: Sequence[Passage], count: int) -> list[list[Written] | str]:
        """At most ``count`` questions a passage, in order, or the reason why there are none."""
        inputs = [
            {"examples": self._examples, "passage": fence("passage", titled(one)), "count": self._count(one, count)}
            for one in passages
        ]
        replies = ask_fields(self._module.write, inputs, self._ask, rollout=self._seed or None)
        return [
            reply if isinstance(reply, str) else [Written(query) for query in read_list(reply["queries"])[:count]]
            for reply in replies
        ]

    def _count(self, passage: Passage, count: int) -> str:
        """How many, like other examples for each passage: in one order models ask like the first or last for all."""
        if count >= self._shown:
            return str(count)
        like = seeded(self._seed, passage.passage_id, "examples").sample(range(1, self._shown + 1), count)
        return f"{count}, like examples {', '.join(map(str, like))}"

    def complete(self, asked: Sequence[Asked], what: Completed) -> list[Written | str]:
        """Each question with its answer or nuggets, empty where the passage holds none, or why there is no reply."""
        inputs = [
            {"passage": fence("passage", titled(passage)), "query": fence("query", one.query)} for passage, one in asked
        ]
        signature = AnswerQuery if what == "reference" else WriteRubric
        found: list[Written | str] = []
        for (_, one), said in zip(asked, ask_fields(dspy.Predict(signature), inputs, self._reads), strict=True):
            if isinstance(said, str):
                found.append(said)
                continue
            (text,) = said.values()
            text = "" if text.strip(" .").upper() == "NONE" else text
            nuggets = tuple(nugget_text(as_nugget(line)) for line in read_list(text))
            found.append(replace(one, reference=text) if what == "reference" else replace(one, nuggets=nuggets))
        return found


@dataclass(frozen=True, slots=True)
class StyleProfile:
    """Facts that rules ask about: what there is to compile without a language model.

    Args:
        kinds: Facts with such values.
        tables: Cells of tables first; otherwise in seeded order.
        longest: Most words of a question, or None.
    """

    kinds: tuple[Kind, ...] = ("number", "date", "name")
    tables: bool = False
    longest: int | None = None


class RuleGenerator:
    """Facts of the passage as questions: a baseline, which writes no two questions from one sentence.

    Args:
        seed: Of the choice among facts.
        style: Which facts.
    """

    name = NO_LM

    def __init__(self, seed: int = 0, style: StyleProfile | None = None) -> None:
        self._seed = seed
        self._style = style or StyleProfile()

    def write(self, passages: Sequence[Passage], count: int) -> list[list[Written] | str]:
        """At most ``count`` questions a passage, in order, or the reason why there are none."""
        return [self._write(passage, count) for passage in passages]

    def complete(self, asked: Sequence[Asked], what: Completed) -> list[Written | str]:  # noqa: ARG002 - there is both
        """The questions as they are: each was made of its answer."""
        return [one for _, one in asked]

    def _write(self, passage: Passage, count: int) -> list[Written] | str:
        style = self._style
        facts = [
            fact
            for fact in facts_of(passage)
            if fact.kind in style.kinds and (style.longest is None or len(fact.question.split()) <= style.longest)
        ]
        seeded(self._seed, passage.passage_id, "facts").shuffle(facts)
        by_sentence = {fact.sentence: fact for fact in sorted(facts, key=lambda fact: fact.kind != "name")}
        chosen = sorted(by_sentence.values(), key=lambda fact: style.tables and bool(fact.cloze))
        return [
            Written(fact.question, fact.value, (nugget_text(Nugget(fact.value)),)) for fact in chosen[:count]
        ] or "no fact that a rule can ask about"


def read_list(text: str) -> list[str]:
    """The questions of a reply, one a line, without the numbers and bullets that models add."""
    lines = (_ITEM.sub("", line).strip().strip('"') for line in text.splitlines())
    return [line for line in lines if len(line) >= SHORTEST]


def titled(passage: Passage) -> str:
    """The text of a passage as prompts hold it, below its document's title."""
    return f"{passage.title}\n\n{passage.text}" if passage.title else passage.text
