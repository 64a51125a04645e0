"""Compiled query generators on disk: families of ``programs/`` like judges, with the task ``queries``."""

from dataclasses import asdict, dataclass
from pathlib import Path

from judgec.errors import ArtifactError, UserError
from judgec.rag.queries.generation.generator import QueryGenerator, StyleProfile
from judgec.raters import programs
from judgec.raters.predictors import put_prompts
from judgec.raters.programs import Json

TASK = "queries"


@dataclass(frozen=True)
class CompiledGenerator:
    """A compiled generator.

    Args:
        module: Its prompt, or None for the uncompiled one.
        examples: The expert queries that it shows; empty: whichever are given.
        style: Which facts rules ask about.
    """

    module: QueryGenerator | None = None
    examples: tuple[str, ...] = ()
    style: StyleProfile | None = None


def state_of(found: CompiledGenerator) -> Json:
    """All but the prompt, as JSON."""
    return {"examples": list(found.examples), "taste": None if found.style is None else asdict(found.style)}


def load_generator(home: Path, reference: str) -> CompiledGenerator:
    """A compiled generator.

    Raises:
        UserError: When there is none, or it is a judge.
        ArtifactError: When it is damaged.
    """
    program = programs.load(home, reference)
    where = f"{program.card.name}@{program.card.version}"
    if program.card.task != TASK:
        raise UserError(f"--generator {reference}: a judge of {program.card.task}; a query generator is needed.")
    module, tree = QueryGenerator(), programs.tree_of(program)
    put_prompts(module, tree["prompts"], f"{where}: tree.json")
    try:
        style = tree["taste"]
        kept = None if style is None else StyleProfile(tuple(style["kinds"]), bool(style["tables"]), style["longest"])
        return CompiledGenerator(module, tuple(map(str, tree["examples"])), kept)
    except (KeyError, TypeError) as error:
        raise ArtifactError(f"{where}: tree.json: {error!r}; compile the generator again.") from error
