"""Agents that were compiled: their settings from the card, their prompts from the program."""

from judgec.errors import ArtifactError, UserError
from judgec.rag.agents.rag import RAG, AgentSettings
from judgec.rag.agents.registry import kind_of
from judgec.rag.retrieval.fusion import RRF_K
from judgec.rag.retrieval.retrievers import Retriever
from judgec.raters.predictors import put_prompts
from judgec.raters.programs import Program, tree_of
from judgec.raters.signatures import fingerprint

TASK = "agent"  # what the card of a compiled agent says that it judges


def settings_of(program: Program) -> tuple[str, AgentSettings]:
    """Name (``rag-fusion-hybrid``) and settings of a compiled agent.

    Raises:
        UserError: When the program is a judge.
        ArtifactError: When its card lacks a setting.
    """
    card = program.card
    if card.task != TASK:
        raise UserError(f"--agents {card.name}: a judge of {card.task}, not an agent. Name a compiled agent.")
    found = card.settings
    try:
        settings = AgentSettings(
            k=int(str(found["k"])),
            variations=int(str(found["variations"])),
            persona=str(found["persona"]),
            citations=bool(found["citations"]),
            feedback=bool(found["feedback"]),
            rrf_k=int(str(found.get("rrf_k", RRF_K))),  # cards from before have none
        )
        return str(found["agent"]), settings
    except (KeyError, ValueError) as error:
        raise ArtifactError(
            f"{card.name}@{card.version}: card.json: {error} of the agent is missing or wrong. Compile it again."
        ) from None


def load_agent(program: Program, retriever: Retriever) -> RAG:
    """The agent that was saved, on a retriever.

    Raises:
        UserError: When the program is a judge.
        ArtifactError: When this version of judgec builds another signature, or the saved state is no prompt of it.
    """
    (name, settings), tree = settings_of(program), tree_of(program)
    card = program.card
    module = kind_of(name)[0](retriever, settings)
    if fingerprint(module) != card.signature:
        raise ArtifactError(f"{card.name}@{card.version}: saved for another signature. Compile it again.")
    put_prompts(module, tree, f"{card.name}@{card.version}: tree.json")
    return module
