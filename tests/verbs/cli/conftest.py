"""The judges that command-line tests share: compiling costs seconds, so it is done once a run, by whoever is first."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from judgec.compile.compile import compile_judge
from judgec.compile.finished import SavedJudge
from judgec.compile.measured import Compiled
from judgec.compile.settings import CompileSettings
from judgec.labels.labels import read_labels
from judgec.labels.split.family import locked_family
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Silent
from tests.compile.saving import save
from tests.compile.small import write
from tests.service import grading_world
from tests.service.fake_openai import FakeOpenAI
from tests.service.grading_world import rows
from tests.verbs.cli.process import CANARY, Shared, judgec, spoken

FOLDER = "sp ace é 漢 [x] :smile:"


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / FOLDER
    labels, home, kept = folder / "wörld [1].jsonl", folder / "hö me", folder / "kept.json"
    with locked_family(folder, "compiling"):
        if not kept.exists():
            write(labels, grading_world.rows(150, per_query=2, reasoned=True))
            kept.write_text(json.dumps(_compile(folder, labels, home)))
    return Shared(folder, home, labels, **json.loads(kept.read_text()))


def _compile(folder: Path, labels: Path, home: Path) -> dict[str, object]:
    with FakeOpenAI("teachable") as server:
        options = ["--lm", "openai/fake", "--api-base", server.base_url, "--no-evidence", "--name", "world"]
        command = ["compile-judge", labels.name, *options, "--home", home.name, "--json"]
        first = judgec(folder, *command, OPENAI_API_KEY=CANARY)
        calls = [server.calls]
        again = judgec(folder, *command, "--require-promotion", code=1, OPENAI_API_KEY=CANARY)
        calls.append(server.calls - calls[0])
        seen = {"calls": calls, "key_sent": server.keys == {f"Bearer {CANARY}"}, "url": server.base_url}
    return {"first": spoken(first), "again": spoken(again), "server": seen}


QUERIES = 80


@dataclass(frozen=True)
class Home:
    """Where the judge ``world`` lives: version 1 abstains below a confidence, 2 never does.

    ``server`` is the only endpoint that its journal knows; ``calls`` is what the compiles asked of it.
    """

    folder: Path
    labels: Path
    server: FakeOpenAI
    calls: int
    first: Compiled
    report: dict[str, object]


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    folder = tmp_path_factory.mktemp("home")
    file = folder / "world.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows(QUERIES * 2, per_query=2)))
    with FakeOpenAI("teachable") as server:
        settings = CompileSettings(
            name="world",
            home=folder,
            lm=LMSpec.parse("openai/fake", api_base=server.base_url),
            evidence=False,
            abstain_below=0.85,
            source={
                "path": str(file), "task": None, "rename": {}, "annotators": [], "accept_at": None, "assessment": None,
            },
        )  # fmt: skip
        first, saved = compiled(settings)
        compiled(replace(settings, abstain_below=None, seed=7))
        yield Home(folder, file, server, server.calls, first, saved.report)


def compiled(settings: CompileSettings) -> tuple[Compiled, SavedJudge]:
    labels = read_labels(str(settings.source["path"]))
    with Session(settings.lm, settings.home, environ={"OPENAI_API_KEY": "k"}) as session:
        outcome = compile_judge(labels, settings, session, Silent())
        return outcome, save(outcome, settings, session.spent, created="2026-01-01T00:00:00+00:00", seconds=1.0)
