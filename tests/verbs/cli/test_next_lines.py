"""What a command says to type next runs as it is printed, and so does what that says next.

One chain is run; that the other lines are commands with their options is held wherever ``judgec()`` runs one.
"""

import csv
import random
import shlex
import subprocess
from pathlib import Path

import pytest

from judgec.connect.tracking import background
from tests.verbs.cli.process import ROOT, assert_following_are_commands, following, judgec

WAITS = ("ui", "review")  # these serve until they are stopped
MOST = 8  # commands of a chain


def chain(folder: Path, *first: str) -> list[str]:
    """Every command that follows from the first, run as it is printed."""
    said = judgec(folder, *first)
    ran: list[str] = []
    due = [*following(said.stderr), *following(said.stdout)]
    while due and len(ran) < MOST:
        command = due.pop(0)
        program, *words = shlex.split(command)
        if command in ran or words[0] in WAITS:
            continue
        assert Path(program).name == "judgec", command
        done = subprocess.run(
            [background.PYTHON, str(ROOT / "cli.py"), *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=800,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        ran.append(command)
        due += [*following(done.stderr), *following(done.stdout)]
    return [shlex.split(command)[1] for command in ran]


@pytest.mark.full
def test_what_follows_init_of_a_sheet_with_a_judge_in_it(tmp_path: Path) -> None:
    """Sixty questions with two answers each, one of them wrong; in the last column a judge that tosses a coin."""
    drawn = random.Random(1)
    path = tmp_path / "ja nein.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["Frage", "Antwort", "Musterantwort", "Eva", "GPT-4"])
        for i in range(60):
            for twice in (1, 2):
                right = drawn.random() < 0.5
                words = (
                    f"How long is sensor {i} of series {i % 9}?",
                    f"Sensor {i} is {3 * i + 7 * (not right)} mm long{'.' * twice}",
                )
                given = "ja" if right != (drawn.random() < 0.1) else "nein"
                rows.writerow([*words, f"Sensor {i} is {3 * i} mm long.", given, drawn.choice(["ja", "nein"])])
    maps = ("--map", "Frage=query", "--map", "Antwort=answer", "--map", "Musterantwort=reference")
    ran = chain(
        tmp_path, "init", path.name, *maps, "--annotators", "Eva", "--judges", "GPT-4", "--grades", "nein,ja", "--yes"
    )
    assert ran[:2] == ["agreement", "compile-judge"]
    assert "judge" in ran


@pytest.mark.parametrize("line", ["judgec agreement a.csv --no-such-option", "judgec nothing-of-the-kind"])
def test_next_line_that_is_no_command_is_found(line: str) -> None:
    assert_following_are_commands("Next: judgec agreement a.csv\n      cd elsewhere")
    with pytest.raises(Exception, match=r"no-such-option|nothing-of-the-kind"):
        assert_following_are_commands(f"Next: {line}")
