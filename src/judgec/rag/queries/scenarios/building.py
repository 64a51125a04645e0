"""Questions of a scenario: drawn, written, checked, until there are as many as were asked for."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from judgec.rag.queries.pool import Near
from judgec.rag.queries.reliability import Pair, Reliability
from judgec.rag.queries.sampling import Draw, SampledDocument, draws
from judgec.rag.queries.scenarios.drafts import Draft, QuestionWriter, check, finished
from judgec.rag.queries.terms import TermIndex
from judgec.records.counts import plural
from judgec.records.scenario.schema import Question, Scenario


@dataclass(frozen=True, slots=True)
class Built:
    """The questions of a scenario.

    Args:
        questions: At most as many as were asked for.
        wanted: How many were.
        dropped: Drafts that were not used, by reason.
        drafts: How many were written.
    """

    questions: tuple[Question, ...]
    wanted: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    drafts: int = 0

    @property
    def shortfall(self) -> str:
        """The reason why there are fewer questions than were asked for; empty when there are not."""
        if len(self.questions) >= self.wanted:
            return ""
        if not self.drafts:
            return f"0 of {self.wanted} questions: no passage holds what the scenario asks about, as the writer sees it"
        reasons = "; ".join(f"{count} {reason}" for reason, count in self.dropped.items())
        return (
            f"{len(self.questions)} of {plural(self.wanted, 'question')}: the documents gave {self.drafts} drafts"
            f"{f' ({reasons})' if reasons else ''}"
        )


def build(
    scenario: Scenario,
    documents: Sequence[SampledDocument],
    writer: QuestionWriter,
    terms: TermIndex,
    *,
    n: int,
    seed: int,
    reliability: Reliability | None = None,
) -> Built:
    """Make the questions of one scenario; what falls is drawn anew, ``writer.redraws`` times a question.

    Args:
        scenario: What to ask.
        documents: What to ask about.
        writer: Who writes.
        terms: The whole corpus, to verify that nothing answers what should have no answer.
        n: How many questions.
        seed: Same seed and writer, same questions.
        reliability: Drops questions that cannot be trusted; None drops none.
    """
    source = draws(documents, scenario, seed, lambda passage: writer.usable(scenario, passage))
    dropped: Counter[str] = Counter()
    near = Near()
    kept: list[Question] = []
    written, most = 0, n * (1 + writer.redraws)
    while len(kept) < n and written < most:
        drawn = list(islice(source, min(n - len(kept), most - written)))
        if not drawn:
            break
        written += len(drawn)
        found = []
        for draw, draft in zip(drawn, writer.write(scenario, drawn), strict=True):
            question = _accepted(draft, scenario, draw, writer.name, terms, dropped)
            asked = (
                "" if question is None else "\n".join([*(turn.content for turn in question.history), question.query])
            )
            if question is not None and near.seen(asked):
                dropped["a near-duplicate"] += 1
            elif question is not None:
                near.add(asked)
                found.append(question)
        kept += _reliable(found, reliability, dropped)
    return Built(tuple(kept), n, dict(dropped), written)


def _reliable(found: Sequence[Question], reliability: Reliability | None, dropped: Counter[str]) -> list[Question]:
    """The questions without those that cannot be trusted; one that must be refused has no answer to check."""
    asked = [one for one in found if not one.must_refuse]
    if reliability is None or not asked:
        return list(found)
    faults = reliability.faults([Pair(one.query, "\n".join(one.passages), one.reference) for one in asked])
    bad = {one.query_id: fault[0] for one, fault in zip(asked, faults, strict=True) if fault}
    dropped.update(f"unreliable ({fault})" for fault in bad.values())
    return [one for one in found if one.query_id not in bad]


def _accepted(
    draft: Draft | str, scenario: Scenario, draw: Draw, lm: str, terms: TermIndex, dropped: Counter[str]
) -> Question | None:
    fault = draft if isinstance(draft, str) else check(draft, scenario, draw, terms)
    if isinstance(draft, str) or fault:
        dropped[fault.partition(":")[0]] += 1
        return None
    return finished(draft, scenario, draw, lm)
