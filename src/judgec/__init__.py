"""judgec: the compiler for LLM judges. Labels in, a measured judge out.

Every name is loaded when it is first used, so that ``import judgec`` costs next to nothing.
"""

from importlib import import_module

from judgec._version import __version__

_HOMES = {
    "AgentCompilation": "judgec.api.agent_compilation",
    "Answers": "judgec.api.answered",
    "Compilation": "judgec.api.compilation",
    "CorpusIndex": "judgec.api.index",
    "Judge": "judgec.api.judging",
    "Judgment": "judgec.api.judging",
    "Labels": "judgec.api.labels",
    "Ranking": "judgec.api.rank",
    "Tournament": "judgec.api.tournament",
    "answer": "judgec.api.answer",
    "compile_agent": "judgec.api.compile_agent",
    "compile_judge": "judgec.api.compile_judge",
    "evaluate": "judgec.api.evaluate",
    "index": "judgec.api.index",
    "load_judge": "judgec.api.judging",
    "rank": "judgec.api.rank",
    "read_labels": "judgec.api.labels",
}

__all__ = [
    "AgentCompilation",
    "Answers",
    "Compilation",
    "CorpusIndex",
    "Judge",
    "Judgment",
    "Labels",
    "Ranking",
    "Tournament",
    "__version__",
    "answer",
    "compile_agent",
    "compile_judge",
    "evaluate",
    "index",
    "load_judge",
    "rank",
    "read_labels",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'judgec' has no attribute {name!r}; it has {', '.join(sorted(_HOMES))}.")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
