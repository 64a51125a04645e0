"""Makes a Python function of a verb that takes its options as one record."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial, update_wrapper, wraps
from inspect import Parameter, Signature
from os import PathLike, fspath
from pathlib import Path
from typing import Generic, TypeVar

from judgec.errors import UserError
from judgec.labels.rows.ranges import as_judges
from judgec.lm.watch import Silent, Watch
from judgec.report.progress import Bar, on_screen
from judgec.table import seal
from judgec.verbs.options.option import Declared, declared

O = TypeVar("O")  # noqa: E741  # options
R = TypeVar("R")


class Verb(Generic[O, R]):
    """A public function: options by keyword in, a result out.

    Args:
        kind: The dataclass that declares its options.
        run: Does the work; is told where to report progress.

    Attributes:
        kind: The dataclass.
        options: As it declares them.
        run: For callers that have the options as a record, such as the command line.
    """

    def __init__(self, kind: type[O], run: Callable[[O, Watch], R]) -> None:
        self.kind = kind
        self._make: Callable[..., O] = kind
        self.run = wraps(run)(partial(_reading, run))
        self.options = tuple(declared(kind))
        self.__signature__ = Signature(
            [
                *map(_parameter, self.options),
                Parameter("progress", Parameter.KEYWORD_ONLY, default=None, annotation="bool | Watch | None"),
            ]
        )
        update_wrapper(self, run)
        self.__doc__ = _documented(run.__doc__ or "", self.options)

    def __call__(self, *given: object, **named: object) -> R:
        """Do it; parameters as in ``help()`` of the verb."""
        try:
            values = self.__signature__.bind(*given, **named).arguments
        except TypeError as error:
            raise TypeError(f"judgec.{self.run.__name__}(): {error}") from None
        progress = values.pop("progress", None)
        options = {one.name: one for one in self.options}
        taken = {name: _taken(options[name], value, self.run.__name__) for name, value in values.items()}
        with watching(progress) as watch:
            return self.run(self._make(**taken), watch)

    def __repr__(self) -> str:
        return f"<function judgec.{self.run.__name__}{self.__signature__}>"


@dataclass(frozen=True, slots=True)
class verb(Generic[O]):  # noqa: N801  # a decorator
    """Make a verb of a function of its options.

    Args:
        kind: The dataclass that declares them.
    """

    kind: type[O]

    def __call__(self, run: Callable[[O, Watch], R]) -> Verb[O, R]:
        """The verb."""
        return Verb(self.kind, run)


def _reading(run: Callable[[O, Watch], R], options: O, watch: Watch) -> R:
    """Do the work; the report says of versions that were modified, or that nobody has sealed."""
    given = [options, *(getattr(options, one.name) for one in fields(options))]  # type: ignore[arg-type]  # a dataclass
    with seal.reading(any(getattr(one, "allow_modified", False) for one in given)):  # a judge may be allowed, too
        try:
            found = run(options, watch)
        except ModuleNotFoundError as error:
            _require_installed(error)
            raise
        report = getattr(found, "report", None)
        if isinstance(report, dict) and (said := seal.notes()):
            report["versions"] = said
        return found


RAG = ("bs4", "docx", "ir_measures", "lancedb", "lxml", "pypdf")  # what the extra of this name brings


def _require_installed(missing: ModuleNotFoundError) -> None:
    """Say which extra brings a package that is not there.

    Raises:
        UserError: It is one of ``judgec[rag]``.
    """
    name = (missing.name or "").partition(".")[0]
    if name in RAG:
        raise UserError(
            f"{name}: not installed; documents, agents and retrieval need it. Run pip install 'judgec[rag]'."
        ) from None


@contextmanager
def watching(progress: bool | Watch | None) -> Iterator[Watch]:
    """Chooses where to report progress: a bar where somebody looks, or as the caller says."""
    if progress is None or isinstance(progress, bool):
        progress = Bar(shown=True) if (on_screen() if progress is None else progress) else Silent()
    try:
        yield progress
    finally:
        if isinstance(progress, Bar):
            progress.close()


def _parameter(one: Declared) -> Parameter:
    hint = one.hint | None if one.optional else one.hint
    nameless = one.option.positional or one.option.leading
    kind = Parameter.POSITIONAL_OR_KEYWORD if nameless else Parameter.KEYWORD_ONLY
    return Parameter(one.name, kind, default=Parameter.empty if one.required else one.default, annotation=hint)


def _taken(one: Declared, value: object, verb_name: str) -> object:
    """The value as the record has it; numbers in their range.

    Raises:
        UserError: A number outside it, or text where names or a mapping are needed.
    """
    if value is None:
        return value if one.optional or one.required else one.default
    where = f"{verb_name}: {one.name}"
    least, most = one.option.least, one.option.most
    if isinstance(value, int | float) and not isinstance(value, bool) and not one.several:
        if (least is not None and not value >= least) or (most is not None and not value <= most):
            bounds = [f"at {word} {bound:g}" for word, bound in (("least", least), ("most", most)) if bound is not None]
            raise UserError(f"{where}={value}; a number of {' and '.join(bounds)} is valid.")
        return value
    if one.words and value not in one.words:
        raise UserError(f"{where}={value!r}; {' or '.join(map(str, one.words))} is valid.")
    if one.hint is str and isinstance(value, PathLike):
        return fspath(value)
    if one.hint is str and type(value) in {int, float}:  # a grade
        return str(value)
    if one.path:
        return Path(str(value))
    if one.option.project == "judges":
        return as_judges(value, where)
    if one.several:
        return _many(value, commas=one.option.commas)
    if one.hint is str and isinstance(value, Path):
        return str(value)
    if one.pairs and not isinstance(value, Mapping):
        raise UserError(f"{where}: a {type(value).__name__}; a dict of your column names to judgec's is valid.")
    return value


def _many(value: object, *, commas: bool) -> tuple[object, ...]:
    """One or several values as a tuple; numbers and paths as the text that is typed, a mapping as NAME=VALUE,VALUE."""
    if isinstance(value, str) and commas:
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, Mapping):
        return tuple(
            f"{name}={','.join(map(str, each)) if isinstance(each, list | tuple) else each}"
            for name, each in value.items()
        )
    if isinstance(value, str | PathLike) or not isinstance(value, Iterable) or hasattr(value, "columns"):
        value = (value,)
    paths = (fspath(each) if isinstance(each, PathLike) else each for each in value)
    several = tuple(str(each) if isinstance(each, int | float) else each for each in paths)
    return (list(several),) if several and isinstance(several[0], Mapping) else several  # rows are one table


def _documented(text: str, options: tuple[Declared, ...]) -> str:
    """The docstring with its options, before what it raises."""
    lines = [f"    {one.name}: {one.option.help}" for one in options]
    head, mark, tail = text.partition("Raises:")
    indent = " " * 4
    args = "\n".join([f"{indent}Args:", *[f"{indent}{line}" for line in lines], ""])
    return f"{head.rstrip()}\n\n{args}\n{indent}{mark}{tail}" if mark else f"{head.rstrip()}\n\n{args}"
