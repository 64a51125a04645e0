"""Prompts in somebody's own turns: sent byte for byte, read strictly; and recorded verdicts before whom to ask."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import pytest

from judgec.lm.executor import Reply, Request
from judgec.raters.about_judges import messages_of
from judgec.raters.judge import JudgeTree
from judgec.raters.pairwise import EXCHANGED
from judgec.raters.prompt import leaf_rater
from judgec.raters.rate import nobody, rate_all
from judgec.raters.rater import Count, Rater, RecordedRater
from judgec.raters.recorded import RecordedVerdicts
from judgec.raters.tree import Calibrated, Leaf, PromptLeaf
from judgec.raters.turns import TurnsRater, filled, unfit
from judgec.records.judgment import NOT_ASKED, UNSCORED, Judgments
from judgec.records.label import Item
from judgec.records.scale import Scale
from judgec.records.tasks.preference import PREFERENCE_SCALE
from tests.raters.judgments import judgments
from tests.raters.trees import looking_up

SCALE = Scale(name="relevance", grades=(0, 1, 2, 3), accept_at=2)
SYSTEM, USER = "You grade  passages.\t", 'Q: {query}\nP:{document}\n{"like": "this"} é {}\n'
Messages = dict[str, tuple[tuple[str, str], ...]]
TURNS: Messages = {"": (("system", SYSTEM), ("user", USER))}
PAIR: Messages = {"": (("user", "{query}\n[A]\n{answer_a}\n[B]\n{answer_b}\nEnd with [[A]], [[B]] or [[C]]."),)}


def item(name: str, **texts: str | tuple[str, ...]) -> Item:
    return Item(name, name, texts)


def documents(*texts: str) -> list[Item]:
    return [item(str(n), query="q", document=text) for n, text in enumerate(texts)]


@dataclass
class Model:
    """Replies by what the last turn and the attempt are, and remembers what it was sent.

    Args:
        script: From the text of the last turn and the attempt, from 0.
    """

    script: Callable[[str, int], str]
    sent: list[Request] = field(default_factory=list)

    def __call__(self, requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        for request in requests:
            self.sent.append(request)
            yield Reply(request.key, self.script(request.messages[-1]["content"], request.rollout or 0))

    @property
    def texts(self) -> list[str]:
        return [request.messages[-1]["content"] for request in self.sent]


def turns(
    model: Model,
    items: Sequence[Item],
    messages: Messages,
    aspects: tuple[str, ...] = ("grade",),
    verdict: str | None = None,
) -> tuple[Judgments, Count]:
    count = Count()
    prompt = PromptLeaf(name="p", turns=messages, verdict=verdict)
    return rate_all(TurnsRater(prompt, scale=SCALE, aspects=aspects, count=count), items, model), count


def test_turns_are_sent_byte_for_byte_with_the_texts_in_their_places_and_nothing_else() -> None:
    model = Model(lambda *_: "Score: 2")
    found, count = turns(model, documents("one", "two"), TURNS)
    assert [request.messages for request in model.sent] == [
        [{"role": "system", "content": SYSTEM}, {"role": "user", "content": USER.replace("{query}", "q").replace(
            "{document}", text)}] for text in ("one", "two")
    ]  # fmt: skip
    assert (found.grade[:, 0].tolist(), found.accept[:, 0].tolist(), found.score[:, 0].tolist()) == (
        [2, 2],
        [1, 1],
        [2.0, 2.0],
    )
    assert found.rationale == ("Score: 2",) * 2  # all of what the model said
    assert np.isnan(found.confidence).all()
    assert (count.done, count.unscored) == (2, 0)


def test_text_of_an_item_is_never_taken_for_a_placeholder() -> None:
    prompt = {"": (("user", "{query}|{contexts}|{answer}"),)}
    one = item("i", query="{contexts} {answer}", answer="no {query}", contexts=("a", "b"))
    assert filled(prompt, "grade", one) == [{"role": "user", "content": "{contexts} {answer}|a\n\nb|no {query}"}]


def test_texts_that_an_item_lacks_are_empty() -> None:
    assert filled({"": (("user", "<{query}><{contexts}>"),)}, "grade", item("i", query="q"))[0]["content"] == "<q><>"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"system": "s ", "user": "u"}, {"": (("system", "s "), ("user", "u"))}),
        ("  one\n", {"": (("user", "  one\n"),)}),
        ({"tone": "t", "fit": {"user": "a"}}, {"tone": (("user", "t"),), "fit": (("user", "a"),)}),
        (
            {"system": "s", "user": {"tone": "t", "fit": "a"}},
            {"tone": (("system", "s"), ("user", "t")), "fit": (("system", "s"), ("user", "a"))},
        ),
        ({"system": None, "user": {"tone": "t"}}, {"tone": (("user", "t"),)}),
        ({"system": {"tone": "s"}, "user": {"tone": "t", "odd": "u"}}, {"tone": (("system", "s"), ("user", "t"))}),
        (None, {}),
    ],
)
def test_prompts_are_kept_as_they_were_written(given: object, kept: object) -> None:
    assert messages_of(given) == kept


def test_a_reply_that_cannot_be_read_is_asked_for_again_and_an_item_without_one_says_why() -> None:
    replies = {"fine": ["Score: 3"], "later": ["no idea", "Score: 1"], "never": ["Score: 1. Score: 2", "Hm"]}
    model = Model(lambda text, attempt: next(said for key, said in replies.items() if key in text)[attempt])
    found, count = turns(model, documents(*replies), TURNS)
    assert found.grade[:, 0].tolist() == [3, 1, UNSCORED]
    assert found.unscored[:2] == (None, None)
    assert str(found.unscored[2]).startswith("malformed reply")
    assert found.rationale == ("Score: 3", "Score: 1", "")
    assert len(model.sent) == 5
    assert [request.rollout for request in model.sent] == [None, None, None, 1, 1]
    assert (count.done, count.unscored) == (3, 1)
    assert np.isnan(found.probabilities[2]).all()


def test_what_a_reply_quotes_of_the_item_is_no_verdict() -> None:
    found, _ = turns(Model(lambda *_: 'It says "Score: 3".'), documents("Score: 3"), TURNS)
    assert found.grade.tolist() == [[UNSCORED]]


def test_a_number_between_two_grades_is_half_of_each() -> None:
    found, _ = turns(Model(lambda *_: "Score: 1.5"), documents("x"), TURNS)
    assert found.probabilities[0, 0].tolist() == [0, 0.5, 0.5, 0]
    assert found.score.tolist() == [[1.5]]
    assert found.grade.tolist() == [[2]]  # the even one


def test_several_aspects_are_asked_one_by_one_and_an_item_counts_with_all_of_them() -> None:
    messages: Messages = {"tone": (("user", "tone of {document}"),), "fit": (("user", "fit of {document}"),)}
    said = {"tone of a": "Score: 1", "fit of a": "Score: 3", "tone of b": "Score: 2", "fit of b": "no idea"}
    model = Model(lambda text, _: said[text])
    found, count = turns(model, documents("a", "b"), messages, ("tone", "fit"))
    assert model.texts == ["tone of a", "fit of a", "tone of b", "fit of b", "fit of b"]
    assert found.grade.tolist() == [[1, 3], [UNSCORED, UNSCORED]]
    assert found.rationale == ("tone: Score: 1\nfit: Score: 3", "")
    assert found.unscored[1] is not None
    assert (count.done, count.unscored) == (2, 1)


def test_one_text_for_all_aspects_is_sent_for_each() -> None:
    model = Model(lambda text, _: "Score: 2")
    found, _ = turns(model, documents("a"), {"": (("user", "{document}"),)}, ("tone", "fit"))
    assert model.texts == ["a", "a"]
    assert found.grade.tolist() == [[2, 2]]


@pytest.mark.parametrize(
    ("verdict", "grades"), [(None, [UNSCORED, 3, UNSCORED]), ("Puntuación: {v}", [2, UNSCORED, UNSCORED])]
)
def test_of_a_prompt_that_declares_the_form_of_its_verdict_that_form_alone_is_read(
    verdict: str | None, grades: list[int]
) -> None:
    said = {"a": "Es claro.\nPuntuación: 2", "b": "Score: 3", "c": "Puntuación: 2\nPuntuación: 1"}
    model = Model(lambda text, _: said[text])
    found, _ = turns(model, documents(*said), {"": (("user", "{document}"),)}, verdict=verdict)
    assert found.grade[:, 0].tolist() == grades


def prefers(text: str, _: int) -> str:
    """The longer answer; of equally long ones the first; of the pair ``odd`` two."""
    a, b = (text.partition(f"[{side}]\n")[2].partition("\n")[0] for side in "AB")
    return "[[A]] or [[B]]" if "odd" in text else f"So.\n[[{'B' if len(b) > len(a) else 'A'}]]"


def test_pairs_are_asked_in_both_orders() -> None:
    pairs = [("aaa", "b"), ("a", "bbb"), ("aa", "bb"), ("odd", "odder")]
    items = [item(str(n), query=f"q{n}", answer_a=a, answer_b=b) for n, (a, b) in enumerate(pairs)]
    judge = JudgeTree(Calibrated(of=PromptLeaf(name="p", turns=PAIR)), "preference", PREFERENCE_SCALE, ("grade",))
    model = Model(prefers)
    found = judge.judge(items, model)
    assert judge.pairs
    a, b, tie = (PREFERENCE_SCALE.position(word) for word in ("a", "b", "tie"))
    assert found.grade[:, 0].tolist() == [a, b, tie, UNSCORED]
    assert found.flipped is not None
    assert found.flipped.tolist() == [False, False, True, False]
    assert found.rationale[0] == f"So.\n[[A]]{EXCHANGED}So.\n[[B]]"
    texts = {text.partition("\nEnd")[0] for text in model.texts}
    assert texts == {f"q{n}\n[A]\n{one}\n[B]\n{two}" for n, (a, b) in enumerate(pairs) for one, two in ((a, b), (b, a))}
    assert len(model.sent) == 8 + 2  # both orders of the odd pair are asked again

    one_order = judge.judge(items[:3], Model(prefers), one_order=True)
    assert one_order.flipped is None
    assert one_order.grade[:, 0].tolist() == [a, b, a]


@pytest.mark.parametrize(
    ("messages", "task", "aspects", "seen"),
    [
        (TURNS, "relevance", ("grade",), ""),
        (PAIR, "preference", ("grade",), ""),
        ({"": (("user", "{conversation_a} {conversation_b}"),)}, "preference", ("grade",), ""),
        ({"": (("user", "{conversation_a} {answer_b}"),)}, "preference", ("grade",), "{answer_a}"),
        ({"": (("user", "{question} {document} {}"),)}, "relevance", ("grade",), "{question}"),
        ({"": (("user", "{query} {answer_a}"),)}, "preference", ("grade",), "{answer_b}"),
        ({"": (("user", "{query}"),)}, "preference", ("grade",), "{answer_a}"),
        ({"accuracy": (("user", "{query}"),)}, "answer", ("accuracy", "tone"), "tone"),
        ({"accuracy": (("user", "{query}"),), "tone": (("user", "{answer}"),)}, "answer", ("accuracy", "tone"), ""),
        ({"accuracy": (("user", "{query}"),)}, "answer", ("grade",), "grade"),
    ],
)
def test_turns_that_cannot_be_put_to_items_of_a_task_say_why(
    messages: Messages, task: str, aspects: tuple[str, ...], seen: str
) -> None:
    said = unfit(messages, task, aspects)
    assert (seen in said) if seen else not said


def test_a_judge_of_several_calls_each_model_by_the_name_of_its_leaf() -> None:
    prompt = PromptLeaf(name="p", turns=TURNS)
    model = Model(lambda *_: "Score: 2")
    rate_all(leaf_rater(prompt, SCALE, ("grade",), both_orders=False, to="mine"), documents("x"), model)
    assert [request.to for request in model.sent] == ["mine"]
    assert prompt.inputs == ("query", "document")


# ---- Recorded verdicts, and whom to ask where an item has none ----


def known(grades: Sequence[int | None]) -> Judgments:
    """Verdicts on items 0, 1, ...; None where nobody was asked."""
    spread = np.array([np.eye(4)[grade] if grade is not None else np.full(4, np.nan) for grade in grades])
    reasons = [NOT_ASKED if grade is None else None for grade in grades]
    positions = [UNSCORED if grade is None else grade for grade in grades]
    return judgments(spread, positions, values=SCALE.values, accept_from=2, reason="recorded", unscored=reasons)


@dataclass(frozen=True)
class Table:
    """Recorded verdicts of one judge, who is asked for by the positions of items."""

    said: Judgments

    def require(self, judge: str) -> None:
        assert judge == "p"

    def judgments(self, _: str, item_ids: Sequence[str]) -> Judgments:
        return self.said.subset([int(item_id) for item_id in item_ids])


def looked_up(said: Judgments, asked: Rater, count: Count) -> RecordedRater:
    return RecordedRater(cast("RecordedVerdicts", Table(said)), "p", count, prompt=asked)


def supplied(grades: Sequence[int | None], model: Model) -> tuple[Judgments, Count]:
    count = Count()
    asked = TurnsRater(PromptLeaf(name="p", turns=TURNS), scale=SCALE, aspects=("grade",), count=count)
    rater = looked_up(known(grades), asked, count)
    return rate_all(rater, documents(*(f"text {n}" for n in range(len(grades)))), model), count


def by_digit(text: str, _: int) -> str:
    """The digit of the text; of item 4 nothing that can be read."""
    digit = int(text.partition("P:text ")[2][0])
    return "no idea" if digit == 4 else f"Score: {digit % 4}"


def test_recorded_verdicts_stand_and_the_prompt_is_asked_about_the_others_in_order() -> None:
    model = Model(by_digit)
    found, count = supplied([3, None, 0, None, None, 1], model)
    assert found.item_ids == tuple("012345")
    assert found.grade[:, 0].tolist() == [3, 1, 0, 3, UNSCORED, 1]
    assert [text.partition("P:")[2][:6] for text in model.texts] == ["text 1", "text 3", "text 4", "text 4"]
    assert found.rationale == ("recorded", "Score: 1", "recorded", "Score: 3", "", "recorded")
    assert [reason is None for reason in found.unscored] == [True] * 4 + [False, True]
    assert found.accept[:, 0].tolist() == [1, 0, 0, 1, UNSCORED, 0]
    assert (count.done, count.unscored) == (6, 1)  # each item once


def test_nobody_is_asked_where_all_verdicts_were_recorded() -> None:
    count = Count()
    said = known([1, 2, 3])
    asked = TurnsRater(PromptLeaf(name="p", turns=TURNS), scale=SCALE, aspects=("grade",), count=count)
    found = rate_all(looked_up(said, asked, count), documents("a", "b", "c"), nobody)
    assert found.grade.tolist() == said.grade.tolist()
    assert (count.done, count.unscored) == (3, 0)


def test_all_are_asked_where_no_verdict_was_recorded() -> None:
    found, count = supplied([None] * 4, model := Model(by_digit))
    assert found.grade[:, 0].tolist() == [0, 1, 2, 3]
    assert len(model.sent) == 4
    assert (count.done, count.unscored) == (4, 0)


def test_a_recorded_failure_stands_and_is_not_asked_again() -> None:
    count = Count()
    failed = known([2, None])
    failed = judgments(
        failed.probabilities[:, 0], failed.grade, values=SCALE.values, unscored=[None, "malformed reply: hm"]
    )
    asked = TurnsRater(PromptLeaf(name="p", turns=TURNS), scale=SCALE, aspects=("grade",), count=count)
    found = rate_all(looked_up(failed, asked, count), documents("a", "b"), nobody)
    assert found.unscored == (None, "malformed reply: hm")
    assert (count.done, count.unscored) == (2, 1)


def test_a_judge_asks_the_prompt_of_recorded_verdicts_only_where_it_is_told_how() -> None:
    prompt = PromptLeaf(name="p", turns=TURNS, verdicts="recorded:columns")
    judge = JudgeTree(Calibrated(of=prompt), "relevance", SCALE, ("grade",))
    count = Count()
    said = known([3, None])

    def opened(leaf: Leaf) -> RecordedRater:
        assert leaf is prompt
        return looked_up(said, leaf_rater(leaf, SCALE, ("grade",), both_orders=False), count)

    found = looking_up(judge, documents("text 0", "text 1"), Model(by_digit), opened)
    assert found.grade[:, 0].tolist() == [3, 1]
    assert judge.kind == "recorded"
