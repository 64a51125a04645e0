"""Locates the store of tracked runs without importing MLflow."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from judgec.errors import UserError

ENVIRONMENT_VARIABLE = "MLFLOW_TRACKING_URI"  # MLflow's own name for it
SERVER_SCHEMES = ("http", "https", "databricks")
SQLITE = "sqlite:///"


@dataclass(frozen=True, slots=True)
class TrackingStore:
    """An MLflow tracking store and the place of its artifacts.

    Args:
        uri: A database (``sqlite:///...``, ``postgresql://...``) or a server (``http://...``).
        artifacts: Where an experiment that judgec creates keeps its artifacts, as a URI; None when a server
            decides.
    """

    uri: str
    artifacts: str | None

    @property
    def is_server(self) -> bool:
        """True when the runs are kept by an MLflow server, which has a UI of its own."""
        return self.uri.split(":", 1)[0] in SERVER_SCHEMES

    @property
    def database(self) -> Path | None:
        """The SQLite file, or None when the store is not one."""
        return Path(self.uri.removeprefix(SQLITE)) if self.uri.startswith(SQLITE) else None

    @property
    def is_default(self) -> bool:
        """True for the database of a home, ``mlruns/mlflow.db``."""
        return self.database is not None and self.artifacts == (self.database.absolute().parent / "artifacts").as_uri()

    @property
    def shown(self) -> str:
        """The URI without its password, for messages."""
        parts = urlsplit(self.uri)
        if not parts.password:
            return self.uri
        user, _, host = parts.netloc.rpartition("@")
        return urlunsplit(parts._replace(netloc=f"{user.split(':', 1)[0]}:***@{host}"))


def tracking_store(home: Path, override: str | None, environ: Mapping[str, str]) -> TrackingStore:
    """The store to use: ``override``, else ``MLFLOW_TRACKING_URI``, else ``<home>/mlruns/mlflow.db``.

    Nothing is created or contacted.

    Args:
        home: Folder that holds ``mlruns/``.
        override: What ``--tracking-uri`` said, or None.
        environ: The environment.

    Raises:
        UserError: When the URI is a folder; MLflow keeps runs in a database or on a server.
    """
    folder = home.resolve() / "mlruns"
    where = "--tracking-uri" if override else ENVIRONMENT_VARIABLE
    uri = override or environ.get(ENVIRONMENT_VARIABLE) or f"{SQLITE}{folder / 'mlflow.db'}"
    if uri.startswith("file:") or (":" not in uri and uri not in SERVER_SCHEMES):
        raise UserError(
            f"{where}: {uri} is a folder; MLflow keeps runs in a database or on a server. "
            f"Use {SQLITE}{Path(uri.removeprefix('file://')) / 'mlflow.db'} or http://HOST:PORT."
        )
    store = TrackingStore(uri=uri, artifacts=None)
    if store.is_server:
        return store
    return TrackingStore(uri=uri, artifacts=(folder / "artifacts").as_uri())
