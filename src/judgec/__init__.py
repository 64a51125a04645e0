"""judgec: the compiler for LLM judges. Labels in, a measured judge out.

Every name is loaded when it is first used, so that ``import judgec`` costs next to nothing.
"""

from importlib import import_module

from judgec._version import __version__

_HOMES = {
    "Compilation": "judgec.api.compilation",
    "Judge": "judgec.api.judging",
    "JudgeAudit": "judgec.api.audit",
    "JudgeComparison": "judgec.api.compare",
    "Judgment": "judgec.api.judging",
    "Labels": "judgec.api.labels",
    "MeasuredAgreement": "judgec.api.agreement",
    "Ranking": "judgec.api.rank",
    "agreement": "judgec.api.agreement",
    "audit": "judgec.api.audit",
    "compare": "judgec.api.compare",
    "compile_judge": "judgec.api.compile_judge",
    "load_judge": "judgec.api.judging",
    "rank": "judgec.api.rank",
    "read_labels": "judgec.api.labels",
}

__all__ = [
    "Compilation",
    "Judge",
    "JudgeAudit",
    "JudgeComparison",
    "Judgment",
    "Labels",
    "MeasuredAgreement",
    "Ranking",
    "__version__",
    "agreement",
    "audit",
    "compare",
    "compile_judge",
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
