"""What a compile says that it will ask, against what it asks."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from judgec.compile.beside import of_task
from judgec.compile.measured import Compiled
from judgec.compile.planned import plan_judge
from judgec.compile.search.candidates import UNCOMPILED
from judgec.compile.search.plan import plan_compile
from judgec.compile.search.registry import OPTIMIZERS
from judgec.compile.settings import JURY_KIND, CandidateSettings, CompileSettings, SearchSettings, reflection_spec
from judgec.errors import UserError
from judgec.labels.labels import read_labels
from judgec.lm.spec import LMSpec
from judgec.raters.programs import CHAMPION, set_aliases
from tests.compile.search.world import labels as ranking_labels
from tests.compile.search.world import world
from tests.compile.small import changed, compiled_from, compiled_on, write
from tests.service import ranking_world
from tests.service.fake_openai import FakeOpenAI
from tests.service.policies import good

PAIRS: Sequence[Mapping[str, object]] = [
    {
        "query_id": f"q{number // 2}",
        "query": f"What does part {number // 2} do?",
        "answer_a": f"It holds {number} units.",
        "answer_b": f"It turns {number * 7 % 11} wheels.",
        "preference": ("a", "b", "tie")[number % 3],
    }
    for number in range(60)
]


@pytest.fixture(scope="module")
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(good) as running:
        yield running


def remembered(home: Path, rows: Sequence[Mapping[str, object]]) -> dict[str, str]:
    """The side of each query, once a judge of the home has been compiled on these rows."""
    compiled_from(home, rows, name="before")
    split = json.loads((home / "programs" / "before" / "0001" / "split.json").read_text())
    return {str(query): str(side) for query, side in split["queries"].items()}


def settings_for(server: FakeOpenAI, home: Path, **changes: object) -> CompileSettings:
    spec = LMSpec.parse("openai/fake", api_base=server.base_url)
    settings = CompileSettings(name="planned", home=home, lm=spec, objective="kappa", evidence=False)
    return changed(settings, **{"optimizer": "labeled", **changes})


def asked(
    rows: Sequence[Mapping[str, object]], settings: CompileSettings, server: FakeOpenAI
) -> tuple[int, Compiled, dict[str, int]]:
    """Calls that a compile made, its outcome, and the calls of each stage as planned."""
    labels = read_labels(str(write(settings.home / "planned.jsonl", rows)))
    plan = plan_judge(labels, settings).plan.whole
    before = server.calls
    compiled = compiled_on(labels, settings).compiled
    return server.calls - before, compiled, {stage.name: stage.most.calls for stage in plan.stages}


@pytest.mark.parametrize("budget", [pytest.param(None, marks=pytest.mark.full), 2 * len(PAIRS) + 1, 350])
def test_pairwise_compile_asks_in_both_orders_and_leaves_nothing_unscored_within_its_budget(
    server: FakeOpenAI, tmp_path: Path, budget: int | None
) -> None:
    calls, compiled, stages = asked(PAIRS, settings_for(server, tmp_path, budget=budget), server)
    assert stages["uncompiled judge"] == 2 * len(PAIRS)
    assert 2 * len(PAIRS) < calls <= sum(stages.values()) <= (budget or 10_000)
    assert all(judged.scored.all() for judged in compiled.verification.judgments.values())


def test_budget_that_asks_pairs_in_one_order_only_is_refused(server: FakeOpenAI, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"takes {2 * len(PAIRS) + 1} calls"):
        asked(PAIRS, settings_for(server, tmp_path, budget=2 * len(PAIRS)), server)


def test_compile_whose_labels_all_miss_dev_calibrates_the_judge_as_it_is(server: FakeOpenAI, tmp_path: Path) -> None:
    made = ranking_world.rows(80, per_query=1)
    split = remembered(tmp_path, made)
    rows = [row for row in made if split[str(row["query_id"])] != "dev"]
    calls, compiled, stages = asked(rows, settings_for(server, tmp_path, objective="tau_b"), server)
    assert calls == sum(stages.values()) == len(rows) + 1
    assert compiled.shipped.name == "zero-shot"
    assert any("label falls into dev" in note for note in compiled.notes)


@pytest.mark.parametrize(
    ("grades", "seen"),
    [
        ({"train": (), "dev": (1, 2), "test": (1, 2)}, "train split: no items"),
        ({"train": (3, 3), "dev": (1,), "test": (2,)}, "train split: 2 items, all of one"),
    ],
)
def test_labels_that_teach_nothing_are_refused_with_what_the_train_split_holds(
    server: FakeOpenAI, tmp_path: Path, grades: Mapping[str, Sequence[int]], seen: str
) -> None:
    names = [f"q{number}" for number in range(100)]
    sides = remembered(
        tmp_path, [{"query_id": name, "query": name, "answer": "a", "grade": 1 + i % 3} for i, name in enumerate(names)]
    )
    rows: list[Mapping[str, object]] = []
    for split, given in grades.items():
        queries = [name for name in names if sides[name] == split]
        rows += [
            {"query_id": query, "query": query, "answer": "a", "grade": grade}
            for query, grade in zip(queries, given, strict=False)
        ]
    with pytest.raises(UserError, match=seen):
        asked(rows, settings_for(server, tmp_path, objective="tau_b"), server)


def test_optimizer_none_plans_neither_search_nor_winner_and_chooses_the_prompt_as_it_is() -> None:
    with (
        FakeOpenAI(ranking_world.grader) as server,
        world(server.base_url, seed=0, optimizer="none", items=60) as w,
    ):
        plan = plan_compile(w.dataset, w.module, w.settings, OPTIMIZERS["none"])
        chosen = w.choose()
    assert [stage.name for stage in plan.stages] == ["preflight", "uncompiled judge"]
    assert chosen.chosen.name == UNCOMPILED
    assert not chosen.notes


@pytest.mark.parametrize("optimizer", ["none", "labeled", pytest.param("gepa", marks=pytest.mark.full)])
def test_certain_part_of_a_plan_is_what_is_asked_whatever_a_search_finds(tmp_path: Path, optimizer: str) -> None:
    labels = ranking_labels(75, 5)
    with FakeOpenAI(ranking_world.grader) as server:
        settings = settings_for(server, tmp_path, objective="tau_b", optimizer=optimizer, folds=1)
        if optimizer == "gepa":
            settings = changed(settings, reflection=reflection_spec(settings.lm, None)[0])
        plan = plan_judge(labels, settings).plan.whole
        compiled = compiled_on(labels, settings).compiled
        calls = server.calls
    found = compiled.shipped.name != UNCOMPILED
    assert plan.certain.calls == 75 + 1 + (optimizer == "gepa")
    assert plan.certain.calls <= calls <= plan.total.calls
    assert (calls == plan.certain.calls) == (optimizer == "none")
    assert found == (optimizer != "none")


def test_search_under_a_tight_cap_learns_from_fewer_labels_and_judges_every_test_item(tmp_path: Path) -> None:
    labels = ranking_labels(390, 5)
    with FakeOpenAI(ranking_world.grader) as server:
        settings = settings_for(server, tmp_path, objective="tau_b", folds=1, budget=520)
        plan = plan_judge(labels, settings).plan.whole
        compiled = compiled_on(labels, settings).compiled
        assert plan.total.calls <= 520
        assert server.calls <= 520
    assert plan.searches
    assert plan.stage("uncompiled judge").calls < 390
    assert compiled.shipped.name != UNCOMPILED
    assert compiled.choice.uncompiled.judge is None  # its calibrator learns from as many labels as that of what ships
    assert any(note.startswith("the caps let the search learn from") for note in compiled.notes)
    assert all(judged.scored.all() for judged in compiled.verification.judgments.values())


def test_cap_without_room_for_a_search_leaves_no_label_out_of_the_calibrator(tmp_path: Path) -> None:
    labels = ranking_labels(150, 5)
    with FakeOpenAI(ranking_world.grader) as server:
        settings = settings_for(server, tmp_path, objective="tau_b", folds=1, budget=170)
        assert not plan_judge(labels, settings).plan.whole.searches
        compiled = compiled_on(labels, settings).compiled
        assert server.calls <= 170
    data = compiled.dataset
    assert compiled.judge.calibrators["grade"].n_labels == len(data.train) + len(data.dev)
    assert not [note for note in compiled.notes if note.startswith("the caps let")]


@pytest.mark.parametrize("beside", [False, True])
def test_champion_counts_as_certain_where_items_are_new_to_it_and_nowhere_else(tmp_path: Path, beside: bool) -> None:
    with FakeOpenAI(ranking_world.grader) as server:
        settings = settings_for(server, tmp_path, objective="tau_b", folds=1)
        assert compiled_on(ranking_labels(90, 3), settings).compiled.shipped.name != UNCOMPILED
        set_aliases(tmp_path, "planned", {CHAMPION: 1})
        settings = changed(settings, optimizer="none")
        if beside:
            those = tuple(of_task(name, ranking_labels(90, 3), manner=name) for name in ("plain", "faults"))
            models = LMSpec.jury({one.name: settings.lm for one in those}, api_base=settings.lm.api_base)
            settings = replace(
                settings, lm=models, candidates=CandidateSettings(asked=those), search=SearchSettings(JURY_KIND)
            )
        again = plan_judge(ranking_labels(90, 3), settings).plan.whole
        assert not again.stage("champion").calls
        labels = ranking_labels(180, 3)
        plan = plan_judge(labels, settings).plan.whole
        (tmp_path / ".judgec" / "journal.db").unlink()
        before = server.calls
        compiled = compiled_on(labels, settings).compiled
        asked_for = server.calls - before
    assert compiled.decision.rival == "champion"
    assert plan.stage("champion").calls > 0
    assert asked_for == plan.certain.calls == plan.total.calls


def test_winner_of_a_search_that_shows_no_demonstrations_costs_no_more_than_the_prompt_as_it_was(
    server: FakeOpenAI, tmp_path: Path
) -> None:
    labels, each = ranking_labels(150, 5), dict[str, float]()
    for optimizer in ("gepa", "auto"):
        settings = settings_for(server, tmp_path, objective="tau_b", folds=1, optimizer=optimizer)
        settings = changed(settings, reflection=reflection_spec(settings.lm, None)[0])
        plan = plan_judge(labels, settings).plan.whole
        asked = plan.stage("uncompiled judge")
        each["asked"] = asked.tokens / asked.calls
        each[optimizer] = plan.stage("winner").tokens / plan.stage("winner").calls
    assert each["gepa"] == pytest.approx(each["asked"], rel=0.02)
    assert each["auto"] > 1.5 * each["asked"]
