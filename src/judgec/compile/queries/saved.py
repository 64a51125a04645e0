"""Compiled query generators on disk: families of ``programs/`` like judges, with the task ``queries``."""

from pathlib import Path

from judgec.errors import ArtifactError, UserError
from judgec.rag.queries.generation.generator import QueryGenerator, StyleProfile
from judgec.raters import programs
from judgec.raters.predictors import put_prompts

TASK = "queries"


class CompiledGenerator(QueryGenerator):
    """A compiled generator: its prompt, and what is shown beside it.

    Args:
        examples: The expert queries that it shows; empty: whichever are given.
        style: Which facts rules ask about.
    """

    def __init__(self, examples: tuple[str, ...] = (), style: StyleProfile | None = None) -> None:
        super().__init__()
        self.examples = examples
        self.style = style


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
    tree = programs.tree_of(program)
    try:
        style = tree["taste"]
        kept = None if style is None else StyleProfile(tuple(style["kinds"]), bool(style["tables"]), style["longest"])
        found = CompiledGenerator(tuple(map(str, tree["examples"])), kept)
    except (KeyError, TypeError) as error:
        raise ArtifactError(f"{where}: tree.json: {error!r}; compile the generator again.") from error
    put_prompts(found, tree["prompts"], f"{where}: tree.json")
    return found
