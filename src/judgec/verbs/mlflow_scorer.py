"""``mlflow.genai.evaluate(data, scorers=[judge.as_mlflow_scorer()])``: a compiled judge scores MLflow's rows."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from mlflow.entities import AssessmentError, AssessmentSource, Feedback, Trace
from mlflow.genai.scorers.base import Scorer
from pydantic import PrivateAttr

from judgec.connect.tracking.traces import as_one_text, trace_inputs
from judgec.errors import InputError, UserError
from judgec.records.card import ProgramCard
from judgec.records.label import Item
from judgec.records.tasks.registry import TASKS, also_called, as_task, plain
from judgec.verbs.validity import validity_of

Row = dict[str, object]
REFERENCES = ("reference", "expected_response")  # expectations that are the reference, the first that there is
UNSCORED = "UNSCORED"  # error code of an item without a verdict
NOTES = "judgec.notes"  # metadata of Feedback: why what is known of the judge does not hold of the row
ADVICE = "Give {name} in inputs or expectations, or name a judge that was compiled without."


class JudgeScorer(Scorer):  # type: ignore[misc]  # MLflow's types are not followed
    """A compiled judge as a scorer of ``mlflow.genai.evaluate``.

    ``inputs`` fill query and contexts (or whatever fields of the judge's task they are named after; a single text is
    the query), ``outputs`` the answer, ``expectations.reference`` or ``.expected_response`` the reference; contexts
    that were not given are what the trace's retrievers returned. Each row gets Feedback ``NAME`` (value: the grade;
    rationale: the reason) and ``NAME.score`` (the calibrated score); of several aspects ``NAME.ASPECT`` and
    ``NAME.ASPECT.score``. A row without a verdict gets the same Feedback with an error that says why. Where a row
    lacks an input that the judge was compiled with, or the judge was not shown to be better, the metadata
    ``judgec.notes`` of its Feedback says so.

    MLflow calls it from several threads; rows that wait at the same time are judged together.

    Args:
        name: What its Feedback is called: the judge's family.
    """

    timeout: int | float | None = 0  # the judge has limits of its own
    _card: ProgramCard = PrivateAttr()
    _asks_lm: bool = PrivateAttr()
    _together: "Gathered" = PrivateAttr()

    def __init__(self, card: ProgramCard, judged: Callable[[Sequence[Row]], Sequence[Row]], *, asks_lm: bool) -> None:
        """Wrap a judge.

        Args:
            card: Its card.
            judged: Judges rows, as ``Judge.rows``.
            asks_lm: Whether a language model has a say.
        """
        super().__init__(name=card.name, description=f"{card.name}@{card.version}: {card.reason}")
        self._card, self._asks_lm, self._together = card, asks_lm, Gathered(judged)

    @property
    def _name(self) -> str:
        return f"{self._card.name}@{self._card.version}"

    def __call__(
        self,
        *,
        inputs: Mapping[str, object] | None = None,
        outputs: object = None,
        expectations: Mapping[str, object] | None = None,
        trace: Trace | None = None,
    ) -> list[Feedback]:
        """Score one row.

        Raises:
            UserError: A field that the judge needs is missing; says which, and what there was.
            InputError: A field that cannot be judged.
            ServiceError: The model cannot be reached.
        """
        row = row_of(self._card.task, inputs or {}, outputs, expectations or {}, trace)
        notes = validity_of(self._card, [_item_of(row)]).notes("rows", ADVICE)
        return self._feedback(self._together(row), {NOTES: " ".join(notes)} if notes else None)

    def _feedback(self, found: Row, metadata: dict[str, str] | None = None) -> list[Feedback]:
        aspects = self._card.aspects
        source = AssessmentSource(source_type="LLM_JUDGE" if self._asks_lm else "CODE", source_id=self._name)
        reason, why = found["rationale"], found["unscored"]
        failed = None if why is None else AssessmentError(error_code=UNSCORED, error_message=str(why))
        made = []
        for aspect in aspects:
            name = self.name if len(aspects) == 1 else f"{self.name}.{aspect}"
            for said, column in ((name, "grade"), (f"{name}.score", "score")):
                value = None if failed else _of_aspect(found, column, aspect)
                text = None if said != name or reason is None else str(reason)
                made.append(
                    Feedback(name=said, value=value, rationale=text, error=failed, source=source, metadata=metadata)
                )
        return made

    def _check_can_be_registered(self, error_message: str | None = None) -> NoReturn:  # noqa: ARG002 -- MLflow calls it so
        """MLflow registers prompts and functions, not this: name what is registered."""
        card = self._card
        raise UserError(
            f"{self._name}: MLflow cannot register a scorer that is a class of its own; the judge is the "
            f"registered model {card.name!r}. Load it with mlflow.pyfunc.load_model('models:/{card.name}@champion'), "
            "or pass judge.as_mlflow_scorer() to mlflow.genai.evaluate."
        )


def _item_of(row: Row) -> Item:
    """A row's texts; what they are told apart by does not matter here."""
    texts = {
        name: tuple(map(str, value)) if isinstance(value, list | tuple) else str(value) for name, value in row.items()
    }
    return Item("", "", texts)


def _of_aspect(found: Row, column: str, aspect: str) -> Any:
    """A row of several aspects has a mapping below the plural of the column's name."""
    several = found.get(f"{column}s")
    return several[aspect] if isinstance(several, Mapping) else found[column]


def row_of(
    task: str, inputs: Mapping[str, object], outputs: object, expectations: Mapping[str, object], trace: Trace | None
) -> Row:
    """The item that a judge reads in a row of MLflow's.

    Args:
        task: The judge's.
        inputs: Of the application; names as other tools use them are understood.
        outputs: A text; an object may name the fields that are graded (``answer_a``, ``answer_b``).
        expectations: What was expected.
        trace: Its retrievers give the contexts where nobody else does.

    Raises:
        UserError: A required field is missing.
    """
    spec = TASKS[as_task(task)]
    row: Row = {}
    given = {plain(name): value for name, value in inputs.items()}
    made = {plain(name): value for name, value in outputs.items()} if isinstance(outputs, Mapping) else {}
    expected = {plain(name): value for name, value in expectations.items()}
    for field in spec.inputs:
        spellings = (field, *map(plain, also_called(field)))
        places = (made, given, expected) if field in spec.graded else (given, expected)
        for place in places:
            named = next((name for name in spellings if name in place), None)
            if named is not None and place[named] is not None:
                row[field] = place[named]
                break
    if "query" not in row and given:
        row["query"] = as_one_text(inputs)
    if len(spec.graded) == 1 and spec.graded[0] not in row and outputs is not None:
        row[spec.graded[0]] = as_one_text(outputs)
    if "reference" in spec.inputs and "reference" not in row:
        said = next((expected[name] for name in REFERENCES if expected.get(name) is not None), None)
        row |= {} if said is None else {"reference": said}
    if "contexts" in spec.inputs and "contexts" not in row and trace is not None:
        row.update({name: value for name, value in trace_inputs(trace).items() if name == "contexts"})
    missing = [name for name in spec.required if name not in row]
    if missing:
        raise UserError(
            f"judge of {task}: {', '.join(missing)} missing; inputs have {', '.join(inputs) or 'nothing'}, outputs are "
            f"{type(outputs).__name__}. Name them in inputs or outputs."
        )
    return row


@dataclass(eq=False)
class _Queued:
    row: Row
    found: Row | None = None
    fault: BaseException | None = None

    @property
    def done(self) -> bool:
        return self.found is not None or self.fault is not None


class Gathered:
    """Calls of many threads with one row each, made into calls with all rows that wait.

    While one thread judges what waited, the rows of others gather; the next thread takes them all. Nobody waits for a
    clock, and a fault of one row costs that row alone.

    Args:
        judged: Judges rows; its results are in their order.
    """

    def __init__(self, judged: Callable[[Sequence[Row]], Sequence[Row]]) -> None:
        self._judged = judged
        self._gathering, self._judging = threading.Lock(), threading.Lock()
        self._waiting: list[_Queued] = []

    def __call__(self, row: Row) -> Row:
        """The result of one row."""
        own = _Queued(row)
        with self._gathering:
            self._waiting.append(own)
        with self._judging:
            if not own.done:
                with self._gathering:
                    batch, self._waiting = self._waiting, []
                self._judge(batch)
        if own.fault is not None:
            raise own.fault
        assert own.found is not None  # done
        return own.found

    def _judge(self, batch: Sequence[_Queued]) -> None:
        try:
            for each, found in zip(batch, self._judged([each.row for each in batch]), strict=True):
                each.found = found
        except InputError as fault:
            if len(batch) == 1:
                batch[0].fault = fault
                return
            for each in batch:  # whose row is it?
                self._judge([each])
        except BaseException as fault:  # noqa: BLE001 -- every thread that waits has to hear of it
            for each in batch:
                each.fault = fault
