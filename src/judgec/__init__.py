"""judgec: the compiler for LLM judges. Labels in, a measured judge out.

Every name is loaded when it is first used, so that ``import judgec`` costs next to nothing.
"""

from importlib import import_module

from judgec._version import __version__

_HOMES = {
    "AgentCompilation": "judgec.verbs.compile_agent",
    "Answers": "judgec.verbs.answered",
    "ComparedProbes": "judgec.verbs.compare_probes",
    "ComparedSystems": "judgec.verbs.systems",
    "Compilation": "judgec.verbs.compilation",
    "CorpusIndex": "judgec.verbs.index",
    "Evidence": "judgec.verbs.candidates",
    "Export": "judgec.verbs.export",
    "FileJudgments": "judgec.verbs.judge_file",
    "Function": "judgec.lm.functions",
    "GeneratedQueries": "judgec.verbs.generate_queries",
    "Judge": "judgec.verbs.judge",
    "JudgeAudit": "judgec.verbs.audit",
    "JudgeComparison": "judgec.verbs.compare",
    "Judgment": "judgec.verbs.judge",
    "LabelSetup": "judgec.verbs.init",
    "Labels": "judgec.verbs.labels",
    "MeasuredAgreement": "judgec.verbs.agreement",
    "ProbeReport": "judgec.verbs.probe",
    "Prompt": "judgec.verbs.candidates",
    "QueryCompilation": "judgec.verbs.compile_queries",
    "Ranking": "judgec.verbs.rank",
    "RateEstimate": "judgec.verbs.estimate",
    "Recorded": "judgec.verbs.candidates",
    "ShardJudgments": "judgec.verbs.judge_shards",
    "Tournament": "judgec.verbs.tournament",
    "WatchReport": "judgec.verbs.watch",
    "Workspace": "judgec.verbs.workspace",
    "agreement": "judgec.verbs.agreement",
    "answer": "judgec.verbs.answer",
    "audit": "judgec.verbs.audit",
    "compare": "judgec.verbs.compare",
    "compare_judges": "judgec.verbs.agreement",
    "compare_probes": "judgec.verbs.compare_probes",
    "compile_agent": "judgec.verbs.compile_agent",
    "compile_judge": "judgec.verbs.compile_judge",
    "compile_queries": "judgec.verbs.compile_queries",
    "estimate": "judgec.verbs.estimate",
    "evaluate": "judgec.verbs.evaluate",
    "export": "judgec.verbs.export",
    "generate_queries": "judgec.verbs.generate_queries",
    "index": "judgec.verbs.index",
    "init": "judgec.verbs.init",
    "judge_file": "judgec.verbs.judge_file",
    "judge_shards": "judgec.verbs.judge_shards",
    "load_judge": "judgec.verbs.judge",
    "probe": "judgec.verbs.probe",
    "rank": "judgec.verbs.rank",
    "read_labels": "judgec.verbs.labels",
    "systems": "judgec.verbs.systems",
    "watch": "judgec.verbs.watch",
    "zero_shot": "judgec.verbs.zero_shot",
}

__all__ = [
    "AgentCompilation",
    "Answers",
    "ComparedProbes",
    "ComparedSystems",
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
    "compare_judges",
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
    "systems",
    "watch",
    "zero_shot",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'judgec' has no attribute {name!r}; it has {', '.join(sorted(_HOMES))}.")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
