"""What a new version has to beat, and that the champion is always itself: its own judgments or its own model."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from judgec.compile.compile import compile_judge
from judgec.compile.dataset import ratings_of
from judgec.compile.family_state import FamilyState
from judgec.compile.rivals import _baselines
from judgec.compile.settings import CompileSettings
from judgec.compile.verify import verify
from judgec.labels.labels import read_labels
from judgec.labels.split.family import read_family
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Silent
from judgec.raters import programs
from judgec.records.judgment import Judgments
from judgec.stats.agreement.objective import parse_objective
from judgec.stats.intervals.significance import level_for_test_use
from judgec.table.seal import seal
from tests.compile.saving import save
from tests.compile.small import CREATED, Outcome, compiled_from, session_of, write
from tests.service import grading_world
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Status
from tests.service.replies import Outcome as Reply

ROWS = grading_world.rows(120, per_query=2, reasoned=True)
MORE = grading_world.rows(180, per_query=2, reasoned=True)  # ROWS and 60 rows of new queries


@dataclass(frozen=True)
class World:
    """A family whose champion was compiled with a language model, and that model's endpoint."""

    home: Path
    server: FakeOpenAI
    first: Outcome


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    home = tmp_path_factory.mktemp("champion")
    with FakeOpenAI("teachable") as server:
        yield World(home, server, compiled_from(home, ROWS, lm="openai/fake", api_base=server.base_url))


@pytest.fixture
def world(made: World, tmp_path: Path) -> World:
    shutil.copytree(made.home, tmp_path / "home")
    return replace(made, home=tmp_path / "home")


def test_first_version_that_beats_the_best_baseline_becomes_champion(world: World) -> None:
    decision, card = world.first.compiled.decision, world.first.saved.card
    ratings = world.first.compiled.verification.ratings
    tau_b = parse_objective("tau_b")
    best = max(("majority", "uncompiled"), key=lambda name: tau_b.value(ratings[name]))
    assert (decision.rival, decision.test_use, card.promoted, card.parent) == (best, 1, True, None)
    assert decision.difference.value == pytest.approx(tau_b.value(ratings["compiled"]) - tau_b.value(ratings[best]))
    assert decision.difference.low is not None
    assert decision.difference.low >= 0
    assert programs.aliases(world.home, "small") == {"champion": 1}
    gain = world.first.compiled.prompt_gain["tau_b"]  # of a prompt that can teach
    assert gain.low is not None
    assert gain.low > 0
    assert world.first.compiled.shipped.name != "zero-shot"


def test_champion_of_another_model_is_compared_by_its_saved_judgments_and_never_asked(world: World) -> None:
    calls = world.server.calls
    second = compiled_from(world.home, ROWS)  # the fake, whose verdicts on this world are worth nothing
    assert world.server.calls == calls
    assert second.compiled.decision.rival == "champion"
    assert (second.saved.card.promoted, second.saved.card.parent, second.saved.card.looks) == (False, 1, 2)
    tau_b, before = parse_objective("tau_b"), world.first.compiled.verification.ratings["compiled"]
    expected = tau_b.value(second.compiled.verification.ratings["compiled"]) - tau_b.value(before)
    assert second.compiled.decision.difference.value == pytest.approx(expected)
    assert programs.aliases(world.home, "small") == {"champion": 1, "challenger": 2}


def test_champion_is_asked_through_its_own_model_about_new_test_items_only(world: World) -> None:
    before = len(world.server.bodies)
    second = compiled_from(world.home, MORE, api_base=world.server.base_url)
    asked = [body for body in world.server.bodies[before:] if body["model"] == "fake"]
    known = {item.item_id for item in world.first.compiled.dataset.test.items}
    new = [item for item in second.compiled.dataset.test.items if item.item_id not in known]
    assert 0 < len(asked) == len(new)
    assert second.compiled.decision.rival == "champion"
    assert (second.compiled.decision.difference.value or 0) < -0.5


def test_champion_at_an_endpoint_that_this_run_was_not_given_is_never_asked_there(world: World) -> None:
    calls = world.server.calls
    second = compiled_from(world.home, MORE)
    assert world.server.calls == calls
    assert not second.saved.card.promoted
    assert "small@1" in second.saved.card.reason
    assert world.server.base_url in second.saved.card.reason


def test_champion_whose_model_fails_is_not_beaten_by_default(world: World, tmp_path: Path) -> None:
    def failing(call: Call) -> Reply:
        return Status(400) if call.body["model"] == "fake" else grading_world.teachable(call)

    with FakeOpenAI(failing) as server:
        card_path = world.home / "programs" / "small" / "0001" / "card.json"
        card = json.loads(card_path.read_text())
        card["lm"]["api_base"] = server.base_url  # the same model, now at an endpoint that refuses it
        card_path.write_text(json.dumps(card))
        seal(card_path.parent)
        second = compiled_from(world.home, MORE, api_base=server.base_url)
    assert not second.saved.card.promoted
    assert "openai/fake failed on" in second.saved.card.reason


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        ([{**row, "grade": min(4, int(str(row["grade"])))} for row in ROWS], {"best": "4"}),
        (ROWS, {"accept_at": "3", "objective": "accept"}),
    ],
    ids=["another scale", "another threshold"],
)
def test_champion_on_another_scale_is_not_compared(
    world: World, rows: list[dict[str, object]], options: dict[str, str]
) -> None:
    second = compiled_from(world.home, rows, **options)  # type: ignore[arg-type]  # the options are text
    assert not second.saved.card.promoted
    assert "small@1 judges grade on 1, 2, 3, 4, 5" in second.saved.card.reason


def baselines(world: World, **judged: Judgments) -> set[str]:
    found = dict(world.first.compiled.verification.judgments) | judged
    verified = verify(world.first.compiled.dataset, found)
    return set(_baselines(verified, evidence_alone=False))


def test_uncompiled_judge_that_nothing_improved_and_evidence_alone_are_rivals(world: World) -> None:
    said = world.first.compiled.verification.judgments
    uncompiled, compiled = said["uncompiled"], said["compiled"]
    assert baselines(world) == {"majority", "uncompiled"}  # its own prompt alone is a form of it
    assert baselines(world, compiled_prompt=compiled) == {"majority", "uncompiled"}
    assert baselines(world, compiled_prompt=uncompiled, compiled=uncompiled) == {"majority", "uncompiled"}
    assert baselines(world, evidence_only=said["majority"]) == {"majority", "uncompiled", "evidence_only"}
    assert "evidence_only" in baselines(
        world, evidence_only=compiled
    )  # of a judge that asks: its prompt brought nothing


def test_its_own_prompt_alone_stands_in_its_table_and_not_in_the_way_of_its_promotion(world: World) -> None:
    contest = world.first.compiled.promotion_test
    judged = dict(world.first.compiled.verification.judgments)
    expert = contest.dataset.test.experts.target[..., 0]
    perfect = np.eye(len(contest.dataset.labels.scale.grades))[expert]
    judged["compiled_prompt"] = replace(
        judged["compiled"], grade=expert, probabilities=perfect, score=np.asarray(expert + 1.0, dtype=np.float64)
    )
    better = replace(contest, verification=verify(contest.dataset, judged))
    decision = better.decide(FamilyState(test_use=1, champion=None))
    assert (decision.promoted, decision.rival) == (True, world.first.compiled.decision.rival)
    assert set(decision.above) == {"compiled_prompt"}
    assert "prompt alone (1.00)" in decision.reason


def test_two_compiles_at_once_get_two_versions_two_looks_and_the_second_meets_the_first(tmp_path: Path) -> None:
    labels = read_labels(str(write(tmp_path / "small.jsonl", ROWS)))
    with FakeOpenAI("teachable") as server:
        spec = LMSpec.parse("openai/fake", api_base=server.base_url)
        settings = CompileSettings(name="small", home=tmp_path, lm=spec, evidence=False)
        with session_of(settings) as session:
            one, two = (compile_judge(labels, settings, session, Silent()) for _ in range(2))
            assert one.standing == two.standing == FamilyState(test_use=1, champion=None)
            assert two.decision.promoted
            saved = [save(each, settings, session.spent, created=CREATED, seconds=1) for each in (one, two)]
    first, second = (each.card for each in saved)
    assert (first.version, first.looks, first.promoted, first.parent) == (1, 1, True, None)
    assert (second.version, second.looks, second.promoted, second.parent) == (2, 2, False, 1)
    assert saved[1].compiled.decision.rival == "champion"
    assert saved[1].compiled.decision.difference.level == pytest.approx(1 - level_for_test_use(2))
    assert [look.version for look in read_family(tmp_path, "small").looks] == ["0001", "0002"]
    assert programs.aliases(tmp_path, "small") == {"champion": 1, "challenger": 2}


def test_a_version_whose_look_was_lost_with_its_process_counts_as_a_look(world: World) -> None:
    family = world.home / "programs" / "small" / "family.json"
    content = json.loads(family.read_text())
    assert len(content["looks"]) == 1
    contest = world.first.compiled.promotion_test
    family.write_text(json.dumps({**content, "looks": []}))
    assert contest.standing().test_use == 2
    settings = replace(world.first.settings, home=world.home)
    assert replace(contest, settings=settings).standing() == FamilyState(test_use=2, champion=1)


def test_judgments_of_a_version_come_back_from_its_report_as_they_were(world: World) -> None:
    report = programs.load(world.home, "small@1").report
    test = world.first.compiled.dataset.test
    judged = world.first.compiled.verification.judgments["compiled"]
    assert len(report["judgments"]) == len(test)
    assert "judgments" not in world.first.saved.report  # of --json
    ratings = ratings_of(world.first.compiled.dataset, test, judged)
    rows = list(report["judgments"].values())
    assert [row["grade"][0] for row in rows] == ratings.judge.tolist()
    assert np.array([row["score"][0] for row in rows]) == pytest.approx(ratings.score)
