"""``judgec judge --live``: a model is asked with exactly the recorded prompt, byte for byte."""

import json
from pathlib import Path

import pandas as pd
import pytest

import judgec as judgec_api
from judgec.errors import UserError
from judgec.judges.live import LivePrompt, check_prompt, grade_text
from judgec.judges.reading import UnreadableReplyError
from judgec.records.label import Item
from judgec.records.scale import Scale
from judgec.store.verdicts import messages_of
from tests.cli.process import judgec
from tests.compiler.recorded_world import labels, verdicts
from tests.compiler.small import write
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, Text

SHEET = '[scale]\nname = "relevance"\nlevel = "ordinal"\ngrades = [0, 1, 2, 3]\naccept_at = 2\n'
SYSTEM, USER = "You grade  passages.\t", 'Q: {query}\nP:{document}\n{"like": "this"} é\n'
PROMPTS = {
    "gpt/odd": {"model": "gpt-4o", "prompt": {"system": SYSTEM, "user": USER}},
    "gpt/clear": {"model": "gpt-4o", "prompt": "Clear: {document}"},
    "gpt/plain": {"model": "gpt-4o", "prompt": None},
}
SCALE = Scale(grades=(0, 1, 2, 3))


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
            str(made / "labels.jsonl"),
            lm=f"recorded:{made / 'v.verdicts.parquet'}",
            judges=pattern,
            folds=1,
            objective="qwk",
            name=name,
            home=made,
            progress=False,
        )
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


def test_a_loaded_judge_asks_live_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with FakeOpenAI(graded) as server:
        judge = judgec_api.load_judge("one@latest", home=folder, live=True, lm="openai/fake", api_base=server.base_url)
        one = judge(query="fresh 3", document="doc 3")
        calls = sum("fresh" in json.dumps(body) for body in server.bodies)
    assert (one.unscored, calls) == (None, 1)


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        (("--judge", "bare@latest", "--lm", "openai/fake"), "the prompt of gpt/plain is not known"),
        (("--judge", "one@latest"), "the verdicts of gpt/odd are of gpt-4o; provider/name is valid"),
        (("--judge", "one@latest", "--lm", "openai/fake", "--samples", "3"), "--samples and --live"),
    ],
)
def test_what_cannot_be_asked_is_said_before_any_call(folder: Path, options: tuple[str, ...], seen: str) -> None:
    done = judgec(folder, "judge", "new.jsonl", *options, "--live", "--out", "no.jsonl", code=2)
    assert seen in done.stderr
    assert not (folder / "no.jsonl").exists()


def test_a_prompt_with_a_strange_placeholder_or_for_a_pair_is_refused() -> None:
    strange = LivePrompt(messages={"": (("user", "{question} {document} {}"),)})
    with pytest.raises(UserError, match=r"has \{question\}; items of relevance have \{query\}, \{document\}"):
        check_prompt("x", strange, "relevance", ("grade",))
    with pytest.raises(UserError, match="compares two answers"):
        check_prompt("x", LivePrompt(messages={"": (("user", "{query}"),)}), "preference", ("preference",))
    with pytest.raises(UserError, match="no text for tone"):
        check_prompt("x", LivePrompt(messages={"accuracy": (("user", "{query}"),)}), "answer", ("accuracy", "tone"))


def test_text_of_an_item_is_never_taken_for_a_placeholder() -> None:
    prompt = LivePrompt(messages={"": (("user", "{query}|{contexts}"),)})
    item = Item("i", "q", {"query": "{contexts} {answer}", "answer": "no", "contexts": ("a", "b")})
    assert prompt.filled("grade", item) == [{"role": "user", "content": "{contexts} {answer}|a\n\nb"}]


def test_prompts_are_kept_as_they_were_written() -> None:
    assert messages_of({"system": "s ", "user": "u"}) == {"": (("system", "s "), ("user", "u"))}
    assert messages_of("  one\n") == {"": (("user", "  one\n"),)}
    assert messages_of({"tone": "t", "accuracy": {"user": "a"}}) == {
        "tone": (("user", "t"),),
        "accuracy": (("user", "a"),),
    }
    assert messages_of(None) == {}


@pytest.mark.parametrize(
    ("reply", "stated"),
    [
        ("3", "3"),
        (" **2** \n", "2"),
        ("I think so. [[1]]", "1"),
        ('```json\n{"reason": "2 of 3", "score": 1}\n```', "1"),
        ("Reasons.\nFinal score: 2 out of 3", "2"),
        ("##final score: 3", "3"),
        ("Score (0-3): 2", "2"),
        ("It deserves a score of 1.", "1"),
        ("a clear 2 out of 3, scoring 2", "2"),
        ("2 stars", "2"),
        ("Three stars. It covers the main points.", "3"),
        ("3\n\nIt answers 7 questions.", "3"),
    ],
)
def test_a_grade_is_read_in_the_forms_that_prompts_ask_for(reply: str, stated: str) -> None:
    assert grade_text(reply, SCALE).strip("*") == stated


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "  ",
        "I cannot grade this.",
        "7",
        "Score: 4",
        "[[1]] or [[2]]",
        "Score: 1\nScore: 2",
        "2 out of 5",
        "from 1 to 3",
    ],
)
def test_a_reply_without_one_grade_is_unscored(reply: str) -> None:
    with pytest.raises(UnreadableReplyError):
        grade_text(reply, SCALE)
