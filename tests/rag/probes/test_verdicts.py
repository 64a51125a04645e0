"""Verdicts of replies: a right answer whose documents are others."""

from collections.abc import Sequence

import pytest

from judgec.rag.probes.judging.rules import JudgedReply
from judgec.rag.probes.report.summary import summarize
from judgec.rag.probes.verdicts import verdicts
from judgec.records.scenario.outcome import SystemReply
from judgec.records.scenario.schema import Question


class Passing:
    """Passes every reply."""

    name = "passing"

    def judge(self, pairs: Sequence[tuple[Question, SystemReply]]) -> list[JudgedReply]:
        return [JudgedReply({"correctness": "9" in (reply.answer or "")}) for _, reply in pairs]


@pytest.mark.parametrize(
    ("answer", "named", "partial"),
    [
        ("9 m", ("d2", "d3"), True),
        ("9 m", ("d2", "d1"), False),
        ("9 m", ("d2#4", "d1#0"), False),
        ("9 m", ("d11#1",), True),
        ("9 m", None, False),
        ("8 m", ("d2",), False),
    ],
)
def test_right_answer_of_others_passes_in_part(answer: str, named: tuple[str, ...] | None, partial: bool) -> None:
    question = Question(query_id="q", query="How deep is it?", reference="9 m", doc_ids=("d1",), data_set="own")
    reply = SystemReply(query_id="q", system="s", answer=answer, doc_ids=named)
    (found,) = verdicts([question], [reply], Passing(), data_set="corpus", terms=None)

    assert found.verdict.outcome == ("pass" if answer == "9 m" else "fail")
    assert found.verdict.partial is partial
    assert found.verdict.data_set == "own"
    (cell,) = summarize([found], {}, judge="j", writer="w", notes=[]).cells
    assert cell.to_json()["partial"] == int(partial)


def test_refusal_is_never_passed_in_part() -> None:
    question = Question(query_id="q", query="How deep is it?", metrics=("rejection",), doc_ids=("d1",))
    reply = SystemReply(query_id="q", system="s", answer="The documents do not say: 9.", doc_ids=("d2",))
    (found,) = verdicts([question], [reply], Passing(), data_set="corpus", terms=None)

    assert found.verdict.outcome == "pass"
    assert not found.verdict.partial
