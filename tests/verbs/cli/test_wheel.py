"""Wheel and source distribution: built from a copy of the tree as it lies, and used outside it."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from judgec import __version__
from tests.verbs.cli.process import ROOT

WHEEL = f"judgec-{__version__}-py3-none-any.whl"
SDIST = f"judgec-{__version__}.tar.gz"
TRAINSETS = ROOT / "trainsets"
SOURCES = ("src", "tests", "docs", "benchmarks", "demo", "trainsets")
JUNK = (  # what lies in a tree that has been worked in
    *("mlruns/mlflow.db", "programs/sensors/0001/card.json", ".judgec/journal.db", "shared/data/labels.jsonl"),
    *("tests/__pycache__/a.pyc", "src/judgec/__pycache__/a.pyc", ".mypy_cache/a.json", ".hypothesis/a", "judged.jsonl"),
    *("demo-out/report.html", ".venv/lib/a.py"),
)


def run(*command: object, folder: Path, **environment: str) -> str:
    """What a command prints, stderr last; PATH and PYTHONPATH of the tests do not help it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MLFLOW_", "PIP_"))}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**kept, "PATH": os.defpath, "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **environment},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def pip(*arguments: object, folder: Path) -> None:
    run(sys.executable, "-m", "pip", *arguments, folder=folder, PYTHONPATH=os.pathsep.join(dependencies()))


def dependencies() -> list[str]:
    """The folders of this environment that hold packages, but none that holds judgec itself."""
    found = [Path(entry) for entry in sys.path if Path(entry).name in {"site-packages", "dist-packages"}]
    return [str(entry) for entry in found if not (entry / "judgec").is_dir()]


def hook(name: str, tree: Path, out: Path) -> None:
    """Call a hook of the build backend, as ``python -m build`` does."""
    code = f"from setuptools import build_meta; build_meta.{name}({str(out)!r})"
    run(sys.executable, "-c", code, folder=tree, PYTHONPATH=os.pathsep.join(dependencies()))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout with changes that are not committed yet, and with what must not be packed."""
    copy = tmp_path_factory.mktemp("tree")
    for name in SOURCES:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy2(path, copy)
    for name in JUNK:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text("never to be packed")
    return copy


@pytest.fixture(scope="module")
def built(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the source distribution of the tree and the wheel that pip makes of it."""
    out = tmp_path_factory.mktemp("dist")
    hook("build_sdist", tree, out)
    pip("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", out, tree, folder=out)
    return out


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``bin`` of an environment that has the wheel and sees the dependencies of this one, but not this judgec."""
    place = tmp_path_factory.mktemp("elsewhere") / ".venv"
    venv.create(place, symlinks=True)
    python = place / "bin" / "python"
    pip("--python", python, "install", "--quiet", "--no-deps", built / WHEEL, folder=place)
    packages = next((place / "lib").glob("python*/site-packages"))
    (packages / "dependencies.pth").write_text("\n".join(dependencies()) + "\n")
    return python.parent


@pytest.mark.full
def test_source_distribution_holds_the_tree_and_nothing_that_was_made_in_it(tree: Path, built: Path) -> None:
    with tarfile.open(built / SDIST) as packed:
        names = {member.name.partition("/")[2]: member for member in packed.getmembers() if member.isfile()}
    made = {name for name in names if name in {"PKG-INFO", "setup.cfg"} or ".egg-info/" in name}
    assert {"LICENSE", "README.md", "setup.py", "trainsets/sensors/build.py", "tests/conftest.py"} <= names.keys()
    sources = {
        path.relative_to(tree).as_posix()
        for folder in SOURCES
        for path in (tree / folder).rglob("*")
        if path.is_file() and ".egg-info" not in str(path)
    }
    assert sources - names.keys() == {name for name in JUNK if name.endswith(".pyc")}
    assert not names.keys() & set(JUNK)
    rest = names.keys() - made - sources
    assert all("/" not in name and (ROOT / name).is_file() for name in rest), rest


@pytest.mark.full
def test_wheel_holds_the_package_its_data_the_labels_and_the_licence(tree: Path, built: Path) -> None:
    with zipfile.ZipFile(built / WHEEL) as packed:
        names = set(packed.namelist())
        hanna = [path.relative_to(TRAINSETS) for path in (TRAINSETS / "hanna").iterdir()]
        for path in (*(Path("sensors") / name for name in ("labels.jsonl", "datasheet.toml", "README.md")), *hanna):
            assert packed.read(f"judgec/trainsets/{path}") == (TRAINSETS / path).read_bytes()
            names.remove(f"judgec/trainsets/{path}")
        names.remove("judgec/docs/notebooks/compile.ipynb")
    package = tree / "src"
    expected = {path.relative_to(package).as_posix() for path in (package / "judgec").rglob("*") if path.is_file()}
    about = {name for name in names if name.startswith(f"judgec-{__version__}.dist-info/")}
    assert names - about == {name for name in expected if not name.endswith(".pyc")}
    assert any(name.endswith("/LICENSE") for name in about)


@pytest.mark.full
def test_wheel_made_from_the_source_distribution_holds_the_same(built: Path, tmp_path: Path) -> None:
    with tarfile.open(built / SDIST) as packed:
        packed.extractall(tmp_path, filter="data")
    hook("build_wheel", tmp_path / SDIST.removesuffix(".tar.gz"), tmp_path)
    with zipfile.ZipFile(tmp_path / WHEEL) as one, zipfile.ZipFile(built / WHEEL) as other:
        assert sorted((each.filename, each.CRC) for each in one.infolist()) == sorted(
            (each.filename, each.CRC) for each in other.infolist()
        )


@pytest.mark.full
def test_wheel_outside_the_tree_says_its_version_and_judges_a_recorded_row(installed: Path) -> None:
    folder = installed.parents[1]
    told = run(installed / "python", "-c", "import judgec; print(judgec.__file__)", folder=folder)
    assert Path(told.strip()).is_relative_to(installed.parent)
    assert run(installed / "judgec", "--version", folder=folder) == f"judgec {__version__}\n"
    shutil.copytree(ROOT / "tests" / "saved" / "programs" / "recorded", folder / "programs" / "recorded")
    row = {"item_id": "a", "query": "How long?", "document": "30 mm.", "judge": "gpt/odd", "grade": 2.5}
    (folder / "row.json").write_text(json.dumps([row]))
    judge = ("judge", "row.json", "--judge", "recorded", "--lm", "recorded:row.json", "--out", "judged.jsonl")
    run(installed / "judgec", *judge, folder=folder)
    judged = json.loads((folder / "judged.jsonl").read_text())
    assert judged["judge_grade"] == 2
