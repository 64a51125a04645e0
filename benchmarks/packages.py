"""Packages, megabytes and CPU seconds of an import: judgec before and after its extras, beside MLflow and ragas.

``python -m benchmarks.packages [--only NAME ...] [--site FOLDER]``, in the project's root, writes ``packages.md`` and
``packages.json``; what is not measured keeps its line. A line is a package with all that its metadata require, as
installed in this environment, or in what ``pip install --target FOLDER`` filled: its files without bytecode, and the
CPU seconds of an import (user and system, without those of Python's start, the quickest of three).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks.figures import measured_on, table

PAGE = Path(__file__).with_suffix(".md")
FIGURES = Path(__file__).with_suffix(".json")
BEFORE = "c9537ec9~1"  # the last commit on which everything was installed with judgec
TRIES = 3  # of an import; the quickest counts
OURS = ("judgec", "judgec.verbs.compilation")
CASES: Mapping[str, tuple[str, ...]] = {  # what is installed, and what is imported of it
    "judgec before": OURS,
    "judgec": OURS,
    "judgec[rag]": OURS,
    "mlflow": ("mlflow",),
    "ragas": ("ragas",),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(CASES), default=[one for one in CASES if one != "ragas"])
    parser.add_argument("--site", type=Path, help="where it is installed; default: here")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    known = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    for name in options.only:
        known[name] = measured(name, [str(options.site)] if options.site else [one for one in sys.path if one])
        print(name, known[name], flush=True)
    FIGURES.write_text(json.dumps({one: known[one] for one in CASES if one in known}, indent=1) + "\n")
    rows = [line(name, known[name]) for name in CASES if name in known]
    python = ".".join(map(str, sys.version_info[:2]))
    lines = ["# Weight", "", *(__doc__ or "").split("\n\n")[1].replace("``", "`").splitlines(), ""]
    header = ("package", "packages", "MB", "import: CPU s", "with what a compile needs")
    said = f"Python {python}, {sys.platform}. {measured_on(load)}"
    PAGE.write_text("\n".join([*lines, *table(header, rows), "", said, ""]))


def line(name: str, found: Mapping[str, Any]) -> tuple[str, ...]:  # parsed JSON, as ``main`` wrote it
    seconds = ["fails" if one is None else f"{one:.2f}" for one in found["seconds"].values()]
    return name, str(found["packages"]), f"{found['mb']:,.0f}", *seconds, *[""] * (len(OURS) - len(seconds))


def measured(name: str, sites: list[str]) -> dict[str, object]:
    installed: dict[str, Distribution] = {
        canonicalize_name(one.metadata["Name"]): one for one in distributions(path=sites)
    }
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "before" if name == "judgec before" else Path()
        if source != Path():
            source.mkdir()
            archive = subprocess.run(["git", "archive", BEFORE], check=True, capture_output=True).stdout
            subprocess.run(["tar", "-x", "-C", source], check=True, input=archive)
        if name.startswith("judgec"):
            project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
            extras = [
                one
                for extra in Requirement(name.partition(" ")[0]).extras
                for one in project["optional-dependencies"][extra]
            ]
            found = required([*project["dependencies"], *extras], installed)
            ours = sum(
                one.stat().st_size for one in (source / "src").rglob("*") if one.is_file() and one.suffix != ".pyc"
            )
            packages, size = len(found) + 1, sum(map(bytes_of, found)) + ours
        else:
            found = required([name], installed)
            packages, size = len(found), sum(map(bytes_of, found))
        paths = [str((source / "src").resolve()), *sites]
        seconds = {module: imported(module, paths) for module in CASES[name]}
    return {"packages": packages, "mb": size / 1e6, "seconds": seconds}


def required(asked: Iterable[str], installed: Mapping[str, Distribution]) -> list[Distribution]:
    """Every distribution that pip would install for these requirements.

    Raises:
        SystemExit: One of them is not there.
    """
    found: dict[tuple[str, str], Distribution] = {}
    left = [(Requirement(one), "") for one in asked]
    while left:
        one, of = left.pop()
        if one.marker is not None and not one.marker.evaluate({"extra": of}):
            continue
        name = canonicalize_name(one.name)
        if name not in installed:
            raise SystemExit(f"{one.name} is not installed; pip install --target FOLDER, and --site FOLDER.")
        for extra in ("", *one.extras):
            if (name, extra) not in found:
                found[name, extra] = installed[name]
                left += [(Requirement(needs), extra) for needs in installed[name].requires or ()]
    return [one for (_, extra), one in found.items() if not extra]


def bytes_of(one: Distribution) -> int:
    files = [Path(str(one.locate_file(file))) for file in one.files or () if file.suffix != ".pyc"]
    return sum(file.stat().st_size for file in files if file.is_file())


def imported(module: str, paths: list[str]) -> float | None:
    """CPU seconds of an import, without those of Python's start; None where it fails."""
    try:
        start = min(_seconds("pass", paths) for _ in range(TRIES))
        return max(0.0, round(min(_seconds(f"import {module}", paths) for _ in range(TRIES)) - start, 2))
    except subprocess.CalledProcessError:
        return None


def _seconds(code: str, paths: list[str]) -> float:
    environ = {"PYTHONPATH": os.pathsep.join(paths), "PATH": "", "HOME": tempfile.gettempdir()}
    with subprocess.Popen([sys.executable, "-S", "-c", code], env=environ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, code)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
