"""Candidates side by side: Python functions, models with the task's prompt, recorded verdicts, evidence."""

import asyncio
import json
import random
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from typer.testing import CliRunner

import judgec
from benchmarks import planted
from judgec.compile.manners import MANNERS
from judgec.errors import BudgetError, UserError
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Silent
from judgec.raters import programs
from judgec.raters.tree import Mean
from judgec.records.label import Item
from judgec.verbs.cli.app import app
from judgec.verbs.compile_judge import planned
from judgec.verbs.options.compile_judge import CompileJudgeOptions
from tests.compile.small import write
from tests.compile.test_jury import asked, compiled, rows, unlabelled, unsure
from tests.prompts import unquote
from tests.raters.test_judge import compiled as judge_of
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, answer
from tests.verbs.cli.judging import KEY

MODULE = """
CALLS = []
def letters(answer):
    CALLS.append(answer)
    grade = "vwxyz".index(answer[-1]) + 1
    return (grade if len(CALLS) % 3 else 3) if "2" in answer else grade, "its last letter"
def share(answer):
    return "vwxyz".index(answer[-1]) / 4
"""


def by_letter(answer: str, query: str = "") -> int:
    """Right on four of five answers."""
    return letter(answer) if sum(map(ord, answer)) % 5 else 3


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    write(tmp_path / "labels.jsonl", rows(160))
    return tmp_path


def letter(answer: str) -> int:
    return "vwxyz".index(answer[-1]) + 1


@pytest.fixture(scope="module")
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Any:
    home = tmp_path_factory.mktemp("mine")
    write(home / "labels.jsonl", rows(160))
    return compiled(home, judgec.Function("mine", by_letter))


@pytest.fixture
def mine(compiled_once: Any, tmp_path: Path) -> Path:
    """A home of its own, whose judge ``ours`` is the function ``by_letter``, called ``mine``."""
    return shutil.copytree(compiled_once.home, tmp_path / "home")


def judged_by(home: Path, function: Any, rows: Any) -> Any:
    return judgec.load_judge("ours@latest", home=home, functions={"mine": function})(rows)


def test_a_function_is_measured_saved_and_asked_again_only_when_it_is_given(compiled_once: Any, mine: Path) -> None:
    found = compiled_once
    right = {f"i0-{number}": row for number, row in enumerate(rows(160))}
    test = [right[item.item_id] for item in found.saved.compiled.dataset.test.items]
    own = [by_letter(str(row["answer"])) for row in test]
    tau = kendalltau(own, [row["grade"] for row in test]).statistic
    assert found.table.loc["uncompiled", "tau_b"] == pytest.approx(tau, abs=1e-12)
    assert len(found.saved.compiled.verification.ratings["uncompiled"].judge) == len(test)
    assert json.loads(found.saved.card.lm["members"])["mine"]["model"] == "function/mine"
    assert found.saved.card.cost.usd == 0
    new, calls = write(mine / "new.jsonl", unlabelled(40)), []

    def counted(answer: str) -> int:
        calls.append(answer)
        return by_letter(answer)

    judge: dict[str, Any] = {"judge": "ours@latest", "home": mine, "progress": False, "out": mine / "o.jsonl"}
    with pytest.raises(UserError, match=r"--function mine=module:function"):
        judgec.judge_file(new, **judge)
    done = judgec.judge_file(new, functions={"mine": counted}, **judge)
    assert len(calls) == 40
    listed = judged_by(mine, by_letter, unlabelled(40))
    assert listed["grade"].tolist() == done.frame()["grade"].tolist()
    assert (listed["grade"] == [by_letter(str(row["answer"])) for row in unlabelled(40)]).mean() > 0.9


@pytest.mark.full
def test_what_a_function_said_is_in_the_journal_until_its_version_changes(home: Path) -> None:
    calls: list[str] = []

    def counted(answer: str) -> int:
        calls.append(answer)
        return by_letter(answer)

    for version, asked_in_all in (("1", 160), ("1", 160), ("2", 320), (None, 480), (None, 640)):
        compiled(home, judgec.Function("mine", counted, version=version), name=f"v{version}-{asked_in_all}")
        assert len(calls) == asked_in_all
    assert judgec.Function("mine", by_letter).digest == judgec.Function("other", by_letter).digest is not None
    assert judgec.Function("mine", counted).digest is None  # it holds a list, which no source tells


@pytest.mark.parametrize(
    ("answer", "grade", "reason"),
    [
        (4, 4, ""),
        ((2, "why"), 2, "why"),
        ({"grade": 5, "reason": "good"}, 5, "good"),
        ({"1": 0.1, "5": 0.9}, 5, ""),
        (SimpleNamespace(value=3, rationale="as MLflow's Feedback"), 3, "as MLflow's Feedback"),
        (SimpleNamespace(score=3, reason="as a metric"), 3, "as a metric"),
        (np.int64(4), 4, ""),
        ("Score: 4", 4, ""),
    ],
)
def test_what_a_function_may_return(mine: Path, answer: object, grade: int, reason: str) -> None:
    row = judged_by(mine, lambda item: answer, unlabelled(1)).iloc[0]
    assert row["unscored"] is None
    assert reason in row["rationale"]
    assert abs(row["score"] - grade) < 1.0


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda answer: 1 / 0, "ZeroDivisionError"),
        (lambda answer: None, "returned nothing"),
        (lambda answer: 7, "off-scale grade: 7"),
        (lambda answer: {"1": 0.5, "5": 0.9}, "off-scale grade"),
        (lambda answer: [4], "returned list"),
        (lambda answer, reference: 4, "it needs reference"),
        (lambda answer: float("nan"), "ValueError"),
    ],
)
def test_an_item_on_which_a_function_fails_is_unscored_with_the_reason(
    mine: Path, call: Callable[..., object], why: str
) -> None:
    judged = judged_by(mine, call, unlabelled(3))
    assert judged["grade"].isna().all()
    assert all(why in text for text in judged["unscored"]), judged["unscored"].tolist()


def test_a_function_sees_what_its_journal_key_is_made_of(mine: Path) -> None:
    seen: list[list[str]] = []

    def noted(item: dict[str, object]) -> int:
        seen.append(sorted(item))
        return by_letter(str(item["answer"]))

    judged_by(mine, noted, [{**row, "reference": "more than its labels had"} for row in unlabelled(3)])
    assert seen == [["answer", "contexts", "query"]] * 3


def test_an_async_function_runs_many_at_a_time_and_a_sync_one_in_threads(home: Path) -> None:
    most, inside, lock = {"sync": 0, "async": 0}, {"sync": 0, "async": 0}, threading.Lock()
    gate = threading.Barrier(4)

    def entered(kind: str, change: int) -> None:
        with lock:
            inside[kind] += change
            most[kind] = max(most[kind], inside[kind])

    def sync(answer: str) -> int:
        entered("sync", 1)
        gate.wait(timeout=60)  # four have to be inside at once
        entered("sync", -1)
        return by_letter(answer)

    async def coroutine(answer: str) -> int:
        entered("async", 1)
        await asyncio.sleep(0.01)
        entered("async", -1)
        return by_letter(answer)

    compiled(home, judgec.Function("a", sync), judgec.Function("b", coroutine), in_flight=4)
    assert most == {"sync": 4, "async": 4}


def test_numbers_of_another_range_are_refused_until_the_range_is_said(home: Path) -> None:
    (home / "metrics_of_ours.py").write_text(MODULE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        with pytest.raises(UserError, match=r"share: \d+ of 160 values .*#range=0\.\.1"):
            compiled(home, "python:metrics_of_ours:share")
        found = compiled(home, "python:metrics_of_ours:share#range=0..1")
    assert found.table.loc["uncompiled", "exact"] == 1.0
    assert json.loads(found.saved.card.lm["members"])["share"]["range"] == "0.0..1.0"


@pytest.mark.parametrize(
    ("call", "within", "said"),
    [
        (lambda answer: 1 / 0, None, r"no value of .*160 items \(.*division by zero"),
        (lambda answer: next(iter(())), None, r"no value of .*160 items \(.*StopIteration"),
        (lambda answer: sys.exit(3), None, r"no value of .*160 items \(.*SystemExit 3"),
        (by_letter, (0, 1), r"\d+ of 160 values .* 0\.\.1"),
    ],
)
def test_a_function_that_says_nothing_of_use_is_named_as_the_fault(
    home: Path, call: Callable[..., object], within: tuple[float, float] | None, said: str
) -> None:
    with pytest.raises(UserError, match=f"function mine: {said}"):
        compiled(home, judgec.Function("mine", call, range=within))


def test_a_range_of_classes_is_refused_and_true_is_none_of_them(home: Path) -> None:
    letters = [{**row, "grade": "ham" if int(str(row["grade"])) < 4 else "spam"} for row in rows(160)]
    write(home / "labels.jsonl", letters)
    (home / "labels.datasheet.toml").write_text('[scale]\ngrades = ["ham", "spam"]\nlevel = "nominal"\n')
    for within, said in (((0, 1), "ham, spam have no order"), (None, "off-scale grade: True")):
        with pytest.raises(UserError, match=said):
            compiled(home, judgec.Function("mine", lambda answer: True, range=within), objective=None, accept_at=None)


def _graded_by(offset: int) -> Callable[..., int]:
    def grade(answer: str, offset: int = offset) -> int:
        return by_letter(answer) + offset

    return grade


def test_a_function_may_say_true_where_its_range_is_said(home: Path) -> None:
    found = compiled(home, judgec.Function("mine", lambda answer: by_letter(answer) > 3, range=(0, 1)))
    assert judged_by(home, lambda answer: True, unlabelled(3))["grade"].notna().all()
    assert found.saved.compiled.verification.agreements["uncompiled"].unscored == 0


def test_recorded_candidates_of_one_name_are_refused(home: Path) -> None:
    said = pd.DataFrame([{"item_id": str(i), "grade": 1 + i % 5} for i in range(160)])
    with pytest.raises(UserError, match="x twice"):
        compiled(home, judgec.Recorded("x", said[:60]), judgec.Recorded("x", said[60:]))


def test_functions_of_one_name_in_one_file_are_told_apart() -> None:
    one, other = (lambda answer: 1), (lambda answer: 2)
    assert judgec.Function("f", one).digest != judgec.Function("f", other).digest
    assert judgec.Function("f", _graded_by(0)).digest != judgec.Function("f", _graded_by(1)).digest
    assert judgec.Function("f", _graded_by(0)).digest == judgec.Function("f", _graded_by(0)).digest is not None


@pytest.mark.full
def test_functions_and_models_make_a_pool(home: Path) -> None:
    with FakeOpenAI(unsure) as server:
        found = compiled(
            home,
            "openai/gpt-4o-mini",
            judgec.Prompt("openai/gpt-4o", name="strict", instructions="Grade strictly."),
            judgec.Function("mine", by_letter),
            combine="pool",
            api_base=server.base_url,
        )
        assert asked(server) == {"gpt-4o-mini": 160, "gpt-4o": 160}
        assert sum("Grade strictly." in str(body["messages"]) for body in server.bodies) == 160
        assert {row["judge"] for row in found.report["candidates"]} >= {"openai/gpt-4o-mini", "strict", "mine"}
        begun = len(server.bodies)
        judge = judgec.load_judge(found.name, home=home, api_base=server.base_url, functions={"mine": by_letter})
        frame = judge(unlabelled(30))
        members = [leaf.name for leaf in found.judge.compiled.leaves]
        models = {"openai/gpt-4o-mini": "gpt-4o-mini", "strict": "gpt-4o"}
        assert asked(server, begun) == {models[name]: 30 for name in members if name in models}
        assert frame["grade"].notna().all()


def test_members_with_one_model_share_its_calls_in_flight(home: Path) -> None:
    (prompt,) = judge_of().prompts
    members = [prompt.model_copy(update={"name": name, "instructions": f"Grade as {name} does."}) for name in "ab"]
    judge = replace(judge_of(), tree=Mean(of=tuple(members)))
    with FakeOpenAI(unsure, latency=0.02) as server:
        spec = LMSpec.parse("openai/gpt-4o", api_base=server.base_url)
        with Session(LMSpec.jury(dict.fromkeys("ab", spec)), home / "other", in_flight=8) as session:
            items = [Item(str(n), "q", {"query": "?", "answer": f"It is thing {n} v"}) for n in range(60)]
            said = judge.judge(items, session.ask)
        assert said.scored.all()
        assert server.calls == 120
        assert 4 <= server.most_in_flight <= 8


def test_a_cascade_asks_a_model_where_the_function_is_unsure(home: Path) -> None:
    def half(answer: str) -> object:
        number = int(answer.split()[-2])
        return letter(answer) if number % 2 else dict.fromkeys("12345", 0.2)

    write(home / "labels.jsonl", rows(400))
    with FakeOpenAI(unsure) as server:
        rule = judgec.Function("rule", half, version="1")
        found = compiled(home, rule, "openai/gpt-4o", combine="cascade", api_base=server.base_url)
        assert (found.report["cascade"]["cheap"], found.report["cascade"]["dear"]) == ("rule", "openai/gpt-4o")


def test_recorded_candidates_are_looked_up_and_say_the_range_of_their_numbers(home: Path) -> None:
    table = pd.DataFrame(rows(160))[["item_id", "grade"]]
    shares = table.assign(grade=(table["grade"] - 1) / 4)
    with pytest.raises(UserError, match="range"):
        compiled(home, judgec.Recorded("metric", shares))
    with pytest.raises(UserError, match="two different numbers"):
        judgec.Recorded("metric", shares, range=(1, 1))
    other = judgec.Recorded("other", table.assign(grade=6 - table["grade"]))
    metric, gpt = judgec.Recorded("metric", shares, range=(0, 1)), judgec.Recorded("gpt", table)
    found = compiled(home, other, metric, gpt, judgec.Evidence())
    dev = {one["judge"]: one["dev"]["value"] for one in found.report["candidates"]}
    assert (dev["metric"], dev["gpt"]) == (1.0, 1.0)
    assert found.report["prompt"] in {"metric", "gpt"}
    assert found.saved.card.cost.lm_calls == 0


def _often_right(number: int, grade: int, off: int) -> int:
    """Another grade on every third item, as chance has it."""
    return 1 + (grade + number // 3) % 5 if number % 3 == off else grade


def right_but(off: int) -> Callable[..., int]:
    return lambda answer: _often_right(int(answer.split()[-2]), letter(answer), off)


@pytest.mark.parametrize("combine", ["auto", "pool"])
def test_every_size_of_a_pool_is_measured(home: Path, combine: str) -> None:
    functions = [judgec.Function(f"f{off}", right_but(off)) for off in range(3)]
    panel = compiled(home, *functions, combine=combine).report["panel"]
    assert [one["members"] for one in panel["curve"]] == [1, 2, 3]


def test_what_was_recorded_what_is_asked_and_evidence_are_pooled_and_judge_new_items(home: Path) -> None:
    """A pool of two recorded judges and a function, of which two are right wherever one is wrong."""
    whole = pd.DataFrame(rows(400))
    numbers = [int(answer.split()[-2]) for answer in whole["answer"]]
    write(home / "labels.jsonl", rows(400))
    grades = list(zip(numbers, whole["grade"], strict=True))
    said = pd.concat(
        whole.assign(judge=name, grade=[_often_right(n, grade, off) for n, grade in grades])
        for off, name in enumerate(("old", "older"))
    )[["item_id", "judge", "grade"]]
    said.to_csv(home / "old.csv", index=False)
    old = f"recorded:{home / 'old.csv'}"
    found = compiled(home, old, judgec.Function("mine", right_but(2)), judgec.Evidence(), combine="pool")
    assert {row["judge"] for row in found.report["candidates"]} >= {"old", "older", "mine"}
    assert {leaf.name for leaf in found.judge.compiled.leaves} == {"old", "older", "mine"}
    leaves = {node["name"]: node["kind"] for node in _leaves(found.report["tree"])}
    assert (leaves["old"], leaves["mine"]) == ("recorded", "function")
    assert json.loads(found.saved.card.lm["members"])["old"] == {"model": old}
    new = pd.DataFrame(unlabelled(30)).assign(item_id=[f"new {n}" for n in range(30)])
    new.to_csv(home / "new.csv", index=False)
    their = said.groupby("judge").head(30).assign(item_id=[*new["item_id"]] * 2)
    functions = {"mine": right_but(2)}

    def streamed(**given: Any) -> Any:
        return judgec.judge_file(
            home / "new.csv", judge=found.name, home=home, out=home / "out.jsonl", functions=functions, **given
        )

    listed = judgec.load_judge(found.name, home=home, functions=functions, verdicts=their)(new)
    assert listed["grade"].notna().all()
    their.to_csv(home / "their.csv", index=False)
    assert streamed(lm=f"recorded:{home / 'their.csv'}").frame()["score"].tolist() == listed["score"].tolist()
    with pytest.raises(UserError, match=r"older?: none of 30"):
        judgec.load_judge(found.name, home=home, functions=functions)(new)
    with pytest.raises(UserError, match=r"older?: none of 30"):
        streamed()
    their.iloc[10:].to_csv(home / "their.csv", index=False)
    notes = str(streamed(lm=f"recorded:{home / 'their.csv'}").report["notes"])
    assert "10 of 30 items have no verdict" in notes
    with pytest.raises(UserError, match=r"older?: its verdicts"):
        found.judge.compiled.judge([Item("0", "q", {"query": "?", "answer": "a 1 v"})], ask=lambda *_, **__: iter(()))
    with pytest.raises(UserError, match=r"older?: its verdicts"):
        judgec.audit(found.name, home=home)


def _leaves(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "of" not in node:
        yield node
    for each in node.get("of", ()):
        yield from _leaves(each)


def test_a_recorded_judge_that_is_best_among_what_is_asked_ships_alone_as_a_recorded_one(home: Path) -> None:
    table = pd.DataFrame(rows(160))[["item_id", "grade"]]
    found = compiled(home, judgec.Recorded("gpt", table), judgec.Function("mine", lambda answer: 3))
    assert (found.report["prompt"], found.saved.card.settings["kind"]) == ("gpt", "recorded")
    assert "members" not in found.saved.card.lm
    new = pd.DataFrame(unlabelled(10)).assign(item_id=table["item_id"].head(10))
    again = judgec.load_judge(found.name, home=home, verdicts=table.assign(judge="gpt"))
    assert again(new)["grade"].notna().all()


@pytest.mark.full
def test_one_model_is_searched_as_with_lm(home: Path) -> None:
    with FakeOpenAI(unsure) as server:
        one = compiled(home, "openai/gpt-4o-mini", name="a", api_base=server.base_url)
        two = compiled(home, name="b", lm="openai/gpt-4o-mini", api_base=server.base_url)
    assert one.saved.card.lm == two.saved.card.lm
    pd.testing.assert_frame_equal(one.table, two.table)


def test_calls_of_functions_count_for_the_budget(home: Path) -> None:
    with pytest.raises((UserError, BudgetError), match="100"):
        compiled(home, judgec.Function("mine", by_letter), budget=100)


@pytest.mark.parametrize(
    ("candidates", "options", "said"),
    [
        (("nope",), {}, r"--candidate nope: .*a model \(provider/name\), prompt:FILE\[@MODEL\], recorded:FILE"),
        (("python:nowhere:f",), {}, r"--candidate python:nowhere:f: No module named 'nowhere'"),
        (("a=openai/x", "a=openai/y"), {}, r"--candidate: a twice"),
        (("openai/x", "recorded:y.csv"), {}, r"y.csv: no such file"),
        (("recorded:x.csv", "recorded:y.csv"), {}, r"more than one source"),
        (("openai/x", "recorded:y.csv"), {"combine": "cascade"}, r"cascade:FIRST,THEN"),
        (("g=recorded:x.csv",), {}, "names of their own"),
        (("openai/x", "openai/y"), {"combine": "both"}, r"--combine both: best, pool"),
        (("openai/x", "openai/y"), {"combine": "auto:3"}, r"--combine auto:3: best, pool"),
        (("openai/x",), {"combine": "pool"}, r"--combine pool: one candidate"),
        (("openai/x", "openai/y"), {"combine": "pool", "panel": 2}, r"--combine pool and --panel"),
        (("openai/x", "openai/y"), {"combine": "cascade:openai/x,z"}, r"z: no candidate"),
        (("openai/x", "openai/y"), {"optimizer": "nope"}, r"--optimizer: there is no 'nope'"),
        (("sensors@1", "python:json:loads"), {"reflection_lm": "openai/z"}, r"sensors@1"),
        (("openai/x", "openai/y"), {"jury": ("one", "two")}, r"--candidate and --jury"),
        ((), {"combine": "pool"}, r"--combine pool: combines candidates; none is named"),
    ],
)
def test_candidates_that_do_not_go_together_are_refused_before_anything_is_asked(
    home: Path, candidates: tuple[str, ...], options: dict[str, object], said: str
) -> None:
    with FakeOpenAI(unsure) as server:
        with pytest.raises(UserError, match=said):
            compiled(home, *candidates, api_base=server.base_url, **options)
        assert server.calls == 0
    assert not (home / "programs").exists()


def test_no_saved_judge_imports_what_it_names(home: Path) -> None:
    (home / "metrics_of_ours.py").write_text(MODULE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        found = compiled(home, "python:metrics_of_ours:letters")
        program = programs.load(home, found.name)
        assert "metrics_of_ours" not in json.dumps([dict(program.card.lm), program.tree])
        result = CliRunner().invoke(
            app,
            ["judge", "labels.jsonl", "--judge", "ours@latest", "--out", "o.csv",
             "--function", "letters=metrics_of_ours:letters"],
        )  # fmt: skip
        assert result.exit_code == 0, result.output


def test_a_batch_takes_functions_too(home: Path) -> None:
    found = compiled(home, judgec.Function("mine", by_letter), batch=True)  # what is computed here waits for no batch
    assert found.report["test"]


def in_its_own_manner(call: Call) -> Outcome:
    """A weak model whose mistakes depend on how it is asked."""
    said = " ".join(unquote(call.prompt.inputs.get("answer", ""))) or "v"
    prompt = str(call.body["messages"])
    manner = next((name for name, text in MANNERS.items() if text and text[:40] in prompt), "plain")
    chance = random.Random(f"{manner} {said}")
    grade = "vwxyz".index(said[-1]) + 1 if chance.random() < 0.4 else chance.randint(1, 5)
    return answer(call, {one.name: str(grade) for one in call.prompt.outputs if one.labels})


@pytest.mark.full
def test_several_prompts_of_one_model_become_a_panel_that_agrees_better(home: Path) -> None:
    with FakeOpenAI(in_its_own_manner) as server:
        where: dict[str, Any] = {"lm": "openai/gpt-4o-mini", "api_base": server.base_url}
        found = compiled(home, prompts=5, **where)
        assert asked(server) == {"gpt-4o-mini": 5 * 160}
        begun = len(server.bodies)
        planned = CliRunner().invoke(
            app,
            [
                *("compile-judge", str(home / "labels.jsonl"), "--prompts", "5", "--dry-run", "--json"),
                *("--lm", "openai/gpt-4o-mini", "--api-base", server.base_url, "--accept-at", "4"),
            ],
        )
        plan = json.loads(planned.stdout)
        assert 5 * 160 <= plan["calls"] <= 5 * 160 + 5
        assert len(server.bodies) == begun
        assert found.judge.compiled.kind == "panel"
        members = [leaf.name for leaf in found.judge.compiled.leaves]
        assert len(members) >= 3
        assert found.table.loc["compiled", "qwk"] > found.table.loc["best_alone", "qwk"] + 0.1
        judge = judgec.load_judge(found.name, home=home, api_base=server.base_url)
        assert judge(unlabelled(20))["grade"].notna().all()
        new = [str(body["messages"]) for body in server.bodies[begun:] if "It is thing" in str(body["messages"])]
        assert len(new) == 20 * len(members)
        for name in members:
            assert sum(MANNERS[name][:40] in text for text in new) >= 20


@pytest.mark.full
def test_prompts_of_candidates_are_searched_for_and_compared_with_what_they_were(tmp_path: Path) -> None:
    made = planted.CASES.rows(100, 0, "c")
    reasons = {str(row["item_id"]): f"(told of {row['item_id']}.)" for row in made if row.get("rationale")}
    for row in made:
        row["rationale"] = f"{row.get('rationale') or ''} {reasons.get(str(row['item_id']), '')}".strip()
    write(tmp_path / "labels.jsonl", made)
    first, second = planted.CASES.criteria[:2]

    def half(answer: str) -> int:
        return (first.met in answer) + (second.met in answer)

    one, other = judgec.Prompt(planted.MODEL, "one"), judgec.Prompt(planted.MODEL, "other", "Grade what you read.")
    asked: list[str] = []

    def reply(self: planted.Planted, call: Call) -> str:
        asked.append(json.dumps(call.body["messages"], ensure_ascii=False))
        return real(self, call)

    real = planted.Planted.reply
    with planted.serving(planted.CASES), pytest.MonkeyPatch.context() as patch:
        patch.setattr(planted.Planted, "reply", reply)
        function = judgec.Function("half", half, range=(0, 2))
        given: dict[str, Any] = {"accept_at": None, "baseline": "one", "best": "5"}
        with pytest.raises(UserError, match=r"--optimizer auto .*--folds 1"):
            compiled(tmp_path, one, other, function, reflection_lm=planted.MODEL, **given | {"folds": 5})
        assert not asked
        found = compiled(tmp_path, one, other, function, reflection_lm=planted.MODEL, **given)
        compile_calls = list(asked)
        judge = found.judge
        assert judge([{"item_id": "x", "query": "q", "answer": first.met}])["grade"].notna().all()
    card, compile_ = found.saved.card, found.saved.compiled
    assert card.settings["prompts"] == "one: mined; other: mined"
    assert card.optimizer == "auto"
    assert compile_.choice.uncompiled is not None
    assert compile_.choice.alone is not None
    assert compile_.choice.uncompiled.name == "one zero-shot"
    assert not {compile_.choice.uncompiled.name, compile_.choice.alone.name} & {"one", "other"}
    assert found.table.loc["compiled", "qwk"] > found.table.loc["best_alone", "qwk"] + 0.15
    assert all(criterion.rule in asked[-1] for criterion in planted.CASES.criteria)
    told = {name: any(reason in text for text in compile_calls) for name, reason in reasons.items()}
    tested = {item.item_id for item in compile_.dataset.test.items} & told.keys()
    assert tested
    assert not any(told[name] for name in tested)
    assert sum(told.values()) >= len(told) - len(tested) - 1
    options = CompileJudgeOptions(
        labels=str(tmp_path / "labels.jsonl"),
        home=tmp_path,
        folds=1,
        reflection_lm=planted.MODEL,
        evidence=False,
        baseline="one",
        best="5",
    )
    options = replace(options, candidates=(one, other, function))  # type: ignore[arg-type]  # as Python may
    plan = planned(options, Silent())[2]
    assert [stage.name for stage in plan.stages if stage.name.startswith("search")] == ["search: one", "search: other"]
    assert len(compile_calls) + 100 <= plan.total.calls  # the function's calls are counted, too


@pytest.mark.parametrize(
    "options",
    [
        {"candidates": ["openai/gpt-4o"]},
        {"combine": "pool"},
        {"jury": ["a", "b"]},
        {"lm": "embedded"},
        {"optimizer": "gepa"},
    ],
    ids=str,
)
def test_several_prompts_of_what_has_none_or_beside_others_are_refused(home: Path, options: dict[str, Any]) -> None:
    given = {"lm": "openai/gpt-4o-mini", "name": "ours", "home": home, "progress": False, **options}
    with pytest.raises(UserError, match="--prompts 3"):
        judgec.compile_judge(home / "labels.jsonl", prompts=3, **given)
