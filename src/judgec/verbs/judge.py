"""``judgec.load_judge``: a compiled judge that judges a DataFrame or one item."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, overload

import pandas as pd

from judgec.errors import InputError, UserError
from judgec.labels.rows.conversations import holding, with_turns
from judgec.labels.rows.items import collect_items
from judgec.lm.usage import Account, Budget
from judgec.lm.watch import Watch
from judgec.raters import programs
from judgec.raters.judge import recorded_judges
from judgec.raters.recorded import OnWhat, read_recorded
from judgec.records.conversation import usual_turn
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.records.tasks.registry import TASKS, as_task
from judgec.table import seal
from judgec.table.rows.columns import renamed, require_columns
from judgec.table.table import IN_MEMORY, Table
from judgec.verbs.frames import Source, as_frame, as_table, named_table
from judgec.verbs.opened import judge_rows
from judgec.verbs.options.shared import Spending
from judgec.verbs.recorded import NAMES
from judgec.verbs.spending import session_for
from judgec.verbs.validity import IN_PYTHON, marks_of, require_inputs
from judgec.verbs.verb import watching
from judgec.verbs.whom import GivenJudge, as_loaded
from judgec.verbs.workspace import Workspace

if TYPE_CHECKING:
    from judgec.verbs.mlflow_scorer import JudgeScorer

PREFIX = "judge_"  # before the appended names, where the rows have one of them
GRADED = ("grade", "score", "accept", "confidence")
WHOLE = ("rationale", "unscored", "probabilities", "stated_confidence")


@dataclass(frozen=True, slots=True)
class Judgment:
    """Judgment of one item by a judge; of several aspects the first four are dicts by aspect.

    Args:
        grade: The grade, or None when unscored.
        score: The expected value, in scale units.
        accept: Accepted or rejected; None where the scale has no threshold.
        confidence: Probability that the grade is right.
        rationale: What decided.
        unscored: Why there is no grade, or None.
        probabilities: Of each grade.
        stated_confidence: What the model said of its confidence, 0-1; None where it said nothing or none was asked.
        details: Further columns by name, such as ``claims`` of the task ``claims``, or ``unproven``; mostly empty.
    """

    grade: object
    score: object
    accept: object
    confidence: object
    rationale: str
    unscored: str | None
    probabilities: object
    stated_confidence: float | None = None
    details: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Judge(GivenJudge):
    """A compiled judge, ready to judge.

    Args:
        workspace: Where it was loaded from, and where its calls are journaled.
        budget: Most LM calls of one call of the judge.
        max_cost: Most US dollars of one call.
        allow_modified: Its files may have been modified since it was compiled.
        functions: What it calls where it asks a Python function, by name.
    """

    workspace: Workspace
    budget: int | None = None
    max_cost: float | None = None
    allow_modified: bool = False
    functions: Mapping[str, object] = field(default_factory=dict, repr=False)

    @property
    def home(self) -> Path:
        """Folder of programs/ and .judgec/."""
        return self.workspace.home

    @overload
    def __call__(
        self,
        rows: Source,
        *,
        columns: Mapping[str, str] | None = None,
        budget: int | None = None,
        max_cost: float | None = None,
        progress: bool | Watch | None = None,
    ) -> pd.DataFrame: ...
    @overload
    def __call__(
        self,
        rows: None = None,
        *,
        columns: None = None,
        budget: int | None = None,
        max_cost: float | None = None,
        progress: bool | Watch | None = None,
        **fields: object,
    ) -> Judgment: ...
    def __call__(
        self,
        rows: Source | None = None,
        *,
        columns: Mapping[str, str] | None = None,
        budget: int | None = None,
        max_cost: float | None = None,
        progress: bool | Watch | None = None,
        **fields: object,
    ) -> pd.DataFrame | Judgment:
        """Judge rows, or one item given by its fields.

        Args:
            rows: A DataFrame, a list of dicts, a path or a ``datasets.Dataset``. The result has the same rows in the
                same order under the same index, with their own columns; behind them grade, score, accept, confidence,
                rationale, unscored, probabilities (JSON) and stated_confidence, of several aspects ``grade.ASPECT`` and
                so on. Where the rows have one of these names, all are prefixed by ``judge_``.
            columns: judgec's names by those of the rows.
            budget: Most LM calls; by default as the judge was loaded.
            max_cost: Most US dollars; by default as the judge was loaded.
            progress: A bar, or none; by default where somebody looks.
            fields: ``query``, ``answer``, ``reference``, ``contexts``, ... of one item.

        Raises:
            InputError: A missing column or query, with its row.
            UserError: The rows lack an input that the judge learned with.
            BudgetError: Items that do not fit the caps are unscored; this is raised only where no call fits.
            ServiceError: The model cannot be reached.

        Example:
            >>> judge = judgec.load_judge("sensors@latest")
            >>> known = "0.6 to 70 m3/h"
            >>> judge(query="How wide is the range?", answer=known, reference=known, contexts=[f"It is {known}."]).grade
            5
        """
        caps = Budget(
            calls=self.budget if budget is None else budget, usd=self.max_cost if max_cost is None else max_cost
        )
        with watching(progress) as watch:
            return self._graded(rows, columns, fields, partial(self._judged, account=Account(caps), watch=watch))

    def _graded(
        self,
        rows: Source | None,
        columns: Mapping[str, str] | None,
        fields: Mapping[str, object],
        judged: Callable[[Table], Judgments],
    ) -> pd.DataFrame | Judgment:
        if rows is None:
            return self._one(fields, judged)
        if fields:
            raise UserError(f"judge: rows and {', '.join(fields)}; give rows, or the fields of one item.")
        frame = as_frame(rows)
        if not len(frame):
            return self._appended(frame, [])
        found = judged(renamed(as_table(frame), columns or {}))
        return self._appended(frame, self._said(found))

    def _said(self, found: Judgments) -> list[dict[str, object]]:
        """The rows of judgments, each with what is said of the judge."""
        return [row | self.marks for row in found.rows(self.compiled.scale)]

    @property
    def marks(self) -> dict[str, object]:
        """Further keys of every row: ``unproven`` of a judge that nobody measured."""
        return marks_of([self.card])

    @property
    def account(self) -> Account:
        """A new one with the caps that the judge was loaded with."""
        return Account(Budget(calls=self.budget, usd=self.max_cost))

    def rows(self, rows: Sequence[Mapping[str, object]], *, account: Account | None = None) -> list[dict[str, object]]:
        """Judge a few rows without a DataFrame: the keys of a line of ``judgec judge --out``, in the same order.

        Args:
            rows: The fields of each item by judgec's names.
            account: What several calls may spend together; by default each has the caps that the judge was loaded with.

        Raises:
            InputError: A missing field, with its row.
            BudgetError: As calling the judge.
            ServiceError: As calling the judge.
        """
        columns = tuple(dict.fromkeys(name for row in rows for name in row))
        table = Table(IN_MEMORY, columns, tuple(map(dict, rows)), tuple(range(1, len(rows) + 1)), by_line=False)
        with watching(False) as watch:
            found = self._judged(table, account=account or self.account, watch=watch)
        return self._said(found)

    async def acall(
        self,
        rows: Source | None = None,
        *,
        columns: Mapping[str, str] | None = None,
        budget: int | None = None,
        max_cost: float | None = None,
        progress: bool | Watch | None = None,
        **fields: object,
    ) -> pd.DataFrame | Judgment:
        """As calling the judge, in a thread of its own, so that an event loop goes on meanwhile."""
        call: Callable[..., pd.DataFrame | Judgment] = self.__call__
        caps = {"budget": budget, "max_cost": max_cost, "progress": progress}
        return await asyncio.to_thread(call, rows, columns=columns, **caps, **fields)

    def as_mlflow_scorer(self) -> "JudgeScorer":
        """A scorer for ``mlflow.genai.evaluate``: Feedback NAME (the grade, with the reason) and NAME.score.

        Example:
            >>> judgec.load_judge("sensors@latest").as_mlflow_scorer().name
            'sensors'
        """
        from judgec.verbs.mlflow_scorer import JudgeScorer  # MLflow takes seconds to import

        rows = partial(self.rows, account=self.account)  # one budget for all of its calls
        return JudgeScorer(self.card, rows, asks_lm=self.asks_lm)

    def __repr__(self) -> str:
        model = self.card.engine or self.card.lm.get("model")
        return f"<Judge {self.name}, {self.card.task}, {model}{'' if self.card.promoted else ', not promoted'}>"

    def _one(self, fields: Mapping[str, object], judged: Callable[[Table], Judgments]) -> Judgment:
        if not fields:
            raise UserError(
                "judge: nothing to judge; a DataFrame, or the fields of one item such as query= and answer=."
            )
        known = TASKS[as_task(self.card.task)].inputs
        if unknown := [name for name in fields if name not in known and name not in holding(fields)]:
            raise UserError(f"judge: {', '.join(unknown)}; a judge of {self.card.task} reads {', '.join(known)}.")
        given = {name: value for name, value in fields.items() if value is not None}
        table = Table(IN_MEMORY, tuple(given), (given,), (1,), by_line=False)
        (row,) = self._said(judged(table))
        if len(self.compiled.aspects) > 1:
            row = {name.removesuffix("s") if name.removesuffix("s") in GRADED else name: row[name] for name in row}
        kept = {name: row[name] for name in (*GRADED, *WHOLE)}
        details = {name: row[name] for name in (*TASKS[self.card.task].details, *self.marks)}
        return Judgment(**kept, details=details)  # type: ignore[arg-type]  # as rows() makes them

    def _judged(self, table: Table, *, account: Account, watch: Watch) -> Judgments:
        table = with_turns(table, usual=usual_turn(self.card.fields), every=True)
        items = self._items(table)
        require_inputs([self.card], items, advice=IN_PYTHON)

        @cache
        def own() -> dict[str, str]:
            """The item_ids of the rows, by those of the items."""
            named = collect_items(table, as_task(self.card.task))
            called = (named.items[n].item_id for n in named.item_of)
            return dict(zip((item.item_id for item in items), called, strict=True))

        options, environ = Spending(functions=self.functions), self.workspace.environ
        session = partial(session_for, options, home=self.home, watch=watch, account=account, environ=environ)
        return judge_rows(self, items, table, own, session, watch)

    def _items(self, table: Table) -> Sequence[Item]:
        """One item a row, whatever its item_id: rows that are alike are asked once, by the journal."""
        task = as_task(self.card.task)
        rows = tuple({**row, "item_id": str(number)} for number, row in enumerate(table.rows))
        numbered = replace(table, rows=rows, columns=(*dict.fromkeys((*table.columns, "item_id")),))
        require_columns(numbered, task, labelled=False)
        collected = collect_items(numbered, task)
        if collected.faults:
            raise InputError([sentence for _, sentence in collected.faults])
        return collected.items

    def _appended(self, frame: pd.DataFrame, rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
        aspects = self.compiled.aspects
        graded = list(GRADED) if len(aspects) == 1 else [f"{name}.{aspect}" for name in GRADED for aspect in aspects]
        details = (*TASKS[as_task(self.card.task)].details, *self.marks)
        names, taken = [*graded, *WHOLE, *details], {str(name) for name in frame.columns}
        before = ""
        while any(before + name in taken for name in names):
            before += PREFIX
        values: dict[str, list[object]] = {name: [] for name in names}
        for row in rows:
            for name in graded:
                key, _, aspect = name.partition(".")
                found = row[f"{key}s"] if aspect else row[key]
                values[name].append(found[aspect] if isinstance(found, dict) else found)
            for name in ("stated_confidence", "rationale", "unscored", *details):
                values[name].append(row[name])
            values["probabilities"].append(None if row["unscored"] else json.dumps(row["probabilities"]))
        added = {
            before + name: pd.Series(column, index=frame.index, dtype=_type(column)) for name, column in values.items()
        }
        return pd.concat([frame, pd.DataFrame(added, index=frame.index)], axis=1)


def load_judge(
    name: str,
    *,
    home: str | Path = ".",
    tracking_uri: str | None = None,
    lm: str | None = None,
    api_base: str | None = None,
    budget: int | None = None,
    max_cost: float | None = None,
    verdicts: Source | None = None,
    allow_modified: bool = False,
    functions: Mapping[str, Callable[..., object] | str] | None = None,
) -> Judge:
    """Load a compiled judge.

    Args:
        name: ``NAME@champion``, ``NAME@latest`` or ``NAME@NUMBER``.
        home: Folder of programs/ and .judgec/.
        tracking_uri: Where its runs are tracked, for ``judge.workspace``.
        lm: Another model than it was compiled for; ``recorded:FILE`` for a judge of recorded verdicts. Of prompts whose
            verdicts were recorded, whom to ask where an item has none: ``MODEL``, or ``WHOSE=MODEL,...`` for some.
        api_base: An OpenAI-compatible endpoint.
        budget: Most LM calls each time it is called.
        max_cost: Most US dollars each time it is called.
        verdicts: Recorded verdicts on the items to judge, for a judge that was compiled from some: a DataFrame, a list
            of dicts or a file, with the columns item_id, judge, and grade or preference.
        allow_modified: Take a judge whose files were modified since it was compiled.
        functions: What to call where the judge asks a Python function, by the name that it was compiled with: nothing
            that is read from a judge's files is imported.

    Raises:
        UserError: There is no such judge, or a model that cannot be asked in the place of its own.
        ArtifactError: Its files do not fit this version of judgec, or were modified.

    Example:
        >>> judge = judgec.load_judge("sensors@latest")
        >>> judge.card.task
        'grade'
    """
    workspace = Workspace(home, tracking_uri)
    with seal.reading(allow_modified):
        program = workspace.load(name)
    given = as_loaded(program, lm=lm, api_base=api_base)
    if verdicts is not None:
        if not recorded_judges(program):
            raise UserError(
                f"verdicts: {given.name} was compiled for {given.spec.model}; none of it was recorded. Drop it."
            )
        given = replace(given, verdicts=read_recorded(named_table(verdicts, NAMES), OnWhat.of_card(program.card)))
    return Judge(
        **vars(given),
        workspace=workspace,
        budget=budget,
        max_cost=max_cost,
        allow_modified=allow_modified,
        functions=functions or {},
    )


def load_folder(
    folder: Path,
    *,
    home: str | Path = ".",
    lm: str | None = None,
    api_base: str | None = None,
    budget: int | None = None,
    max_cost: float | None = None,
) -> Judge:
    """Load a compiled judge from the folder of one version, wherever it is; parameters as ``load_judge``.

    Raises:
        ArtifactError: Its files are damaged, or do not fit this version of judgec.
    """
    given = as_loaded(programs.read_folder(folder), lm=lm, api_base=api_base)
    return Judge(**vars(given), workspace=Workspace(home), budget=budget, max_cost=max_cost)


def _type(column: Sequence[object]) -> str | None:
    """Numbers and truths as pandas' own types where nothing is missing, else what holds None."""
    kinds = {type(value) for value in column if value is not None}
    if kinds == {float}:
        return "float64"
    if kinds == {int}:
        return "Int64" if None in column else "int64"
    if kinds == {bool}:
        return "boolean" if None in column else "bool"
    return "object"
