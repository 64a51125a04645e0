"""``judgec judge --live``: a model is asked with exactly the recorded prompt, byte for byte."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import judgec as judgec_api
from judgec.errors import UserError
from judgec.raters.live import LivePrompt, check_prompt
from judgec.raters.verdicts import messages_of
from judgec.records.label import Item
from tests.compile.recorded_world import labels, verdicts
from tests.compile.small import write
from tests.compile.test_cascades import cascaded
from tests.compile.test_cascades import verdicts as two_models
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, Text
from tests.verbs.cli.process import judgec

SHEET = '[scale]\nname = "relevance"\nlevel = "ordinal"\ngrades = [0, 1, 2, 3]\naccept_at = 2\n'
SYSTEM, USER = "You grade  passages.\t", 'Q: {query}\nP:{document}\n{"like": "this"} é\n'
PROMPTS = {
    "gpt/odd": {"model": "gpt-4o", "prompt": {"system": SYSTEM, "user": USER}},
    "gpt/clear": {"model": "gpt-4o", "prompt": "Clear: {document}"},
    "gpt/plain": {"model": "gpt-4o", "prompt": None},
}


def graded(call: Call) -> Outcome:
    """The last digit of the text, in words that a prompt may ask for."""
    messages = call.body["messages"]
    assert isinstance(messages, list)
    text = str(messages[-1]["content"])
    digits = [letter for letter in text if letter.isdigit()]
    return Text(f"It is about that.\nFinal score: {1.5 + int(digits[-1]) / 2:g}" if "fresh" in text else "ready")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("live")
    write(made / "labels.jsonl", labels())
    (made / "labels.datasheet.toml").write_text(SHEET)
    pd.DataFrame([one for one in verdicts(labels()) if one["judge"] in PROMPTS]).to_parquet(made / "v.verdicts.parquet")
    (made / "v.judges.json").write_text(json.dumps(PROMPTS))
    write(made / "new.jsonl", [{"item_id": f"n{n}", "query": f"fresh {n}", "document": f"doc {n}"} for n in range(4)])
    for name, pattern in (("one", "gpt/odd"), ("bare", "gpt/plain")):
        judgec_api.compile_judge(
            str(made / "labels.jsonl"), candidates=[f"recorded:{made / 'v.verdicts.parquet'}#{pattern}"], folds=1,
            objective="qwk", name=name, home=made, progress=False,
        )  # fmt: skip
    return made


def test_the_recorded_prompt_is_sent_byte_for_byte_and_nothing_twice(folder: Path) -> None:
    with FakeOpenAI(graded) as server:
        options = ("--judge", "one@latest", "--live", "--lm", "openai/fake", "--api-base", server.base_url, "--json")
        first = judgec(folder, "judge", "new.jsonl", *options, "--out", "out.jsonl", OPENAI_API_KEY="k")
        sent = [json.loads(json.dumps(body["messages"])) for body in server.bodies if "fresh" in json.dumps(body)]
        again = judgec(folder, "judge", "new.jsonl", *options, "--out", "again.jsonl", OPENAI_API_KEY="k")
        in_all = sum("fresh" in json.dumps(body) for body in server.bodies)

    assert json.loads(first.stdout)["lm_calls"] == 5  # and one that asks whether the model is there
    assert json.loads(again.stdout)["lm_calls"] == 0
    assert in_all == 4
    wanted = {f'Q: fresh {n}\nP:doc {n}\n{{"like": "this"}} é\n' for n in range(4)}
    assert {turns[1]["content"] for turns in sent} == wanted
    assert {(turns[0]["role"], turns[0]["content"], turns[1]["role"]) for turns in sent} == {("system", SYSTEM, "user")}
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [row["unscored"] for row in rows] == [None] * 4
    assert [row["grade"] for row in rows] == [0, 1, 2, 3]  # of 1.5 to 3, as this judge squeezes the scale


SIDES = ("answer_a", "answer_b")
PAIR = "Which is better?\n{query}\n[A]\n{answer_a}\n[B]\n{answer_b}\nEnd with [[A]], [[B]] or [[C]].\n"


def prefers(call: Call) -> Outcome:
    """The longer answer; of equally long ones the first; of the pair ``odd`` nothing that can be read."""
    messages = call.body["messages"]
    assert isinstance(messages, list)
    text = str(messages[-1]["content"])
    if "[A]\n" not in text:
        return Text("ready")
    a, b = (text.partition(f"[{side}]\n")[2].partition("\n")[0] for side in "AB")
    said = "[[B]]" if len(b) > len(a) else "[[A]]"
    return Text("[[A]] or [[B]]" if "odd" in text else f"Both try.\n\nMy final verdict: {said}")


def pair(n: int, one: str, other: str) -> dict[str, object]:
    return {"item_id": f"p{n}", "query_id": f"p{n}", "query": f"which {n}", "answer_a": one, "answer_b": other}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("pairs")
    rows = [pair(n, "long " * 3, "short") | {"preference": "ab"[n % 2]} for n in range(90)]
    said = [
        {"item_id": row["item_id"], "judge": "gpt/pair", "order": order, "preference": row["preference"]}
        for row in rows
        for order in ("ab", "ba")
    ]
    pd.DataFrame(said).to_csv(made / "v.verdicts.csv", index=False)
    (made / "v.judges.json").write_text(
        json.dumps({"order": "mapped", "gpt/pair": {"model": "openai/fake", "prompt": PAIR}})
    )
    options = {"folds": 1, "evidence": False, "name": "pairs", "home": made, "progress": False}
    judgec_api.compile_judge(
        str(write(made / "labels.jsonl", rows)),
        lm=f"recorded:{made / 'v.verdicts.csv'}",
        **options,  # type: ignore[arg-type]  # each as its parameter
    )
    fresh = [pair(0, "a" * 9, "b" * 3), pair(1, "a", "b" * 3), pair(2, "aa", "bb"), pair(3, "odd", "odder")]
    write(made / "new.jsonl", fresh)
    return made


def test_a_pair_is_asked_in_both_orders_with_the_recorded_prompt(pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with FakeOpenAI(prefers) as server:
        done = judgec_api.judge_file(
            pairs / "new.jsonl", judge="pairs@latest", live=True, api_base=server.base_url, home=pairs,
            out=pairs / "out.jsonl", progress=False,
        )  # fmt: skip
        judge = judgec_api.load_judge("pairs@latest", home=pairs, live=True, api_base=server.base_url)
        before = server.calls
        again = judge([json.loads(line) for line in (pairs / "new.jsonl").read_text().splitlines()][:3])
        assert server.calls == before  # the journal has them
        sent = [body["messages"] for body in server.bodies if "[A]" in json.dumps(body)]
    rows = [json.loads(line) for line in (pairs / "new.jsonl").read_text().splitlines()]
    orders = [(row["query"], row[one], row[other]) for row in rows for one, other in (SIDES, SIDES[::-1])]
    wanted = [
        [{"role": "user", "content": PAIR.replace("{query}", q).replace("{answer_a}", a).replace("{answer_b}", b)}]
        for q, a, b in orders
    ]
    assert all(turns in wanted for turns in sent)
    assert all(turns in sent for turns in wanted)
    assert done.report["lm_calls"] == 8 + 2 + 1  # two are asked again, and one looks whether the model is there
    judged = [json.loads(line) for line in (pairs / "out.jsonl").read_text().splitlines()]
    assert [row["grade"] for row in judged] == ["a", "b", "tie", None]
    assert "two verdicts: a, b" in judged[3]["unscored"]
    assert again["grade"].tolist() == ["a", "b", "tie"]


@pytest.fixture(scope="module")
def cascade(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made, rows = tmp_path_factory.mktemp("cascade"), labels(120, 5)
    told = [
        {**row, "model": f"{row['judge']}-model", "prompt": f"{row['judge']}: {{query}} {{document}}"}
        for row in two_models(rows, knows=True)
    ]
    done = cascaded(made, told, rows)
    assert done.report["prompt"] == "cheap > dear"
    write(made / "new.jsonl", [{"item_id": f"n{n}", "query": f"fresh {n}", "document": f"doc {n}"} for n in range(8)])
    return made


def models_of(server: FakeOpenAI) -> dict[str, list[str]]:
    """The user's turns that each model was sent about fresh items."""
    found: dict[str, list[str]] = {}
    for body in server.bodies:
        text = str(body["messages"][-1]["content"])  # type: ignore[index]  # JSON
        if "fresh" in text:
            found.setdefault(str(body["model"]), []).append(text)
    return found


def half_sure(call: Call) -> Outcome:
    """The cheap model fails on the second half of the items; the dear one never does."""
    messages = call.body["messages"]
    assert isinstance(messages, list)
    text = str(messages[-1]["content"])
    if "fresh" not in text:
        return Text("ready")
    return Text("no idea" if text.startswith("cheap") and int(text[-1]) >= 4 else f"Score: {int(text[-1]) % 4}")


def test_a_cascade_asks_the_dear_model_only_about_what_needs_it(cascade: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")

    def judged(name: str, budget: int | None = None) -> Mapping[str, object]:
        return judgec_api.judge_file(
            cascade / "new.jsonl", judge="world@latest", live=True, lm="cheap-model=openai/small,dear=openai/big",
            api_base=server.base_url, home=cascade, out=cascade / name, progress=False, budget=budget,
        ).report  # fmt: skip

    with FakeOpenAI(half_sure) as server:
        done = judged("out.jsonl")
        asked = models_of(server)
        assert judged("again.jsonl", budget=1)["lm_calls"] == 0
        judge = judgec_api.load_judge(
            "world@latest", home=cascade, live=True, lm="cheap=openai/small,dear=openai/big", api_base=server.base_url
        )
        before = server.calls
        loaded = judge([{"query": f"fresh {n}", "document": f"doc {n}"} for n in range(8)])
        assert server.calls == before
    assert sorted(set(asked["small"])) == [f"cheap: fresh {n} doc {n}" for n in range(8)]
    assert {f"dear: fresh {n} doc {n}" for n in range(4, 8)} <= set(asked["big"])
    assert len(asked["big"]) == len(set(asked["big"])) == done["escalated"]
    rows = [json.loads(line) for line in (cascade / "out.jsonl").read_text().splitlines()]
    assert [row["unscored"] for row in rows] == [None] * 8
    assert [row["grade"] for row in rows] == [n % 4 for n in range(8)] == loaded["grade"].tolist()


@pytest.mark.parametrize(
    ("lm", "seen"),
    [
        (None, "the verdicts of cheap are of cheap-model; provider/name is valid"),
        ("cheap=openai/a", "Say with --lm whom to ask, for example dear-model=openai/dear-model"),
        ("openai/one", "is a cascade of two models, "),
        (
            "chaep=openai/a,dear=openai/b",
            "chaep is neither a judge nor a model of these verdicts; cheap, cheap-model, dear",
        ),
    ],
)
def test_whom_a_cascade_asks_must_be_known(cascade: Path, lm: str | None, seen: str) -> None:
    with pytest.raises(UserError) as fault:
        judgec_api.load_judge("world@latest", home=cascade, live=True, lm=lm)
    assert seen in str(fault.value)


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        ({"judge": "bare@latest", "lm": "openai/fake"}, "the prompt of gpt/plain is not known"),
        ({"judge": "one@latest"}, "the verdicts of gpt/odd are of gpt-4o; provider/name is valid"),
        ({"judge": "one@latest", "lm": "openai/fake", "samples": 3}, "--samples and --live"),
    ],
)
def test_what_cannot_be_asked_is_said_before_any_call(folder: Path, options: dict[str, Any], seen: str) -> None:
    with pytest.raises(UserError, match=seen):
        judgec_api.judge_file(folder / "new.jsonl", live=True, home=folder, out=folder / "no.jsonl", **options)
    assert not (folder / "no.jsonl").exists()


def test_a_prompt_with_a_strange_placeholder_or_one_answer_of_a_pair_is_refused() -> None:
    strange = LivePrompt(messages={"": (("user", "{question} {document} {}"),)})
    with pytest.raises(UserError, match=r"has \{question\}; items of relevance have \{query\}, \{document\}"):
        check_prompt("x", strange, "relevance", ("grade",))
    one_sided = LivePrompt(messages={"": (("user", "{query} {answer_a}"),)})
    with pytest.raises(UserError, match=r"shows \{answer_a\}, \{query\}; \{answer_a\} and \{answer_b\} are needed"):
        check_prompt("x", one_sided, "preference", ("preference",))
    with pytest.raises(UserError, match="no text for tone"):
        check_prompt("x", LivePrompt(messages={"accuracy": (("user", "{query}"),)}), "answer", ("accuracy", "tone"))


def test_text_of_an_item_is_never_taken_for_a_placeholder() -> None:
    prompt = LivePrompt(messages={"": (("user", "{query}|{contexts}"),)})
    item = Item("i", "q", {"query": "{contexts} {answer}", "answer": "no", "contexts": ("a", "b")})
    assert prompt.filled("grade", item) == [{"role": "user", "content": "{contexts} {answer}|a\n\nb"}]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"system": "s ", "user": "u"}, {"": (("system", "s "), ("user", "u"))}),
        ("  one\n", {"": (("user", "  one\n"),)}),
        ({"tone": "t", "fit": {"user": "a"}}, {"tone": (("user", "t"),), "fit": (("user", "a"),)}),
        (
            {"system": "s", "user": {"tone": "t", "fit": "a"}},
            {"tone": (("system", "s"), ("user", "t")), "fit": (("system", "s"), ("user", "a"))},
        ),
        ({"system": None, "user": {"tone": "t"}}, {"tone": (("user", "t"),)}),
        ({"system": {"tone": "s"}, "user": {"tone": "t", "odd": "u"}}, {"tone": (("system", "s"), ("user", "t"))}),
        (None, {}),
    ],
)
def test_prompts_are_kept_as_they_were_written(given: object, kept: object) -> None:
    assert messages_of(given) == kept
