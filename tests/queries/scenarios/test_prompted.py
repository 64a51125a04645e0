"""A language model writes: what it is asked, what becomes of bad replies; the model is a function."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from judgec.lm.embedded.prompt import Prompt, read_prompt, unquote
from judgec.lm.executor import Reply, Request
from judgec.queries.sampling import Draw
from judgec.queries.scenarios import SHIPPED
from judgec.queries.scenarios.drafts import Draft
from judgec.queries.scenarios.prompted import PromptedWriter
from judgec.retrieval.passages import Passage
from judgec.store.scenarios.reading import read_scenario

Model = Callable[[str, Prompt], Mapping[str, str] | str | None]


class Asked:
    """An ``Ask`` whose model is a function of the instructions and the item."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.prompts: list[tuple[str, Prompt]] = []

    def __call__(self, requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        for request in requests:
            system = "".join(m["content"] for m in request.messages if m["role"] == "system")
            turns = [(m["role"], m["content"]) for m in request.messages if m["role"] != "system"]
            prompt = read_prompt(system, turns)
            self.prompts.append((system, prompt))
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
    found = PromptedWriter("m", asked, seed, lambda question: ("nearest passage",)).write(
        read_scenario(SHIPPED / f"{name}.yaml"), drawn
    )
    return found, asked


def test_write_gives_the_prompt_of_the_scenario_and_the_passage() -> None:
    (draft,), asked = write("S1", lambda _, p: {"question": "How many?", "answer": "5"}, draw("It has 5."))
    assert draft == Draft("How many?", "5")
    system, prompt = asked.prompts[0]
    assert "whose answer is a number" in system
    assert unquote(prompt.inputs["passages"]) == ("It has 5.",)
    assert [output.name for output in prompt.outputs] == ["question", "answer"]


def test_write_of_a_sequence_shows_each_step_what_the_one_before_wrote() -> None:
    def model(system: str, prompt: Prompt) -> Mapping[str, str]:
        draft = "".join(unquote(prompt.inputs.get("draft_question", "")))
        if "Answer it again" in system:
            return {"question": "something else", "answer": "made again"}
        return {"question": f"{draft}!" if draft else "first", "answer": "first answer"}

    (draft,), asked = write("situational", model, draw("text"))
    assert draft == Draft("first!", "made again")  # the last step keeps the question and makes the reference again
    assert len(asked.prompts) == 3


def test_write_of_choices_drops_a_question_with_two_right_options() -> None:
    def model(system: str, prompt: Prompt) -> Mapping[str, str]:
        if "right answers" in system:
            return {"right": "1, 3" if "tricky" in prompt.inputs["question"] else "2"}
        kind = "tricky" if "odd" in prompt.inputs["passages"] else "plain"
        return {"question": f"{kind}?", "answer": "two", "options": "A) one\nB) two\nC) three"}

    found, asked = write("S3", model, draw("odd"), draw("even"))
    assert found[0] == "not exactly one option is right"
    assert found[1] == Draft("plain?", "two", options=("one", "two", "three"))
    assert len(asked.prompts[0][1].demonstrations) == 3  # three-shot


def test_write_of_several_asks_each_chunk_and_then_merges() -> None:
    def model(system: str, prompt: Prompt) -> Mapping[str, str]:
        if "draft_question" in prompt.inputs:
            return {"question": "All three, please?", "answer": "x"}
        return {"question": f"About {prompt.inputs['passages'][-1]}?", "answer": prompt.inputs["passages"][-1]}

    (draft,), asked = write("S4", model, draw("a", "b", "c"))
    assert isinstance(draft, Draft)
    assert draft.query == "All three, please?"
    assert [(part.query, part.reference) for part in draft.parts] == [
        ("About a?", "a"),
        ("About b?", "b"),
        ("About c?", "c"),
    ]
    assert draft.reference == "1) a 2) b 3) c"
    assert len(asked.prompts) == 4


def test_write_of_what_nothing_answers_asks_about_the_nearest_passages() -> None:
    def model(system: str, prompt: Prompt) -> Mapping[str, str]:
        if "any of the passages answers" in system:
            answered = "yes" if "weight" in prompt.inputs["question"] else "no"
            return {"quote": "NONE", "answered": answered}
        if "draft_question" in prompt.inputs:
            return {"question": "What is the weight of the pump?" if "heavy" in prompt.inputs["passages"] else
                    "What is the torque of the pump?", "answer": "NONE"}  # fmt: skip
        return {"question": "What is the speed of the pump?", "answer": "5"}

    found, _ = write("S6", model, draw("heavy"), draw("light"))
    assert found[0] == "the documents may answer it"
    assert found[1] == Draft("What is the torque of the pump?", "", focus="torque", subject="pump")


def test_write_of_a_follow_up_keeps_the_first_turn_as_history() -> None:
    (draft,), _ = write(
        "follow-up",
        lambda _, p: (
            {"question": "Q2 of it", "answer": "A2"}
            if "draft_question" in p.inputs
            else {"question": "Q1", "answer": "A1"}
        ),
        draw("t"),
    )
    assert isinstance(draft, Draft)
    assert [(turn.role, turn.content) for turn in draft.history] == [("user", "Q1"), ("assistant", "A1")]


def test_write_keeps_a_reason_for_every_draw_without_a_draft() -> None:
    def model(_: str, prompt: Prompt) -> Mapping[str, str] | str | None:
        text = prompt.inputs["passages"]
        return (
            None if "down" in text else "prose without a field" if "prose" in text else {"question": "Q", "answer": "A"}
        )

    found, asked = write("S1", model, draw("down"), draw("prose"), draw("fine"))
    assert found[0] == "service error: down"
    assert str(found[1]).startswith("malformed reply")
    assert found[2] == Draft("Q", "A")
    assert len(asked.prompts) == 4  # the malformed one was asked again
