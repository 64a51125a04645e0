"""Runs with a version of a judge, a tournament or an audit, and their outcome on that registered version."""

from mlflow import MlflowClient
from mlflow.entities.model_registry import ModelVersion
from mlflow.exceptions import MlflowException

from judgec.connect.tracking.client import open_store
from judgec.connect.tracking.names import encode_metric
from judgec.connect.tracking.runs import AuditRun, Logged, TournamentRun, VersionRun
from judgec.connect.tracking.store import TrackingStore
from judgec.connect.tracking.tracked_run import log_run, log_values
from judgec.errors import ServiceError

PLAYED_PARAM = "tournament.played."  # and its number: what was played there
VERSION_TAG = "version"  # our number, on a registered version; MLflow counts its own


def log_tournament(store: TrackingStore, run: TournamentRun) -> Logged:
    """Log a tournament; a store that does not know the judge gets the run alone.

    Raises:
        ServiceError: When the store refuses or fails.
        ArtifactError: When the database belongs to another MLflow version.
    """
    return _log_and_tag(store, run)


def log_audit(store: TrackingStore, run: AuditRun) -> Logged:
    """Log an audit; otherwise as ``log_tournament``."""
    return _log_and_tag(store, run)


def _log_and_tag(store: TrackingStore, run: TournamentRun | AuditRun) -> Logged:
    logged = log_run(store, run)
    client = open_store(store)
    try:
        version = _registered(client, run)
        if version is None:
            return logged
        tags = {f"{run.kind}.run_id": logged.run_id, **run.version_tags}
        if isinstance(run, TournamentRun) and run.rated and version.run_id:
            _rate(client, str(version.run_id), run)
            tags["tournament.played"] = run.played
        for name, value in tags.items():
            client.set_model_version_tag(version.name, version.version, encode_metric(name), value)
    except MlflowException as error:
        raise ServiceError(
            f"{store.shown}: run {logged.run_id} is logged, tagging the judge failed ({error}). "
            "Run judgec doctor, or choose another store with --tracking-uri."
        ) from error
    return logged.model_copy(update={"model_version": int(version.version)})


def _rate(client: MlflowClient, run_id: str, run: TournamentRun) -> None:
    """Put a tournament's ratings on the run of the version that judged, as its next step."""
    known = client.get_run(run_id).data.params
    step = 1 + sum(name.startswith(PLAYED_PARAM) for name in known)
    log_values(client, run_id, {f"{PLAYED_PARAM}{step:03d}": run.played}, run.rated, run.ended, step=step)


def _registered(client: MlflowClient, run: VersionRun) -> ModelVersion | None:
    """The judge's version: the one tagged with our number, or whose compile has it as a parameter; the newest."""
    number = f"{run.judge_version:04d}"
    found = client.search_model_versions(f"name = '{run.judge}'")
    for version in sorted(found, key=lambda one: -int(one.version)):
        tagged = version.tags.get(VERSION_TAG)
        if tagged is None and version.run_id:
            tagged = client.get_run(version.run_id).data.params.get("version")
        if tagged == number:
            return version
    return None
