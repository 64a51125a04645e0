"""A judge that ships as evidence alone: called so everywhere, asking nothing, and no rival of itself."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import judgec
from judgec.compile.family_state import FamilyState
from judgec.compile.track import run_of
from judgec.raters import programs
from judgec.records.card import EVIDENCE_ALONE
from judgec.verbs.cli.app import main
from judgec.verbs.compilation import compiled_report
from tests.compile.small import Outcome, compiled_from, write
from tests.report.page.html import Page
from tests.service.fake_openai import FakeOpenAI

WORDS = [f"{a}{b}" for a in ("am", "bir", "ce", "del") for b in ("ber", "chen", "dar", "tal")]


def rows(n: int) -> list[dict[str, object]]:
    """The answer repeats all, half or nothing of the reference, and that alone makes the grade."""
    rng = np.random.default_rng(0)
    made = []
    for k in range(n):
        words = rng.permutation(WORDS)
        reference, foreign = words[:8].tolist(), words[8:].tolist()
        kept = k % 3 * 4
        answer = " ".join(reference[:kept] + foreign[kept:])
        made.append(
            {
                "item_id": f"i{k}",
                "query_id": f"q{k // 2}",
                "query": f"which words belong to place {k // 2}",
                "reference": " ".join(reference),
                "answer": answer,
                "grade": k % 3 + 1,
            }
        )
    return made


@dataclass(frozen=True)
class World:
    """A judge that was compiled with a model whose verdicts are noise, and the endpoint of that model."""

    server: FakeOpenAI
    first: Outcome


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    home = tmp_path_factory.mktemp("alone")
    with FakeOpenAI("good") as server:
        yield World(server, compiled_from(home, rows(120), lm="openai/fake", api_base=server.base_url, evidence=True))


def test_judge_that_ships_as_evidence_alone_is_promoted_over_the_others_and_is_its_own_row(world: World) -> None:
    compiled = world.first.compiled
    assert not compiled.judge.asks_lm
    assert compiled.decision.promoted
    assert compiled.decision.rival != "evidence_only"
    judged = compiled.verification.judgments
    assert (judged["evidence_only"].grade == judged["compiled"].grade).all()
    assert compiled.decision.above == {}


def test_judge_of_evidence_alone_is_called_so_on_every_surface(world: World) -> None:
    saved, settings = world.first.saved, world.first.settings
    card = programs.load(settings.home, "small@1").card
    assert (card.evidence_alone, card.engine) == (True, EVIDENCE_ALONE)
    assert (saved.report["evidence_alone"], saved.report["judge_kind"], card.judge_kind) == (
        True,
        "evidence",
        "evidence",
    )
    assert str(saved.report["verdict"]).startswith(f"small ({EVIDENCE_ALONE}) agrees")
    notes = saved.report["notes"]
    assert isinstance(notes, list)
    assert any(note.startswith(f"{EVIDENCE_ALONE}: judging") for note in notes)
    text = Page(programs.page_path(settings.home, card).read_text(encoding="utf-8")).text
    assert f"small ({EVIDENCE_ALONE}) agrees" in text
    assert f"{EVIDENCE_ALONE}: judging" in text
    logged = run_of(saved, settings.home, source="l.jsonl", took=(1, 2))
    assert logged.version is not None
    assert logged.version.description == saved.report["verdict"]
    assert logged.tags["judgec.engine"] == EVIDENCE_ALONE
    assert [logged.params[name] for name in ("judge_kind", "lm", "prompt")] == ["evidence", "none", "none"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> judgec.Compilation:
    """Of two judges whose recorded verdicts are noise."""
    home, rng = tmp_path_factory.mktemp("recorded"), np.random.default_rng(1)
    labels = rows(120)
    noise = [
        {"item_id": row["item_id"], "judge": name, "grade": rng.integers(1, 4)}
        for row in labels
        for name in ("m/a", "m/b")
    ]
    return judgec.compile_judge(
        write(home / "l.jsonl", labels), verdicts=pd.DataFrame(noise), name="noisy", home=home, folds=1
    )


def test_compile_of_recorded_verdicts_that_ships_evidence_names_one_judge(recorded: judgec.Compilation) -> None:
    report, compiled = recorded.report, recorded.saved.compiled
    assert report["judge_kind"] == "evidence"
    costs = report["costs"]
    assert isinstance(costs, list)
    assert [row["kind"] for row in costs if row["chosen"]] == ["evidence"]
    assert compiled.combined
    screen = compiled_report(recorded)
    assert not [line for line in screen.lines if "anel" in line]
    assert not [table.title for table in screen.full or () if "anel" in table.title]
    assert not any("ship" in str(note) for note in report["notes"])


def test_judging_with_evidence_alone_asks_nothing_and_says_so(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    items = write(tmp_path / "items.jsonl", [{k: v for k, v in row.items() if k != "grade"} for row in rows(9)])
    calls = world.server.calls
    home, out = world.first.settings.home, tmp_path / "o.jsonl"
    typed = ["judge", items, "--judge", "small", "--out", out, "--home", home, "--lm", "openai/other"]
    monkeypatch.setattr("sys.argv", ["judgec", *map(str, typed)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    said = capsys.readouterr().err
    counts = judgec.judge_file(items, judge="small", out=out, home=home, lm="openai/other").report
    assert world.server.calls == calls
    assert (counts["lm_calls"], counts["unscored"], counts["evidence_alone"]) == (0, 0, True)
    assert f"small@1, {EVIDENCE_ALONE}" in said
    assert f"note: small@1: {EVIDENCE_ALONE}" in said
    assert [json.loads(line)["grade"] for line in (tmp_path / "o.jsonl").read_text().splitlines()] == [1, 2, 3] * 3


def test_evidence_only_is_a_rival_of_an_embedded_judge_that_reads_verdicts(tmp_path: Path) -> None:
    contest = compiled_from(tmp_path, rows(60)).compiled.promotion_test
    assert not contest.evidence_alone
    compiled = contest.verification.ratings["compiled"]
    slips = np.where(np.arange(len(compiled.target[:, 0])) % 4 == 0, 0, compiled.target[:, 0])
    better, worse = (replace(compiled, judge=grade) for grade in (compiled.target[:, 0], slips))
    ratings = {**contest.verification.ratings, "evidence_only": better, "compiled": worse}
    beaten = replace(contest, verification=replace(contest.verification, ratings=ratings))
    first = FamilyState(test_use=1, champion=None)
    assert beaten.decide(first).rival == "evidence_only"
    assert not beaten.decide(first).promoted
    assert "evidence_only" in beaten.decide(first).above
    assert replace(beaten, evidence_alone=True).decide(first).rival != "evidence_only"
