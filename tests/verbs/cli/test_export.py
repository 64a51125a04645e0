"""Runs ``judgec export`` as a user does."""

import json
from pathlib import Path

import pytest

from judgec.raters import programs
from judgec.raters.export.prompt import bare_prompts
from judgec.raters.judge import load_judge
from tests.verbs.cli.judging import save_judge
from tests.verbs.cli.process import Shared, judgec, judgec_here


def test_prompt_of_a_compiled_judge_with_what_it_scored(shared: Shared, tmp_path: Path) -> None:
    out = tmp_path / "prompt.json"
    done = judgec(shared.folder, "export", "world@1", "--to", "prompt", "--out", out, "--home", shared.home, "--json")
    report, written = json.loads(done.stdout), json.loads(out.read_text(encoding="utf-8"))
    objective = shared.report["objective"]
    assert report["objective"] == objective
    assert report["test"]["compiled"] == shared.report["test"]["compiled"][objective]
    assert report["test"]["compiled_prompt"] == shared.report["test"]["compiled_prompt"][objective]
    assert written["test"] == report["test"]
    program = programs.load(shared.home, "world@1")
    (prompt,) = bare_prompts(load_judge(program), "world@1")
    assert written["messages"] == [dict(turn) for turn in prompt.messages]
    assert any(one.startswith("calibration") for one in report["lost"])


def test_text_has_every_turn_and_the_screen_says_what_is_lost(tmp_path: Path) -> None:
    save_judge(tmp_path, instructions="Grade é strictly.")
    done = judgec_here(tmp_path, "export", "mine", "--to", "prompt", "--out", "prompt.txt")
    text = (tmp_path / "prompt.txt").read_text(encoding="utf-8")
    assert text.startswith("=== system ===\n")
    assert "Grade é strictly." in text
    assert "{{answer}}" in text
    assert "decision rule" in done.stderr
    assert "written: prompt.txt" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("mine", "--to", "prompt", "--out", "there.json"), "is there; a new path is valid"),
        (("mine", "--to", "prompt", "--out", "no/where.json"), "no such folder"),
        (("mine", "--to", "tablet", "--out", "new"), "prompt, promptfoo, python are valid"),
        (("yours", "--to", "prompt", "--out", "new"), "there is no judge 'yours'"),
    ],
)
def test_what_cannot_be_written_is_said_and_nothing_is(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    save_judge(tmp_path)
    (tmp_path / "there.json").write_text("mine")
    with pytest.raises(AssertionError, match=said):
        judgec_here(tmp_path, "export", *arguments)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".judgec", "programs", "there.json"]
    assert (tmp_path / "there.json").read_text() == "mine"
