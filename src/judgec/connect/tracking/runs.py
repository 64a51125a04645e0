"""Records what is tracked as plain data: it crosses to the process that talks to MLflow as JSON."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import ConfigDict

from judgec.records.estimate import Estimate
from judgec.records.record import Record

Metrics = Mapping[str, Estimate | float]
Status = Literal["FINISHED", "FAILED"]
Param = str | int | float | bool | None
PROGRAM_FOLDER = "judge"  # artifact path of the registered version
FIRST = "00-report.html"  # the page to read: MLflow lists artifacts by name
KEPT_SUFFIXES = (".json", ".html")


class _Logged(Record):
    model_config = ConfigDict(
        ser_json_inf_nan="constants",
    )


class CandidateRun(_Logged):
    """One candidate prompt of a compile; a child run.

    Args:
        name: Shown in the list of runs.
        params: What it was made with.
        metrics: For example ``dev.tau_b``.
        started: POSIX seconds.
        ended: POSIX seconds.
        status: ``FAILED`` when it could not be evaluated.
        tags: Further words, for example the reason of a failure.
    """

    name: str
    params: Mapping[str, Param]
    metrics: Metrics
    started: float
    ended: float
    status: Status = "FINISHED"
    tags: Mapping[str, str] = {}


class DatasetInput(_Logged):
    """A data set a compile read. Its texts are not sent: they may be private, and the digest names them.

    Args:
        name: For example ``labels.csv``.
        digest: SHA-256 of the rows; MLflow shows its first 36 characters.
        split: What it was used for: ``train``, ``dev``, ``test``.
        source: Where the rows came from: a path or ``hf:owner/name@split``.
        columns: Type by column name: ``string``, ``long``, ``double`` or ``boolean``.
        n_rows: How many rows.
        profile: Further facts, for example the grade histogram.
    """

    name: str
    digest: str
    split: str
    source: str
    columns: Mapping[str, Literal["string", "long", "double", "boolean"]]
    n_rows: int
    profile: Mapping[str, int | float | str] = {}


class DisagreementTrace(_Logged):
    """A test item on which judge and experts differ, or that has no grade; becomes a trace.

    Args:
        item_id: Of the item.
        inputs: Its texts by field.
        graded: The fields that are graded.
        expert: The experts' consensus by aspect.
        judge: The judge's name and version.
        verdict: Its grade by aspect, None where it has none.
        reason: The judge's.
        unscored: Why it has no grade, or None.
    """

    item_id: str
    inputs: Mapping[str, str | tuple[str, ...]]
    graded: tuple[str, ...]
    expert: Mapping[str, object]
    judge: str
    verdict: Mapping[str, object]
    reason: str
    unscored: str | None


ColumnKind = Literal["text", "texts", "number", "whole", "truth"]


class ModelFields(_Logged):
    """Columns that a registered judge reads and gives, by name.

    Args:
        inputs: What it reads; ``texts`` takes one text or several.
        required: Those that every row has.
        outputs: What it gives; where nothing is known there is none.
    """

    inputs: Mapping[str, ColumnKind]
    required: tuple[str, ...]
    outputs: Mapping[str, ColumnKind]


class ModelVersion(_Logged):
    """A compiled judge to register.

    Args:
        name: The family; ``/`` and ``:`` are not allowed in it.
        folder: The version's folder; its ``.json`` and ``.html`` files are logged, nothing pickled is.
        aliases: ``champion`` or ``challenger``; an alias moves here from the version that had it.
        tags: Shown beside the version: ``test.tau_b``, ``test.accept_agreement``, ``promoted``, ``labels``.
        description: One paragraph.
        fields: Of a judge, which MLflow can then load (``mlflow.pyfunc``); None for what only judgec runs.
    """

    name: str
    folder: Path
    aliases: tuple[str, ...] = ()
    tags: Mapping[str, str] = {}
    description: str = ""
    fields: ModelFields | None = None


class TrackedRun(_Logged):
    """The fields of every tracked run.

    Args:
        name: Shown in the list of runs, for example ``sensors 0003``.
        params: Settings; names are encoded like metric names.
        metrics: Each kind of run says which. An ``Estimate`` becomes the metric and its ``.low``, ``.high`` and
            ``.p``. An undefined value stands in the table ``metrics.json`` alone, with the reason.
        headline: The few numbers that MLflow shows as metrics; the table has ``metrics``, all of them. None shows all.
        started: POSIX seconds.
        ended: POSIX seconds.
        artifacts: Files by artifact path.
        tables: By name, columns and data as of ``mlflow.log_table``; logged as ``<name>.json``.
        tags: Further words.
        description: Markdown shown on the run's page.
        experiment: The MLflow experiment.
        key: What tells this run from any other, or empty; a run with a key is logged once.
    """

    command: ClassVar[str]  # of judgec, as MLflow shows a run's source
    kind: str
    name: str
    params: Mapping[str, Param]
    metrics: Metrics
    headline: Mapping[str, float] | None = None
    started: float
    ended: float
    artifacts: Mapping[str, Path] = {}
    tables: Mapping[str, Mapping[str, list[object]]] = {}
    tags: Mapping[str, str] = {}
    description: str = ""
    experiment: str = "judgec"
    key: str = ""

    def files(self) -> Mapping[str, Path]:
        """All files to log, by artifact path."""
        return self.artifacts


class CompileRun(TrackedRun):
    """One compile of a judge, an agent or a query generator: a parent run.

    Metrics are ``test.tau_b`` for what was compiled, ``test.uncompiled.tau_b`` for the others.

    Args:
        candidates: The child runs.
        datasets: The inputs.
        version: What to register, or None.
        disagreements: Items to log as traces; none unless they were asked for, since they hold whole texts.
    """

    command: ClassVar[str] = "compile-judge"
    kind: Literal["compile"] = "compile"
    candidates: tuple[CandidateRun, ...]
    datasets: tuple[DatasetInput, ...]
    version: ModelVersion | None = None
    disagreements: tuple[DisagreementTrace, ...] = ()

    def files(self) -> Mapping[str, Path]:
        """The artifacts, and the version's own files."""
        if self.version is None:
            return self.artifacts
        own = sorted(path for path in self.version.folder.iterdir() if path.suffix in KEPT_SUFFIXES)
        page = self.version.folder / "report.html"
        first = {FIRST: page} if page in own else {}
        return {**first, **self.artifacts, **{f"{PROGRAM_FOLDER}/{path.name}": path for path in own}}


class VersionRun(TrackedRun):
    """A run with a version of a judge that exists; its outcome is set on that version.

    Args:
        judge: The judge's family.
        judge_version: Its version.
        version_tags: Set on that registered version, where the store has it.
    """

    judge: str
    judge_version: int
    version_tags: Mapping[str, str] = {}


class TournamentRun(VersionRun):
    """One tournament.

    Args:
        rated: ``elo.<agent>`` and ``rating.<agent>`` of the best agents; they stand on the run of the judge's version,
            too, a step a tournament, so that one compare page has them beside its tau-b and accept agreement.
        played: Digest of the queries and agents: ratings are comparable only where it is equal.

    Metrics are ``rating.<agent>``, ``elo.<agent>`` and the like, and beside them the judge's own ``test.tau_b`` and
    ``test.accept_agreement``, so that judges and the ratings they gave stand in one compare view.
    """

    command: ClassVar[str] = "evaluate"
    kind: Literal["tournament"] = "tournament"
    rated: Mapping[str, float] = {}
    played: str = ""


class AuditRun(VersionRun):
    """One audit of a version of a judge: metrics ``audit.<name>``, and the outcome of each on that version."""

    command: ClassVar[str] = "audit"
    kind: Literal["audit"] = "audit"


class ProbeRun(TrackedRun):
    """One probe of systems under test; metrics are ``failure_rate.<scenario>.<system>``, totals and counts."""

    command: ClassVar[str] = "probe"
    kind: Literal["probe"] = "probe"


class SystemsRun(TrackedRun):
    """One comparison of systems; metrics are ``accept_rate.<system>``, ``mean.<system>`` or ``win_rate.<system>``."""

    command: ClassVar[str] = "systems"
    kind: Literal["systems"] = "systems"


AnyRun = CompileRun | TournamentRun | AuditRun | ProbeRun | SystemsRun
"""What ``kind`` tells apart."""


class Logged(_Logged):
    """The place where a run was logged.

    Args:
        run_id: MLflow's id of the parent run.
        experiment_id: MLflow's id of the experiment.
        model_version: MLflow's number of the registered version, or None.
    """

    run_id: str
    experiment_id: str
    model_version: int | None = None
