"""What a watch knows after each look: rates, drift, the way back, proposals and alerts; its state on a real disk."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judgec.errors import UserError
from judgec.stats.sequential.mixture import measured
from judgec.stats.sequential.rate import error_rates
from judgec.trust.watched import WatchedTrace, WatchState, open_state
from judgec.verbs.options.watch import WatchOptions
from judgec.verbs.watch_state import MONITORED, Known, alerts_of, next_proposals, settle

OPTIONS = WatchOptions(source="mlflow:x", judge="runs", window=500, relabel=40)


def said(rng: np.random.Generator, good: bool) -> tuple[int, float]:
    """Accept and score of a judge that is right nine times in ten."""
    accept = int(good == (rng.random() < 0.9))
    return accept, float(np.clip(rng.normal(4.2 if accept else 1.8, 0.5), 1, 5))


def known() -> Known:
    rng = np.random.default_rng(0)
    expert = (rng.random(200) < 0.6).astype(np.float64)
    accept, score = np.array([said(rng, bool(good)) for good in expert]).T
    errors = error_rates(accept, expert, np.arange(200))
    return Known(1, 0, 0, None, errors, measured(score, expert), 200)


@pytest.fixture
def state(tmp_path: Path) -> Iterator[WatchState]:
    with open_state(tmp_path / "watch" / "x.db", about={"judge": "runs@1"}) as found:
        yield found


def judge(state: WatchState, rng: np.random.Generator, count: int, share: float, first: int = 0) -> dict[str, bool]:
    truth = {f"t{number}": bool(rng.random() < share) for number in range(first, first + count)}
    rows = [
        (WatchedTrace(trace, "", *said(rng, good), None), list[dict[str, object]]()) for trace, good in truth.items()
    ]
    state.judged(rows)
    return truth


def odd(state: WatchState, rng: np.random.Generator, count: int, first: int) -> None:
    """Traces with scores that the judge gave to no test item, neither good nor bad."""
    scores = rng.normal(3.0, 0.2, count)
    state.judged(
        [(WatchedTrace(f"t{first + n}", "", int(score > 3), float(score), None), []) for n, score in enumerate(scores)]
    )


def test_a_rate_that_falls_is_corrected_and_no_drift(state: WatchState) -> None:
    rng, options = np.random.default_rng(1), OPTIONS
    judge(state, rng, 500, 0.9)
    assert settle(state, known(), options)[1].corrected.value == pytest.approx(0.9, abs=0.07)
    truth = judge(state, rng, 500, 0.4, first=500)
    rate = settle(state, known(), options)[1]
    assert not rate.drift
    assert rate.corrected.low is not None
    assert rate.corrected.high is not None
    assert rate.corrected.low <= np.mean([*truth.values()]) <= rate.corrected.high
    assert "200 test items" in rate.assumes
    assert alerts_of(["accept<.80", "accept>.1", "accept<.2", "drift"], rate, "") == {
        "accept<.80": alerts_of(["accept<.80"], rate, "")["accept<.80"],
        "accept>.1": alerts_of(["accept>10%"], rate, "")["accept>10%"],
        "accept<.2": None,
        "drift": None,
    }
    assert "is below 80" in (alerts_of(["accept<.80"], rate, "")["accept<.80"] or "")


def test_drift_withdraws_the_correction_until_enough_new_labels_have_come(state: WatchState) -> None:
    rng, options = np.random.default_rng(2), OPTIONS
    old = judge(state, rng, 300, 0.7)
    state.labelled({trace: int(good) for trace, good in [*old.items()][-20:]})  # before: they do not count
    odd(state, rng, 200, first=300)
    before, rate = settle(state, known(), options)
    assert rate.drift
    assert (rate.corrected.value, rate.labels, rate.needed) == (None, 0, 40)
    assert "0 of 40 new labels" in rate.corrected.note
    assert rate.raw.value is not None
    assert alerts_of(["accept<.99", "drift"], rate, "")["accept<.99"] is None
    assert alerts_of(["drift"], rate, "")["drift"]
    asked = next_proposals(state, before, options)
    assert len(asked) >= 40
    assert all(int(trace[1:]) >= 450 for trace in asked)  # shortly before drift was noticed
    scores = {one.trace_id: one.score or 0.0 for one in state.verdicts()}
    state.labelled({trace: int(scores[trace] > 3) for trace in asked[:30]})
    assert settle(state, before, options)[1].drift
    state.labelled({trace: int(scores[trace] > 3) for trace in asked[:40]})
    after, renewed = settle(state, before, options)
    assert (after.epoch, after.labels, renewed.drift) == (2, 40, False)
    assert "40 labels since the last drift" in renewed.assumes
    assert json.loads(state.fact("measured"))


def test_one_trace_of_a_session_counts_and_traces_without_a_verdict_are_said(state: WatchState) -> None:
    state.judged([(WatchedTrace(f"t{n}", "s", n % 2, 3.0, None), []) for n in range(20)])
    state.judged([(WatchedTrace("u", "", None, None, "no text"), [])])
    rate = settle(state, known(), OPTIONS)[1]
    assert rate.raw.n == 1
    assert any("1 of 2 sampled traces have no verdict" in note for note in rate.notes)


def test_a_few_traces_are_proposed_while_nothing_drifts_and_labelled_ones_no_more(state: WatchState) -> None:
    judge(state, np.random.default_rng(3), 100, 0.8)
    asked = next_proposals(state, known(), OPTIONS)
    assert 0 < len(asked) < 100 * MONITORED * 3
    state.labelled(dict.fromkeys(asked, 1))
    assert not next_proposals(state, known(), OPTIONS)


def test_verdicts_are_kept_once_and_marked_when_logged(tmp_path: Path) -> None:
    path, about = tmp_path / "watch" / "x.db", {"judge": "runs@1", "rate": 0.05}
    with open_state(path, about=about) as state:
        state.judged([(WatchedTrace("a", "", 1, 4.5, None), [{"name": "runs", "value": 5}])])
        state.judged([(WatchedTrace("a", "", 0, 1.0, None), [])])  # judged again after a kill
        assert state.seen({"a": 5, "b": 6}, 0) == 2
        assert state.seen({"b": 6, "c": 7}, 6) == 1
        with pytest.raises(UserError, match="another judgec watch"), open_state(path, about=about):
            pass
    with open_state(path, about=about) as state:
        assert [(one.trace_id, one.accept) for one in state.verdicts()] == [("a", 1)]
        assert state.unlogged() == {"a": [{"name": "runs", "value": 5}]}
        state.logged(["a"])
        assert not state.unlogged()
    with (
        pytest.raises(UserError, match=r"begun with rate 0\.05, now rate is 0\.5"),
        open_state(path, about={**about, "rate": 0.5}),
    ):
        pass


@pytest.mark.parametrize("text", ["accept", "accept<2", "accept=.8", "kappa<.8", ""])
def test_an_alert_that_says_nothing_is_an_error(text: str) -> None:
    with pytest.raises(UserError, match=r"accept<\.80, accept>\.99, raw<\.80 and drift are valid"):
        alerts_of([text], None, "")


def test_an_alert_of_a_rate_that_is_not_known_has_fired(state: WatchState) -> None:
    judge(state, np.random.default_rng(3), 50, 0.9)
    few = replace(known(), errors=replace(known().errors, refused="the labels hold 2 accepted items"))
    rate = settle(state, few, OPTIONS)[1]
    assert rate.corrected.value is None
    found = alerts_of(["accept<.8", "raw<.8", "drift"], rate, few.errors.refused)
    assert "the labels hold 2 accepted items" in (found["accept<.8"] or "")
    assert (found["raw<.8"], found["drift"]) == (None, None)


def test_who_is_no_annotator_is_said_as_long_as_the_test_split_measures_the_judge(state: WatchState) -> None:
    note = "robbie: no annotator, it is measured."
    state.say(left_out=json.dumps([note]))
    assert note in settle(state, known(), OPTIONS)[1].notes
    assert note not in settle(state, replace(known(), on_test=False), OPTIONS)[1].notes
