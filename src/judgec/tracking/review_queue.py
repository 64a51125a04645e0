"""Items in MLflow's review queues, for experts who grade in its UI, and their answers back.

Open-source MLflow (3.14 and later) has review queues of traces, whose questions are label schemas and whose answers
are human feedback. Labeling sessions and the Review App are Databricks' alone. As in ``traces``, a process of its own
imports MLflow.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from judgec.errors import InputError, JudgecError, ServiceError
from judgec.tracking import background
from judgec.tracking.background import ERRORS, QUIET
from judgec.tracking.store import TrackingStore
from judgec.tracking.trace_pages import all_traces
from judgec.tracking.traces import TAIL, feedback_of

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Trace

ITEM_TAG = "judgec.item_id"
UNANSWERED = "Answer the questions of the queue with judgec ui, experiment -> Review."
AT_ONCE = 100  # items added to a queue a request
MOST_OPTIONS, MOST_INSTRUCTION, MOST_USERS = 10, 1000, 10  # mlflow.genai.label_schemas and review_queues, validation
Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class ReviewQuestion:
    """A label schema.

    Args:
        name: Of the feedback that answers it.
        options: The grades to choose from, worst first; at most ten.
        instruction: The rubric.
    """

    name: str
    options: tuple[str, ...]
    instruction: str


@dataclass(frozen=True, slots=True)
class Queue:
    """What experts are to answer.

    Args:
        experiment: Its name; made where there is none.
        name: Of the queue.
        items: Input texts by field, keyed by item_id.
        questions: Asked of each item.
        users: Who may answer; at most ten, none for anybody.
        graded: The fields that are graded.
    """

    experiment: str
    name: str
    items: Mapping[str, Mapping[str, object]]
    questions: tuple[ReviewQuestion, ...]
    users: tuple[str, ...] = ()
    graded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReviewAnswer:
    """A human's answer to one question on one item."""

    item_id: str
    annotator: str
    question: str
    value: str
    rationale: str


def send_queue(store: TrackingStore, queue: Queue, environ: Mapping[str, str]) -> int:
    """Put items into a review queue as traces; items that are in the experiment already are not sent again.

    Returns:
        How many traces are new.

    Raises:
        ServiceError: When the store does not work, or refuses.
    """
    return int(str(_elsewhere(store, {"do": "send", "queue": asdict(queue)}, environ)["sent"]))


def fetch_answers(
    store: TrackingStore, experiment: str, questions: Sequence[str], environ: Mapping[str, str]
) -> list[ReviewAnswer]:
    """The human feedback on the traces that ``send_queue`` made.

    Raises:
        InputError: No such experiment, or no such feedback.
        ServiceError: When the store does not work.
    """
    request: Row = {"do": "fetch", "experiment": experiment, "questions": list(questions)}
    rows = _elsewhere(store, request, environ)["answers"]
    assert isinstance(rows, list)
    return [ReviewAnswer(**row) for row in rows]


def send(store: TrackingStore, queue: Queue) -> int:
    """``send_queue`` in this process, which therefore imports MLflow."""
    import mlflow
    from mlflow.genai import label_schemas, review_queues

    from judgec.tracking.client import open_store
    from judgec.tracking.item_traces import log_item

    client = open_store(store)
    mlflow.set_tracking_uri(store.uri)
    found = client.get_experiment_by_name(queue.experiment)
    experiment = found.experiment_id if found else client.create_experiment(queue.experiment, store.artifacts)
    sent = {str(trace.info.tags.get(ITEM_TAG)): str(trace.info.trace_id) for trace in _traces(client, experiment)}
    new = [item_id for item_id in queue.items if item_id not in sent]
    mlflow.set_experiment(experiment_id=experiment)
    for item_id in new:
        sent[item_id] = log_item(queue.items[item_id], queue.graded, {ITEM_TAG: item_id})
    known = {schema.name: schema.schema_id for schema in label_schemas.list_label_schemas(experiment_id=experiment)}
    for question in queue.questions:
        if question.name not in known:
            known[question.name] = label_schemas.create_label_schema(
                question.name,
                type="feedback",
                input=label_schemas.InputCategorical(options=list(question.options)),
                instruction=question.instruction[:MOST_INSTRUCTION],
                enable_comment=True,
                experiment_id=experiment,
            ).schema_id
    queues = {each.name: each for each in review_queues.list_review_queues(experiment_id=experiment)}
    target = queues.get(queue.name) or review_queues.create_review_queue(
        queue.name,
        queue_type="custom",
        users=list(queue.users),
        schema_ids=[known[question.name] for question in queue.questions],
        experiment_id=experiment,
    )
    ids = [sent[item_id] for item_id in queue.items]
    for start in range(0, len(ids), AT_ONCE):
        review_queues.add_items_to_review_queue(target.queue_id, item_ids=ids[start : start + AT_ONCE])
    return len(new)


def fetch(store: TrackingStore, experiment: str, questions: Sequence[str]) -> list[ReviewAnswer]:
    """``fetch_answers`` in this process."""
    from judgec.tracking.client import open_store

    client = open_store(store)
    found = client.get_experiment_by_name(experiment)
    if found is None:
        raise InputError([f"mlflow:{experiment}: no such experiment in {store.shown}. Send the items with --export."])
    traces = {str(trace.info.trace_id): trace for trace in _traces(client, found.experiment_id)}
    answers = []
    for question in questions:
        for row in feedback_of(traces.values(), question, f"mlflow:{experiment}", UNANSWERED).rows:
            item_id = str(traces[str(row["item_id"])].info.tags[ITEM_TAG])
            rationale = row["rationale"] or ""
            answers.append(ReviewAnswer(item_id, str(row["annotator"]), question, str(row["label"]), str(rationale)))
    return answers


def _traces(client: "MlflowClient", experiment: str) -> "list[Trace]":
    return [trace for trace in all_traces(client, experiment) if ITEM_TAG in trace.info.tags]


def _elsewhere(store: TrackingStore, request: Row, environ: Mapping[str, str]) -> Row:
    path = os.pathsep.join(entry for entry in sys.path if entry)
    done = subprocess.run(  # noqa: S603 -- our own module, no shell
        [background.PYTHON, "-m", __name__],
        input=json.dumps({**request, "uri": store.uri, "artifacts": store.artifacts}),
        capture_output=True,
        env={**QUIET, **environ, "PYTHONPATH": path},
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        said = done.stderr[-TAIL:].strip()
        raise ServiceError(f"{store.shown}: the process for review queues ended. Run judgec doctor.\n{said}")
    reply: Row = json.loads(done.stdout)
    if "faults" in reply:
        faults = reply["faults"]
        assert isinstance(faults, list)
        raise InputError(faults)
    if "error" in reply:
        raise ERRORS[str(reply["kind"])](str(reply["error"]))
    return reply


def main() -> None:
    """Answer one request on stdin with one JSON object on stdout; whatever else prints goes to stderr."""
    from mlflow.exceptions import MlflowException

    request = json.loads(sys.stdin.read())
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    store = TrackingStore(uri=request["uri"], artifacts=request["artifacts"])
    try:
        if request["do"] == "send":
            raw = request["queue"]
            questions = tuple(
                ReviewQuestion(q["name"], tuple(q["options"]), q["instruction"]) for q in raw["questions"]
            )
            queue = Queue(
                raw["experiment"], raw["name"], raw["items"], questions, tuple(raw["users"]), tuple(raw["graded"])
            )
            reply: Row = {"sent": send(store, queue)}
        else:
            reply = {"answers": [asdict(one) for one in fetch(store, request["experiment"], request["questions"])]}
    except InputError as error:
        reply = {"faults": error.faults}
    except MlflowException as error:
        reply = {"error": f"{store.shown}: MLflow refused ({error.message}).", "kind": ServiceError.__name__}
    except JudgecError as error:
        kind = type(error).__name__
        reply = {"error": str(error), "kind": kind if kind in ERRORS else ServiceError.__name__}
    with replies:
        json.dump(reply, replies, default=str)
    os._exit(0)  # MLflow's own farewell takes a second


if __name__ == "__main__":
    main()
