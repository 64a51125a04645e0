"""Instructions rewritten by a reflection model that reads where an agent's answers fall short, for all its predictors.

Source: Agrawal et al. (2025), GEPA, arXiv:2507.19457.
"""

from collections.abc import Mapping, Sequence

from judgec.compile.agents.candidates import AgentCandidate, AgentTask
from judgec.compile.agents.metric import ScoredAnswer
from judgec.compile.gepa_driver import ProgramTrial, ReflectiveAdapter
from judgec.rag.agents.answer import REFUSAL, Answer
from judgec.rag.agents.rag import RAG
from judgec.rag.agents.signatures import CITING
from judgec.tournament.files.queries import Query

ROUNDS = 6
MINIBATCH = 8
KEPT = 3

Trace = tuple[Query, Answer, ScoredAnswer]


def rewritten(task: AgentTask) -> list[AgentCandidate]:
    """Agents with rewritten instructions, the best on dev first.

    Raises:
        ServiceError: When the LM cannot be reached. A cap only ends the search.
    """
    adapter = AgentAdapter(task)
    best = adapter.best_rewrites(
        {name: predict.signature.instructions for name, predict in task.module.named_predictors()},
        list(task.train),
        list(task.dev),
        minibatch=MINIBATCH,
        rounds=ROUNDS,
        calls=len(task.dev) * (ROUNDS + 1) + 2 * ROUNDS * MINIBATCH,
        keep=KEPT,
        watch=task.watch,
    )
    return [
        AgentCandidate(f"gepa-{number}", adapter.build_program(texts), {"instructions": "gepa"})
        for number, texts in enumerate(best, 1)
    ]


class AgentAdapter(ReflectiveAdapter[Query, Trace]):
    """GEPA's view of an agent: scores are the metric's, feedback is its reason.

    Args:
        task: The search.
    """

    def __init__(self, task: AgentTask) -> None:
        super().__init__(task.module, task.reflection, task.seed)
        self._task = task
        self._dev = {query.query_id for query in task.dev}

    def trial(self, program: RAG, batch: Sequence[Query]) -> ProgramTrial[Trace]:
        """Answer a batch and score it."""
        answers, scores = self._task.trial(program, batch)
        values = [score.counted for score in scores]
        compared = {query.query_id for query in batch} == self._dev
        return ProgramTrial(
            [answer.text for answer in answers],
            values,
            sum(values) / len(values) if compared else None,
            lambda: list(zip(batch, answers, scores, strict=True)),
        )

    def kept(self, name: str, text: str) -> str:
        """Puts what an answer must do in any case back under the rewritten instructions."""
        if name != "answer":
            return text
        wanted = [CITING] if self._task.module.settings.citations and CITING not in text else []
        if REFUSAL not in text:
            wanted.append(
                f"Where the passages do not hold the answer, reply with this sentence and nothing else: {REFUSAL}"
            )
        return "\n\n".join([text.strip(), *wanted])

    def lesson(self, name: str, trace: Trace) -> Mapping[str, object]:
        """An example for the reflection model: what the predictor saw and wrote, and its score."""
        query, answer, score = trace
        inputs: dict[str, object] = {"query": query.text}
        if name == "vary":
            written = "\n".join(answer.searched)
            inputs["what the queries then found"] = "\n\n".join(context.text[:300] for context in answer.contexts)
        elif name == "grade":
            written = answer.decision
            inputs["passages it then answered from"] = "\n\n".join(context.text[:300] for context in answer.contexts)
        else:
            written = answer.text or f"(no answer: {answer.error})"
            inputs["passages"] = "\n\n".join(f"[{n}] {context.text}" for n, context in enumerate(answer.contexts, 1))
        worth = "could not be scored" if score.value is None else f"is worth {score.value:.2f} of 1"
        return {
            "Inputs": inputs,
            "Generated Outputs": {name: written},
            "Feedback": f"The answer '{answer.text or ''}' {worth}. {score.reason}".strip(),
        }
