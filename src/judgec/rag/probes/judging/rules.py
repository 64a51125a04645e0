"""Four criteria by rules, without a language model: a baseline, and named as one.

Rules see whether figures, dates, names and words of the reference stand in the answer. They cannot see a paraphrase
without any of these, and they cannot read an argument.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from judgec.evidence.numerals import is_number
from judgec.rag.probes.judging.facts import key_stems, neighbours, quotes, read, states, support
from judgec.rag.probes.judging.rejection import rejection_outcome
from judgec.records.scenario.outcome import REJECTION_PASSES, SystemReply
from judgec.records.scenario.schema import Metric, Question

NAME = "rules"
NOT_ENGLISH = "rules read refusals in English, and the reply is in another language; a model reads it"
ON_TOPIC = 0.2  # share of the question's and the reference's words that an answer must touch
SUPPORTED = 0.7  # of an answer's words in the passages: kappa .64 with "every statement is supported" on 380 of ClapNQ
_LETTER = re.compile(
    r"(?:^|\n|\b[Oo]ption |\b[Aa]nswer(?: is)?:? |\()[\s*_(\"']{0,3}([A-H])(?:[).:]|(?=[\s*_\"']*(?:$|\n|[-–] )))"
)


@dataclass(frozen=True, slots=True)
class JudgedReply:
    """A judge's verdict on one reply.

    Args:
        criteria: Of each metric whether it passed; None where it could not be judged.
        parts: Of each part whether its answer is there.
        rejection: What the system did, where a refusal was right.
        reason: Why.
        unscored: Why nothing could be judged, or empty.
        votes: Of a jury, what each member said, by its name.
    """

    criteria: Mapping[Metric, bool | None]
    parts: tuple[bool | None, ...] = ()
    rejection: str | None = None
    reason: str = ""
    unscored: str = ""
    votes: Mapping[str, Mapping[str, bool | str | None]] = field(default_factory=dict)


class RuleJudge:
    """Judges replies by rules."""

    name = NAME

    def judge(self, pairs: Sequence[tuple[Question, SystemReply]]) -> list[JudgedReply]:
        """Judges the replies, in order; every reply has an answer."""
        return [judge_reply(question, reply.answer or "", reply.contexts) for question, reply in pairs]


def judge_reply(question: Question, answer: str, contexts: tuple[str, ...] | None = None) -> JudgedReply:
    """One reply.

    Correctness: the right option, or the reference (of any part), and none of the values known to be wrong in its
    place. Relevance: about what was asked, and of the very product asked about. Completeness: the reference of every
    part. Consistency: no refusal beside an answer, no two options. Faithfulness: most of its words and all of its
    figures stand in what the system retrieved or in the question; a refusal is faithful. Rules see no bias. Where a
    criterion needs a reference and there is none, the reply is unscored: rules could see it fail but never pass, and
    such a failure rate would always be one.
    """
    if question.must_refuse:
        done = rejection_outcome(answer, question.query)
        if done is None:
            return JudgedReply({"rejection": None}, unscored=NOT_ENGLISH)
        return JudgedReply({"rejection": done in REJECTION_PASSES}, rejection=done, reason=f"the system {_said(done)}")
    chosen = chosen_options(question, answer) if question.options else []
    found = tuple(states(answer, part.reference) for part in question.parts)
    given = _given(question, answer, found, chosen)
    others = neighbours(question.query, answer) if not question.options else set()
    refused = rejection_outcome(answer) in {"refused", "refused_then_answered", "described"}
    tests: dict[Metric, Callable[[], tuple[bool | None, str]]] = {
        "correctness": lambda: _correct(question, answer, given, chosen),
        "relevance": lambda: _relevant(question, answer, given, others, refused),
        "completeness": lambda: _complete(given, found),
        "consistency": lambda: _consistent(answer, given, chosen),
        "faithfulness": lambda: (True, "") if refused else faithful(answer, question.query, contexts),
    }
    results = {metric: tests.get(metric, _no_rule)() for metric in question.metrics}
    said = [f"{metric}: {why}" for metric, (passed, why) in results.items() if not passed]
    if any(passed is None for passed, _ in results.values()):
        known = {metric: passed or None for metric, (passed, _) in results.items()}
        return JudgedReply(known, parts=found, unscored="; ".join(said))
    return JudgedReply(
        {metric: passed for metric, (passed, _) in results.items()}, parts=found, reason="; ".join(said) or "all pass"
    )


def chosen_options(question: Question, answer: str) -> list[int]:
    """Positions of the options that an answer chooses: by letter, or by the only option that it quotes."""
    letters = {ord(letter) - ord("A") for letter in _LETTER.findall(answer)}
    chosen = sorted(letter for letter in letters if letter < len(question.options))
    if chosen:
        return chosen
    quoted = [number for number, option in enumerate(question.options) if quotes(answer, option)]
    whole = {one: {other for other in quoted if other != one} for one in quoted}
    return [one for one in quoted if not any(_within(question.options[one], question.options[o]) for o in whole[one])]


def _within(part: str, whole: str) -> bool:
    return set(key_stems(part)) < set(key_stems(whole))


def _given(question: Question, answer: str, found: Sequence[bool], chosen: Sequence[int]) -> bool | None:
    """True when the answer gives the reference, or part of it; None when there is none."""
    if question.options:
        return question.right in chosen
    if found:
        return any(found)
    if question.form == "false_premise":
        return _corrects(question, answer)
    return states(answer, question.reference) if question.reference else None


def _corrects(question: Question, answer: str) -> bool:
    """True when the answer gives what is right; the premise's wrong value alone is no correction."""
    reference = question.reference
    for wrong in question.wrong:
        reference = reference.replace(f", not {wrong}", "")
    right = reference.partition(":")[2].strip() or reference
    return states(answer, right.removeprefix("it is "))


def _correct(question: Question, answer: str, given: bool | None, chosen: Sequence[int]) -> tuple[bool | None, str]:
    if given is None:
        return None, "no reference"
    if question.options and len(chosen) != 1:
        return (False, "no option is chosen") if not chosen else (bool(given), "several options are chosen")
    if not given:
        wrong = next((value for value in question.wrong if states(answer, value)), "")
        return False, f"it says {wrong}" if wrong else "the reference is not in it"
    return True, ""


def _relevant(
    question: Question, answer: str, given: bool | None, others: set[str], refused: bool
) -> tuple[bool | None, str]:
    if others:
        return False, f"it is about {', '.join(sorted(others))}"
    if given:
        return True, ""
    if refused:
        return False, "it refuses"
    topic = f"{question.query}\n{question.reference}"
    touched = support(topic, (answer,))
    return (True, "") if touched >= ON_TOPIC else (False, "it does not touch what was asked")


def _complete(given: bool | None, found: Sequence[bool]) -> tuple[bool | None, str]:
    if given is None:
        return None, "no reference"
    if found and not all(found):
        missing = ", ".join(str(number) for number, there in enumerate(found, 1) if not there)
        return False, f"no answer to part {missing} of {len(found)}"
    return (True, "") if given else (False, "the reference is not in it")


def _consistent(answer: str, given: bool | None, chosen: Sequence[int]) -> tuple[bool | None, str]:
    if len(chosen) > 1:
        return False, "it chooses several options"
    if rejection_outcome(answer) == "refused_then_answered" and not given:
        return False, "it refuses and answers"
    return bool(read(answer).stems), "there is no answer"


def faithful(answer: str, query: str, contexts: tuple[str, ...] | None) -> tuple[bool | None, str]:
    """Checks if passages support an answer, by its words and figures, and why not; None where they are not known."""
    if contexts is None:
        return None, "the system does not say what it retrieved"
    known = {stem for text in (*contexts, query) for stem in read(text).vocabulary}
    invented = [stem for stem in key_stems(answer) if is_number(stem) and stem not in known]
    if invented:
        return False, f"{invented[0]} is in none of the passages"
    held = support(answer, (*contexts, query))
    return (True, "") if held >= SUPPORTED else (False, f"{held:.0%} of its words are in the passages")


def _no_rule() -> tuple[bool | None, str]:
    return None, "rules cannot judge it"


def _said(outcome: str) -> str:
    return {"error": "gave no answer"}.get(outcome, outcome.replace("_", " "))
