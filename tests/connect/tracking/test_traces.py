"""Human feedback on traces becomes rows of a label feedback; a real SQLite store, written by MLflow."""

import os
from collections.abc import Iterator

import pytest

from judgec.connect.feedback import feedback_table
from judgec.connect.tracking.store import TrackingStore
from judgec.connect.tracking.traces import as_one_text, feedback_of, fetch, read_feedback
from judgec.errors import InputError
from judgec.labels.labels import label_file
from judgec.labels.reading import Datasheet, as_reading
from tests.connect.tracking.feedback import ASSESSMENT, EXPERIMENT, environment, write_feedback

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's imports warn; they are not ours to mend
N = 6


Kept = tuple[TrackingStore, list[dict[str, object]]]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    """The store and the rows that were written into it."""
    with environment():
        uri, world = write_feedback(tmp_path_factory.mktemp("traces"), N)
        import mlflow
        from mlflow.entities import AssessmentSource

        with mlflow.start_span("without feedback") as span:
            span.set_inputs("a question")
        with mlflow.start_span("corrected") as span:
            span.set_inputs({"question": "Which?", "tone": "kind"})
            span.set_outputs({"answer": "This one."})
        trace_id = span.trace_id
        carol, machine = AssessmentSource("HUMAN", "carol"), AssessmentSource("LLM_JUDGE", "gpt")
        first = mlflow.log_feedback(trace_id=trace_id, name=ASSESSMENT, value=1, source=carol)
        mlflow.override_feedback(trace_id=trace_id, assessment_id=first.assessment_id, value=4, source=carol)
        mlflow.log_feedback(trace_id=trace_id, name=ASSESSMENT, value=2, source=machine)
        mlflow.log_feedback(trace_id=trace_id, name="helpful", value=True, source=carol)
        mlflow.log_feedback(trace_id=trace_id, name="helpful", value="no", source=AssessmentSource("HUMAN", "dan"))
        mlflow.log_expectation(trace_id=trace_id, name="expected", value="That one.", source=carol)
        yield TrackingStore(uri, None), world


def test_read_feedback_keeps_every_rater_and_what_the_trace_shows(kept: Kept) -> None:
    feedback = read_feedback(kept[0], EXPERIMENT, " Quality ", os.environ)
    world = {(row["query"], row["answer"]): row for row in kept[1]}
    rows = [row for row in feedback.rows if (row["query"], row["answer"]) in world]
    assert len(rows) == N + 2  # bob graded two of the six
    for row in rows:
        made = world[row["query"], row["answer"]]
        own, grade = row["annotator"] == "alice", made["grade"]
        assert isinstance(grade, int)
        assert row["label"] == (grade if own else min(grade + 1, 5))
        assert (row["rationale"], row["contexts"]) == (f"{row['annotator']} says so", made["contexts"])
    (note,) = feedback.notes
    assert note.startswith("1 trace without")


def test_fetch_counts_a_correction_once_and_no_machine(kept: Kept) -> None:
    rows = fetch(kept[0], EXPERIMENT, ASSESSMENT).rows
    (row,) = [row for row in rows if row["annotator"] not in {"alice", "bob"}]
    assert (row["annotator"], row["label"]) == ("carol", 4)
    assert row["query"] == '{"question": "Which?", "tone": "kind"}'
    assert (row["answer"], row["reference"]) == ("This one.", "That one.")
    labels = label_file(feedback_table(rows, "traces"), Datasheet(), as_reading(task="grade", annotators=["*"])).labels
    assert (len(labels.items), labels.scale.accept_at) == (N + 1, 4)
    assert {label.annotator for label in labels.labels} == {"alice", "bob", "carol"}


def test_fetch_of_yes_and_no_is_accept(kept: Kept) -> None:
    feedback = fetch(kept[0], EXPERIMENT, "helpful")
    assert [(row["annotator"], row["label"]) for row in feedback.rows] == [("carol", True), ("dan", "no")]
    reading = as_reading(task="grade", annotators=["*"])
    assert label_file(feedback_table(feedback.rows, "traces"), Datasheet(), reading).labels.accept_only


def test_feedback_that_is_not_there_names_what_there_is(kept: Kept) -> None:
    with pytest.raises(InputError, match=r"'tone'; there is helpful, quality\. .* --assessment"):
        fetch(kept[0], EXPERIMENT, "tone")
    with pytest.raises(InputError, match=rf"mlflow:nowhere: .* Default, {EXPERIMENT}"):
        read_feedback(kept[0], "nowhere", ASSESSMENT, os.environ)
    with pytest.raises(InputError, match="none at all"):
        feedback_of([], "quality", "here")


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", "a"), ({"q": "a"}, "a"), ({"q": ["a"]}, '["a"]'), ({"b": 1, "a": "é"}, '{"a": "é", "b": 1}'), (None, "")],
)
def test_as_one_text_unwraps_single_texts(value: object, text: str) -> None:
    assert as_one_text(value) == text
