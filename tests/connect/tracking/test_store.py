"""Where runs are kept."""

from pathlib import Path

import pytest

from judgec.connect.tracking.store import TrackingStore, tracking_store
from judgec.errors import UserError


def test_tracking_store_by_default_lies_under_home(tmp_path: Path) -> None:
    home = tmp_path / "my home"
    store = tracking_store(home, None, {})
    assert store.uri == f"sqlite:///{home}/mlruns/mlflow.db"
    assert store.database == home / "mlruns" / "mlflow.db"
    assert store.artifacts == f"file://{tmp_path}/my%20home/mlruns/artifacts"
    assert not home.exists()


def test_tracking_store_option_beats_environment_beats_home(tmp_path: Path) -> None:
    environ = {"MLFLOW_TRACKING_URI": "http://tracking:5000"}
    assert tracking_store(tmp_path, None, environ) == TrackingStore("http://tracking:5000", None)
    assert tracking_store(tmp_path, "sqlite:///x.db", environ).uri == "sqlite:///x.db"
    assert tracking_store(tmp_path, None, {"MLFLOW_TRACKING_URI": ""}).database is not None
    assert tracking_store(tmp_path, "databricks", environ).is_server


def test_tracking_store_database_server_keeps_artifacts_at_home(tmp_path: Path) -> None:
    store = tracking_store(tmp_path, "postgresql://me:secret@db/mlflow", {})
    assert not store.is_server
    assert store.database is None
    assert store.artifacts == (tmp_path / "mlruns" / "artifacts").as_uri()


@pytest.mark.parametrize("uri", ["mlruns", "./mlruns", "file:///data/mlruns"])
def test_tracking_store_folder_names_the_database_to_use(uri: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--tracking-uri: .* sqlite:///.*mlruns/mlflow.db"):
        tracking_store(tmp_path, uri, {})
    with pytest.raises(UserError, match="MLFLOW_TRACKING_URI"):
        tracking_store(tmp_path, None, {"MLFLOW_TRACKING_URI": uri})


def test_relative_database_is_not_the_homes_own(tmp_path: Path) -> None:
    """What ``mlflow.set_tracking_uri("sqlite:///traced.db")`` leaves in the environment."""
    store = tracking_store(tmp_path, None, {"MLFLOW_TRACKING_URI": "sqlite:///traced.db"})
    assert (store.database, store.is_default) == (Path("traced.db"), False)
    assert tracking_store(tmp_path, None, {}).is_default


def test_shown_password_is_hidden() -> None:
    for uri, shown in (
        ("postgresql://me:s3cret@db:5432/m", "postgresql://me:***@db:5432/m"),
        *(("http://t:5000",) * 2,),
    ):
        assert TrackingStore(uri, None).shown == shown
