"""judgec: the compiler for LLM judges. Labels in, a measured judge out.

Every name is loaded when it is first used, so that ``import judgec`` costs next to nothing.
"""

from importlib import import_module

from judgec._version import __version__

_HOMES = {
    "ComparedProbes": "judgec.api.compare_probes",
    "Compilation": "judgec.api.compilation",
    "GeneratedQueries": "judgec.api.generate_queries",
    "Judge": "judgec.api.judging",
    "Judgment": "judgec.api.judging",
    "Labels": "judgec.api.labels",
    "ProbeReport": "judgec.api.probe",
    "QueryCompilation": "judgec.api.compile_queries",
    "Ranking": "judgec.api.rank",
    "compare_probes": "judgec.api.compare_probes",
    "compile_judge": "judgec.api.compile_judge",
    "compile_queries": "judgec.api.compile_queries",
    "generate_queries": "judgec.api.generate_queries",
    "load_judge": "judgec.api.judging",
    "probe": "judgec.api.probe",
    "rank": "judgec.api.rank",
    "read_labels": "judgec.api.labels",
}

__all__ = [
    "ComparedProbes",
    "Compilation",
    "GeneratedQueries",
    "Judge",
    "Judgment",
    "Labels",
    "ProbeReport",
    "QueryCompilation",
    "Ranking",
    "__version__",
    "compare_probes",
    "compile_judge",
    "compile_queries",
    "generate_queries",
    "load_judge",
    "probe",
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
