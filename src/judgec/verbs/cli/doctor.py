"""``judgec doctor``: checks versions, keys, folders, disk and tracking, and says what to do."""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from judgec.errors import JudgecError, ServiceError
from judgec.records.counts import plural
from judgec.verbs.cli.output import print_json
from judgec.verbs.cli.shell import ApiBaseOption, HomeOption, JsonOption, TrackingOption

Status = Literal["ok", "warn", "fail"]
Preflight = Callable[[str, str | None], str]  # (model, api base) -> what answered; raises JudgecError

MIN_PYTHON = (3, 11)
PACKAGES = ("dspy", "mlflow", "numpy", "openai", "optuna", "pandas", "pyarrow", "scikit-learn", "scipy")
KEYS = {  # by the prefix of a model's name
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "groq": "GROQ_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "azure": "AZURE_API_KEY",
    "together_ai": "TOGETHERAI_API_KEY",
}
FREE_WARN, FREE_FAIL = 1e9, 1e8  # bytes: a compile writes tens of MB, the journal of a large job more


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report.

    Args:
        name: What was looked at.
        status: ``warn`` does not stop anything from working.
        detail: What was seen.
        fix: What to do, or empty.
        service: True when a failure is the service's (exit 3) and not this machine's (exit 2).
    """

    name: str
    status: Status
    detail: str
    fix: str = ""
    service: bool = False


def doctor(
    lm: Annotated[str | None, typer.Option(metavar="MODEL", help="Also ask this model for one word.")] = None,
    api_base: ApiBaseOption = None,
    home: HomeOption = Path(),
    tracking_uri: TrackingOption = None,
    seal: Annotated[bool, typer.Option("--seal", help="Seal the judges from before versions were sealed.")] = False,
    json: JsonOption = False,
) -> None:
    """Check versions, keys, folders, disk, the tracking store and, with --lm, the model.

    Example: judgec doctor
    """
    import os

    if seal:
        seal_all(home)
    checks = list(
        examine(
            home=home,
            environ=os.environ,
            tracking_uri=tracking_uri,
            lm=lm,
            api_base=api_base,
            preflight=ask_model,
        )
    )
    failed = [check for check in checks if check.status == "fail"]
    if json:
        print_json({"ok": not failed, "checks": [asdict(check) for check in checks]})
    else:
        width = max(len(check.name) for check in checks)
        for check in checks:
            typer.echo(f"{check.status:<4}  {check.name:<{width}}  {check.detail}")
            if check.fix:
                typer.echo(f"{'':<{width + 6}}  -> {check.fix}")
    if failed:
        raise typer.Exit(3 if all(check.service for check in failed) else 2)


def examine(
    *,
    home: Path,
    environ: Mapping[str, str],
    tracking_uri: str | None,
    lm: str | None,
    api_base: str | None,
    preflight: Preflight,
) -> Iterator[Check]:
    """Every check, in the order a new user meets the faults.

    Args:
        home: Folder of programs/, mlruns/ and .judgec/; need not exist.
        environ: The environment; values of keys are never shown.
        tracking_uri: What ``--tracking-uri`` said, or None.
        lm: A model to reach, or None to leave the network alone.
        api_base: Where it is served, or None.
        preflight: Asks the model.
    """
    yield check_python(sys.version_info[:3])
    yield check_packages()
    yield check_keys(environ, lm, api_base)
    for name in ("programs", "mlruns", ".judgec"):
        yield check_writable(name, home.resolve() / name)
    yield check_journal(home.resolve() / ".judgec" / "journal.db")
    yield check_seals(home)
    yield check_disk(home.resolve())
    yield check_tracking(home, tracking_uri, environ)
    if lm is not None:
        yield check_lm(lm, api_base, preflight)


def ask_model(model: str, api_base: str | None) -> str:
    """One word from the model, through the client that judging uses."""
    from judgec.lm.client import open_lm, preflight
    from judgec.lm.spec import LMSpec
    from judgec.lm.usage import Budget, Usage

    spec = LMSpec.parse(model, api_base=api_base)
    if spec.no_model:
        return "no model: evidence and rules alone"
    preflight(open_lm(spec, journal=None, budget=Budget(), usage=Usage()))
    return f"{spec.asked_at} answered"


def check_python(version: tuple[int, ...]) -> Check:
    """Is the interpreter new enough?"""
    seen = ".".join(map(str, version))
    if version[:2] >= MIN_PYTHON:
        return Check("python", "ok", f"{seen} at {sys.executable}")
    return Check("python", "fail", f"{seen}; 3.11 or newer is needed", "Install Python 3.11 and judgec in it.")


def check_packages() -> Check:
    """Are the packages that judgec stands on installed, in versions that fit?"""
    from importlib.metadata import PackageNotFoundError, requires, version

    from packaging.requirements import Requirement

    try:
        needed = [Requirement(line) for line in requires("judgec") or ()]
        own = f"judgec {version('judgec')}"
    except PackageNotFoundError:
        needed, own = [Requirement(name) for name in PACKAGES], "judgec from its source folder"
    found, faults = [own], []
    for requirement in needed:
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            seen = version(requirement.name)
        except PackageNotFoundError:
            faults.append(f"{requirement.name} is not installed")
            continue
        if not requirement.specifier.contains(seen, prereleases=True):
            faults.append(f"{requirement.name} {seen} is not {requirement.specifier}")
        found.append(f"{requirement.name} {seen}")
    if faults:
        return Check("packages", "fail", "; ".join(faults), "Run make setup, or pip install judgec again.")
    return Check("packages", "ok", ", ".join(found))


def check_keys(environ: Mapping[str, str], lm: str | None, api_base: str | None) -> Check:
    """Which API keys are set; a missing one is a failure only for the model that was named."""
    present = [key for key in KEYS.values() if environ.get(key)]
    detail = f"{', '.join(present)} set" if present else "none set; without --lm none is needed"
    needed = KEYS.get((lm or "").split("/", 1)[0])
    from judgec.lm.hosts import named_endpoint

    elsewhere = api_base is not None or (lm is not None and named_endpoint(lm, environ) is not None)
    if needed and needed not in present and not elsewhere:
        return Check("keys", "fail", f"{detail}; {lm} needs {needed}", f"export {needed}=...")
    return Check("keys", "ok", detail)


def check_writable(name: str, folder: Path) -> Check:
    """Can files be made in the folder, or in the nearest one above it that exists? Leaves nothing behind."""
    from tempfile import TemporaryFile

    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        fix = f"Make {nearest} a writable folder, or choose another with --home."
        return Check(name, "fail", f"{nearest} is not writable ({error.strerror})", fix)
    return Check(name, "ok", f"{folder} is writable" if nearest == folder else f"{folder} can be made")


def check_journal(journal: Path) -> Check:
    """Does the journal of paid judgments open, and does it take writes?"""
    import sqlite3
    from contextlib import closing

    if not journal.exists():
        return Check("journal", "ok", "none yet")
    try:
        with closing(sqlite3.connect(f"{journal.as_uri()}?mode=rw", uri=True, timeout=1)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            connection.execute("BEGIN IMMEDIATE").connection.rollback()
    except sqlite3.OperationalError as error:  # locked or read-only: a second judgec may be at work
        return Check("journal", "warn", f"{journal}: {error}", "Let the other judgec finish, or end it.")
    except sqlite3.DatabaseError as error:
        fix = f"Move {journal} away; judgments are asked for again and a new one is made."
        return Check("journal", "fail", f"{journal}: {error}", fix)
    return Check("journal", "ok", f"{journal}, {journal.stat().st_size / 1e6:.1f} MB")


def seal_all(home: Path) -> None:
    """Write the manifest of every version that has none."""
    from judgec.table.seal import NAME, seal

    for folder in _versions(home):
        if not (folder / NAME).exists():
            seal(folder)


def check_seals(home: Path) -> Check:
    """Are the files of every judge as they were compiled?"""
    from judgec.table.seal import state_of

    found: dict[str, list[str]] = {"sealed": [], "unsealed": [], "modified": []}
    try:
        for folder in _versions(home):
            state, changed = state_of(folder)
            found[state].append(f"{folder.parent.name}@{int(folder.name)}" + "".join(f" {name}" for name in changed))
    except JudgecError as error:
        return _failure("judges", error)
    if found["modified"]:
        fix = (
            "Restore these files, or judge --allow-modified; to take them as they are, delete manifest.json and --seal."
        )
        return Check("judges", "fail", f"modified since they were compiled: {', '.join(found['modified'])}", fix)
    if found["unsealed"]:
        fix = "judgec doctor --seal"
        return Check("judges", "warn", f"{len(found['unsealed'])} never sealed: {', '.join(found['unsealed'])}", fix)
    return Check("judges", "ok", f"{plural(len(found['sealed']), 'version')}, none modified")


def _versions(home: Path) -> list[Path]:
    """The folder of every version."""
    return sorted(card.parent for card in home.glob("programs/*/*/card.json") if card.parent.name.isdecimal())


def check_disk(home: Path) -> Check:
    """Is there room for what a compile writes?"""
    import shutil

    nearest = next(place for place in (home, *home.parents) if place.exists())
    free = shutil.disk_usage(nearest).free
    if free >= FREE_WARN:
        return Check("disk", "ok", f"{free / 1e9:.0f} GB free")
    status: Status = "warn" if free >= FREE_FAIL else "fail"
    return Check("disk", status, f"{free / 1e6:.0f} MB free", f"Free some space at {nearest}, or use --home.")


def check_tracking(home: Path, tracking_uri: str | None, environ: Mapping[str, str]) -> Check:
    """Does the MLflow store answer?"""
    from judgec.connect.tracking.server.health import probe
    from judgec.connect.tracking.store import tracking_store

    try:
        return Check("tracking", "ok", probe(tracking_store(home, tracking_uri, environ)))
    except JudgecError as error:
        return _failure("tracking", error)


def check_lm(model: str, api_base: str | None, preflight: Preflight) -> Check:
    """Does the model answer?"""
    try:
        return Check("lm", "ok", preflight(model, api_base))
    except JudgecError as error:
        return _failure("lm", error)


def _failure(name: str, error: JudgecError) -> Check:
    """An error's last sentence says what to do."""
    seen, _, step = str(error).rstrip().rpartition(". ")
    return Check(name, "fail", seen or step, step if seen else "", service=isinstance(error, ServiceError))
