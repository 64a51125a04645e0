"""Compiled judges as a jury: asked with their own prompts and models, alone, as a panel or one after the other."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judgec
from judgec.errors import ArtifactError, UserError
from judgec.raters import programs
from judgec.raters.judge import load_judge as load_compiled
from judgec.verbs.judge import load_judge
from tests.compile.small import Rows, write
from tests.prompts import unquote
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, answer
from tests.verbs.cli.judging import KEY, save_judge

DEMO = {
    "query": "> What is number 7 of 0?",
    "answer": "> It is thing 7.",
    "contexts": "[1]\n> Thing 7.",
    "reason": "It is.",
    "grade": 5,
}
MODELS = {"one": "openai/gpt-4o-mini", "two": "openai/gpt-4.1-mini", "three": "openai/gpt-4o"}
RIGHT = {"gpt-4o-mini": 0.4, "gpt-4.1-mini": 0.45, "gpt-4o": 0.65}


def rows(items: int, seed: int = 0) -> Rows:
    """Answers whose last word is their grade in letters, which evidence does not read."""
    chance, made = random.Random(seed), []
    for number in range(items):
        grade = chance.randint(1, 5)
        made.append(
            {
                "item_id": f"i{seed}-{number}",
                "query_id": f"q{seed}-{number}",
                "query": f"What is number {number} of {seed}?",
                "answer": f"It is thing {number} {'vwxyz'[grade - 1]}",
                "contexts": [f"Thing {number}."],
                "grade": grade,
            }
        )
    return made


def unsure(call: Call) -> Outcome:
    """Each model is right by itself so often, whatever the others say."""
    said = " ".join(unquote(call.prompt.inputs.get("answer", ""))) or "v"
    model = str(call.body["model"])
    chance = random.Random(f"{model} {said}")
    grade = "vwxyz".index(said[-1]) + 1 if chance.random() < RIGHT[model] else chance.randint(1, 5)
    return answer(call, {output.name: str(grade) for output in call.prompt.outputs if output.labels})


def unlabelled(items: int) -> Rows:
    return [{name: value for name, value in row.items() if name != "grade"} for row in rows(items, 1)]


def in_the_middle(call: Call) -> Outcome:
    """The cheap model sees the grade of every second answer and says 3 of the others; the dear one sees all."""
    said = " ".join(unquote(call.prompt.inputs.get("answer", ""))) or "thing 1 v"
    seen = call.body["model"] == "gpt-4o" or int(said.split()[-2]) % 2
    return answer(
        call, {one.name: str("vwxyz".index(said[-1]) + 1 if seen else 3) for one in call.prompt.outputs if one.labels}
    )


def asked(server: FakeOpenAI, begun: int = 0) -> Counter[str]:
    """How often each model was asked to judge; looking at an endpoint is no question."""
    return Counter(str(body["model"]) for body in server.bodies[begun:] if "It is thing" in str(body["messages"]))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for name, model in MODELS.items():
        save_judge(tmp_path, name, instructions=f"Grade as {name} does.", lm={"model": model, "temperature": 0.0})
    write(tmp_path / "labels.jsonl", rows(160))
    return tmp_path


def compiled(home: Path, *candidates: object, **options: object) -> Any:
    given: dict[str, object] = {"name": "ours", "objective": "qwk", "folds": 1, "accept_at": 4, "evidence": False}
    return judgec.compile_judge(
        home / "labels.jsonl",
        home=home,
        candidates=candidates,  # type: ignore[arg-type]  # of any kind
        progress=False,
        **(given | options),  # type: ignore[arg-type]  # options of the verb
    )


@pytest.mark.full
def test_panel_of_jurors_asks_each_and_judges_as_it_was_measured(home: Path) -> None:
    with FakeOpenAI(unsure) as server:
        found = compiled(home, api_base=server.base_url, jury=("one", "two@1", "three"), panel="all")
        assert asked(server) == dict.fromkeys(RIGHT, 160)
        panel = found.report["panel"]
        taken = {one["judge"] for one in panel["members"]}
        assert {"three@1"} < taken
        assert panel["incumbent"] == "three@1"
        assert panel["kind"] != "single"
        assert found.report["lm_calls"] == 3 * 160 + 3
        card = found.saved.card
        assert card.settings["kind"] == "jury"
        assert set(str(card.lm["model"]).removeprefix("jury:").split(",")) == taken
        assert KEY not in (programs.page_path(home, card)).read_text()
        new = write(home / "new.jsonl", unlabelled(50))
        begun = len(server.bodies)
        done = judged(home, new, server)
        assert asked(server, begun) == {MODELS[name.removesuffix("@1")].partition("/")[2]: 50 for name in taken}
        frame, begun = done.frame(), len(server.bodies)
        again = load_judge("ours@latest", home=home, api_base=server.base_url)(unlabelled(50))
        assert len(server.bodies) == begun  # the journal has them
        assert again["grade"].tolist() == frame["grade"].tolist()
        assert np.allclose(again["score"], frame["score"])
        by_hand(home, new, frame["score"].to_numpy(), server)
        with pytest.raises(UserError, match="--lm openai/x: "):
            load_judge("ours@latest", home=home, lm="openai/x")
        with pytest.raises(UserError, match="--samples: ours@1"):
            judgec.judge_file(
                home / "labels.jsonl", judge="ours@latest", home=home, out=home / "o.csv", samples=3,
                api_base=server.base_url,
            )  # fmt: skip


@pytest.mark.full
def test_panel_of_jurors_judges_a_tournament_and_a_probe(home: Path) -> None:
    with FakeOpenAI(unsure) as server:
        found = compiled(home, api_base=server.base_url, jury=("one", "two", "three"), panel="all")
        of = [MODELS[one["judge"].removesuffix("@1")].partition("/")[2] for one in found.report["panel"]["members"]]
        assert len(of) > 1
        made, begun = rows(12, 2), len(server.bodies)
        board = judgec.evaluate(
            queries=[{"query_id": row["query_id"], "query": row["query"]} for row in made],
            answers=[
                {"query_id": row["query_id"], "agent": agent, "answer": f"It is thing {number} {letter}"}
                | {"contexts": ["Thing."]}
                for number, row in enumerate(made)
                for agent, letter in (("best", "z"), ("worst", "v"))
            ],
            judge="ours@latest", unproven=True, home=home, out=home / "league", api_base=server.base_url,
        )  # fmt: skip
        assert board.ratings.index.tolist() == ["best", "worst"]
        assert asked(server, begun) == dict.fromkeys(of, 24)
        (home / "answers_for_a_panel.py").write_text(
            "def system(query):\n    return {'answer': f'It is thing {len(query)} z', 'contexts': ['Thing.']}\n"
        )
        begun = len(server.bodies)
        probed = judgec.probe(
            questions=[{"query": row["query"], "reference": "thing"} for row in made],
            system="python:answers_for_a_panel:system", metric="judge:ours@latest", unproven=True,
            home=home, out=home / "probe", api_base=server.base_url,
        )  # fmt: skip
        assert "ours@1" in probed.summary.judge
        assert {*asked(server, begun)} == {*of}
        verdicts = [one.verdict.criteria["judge:ours@latest"] for one in probed.probed]
        assert verdicts.count(None) == 0


def judged(home: Path, file: Path, server: FakeOpenAI, judge: str = "ours@latest") -> judgec.FileJudgments:
    return judgec.judge_file(file, judge=judge, home=home, out=home / "o.jsonl", api_base=server.base_url)


def by_hand(home: Path, file: Path, scores: np.ndarray, server: FakeOpenAI) -> None:
    """The members' verdicts of ``judge`` with each alone, put together by the saved panel."""
    judge = load_compiled(programs.load(home, "ours@latest"))
    assert judge.kind == "panel"
    said = [judged(home, file, server, one.name).frame()["grade"].to_numpy() for one in judge.leaves]
    right = np.array([row["grade"] for row in rows(50, 1)])
    joint = np.sign(np.array(said).mean(axis=0) - 3)
    assert (joint == np.sign(scores - 3))[np.abs(joint) > 0].mean() > 0.8
    assert np.corrcoef(scores, right)[0, 1] > max(np.corrcoef(one, right)[0, 1] for one in said) - 0.05


def test_best_juror_alone_is_asked_alone(home: Path) -> None:
    with FakeOpenAI(unsure) as server:
        found = compiled(home, api_base=server.base_url, jury=("one", "three"), panel="best")
        assert found.report["prompt"] == "three@1"
        new = write(home / "new.jsonl", rows(20, 1))
        begun = len(server.bodies)
        judged(home, new, server)
        assert asked(server, begun) == {"gpt-4o": 20}


@pytest.mark.full
def test_cascade_of_jurors_asks_the_dear_one_where_it_is_needed(home: Path) -> None:
    write(home / "labels.jsonl", rows(400))
    with FakeOpenAI(in_the_middle) as server:
        found = compiled(home, api_base=server.base_url, jury=("one", "three"), cascade=("one", "three"))
        cascade = found.report["cascade"]
        assert (cascade["cheap"], cascade["dear"]) == ("one@1", "three@1")
        assert cascade["shipped"], cascade["reason"]
        new = write(home / "new.jsonl", unlabelled(60))
        begun = len(server.bodies)
        done = judged(home, new, server)
        again = load_judge("ours@latest", home=home, api_base=server.base_url)(unlabelled(60))
        assert asked(server, begun) == {"gpt-4o-mini": 60, "gpt-4o": done.report["escalated"]}
        assert 20 < int(str(done.report["escalated"])) < 50
        assert done.frame()["grade"].tolist() == again["grade"].tolist()
        assert (done.frame()["grade"] == [row["grade"] for row in rows(60, 1)]).mean() > 0.95


def test_juror_that_has_learned_from_the_test_is_refused(home: Path) -> None:
    one = programs.load(home, "one")
    sides = {f"q0-{number}": "train" for number in range(160)}
    programs.save(home, replace(one, split={"queries": sides, "keys": {}}))
    with FakeOpenAI(unsure) as server:
        with pytest.raises(UserError, match=r"candidate one@2: .* of \d+ of \d+ items"):
            compiled(home, api_base=server.base_url, jury=("one@2", "two"))
        assert server.calls == 0


def test_juror_that_is_evidence_alone_or_was_saved_before_trees_is_refused(home: Path) -> None:
    one = programs.load(home, "one")
    programs.save(home, replace(one, card=one.card.model_copy(update={"judge_kind": "evidence"})))
    programs.save(home, replace(one, tree={}))
    with pytest.raises(UserError, match="candidate one@2: is evidence alone"):
        compiled(home, jury=("one@2", "two"))
    with pytest.raises(ArtifactError, match=r"one@3: .* gone since"):
        compiled(home, jury=("one@3", "two"))


def test_juror_is_not_asked_about_queries_that_its_demonstrations_show(home: Path) -> None:
    two = programs.load(home, "two")
    shown = load_compiled(two).with_prompts(lambda prompt: prompt.model_copy(update={"demos": (DEMO,)}))
    programs.save(home, replace(two, tree=shown.saved()))
    with FakeOpenAI(unsure) as server:
        found = compiled(home, api_base=server.base_url, jury=("one", "two@2"))
        assert asked(server) == {"gpt-4o-mini": 160, "gpt-4.1-mini": 159}
    candidates = {one["judge"]: one["n"] for one in found.report["candidates"]}
    assert candidates["one@1"] - candidates["two@2"] in {0, 1}  # 0 where the query is one of the test


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"jury": ("one",)}, "--jury one: one judge"),
        ({"jury": ("one", "one@1")}, "one@1 more than once"),
        ({"jury": ("one", "two"), "lm": "openai/gpt-4o"}, "--jury one,two and --lm"),
        ({"jury": ("one", "two"), "baseline": "three"}, "three: no candidate"),
        ({"jury": ("one", "two"), "cascade": ("one", "three")}, "no candidate; one of one@1, two@1"),
        ({"jury": ("one", "two"), "budget": 100}, r"--budget 100: .* 320 calls"),
        ({"jury": ("one", "two"), "accept_at": None, "columns": {"contexts": "document"}}, "candidate one@1: "),
        ({"jury": ("one", "gone")}, "gone"),
    ],
)
def test_jury_that_cannot_sit_is_refused_before_anything_is_asked(
    home: Path, options: dict[str, object], said: str
) -> None:
    with FakeOpenAI(unsure) as server:
        with pytest.raises(UserError, match=said):
            compiled(home, api_base=server.base_url, **options)
        assert server.calls == 0
    assert not (home / "programs" / "ours").exists()
