"""Questions by rule, without a language model: a baseline, and named as one.

A question asks for a cell of a table ("What is the accuracy of the X?") or for what fills the blank in a sentence. Such
questions are easier to retrieve for than people's, since they repeat the passage's words.
"""

import sys
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache

from judgec.lm.spec import NO_LM
from judgec.rag.queries.sampling import Draw, seeded
from judgec.rag.queries.scenarios.drafts import Draft
from judgec.rag.retrieval.passages import Passage
from judgec.rag.rules.facts import BLANK, Fact, facts_of
from judgec.rag.rules.rewriting import german, noisy, situation
from judgec.rag.rules.unanswerable import absent_years, has_subject, unanswerable
from judgec.records.counts import plural
from judgec.records.scenario.schema import Form, QuestionPart, Scenario, Turn

OPTIONS = 4
NO_FACT = "no fact that a rule can ask about"
NO_RIVAL = "no other value of the same kind"


class RuleWriter:
    """Writes questions from facts that rules find.

    Args:
        chunks: The corpus, where wrong options and false premises come from, and what is in none of its documents.
    """

    name = NO_LM
    redraws = sys.maxsize

    def __init__(self, chunks: Sequence[Passage]) -> None:
        self._chunks = chunks
        self._shapes: dict[str, list[str]] | None = None

    def usable(self, scenario: Scenario, passage: Passage) -> bool:
        """True where a rule finds a fact to ask about, or a subject to ask something else about."""
        if scenario.form == "absent":
            return has_subject(passage)
        wanted = _wanted(scenario)
        return any(wanted in {"none", fact.kind} for fact in _facts(passage))

    def write(self, scenario: Scenario, drawn: Sequence[Draw]) -> list[Draft | str]:
        """A draft for each draw, in order, or the reason why there is none."""
        return [self._write(scenario, draw) for draw in drawn]

    def _write(self, scenario: Scenario, draw: Draw) -> Draft | str:
        if scenario.form == "absent":
            return unanswerable(draw, _facts(draw.chunks[0]), self._years)
        if scenario.form == "several":
            return _several(draw)
        facts = _shuffled(draw, draw.chunks[0], _wanted(scenario))
        if not facts:
            return NO_FACT
        fact = facts[0]
        if scenario.form in {"choice", "false_premise"}:
            for candidate in facts:
                if rivals := self._rivals(candidate, draw):
                    return _choice(candidate, rivals) if scenario.form == "choice" else _premise(candidate, rivals)
            return NO_RIVAL
        plain = Draft(fact.question, fact.value)
        rewrite: dict[Form, Callable[[], Draft]] = {
            "distracting": lambda: _distracted(fact, facts),
            "situational": lambda: Draft(situation(fact.question, draw.seed), fact.value),
            "follow_up": lambda: _follow_up(fact),
            "typos": lambda: Draft(noisy(fact.question, draw.seed), fact.value),
            "language": lambda: Draft(german(fact), fact.value),
        }
        return rewrite.get(scenario.form, lambda: plain)()

    @cached_property
    def _years(self) -> tuple[int, ...]:
        return absent_years(self._chunks)

    def _rivals(self, fact: Fact, draw: Draw) -> list[str]:
        """Values of the same shape from elsewhere that the passage does not hold, seeded order."""
        if self._shapes is None:
            self._shapes = {}
            for chunk in self._chunks:
                for other in _facts(chunk):
                    if len(values := self._shapes.setdefault(other.shape, [])) < MOST_RIVALS:
                        values.append(other.value)
        passage = "\n".join(chunk.text for chunk in draw.chunks)
        values = [value for value in dict.fromkeys(self._shapes.get(fact.shape, ())) if value not in passage]
        seeded(draw.seed, "rivals").shuffle(values)
        return values[: OPTIONS - 1] if len(values) >= OPTIONS - 1 else []


MOST_RIVALS = 500  # values of one shape that are kept


@lru_cache(maxsize=20_000)
def _facts(chunk: Passage) -> tuple[Fact, ...]:
    return tuple(facts_of(chunk))


def _wanted(scenario: Scenario) -> str:
    """The kind of fact that a scenario asks about, or ``none``."""
    return scenario.form if scenario.form in {"number", "date"} else scenario.chunk_sampling.filter


def _shuffled(draw: Draw, chunk: Passage, wanted: str = "none") -> list[Fact]:
    facts = [fact for fact in _facts(chunk) if wanted in {"none", fact.kind}]
    seeded(draw.seed, chunk.passage_id).shuffle(facts)
    # A cell of a table makes the better question; a name is the weakest fact.
    return sorted(facts, key=lambda fact: (fact.kind == "name", bool(fact.cloze)))


def _choice(fact: Fact, rivals: Sequence[str]) -> Draft:
    return Draft(fact.question, fact.value, options=(fact.value, *rivals))


def _premise(fact: Fact, rivals: Sequence[str]) -> Draft:
    wrong = rivals[0]
    if fact.cloze:
        question = f'Why is it that "{fact.cloze.replace(BLANK, wrong).rstrip(".!")}"?'
        if fact.subject:
            question = f"About {fact.subject}: {question[0].lower()}{question[1:]}"
    else:
        question = f"Why is the {fact.asked} of the {fact.subject} {wrong}?"
    return Draft(question, f"That is wrong: it is {fact.value}, not {wrong}.", wrong=(wrong,))


def _distracted(fact: Fact, facts: Sequence[Fact]) -> Draft:
    others = [other for other in facts if fact.value not in other.sentence and other.sentence not in fact.question]
    if not others:
        return Draft(fact.question, fact.value)
    return Draft(f"I know this much: {others[0].sentence.rstrip('.')}. {fact.question}", fact.value)


def _follow_up(fact: Fact) -> Draft:
    about = fact.subject or fact.chunk.title or "this"
    if fact.asked:
        query = f"And what is its {fact.asked}?"
    else:
        query = f'And which {fact.kind} completes this statement about it: "{fact.cloze}"?'
    said = next((other.sentence for other in _facts(fact.chunk) if fact.value not in other.sentence), "")
    history = (
        Turn(role="user", content=f"Tell me something about {about}."),
        Turn(role="assistant", content=said or f"Gladly. What would you like to know about {about}?"),
    )
    return Draft(query, fact.value, history=history)


def _several(draw: Draw) -> Draft | str:
    parts: list[QuestionPart] = []
    for chunk in draw.chunks:
        facts = [f for f in _shuffled(draw, chunk) if f.question not in {part.query for part in parts}]
        if facts:
            parts.append(QuestionPart(query=facts[0].question, reference=facts[0].value, passage_id=chunk.passage_id))
    if len(parts) < len(draw.chunks):
        return NO_FACT
    asked = " ".join(f"{number}) {part.query}" for number, part in enumerate(parts, 1))
    answers = " ".join(f"{number}) {part.reference}" for number, part in enumerate(parts, 1))
    return Draft(f"I have {plural(len(parts), 'question')}. {asked}", answers, parts=tuple(parts))
