"""Questions of a scenario: drawn, written, checked, until there are as many as were asked for."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from judgec.rag.queries.pool import Near
from judgec.rag.queries.sampling import Draw, SampledDocument, draws
from judgec.rag.queries.scenarios.drafts import Draft, QuestionWriter, check, finished
from judgec.rag.queries.terms import TermIndex
from judgec.records.counts import plural
from judgec.records.scenario.schema import Question, Scenario

AT_ONCE = 64  # drafts asked for together
SPARE = 1.25  # drafts asked for, for each question that is missing


@dataclass(frozen=True, slots=True)
class Built:
    """The questions of a scenario.

    Args:
        questions: At most as many as were asked for.
        wanted: How many were.
        dropped: Drafts that were not used, by reason.
        drafts: How many were written.
        given_up: The last of them were of no use, one after the other, and each cost a call.
    """

    questions: tuple[Question, ...]
    wanted: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    drafts: int = 0
    given_up: bool = False

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
            f"{'; given up, as the last ones were all of no use' if self.given_up else ''}"
        )


def build(
    scenario: Scenario,
    documents: Sequence[SampledDocument],
    writer: QuestionWriter,
    terms: TermIndex,
    *,
    n: int,
    seed: int,
) -> Built:
    """Make the questions of one scenario.

    Args:
        scenario: What to ask.
        documents: What to ask about.
        writer: Who writes.
        terms: The whole corpus, to verify that nothing answers what should have no answer.
        n: How many questions.
        seed: Same seed and writer, same questions.
    """
    source = draws(documents, scenario, seed, lambda passage: writer.usable(scenario, passage))
    dropped: Counter[str] = Counter()
    near = Near()
    kept: list[Question] = []
    written = idle = 0
    while len(kept) < n:
        if writer.patience is not None and idle >= writer.patience:
            return Built(tuple(kept), n, dict(dropped), written, given_up=True)
        missing = n - len(kept)
        drawn = list(islice(source, min(AT_ONCE, round(missing * SPARE) + 1)))
        if not drawn:
            break
        written += len(drawn)
        for draw, draft in zip(drawn, writer.write(scenario, drawn), strict=True):
            question = _accepted(draft, scenario, draw, writer.name, terms, dropped)
            idle += 1
            if question is None or len(kept) == n:
                continue
            asked = "\n".join([*(turn.content for turn in question.history), question.query])
            if near.seen(asked):
                dropped["a near-duplicate"] += 1
                continue
            near.add(asked)
            kept.append(question)
            idle = 0
    return Built(tuple(kept), n, dict(dropped), written)


def _accepted(
    draft: Draft | str, scenario: Scenario, draw: Draw, lm: str, terms: TermIndex, dropped: Counter[str]
) -> Question | None:
    fault = draft if isinstance(draft, str) else check(draft, scenario, draw, terms)
    if isinstance(draft, str) or fault:
        dropped[fault.partition(":")[0]] += 1
        return None
    return finished(draft, scenario, draw, lm)
