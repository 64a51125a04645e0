"""judgec: the compiler for LLM judges. Labels in, a measured judge out.

Every name is loaded when it is first used, so that ``import judgec`` costs next to nothing.
"""

from importlib import import_module

from judgec._version import __version__

_HOMES = {
    "Compilation": "judgec.api.compilation",
    "FileJudgments": "judgec.api.judge_file",
    "Judge": "judgec.api.judge",
    "Judgment": "judgec.api.judge",
    "Labels": "judgec.api.labels",
    "Ranking": "judgec.api.rank",
    "RateEstimate": "judgec.api.estimate",
    "Workspace": "judgec.workspace",
    "compile_judge": "judgec.api.compile_judge",
    "estimate": "judgec.api.estimate",
    "judge_file": "judgec.api.judge_file",
    "load_judge": "judgec.api.judge",
    "rank": "judgec.api.rank",
    "read_labels": "judgec.api.labels",
}

__all__ = [
    "Compilation",
    "FileJudgments",
    "Judge",
    "Judgment",
    "Labels",
    "Ranking",
    "RateEstimate",
    "Workspace",
    "__version__",
    "compile_judge",
    "estimate",
    "judge_file",
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
