"""Crosses settings of agents, so that a tournament can tell which of them matters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from judgec.errors import UserError
from judgec.rag.agents.rag import AgentSettings
from judgec.rag.agents.registry import RERANKED, kind_of
from judgec.rag.retrieval.parsing.chunking import Chunking
from judgec.records.counts import plural
from judgec.table.rows.columns import listed

NO_RERANKER = "none"
DEFAULTS = {"agent": "rag", "retriever": "hybrid", "rerank": NO_RERANKER}
NUMBERS = {"k": 1, "variations": 1, "rrf_k": 0}  # and the least that is valid
OTHERS = ("chunk", "embedder", "lm")
NAMES = (*DEFAULTS, *OTHERS, *NUMBERS)
MOST_AGENTS = 200


@dataclass(frozen=True, slots=True)
class GridAgent:
    """An agent of a grid.

    Args:
        settings: Its value of each setting that the grid names, as typed.
    """

    settings: Mapping[str, str]

    @property
    def kind(self) -> str:
        """``KIND-RETRIEVER[+RERANKER]``, as the registry knows it."""
        kind, retriever, rerank = (self.settings.get(name, value) for name, value in DEFAULTS.items())
        return f"{kind}-{retriever}" + ("" if rerank == NO_RERANKER else RERANKED + rerank)

    @property
    def name(self) -> str:
        """Name of the agent: its kind, then the other settings: ``rag-bm25:chunk=500:k=3``."""
        rest = (f"{name}={value}" for name, value in self.settings.items() if name not in DEFAULTS)
        return ":".join((self.kind, *rest))

    def shape(self, usual: AgentSettings) -> AgentSettings:
        """Settings of the agent, where the grid says nothing as usual."""
        own = self.settings
        return replace(
            usual,
            k=int(own.get("k", usual.k)),
            variations=int(own.get("variations", usual.variations)),
            rrf_k=int(own.get("rrf_k", usual.rrf_k)),
        )


def parse_grid(texts: Sequence[str]) -> tuple[GridAgent, ...]:
    """Every combination of the values, those of the setting named last changing fastest.

    Args:
        texts: ``NAME=VALUE,VALUE...`` each; several may stand in one text, with spaces between them.

    Raises:
        UserError: Another form, an unknown setting or value, a setting or value twice, or too many agents.
    """
    levels: dict[str, tuple[str, ...]] = {}
    for text in (part for joined in texts for part in joined.split()):
        name, equals, said = text.partition("=")
        values = tuple(value.strip() for value in said.split(","))
        if name not in NAMES or not equals or not all(values):
            raise UserError(
                f"--grid {text}: not NAME=VALUE,VALUE...; settings are {listed(NAMES)}. "
                "For example --grid retriever=bm25,hybrid chunk=500,1000 k=3,5."
            )
        if name in levels or len(set(values)) < len(values):
            raise UserError(f"--grid {text}: the setting or a value is there twice; once is valid. Leave one out.")
        _check(name, values)
        levels[name] = values
    agents = tuple(GridAgent(dict(zip(levels, values, strict=True))) for values in product(*levels.values()))
    if len(agents) > MOST_AGENTS:
        raise UserError(f"--grid: {plural(len(agents), 'agent')}; at most {MOST_AGENTS} are valid. Leave values out.")
    for agent in agents:
        kind_of(agent.kind)
    return agents


def _check(name: str, values: Sequence[str]) -> None:
    for value in values:
        if name == "chunk":
            Chunking.parse(value)
        if name in NUMBERS and not (value.isdecimal() and int(value) >= NUMBERS[name]):
            raise UserError(f"--grid {name}={value}: a whole number of at least {NUMBERS[name]} is valid. Correct it.")
