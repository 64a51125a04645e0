"""Compiling a query generator: a model that follows better instructions, one that cannot, and what is saved."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from judgec.compile.contest import COMPILED, UNCOMPILED, Contested, compile_program
from judgec.compile.contest_report import finished, run_of
from judgec.compile.family_state import FamilyState
from judgec.compile.queries.compile import (
    GeneratorContest,
    Tried,
    items_of,
    rejected_with_passages,
)
from judgec.compile.queries.saved import CompiledGenerator, load_generator
from judgec.compile.release import release
from judgec.errors import UserError
from judgec.labels.split.family import read_family
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Silent
from judgec.rag.queries.generation.generator import Asked as Made
from judgec.rag.queries.generation.generator import Completed, PromptedGenerator, Written
from judgec.rag.queries.reliability import Rules
from judgec.rag.retrieval.passages import Passage
from judgec.raters import programs
from judgec.records.card import Cost
from judgec.records.label import FloatArray
from judgec.records.tasks.reliability import FAULTS
from tests.prompts import PromptParts, unquote
from tests.rag.queries.scenarios.test_prompted import Asked, Model
from tests.report.page.html import Page

WORDS = ("harbour", "lantern", "meadow", "copper", "violin", "glacier", "saddle", "orchard", "compass", "thimble")
PASSAGES = [
    Passage(
        f"d{n}@0", f"d{n}", f"The {name} weighs {n + 100} grams and was built for {WORDS[n // 7]} owners.", f"Model {n}"
    )
    for n, name in enumerate(f"{WORDS[n % 10]} {WORDS[n // 10]} model {n}" for n in range(60))
]
EXPERTS = ("How many grams does the spoon model 900 weigh?", "What was the fork model 901 built for?")
SPEC = LMSpec.parse("openai/fake", api_base="http://127.0.0.1:9/v1")


def embed(texts: Sequence[str]) -> FloatArray:
    vectors = np.array([[1.0, float("grams" in text), float("built" in text)] for text in texts])
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def teachable(system: str, prompt: PromptParts) -> Mapping[str, str]:
    if "Rewrite the instructions" in system:
        return {"better_instructions": "Always name the model. Never say it."}
    passage = "".join(unquote(prompt.inputs["passage"]))
    if "from the passage alone" in system:
        return {"answer": f"{passage.split(' grams')[0].split()[-1]} grams"}
    name = passage.split(" weighs")[0].split("\n")[-1].removeprefix("The ")
    good = f"How many grams does the {name} weigh?"
    return {"queries": good if "Always name the model" in system else f"How much does it weigh, {name}?"}


Found = Contested[Tried]


def contest_of(asked: Asked, home: Path, passages: Sequence[Passage] = PASSAGES, name: str = "gen") -> GeneratorContest:
    return GeneratorContest(
        name=name,
        home=home,
        items=items_of(passages),
        start=CompiledGenerator(),
        settings={"per_passage": 1},
        lm=SPEC,
        keeping=lambda _: nullcontext(),
        optimizer="candidates",
        notes=("a note",),
        passages=passages,
        experts=EXPERTS,
        per_passage=1,
        reliability=Rules(),
        embed=embed,
        ask=asked,
        rewriter=asked,
    )


def compiled(model: Model, home: Path, passages: Sequence[Passage] = PASSAGES, name: str = "gen") -> Found:
    return compile_program(contest_of(Asked(model), home, passages, name), Silent())


def test_compile_of_a_teachable_model_promotes_the_rewritten_instructions(tmp_path: Path) -> None:
    found = compiled(teachable, tmp_path)
    assert found.chosen.name == "rewrite 1"
    assert found.decision.promoted
    ours, theirs = (found.test[side].estimates() for side in (COMPILED, UNCOMPILED))
    assert (ours["accepted"].value, theirs["accepted"].value) == (1.0, 0.0)
    likeness = [one["likeness"].to_json() for one in (ours, theirs)]
    assert [one["value"] is None for one in likeness] == [False, True]
    assert all(one["low"] is None and one["note"] for one in likeness)  # what has no interval says why
    assert found.decision.difference.low is not None
    assert found.decision.difference.low > 0
    parts = [{PASSAGES[i].doc_id for i in part} for part in (found.split.train, found.split.dev, found.split.test)]
    assert not parts[0] & parts[1] | parts[0] & parts[2] | parts[1] & parts[2]


def test_compile_of_a_stubborn_model_promotes_nothing(tmp_path: Path) -> None:
    def stubborn(system: str, prompt: PromptParts) -> Mapping[str, str]:
        return teachable(system.replace("Always name the model", ""), prompt)

    found = compiled(stubborn, tmp_path)
    assert not found.decision.promoted
    assert "no candidate beat" in found.decision.reason


def test_compile_of_a_model_that_fails_counts_every_passage_as_nothing(tmp_path: Path) -> None:
    found = compiled(lambda system, prompt: None, tmp_path)
    assert not found.decision.promoted
    assert found.test[COMPILED].estimates()["value"].value == 0.0
    assert found.test[COMPILED].row["failed"] == {"service error": len(found.split.test)}


def test_compile_of_too_few_documents_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--index: 1 documents"):
        compiled(teachable, tmp_path, PASSAGES[:1])


class Fixed:
    name = "fixed"

    def __init__(self, queries: Sequence[str]) -> None:
        self._queries = queries

    def write(self, passages: Sequence[Passage], count: int) -> list[list[Written] | str]:
        return [[Written(query) for query in self._queries], *["refusal: x"] * (len(passages) - 1)]

    def complete(self, asked: Sequence[Made], what: Completed) -> list[Written | str]:
        return [Written(one.query, "103 grams") for _, one in asked]


def test_score_values_rejected_repeated_and_missing_questions_at_nothing(tmp_path: Path) -> None:
    text = PASSAGES[3].text
    good = "How many grams does the copper harbour model 3 weigh?"
    queries = [good, f"{good} ", EXPERTS[0], "What does the passage say about the copper harbour model 3?"]
    found = contest_of(Asked(teachable), tmp_path).valued(Fixed(queries), PASSAGES[3:5])
    assert text in found.made[0].passage.text
    assert [one.faults for one in found.made][:2] == [(), ("repeated",)]
    assert found.values["accepted"].tolist() == [1, 0, 0, 0, 0]
    assert found.values["value"].tolist() == pytest.approx([1.0, 0, 0, 0, 0])  # its nearest expert query is as it
    assert found.cluster.tolist() == [0, 0, 0, 0, 1]
    assert found.objective.point() == pytest.approx(0.2)


def test_save_keeps_what_generates_the_same_again(tmp_path: Path) -> None:
    found = compiled(teachable, tmp_path)
    cost = Cost(lm_calls=0, usd=0.0, seconds=1.0)
    made = release(finished(found, cost, "2026-01-01T00:00:00+00:00"))
    card = made.card
    assert made.compiled == found
    assert (card.task, card.version, card.promoted, card.looks) == ("queries", 1, True, 1)
    assert made.report["notes"] == ["a note"]
    loaded = load_generator(tmp_path, "gen")
    assert "Always name the model" in str(loaded.write.signature.instructions)
    assert len(read_family(tmp_path, "gen").looks) == 1
    page = Page(programs.page_path(tmp_path, card).read_text(encoding="utf-8"))
    assert page.faults == []
    run = run_of(found.contest, made.report, card, source="docs", took=(0.0, 1.0))
    assert run.version is not None
    assert run.version.aliases == ("champion",)
    assert run.candidates[0].name == UNCOMPILED
    assert [one.split for one in run.datasets] == ["train", "dev", "test"]
    assert run.headline is not None
    assert len(run.headline) <= 15
    assert run.headline["test.compiled.value"] == found.test[COMPILED].objective.point()
    assert run.headline["test.difference"] == found.decision.difference.value
    assert (run.headline["lm_calls"], run.headline["cost_usd"], run.headline["seconds"]) == (0.0, 0.0, 1.0)
    second = compiled(teachable, tmp_path)
    assert second.decision.rival == "champion"
    assert second.standing == FamilyState(2, 1)
    assert not second.decision.promoted  # as good as the champion, since it is the same
    assert second.split.test == found.split.test
    again = release(finished(second, cost, "2026-01-01T00:00:00+00:00")).card
    assert (again.version, again.looks, again.parent) == (2, 2, 1)
    renamed = compiled(teachable, tmp_path, name="other")
    assert renamed.split.test == found.split.test
    assert renamed.standing == FamilyState(3, None)  # uses belong to the documents


def test_rewrite_reads_in_words_why_questions_were_rejected_beside_their_passages() -> None:
    other = PASSAGES[4]
    tried = [
        Tried("How old is it?", PASSAGES[3], ("question_in_passage", "self_contained")),
        Tried("What does the saddle weigh?", other, ("repeated",)),
        Tried("How heavy is it?", PASSAGES[3], ("answer_in_passage",)),
        Tried("Is it new?", other, ("unscored", "an aspect of its own")),
    ]
    lines = rejected_with_passages(tried).splitlines()
    assert lines == [
        "[1]",
        "> Model 3",
        f"> {PASSAGES[3].text}",
        f"Rejected question. {FAULTS['question_in_passage']} {FAULTS['self_contained']}",
        "> How old is it?",
        "Rejected question. The passage does not state its answer, or not all of it.",
        "> How heavy is it?",
        "[2]",
        "> Model 4",
        f"> {other.text}",
        "Rejected question. It is asked already.",
        "> What does the saddle weigh?",
        "Rejected question. No verdict on it could be read. It fails in an aspect of its own.",
        "> Is it new?",
    ]
    assert rejected_with_passages([]) == ""


def test_demonstration_shows_its_passage_as_any_prompt_shows_one(tmp_path: Path) -> None:
    asked = Asked(teachable)
    PromptedGenerator("m", asked, EXPERTS).write(PASSAGES[:1], 1)
    shown = contest_of(asked, tmp_path).demonstrated([Tried("How heavy is it?", PASSAGES[0], ())])
    assert shown.write.demos[0].passage in asked.requests[0].messages[-1]["content"]


def test_rewrite_reads_no_more_passages_than_there_is_room_for() -> None:
    long = [Passage(f"d{n}@0", f"d{n}", f"{n} " * 6000, "") for n in range(4)]
    text = rejected_with_passages([Tried(f"Question {one.doc_id}?", one, ("repeated",)) for one in long])
    assert "Question d1?" in text
    assert "Question d2?" not in text


def test_rewrite_that_repeats_a_passage_is_dropped_counted_and_asked_for_once_more(tmp_path: Path) -> None:
    again = []

    def copying(system: str, prompt: PromptParts) -> Mapping[str, str]:
        if "Rewrite the instructions" not in system:
            return teachable(system, prompt)
        if "repeated" in prompt.inputs:
            again.append(prompt.inputs["repeated"])
            return {"better_instructions": "Always name the model. Never say it."}
        return {"better_instructions": f"Ask of {unquote(prompt.inputs['rejected'])[0]}"}

    found = compiled(copying, tmp_path)
    assert found.chosen.name == "rewrite 1"
    assert "Always name the model" in str(found.chosen.module.write.signature.instructions)
    assert len(again) == 3
    assert all(words.startswith("> ") and len(words.split()) == 1 + 8 for words in again)  # quoted
    assert any(note.startswith("rewrite: 3 rewritten instructions dropped") for note in found.notes)
