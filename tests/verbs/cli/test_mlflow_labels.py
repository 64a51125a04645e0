"""``compile-judge mlflow:EXPERIMENT --assessment NAME`` as a real process on a real MLflow store."""

import json
from pathlib import Path

import pytest

from judgec.connect.tracking.store import TrackingStore
from judgec.connect.tracking.traces import Feedback
from judgec.errors import InputError, UserError
from judgec.verbs.source import LabelSource, read_source
from tests.connect.tracking.feedback import ASSESSMENT, EXPERIMENT, environment, write_feedback
from tests.verbs.cli.process import judgec

N = 60


def run(home: Path, *arguments: str, code: int = 0) -> tuple[str, str]:
    done = judgec(home, *arguments, "--home", home, code=code)
    return done.stdout, done.stderr


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # MLflow's imports warn; they are not ours to mend
def test_compile_judge_from_traces_keeps_all_raters_and_can_be_compared_again(tmp_path: Path) -> None:
    (tmp_path / "mlruns").mkdir()
    with environment():
        write_feedback(tmp_path / "mlruns", N)
    source = [f"mlflow:{EXPERIMENT}", "--assessment", ASSESSMENT]
    stdout, stderr = run(tmp_path, "compile-judge", *source, "--name", "bot", "--json")
    assert stderr == ""
    report = json.loads(stdout)
    assert sum(report["split"].values()) == N
    assert report["test"]["ceiling"]["n"] > 0  # two raters graded some of them
    assert report["mlflow_run_id"]
    again = json.loads(run(tmp_path, "compare", "bot@1", "bot@latest", "--json")[0])
    assert again["test"]["a"]["n"] == report["split"]["test"]
    assert again["differ"] == 0


WORDS = ("bad", "poor", "fair", "good", "great")
STORE = TrackingStore("sqlite:///none.db", None)


@pytest.fixture
def in_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> LabelSource:
    """Feedback of three raters in words, as MLflow's traces give it."""
    feedback: tuple[dict[str, object], ...] = tuple(
        {
            "item_id": f"t{number}",
            "query": f"q{number}",
            "answer": "a",
            "annotator": rater,
            "label": WORDS[min((number + slip) % 5, 4)],
        }
        for number in range(10)
        for slip, rater in enumerate(("alice", "bob", "carol"))
    )
    monkeypatch.setattr("judgec.verbs.source.read_feedback", lambda *_: Feedback(feedback, ()))
    monkeypatch.chdir(tmp_path)
    return LabelSource(path="mlflow:bot", assessment="tone")


def test_feedback_in_words_without_a_datasheet_says_where_it_belongs(in_words: LabelSource) -> None:
    with pytest.raises(InputError) as refused:
        read_source(in_words, STORE, {})
    assert "worst first" in refused.value.faults[0]
    assert "tone.datasheet.toml in the current folder" in refused.value.faults[-1]


def test_feedback_in_words_takes_its_order_from_the_datasheet_of_the_assessment(
    in_words: LabelSource, tmp_path: Path
) -> None:
    (tmp_path / "datasheet.toml").write_text("[scale]\ngrades = [1, 2]\n")  # of other labels in this folder
    (tmp_path / "tone.datasheet.toml").write_text(f'[scale]\ngrades = {list(WORDS)}\naccept_at = "good"\n')
    labels = read_source(in_words, STORE, {})
    assert labels.scale.grades == WORDS
    assert [label.grades["grade"] for label in labels.labels[:3]] == [0, 1, 2]  # bad, poor, fair
    assert {label.annotator for label in labels.labels} == {"alice", "bob", "carol"}


def test_feedback_in_yes_and_no_with_a_datasheet_is_graded_on_its_scale(
    in_words: LabelSource, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said: tuple[dict[str, object], ...] = tuple(
        {"item_id": f"t{n}", "query": f"q{n}", "answer": "a", "annotator": "alice", "label": ("no", "yes")[n % 2]}
        for n in range(6)
    )
    monkeypatch.setattr("judgec.verbs.source.read_feedback", lambda *_: Feedback(said, ()))
    (tmp_path / "tone.datasheet.toml").write_text('[scale]\ngrades = ["no", "yes"]\n')
    labels = read_source(in_words, STORE, {})
    assert (labels.scale.grades, labels.accept_only) == (("no", "yes"), False)


@pytest.mark.parametrize(
    ("path", "assessment", "seen"),
    [("mlflow:bot", None, "Add --assessment NAME"), ("labels.csv", "quality", "is for mlflow:EXPERIMENT")],
)
def test_read_source_where_path_and_assessment_do_not_belong_together_says_so(
    path: str, assessment: str | None, seen: str
) -> None:
    with pytest.raises(UserError, match=seen):
        read_source(LabelSource(path=path, assessment=assessment), TrackingStore("sqlite:///none.db", None), {})
