import re
from dataclasses import replace

from judgec.raters.registry import judge_module
from judgec.records.label import Item
from judgec.records.scale import Scale
from judgec.tournament.files.entries import Entries
from judgec.tournament.pooling import Relevance, Showing, given, judge_pool
from tests.raters.engine import ScriptedEngine, asking, reply
from tests.raters.trees import judge_of


def texts(showing: Showing, *agents: str) -> tuple[str, ...]:
    """What a judge is shown, a line a document: its grade and reason, and its text."""
    documents = showing.documents("q", agents).values()
    return tuple(" | ".join(filter(None, (one.grade, one.reason, one.text))) for one in documents)


SCALE = Scale(grades=(0, 1, 2))
ENTRIES = Entries(
    queries={"q": "Which?"},
    answers={("q", "x"): "1", ("q", "y"): "2"},
    documents={"d1": "relevance 2", "d2": "relevance 1", "d3": "unreadable"},
    retrieved={("q", "x"): ("d1", "d2"), ("q", "y"): ("d2", "d3", "gone")},
)


def test_judge_pool_asks_once_a_query_and_document_and_keeps_failures_apart() -> None:
    def script(prompt: str, _: int) -> str:
        found = re.findall(r"> relevance (\d)", prompt)
        return reply(found[-1], reason="on topic") if found else "?"

    engine = ScriptedEngine(script)
    judge = judge_of(judge_module("relevance", SCALE, ("grade",), ("query", "document")), SCALE, ("grade",))
    found = judge_pool(ENTRIES, judge, asking(engine).run)
    assert found.grades == {("q", "d1"): 2, ("q", "d2"): 1}
    assert found.reasons["q", "d1"] == "on topic"
    assert set(found.unscored) == {("q", "d3"), ("q", "gone")}
    assert len(engine.asked) == 4  # one of them twice, the second time as JSON
    assert found.judged


def test_judge_pool_keeps_the_judges_own_words_without_what_calibration_says_of_them() -> None:
    def silent(prompt: str, _: int) -> str:
        found = re.findall(r"> relevance (\d)", prompt)
        return reply(found[-1], reason="") if found else "?"

    judge = judge_of(judge_module("relevance", SCALE, ("grade",), ("query", "document")), SCALE, ("grade",))
    item = Item("q/d1", "q", {"query": "Which?", "document": "relevance 2"})
    (remark,) = judge.judge([item], asking(ScriptedEngine(silent)).run).rationale
    assert "without a reason" in remark
    found = judge_pool(ENTRIES, judge, asking(ScriptedEngine(silent)).run)
    assert found.grades["q", "d1"] == 2
    assert not found.reasons["q", "d1"]


def test_own_scales_grade_is_what_a_comparing_judge_reads_and_a_threshold_means() -> None:
    scale = Scale(grades=(1, 2, 3, 4))
    module = judge_module("relevance", scale, ("grade",), ("query", "document"))
    engine = ScriptedEngine(lambda prompt, _: reply("4" if "> relevance 2" in prompt else "3", reason="why"))
    found = judge_pool(ENTRIES, judge_of(module, scale, ("grade",)), asking(engine).run)
    assert found.grades["q", "d1"] == 3  # a position: 0 is not relevant, whatever the scale calls it
    shown = Showing(ENTRIES, found, threshold=4)
    assert texts(shown, "x", "y") == ("relevance 4 | why | relevance 2",)
    assert len(texts(Showing(ENTRIES, found, threshold=3), "x", "y")) == 3
    assert texts(Showing(ENTRIES, found, threshold=5), "x", "y") == ()


def test_showing_pools_both_agents_leaves_out_the_irrelevant_and_annotates() -> None:
    relevance = given({("q", "d1"): 2, ("q", "d2"): 1})  # nobody judged d3
    assert texts(Showing(ENTRIES, relevance), "x", "y") == ("relevance 2 | relevance 2",)
    assert texts(Showing(ENTRIES, relevance), "y", "x") == texts(Showing(ENTRIES, relevance), "x", "y")
    assert len(texts(Showing(ENTRIES, relevance, threshold=1), "x", "y")) == 2
    assert texts(Showing(ENTRIES, relevance, raw=False), "x", "y") == ("relevance 2 | relevance 2",)
    assert texts(Showing(ENTRIES, relevance, annotations=False), "x", "y") == ("relevance 2",)
    assert texts(Showing(ENTRIES), "x") == ("relevance 2", "relevance 1")


def test_threshold_adapts_to_the_best_grade_of_the_scale_unless_it_is_given() -> None:
    binary = Relevance({("q", "d1"): 1, ("q", "d2"): 0}, {}, {}, judged=True, best=1)
    assert texts(Showing(ENTRIES, binary, annotations=False), "x", "y") == ("relevance 2",)
    assert texts(Showing(ENTRIES, binary, threshold=2), "x", "y") == ("unreadable",)
    graded = replace(binary, best=3)  # 2 of 0-3 is possible, though nobody gave it
    assert [Showing(ENTRIES, one).least for one in (None, binary, graded)] == [2, 1, 2]
    assert [given({("q", "d"): grade}).best for grade in (0, 1, 3)] == [1, 1, 3]
    assert texts(Showing(ENTRIES, given({("q", "d1"): 0}), annotations=False), "x") == ("relevance 1",)


def test_unjudged_documents_are_shown_only_where_none_was_judged_relevant() -> None:
    nothing = given({("q", "d1"): 0, ("q", "d2"): 0})
    assert texts(Showing(ENTRIES, nothing), "x", "y") == ("unreadable",)
    assert texts(Showing(ENTRIES, nothing), "x") == ()
