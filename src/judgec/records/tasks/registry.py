"""Finds tasks by name: those of the package, and those of plugins under the entry point group ``judgec.judges``."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from judgec.errors import UserError
from judgec.records.tasks.built_in import BUILT_IN
from judgec.records.tasks.spec import PREFIXES, TaskSpec

ENTRY_POINTS = "judgec.judges"
USUAL = "grade"  # the task of a file whose columns tell nothing
COMMON = ("grade", "relevance", "answer", "preference")  # the most common first, for advice
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "query": ("question", "prompt", "input", "user_input", "instruction", "question_text", "user_query"),
    "answer": (
        *("response", "output", "completion", "reply", "prediction", "response_text", "answer_text"),
        *("generated_answer", "actual_output"),
    ),
    "reference": (
        *("ground_truth", "expected", "expected_output", "expected_answer", "reference_answer", "gold_answer"),
        "expected_response",  # MLflow's
    ),
    "contexts": ("context", "retrieved_contexts", "retrieval_context", "documents", "passages"),
    "document": ("passage", "doc"),
    "answer_a": ("response_a", "output_a", "model_a_response", "answer_1", "response_1"),
    "answer_b": ("response_b", "output_b", "model_b_response", "answer_2", "response_2"),
    "item_id": ("id", "row_id", "sample_id"),
    "query_id": ("question_id", "qid", "prompt_id"),
    "agent": ("model", "system", "model_name", "bot"),
    "agent_a": ("model_a", "system_a"),
    "agent_b": ("model_b", "system_b"),
    "annotator": ("rater", "reviewer", "grader", "annotator_id", "labeler"),
    "group": ("category",),
}
"""What others call judgec's columns. They propose a column in ``init`` and in advice, and tell the fields of a tool's
objects; no table of labels is read by them unasked."""
_BETWEEN = re.compile(r"[\s_-]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Tasks(Mapping[str, TaskSpec]):
    """Every task by name; iterated in the order in which inference tries them.

    A plugin comes first where it requires an input that no task of the package reads, and last otherwise: installing
    it changes nothing about files that have no such column. It cannot replace a task of the package.
    """

    def __getitem__(self, name: str) -> TaskSpec:
        """The task called ``name``; raises KeyError when there is none."""
        if name in BUILT_IN:
            return _built_in(name)
        spec = loaded(name)
        if not isinstance(spec, TaskSpec):
            raise KeyError(name)
        return spec

    def __iter__(self) -> Iterator[str]:
        """The names."""
        plugins = {name: spec for name in plugin_names() if isinstance(spec := loaded(name), TaskSpec)}
        known = {column for name in BUILT_IN for column in _built_in(name).inputs}
        first = [name for name, spec in plugins.items() if not set(spec.required) <= known]
        return iter([*first, *BUILT_IN, *(name for name in plugins if name not in first)])

    def __len__(self) -> int:
        """Number of tasks."""
        return sum(1 for _ in self)


TASKS = Tasks()


def as_task(name: str) -> str:
    """The name of a task that there is.

    Raises:
        UserError: When there is none of this name.
    """
    if name not in TASKS:
        raise UserError(
            f"task {name!r} is not known; valid are {', '.join(TASKS)}. Correct --task, "
            "or install the package that brings it."
        )
    return name


def told_by(columns: Iterable[str]) -> TaskSpec | None:
    """The first task that the input columns alone tell, or None."""
    has = set(columns)
    return next((spec for spec in TASKS.values() if spec.told_by and has.issuperset(spec.told_by)), None)


def advised() -> tuple[str, ...]:
    """The tasks that error messages compare a file's columns with: common ones, and those of plugins."""
    return (*COMMON, *(name for name in TASKS if name not in BUILT_IN))


def compares(task: str) -> bool:
    """True when items of the task are pairs of answers."""
    return task in TASKS and TASKS[task].pairs


def finds_modes(task: str) -> bool:
    """True when the labels say which failure modes an answer shows."""
    return task in TASKS and TASKS[task].of_modes


def require_better_above(task: str, where: str) -> None:
    """Check that a higher grade of the task is the better one, as tournaments, audits and probes take it to be.

    Args:
        task: Of a judge.
        where: What named the judge, for the message.

    Raises:
        UserError: A failure that is there is graded above one that is not.
    """
    if finds_modes(task):
        raise UserError(
            f"{where}: a judge of failure modes, which gives 1 to what is wrong; a judge whose higher grade is the "
            "better one is needed. Name one, or count the modes of each system with judgec judge."
        )


def folded(name: str) -> str:
    """A head without case, spaces, ``_`` and ``-``."""
    return _BETWEEN.sub("", name.strip()).casefold()


OURS: Mapping[str, str] = {folded(name): ours for ours, names in SYNONYMS.items() for name in names}
"""judgec's columns by what others call them, folded."""


def plain(name: str) -> str:
    """A name in small letters, its words joined by ``_``: ``groundTruth`` and ``Ground truth`` are ``ground_truth``."""
    return re.sub(r"[\W_]+", "_", _CAMEL.sub("_", name.strip()).casefold()).strip("_")


def called(name: str) -> bool:
    """True for a column that judgec or others call an input or a label by."""
    return folded(name) in _known_names() or name.startswith(PREFIXES)


@lru_cache(maxsize=1)
def _known_names() -> frozenset[str]:
    own = (folded(column) for spec in TASKS.values() for column in (*spec.inputs, *spec.labels))
    return frozenset({*OURS, *own})


def plugin_names() -> tuple[str, ...]:
    """The names under which plugins are installed, sorted; those of the package's own tasks are not among them."""
    return tuple(sorted(_plugins(tuple(sys.path))))


def loaded(name: str) -> object | None:
    """Loads what the plugin ``name`` declares: a ``TaskSpec``, or a function that builds a judge; None: no such plugin.

    Raises:
        UserError: When it cannot be imported, or declares a task under another name.
    """
    plugin = _plugins(tuple(sys.path)).get(name)
    if plugin is None:
        return None
    try:
        found: object = plugin.load()
    except (ImportError, AttributeError, SyntaxError, TypeError, ValueError) as fault:
        raise UserError(
            f"plugin {name} ({plugin.value}): cannot be imported ({fault}); a judgec.tasks.spec.TaskSpec is needed "
            "there. Mend the package that brings it, or uninstall it."
        ) from fault
    if isinstance(found, TaskSpec) and found.name != name:
        raise UserError(
            f"plugin {name} ({plugin.value}): its task is called {found.name!r}; the entry point and the task need "
            "one name. Correct the package that brings it."
        )
    return found


@lru_cache(maxsize=8)
def _plugins(_path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    """The plugins of an import path: what is installed does not change while it stays the same."""
    return {point.name: point for point in entry_points(group=ENTRY_POINTS) if point.name not in BUILT_IN}


def _built_in(name: str) -> TaskSpec:
    spec: TaskSpec = import_module(f"judgec.records.tasks.{name}").TASK
    return spec
