"""What looks like people's labels and is none, and people's preferences in words of their own language."""

import json
from pathlib import Path

import pandas as pd
import pytest

import judgec
from judgec.errors import UserError
from tests.verbs.cli.process import judgec_here

N = 12


@pytest.mark.parametrize(
    ("question", "answer", "system", "tie"),
    [
        ("Question", "Réponse", "Système", "égalité"),
        ("Pregunta", "Respuesta", "Sistema", "empate"),
        ("Vraag", "Antwoord", "Systeem", "gelijk"),
        ("Frage", "Antwort", "Modell", "unentschieden"),
    ],
)
def test_preferences_are_read_in_the_words_of_their_language(
    tmp_path: Path, question: str, answer: str, system: str, tie: str
) -> None:
    said = ["A", "B", tie]
    rows = [
        {
            question: f"q{n // 2}",
            f"{system} A": "Vega",
            f"{answer} A": f"one says {n}",
            f"{system} B": "Orion",
            f"{answer} B": f"other says {n}",
            "Claire": said[n % 3],
            "Hugo": said[(n + n // 4) % 3],
        }
        for n in range(N)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "pairs.csv", index=False)
    assert "--annotators" in judgec_here(tmp_path, "init", "pairs.csv", "--yes").stderr
    found = json.loads(judgec_here(tmp_path, "labels", "pairs.csv", "--json").stdout)
    assert (found["task"], found["items"], found["annotators"]) == ("preference", N, ["Claire", "Hugo"])
    assert found["histogram"]["Claire"] == {"a": N // 3, "b": N // 3, "tie": N // 3}
    assert "agent_a" in (tmp_path / "judgec.toml").read_text(encoding="utf-8")


def test_a_word_of_preferences_that_nobody_knows_is_asked_for_and_no_order_of_grades(tmp_path: Path) -> None:
    rows = [
        {"Question": f"q{n}", "Answer A": f"a{n}", "Answer B": f"b{n}", "Ann": ["A", "B", "equi"][n % 3]}
        for n in range(N)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "pairs.csv", index=False)
    with pytest.raises(AssertionError, match="--winner-words 'equi=SIDE'"):
        judgec_here(tmp_path, "init", "pairs.csv", "--yes")


def test_what_a_judge_wrote_is_no_label(tmp_path: Path) -> None:
    rows = [{"query": f"q{n}", "answer": f"a{n}", "grade": 1 + n % 5, "judged_by": "graded@1"} for n in range(N)]
    frame = pd.DataFrame(rows)
    with pytest.raises(UserError, match="graded@1"):
        judgec.read_labels(frame)
    theirs = frame.rename(columns={"grade": "judge_grade", "judged_by": "judge_judged_by"})
    assert len(judgec.read_labels(theirs.assign(grade=[1, 2, 3, 4] * 3))) == N
