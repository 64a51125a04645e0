"""Caps are caps: no verb, option or engine sends a call that its command does not say, or that the caps do not allow.

Every verb that asks a model runs against a server on this machine that counts its calls and their tokens.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any, Self

import pytest

import judgec
from judgec.errors import BudgetError, UserError
from judgec.lm.prices import price
from judgec.lm.watch import Silent
from judgec.verbs import audit, compilation, evaluate, probe, program_compilation
from judgec.verbs import watch as watching
from judgec.verbs.estimate import estimate_judged
from judgec.verbs.judge_file import judged
from judgec.verbs.next_labels import choose_next
from judgec.verbs.options.estimate import EstimateOptions
from judgec.verbs.options.judge import JudgeFileOptions
from judgec.verbs.options.labels import NextOptions
from tests.compile.small import write
from tests.service.fake_openai import FakeOpenAI
from tests.service.planted_judge import MODEL, leaning, planted, rows
from tests.service.replies import Call, Outcome, Text, completion
from tests.verbs.cli.process import ROOT
from tests.verbs.test_validity import Traces

SHARED = ("programs", "corpus", "items.jsonl", "labels.jsonl", "few.jsonl")
CATALOGUE = ROOT / "trainsets" / "sensors" / "catalogue"


class Meter:
    """The planted judge's model; knows what its replies cost."""

    def __init__(self) -> None:
        self.usd = 0.0

    def __call__(self, call: Call) -> Outcome:
        reply = leaning(call)
        assert isinstance(reply, Text)
        known, used = price(MODEL), completion(call, reply)["usage"]
        assert known is not None
        assert isinstance(used, dict)
        self.usd += used["prompt_tokens"] * known.input + used["completion_tokens"] * known.output
        return reply


class NoTracker:
    """In place of the process that logs to MLflow."""

    def __init__(self, *_: object) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def __getattr__(self, name: str) -> Callable[[object], SimpleNamespace]:
        return lambda _run: SimpleNamespace(run_id=None)


class World:
    """A fresh journal a run, so that nothing is free."""

    def __init__(self, home: Path, server: FakeOpenAI, meter: Meter, traces: Traces) -> None:
        self.home, self.server, self.meter, self.traces = home, server, meter, traces

    @property
    def asks(self) -> dict[str, Any]:
        return {"home": self.home, "api_base": self.server.base_url}

    @property
    def index(self) -> Path:
        return self.home / "corpus"

    def path(self, name: str) -> Path:
        return self.home / name


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("lean")
    with FakeOpenAI(leaning) as server:
        planted(home, server.base_url)
    judgec.index(CATALOGUE, out=home / "corpus")
    write(home / "items.jsonl", rows(12, "i"))
    write(home / "few.jsonl", rows(20, "c"))
    write(home / "labels.jsonl", rows(12, "f"))
    return home


@pytest.fixture
def world(compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    for module in (audit, compilation, program_compilation, evaluate, probe):
        monkeypatch.setattr(module, "Tracker", NoTracker)
    home = tmp_path / "home"
    home.mkdir()
    for name in SHARED:
        (home / name).symlink_to(compiled / name)
    traces = Traces(rows(12, "t"))
    monkeypatch.setattr(watching, "new_traces", traces.new)
    monkeypatch.setattr(watching, "log_verdicts", traces.log)
    meter = Meter()
    with FakeOpenAI(meter) as server:
        yield World(home, server, meter, traces)


def judge_file(w: World, **caps: Any) -> int:
    done = judgec.judge_file(w.path("items.jsonl"), judge="lean@1", out=w.path("o.jsonl"), **w.asks, **caps)
    return int(str(done.report["lm_calls"]))


def judge_samples(w: World, **caps: Any) -> int:
    return judge_file(w, **caps, samples=3)


def judge_structured(w: World, **caps: Any) -> int:
    return judge_file(w, **caps, structured=True, abstain_below=0.9)


def judge_zero_shot(w: World, **caps: Any) -> int:
    done = judgec.judge_file(
        w.path("items.jsonl"), judge="zero-shot", lm=MODEL, out=w.path("o.jsonl"), **w.asks, **caps
    )
    return int(str(done.report["lm_calls"]))


def judge_and_estimate(w: World, **caps: Any) -> int:
    options = JudgeFileOptions(file=str(w.path("items.jsonl")), judge="lean@1", out=w.path("o.jsonl"), **w.asks, **caps)
    asked = EstimateOptions(items=options.file, judge="lean@1", labels=str(w.path("labels.jsonl")), **w.asks, **caps)
    return estimate_judged(judged(options, Silent()), asked).spent.calls


def estimate(w: World, **caps: Any) -> int:
    found = judgec.estimate(w.path("items.jsonl"), judge="lean@1", labels=w.path("labels.jsonl"), **w.asks, **caps)
    return found.spent.calls


def watch(w: World, **caps: Any) -> int:
    return judgec.watch(source="mlflow:bot", judge="lean@1", rate=1.0, **w.asks, **caps).spent.calls


def audited(w: World, **caps: Any) -> int:
    found = judgec.audit("lean@1", labels=w.path("labels.jsonl"), only=["length"], items=6, **w.asks, **caps)
    return int(str(found.report["lm_calls"]))


def compare(w: World, **caps: Any) -> int:
    found = judgec.compare("lean@1", "lean@1", labels=w.path("labels.jsonl"), **w.asks, **caps)
    return int(str(found.report["lm_calls"]))


def loaded(w: World, **caps: Any) -> int:
    before = w.server.calls
    judgec.load_judge("lean@1", **w.asks, **caps)(w.path("items.jsonl"))
    return w.server.calls - before  # a judge in Python says nothing; items that do not fit are unscored


def scored(w: World, **caps: Any) -> int:
    scorer = judgec.load_judge("lean@1", **w.asks, **caps).as_mlflow_scorer()
    before = w.server.calls
    for row in rows(12, "i"):
        scorer(inputs={"query": row["query"]}, outputs=row["answer"], expectations={"reference": row["reference"]})
    return w.server.calls - before


def evaluated(w: World, **caps: Any) -> int:
    table = [{**row, "agent": "ab"[str(row["item_id"]).endswith("/1")]} for row in rows(12, "f")]
    queries = [{name: row[name] for name in ("query_id", "query", "reference")} for row in table[::2]]
    answers = [{name: row[name] for name in ("query_id", "agent", "answer")} for row in table]
    found = judgec.evaluate(
        queries=queries, answers=answers, judge="lean@1", unproven=True, out=w.path("e"), **w.asks, **caps
    )
    return int(str(found.report["lm_calls"]))


def evaluated_zero_shot(w: World, **caps: Any) -> int:
    table = [{**row, "agent": "ab"[str(row["item_id"]).endswith("/1")]} for row in rows(12, "f")]
    queries = [{name: row[name] for name in ("query_id", "query")} for row in table[::2]]
    answers = [{name: row[name] for name in ("query_id", "agent", "answer")} for row in table]
    found = judgec.evaluate(
        queries=queries, answers=answers, judge="zero-shot", lm=MODEL, unproven=True, out=w.path("e"), **w.asks, **caps
    )
    return int(str(found.report["lm_calls"]))


def answered(w: World, **caps: Any) -> int:
    queries = [{"query": row["query"]} for row in rows(6, "f")]
    return judgec.answer(
        queries=queries, agents="rag-bm25,rag-fusion-bm25", index=w.index, lm=MODEL, **w.asks, **caps
    ).spent.calls


def generated(w: World, **caps: Any) -> int:
    found = judgec.generate_queries(
        index=w.index, lm=MODEL, per_passage=2, passages=6, reliability="none", out=w.path("q.jsonl"), **w.asks, **caps
    )
    return int(str(found.report["lm_calls"]))


def generated_with_rubrics(w: World, **caps: Any) -> int:
    found = judgec.generate_queries(
        index=w.index,
        lm=MODEL,
        per_passage=2,
        passages=6,
        references=True,
        rubrics=True,
        reliability="none",
        out=w.path("q.jsonl"),
        **w.asks,
        **caps,
    )
    return int(str(found.report["lm_calls"]))


def probed(w: World, **caps: Any) -> int:
    found = judgec.probe(
        scenarios="plain", index=w.index, system="rag-bm25", n=4, lm=MODEL, out=w.path("p"), **w.asks, **caps
    )
    return int(str(found.report["lm_calls"]))


def compiled_queries(w: World, **caps: Any) -> int:
    pairs = [
        {
            "query": row["query"],
            "passage": row["reference"],
            "answer": row["answer"],
            "grade.relevance": int(row["grade"] == 5),
        }
        for row in rows(40, "f")
    ]
    experts = ["Which sensor measures up to 70 m\u00b3/h?", "What is the supply voltage?", "How long may the cable be?"]
    found = judgec.compile_queries(
        index=w.index, experts=experts, labels=pairs, lm=MODEL, per_passage=2, passages=4, **w.asks, **caps
    )
    return found.card.cost.lm_calls


def compiling(w: World, name: str, labels: str = "few.jsonl", **options: Any) -> int:
    found = judgec.compile_judge(w.path(labels), name=name, evidence=False, accept_at="3", **w.asks, **options)
    return found.saved.card.cost.lm_calls


def compiled_judge(w: World, **caps: Any) -> int:
    return compiling(w, "more", lm=MODEL, **caps)


def compiled_prompts(w: World, **caps: Any) -> int:
    return compiling(w, "prompts", lm=MODEL, prompts=3, **caps)


def two_prompts(w: World) -> tuple[str, str]:
    w.path("own.txt").write_text("Grade by whether the reference says the same.")
    return f"prompt:{w.path('own.txt')}@{MODEL}", f"plain={MODEL}"


def compiled_own_prompt(w: World, **caps: Any) -> int:
    return compiling(w, "own", candidates=two_prompts(w), **caps)


def compiled_rewrites(w: World, **caps: Any) -> int:
    return compiling(w, "rewrites", candidates=two_prompts(w), optimizer="labeled", folds=1, **caps)


def compiled_reflection(w: World, **caps: Any) -> int:
    return compiling(w, "reflection", candidates=two_prompts(w), optimizer="gepa", folds=1, **caps)


def compiled_criteria(w: World, **caps: Any) -> int:
    """The optimizer reads the experts' reasons and mines criteria of them."""
    reasoned = [{**row, "rationale": f"It is {'so' if row['grade'] == 5 else 'otherwise'}."} for row in rows(20, "c")]
    write(w.path("reasoned.jsonl"), reasoned)
    return compiling(w, "criteria", "reasoned.jsonl", lm=MODEL, optimizer="auto", **caps)


def chosen(w: World, **caps: Any) -> int:
    write(w.path("more.jsonl"), [*rows(12, "f"), *rows(12, "n")])
    unlabelled = [{name: value for name, value in row.items() if name != "grade"} for row in rows(12, "n")]
    write(w.path("more.jsonl"), [*rows(12, "f"), *unlabelled])
    asked = NextOptions(
        file=str(w.path("more.jsonl")), next=3, judge="lean@1", out=w.path("next.csv"), **w.asks, **caps
    )
    return choose_next(asked, Silent()).calls


def compiled_agent(w: World, **caps: Any) -> int:
    queries = [
        {"query_id": str(n), "query": row["query"], "reference": row["answer"]} for n, row in enumerate(rows(12, "f"))
    ]
    found = judgec.compile_agent(
        agent="rag-bm25", queries=queries, index=w.index, lm=MODEL, judge="lean@1", unproven=True, **w.asks, **caps
    )
    return found.card.cost.lm_calls


SLOW = (
    *(compiled_judge, compiled_prompts, compiled_own_prompt, compiled_rewrites, compiled_reflection, compiled_criteria),
    *(compiled_queries, compiled_agent),
)
IN_FULL = (compiled_judge, compiled_queries, compiled_agent)  # the other slow ones plan their calls as these do
FLOORED = (compiled_prompts, compiled_own_prompt, compiled_reflection)  # half of their calls is less than one an item
SEARCHED = (compiled_rewrites,)  # its cap has room for all items, and not for all of the search
VERBS = (
    *(
        chosen,
        compiled_agent,
        judge_file,
        judge_samples,
        judge_structured,
        judge_zero_shot,
        judge_and_estimate,
        estimate,
        watch,
        audited,
        compare,
    ),
    *(loaded, scored, evaluated, evaluated_zero_shot, answered, generated),
    *(generated_with_rubrics, probed, compiled_queries, compiled_judge, compiled_prompts, compiled_own_prompt),
    *(compiled_rewrites, compiled_reflection, compiled_criteria),
)


@pytest.mark.parametrize(
    "verb",
    [
        pytest.param(
            one,
            id=one.__name__,
            marks=[pytest.mark.full] if one in IN_FULL else [pytest.mark.soak] if one in SLOW else [],
        )
        for one in VERBS
    ],
)
def test_calls_sent_are_calls_said_and_no_cap_is_passed(verb: Callable[..., int], world: World, tmp_path: Path) -> None:
    said = verb(world)
    sent, usd = world.server.calls, world.meter.usd
    assert said == sent > 3
    budget = sent - 5 if verb in SEARCHED else max(2, sent // 2)
    for caps in ({"budget": budget}, {"max_cost": usd / 2}):
        again = World(tmp_path / "again" / next(iter(caps)), world.server, world.meter, Traces(rows(12, "t")))
        again.home.mkdir(parents=True)
        for name in SHARED:
            (again.home / name).symlink_to(world.home / name)
        before, spent = world.server.calls, world.meter.usd
        try:
            said = verb(again, **caps)
        except BudgetError:
            said = world.server.calls - before
        except UserError:  # a compile that cannot fit is refused before anything is asked
            assert verb in FLOORED or "max_cost" in caps
            said = 0
        assert said == world.server.calls - before
        assert said <= caps.get("budget", sent)
        assert world.meter.usd - spent <= caps.get("max_cost", usd) * (1 + 1e-9)  # a call reserves what it may cost
