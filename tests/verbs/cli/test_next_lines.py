"""What a command says to type next runs as it is printed, and so does what that says next."""

import csv
import random
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from judgec.connect.tracking import background
from tests.verbs.cli.process import ROOT, judgec

WAITS = ("ui", "review")  # these serve until they are stopped
MOST = 8  # commands of a chain


def sheet(folder: Path, name: str, heads: list[str], yes: str, no: str) -> Path:
    """Sixty questions with two answers each, one of them wrong; in the last column a judge that tosses a coin."""
    drawn = random.Random(1)
    path = folder / name
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(heads)
        for i in range(60):
            for twice in (1, 2):
                right = drawn.random() < 0.5
                words = (
                    f"How long is sensor {i} of series {i % 9}?",
                    f"Sensor {i} is {3 * i + 7 * (not right)} mm long{'.' * twice}",
                )
                given = yes if right != (drawn.random() < 0.1) else no
                rows.writerow([*words, f"Sensor {i} is {3 * i} mm long.", given, drawn.choice([yes, no])][: len(heads)])
    return path


def following(said: str) -> Iterator[str]:
    """The commands behind ``Next:``, one a line."""
    inside = False
    for line in said.splitlines():
        inside = line.startswith("Next: ") or (inside and line.startswith("      "))
        if inside:
            yield line.removeprefix("Next: ").strip()


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
    file = sheet(tmp_path, "ja nein.csv", ["Frage", "Antwort", "Musterantwort", "Eva", "GPT-4"], "ja", "nein")
    ran = chain(tmp_path, "init", file.name, "--yes")
    assert ran[:2] == ["agreement", "compile-judge"]
    assert "judge" in ran


@pytest.mark.full
def test_judge_of_one_aspect_is_measured_against_that_aspect_and_what_follows_runs(tmp_path: Path) -> None:
    drawn = random.Random(2)
    with (tmp_path / "two.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["query", "answer", "Relevance", "Fluency", "llm_fluency", "gpt_toxicity"])
        for i in range(60):
            relevance, fluency, toxicity = (drawn.randint(1, 5) for _ in range(3))
            rows.writerow([f"q{i}?", f"answer {i} text", relevance, fluency, fluency, toxicity])
    said = judgec(tmp_path, "init", "two.csv", "--yes").stderr
    assert "llm_fluency and Fluency accept or reject alike on 100 %" in " ".join(said.split())
    assert "judge in column gpt_toxicity" not in said  # nothing says which of the two it is of
    (tmp_path / "judgec.toml").unlink()
    assert chain(tmp_path, "init", "two.csv", "--yes")[:2] == ["agreement", "compile-judge"]


@pytest.mark.full
def test_what_follows_labels_of_a_sheet_with_heads_of_its_own(tmp_path: Path) -> None:
    file = sheet(tmp_path, "mine.csv", ["Q text", "Bot said", "Gold", "Stars"], "5", "2")
    maps = [
        word for one in ("Q text=query", "Bot said=answer", "Gold=reference", "Stars=grade") for word in ("--map", one)
    ]
    assert chain(tmp_path, "labels", file.name, *maps) == ["compile-judge", "judge", "agreement"]


@pytest.mark.full
def test_what_follows_a_judge_that_was_not_promoted(tmp_path: Path) -> None:
    file = sheet(tmp_path, "plain.csv", ["query", "answer", "reference", "grade", "GPT-4"], "5", "2")
    rows = file.read_text(encoding="utf-8").splitlines()
    few = tmp_path / "few.csv"
    few.write_text("\n".join(rows[:31]) + "\n", encoding="utf-8")
    ran = chain(tmp_path, "compile-judge", few.name, "--verdicts", "GPT-4", "--no-evidence", "--name", "few")
    assert ran[0] == "judge"


@pytest.mark.full
@pytest.mark.parametrize(
    ("heads", "typed", "verdicts"),
    [
        (["Question", "Answer", "Rater", "Score"], ["--judge", "GPT-4"], "--verdicts GPT-4"),
        (["Question", "Answer", "Rater", "Score"], ["--judge", "GPT-4", "--reversed"], "--verdicts 'GPT-4#range=5..1'"),
        (["Question", "Answer", "Mia", "Noah", "KI-Wert"], [], "--verdicts 'KI-Wert#range=0..1'"),
        (["Question", "Answer", "Mia", "Noah", "KI-Wert"], ["--annotators", "Mia"], "--annotators Mia"),
    ],
)
def test_what_follows_agreement_compiles_the_judge_that_was_measured(
    tmp_path: Path, heads: list[str], typed: list[str], verdicts: str
) -> None:
    drawn = random.Random(4)
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(heads)
        for i in range(60):
            texts, grade = [f"How long is sensor {i}?", f"Sensor {i} is {3 * i} mm long."], drawn.randint(1, 5)
            given = {who: min(5, max(1, grade + drawn.choice([0, 0, 1]))) for who in ("Mia", "Noah", "GPT-4")}
            if "Rater" in heads:
                rows.writerows([*texts, who, one] for who, one in given.items())
            else:
                rows.writerow([*texts, given["Mia"], given["Noah"], round(given["GPT-4"] / 5, 2)])
    judgec(tmp_path, "init", "t.csv", "--yes")
    (following_line,) = following(judgec(tmp_path, "agreement", "t.csv", *typed).stderr)
    assert verdicts in following_line
    assert chain(tmp_path, "agreement", "t.csv", *typed)[0] == "compile-judge"
    if not typed:
        assert verdicts in next(following(judgec(tmp_path, "labels").stderr))
        (tmp_path / "new.csv").write_text("Question,Answer\nHow long is sensor 99?,It is long.\n")
        refused = judgec(tmp_path, "judge", "new.csv", code=2).stderr
        assert "compiled from the verdicts in KI-Wert, and judges items that have them" in refused
