"""Questions of a scenario written by a language model, prompt after prompt as the scenario says."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import dspy
import numpy as np

from judgec.lm.executor import Ask
from judgec.rag.queries.asking import Fields, ask_fields
from judgec.rag.queries.sampling import Draw
from judgec.rag.queries.scenarios.drafts import ANSWERED, REDRAWS, Draft
from judgec.rag.queries.terms import TermIndex, content, words_in
from judgec.rag.retrieval.passages import Passage
from judgec.rag.rules.rewriting import noisy
from judgec.raters.fencing import fence
from judgec.raters.signatures import QUOTED
from judgec.records.scenario.schema import QuestionPart, Scenario, Turn

WINDOW = 12_000  # characters of the corpus that a model reads at once
MOST_READ = 240_000  # characters of it that a model reads for one question, the nearest passages first
_ITEM = re.compile(r"^\s*(?:[*•]|-(?!\d)|\(?[A-Ha-h1-9][).:](?!\d))\s*")  # no "-5 °C", no "2.5 kg"


class WriteQuestion(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Write one question, as the scenario's prompt says."""

    passages: str = dspy.InputField(desc=f"what the question is made from, numbered ({QUOTED})")
    language: str = dspy.InputField(desc="the language that the question is to be in")
    draft_question: str = dspy.InputField(desc=f"the question so far ({QUOTED})")
    draft_answer: str = dspy.InputField(desc=f"its answer so far ({QUOTED})")
    question: str = dspy.OutputField(desc="the question alone")
    answer: str = dspy.OutputField(desc="the answer alone, from the passages")
    options: str = dspy.OutputField(desc="the options of a multiple-choice question, one a line")


class WriteQuestions(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Write one message that asks several questions, as the scenario's prompt says."""

    passages: str = dspy.InputField(desc=f"what the questions are made from, numbered ({QUOTED})")
    questions: str = dspy.OutputField(desc="the single questions, one of each passage in their order, one a line")
    answers: str = dspy.OutputField(desc="their answers in the same order, one a line, from the passages")
    question: str = dspy.OutputField(desc="the message that asks all of them")


class FindAnswer(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Say whether any of the passages answers the question, even in part or by implication.

    Quote what answers it. Knowledge from elsewhere does not count.
    """

    question: str = dspy.InputField(desc=f"what a user may ask ({QUOTED})")
    passages: str = dspy.InputField(desc=f"passages of the collection, numbered ({QUOTED})")
    quote: str = dspy.OutputField(desc="what answers it, word for word, or NONE")
    answered: str = dspy.OutputField(desc="yes or no")


class MarkOptions(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Say which of the options are right answers to the question by the passages, and only by them."""

    question: str = dspy.InputField(desc=f"a multiple-choice question ({QUOTED})")
    options: str = dspy.InputField(desc=f"its options, numbered ({QUOTED})")
    passages: str = dspy.InputField(desc=f"what the question was made from, numbered ({QUOTED})")
    right: str = dspy.OutputField(desc="the numbers of all right options, separated by commas, or NONE")


def writing_prompt(prompt: str, scenario: Scenario, *, drafted: bool) -> dspy.Predict:
    """The predictor of one prompt of a scenario; without a draft, and without options, those fields are left out."""
    if scenario.asks_together:
        return _writing_together(prompt, scenario)
    dropped = {"draft_question", "draft_answer"} if not drafted else set()
    dropped |= set() if scenario.form == "choice" else {"options"}
    dropped |= set() if scenario.form == "language" else {"language"}
    signature = WriteQuestion.with_instructions(prompt.strip())
    for name in dropped:
        signature = signature.delete(name)
    if drafted and scenario.form == "absent":
        signature = signature.with_updated_fields("answer", desc="the answer alone; NONE when there is to be none")
    predict = dspy.Predict(signature)
    if not drafted:
        predict.demos = [
            dspy.Example(
                passages=fence("passages", shot.passages),
                question=shot.question,
                answer=shot.answer,
                options="\n".join(shot.options),
            )
            for shot in scenario.examples
        ]
    return predict


def _writing_together(prompt: str, scenario: Scenario) -> dspy.Predict:
    predict = dspy.Predict(WriteQuestions.with_instructions(prompt.strip()))
    predict.demos = [
        dspy.Example(
            passages=fence("passages", shot.passages),
            questions="\n".join(part.question for part in shot.parts),
            answers="\n".join(part.answer for part in shot.parts),
            question=shot.question,
        )
        for shot in scenario.examples
    ]
    return predict


ANEW = 10_000_019  # between the rollouts of two turns: far from any seed


class PromptedWriter:
    """Writes questions with a language model.

    Args:
        name: The model, as reports name it.
        ask: Sends requests to it.
        seed: Tells one run's calls from another's.
        checks: Sends the requests that check what it wrote, at temperature 0; by default ``ask``.
        terms: The whole corpus, which is read before a question counts as one without an answer; None reads nothing.
    """

    redraws = REDRAWS

    def __init__(
        self, name: str, ask: Ask, seed: int, terms: TermIndex | None = None, *, checks: Ask | None = None
    ) -> None:
        self._name = name
        self._ask = ask
        self._checks = checks or ask
        self._seed = seed
        self._terms = terms

    @property
    def name(self) -> str:
        """The model."""
        return self._name

    def usable(self, scenario: Scenario, passage: Passage) -> bool:  # noqa: ARG002 - a model finds something everywhere
        """True: a model finds something to ask everywhere."""
        return True

    def write(self, scenario: Scenario, drawn: Sequence[Draw]) -> list[Draft | str]:
        """A draft for each draw, in order, or the reason why there is none."""
        turns = groupby(drawn, lambda draw: draw.turn)
        return [one for turn, some in turns for one in self._write(scenario, list(some), self._seed + turn * ANEW)]

    def _write(self, scenario: Scenario, drawn: Sequence[Draw], rollout: int) -> list[Draft | str]:
        if scenario.asks_together:
            return self._together(scenario, drawn, rollout)
        how = self._several if scenario.form == "several" else self._single
        drafts = how(scenario, drawn, rollout)
        if scenario.form == "choice":
            return self._one_right(drafts, drawn)
        if scenario.form == "absent":
            return self._unanswered(drafts)
        if scenario.form == "typos":
            return [
                draft if isinstance(draft, str) else replace(draft, query=noisy(draft.query, draw.seed))
                for draft, draw in zip(drafts, drawn, strict=True)
            ]
        return drafts

    def _single(self, scenario: Scenario, drawn: Sequence[Draw], rollout: int) -> list[Draft | str]:
        texts = [tuple(passage.text for passage in draw.chunks) for draw in drawn]
        first = self._step(scenario, scenario.prompts[0], texts, None, rollout)
        drafts = first
        for number, prompt in enumerate(scenario.prompts[1:], 1):
            later = self._step(scenario, prompt, texts, drafts, rollout)
            keeps = scenario.form != "absent" and number > 1  # the last step only makes the reference again
            drafts = [
                new if isinstance(new, str) or isinstance(old, str) else replace(new, query=old.query) if keeps else new
                for old, new in zip(drafts, later, strict=True)
            ]
        return [
            draft if isinstance(draft, str) or isinstance(start, str) else _completed(scenario, start, draft, draw)
            for start, draft, draw in zip(first, drafts, drawn, strict=True)
        ]

    def _step(
        self,
        scenario: Scenario,
        prompt: str,
        texts: Sequence[tuple[str, ...]],
        drafts: Sequence[Draft | str] | None,
        rollout: int,
    ) -> list[Draft | str]:
        """One prompt for all draws; a draw that failed before stays failed."""
        results: list[Draft | str] = ["not asked"] * len(texts) if drafts is None else list(drafts)
        due = [row for row in range(len(texts)) if drafts is None or not isinstance(drafts[row], str)]
        inputs = []
        for row in due:
            fields = {"passages": fence("passages", texts[row])}
            if scenario.form == "language":
                fields["language"] = scenario.language
            draft = None if drafts is None else drafts[row]
            if isinstance(draft, Draft):
                fields["draft_question"] = fence("draft_question", draft.query)
                fields["draft_answer"] = fence("draft_answer", draft.reference)
            inputs.append(fields)
        predict = writing_prompt(prompt, scenario, drafted=drafts is not None)
        for row, reply in zip(due, ask_fields(predict, inputs, self._ask, rollout=rollout or None), strict=True):
            results[row] = reply if isinstance(reply, str) else _read(reply)
        return results

    def _together(self, scenario: Scenario, drawn: Sequence[Draw], rollout: int) -> list[Draft | str]:
        """One call a draw: all of its chunks in, all of its questions out."""
        predict = writing_prompt(scenario.prompts[0], scenario, drafted=False)
        inputs = [{"passages": fence("passages", tuple(one.text for one in draw.chunks))} for draw in drawn]
        replies = ask_fields(predict, inputs, self._ask, rollout=rollout or None)
        return [
            reply if isinstance(reply, str) else _joined(reply, draw)
            for reply, draw in zip(replies, drawn, strict=True)
        ]

    def _several(self, scenario: Scenario, drawn: Sequence[Draw], rollout: int) -> list[Draft | str]:
        places = [(row, passage) for row, draw in enumerate(drawn) for passage in draw.chunks]
        written = self._step(scenario, scenario.prompts[0], [(passage.text,) for _, passage in places], None, rollout)
        parts: list[list[QuestionPart]] = [[] for _ in drawn]
        faults = [""] * len(drawn)
        for (row, passage), draft in zip(places, written, strict=True):
            if isinstance(draft, str):
                faults[row] = draft
            else:
                parts[row].append(
                    QuestionPart(query=draft.query, reference=draft.reference, passage_id=passage.passage_id)
                )
        drafts: list[Draft | str] = [fault or _listed(part) for fault, part in zip(faults, parts, strict=True)]
        if len(scenario.prompts) > 1:
            texts = [tuple(passage.text for passage in draw.chunks) for draw in drawn]
            merged = self._step(scenario, scenario.prompts[1], texts, drafts, rollout)
            drafts = [
                old if isinstance(old, str) else new if isinstance(new, str) else replace(old, query=new.query)
                for old, new in zip(drafts, merged, strict=True)
            ]
        return drafts

    def _one_right(self, drafts: list[Draft | str], drawn: Sequence[Draw]) -> list[Draft | str]:
        rows = [row for row, draft in enumerate(drafts) if isinstance(draft, Draft)]
        inputs = []
        for row in rows:
            draft = drafts[row]
            assert isinstance(draft, Draft)  # as chosen above
            options = "\n".join(f"{number}. {option}" for number, option in enumerate(draft.options, 1))
            texts = tuple(passage.text for passage in drawn[row].chunks)
            inputs.append(
                {
                    "question": fence("question", draft.query),
                    "options": fence("options", options),
                    "passages": fence("passages", texts),
                }
            )
        replies = ask_fields(dspy.Predict(MarkOptions), inputs, self._checks)
        for row, reply in zip(rows, replies, strict=True):
            draft = drafts[row]
            assert isinstance(draft, Draft)
            marked = set() if isinstance(reply, str) else {int(number) for number in re.findall(r"\d+", reply["right"])}
            right = {number for number, option in enumerate(draft.options, 1) if option == draft.reference}
            if isinstance(reply, str):
                drafts[row] = reply
            elif marked != right:
                drafts[row] = "not exactly one option is right"
        return drafts

    def _unanswered(self, drafts: list[Draft | str]) -> list[Draft | str]:
        """Read the corpus window after window; a question that any of them answers cannot test a refusal."""
        if self._terms is None:
            return drafts
        unread: dict[int, Iterator[tuple[str, ...]]] = {}
        for row, draft in enumerate(drafts):
            if isinstance(draft, str):
                continue
            if self._terms.answered(content(draft.focus), content(draft.subject)):
                drafts[row] = ANSWERED
            else:
                unread[row] = windows(self._terms, draft.query)
        predict = dspy.Predict(FindAnswer)
        while due := {row: found for row, rest in unread.items() if (found := next(rest, None)) is not None}:
            inputs = [
                {"question": fence("question", one.query), "passages": fence("passages", due[row])}
                for row in due
                if isinstance(one := drafts[row], Draft)
            ]
            replies = ask_fields(predict, inputs, self._checks)
            for row, reply in zip(due, replies, strict=True):
                if isinstance(reply, str):
                    drafts[row] = reply
                elif not reply["answered"].casefold().startswith("no"):
                    drafts[row] = ANSWERED
            unread = {row: rest for row, rest in unread.items() if isinstance(drafts[row], Draft)}
        return drafts


def windows(terms: TermIndex, question: str) -> Iterator[tuple[str, ...]]:
    """The corpus, ``WINDOW`` characters at a time: passages that share most with the question first.

    A passage that is longer is cut. After ``MOST_READ`` characters it ends.
    """
    window: list[str] = []
    held = read = 0
    for at in np.argsort(-terms.coverage(content(question)), kind="stable"):
        text = terms.chunks[int(at)].text
        for start in range(0, len(text), WINDOW):
            if read >= MOST_READ:
                break
            part = text[start : start + WINDOW]
            if window and held + len(part) > WINDOW:
                yield tuple(window)
                window, held = [], 0
            window.append(part)
            held, read = held + len(part), read + len(part)
    if window:
        yield tuple(window)


def unread(terms: TermIndex) -> str:
    """Note of a report where the corpus is longer than a model reads for one question; empty where it is not."""
    whole = sum(len(chunk.text) for chunk in terms.chunks)
    if whole <= MOST_READ:
        return ""
    return f"the model read the {MOST_READ:,} characters nearest to each question, and rules all {whole:,}"


def _read(reply: Fields) -> Draft | str:
    answer = "" if reply["answer"].strip(" .").upper() == "NONE" else reply["answer"]
    return Draft(reply["question"], answer, options=_lines(reply.get("options", "")))


def _joined(reply: Fields, draw: Draw) -> Draft | str:
    """The message with its parts; a reply that does not have one question and one answer a chunk is none."""
    questions, answers = _lines(reply["questions"]), _lines(reply["answers"])
    if not len(questions) == len(answers) == len(draw.chunks):
        return "not one question and one answer of each passage"
    parts = [
        QuestionPart(query=question, reference=answer, passage_id=passage.passage_id)
        for question, answer, passage in zip(questions, answers, draw.chunks, strict=True)
    ]
    return replace(_listed(parts), query=reply["question"])


def _lines(text: str) -> tuple[str, ...]:
    """The lines of a list without bullets, numbers, letters and empty ones."""
    lines = (_ITEM.sub("", line).strip() for line in text.splitlines())
    return tuple(line for line in lines if line)


def _listed(parts: Sequence[QuestionPart]) -> Draft:
    asked = " ".join(f"{number}) {part.query}" for number, part in enumerate(parts, 1))
    answers = " ".join(f"{number}) {part.reference}" for number, part in enumerate(parts, 1))
    return Draft(asked, answers, parts=tuple(parts))


def _completed(scenario: Scenario, start: Draft, draft: Draft, draw: Draw) -> Draft:
    """The last draft with what the scenario's form adds."""
    if scenario.form == "follow_up":
        turns = (Turn(role="user", content=start.query), Turn(role="assistant", content=start.reference))
        return replace(draft, history=turns)
    if scenario.form == "absent":
        before, after = content(start.query), content(draft.query)
        focus = words_in(draft.query, after.keys() - before.keys())
        subject = words_in(draft.query, after.keys() & before.keys()) or draw.chunks[0].title
        return replace(draft, reference="", focus=focus, subject=subject)
    return draft
