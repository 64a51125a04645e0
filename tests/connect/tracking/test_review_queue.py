"""Items to MLflow's review queues and answers back, on a real store."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judgec.connect.tracking.store import tracking_store
from judgec.errors import InputError
from judgec.labels.review.sheet import Given, open_sheet
from judgec.verbs.label_sheets import FilledQueue, export_labels, import_labels
from judgec.verbs.options.labels import LabelExportOptions, LabelImportOptions
from tests.connect.tracking.feedback import environment

ROWS = [
    {"item_id": f"i{n}", "query": f"Q{n}", "answer": f"A{n}", "contexts": ["one"], "agent": "gpt"} for n in range(3)
]


def answer(uri: str, experiment: str, grades: dict[str, str]) -> dict[str, Any]:  # what MLflow holds has no types
    """Ann answers in MLflow; returns what she was asked."""
    import mlflow
    from mlflow.entities import AssessmentSource
    from mlflow.genai import label_schemas, review_queues

    mlflow.set_tracking_uri(uri)
    found = mlflow.get_experiment_by_name(experiment)
    assert found is not None
    (queue,) = review_queues.list_review_queues(experiment_id=found.experiment_id)
    items = review_queues.list_review_queue_items(queue.queue_id)
    shown = {}
    for item in items:
        trace = mlflow.get_trace(item.item_id)
        item_id = trace.info.tags["judgec.item_id"]
        span = trace.data.spans[0]
        shown[item_id] = json.dumps([span.inputs, span.outputs])
        if item_id in grades:
            mlflow.log_feedback(
                trace_id=item.item_id,
                name="grade",
                value=grades[item_id],
                rationale="because",
                source=AssessmentSource("HUMAN", "ann"),
            )
    (question,) = [
        (one.name, one.input.options, one.instruction)
        for one in label_schemas.list_label_schemas(experiment_id=found.experiment_id)
        if one.name == "grade"
    ]
    return {"users": queue.users, "shown": shown, "questions": question}


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # MLflow's imports warn; they are not ours to mend
def test_answers_given_in_a_review_queue_become_labels_of_their_items(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    request = LabelExportOptions(file=str(path), annotators=("ann",), home=tmp_path, export="mlflow:review")
    back = LabelImportOptions(file=str(path), annotators=("ann",), home=tmp_path, import_="mlflow:review")
    first = export_labels(request)
    assert isinstance(first, FilledQueue)
    assert first.sent == 3
    again = export_labels(request)
    assert isinstance(again, FilledQueue)
    assert (again.items, again.sent) == (3, 0)
    with pytest.raises(
        InputError, match=r"no human feedback 'grade'; there is none at all\. Answer the questions of the queue"
    ):
        import_labels(back)
    with environment():
        seen = answer(tracking_store(tmp_path, None, {}).uri, "review", {"i0": "5", "i2": "1"})
    assert seen["questions"][:2] == ("grade", ["1", "2", "3", "4", "5"])
    assert "2: honestly admits" in seen["questions"][2]
    assert seen["users"] == ["ann"]
    assert json.loads(seen["shown"]["i1"]) == [{"query": "Q1", "contexts": ["one"]}, "A1"]  # not the agent
    done = import_labels(back)
    assert done.imported == {"ann": 2}
    sheet, _ = open_sheet(str(path))
    assert sheet.given("ann") == {"i0": Given({"grade": 4}, "because"), "i2": Given({"grade": 0}, "because")}
    with pytest.raises(InputError, match="no such experiment"):
        import_labels(replace(back, import_="mlflow:other"))
