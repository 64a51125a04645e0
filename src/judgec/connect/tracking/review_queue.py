"""Items in MLflow's review queues, for experts who grade in its UI, and their answers back.

Open-source MLflow (3.14 and later) has review queues of traces, whose questions are label schemas and whose answers
are human feedback. Labeling sessions and the Review App are Databricks' alone. As in ``traces``, a process of its own
imports MLflow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from judgec.connect.tracking.apart import Asked, answer_apart, ask_apart
from judgec.connect.tracking.store import TrackingStore
from judgec.connect.tracking.trace_pages import all_traces
from judgec.connect.tracking.traces import feedback_of
from judgec.errors import InputError

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Trace

ITEM_TAG = "judgec.item_id"
UNANSWERED = "Answer the questions of the queue with judgec ui, experiment -> Review."
AT_ONCE = 100  # items added to a queue a request
MOST_OPTIONS, MOST_INSTRUCTION, MOST_USERS = 10, 1000, 10  # mlflow.genai.label_schemas and review_queues, validation
Row = dict[str, object]
SERVES = "serves review queues"  # what the process does that imports MLflow


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
    """The items and questions for the experts.

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
    return int(str(ask_apart(__name__, {"do": "send", "queue": asdict(queue)}, store, environ, SERVES)["sent"]))


def fetch_answers(
    store: TrackingStore, experiment: str, questions: Sequence[str], environ: Mapping[str, str]
) -> list[ReviewAnswer]:
    """The human feedback on the traces that ``send_queue`` made.

    Raises:
        InputError: No such experiment, or no such feedback.
        ServiceError: When the store does not work.
    """
    request: Row = {"do": "fetch", "experiment": experiment, "questions": list(questions)}
    rows = ask_apart(__name__, request, store, environ, SERVES)["answers"]
    assert isinstance(rows, list)
    return [ReviewAnswer(**row) for row in rows]


def send(store: TrackingStore, queue: Queue) -> int:
    """``send_queue`` in this process, which therefore imports MLflow."""
    import mlflow
    from mlflow.genai import label_schemas, review_queues

    from judgec.connect.tracking.client import open_store
    from judgec.connect.tracking.item_traces import log_item

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
    from judgec.connect.tracking.client import open_store

    client = open_store(store)
    found = client.get_experiment_by_name(experiment)
    if found is None:
        raise InputError(
            [f"mlflow:{experiment}: no such experiment in {store.shown}. Send the items with labels export."]
        )
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


def _answer(store: TrackingStore, request: Asked) -> Mapping[str, object]:
    if request["do"] != "send":
        return {"answers": [asdict(one) for one in fetch(store, request["experiment"], request["questions"])]}
    raw = request["queue"]
    questions = tuple(ReviewQuestion(q["name"], tuple(q["options"]), q["instruction"]) for q in raw["questions"])
    graded, users = tuple(raw["graded"]), tuple(raw["users"])
    return {"sent": send(store, Queue(raw["experiment"], raw["name"], raw["items"], questions, users, graded))}


if __name__ == "__main__":
    answer_apart(_answer)
