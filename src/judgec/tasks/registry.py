"""Finds tasks by name: those of the package, and those of plugins under the entry point group ``judgec.judges``."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from judgec.errors import UserError
from judgec.tasks.built_in import BUILT_IN
from judgec.tasks.spec import TaskSpec

ENTRY_POINTS = "judgec.judges"
USUAL = "grade"  # the task of a file whose columns tell nothing
COMMON = ("grade", "relevance", "answer", "preference")  # the most common first, for advice
ALSO_CALLED = {  # what other tools call the columns of several tasks
    "query": ("question", "prompt", "input", "user_input", "instruction", "q"),
    "answer": ("response", "output", "prediction", "completion", "generated_answer", "text"),
    "grade": ("score", "rating", "label", "human_score", "human_grade", "relevance"),
}


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
        """How many there are."""
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


def also_called(column: str) -> tuple[str, ...]:
    """What other tools call one of our columns."""
    own = (spec.also_called.get(column, ()) for spec in TASKS.values())
    return ALSO_CALLED.get(column) or next(filter(None, own), ())


def plugin_names() -> tuple[str, ...]:
    """The names under which plugins are installed, sorted; those of the package's own tasks are not among them."""
    return tuple(sorted(_plugins(tuple(sys.path))))


def loaded(name: str) -> object | None:
    """What the plugin ``name`` declares: a ``TaskSpec``, or a function that builds a judge; None: no such plugin.

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
    spec: TaskSpec = import_module(f"judgec.tasks.{name}").TASK
    return spec
