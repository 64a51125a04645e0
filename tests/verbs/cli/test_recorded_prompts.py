"""A judge of recorded verdicts whose prompt is known: items without a verdict are asked, byte for byte."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import judgec as judgec_api
from judgec.errors import UserError
from judgec.raters import programs
from judgec.raters.about_judges import messages_of
from judgec.raters.judge import load_judge as load_compiled
from judgec.raters.turns import filled, unfit
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
    made = tmp_path_factory.mktemp("prompts")
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
        options = ("--judge", "one@latest", "--lm", "openai/fake", "--api-base", server.base_url, "--json")
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
    write(made / "new.jsonl", [{**row, "item_id": f"n{n}", "query_id": f"n{n}"} for n, row in enumerate(fresh)])
    return made


def test_a_pair_is_asked_in_both_orders_with_the_recorded_prompt(pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with FakeOpenAI(prefers) as server:
        done = judgec_api.judge_file(
            pairs / "new.jsonl", judge="pairs@latest", api_base=server.base_url, home=pairs,
            out=pairs / "out.jsonl", progress=False,
        )  # fmt: skip
        judge = judgec_api.load_judge("pairs@latest", home=pairs, api_base=server.base_url)
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
            cascade / "new.jsonl", judge="world@latest", lm="cheap-model=openai/small,dear=openai/big",
            api_base=server.base_url, home=cascade, out=cascade / name, progress=False, budget=budget,
        ).report  # fmt: skip

    with FakeOpenAI(half_sure) as server:
        done = judged("out.jsonl")
        asked = models_of(server)
        assert judged("again.jsonl", budget=1)["lm_calls"] == 0
        judge = judgec_api.load_judge(
            "world@latest", home=cascade, lm="cheap=openai/small,dear=openai/big", api_base=server.base_url
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
        (None, "verdicts: no such file"),  # nobody said that a model is to be paid in place of it
        ("dear=openai/b", "no verdict of cheap, and its verdicts were of cheap-model; provider/name is valid"),
        ("chaep=openai/a,dear=openai/b", "chaep is neither a judge nor a model of these verdicts; cheap, cheap-model"),
    ],
)
def test_whom_a_cascade_asks_must_be_known(cascade: Path, lm: str | None, seen: str) -> None:
    with pytest.raises(UserError) as fault:
        judgec_api.judge_file(
            cascade / "new.jsonl", judge="world@latest", lm=lm, home=cascade, out=cascade / "no.jsonl", progress=False
        )
    assert seen in str(fault.value)
    assert not (cascade / "no.jsonl").exists()


def test_a_model_without_provider_is_one_line_that_names_the_option(folder: Path) -> None:
    done = judgec(folder, "judge", "new.jsonl", "--judge", "one@latest", "--out", "no.jsonl", code=2)
    (line,) = [one for one in done.stderr.splitlines() if one.startswith("error:")]
    assert "gpt/odd" in line
    assert "gpt-4o; provider/name is valid" in line
    assert "--lm" in line
    assert not (folder / "no.jsonl").exists()


@pytest.mark.parametrize("lm", ["gpt-4o", "embedded", "python:os:getcwd", "gpt/odd="])
def test_what_is_no_model_is_never_asked_a_prompt(folder: Path, lm: str) -> None:
    options = {"judge": "one@latest", "home": folder, "out": folder / "no.jsonl"}
    with pytest.raises(UserError, match="no model that prompts are put to; provider/name is valid"):
        judgec_api.judge_file(folder / "new.jsonl", lm=lm, **options)  # type: ignore[arg-type]  # each as its parameter


def test_a_file_of_verdicts_of_somebody_else_makes_nobody_pay_for_the_prompt(folder: Path) -> None:
    write(folder / "typo.jsonl", [{"item_id": f"n{n}", "judge": "gpt-odd", "grade": 3} for n in range(4)])
    with FakeOpenAI(graded) as server:
        options = {"judge": "one@latest", "home": folder, "out": folder / "no.jsonl", "api_base": server.base_url}
        with pytest.raises(UserError, match=r"typo\.jsonl: no verdicts of judge gpt/odd; it has gpt-odd"):
            judgec_api.judge_file(folder / "new.jsonl", lm=f"recorded:{folder / 'typo.jsonl'}", **options)  # type: ignore[arg-type]
        assert server.calls == 0


def test_rows_that_do_not_fit_the_budget_say_so_and_the_others_are_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    rows = [{"query": f"fresh row {n}", "document": f"doc {n}"} for n in range(6)]
    with FakeOpenAI(graded) as server:
        judge = judgec_api.load_judge("one@latest", lm="openai/fake", home=folder, api_base=server.base_url)
        found = judge(pd.DataFrame(rows), budget=3, progress=False)
        assert sum("fresh" in json.dumps(body) for body in server.bodies) == found["unscored"].isna().sum() > 0
    assert {str(one) for one in found["unscored"].dropna()} == {"service error: --budget: 3 calls made"}


def test_recorded_verdicts_without_a_prompt_are_looked_up_alone(folder: Path) -> None:
    (leaf,) = load_compiled(programs.load(folder, "bare@latest")).leaves
    assert leaf.kind == "recorded"
    (known,) = load_compiled(programs.load(folder, "one@latest")).leaves
    assert known.kind == "prompt"
    with pytest.raises(UserError, match="the judge was compiled for recorded"):
        judgec_api.judge_file(
            folder / "new.jsonl", judge="bare@latest", lm="openai/fake", home=folder, out=folder / "no.jsonl"
        )


def test_items_with_a_verdict_ask_nobody_and_only_the_others_are_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    fresh = [{"item_id": f"m{n}", "query": f"fresh {n}", "document": f"text {n}"} for n in range(4)]

    def judged(said: list[dict[str, object]]) -> list[object]:
        judge = judgec_api.load_judge(
            "one@latest", home=folder, lm="openai/fake", api_base=server.base_url, verdicts=said
        )
        return judge(pd.DataFrame(fresh), progress=False)["grade"].tolist()

    every = [{"item_id": f"m{n}", "judge": "gpt/odd", "grade": 3 - n / 2} for n in range(4)]
    with FakeOpenAI(graded) as server:
        assert judged(every) == [3, 2, 1, 0]
        assert server.calls == 0
        assert judged(every[:2]) == [3, 2, 2, 3]
        texts = [str(body["messages"][-1]["content"]) for body in server.bodies]  # type: ignore[index]  # JSON
        assert [f"fresh {n}" in text for n, text in zip((2, 3), sorted(texts), strict=True)] == [True, True]


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge that reads a column of what is judged, and items with all, some and none of its verdicts."""
    made = tmp_path_factory.mktemp("columns")
    write(made / "labels.jsonl", [{**row, "odd": row["grade"]} for row in labels()])
    (made / "labels.datasheet.toml").write_text(SHEET)
    asked = {"model": "openai/fake", "prompt": {"system": SYSTEM, "user": USER}}
    (made / "labels.judges.json").write_text(json.dumps({"odd": asked}))
    judgec_api.compile_judge(
        made / "labels.jsonl", judges="odd", evidence=False, folds=1, objective="qwk", name="columns",
        home=made, progress=False,
    )  # fmt: skip
    fresh = [{"item_id": f"n{n}", "query": f"fresh {n}", "document": f"doc {n}", "odd": 3 - n} for n in range(4)]
    write(made / "all.jsonl", fresh)
    write(made / "some.jsonl", [row | ({} if n % 2 else {"odd": None}) for n, row in enumerate(fresh)])
    write(made / "none.jsonl", [{name: row[name] for name in row if name != "odd"} for row in fresh])
    return made


def test_an_estimate_reads_the_columns_of_items_and_labels_and_asks_nobody(columns: Path) -> None:
    with FakeOpenAI(graded) as server:
        options = {"judge": "columns@latest", "home": columns, "api_base": server.base_url, "progress": False}
        rate = judgec_api.estimate(columns / "all.jsonl", labels=columns / "labels.jsonl", **options)  # type: ignore[arg-type]
        assert (server.calls, rate.raw.n) == (0, 4)


def test_a_column_of_the_judged_file_stands_for_the_model_where_it_has_a_verdict(columns: Path) -> None:
    with FakeOpenAI(graded) as server:
        found = {}
        for name in ("all", "some", "none"):
            options = ("--judge", "columns@latest", "--api-base", server.base_url, "--json")
            done = judgec(columns, "judge", f"{name}.jsonl", *options, "--out", f"{name}.out.jsonl", OPENAI_API_KEY="k")
            lines = [json.loads(line) for line in (columns / f"{name}.out.jsonl").read_text().splitlines()]
            sent = {str(body["messages"][-1]["content"]) for body in server.bodies if "fresh" in json.dumps(body)}  # type: ignore[index]  # JSON
            found[name] = json.loads(done.stdout)["lm_calls"], [row["unscored"] for row in lines], sent
    every = {f'Q: fresh {n}\nP:doc {n}\n{{"like": "this"}} é\n' for n in range(4)}
    assert found["all"] == (0, [None] * 4, set())
    assert found["some"] == (2 + 1, [None] * 4, {text for text in every if "fresh 0" in text or "fresh 2" in text})
    assert found["none"] == (2, [None] * 4, every)  # the others are in the journal


@pytest.mark.parametrize(
    ("turns", "task", "aspects", "why"),
    [
        ({"": (("user", "{question} {document} {}"),)}, "relevance", ("grade",), "{question}, and items of relevance"),
        ({"": (("user", "{query} {answer_a}"),)}, "preference", ("preference",), "{answer_a} and {answer_b}"),
        ({"accuracy": (("user", "{query}"),)}, "answer", ("accuracy", "tone"), "no text for tone"),
        ({"": (("user", "{query} {document}"),)}, "relevance", ("grade",), ""),
    ],
)
def test_a_prompt_that_cannot_be_put_to_items_stays_recorded(
    turns: Any, task: str, aspects: tuple[str, ...], why: str
) -> None:
    found = unfit(turns, task, aspects)
    assert why in found
    assert bool(found) == bool(why)


def test_text_of_an_item_is_never_taken_for_a_placeholder() -> None:
    turns = {"": (("user", "{query}|{contexts}"),)}
    item = Item("i", "q", {"query": "{contexts} {answer}", "answer": "no", "contexts": ("a", "b")})
    assert filled(turns, "grade", item) == [{"role": "user", "content": "{contexts} {answer}|a\n\nb"}]


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
