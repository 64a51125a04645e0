"""What a comparing judge is asked: each citation names, in the pool's numbers, the document that its agent cited."""

import json
import re
from collections import defaultdict
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judgec.errors import InputError
from judgec.raters.asked_judges import AskedJudges
from judgec.raters.tasks.preference import CITATIONS, MARKED, NO_DOCUMENTS, weighing, without_contexts
from judgec.records.game import Pairing
from judgec.tournament.files.entries import Entries
from judgec.tournament.files.reading import Sources, read_entries
from judgec.tournament.leaderboard import make_leaderboard
from judgec.tournament.play import PairPlayer, as_games
from judgec.tournament.pooling import Relevance, Showing, missing_citations
from judgec.tournament.report.drill import drilled
from judgec.tournament.report.evaluation import Evaluation
from tests.raters.engine import ScriptedEngine, asking, reply
from tests.records.test_card import make_card
from tests.tournament.league import comparer

DOCUMENTS = {f"d{n}": f"Fact {word}." for n, word in enumerate(["ash", "bay", "cob", "den", "elm", "fir"], 1)}
RETRIEVED = {"x": ("d1", "d2", "d3"), "y": ("d4", "d1"), "z": ("d6", "d3", "d5")}
ANSWERS = {
    "x": "On ash [1], on bay and cob [2, 3], on ash and bay [1-2]; x[1] is no mark, nor is [2021].",
    "y": "On den (doc 1), on ash[^2], on nothing [7].",
    "z": "On fir and elm [1][3], on cob [2]. `[1]`",
}
CITED = {  # the words of the documents that each mark cites, in order
    "x": [["ash"], ["bay", "cob"], ["ash", "bay"]],
    "y": [["den"], ["ash"], ["nothing"]],
    "z": [["fir"], ["elm"], ["cob"]],
}
LABEL = "(: missing|: not shown)?"
MARK = re.compile(rf"(?<!x)(?<!`)\[\^?(?!\d{{4}})(\d[\d, -]*){LABEL}\]|\(doc (\d+){LABEL}\)")
SECTION = re.compile(r"\[\[ ## (\w+) ## \]\]\n(.*?)(?=\n\n\[\[|\n\nRespond|\Z)", re.DOTALL)


def entries(**changes: object) -> Entries:
    made = Entries(
        queries={"q": "What of all this?"},
        answers={("q", agent): text for agent, text in ANSWERS.items()},
        documents=DOCUMENTS,
        retrieved={("q", agent): ids for agent, ids in RETRIEVED.items()},
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # fields of Entries


def prompts(league: Entries, relevance: Relevance | None = None, threshold: int | None = None) -> list[dict[str, str]]:
    """The fields of every prompt of a tournament of all pairs, both orders."""
    engine = ScriptedEngine(lambda *_: reply("tie").replace("## grade ##", "## preference ##"))
    showing = Showing(league, relevance, threshold)
    jury = AskedJudges.alone(comparer(), asking(engine).run)
    player = PairPlayer(league, jury, showing, answers=showing.answers)
    played = player.play([Pairing("q", a, b) for a, b in combinations(league.agents, 2)])
    asked = [dict(SECTION.findall(prompt)) for prompt in engine.asked]
    assert len(asked) == 2 * len(played)
    assert sum(one.without_contexts for one in played) * 2 == sum("contexts" not in one for one in asked)
    return asked


def quoted(text: str) -> str:
    return "\n".join(line.removeprefix("> ") for line in text.splitlines())


def numbered(contexts: str) -> dict[int, str]:
    return {int(n): text for n, text in re.findall(r"^\[(\d+)\]\n((?:> .*\n?)+)", contexts, re.MULTILINE)}


def whose(answer: str) -> str:
    return next(agent for agent, text in ANSWERS.items() if answer.startswith(text[:6]))


def test_every_citation_of_three_agents_names_its_document_in_every_prompt() -> None:
    seen: dict[str, int] = defaultdict(int)
    for asked in prompts(entries()):
        documents = numbered(asked["contexts"])
        assert len(documents) == len({d for a in ("answer_a", "answer_b") for d in RETRIEVED[whose(quoted(asked[a]))]})
        for answer in (quoted(asked["answer_a"]), quoted(asked["answer_b"])):
            agent = whose(answer)
            marks = [(m[1] or m[3], m[2] or m[4]) for m in MARK.finditer(answer)]
            assert len(marks) == len(CITED[agent])
            for (said, label), words in zip(marks, CITED[agent], strict=True):
                if words == ["nothing"]:
                    assert (said, label) == ("7", ": missing")
                    continue
                assert label is None
                texts = [documents[int(number)] for number in re.findall(r"\d+", said)]
                assert [text for text in texts if not any(word in text for word in words)] == []
                assert len(texts) == len(words)
                seen[agent] += len(words)
            assert ("x[1] is no mark" in answer) == ("[2021]" in answer) == (agent == "x")
            assert ("`[1]`" in answer) == (agent == "z")
    assert seen == {"x": 5 * 4, "y": 2 * 4, "z": 3 * 4}  # two games in both orders each


def test_cited_document_that_the_threshold_hides_is_not_missing() -> None:
    grades = {("q", d): 0 if d in {"d1", "d5"} else 2 for d in DOCUMENTS}
    relevance = Relevance(grades, {}, {}, judged=True, best=2)
    for asked in prompts(entries(), relevance):
        documents = numbered(asked["contexts"])
        assert not any("ash" in text or "elm" in text for text in documents.values())
        for answer in (quoted(asked["answer_a"]), quoted(asked["answer_b"])):
            assert answer.count(": missing") == (whose(answer) == "y")
            assert answer.count(": not shown") == {"x": 2, "y": 1, "z": 1}[whose(answer)]
            for said, words in re.findall(r"on (?:(\w+(?: and \w+)?)) \[(\d+(?:, \d+)*)\]", answer):
                texts = [documents[int(number)] for number in words.split(", ")]
                assert all(any(word in text for word in said.split(" and ")) for text in texts)


def test_games_without_a_shown_document_are_judged_by_a_prompt_that_does_not_speak_of_them() -> None:
    relevance = Relevance({("q", d): 2 if d == "d2" else 0 for d in DOCUMENTS}, {}, {}, judged=True, best=2)
    asked = prompts(entries(), relevance)
    assert sum("contexts" in one for one in asked) == 4  # x against y and z
    assert {whose(quoted(one["answer_a"])) for one in asked if "contexts" not in one} == {"y", "z"}
    module = comparer().module
    bare = without_contexts(module)
    ((_, before),), ((_, after),) = module.named_predictors(), bare.named_predictors()
    told, untold = (" ".join(one.signature.instructions.split()) for one in (before, after))
    assert "against the contexts" in told
    assert "against what you know" in untold
    assert "contexts" not in f"{after.signature.instructions} {after.signature.input_fields}"
    assert list(after.signature.output_fields) == list(before.signature.output_fields)


def test_prompt_without_documents_drops_what_was_said_of_citations_and_rewritten_instructions_get_a_sentence() -> None:
    cited = weighing(comparer().module, citations=True)
    ((_, before),) = cited.named_predictors()
    assert f"{CITATIONS} {MARKED}" in before.signature.instructions
    ((_, after),) = without_contexts(cited).named_predictors()
    assert "bracket" not in after.signature.instructions
    assert NO_DOCUMENTS not in after.signature.instructions
    before.signature = before.signature.with_instructions("Say which answer the retrieved passages bear out.")
    ((_, after),) = without_contexts(cited).named_predictors()
    assert after.signature.instructions.endswith(NO_DOCUMENTS)


def test_answers_are_left_alone_where_nobody_has_a_document() -> None:
    league = entries(documents={}, retrieved={})
    assert Showing(league).answers("q", "x", "y") == (ANSWERS["x"], ANSWERS["y"])
    assert missing_citations(league) == {}
    assert missing_citations(entries()) == {"y": 1}


def test_documents_that_say_their_own_numbers_lose_them_in_the_pool() -> None:
    texts = {"p": "[7] Fact ash.", "q": "[3] Fact bay.", "r": "Fact cob."}
    league = Entries(
        queries={"q": "?"},
        answers={("q", "x"): "ash [7], bay [3], none [1]", ("q", "y"): "cob [1]"},
        documents=texts,
        retrieved={("q", "x"): ("p", "q"), ("q", "y"): ("r",)},
    )
    showing = Showing(league)
    assert showing("q", "x", "y") == ("Fact ash.", "Fact cob.", "Fact bay.")
    assert showing.answers("q", "x", "y") == ("ash [1], bay [3], none [1: missing]", "cob [2]")
    assert league.item("q", "x").text("answer") == "ash [7], bay [3], none [1]"  # by their own, as before


def rows(tmp_path: Path, *given: dict[str, object], **sources: object) -> Entries:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps({"query_id": "1", "query": "?", **row}) + "\n" for row in given))
    return read_entries(Sources(answers=((str(path), ""),), **sources))  # type: ignore[arg-type]  # fields of Sources


def test_number_is_the_place_among_the_contexts_of_the_row_though_one_comes_twice_or_is_empty(tmp_path: Path) -> None:
    league = rows(
        tmp_path,
        {"agent": "x", "answer": "b [4], a [1][2], none [3]", "contexts": ["A", "A", "", "B"]},
        {"agent": "y", "answer": "b [1]", "contexts": ["B"]},
    )
    assert league.item("1", "x").inputs["contexts"] == ("A", "B")
    assert league.item("1", "x").text("answer") == "b [2], a [1][1], none [3: missing]"
    assert league.item("1", "y").text("answer") == "b [1]"
    showing = Showing(league)
    pool = showing("1", "x", "y")
    said = showing.answers("1", "x", "y")
    assert [pool[int(n) - 1] for n in re.findall(r"[ab] \[(\d)\]", " ".join(said))] == ["B", "A", "B"]


def test_numbers_are_those_of_the_contexts_where_a_run_file_ranks_other_documents(tmp_path: Path) -> None:
    run = tmp_path / "x.run"
    run.write_text("1 Q0 b 1 2 x\n1 Q0 gone 2 1 x\n")
    league = rows(
        tmp_path,
        {"agent": "x", "answer": "b [2], a [1]", "contexts": ["A", "B"], "passage_ids": ["a", "b"]},
        {"agent": "y", "answer": "a [1]", "contexts": ["A"], "passage_ids": ["a"]},
        runs=(str(run),),
    )
    assert league.item("1", "x").text("answer") == "b [1], a [2: not shown]"
    showing = Showing(league)
    assert showing("1", "x", "y") == ("A", "B")
    assert showing.answers("1", "x", "y") == ("b [2], a [1]", "a [1]")


def test_agent_declares_another_form_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    x: dict[str, object] = {"agent": "x", "answer": "b (1), [1]", "contexts": ["B"], "citation_form": "({n})"}
    y: dict[str, object] = {"agent": "y", "answer": "a [1]", "contexts": ["A"]}
    showing = Showing(rows(tmp_path, x, y))
    answer, other = showing.answers("1", "x", "y")
    pool = showing("1", "x", "y")
    assert answer == f"b ({pool.index('B') + 1}), [1]"
    assert other == f"a [{pool.index('A') + 1}]"
    with pytest.raises(InputError, match=r"citation_form '\(n\)'"):
        rows(tmp_path, {**x, "citation_form": "(n)"}, y)
    with pytest.raises(InputError, match="an agent has one"):
        rows(tmp_path, x, y, {**x, "query_id": "2", "citation_form": "[{n}]"})


ids = st.lists(st.sampled_from(sorted(DOCUMENTS)), unique=True, max_size=6)


@given(
    st.tuples(ids, ids),
    st.tuples(st.lists(st.integers(1, 8), max_size=5), st.lists(st.integers(1, 8), max_size=5)),
    st.none() | st.dictionaries(st.sampled_from(sorted(DOCUMENTS)), st.integers(0, 2)),
)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_cited_texts_are_the_same_before_and_after_pooling(
    retrieved: tuple[list[str], list[str]], cited: tuple[list[int], list[int]], grades: dict[str, int] | None
) -> None:
    league = entries(
        answers={("q", agent): "".join(f"<{n}>[{n}]" for n in own) for agent, own in zip("xy", cited, strict=True)},
        retrieved={("q", agent): tuple(own) for agent, own in zip("xy", retrieved, strict=True)},
    )
    graded = None if grades is None else Relevance({("q", d): g for d, g in grades.items()}, {}, {}, True, 2)
    showing = Showing(league, graded, annotations=False)
    pool = showing("q", "x", "y")
    assert pool == showing("q", "y", "x")
    assert showing.answers("q", "y", "x") == showing.answers("q", "x", "y")[::-1]
    if not (retrieved[0] or retrieved[1]):
        return
    for own, answer in zip(retrieved, showing.answers("q", "x", "y"), strict=True):
        for before, after, label in re.findall(r"<(\d+)>\[(\d+)(: [a-z ]+)?\]", answer):
            text = DOCUMENTS[own[int(before) - 1]] if int(before) <= len(own) else None
            if label == ": missing":
                assert (text, before) == (None, after)
            elif label == ": not shown":
                assert text is not None
                assert text not in pool
                assert int(after) > len(pool)
            else:
                assert pool[int(after) - 1] == text


@pytest.mark.parametrize("agents", [("x", "y"), ("x", "y", "z")])
def test_page_shows_answers_and_documents_with_the_numbers_that_the_judge_saw(agents: tuple[str, ...]) -> None:
    league = entries(answers={("q", agent): ANSWERS[agent] for agent in agents})
    engine = ScriptedEngine(lambda *_: reply("tie").replace("## grade ##", "## preference ##"))
    showing = Showing(league)
    player = PairPlayer(league, AskedJudges.alone(comparer(), asking(engine).run), showing, answers=showing.answers)
    played = player.play([Pairing("q", a, b) for a, b in combinations(agents, 2)])
    board = make_leaderboard(as_games(played, league), tournaments=2, resamples=5)
    (case,) = drilled(Evaluation(league, make_card(), board, played, showing=showing))

    for side in case.sides:
        documents = {int(text[1 : text.index("]")]): text for text in side.texts["contexts"]}
        (answer,) = side.texts["answer"]
        marks = [mark[1] or mark[3] for mark in MARK.finditer(answer)]
        assert len(marks) == len(CITED[side.who])
        for said, words in zip(marks, CITED[side.who], strict=True):
            texts = [documents[int(number)] for number in re.findall(r"\d+", said) if words != ["nothing"]]
            assert [text for text in texts if not any(word in text for word in words)] == []
    here, moved = list(showing("q", *agents)), 0
    for one, note in zip(played, case.notes, strict=True):
        seen = list(showing("q", one.game.agent_a, one.game.agent_b))
        others = {int(own): int(page) for page, own in re.findall(r"\[(\d+)\] as \[(\d+)\]", note.said)}
        assert [here[others.get(n, n) - 1] for n in range(1, len(seen) + 1)] == seen
        moved += bool(others)
    assert bool(moved) is (len(agents) > 2)
