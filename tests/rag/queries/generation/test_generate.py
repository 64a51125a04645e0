"""Pools of several models: shares, shortfalls, what every query keeps."""

import hashlib
import re
from collections.abc import Sequence

import pytest

from judgec.errors import GateError, UserError
from judgec.rag.queries.generation.generate import Pool, generate, long_passages, rows
from judgec.rag.queries.generation.generator import (
    Asked,
    Completed,
    PromptedGenerator,
    RuleGenerator,
    Written,
    read_list,
)
from judgec.rag.queries.reliability import Pair, Rules
from judgec.rag.queries.sampling import SampledDocument
from judgec.rag.retrieval.passages import Passage
from tests.prompts import PromptParts, unquote
from tests.rag.queries.catalogue import catalogue
from tests.rag.queries.scenarios.test_prompted import Asked as Sent


class Fixed:
    """A generator that writes two questions a passage, and none for every third."""

    def __init__(self, name: str, *, useful: int = 2) -> None:
        self.name = name
        self._useful = useful

    def write(self, passages: Sequence[Passage], count: int) -> list[list[Written] | str]:
        return [
            "refusal: no"
            if int(one.passage_id) % 3 == 2
            else [Written(self._query(one, k)) for k in range(self._useful)]
            for one in passages
        ]

    def complete(self, asked: Sequence[Asked], what: Completed) -> list[Written | str]:
        raise NotImplementedError

    def _query(self, passage: Passage, k: int) -> str:
        return f"{hashlib.sha256(f'{self.name}{k}{passage.passage_id}'.encode()).hexdigest()}?"


PASSAGES = [Passage(str(n), f"d{n}", f"{n * 7919} words") for n in range(12)]


def test_generate_gives_each_model_its_share() -> None:
    pool, again = (
        generate(PASSAGES, [Fixed("a"), Fixed("b")], per_passage=2, sizes={"a": 5, "b": 3}, seed=1) for _ in range(2)
    )
    assert [one.lm for one in pool.queries] == ["a"] * 5 + ["b"] * 3
    assert pool.dropped == {"a": {"refusal": 4}, "b": {"refusal": 4}}
    assert pool.queries == again.queries
    assert pool.queries[0].passage in PASSAGES


def test_generate_that_falls_short_says_why_for_each_model() -> None:
    with pytest.raises(UserError) as error:
        generate(PASSAGES, [Fixed("a"), Fixed("b", useful=1)], per_passage=2, sizes={"a": 17, "b": 9})
    first, second = str(error.value).splitlines()
    assert first.startswith("--sample a=17: 16 usable")
    assert "12 of 12 passages" in first
    assert "(4 refusal)" in first
    assert second.startswith("--sample b=9: 8 usable")


def test_generate_drops_what_the_experts_asked_and_what_is_unreliable() -> None:
    documents = catalogue().documents
    passages = list(long_passages(documents, "2000t", 0))
    experts = [fact.query for fact in RuleGenerator().write(passages[:1], 1)[0] if isinstance(fact, Written)]
    pool = generate(
        passages, [RuleGenerator()], per_passage=3, sizes={"embedded": 20}, experts=experts, reliability=Rules()
    )
    assert not {one.query for one in pool.queries} & set(experts)
    assert len(pool.queries) == 20


def test_long_passages_cover_every_document_within_the_size() -> None:
    text = " ".join(f"word{k}" for k in range(3000))
    documents = [SampledDocument("d", "T", text), SampledDocument("e", "U", "short text")]
    found = list(long_passages(documents, "2000t", 0))
    assert {one.doc_id for one in found} == {"d", "e"}
    assert len(found) > 2
    assert {one.passage_id for one in found} == {one.passage_id for one in long_passages(documents, "2000t", 5)}


def test_rows_keep_passage_model_seed_and_reference() -> None:
    pool = generate(PASSAGES, [Fixed("a")], per_passage=2, sizes={"a": 2}, seed=4)
    (row, _) = rows(pool, references=True)
    place = {"doc_id", "doc_ids", "passage_id", "title", "passage"}
    assert set(row) == {"query_id", "query", "reference", "lm", "seed"} | place
    assert (row["lm"], row["seed"]) == ("a", 4)
    assert "reference" not in next(rows(pool, references=False))


def sent_for(model: object, *, references: bool = True, rubrics: bool = True) -> tuple[Pool, Sent, Sent]:
    """A pool of two passages, what was sent to write, and what was sent to read."""
    writes, reads = Sent(model), Sent(model)  # type: ignore[arg-type]  # as below
    generator = PromptedGenerator("m", writes, ["How much?", "How far?", "Who is it?"], reads=reads, seed=3)
    pool = generate(
        ALIKE, [generator], per_passage=4, sizes=None, reliability=Rules(), references=references, rubrics=rubrics
    )
    return pool, writes, reads


ALIKE = [
    Passage("p", "d", "The battery of the pump lasts 5 years and its body is of coated steel.", "Pump"),
    Passage("v", "e", "The battery of the valve lasts 7 years and its body is of coated brass.", "Valve"),
]
PUMP = "What does the passage say?\nHow long does the battery of the pump last?\nOf what steel is the pump's body?"
VALVE = "When is the battery of the valve changed?\nIs the body of a valve of brass?"


def answering(system: str, prompt: PromptParts) -> dict[str, str]:
    """Questions that point, that are of another passage, whose answer is made up, and that are good."""
    asked = "".join(unquote(prompt.inputs.get("query", "")))
    passage = "".join(unquote(prompt.inputs["passage"]))
    if "from the passage alone, completely" in system:
        said = {"How long": "5 years", "Of what": "coated steel", "When is": "after 9 years"}  # the valve's lasts 7
        return {"answer": next((text for words, text in said.items() if asked.startswith(words)), "NONE")}
    if "so that an answer can be checked by it" in system:
        return {"nuggets": "1. vital: It is steel.\n- okay: It is coated.\nNo rust."}
    return {"queries": VALVE if "valve" in passage else PUMP}


def test_only_questions_that_pass_are_answered_and_only_answered_ones_get_a_rubric() -> None:
    pool, writes, reads = sent_for(answering)
    steps = [
        (next(iter(output.name for output in prompt.outputs)), unquote(prompt.inputs["query"])[0])
        for _, prompt in reads.prompts
    ]
    answered = [query for output, query in steps if output == "answer"]
    assert len(writes.prompts) == 2
    assert answered == [*PUMP.splitlines()[1:], *VALVE.splitlines()]  # the first points at its passage
    kept = [one.query for one in pool.queries]
    assert [query for output, query in steps if output == "nuggets"] == kept == PUMP.splitlines()[1:]
    assert pool.dropped["m"]["unreliable (answer_in_passage)"] == 2  # a made up one, and one that is not there
    assert {one.nuggets for one in pool.queries} == {("vital: It is steel.", "okay: It is coated.", "vital: No rust.")}


def test_without_references_and_rubrics_nothing_is_read_off_the_passage() -> None:
    pool, _, reads = sent_for(answering, references=False, rubrics=False)
    assert not reads.prompts
    assert {(one.reference, one.nuggets) for one in pool.queries} == {("", ())}


def test_every_prompt_of_a_run_begins_with_the_same_examples_in_the_order_of_its_seed() -> None:
    def sent(seed: int) -> list[str]:
        asked = Sent(answering)
        PromptedGenerator("m", asked, [f"Question {n}?" for n in range(24)], seed=seed).write(PASSAGES, 5)
        return [request.messages[-1]["content"] for request in asked.requests]

    like = [re.findall(r"5, like examples (.*)", prompt)[0].split(", ") for prompt in sent(1)]
    assert len({*map(tuple, like)}) == len(PASSAGES)  # the order is one, what is asked for is not
    assert all(len({*numbers}) == 5 and {*map(int, numbers)} <= {*range(1, 25)} for numbers in like)
    for prompts in (sent(1), sent(2)):
        before = {prompt.partition("[[ ## passage ## ]]")[0] for prompt in prompts}
        assert len(before) == 1
        assert {f"Question {n}?" in before.copy().pop() for n in range(24)} == {True}
    assert sent(1)[0] != sent(2)[0]


def test_generate_of_which_nothing_is_left_fails_its_gate_with_the_reasons() -> None:
    with pytest.raises(
        GateError, match=r"m: 0 usable queries: 2 of 2 passages gave 2 .*1 unreliable \(self_contained\)"
    ) as error:
        sent_for(lambda system, prompt: {"queries": "How long does the battery of the pump in this passage last?"})
    assert error.value.exit_code == 1


def test_rules_write_the_value_that_is_asked_for_as_the_vital_nugget() -> None:
    passages = list(long_passages(catalogue().documents, "2000t", 0))
    written = [one for found in RuleGenerator().write(passages[:2], 3) for one in found if isinstance(one, Written)]

    assert len(written) == 6
    assert all(one.nuggets == (f"vital: {one.reference}",) for one in written)


def test_read_list_takes_lines_without_their_numbers() -> None:
    assert read_list("1) First question?\n  * Second question?\nno") == ["First question?", "Second question?"]


@pytest.mark.parametrize(
    ("query", "answer", "faults"),
    [
        ("How long is the battery life of the pump?", "5 years", ()),
        ("How long is the battery life of the pump?", "7 years", ("answer_in_passage",)),
        ("What colour has the zebra of the king?", "", ("question_in_passage",)),
        ("How long does it last?", "5 years", ("self_contained",)),
        ("What does the passage say about the pump's battery life?", "5 years", ("self_contained",)),
    ],
)
def test_rules_find_what_is_unreliable(query: str, answer: str, faults: tuple[str, ...]) -> None:
    passage = "The battery life of the pump is 5 years, and how long it lasts depends on the load."
    found = Rules().faults([Pair(query, passage, answer)])[0]
    assert set(faults) <= set(found)
    assert bool(found) is bool(faults)
