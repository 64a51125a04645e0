"""A probe of systems under test as an MLflow run."""

from judgec.connect.tracking.runs import Logged, ProbeRun
from judgec.connect.tracking.store import TrackingStore
from judgec.connect.tracking.tracked_run import log_run


def log_probe(store: TrackingStore, run: ProbeRun) -> Logged:
    """Log a probe.

    Raises:
        ServiceError: When the store refuses or fails.
        ArtifactError: When the database belongs to another MLflow version.
    """
    return log_run(store, run)
