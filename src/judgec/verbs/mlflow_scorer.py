"""``mlflow.genai.evaluate(data, scorers=[judge.as_mlflow_scorer()])``: a compiled judge scores MLflow's rows."""

from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from mlflow.entities import AssessmentError, AssessmentSource, Feedback, Trace
from mlflow.genai.scorers.base import Scorer
from pydantic import PrivateAttr

from judgec.connect.tracking.traces import as_one_text, trace_inputs
from judgec.errors import UserError
from judgec.records.card import ProgramCard
from judgec.records.label import Item
from judgec.records.tasks.registry import SYNONYMS, TASKS, as_task, folded
from judgec.verbs.validity import require_inputs, validity_of

Row = dict[str, object]
UNSCORED = "UNSCORED"  # error code of an item without a verdict
NOTES = "judgec.notes"  # metadata of Feedback: why what is known of the judge does not hold of the row
ADVICE = "Give {name} in inputs or expectations, or name a judge that was compiled without."


class JudgeScorer(Scorer):  # type: ignore[misc]  # MLflow's types are not followed
    """A compiled judge as a scorer of ``mlflow.genai.evaluate``.

    ``inputs`` fill query and contexts (or whatever fields of the judge's task they are named after; a single text is
    the query), ``outputs`` the answer, ``expectations.reference`` or ``.expected_response`` the reference; contexts
    that were not given are what the trace's retrievers returned. Each row gets Feedback ``NAME`` (value: the grade;
    rationale: the reason) and ``NAME.score`` (the calibrated score); of several aspects ``NAME.ASPECT`` and
    ``NAME.ASPECT.score``. A row without a verdict gets the same Feedback with an error that says why. A row that
    lacks an input which the judge was compiled with is not judged. Where the judge was not shown to be better, the
    metadata ``judgec.notes`` of its Feedback says so.

    Args:
        name: What its Feedback is called: the judge's family.
    """

    timeout: int | float | None = 0  # the judge has limits of its own
    _card: ProgramCard = PrivateAttr()
    _asks_lm: bool = PrivateAttr()
    _judged: Callable[[Sequence[Row]], Sequence[Row]] = PrivateAttr()

    def __init__(self, card: ProgramCard, judged: Callable[[Sequence[Row]], Sequence[Row]], *, asks_lm: bool) -> None:
        """Wrap a judge.

        Args:
            card: Its card.
            judged: Judges rows, as ``Judge.rows``; several threads call it.
            asks_lm: Whether a language model has a say.
        """
        super().__init__(name=card.name, description=f"{card.name}@{card.version}: {card.reason}")
        self._card, self._asks_lm, self._judged = card, asks_lm, judged

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
            UserError: A field that the judge needs, or that it was compiled with, is missing; says which.
            InputError: A field that cannot be judged.
            ServiceError: The model cannot be reached.
        """
        row = row_of(self._card.task, inputs or {}, outputs, expectations or {}, trace)
        texts = {name: tuple(map(str, one)) if isinstance(one, list | tuple) else str(one) for name, one in row.items()}
        item = Item("", "", texts)
        require_inputs([self._card], [item], "rows", ADVICE)
        notes = validity_of(self._card, [item]).notes("rows", ADVICE)
        (found,) = self._judged([row])
        return self._feedback(found, {NOTES: " ".join(notes)} if notes else None)

    def _feedback(self, found: Row, metadata: dict[str, str] | None = None) -> list[Feedback]:
        card, why, made = self._card, found["unscored"], []
        source = AssessmentSource("LLM_JUDGE" if self._asks_lm else "CODE", f"{card.name}@{card.version}")
        failed = None if why is None else AssessmentError(error_code=UNSCORED, error_message=str(why))
        for aspect in card.aspects:
            name = self.name if len(card.aspects) == 1 else f"{self.name}.{aspect}"
            for said, column in ((name, "grade"), (f"{name}.score", "score")):
                several = found.get(f"{column}s")  # of several aspects
                value = several[aspect] if isinstance(several, Mapping) else found[column]
                text = str(found["rationale"]) if said == name and found["rationale"] is not None else None
                given = {"value": None if failed else value, "rationale": text, "error": failed}
                made.append(Feedback(name=said, source=source, metadata=metadata, **given))
        return made

    def _check_can_be_registered(self, error_message: str | None = None) -> NoReturn:  # noqa: ARG002 -- MLflow calls it so
        """MLflow registers prompts and functions, not this: name what is registered."""
        card = self._card
        raise UserError(
            f"{card.name}@{card.version}: MLflow cannot register a scorer that is a class of its own; the judge is the "
            f"registered model {card.name!r}. Load it with mlflow.pyfunc.load_model('models:/{card.name}@champion'), "
            "or pass judge.as_mlflow_scorer() to mlflow.genai.evaluate."
        )


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
    made, given, expected = (
        {folded(name): value for name, value in place.items() if value is not None}
        for place in (outputs if isinstance(outputs, Mapping) else {}, inputs, expectations)
    )
    row: Row = {}
    for field in spec.inputs:
        places = (made, given, expected) if field in spec.graded else (given, expected)
        names = [*map(folded, (field, *SYNONYMS.get(field, ())))]
        found = [place[name] for place in places for name in names if name in place]
        row |= {field: found[0]} if found else {}
    if "query" not in row and inputs:
        row["query"] = as_one_text(inputs)
    if len(spec.graded) == 1 and outputs is not None:
        row.setdefault(spec.graded[0], as_one_text(outputs))
    if "contexts" in spec.inputs and "contexts" not in row and trace is not None:
        row |= {name: value for name, value in trace_inputs(trace).items() if name == "contexts"}
    missing = [name for name in spec.required if name not in row]
    if missing:
        raise UserError(
            f"judge of {task}: {', '.join(missing)} missing; inputs have {', '.join(inputs) or 'nothing'}, outputs are "
            f"{type(outputs).__name__}. Name them in inputs or outputs."
        )
    return row
