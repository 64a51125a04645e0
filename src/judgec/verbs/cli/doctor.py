"""``judgec doctor``: checks versions, keys, folders and tracking, and says what to do."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from judgec.errors import JudgecError, ServiceError
from judgec.verbs.cli.output import print_json
from judgec.verbs.cli.shell import ApiBaseOption, HomeOption, JsonOption, TrackingOption

PACKAGES = ("judgec", "dspy", "mlflow", "numpy", "openai", "optuna", "pandas", "pyarrow", "scikit-learn", "scipy")
EXTRAS = {"rag": "lancedb", "anthropic": "anthropic", "ray": "ray", "postgres": "pg8000"}  # and a module of each
EXTRAS |= {"sentence-transformers": "sentence_transformers"}
PROVIDERS = ("anthropic", "azure", "gemini", "groq", "mistral", "openai", "openrouter")
KEYS = {one: f"{one.upper()}_API_KEY" for one in PROVIDERS} | {"together_ai": "TOGETHERAI_API_KEY"}
Check = dict[str, object]  # name, status, detail, fix; service: a failure is the service's (exit 3), not ours (exit 2)


def doctor(
    lm: Annotated[str | None, typer.Option(metavar="MODEL", help="Also ask this model for one word.")] = None,
    api_base: ApiBaseOption = None,
    home: HomeOption = Path(),
    tracking_uri: TrackingOption = None,
    seal: Annotated[bool, typer.Option("--seal", help="Seal the judges from before versions were sealed.")] = False,
    json: JsonOption = False,
) -> None:
    """Check versions, keys, folders, the tracking store and, with --lm, the model.

    Example: judgec doctor
    """
    checks = list(examine(home, tracking_uri, lm, api_base, sealing=seal))
    failed = [one for one in checks if one["status"] == "fail"]
    if json:
        print_json({"ok": not failed, "checks": checks})
    for one in () if json else checks:
        typer.echo(f"{one['status']:<4}  {one['name']:<9}  {one['detail']}")
        if one["fix"]:
            typer.echo(f"{'':<15}  -> {one['fix']}")
    if failed:
        raise typer.Exit(3 if all(one["service"] for one in failed) else 2)


def check(name: str, status: str, detail: str, fix: str = "", *, service: bool = False) -> Check:
    """One line of the report; ``warn`` does not stop anything from working."""
    return {"name": name, "status": status, "detail": detail, "fix": fix, "service": service}


def examine(
    home: Path, tracking_uri: str | None, lm: str | None, api_base: str | None, *, sealing: bool
) -> Iterator[Check]:
    """Every check, in the order in which a new user meets the faults."""
    from judgec.connect.tracking.server.health import probe
    from judgec.connect.tracking.store import tracking_store
    from judgec.lm.hosts import named_endpoint

    yield check("python", "ok", f"{'.'.join(map(str, sys.version_info[:3]))} at {sys.executable}")
    yield packages()
    present = [key for key in KEYS.values() if os.environ.get(key)]
    said, needed = f"{', '.join(present)} set" if present else "none set", KEYS.get((lm or "").partition("/")[0])
    if needed and needed not in present and not api_base and not named_endpoint(str(lm), os.environ):
        yield check("keys", "fail", f"{said}; {lm} needs {needed}", f"export {needed}=...")
    else:
        yield check("keys", "ok", said)
    for folder in (home.resolve() / name for name in ("programs", "mlruns", ".judgec")):
        nearest = next(place for place in (folder, *folder.parents) if place.exists())
        if nearest.is_dir() and os.access(nearest, os.W_OK):
            yield check(folder.name, "ok", f"{folder} is writable" if nearest == folder else f"{folder} can be made")
        else:
            fix = f"Make {nearest} a writable folder, or choose another with --home."
            yield check(folder.name, "fail", f"{nearest} is not writable", fix)
    yield judges(home, sealing=sealing)
    try:
        yield check("tracking", "ok", probe(tracking_store(home, tracking_uri, os.environ)))
    except JudgecError as error:
        yield check("tracking", "fail", str(error), service=isinstance(error, ServiceError))
    if lm is not None:
        yield answers(lm, api_base)


def packages() -> Check:
    """Versions of the packages that judgec stands on, and the extras that are not installed."""
    from importlib.metadata import PackageNotFoundError, version
    from importlib.util import find_spec

    lacking = ", ".join(f"judgec[{extra}]" for extra, module in EXTRAS.items() if find_spec(module) is None)
    try:
        seen = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    except PackageNotFoundError as error:
        return check("packages", "fail", f"{error.name} is not installed", "Run pip install judgec again.")
    return check("packages", "ok", f"{seen}; without {lacking}" if lacking else seen)


def judges(home: Path, *, sealing: bool) -> Check:
    """Whether the files of every judge are as they were compiled; seals those that never were, if asked."""
    from judgec.table.seal import NAME, seal, state_of

    states: dict[str, list[str]] = {"sealed": [], "unsealed": [], "modified": []}
    folders = sorted(card.parent for card in home.glob("programs/*/*/card.json") if card.parent.name.isdecimal())
    try:
        for folder in folders:
            if sealing and not (folder / NAME).exists():
                seal(folder)
            state, changed = state_of(folder)
            states[state].append(" ".join((f"{folder.parent.name}@{int(folder.name)}", *changed)))
    except JudgecError as error:
        return check("judges", "fail", str(error))
    if states["modified"]:
        fix = (
            "Restore these files, or judge --allow-modified; to take them as they are, delete manifest.json and --seal."
        )
        return check("judges", "fail", f"modified since they were compiled: {', '.join(states['modified'])}", fix)
    if states["unsealed"]:
        return check("judges", "warn", f"never sealed: {', '.join(states['unsealed'])}", "judgec doctor --seal")
    return check("judges", "ok", f"{len(folders)} sealed, none modified")


def answers(model: str, api_base: str | None) -> Check:
    """One word from the model, through the client that judging uses."""
    from judgec.lm.client import open_lm, preflight
    from judgec.lm.spec import LMSpec
    from judgec.lm.usage import Budget, Usage

    try:
        spec = LMSpec.parse(model, api_base=api_base)
        if spec.no_model:
            return check("lm", "ok", "no model: evidence and rules alone")
        preflight(open_lm(spec, journal=None, budget=Budget(), usage=Usage()))
    except JudgecError as error:
        return check("lm", "fail", str(error), service=isinstance(error, ServiceError))
    return check("lm", "ok", f"{spec.asked_at} answered")
