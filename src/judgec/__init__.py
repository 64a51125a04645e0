"""judgec: the compiler for LLM judges. Labels in, a measured judge out.

Every name is loaded when it is first used, so that ``import judgec`` costs next to nothing.
"""

from importlib import import_module

from judgec._version import __version__

_HOMES = {
    "AgentCompilation": "judgec.api.agent_compilation",
    "Answers": "judgec.api.answered",
    "ComparedProbes": "judgec.api.compare_probes",
    "Compilation": "judgec.api.compilation",
    "CorpusIndex": "judgec.api.index",
    "Evidence": "judgec.api.candidates",
    "Export": "judgec.api.export",
    "FileJudgments": "judgec.api.judge_file",
    "Function": "judgec.lm.functions",
    "GeneratedQueries": "judgec.api.generate_queries",
    "Judge": "judgec.api.judge",
    "JudgeAudit": "judgec.api.audit",
    "JudgeComparison": "judgec.api.compare",
    "Judgment": "judgec.api.judge",
    "LabelSetup": "judgec.api.init",
    "Labels": "judgec.api.labels",
    "MeasuredAgreement": "judgec.api.agreement",
    "ProbeReport": "judgec.api.probe",
    "Prompt": "judgec.api.candidates",
    "QueryCompilation": "judgec.api.compile_queries",
    "Ranking": "judgec.api.rank",
    "RateEstimate": "judgec.api.estimate",
    "Recorded": "judgec.api.candidates",
    "ShardJudgments": "judgec.api.judge_shards",
    "Tournament": "judgec.api.tournament",
    "WatchReport": "judgec.api.watch",
    "Workspace": "judgec.workspace",
    "agreement": "judgec.api.agreement",
    "answer": "judgec.api.answer",
    "audit": "judgec.api.audit",
    "compare": "judgec.api.compare",
    "compare_probes": "judgec.api.compare_probes",
    "compile_agent": "judgec.api.compile_agent",
    "compile_judge": "judgec.api.compile_judge",
    "compile_queries": "judgec.api.compile_queries",
    "estimate": "judgec.api.estimate",
    "evaluate": "judgec.api.evaluate",
    "export": "judgec.api.export",
    "generate_queries": "judgec.api.generate_queries",
    "index": "judgec.api.index",
    "init": "judgec.api.init",
    "judge_file": "judgec.api.judge_file",
    "judge_shards": "judgec.api.judge_shards",
    "load_judge": "judgec.api.judge",
    "probe": "judgec.api.probe",
    "rank": "judgec.api.rank",
    "read_labels": "judgec.api.labels",
    "watch": "judgec.api.watch",
}

__all__ = [
    "AgentCompilation",
    "Answers",
    "ComparedProbes",
    "Compilation",
    "CorpusIndex",
    "Evidence",
    "Export",
    "FileJudgments",
    "Function",
    "GeneratedQueries",
    "Judge",
    "JudgeAudit",
    "JudgeComparison",
    "Judgment",
    "LabelSetup",
    "Labels",
    "MeasuredAgreement",
    "ProbeReport",
    "Prompt",
    "QueryCompilation",
    "Ranking",
    "RateEstimate",
    "Recorded",
    "ShardJudgments",
    "Tournament",
    "WatchReport",
    "Workspace",
    "__version__",
    "agreement",
    "answer",
    "audit",
    "compare",
    "compare_probes",
    "compile_agent",
    "compile_judge",
    "compile_queries",
    "estimate",
    "evaluate",
    "export",
    "generate_queries",
    "index",
    "init",
    "judge_file",
    "judge_shards",
    "load_judge",
    "probe",
    "rank",
    "read_labels",
    "watch",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'judgec' has no attribute {name!r}; it has {', '.join(sorted(_HOMES))}.")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
