"""Pools of several models: shares, shortfalls, what every query keeps."""

import hashlib
from collections.abc import Sequence

import pytest

from judgec.errors import UserError
from judgec.rag.queries.generation.generate import generate, long_passages, rows
from judgec.rag.queries.generation.generator import PromptedGenerator, QueryGenerator, RuleGenerator, Written, read_list
from judgec.rag.queries.reliability import Pair, Rules
from judgec.rag.queries.sampling import SampledDocument
from judgec.rag.retrieval.passages import Passage
from tests.rag.queries.catalogue import catalogue
from tests.rag.queries.scenarios.test_prompted import Asked


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


def test_prompted_generator_shows_the_experts_and_asks_for_references() -> None:
    def model(system: str, prompt: object) -> dict[str, str]:
        if "from the passage alone" in system:
            return {"answer": "NONE"}
        return {"queries": '1. What is it made of?\n- "How long is it?"\n\nx'}

    asked = Asked(model)
    generator = PromptedGenerator("m", asked, ["How much?"], references=True, module=QueryGenerator())
    (written,) = generator.write(PASSAGES[:1], 5)
    assert written == [Written("What is it made of?"), Written("How long is it?")]
    assert "How much?" in asked.prompts[0][1].inputs["examples"]
    assert len(asked.prompts) == 3


def test_prompted_generator_asks_for_a_rubric_of_each_question() -> None:
    def model(system: str, prompt: object) -> dict[str, str]:
        if "so that an answer can be checked by it" in system:
            return {"nuggets": "1. vital: It is steel.\n- okay: It is coated.\nNo rust."}
        return {"queries": "What is it made of?"}

    generator = PromptedGenerator("m", Asked(model), [], rubrics=True)
    pool = generate(PASSAGES[:1], [generator], per_passage=1, sizes=None)
    (row,) = rows(pool, references=False, rubrics=True)

    assert row["nuggets"] == ["vital: It is steel.", "okay: It is coated.", "vital: No rust."]
    assert "nuggets" not in next(rows(pool, references=True))


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
