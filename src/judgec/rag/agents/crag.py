"""Corrective RAG as a DSPy module: what was found is graded, then used, refined, or searched for again."""

import re

from judgec.rag.agents.answer import shown
from judgec.rag.agents.rag import RAG, AgentSettings, Call, Steps, fused, read_variations
from judgec.rag.agents.signatures import passage_grader, variations_predictor
from judgec.rag.retrieval.passages import Hit
from judgec.rag.retrieval.retrievers import Retriever
from judgec.raters.fencing import fence

ANSWERS, TOUCHES, OFF = 2, 1, 0  # grades of a passage
_GRADE = re.compile(r"(?<![\d.])([012])(?![\d.])\s*$", re.MULTILINE)


class CorrectiveRAG(RAG):
    """Retrieve ``k`` passages and grade each; answer from those that help, or search again in other words.

    Where a passage answers, the passages are used, without those that are off. Where none answers, ``variations``
    queries are searched beside those passages that touch the matter, fused by reciprocal rank. A reply without a grade
    for each passage corrects nothing: all are used.

    Source: Yan, Gu, Zhu and Ling (2024), Corrective retrieval augmented generation, arXiv:2401.15884; a second search
        of the same index stands in for their search of the web.
    """

    most_calls = 3

    def __init__(self, retriever: Retriever, settings: AgentSettings) -> None:
        super().__init__(retriever, settings)
        self.grade = passage_grader(settings.persona)
        self.vary = variations_predictor(settings.variations, settings.persona, feedback=settings.feedback)

    def steps(self, query: str) -> Steps:
        """As ``RAG.steps``, with a call that grades before it and perhaps one that writes queries."""
        settings = self.settings
        first = self.retriever.search(query, settings.k)
        if not first:
            return (yield from self._again(query, [], (), "Nothing was found: searched again."))
        texts = tuple(shown(hit).text for hit in first)
        fields = yield Call("grade", {"query": fence("query", query), "passages": fence("passages", texts)})
        grades = read_grades(str(fields.get("grades") or ""), len(first))
        kept = [hit for hit, grade in zip(first, grades, strict=True) if grade > OFF]
        told = f"Grades of the first search: {', '.join(map(str, grades))}"
        if ANSWERS not in grades:
            return (yield from self._again(query, kept, texts, f"{told}. None answers: searched again."))
        decided = "used" if len(kept) == len(first) else f"refined to {len(kept)} of {len(first)}"
        return (yield from self._answered(query, kept, (), f"{told}. A passage answers: {decided}."))

    def _again(self, query: str, kept: list[Hit], seen: tuple[str, ...], decision: str) -> Steps:
        """The answer from other searches beside what the first one found that touches the matter."""
        settings = self.settings
        inputs = {"query": fence("query", query)}
        if settings.feedback:
            inputs["passages"] = fence("passages", seen)
        fields = yield Call("vary", inputs)
        varied = read_variations(str(fields.get("queries") or ""), query, settings.variations)
        found = [kept, *(self.retriever.search_many(varied, settings.k) if varied else [])]
        hits = fused(found, settings.rrf_k)[: settings.k]
        return (yield from self._answered(query, hits, varied, decision))


def read_grades(text: str, count: int) -> tuple[int, ...]:
    """The grades at the ends of lines, one a passage; all 2 where their number is another."""
    found = tuple(int(grade) for grade in _GRADE.findall(text))
    if len(found) != count:
        found = tuple(map(int, re.findall(r"(?<![\w.\[])[012](?![\w.\]])", text)))  # "2, 0, 1" on a line
    return found if len(found) == count else (ANSWERS,) * count
