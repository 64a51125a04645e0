"""Conversations from the file to the judgment: ``labels``, ``compile-judge``, ``judge``, Python."""

import json
import random
from pathlib import Path

import pytest

import judgec
from judgec.errors import UserError
from judgec.records.conversation import TurnChoice
from tests.service.fake_openai import FakeOpenAI
from tests.verbs.cli.process import judgec as run
from tests.verbs.cli.process import judgec_here

COLOURS = ("red", "blue", "green", "black")


def dialogues(count: int) -> list[dict[str, object]]:
    """Whether the assistant remembers the colour: the last answer alone does not tell."""
    rows: list[dict[str, object]] = []
    for number in range(count):
        colour, said = COLOURS[number % 4], COLOURS[(number // 4 * 3 + number) % 4]
        turns = [
            {"role": "user", "content": f"Order {number}: a {colour} chair, please."},
            {"role": "assistant", "content": f"A {colour} chair is ordered."},
            {"role": "user", "content": "Which colour did I choose?"},
            {"role": "assistant", "content": f"You chose {said}."},
        ]
        rows.append({"item_id": f"d{number}", "messages": turns, "grade": 5 if said == colour else 1})
    return rows


def write(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_conversations_without_a_model_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "chats.jsonl", dialogues(80))
    cases: tuple[tuple[TurnChoice, str], ...] = (("last", "conversation"), ("whole", "dialogue"))
    for turn, unread in cases:
        with pytest.raises(UserError, match=rf"no rule reads {unread}; .*--lm\.$"):
            judgec.compile_judge(tmp_path / "chats.jsonl", name="chats", turn=turn, home=tmp_path)


@pytest.mark.full
def test_judge_of_conversations_says_the_same_on_every_way(tmp_path: Path) -> None:
    write(tmp_path / "chats.jsonl", dialogues(80))
    with FakeOpenAI("good") as server:
        asked, key = ("--api-base", server.base_url), "none"
        command = ["compile-judge", "chats.jsonl", "--name", "chats", "--lm", "openai/fake", "--optimizer", "labeled"]
        report = json.loads(
            run(tmp_path, *command, *asked, "--turn", "whole", "--json", code=None, OPENAI_API_KEY=key).stdout
        )
        assert report["task"] == "grade"
        new = [{name: row[name] for name in ("item_id", "messages")} for row in dialogues(100)[80:]]
        write(tmp_path / "new.jsonl", new)
        run(tmp_path, "judge", "new.jsonl", "--judge", "chats@1", "--out", "judged.jsonl", *asked, OPENAI_API_KEY=key)
        scores = [json.loads(line)["score"] for line in (tmp_path / "judged.jsonl").read_text().splitlines()]
        assert len(scores) == 20
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OPENAI_API_KEY", "none")
            judge = judgec.load_judge("chats@1", home=tmp_path, api_base=server.base_url)
            assert list(judge(new)["score"]) == scores
        each = ("--turn", "each", "--out", "turns.jsonl")
        run(tmp_path, "judge", "new.jsonl", "--judge", "chats@1", *each, *asked, OPENAI_API_KEY=key)
    rows = [json.loads(line) for line in (tmp_path / "turns.jsonl").read_text().splitlines()]
    assert [row["item_id"] for row in rows[:3]] == ["d80#1", "d80#2", "d81#1"]


def test_sheet_for_experts_holds_the_last_answer_and_the_turns_before_it(tmp_path: Path) -> None:
    write(tmp_path / "chats.jsonl", dialogues(3))
    judgec_here(tmp_path, "labels", "export", "chats.jsonl", "sheet.csv")
    text = (tmp_path / "sheet.csv").read_text(encoding="utf-8-sig")
    assert "user: Order 0: a red chair, please." in text
    assert "You chose red." in text
    done = run(tmp_path, "labels", "export", "chats.jsonl", "whole.csv", "--turn", "whole", code=2)
    assert "--turn whole; experts are shown the last answer" in done.stderr


@pytest.mark.full
def test_rate_of_whole_dialogues_is_corrected_without_saying_turn_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    write(tmp_path / "chats.jsonl", dialogues(80))
    asked = {"name": "chats", "lm": "openai/fake", "optimizer": "labeled", "turn": "whole", "accept_at": "3"}
    new = dialogues(240)[80:]
    items = [{name: row[name] for name in ("item_id", "messages")} for row in new]
    kept = random.Random(0).sample(new, 80)
    with FakeOpenAI("good") as server:
        base = server.base_url
        judgec.compile_judge(tmp_path / "chats.jsonl", home=tmp_path, api_base=base, **asked)  # type: ignore[arg-type]  # as there
        by_default = judgec.estimate(items, judge="chats@1", labels=kept, home=tmp_path, api_base=base)
        said = judgec.estimate(items, judge="chats@1", labels=kept, home=tmp_path, api_base=base, turn="whole")
    assert by_default.aspects == said.aspects
    assert said.labelled == 80  # each label belongs to the dialogue that was judged
    assert said.aspects["grade"].n == 160
