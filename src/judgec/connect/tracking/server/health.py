"""Checks whether the tracking store answers, without importing MLflow, which takes seconds."""

import socket
import sqlite3
import urllib.request
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from judgec.connect.tracking.store import TrackingStore
from judgec.errors import ArtifactError, ServiceError
from judgec.records.counts import plural

TIMEOUT = 2.0  # seconds
DATABASE_PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}  # their registered defaults


def probe(store: TrackingStore) -> str:
    """Describes the store in a few words. Nothing is created.

    Raises:
        ArtifactError: When the SQLite file is damaged or not MLflow's.
        ServiceError: When a server or database does not answer within two seconds.
    """
    if store.database is not None:
        return _probe_sqlite(store.database.resolve())
    if store.is_server:
        return _probe_server(store)
    return _probe_socket(store)


def _probe_sqlite(database: Path) -> str:
    if not database.exists():
        return f"{database} (made by the first compile)"
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=rw", uri=True, timeout=TIMEOUT)) as connection:
            (runs,) = connection.execute("SELECT count(*) FROM runs").fetchone()
            connection.execute("BEGIN IMMEDIATE").connection.rollback()  # the lock that a write takes
    except sqlite3.Error as error:
        raise ArtifactError(
            f"{database}: not a working MLflow database ({error}). "
            "Close what uses it; if it is damaged, move it away and the next compile makes a new one."
        ) from error
    return f"{database}, {plural(runs, 'run')}"


def _probe_server(store: TrackingStore) -> str:
    parts = urlsplit(store.uri)
    if not parts.netloc:
        return f"{store.shown} (not asked)"
    host = parts.netloc.rpartition("@")[2]  # /version needs no password
    url = urlunsplit((parts.scheme, host, f"{parts.path.rstrip('/')}/version", "", ""))
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as response:  # noqa: S310 -- http or https
            version = response.read(40).decode("utf-8", "replace").strip()
    except (OSError, ValueError) as error:
        raise ServiceError(
            f"{store.shown}: no MLflow server answers ({error}). Start it, or correct the tracking URI."
        ) from error
    return f"{store.shown}, MLflow {version}"


def _probe_socket(store: TrackingStore) -> str:
    parts = urlsplit(store.uri)
    port = parts.port or DATABASE_PORTS.get(parts.scheme.split("+", 1)[0])
    if not parts.hostname or not port:
        return f"{store.shown} (not asked)"
    try:
        socket.create_connection((parts.hostname, port), TIMEOUT).close()
    except OSError as error:
        raise ServiceError(
            f"{store.shown}: no database answers ({error}). Start it, or correct the tracking URI."
        ) from error
    return f"{store.shown}, accepts connections"
