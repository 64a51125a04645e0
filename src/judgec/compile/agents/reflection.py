"""Instructions rewritten by a reflection model that reads where an agent's answers fall short, for all its predictors.

Source: Agrawal et al. (2025), GEPA, arXiv:2507.19457.
"""

from collections.abc import Mapping, Sequence

from judgec.compile.agents.compile import AgentContest
from judgec.compile.agents.metric import AnswerTrace
from judgec.compile.gepa_driver import FEEDBACK, ProgramTrial, ReflectiveAdapter, reply_fields
from judgec.compile.search.candidates import Candidate
from judgec.labels.split.family import Split
from judgec.lm.watch import Watch
from judgec.rag.agents.answer import REFUSAL
from judgec.rag.agents.rag import RAG
from judgec.rag.agents.signatures import CITING
from judgec.raters.fencing import fence

ROUNDS = 6
MINIBATCH = 8
KEPT = 3
BEGINNING = 300  # characters of a passage that a predictor did not see but led to
REFUSING = f"Where the passages do not hold the answer, reply with this sentence and nothing else: {REFUSAL}"


def rewritten(contest: AgentContest, split: Split, watch: Watch) -> list[Candidate]:
    """Agents with rewritten instructions, the best on dev first.

    Raises:
        ServiceError: When the LM cannot be reached. A cap only ends the search.
    """
    watch.stage("rewrite", "instructions")
    adapter = AgentAdapter(contest, split.dev)
    best = adapter.best_rewrites(
        {name: predict.signature.instructions for name, predict in contest.start.named_predictors()},
        list(split.train),
        list(split.dev),
        minibatch=MINIBATCH,
        rounds=ROUNDS,
        keep=KEPT,
        watch=watch,
    )
    return [
        Candidate(f"gepa-{number}", adapter.build_program(texts), settings={"instructions": "gepa"})
        for number, texts in enumerate(best, 1)
    ]


class AgentAdapter(ReflectiveAdapter[int, AnswerTrace]):
    """GEPA's view of an agent: scores are the metric's, feedback is its reason.

    Args:
        contest: The compile.
        dev: Places of the queries that prompts are compared on.
    """

    experts = False

    def __init__(self, contest: AgentContest, dev: Sequence[int]) -> None:
        super().__init__(contest.start, contest.session.reflection, contest.seed)
        self._contest = contest
        self._dev = set(dev)

    def trial(self, program: RAG, batch: Sequence[int]) -> ProgramTrial[AnswerTrace]:
        """Answer a batch and score it."""
        tried = self._contest.rate(program, batch)
        value = tried.objective.point() if set(batch) == self._dev else None
        texts = [answer.text for _, answer, _ in tried.made]
        return ProgramTrial(texts, tried.values["score"].tolist(), value, lambda: tried.made)

    def fixed(self, name: str) -> str:
        """The fields of a predictor's reply, and what an answer must do in any case."""
        return "\n\n".join([reply_fields(dict(self._contest.start.named_predictors())[name]), *self._wanted(name)])

    def kept(self, name: str, text: str) -> str:
        """Puts what an answer must do in any case back under the rewritten instructions."""
        return "\n\n".join([text.strip(), *(said for said, mark in self._wanted(name).items() if mark not in text)])

    def _wanted(self, name: str) -> dict[str, str]:
        """Sentences that stay, each with what shows that it is there."""
        if name != "answer":
            return {}
        return ({CITING: CITING} if self._contest.start.settings.citations else {}) | {REFUSING: REFUSAL}

    def lesson(self, name: str, trace: AnswerTrace) -> Mapping[str, object]:
        """An example for the reflection model: what the predictor saw and wrote, what came of it, and its score."""
        query, answer, score = trace
        texts = [context.text for context in answer.contexts]
        said = fence("answer", answer.text) if answer.text else f"(no answer: {answer.error})"
        inputs, came = {"query": fence("query", query.text)}, {}
        if name == "answer":
            inputs["passages"] = fence("contexts", tuple(texts))
        else:
            beginnings = tuple(text if len(text) <= BEGINNING else f"{text[:BEGINNING]} …" for text in texts)
            came = {"What came of it": {"beginnings of its passages": fence("contexts", beginnings), "answer": said}}
            said = "\n".join(answer.searched) if name == "vary" else answer.decision
        worth = "could not be scored" if score.value is None else f"is worth {score.value:.2f} of 1"
        feedback = f"The answer {worth}. {score.reason}".strip()
        return {"Inputs": inputs, "Generated Outputs": {name: said}, **came, FEEDBACK: feedback}
