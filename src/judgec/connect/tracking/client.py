"""Opens an MLflow store; a SQLite database that does not exist yet is made, whole or not at all."""

import logging
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

from judgec.connect.tracking.store import SQLITE, TrackingStore
from judgec.errors import ArtifactError, ServiceError
from judgec.private import OTHERS, private_folder

NOISY_LOGGERS = ("alembic", "mlflow.store.db.utils")  # one INFO line for each of 60 migrations


def open_store(store: TrackingStore) -> MlflowClient:
    """A client of the store; a SQLite database that does not exist yet is made, whole or not at all.

    Raises:
        ArtifactError: When the database belongs to another MLflow version or is damaged.
        ServiceError: When the store cannot be reached.
    """
    for name in NOISY_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        if store.database is not None and not store.database.exists():
            _create_database(store.database, own=store.is_default)
        client = MlflowClient(tracking_uri=store.uri)
        client.search_experiments(max_results=1)
    except MlflowException as error:
        if "out-of-date database schema" in error.message:
            raise ArtifactError(
                f"{store.shown}: the database was written by another MLflow version. "
                f"Back it up, then run: mlflow db upgrade '{store.shown}'"
            ) from error
        raise unreachable(store, error) from error
    except (OSError, sqlite3.Error) as error:
        raise unreachable(store, error) from error
    return client


def unreachable(store: TrackingStore, error: Exception) -> ServiceError:
    """The error for a store that does not work."""
    said = str(error).strip().splitlines() or [type(error).__name__]
    return ServiceError(
        f"{store.shown}: the MLflow store did not work ({said[0]}). "
        "Run judgec doctor, or choose another store with --tracking-uri."
    )


def new_database(draft: Path) -> None:
    """Make a database with MLflow's tables, which runs all of its migrations."""
    MlflowClient(tracking_uri=f"{SQLITE}{draft}").search_experiments(max_results=1)


def _create_database(database: Path, *, own: bool) -> None:
    """Build the schema elsewhere and link it in whole: neither a kill nor a second process can halve it.

    Args:
        database: The file.
        own: It lies in the home, and is made for its owner alone.
    """
    if own:
        private_folder(database.parent)
    database.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as elsewhere, TemporaryDirectory(dir=database.parent, prefix=".new-") as near:
        draft, whole = Path(elsewhere, "draft.db"), Path(near, "whole.db")
        new_database(draft)
        with closing(sqlite3.connect(draft)) as source, closing(sqlite3.connect(whole)) as target:
            source.backup(target)  # MLflow keeps its connection open; a plain copy would miss the log
        if own and not database.parent.stat().st_mode & OTHERS:
            whole.chmod(0o600)
        try:
            os.link(whole, database)
        except FileExistsError:
            return  # another process was first, and its database is as good
        except OSError:  # a file system without hard links
            whole.replace(database)
