"""A language model writes: what it is asked, what becomes of bad replies; the model is a function."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import pytest

from judgec.lm.executor import Reply, Request
from judgec.rag.queries.reliability import Pair
from judgec.rag.queries.sampling import Draw, SampledDocument
from judgec.rag.queries.scenarios import SHIPPED
from judgec.rag.queries.scenarios.building import Built, build
from judgec.rag.queries.scenarios.drafts import ANSWERED, Draft, check
from judgec.rag.queries.scenarios.prompted import MOST_READ, WINDOW, PromptedWriter, unread, windows
from judgec.rag.queries.scenarios.reading import read_scenario
from judgec.rag.queries.terms import TermIndex
from judgec.rag.retrieval.passages import Passage
from tests.prompts import PromptParts, read_prompt, unquote

ASKS = "any of the passages answers"
Model = Callable[[str, PromptParts], Mapping[str, str] | str | None]


class Asked:
    """An ``Ask`` whose model is a function of the instructions and the item."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.prompts: list[tuple[str, PromptParts]] = []
        self.requests: list[Request] = []

    def __call__(self, requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        for request in requests:
            system = "".join(m["content"] for m in request.messages if m["role"] == "system")
            turns = [(m["role"], m["content"]) for m in request.messages if m["role"] != "system"]
            prompt = read_prompt(system, turns)
            self.prompts.append((system, prompt))
            self.requests.append(request)
            said = self.model(system, prompt)
            if said is None:
                yield Reply(request.key, None, error="down")
            else:
                text = said if isinstance(said, str) else "".join(f"[[ ## {k} ## ]]\n{v}\n\n" for k, v in said.items())
                yield Reply(request.key, f"{text}[[ ## completed ## ]]\n" if not isinstance(said, str) else text)


def draw(*texts: str, title: str = "Pump") -> Draw:
    passages = tuple(Passage(f"d#{n}", "d", text, title) for n, text in enumerate(texts))
    return Draw("k", passages, 7)


def write(name: str, model: Model, *drawn: Draw, seed: int = 0) -> tuple[list[Draft | str], Asked]:
    asked = Asked(model)
    found = PromptedWriter("m", asked, seed, TermIndex([Passage("n#0", "n", "nearest passage")])).write(
        read_scenario(SHIPPED / f"{name}.yaml"), drawn
    )
    return found, asked


def test_write_gives_the_prompt_of_the_scenario_and_the_passage() -> None:
    (draft,), asked = write("S1", lambda _, p: {"question": "How many?", "answer": "5"}, draw("It has 5."))
    assert draft == Draft("How many?", "5")
    system, prompt = asked.prompts[0]
    assert "answer is a number" in system
    assert unquote(prompt.inputs["passages"]) == ("It has 5.",)
    assert [output.name for output in prompt.outputs] == ["question", "answer"]


@pytest.mark.parametrize(("name", "shots"), [("S1", 1), ("S2", 1), ("S3", 3), ("S4", 1), ("S5", 1), ("S6", 0)])
def test_write_sends_the_examples_of_the_paper_with_the_first_prompt_alone(name: str, shots: int) -> None:
    reply = {"question": "How many?", "answer": "5", "questions": "One?\nTwo?", "answers": "5\n6"}
    _, asked = write(name, lambda _, p: reply, draw("It has 5.", "And 6."))
    first = [prompt for _, prompt in asked.prompts if "draft_question" not in prompt.inputs]
    assert {len(prompt.demonstrations) for prompt in first if "passages" in prompt.inputs} == {shots}
    assert not any(prompt.demonstrations for _, prompt in asked.prompts if prompt not in first)


def test_write_of_a_sequence_shows_each_step_what_the_one_before_wrote() -> None:
    def model(system: str, prompt: PromptParts) -> Mapping[str, str]:
        draft = "".join(unquote(prompt.inputs.get("draft_question", "")))
        if "Answer it again" in system:
            return {"question": "something else", "answer": "made again"}
        return {"question": f"{draft}!" if draft else "first", "answer": "first answer"}

    (draft,), asked = write("situational", model, draw("text"))
    assert draft == Draft("first!", "made again")  # the last step keeps the question and makes the reference again
    assert len(asked.prompts) == 3


def test_write_of_choices_drops_a_question_with_two_right_options() -> None:
    def model(system: str, prompt: PromptParts) -> Mapping[str, str]:
        if "right answers" in system:
            return {"right": "1, 3" if "tricky" in prompt.inputs["question"] else "2"}
        kind = "tricky" if "odd" in prompt.inputs["passages"] else "plain"
        return {"question": f"{kind}?", "answer": "two", "options": "A) one\nB) two\nC) three"}

    found, asked = write("S3", model, draw("odd"), draw("even"))
    assert isinstance(found[0], str)
    assert found[1] == Draft("plain?", "two", options=("one", "two", "three"))
    assert len(asked.prompts[0][1].demonstrations) == 3  # three-shot


THREE = {
    "questions": "1. How heavy is a?\n2. How warm is b?\n3. Where is c?",
    "answers": "1. 2.5 kg\n2. -5 \u00b0C\n3. in Ghent",
    "question": "How heavy is a, how warm is b, and where is c?",
}


@pytest.mark.parametrize("name", ["S4", "S5"])
def test_write_of_several_asks_once_about_all_chunks(name: str) -> None:
    (draft,), asked = write(name, lambda _, p: THREE, draw("a", "b", "c"))
    assert isinstance(draft, Draft)
    assert draft.query == THREE["question"]
    assert [(part.query, part.reference, part.passage_id) for part in draft.parts] == [
        ("How heavy is a?", "2.5 kg", "d#0"),
        ("How warm is b?", "-5 \u00b0C", "d#1"),
        ("Where is c?", "in Ghent", "d#2"),
    ]
    ((_, prompt),) = asked.prompts
    assert unquote(prompt.inputs["passages"]) == ("a", "b", "c")
    assert [output.name for output in prompt.outputs] == ["questions", "answers", "question"]


@pytest.mark.parametrize("bad", [{"answers": "1. 2.5 kg\n2. -5"}, {"questions": "One?\nTwo?"}])
def test_write_of_several_without_a_question_and_an_answer_of_each_chunk_is_no_draft(bad: Mapping[str, str]) -> None:
    (draft,), _ = write("S4", lambda _, p: {**THREE, **bad}, draw("a", "b", "c"))
    assert isinstance(draft, str)


def test_write_of_several_in_sequence_asks_each_chunk_and_then_merges() -> None:
    def model(system: str, prompt: PromptParts) -> Mapping[str, str]:
        if "draft_question" in prompt.inputs:
            return {"question": "All three, please?", "answer": "x"}
        return {"question": f"About {prompt.inputs['passages'][-1]}?", "answer": prompt.inputs["passages"][-1]}

    asked = Asked(model)
    scenario = read_scenario(SHIPPED / "S4.yaml").model_copy(
        update={"prompting_strategy": "sequential", "prompts": ("Ask one.", "Join them."), "examples": ()}
    )
    (draft,) = PromptedWriter("m", asked, 0).write(scenario, [draw("a", "b", "c")])
    assert isinstance(draft, Draft)
    assert draft.query == "All three, please?"
    assert [(part.query, part.reference) for part in draft.parts] == [(f"About {name}?", name) for name in "abc"]
    assert draft.reference == "1) a 2) b 3) c"
    assert len(asked.prompts) == 4


def test_write_of_what_nothing_answers_asks_about_the_nearest_passages() -> None:
    def model(system: str, prompt: PromptParts) -> Mapping[str, str]:
        if ASKS in system:
            answered = "yes" if "weight" in prompt.inputs["question"] else "no"
            return {"quote": "NONE", "answered": answered}
        if "draft_question" in prompt.inputs:
            asked = "weight" if "heavy" in prompt.inputs["passages"] else "torque"
            return {"question": f"What is the {asked} of the pump?", "answer": "NONE"}
        return {"question": "What is the speed of the pump?", "answer": "5"}

    found, _ = write("S6", model, draw("heavy"), draw("light"))
    assert found[0] == ANSWERED
    assert found[1] == Draft("What is the torque of the pump?", "", focus="torque", subject="pump")


def corpus(n: int, answering: int) -> TermIndex:
    """Passages of 5,000 characters; one says in words of its own what the others do not."""
    texts = ["The pump stands in the hall . " + "water " * 830 for _ in range(n)]
    texts[answering] = "Its twisting moment is 7 newton metres . " + "oil " * 1200
    return TermIndex([Passage(f"d#{number}", "d", text) for number, text in enumerate(texts)])


def reads_all(system: str, prompt: PromptParts) -> Mapping[str, str]:
    """Writes one question, and finds its answer in the passage that gives it in other words."""
    if ASKS in system:
        return {"quote": "NONE", "answered": "yes" if "twisting moment" in prompt.inputs["passages"] else "no"}
    asked = "torque" if "draft_question" in prompt.inputs else "speed"
    return {"question": f"What is the {asked} of the pump?", "answer": "NONE"}


@pytest.mark.parametrize(("n", "answering"), [(9, 0), (9, 8), (47, 46), (60, 59)])
def test_whole_corpus_is_read_before_a_question_counts_as_one_without_an_answer(n: int, answering: int) -> None:
    terms, asked = corpus(n, answering), Asked(reads_all)
    scenario = read_scenario(SHIPPED / "S6.yaml")
    (draft,) = PromptedWriter("m", asked, 0, terms).write(scenario, [draw("The pump turns at speed 5.")])
    read = [prompt for system, prompt in asked.prompts if ASKS in system]
    within = sum(len(chunk.text) for chunk in terms.chunks) <= MOST_READ  # the one that answers comes last
    assert (draft == ANSWERED) is within
    assert len(read) == (24 if n == 60 else (n + 1) // 2)  # two passages of 5,000 fit into a window
    assert bool(unread(terms)) is not within


def test_windows_hold_every_character_once_and_the_likest_passage_first() -> None:
    terms = TermIndex([Passage("a", "a", "x" * (WINDOW + 5)), Passage("b", "b", "the torque"), Passage("c", "c", "")])
    found = list(windows(terms, "What torque?"))
    assert found[0][0] == "the torque"
    assert sorted("".join(part for window in found for part in window)) == sorted("x" * (WINDOW + 5) + "the torque")
    assert all(sum(map(len, window)) <= WINDOW for window in found)


def test_write_of_a_follow_up_keeps_the_first_turn_as_history() -> None:
    def model(_: str, prompt: PromptParts) -> Mapping[str, str]:
        turn = "2" if "draft_question" in prompt.inputs else "1"
        return {"question": f"Q{turn}" + " of it" * (turn == "2"), "answer": f"A{turn}"}

    (draft,), _ = write("follow-up", model, draw("t"))
    assert isinstance(draft, Draft)
    assert [(turn.role, turn.content) for turn in draft.history] == [("user", "Q1"), ("assistant", "A1")]


def test_write_keeps_a_reason_for_every_draw_without_a_draft() -> None:
    def model(_: str, prompt: PromptParts) -> Mapping[str, str] | str | None:
        text = prompt.inputs["passages"]
        if "down" in text:
            return None
        return "prose without a field" if "prose" in text else {"question": "Q", "answer": "A"}

    found, asked = write("S1", model, draw("down"), draw("prose"), draw("fine"))
    assert found[0] == "service error: down"
    assert str(found[1]).startswith("malformed reply")
    assert found[2] == Draft("Q", "A")
    assert len(asked.prompts) == 4  # the malformed one was asked again


PUMPS = [
    Passage(f"d{n}#0", f"d{n}", f"The pump weighs {n} kg. It dates from 4 May 19{n}.", f"P{n}") for n in range(10, 99)
]
TERMS = TermIndex(PUMPS)


def built(name: str, model: Model, n: int, documents: int = len(PUMPS), **about: object) -> tuple[Built, Asked]:
    asked = Asked(model)
    some = [SampledDocument(one.doc_id, one.title, one.text) for one in PUMPS[:documents]]
    scenario = read_scenario(SHIPPED / f"{name}.yaml")
    writer = PromptedWriter("m", asked, 0, TERMS)
    return build(scenario, some, writer, TERMS, n=n, seed=0, **about), asked  # type: ignore[arg-type]  # a test's


def weight(prompt: PromptParts) -> str:
    return "".join(unquote(prompt.inputs["passages"])).split()[3]


def test_build_draws_a_question_anew_three_times_and_pays_for_no_more() -> None:
    found, asked = built("S1", lambda _, p: {"question": "How heavy is it?", "answer": "a Bulgarian umbrella"}, n=5)
    assert (found.questions, found.drafts, len(asked.prompts)) == ((), 20, 20)
    assert found.dropped == {"the answer has no number": 20}
    assert "0 of 5 questions" in found.shortfall


def test_build_keeps_its_ten_where_every_other_draft_falls() -> None:
    def model(_: str, prompt: PromptParts) -> Mapping[str, str]:
        heavy = weight(prompt)
        return {"question": f"How heavy is pump {heavy}?", "answer": f"{heavy if int(heavy) % 2 else 1234} kg"}

    found, _ = built("S1", model, n=10)
    assert len(found.questions) == 10
    assert found.dropped == {"a figure or date of the answer is not in the passage": found.drafts - 10}
    assert 10 < found.drafts <= 40


def test_build_asks_anew_for_the_same_passage_in_a_call_of_its_own_and_the_same_ones_again() -> None:
    """Of three documents one each falls for good: another question of a passage is another call, or the journal's."""

    def model(_: str, prompt: PromptParts) -> Mapping[str, str]:
        heavy = weight(prompt)
        return (
            {"question": "How heavy is that?", "answer": "3 kg"}
            if heavy == "11"
            else {"question": f"How heavy is pump {heavy}?", "answer": f"{heavy} kg"}
        )

    (_, asked), (_, again) = (built("S1", model, n=3, documents=3) for _ in range(2))
    calls = [(request.messages[-1]["content"], request.rollout) for request in asked.requests]
    assert 3 < len(calls) == len(set(calls))
    assert [(request.messages, request.rollout) for request in again.requests] == [
        (request.messages, request.rollout) for request in asked.requests
    ]


def test_build_draws_anew_what_the_reliability_judge_drops() -> None:
    class Doubts:
        name = "doubts"

        def faults(self, pairs: Sequence[Pair]) -> list[tuple[str, ...]]:
            return [("answer_in_passage",) if int(pair.answer.split()[0]) % 2 else () for pair in pairs]

    found, _ = built(
        "S1",
        lambda _, p: {"question": f"How heavy is pump {weight(p)}?", "answer": f"{weight(p)} kg"},
        n=10,
        reliability=Doubts(),
    )
    assert len(found.questions) == 10
    assert found.dropped == {"unreliable (answer_in_passage)": found.drafts - 10}


@pytest.mark.parametrize(
    ("name", "answer", "fault"),
    [
        ("S1", "55 kg", ""),
        ("S1", "heavy", "the answer has no number"),
        ("S1", "on 4 May 1955", "the answer has no number"),
        ("S1", "54 kg", "a figure or date of the answer is not in the passage"),
        ("S1", "55 kg, or 121 pounds", "a figure or date of the answer is not in the passage"),
        ("S2", "4 May 1955", ""),
        ("S2", "1955-05-04", ""),
        ("S2", "1955", ""),
        ("S2", "55 kg", "the answer has no date"),
        ("S2", "4 June 1955", "a figure or date of the answer is not in the passage"),
        ("plain", "It may weigh 55 kg.", ""),
        ("plain", "It weighs 56 kg.", "a figure or date of the answer is not in the passage"),
    ],
)
def test_check_holds_every_figure_and_date_of_an_answer_against_its_passage(name: str, answer: str, fault: str) -> None:
    drawn = draw(PUMPS[45].text)
    assert PUMPS[45].text == "The pump weighs 55 kg. It dates from 4 May 1955."
    assert check(Draft("What of the pump?", answer), read_scenario(SHIPPED / f"{name}.yaml"), drawn, TERMS) == fault


def test_checks_are_asked_apart_from_what_is_written() -> None:
    writes, checks = (
        Asked(lambda _, p: {"question": "Q?", "answer": "5", "options": "5\n6"}),
        Asked(lambda _, p: {"right": "1"}),
    )
    (draft,) = PromptedWriter("m", writes, 3, checks=checks).write(
        read_scenario(SHIPPED / "S3.yaml"), [draw("It has 5.")]
    )
    assert isinstance(draft, Draft)
    assert [request.rollout for request in (*writes.requests, *checks.requests)] == [3, None]


def test_only_a_question_without_an_answer_is_told_how_to_give_none() -> None:
    def told(name: str) -> list[bool]:
        _, asked = write(name, lambda _, p: {"question": "How many?", "answer": "5"}, draw("It has 5."))
        return [
            "NONE" in system.partition("All interactions")[0] for system, p in asked.prompts if "passages" in p.inputs
        ]

    assert told("S1") == [False]
    assert told("S6")[:2] == [False, True]
