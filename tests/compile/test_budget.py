"""CallSettings, resuming and rerunning of whole compiles, against the fake endpoint and the real client."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from judgec.compile.finished import SavedJudge
from judgec.compile.measured import Compiled
from judgec.compile.planned import plan_judge
from judgec.compile.settings import CompileSettings, SearchSettings, reflection_spec
from judgec.errors import ServiceError, UserError
from judgec.labels.split.family import read_family
from judgec.lm.executor import Request
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.raters import programs
from tests.compile.saving import save
from tests.compile.search.world import labels
from tests.compile.small import CREATED, changed, compiled_on, session_of, unsaved
from tests.service.fake_openai import FakeOpenAI
from tests.service.ranking_world import grader
from tests.service.replies import Call, Outcome, Status, Text

ITEMS = 75
LABELS = labels(ITEMS, seed=5)


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(grader) as running:
        yield running


def settings_at(url: str, home: Path, **changes: object) -> CompileSettings:
    """Of 25 queries."""
    spec = LMSpec.parse("openai/gpt-4o-mini", api_base=url)
    settings = CompileSettings(
        "capped", home, spec, evidence=False, folds=1,
        search=SearchSettings("labeled", reflection_spec(spec, None)[0]),
    )  # fmt: skip
    return changed(settings, **changes)


def settings_for(server: FakeOpenAI, home: Path, **changes: object) -> CompileSettings:
    return settings_at(server.base_url, home, **changes)


def run(settings: CompileSettings, track: Callable[[SavedJudge], None] | None = None) -> tuple[Compiled, SavedJudge]:
    done = compiled_on(LABELS, settings, track)
    return done.compiled, done.saved


def looks(home: Path) -> list[str]:
    return [look.version for look in read_family(home, "capped").looks]


def outcome(saved: SavedJudge) -> dict[str, object]:
    """The report without what a resumed run spends less of."""
    return {key: value for key, value in saved.report.items() if key not in {"lm_calls", "cost_usd", "seconds"}}


def tree_without_endpoint(compiled: Compiled) -> object:
    return compiled.judge.with_prompts(lambda prompt: prompt.model_copy(update={"lm": {}})).saved()


def test_budget_too_small_for_a_compile_is_refused_before_the_first_call(server: FakeOpenAI, tmp_path: Path) -> None:
    least = ITEMS + 2  # every item once, and a preflight to each model
    with pytest.raises(UserError, match=f"--budget {least - 1}: .* takes {least} calls"):
        run(settings_for(server, tmp_path, optimizer="auto", budget=least - 1))
    assert server.calls == 0


def test_max_cost_too_small_for_a_compile_is_refused_before_the_first_call(server: FakeOpenAI, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--max-cost 0.0001: .* takes about \$0\."):
        run(settings_for(server, tmp_path, max_cost=0.0001))
    assert server.calls == 0


@pytest.mark.parametrize("budget", [ITEMS + 2, 210])
def test_budget_is_never_passed_and_the_best_so_far_is_verified_and_saved(
    server: FakeOpenAI, tmp_path: Path, budget: int
) -> None:
    compiled, saved = run(settings_for(server, tmp_path, optimizer="auto", budget=budget))
    assert server.calls <= budget
    assert saved.card.version == 1
    for judgments in compiled.verification.judgments.values():
        assert judgments.scored.all()
    searched = len(compiled.choice.searched) > 1
    assert searched == (budget > ITEMS + 2)
    assert any("no search" in note for note in compiled.notes) == (not searched)


def test_budget_eaten_by_replies_asked_again_still_ends_in_a_saved_judge(tmp_path: Path) -> None:
    def policy(call: Call) -> Outcome:
        graded = any(output.labels for output in call.prompt.outputs)
        return Text("Hm.") if graded and call.number % 3 == 0 else grader(call)

    with FakeOpenAI(policy) as server:
        compiled, saved = run(settings_for(server, tmp_path, budget=190))
        assert server.calls <= 190
    assert saved.card.version == 1
    reasons = {reason for judged in compiled.verification.judgments.values() for reason in judged.unscored if reason}
    assert all("budget" in reason or "malformed" in reason for reason in reasons)


def test_max_cost_is_never_passed(server: FakeOpenAI, tmp_path: Path) -> None:
    done = compiled_on(LABELS, settings_for(server, tmp_path, max_cost=0.02))
    assert 0 < done.spent.usd <= 0.02
    assert not done.spent.unpriced
    assert done.compiled.verification.judgments["compiled"].scored.all()


def test_plan_asks_and_writes_nothing_and_knows_no_dollars_without_a_list_price(
    server: FakeOpenAI, tmp_path: Path
) -> None:
    plan = plan_judge(LABELS, settings_for(server, tmp_path, optimizer="auto")).plan.whole
    stages = {stage.name: stage.most for stage in plan.stages}
    assert stages["uncompiled judge"].calls == ITEMS
    assert stages["preflight"].calls == 2
    assert plan.total.usd is not None
    spec = LMSpec.parse("openai/nobodys-model", api_base=server.base_url)
    plan = plan_judge(LABELS, settings_for(server, tmp_path, lm=spec, reflection=None)).plan.whole
    assert plan.total.usd is None
    assert "price unknown" in plan.shown()
    assert server.calls == 0
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("folds", [1, 5])
@pytest.mark.parametrize("budget", [ITEMS + 2, 300, 500, 900, 1500])
def test_plan_within_a_budget_stays_within_it(server: FakeOpenAI, tmp_path: Path, budget: int, folds: int) -> None:
    settings = settings_for(server, tmp_path, optimizer="auto", budget=budget, folds=folds)
    assert plan_judge(LABELS, settings).plan.whole.total.calls <= budget


@pytest.mark.parametrize(
    ("stop", "budget", "folds"),
    [
        (150, 400, 1),
        pytest.param(40, 400, 1, marks=pytest.mark.full),
        pytest.param(400, 1000, 5, marks=pytest.mark.full),
    ],
)
def test_compile_that_was_stopped_goes_on_where_it_was_and_ends_the_same(
    tmp_path: Path, stop: int, budget: int, folds: int
) -> None:
    with FakeOpenAI(grader) as server:
        settings = settings_for(server, tmp_path / "whole", optimizer="auto", budget=budget, folds=folds)
        whole, saved = run(settings)
        calls = server.calls
        assert ITEMS < calls <= plan_judge(LABELS, settings).plan.whole.total.calls <= budget
    count = Counter[str]()

    def breaking(call: Call) -> Outcome:
        count["calls"] += 1
        return Status(401, "gone", "invalid_api_key") if count["calls"] == stop else grader(call)

    with FakeOpenAI(breaking) as server:
        with pytest.raises(ServiceError):
            run(settings_for(server, tmp_path / "halves", optimizer="auto", budget=budget, folds=folds))
        resumed, again = run(settings_for(server, tmp_path / "halves", optimizer="auto", budget=budget, folds=folds))
        assert server.answered == calls
        assert server.paid_twice == 0
    assert outcome(again) | {"lm": 0} == outcome(saved) | {"lm": 0}  # the endpoint has another port
    assert tree_without_endpoint(resumed) == tree_without_endpoint(whole)


@pytest.mark.parametrize("how", [{}, {"abstain_below": 0.3}], ids=str)
def test_compile_killed_after_its_version_was_written_finishes_that_version(
    server: FakeOpenAI, tmp_path: Path, how: dict[str, object]
) -> None:
    settings = settings_for(server, tmp_path, **how)
    _, first = run(settings)
    calls, family = server.calls, tmp_path / "programs" / "capped"
    before, aliases = read_family(tmp_path, "capped").looks, programs.aliases(tmp_path, "capped")
    assert len(before) == 1
    for lost in ("family.json", "aliases.json"):  # as if the process had died after writing the version
        (family / lost).unlink()
    _, second = run(settings)
    assert server.calls == calls
    assert outcome(first) == outcome(second)
    assert programs.versions(tmp_path, "capped") == (1,)
    assert (read_family(tmp_path, "capped").looks, programs.aliases(tmp_path, "capped")) == (before, aliases)


def test_compile_killed_before_it_was_tracked_is_tracked_by_its_rerun(server: FakeOpenAI, tmp_path: Path) -> None:
    def killed(saved: SavedJudge) -> None:
        raise KeyboardInterrupt

    settings, tracked = settings_for(server, tmp_path), list[SavedJudge]()
    with pytest.raises(KeyboardInterrupt):
        run(settings, track=killed)
    assert not looks(tmp_path)
    calls = server.calls
    _, saved = run(settings, track=tracked.append)
    assert server.calls == calls
    assert [each.card.version for each in tracked] == [saved.card.version] == [1]
    assert saved.card.looks == len(looks(tmp_path)) == 1


def test_version_that_is_finished_late_does_not_take_the_alias_of_a_later_one(
    server: FakeOpenAI, tmp_path: Path
) -> None:
    settings, later = settings_for(server, tmp_path), settings_for(server, tmp_path, seed=1)
    run(settings)
    (tmp_path / "programs" / "capped" / "family.json").unlink()  # as if killed before the test use
    run(later)
    aliases = programs.aliases(tmp_path, "capped")
    _, saved = run(settings)
    assert saved.card.version == 1
    assert programs.aliases(tmp_path, "capped") == aliases
    assert looks(tmp_path) == ["0002", "0001"]


def test_compile_that_finds_an_equal_one_being_saved_makes_a_version_of_its_own(
    server: FakeOpenAI, tmp_path: Path
) -> None:
    settings, second = settings_for(server, tmp_path), list[Compiled]()
    run(settings, track=lambda _: second.append(unsaved(LABELS, settings)))
    assert second[0].earlier is not None  # whose test use was not written yet
    with session_of(settings) as session:
        # Its own session is closed; that of the contest is asked for nothing, all verdicts being saved.
        saved = save(second[0], settings, session.spent, created=CREATED, seconds=1.0)
    assert (saved.card.version, saved.card.looks) == (2, 2)


def test_finished_compile_again_is_a_version_of_its_own_and_another_look(server: FakeOpenAI, tmp_path: Path) -> None:
    settings = settings_for(server, tmp_path)
    run(settings)
    calls = server.calls
    _, again = run(settings)
    assert server.calls == calls
    assert (again.card.version, again.card.looks) == (2, 2)
    assert looks(tmp_path) == ["0001", "0002"]


def test_finish_leaves_what_does_not_fit_unanswered_with_the_reason(server: FakeOpenAI, tmp_path: Path) -> None:
    spec = LMSpec.parse("openai/fake", api_base=server.base_url)
    with Session(spec, tmp_path, budget=3) as session:
        requests = [Request(n, [{"role": "user", "content": f"Say {n}."}]) for n in range(5)]
        replies = {reply.key: reply for reply in session.finish(requests)}
    assert sorted(replies) == [0, 1, 2, 3, 4]
    assert sum(reply.text is not None for reply in replies.values()) == 3
    assert all("--budget: 3 calls made" in str(reply.error) for reply in replies.values() if reply.text is None)


def test_keeping_back_lowers_the_caps_for_a_block(server: FakeOpenAI, tmp_path: Path) -> None:
    spec = LMSpec.parse("openai/fake", api_base=server.base_url)
    with Session(spec, tmp_path, budget=10) as session:
        with session.keeping_back(7, None):
            assert session.room(None) == 3
        assert session.room(None) == 10
    with Session(spec, tmp_path) as session, session.keeping_back(7, 1.0):
        assert session.room(0.1) is None
