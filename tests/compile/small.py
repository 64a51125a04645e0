"""Small compiles in this process: rows in, the saved version out, in a second or two."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from judgec.compile.compile import compile_judge
from judgec.compile.finished import SavedJudge
from judgec.compile.measured import Compiled
from judgec.compile.prepare import default_objective
from judgec.compile.settings import CompileSettings
from judgec.labels.labels import read_labels
from judgec.labels.reading import as_reading
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Spent
from judgec.lm.watch import Silent
from judgec.records.label import LabelSet
from tests.compile.saving import save
from tests.fake_lm import FAKE

Rows = Sequence[Mapping[str, object]]
CREATED = "2026-01-02T03:04:05+00:00"


@dataclass(frozen=True)
class Outcome:
    """A compile that was saved."""

    compiled: Compiled
    saved: SavedJudge
    settings: CompileSettings
    spent: Spent


def notes_of(found: Outcome) -> list[str]:
    """What the report tells the user."""
    notes = found.saved.report["notes"]
    assert isinstance(notes, list)
    return notes


def write(path: Path, rows: Rows) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def changed(settings: CompileSettings, **changes: object) -> CompileSettings:
    """The settings with some of their values changed, each by its own name, in whichever part it stands."""
    for name, value in changes.items():
        part = next((part for part in ("search", "candidates", "caps") if hasattr(getattr(settings, part), name)), None)
        one = {name: value} if part is None else {part: replace(getattr(settings, part), **{name: value})}
        settings = replace(settings, **one)
    return settings


def session_of(settings: CompileSettings) -> Session:
    """The models and the caps of a compile."""
    return Session(
        settings.lm,
        settings.home,
        reflection=settings.search.reflection,
        budget=settings.caps.budget,
        max_cost=settings.caps.max_cost,
        batch="passes" if settings.caps.batch else "nothing",
        environ={"OPENAI_API_KEY": "test"},
    )


def unsaved(labels: LabelSet, settings: CompileSettings) -> Compiled:
    with session_of(settings) as session:
        return compile_judge(labels, settings, session, Silent())


def compiled_on(
    labels: LabelSet, settings: CompileSettings, track: Callable[[SavedJudge], None] | None = None
) -> Outcome:
    with session_of(settings) as session:
        compiled = compile_judge(labels, settings, session, Silent())
        saved = save(compiled, settings, session.spent, created=CREATED, seconds=1.5, track=track)
        return Outcome(saved.compiled, saved, settings, session.spent)


def compiled_from(
    home: Path,
    rows: Rows,
    *,
    lm: str = FAKE,
    api_base: str | None = None,
    name: str = "small",
    objective: str | None = None,
    evidence: bool = False,
    seed: int = 0,
    accept_at: str | None = None,
    best: str | None = None,
    folds: int | None = 1,
    source: Mapping[str, object] | None = None,
) -> Outcome:
    """Compile on ``rows``; without evidence features nothing heavy is fitted."""
    reading = as_reading(accept_at=accept_at, annotators=["*"], best=best)
    labels = read_labels(str(write(home / f"{name}.jsonl", rows)), reading)
    spec = LMSpec.parse(lm, api_base=api_base)
    settings = CompileSettings(
        name=name,
        home=home,
        lm=spec,
        objective=objective or default_objective(labels),
        evidence=evidence or lm == "embedded",
        seed=seed,
        folds=folds,
        source=source or {},
    )
    return compiled_on(labels, settings)
