"""Conversations from the file to the judgment: ``labels``, ``compile-judge``, ``judge``, Python, an export."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

import judgec
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


def test_bad_turn_is_an_error_with_its_line_in_every_command(tmp_path: Path) -> None:
    rows = dialogues(3)
    rows[1]["messages"] = [{"role": "bot", "content": "hi"}]
    write(tmp_path / "chats.jsonl", rows)
    done = run(tmp_path, "labels", "chats.jsonl", code=2)
    assert done.stderr.strip().endswith(
        "chats.jsonl:2: messages, turn 1: role 'bot'; valid are system, developer, user, assistant, tool, function. "
        "Rename the roles."
    )


@pytest.mark.full
def test_judge_of_conversations_says_the_same_on_every_way(tmp_path: Path) -> None:
    write(tmp_path / "chats.jsonl", dialogues(80))
    command = ["compile-judge", "chats.jsonl", "--name", "chats", "--lm", "embedded", "--json"]
    report = json.loads(run(tmp_path, *command, "--turn", "whole").stdout)
    assert report["task"] == "grade"
    new = [{name: row[name] for name in ("item_id", "messages")} for row in dialogues(100)[80:]]
    write(tmp_path / "new.jsonl", new)
    judgec_here(tmp_path, "judge", "new.jsonl", "--judge", "chats@1", "--out", "judged.jsonl")
    scores = [json.loads(line)["score"] for line in (tmp_path / "judged.jsonl").read_text().splitlines()]
    assert len(scores) == 20
    judge = judgec.load_judge("chats@1", home=tmp_path)
    assert list(judge(new)["score"]) == scores
    judgec_here(tmp_path, "export", "chats@1", "--to", "python", "--out", "alone")
    code = (
        "import json, sys; sys.path.insert(0, 'alone'); from judge import grade; "
        "print(json.dumps([grade(json.loads(line))['score'] for line in open('new.jsonl')]))"
    )
    alone = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(alone.stdout) == scores
    judgec_here(tmp_path, "judge", "new.jsonl", "--judge", "chats@1", "--turn", "each", "--out", "turns.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "turns.jsonl").read_text().splitlines()]
    assert [row["item_id"] for row in rows[:3]] == ["d80#1", "d80#2", "d81#1"]


def test_sheet_for_experts_holds_the_last_answer_and_the_turns_before_it(tmp_path: Path) -> None:
    write(tmp_path / "chats.jsonl", dialogues(3))
    judgec_here(tmp_path, "labels", "chats.jsonl", "--export", "sheet.csv")
    text = (tmp_path / "sheet.csv").read_text(encoding="utf-8-sig")
    assert "user: Order 0: a red chair, please." in text
    assert "You chose red." in text
    done = run(tmp_path, "labels", "chats.jsonl", "--export", "whole.csv", "--turn", "whole", code=2)
    assert "--turn whole; experts are shown the last answer" in done.stderr


@pytest.mark.full
def test_rate_of_whole_dialogues_is_corrected_without_saying_turn_again(tmp_path: Path) -> None:
    write(tmp_path / "chats.jsonl", dialogues(80))
    asked = ("--name", "chats", "--turn", "whole", "--accept-at", "3")
    judgec_here(tmp_path, "compile-judge", "chats.jsonl", *asked)
    new = dialogues(240)[80:]
    items = [{name: row[name] for name in ("item_id", "messages")} for row in new]
    kept = random.Random(0).sample(new, 80)
    by_default = judgec.estimate(items, judge="chats@1", labels=kept, home=tmp_path)
    said = judgec.estimate(items, judge="chats@1", labels=kept, home=tmp_path, turn="whole")
    assert by_default.aspects == said.aspects
    assert said.labelled == 80  # each label belongs to the dialogue that was judged
    assert said.aspects["grade"].n == 160
    write(tmp_path / "items.jsonl", items)
    write(tmp_path / "kept.jsonl", kept)
    rating = ("--estimate", "accept_rate", "--labels", "kept.jsonl", "--turn", "whole", "--json")
    of_file = json.loads(run(tmp_path, "judge", "items.jsonl", "--judge", "chats@1", *rating).stdout)
    assert of_file["estimate"]["corrected"]["value"] == pytest.approx(said.value)
