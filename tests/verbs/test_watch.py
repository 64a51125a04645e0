"""What one pass of a watch says: the corrected rate, labels that count, alerts; its state after a kill."""

from pathlib import Path

import pytest

from judgec.connect.watch_state import WatchedTrace, lines_of, open_state
from judgec.errors import ArtifactError, InputError, UserError
from judgec.records.card import ProgramCard
from judgec.records.scale import Scale
from judgec.verbs.watch import accept_rates, accepts_of, alerts_of, read_trace_labels

CARD = ProgramCard.model_construct(
    task="grade", aspects=("grade",), scale=Scale(name="s", level="ordinal", grades=(1, 2, 3), accept_at=3)
)


def said(number: int, accept: int | None, session: str = "", *, learned: bool = False) -> WatchedTrace:
    score = None if accept is None else 1.0 + 2 * accept
    return WatchedTrace(f"t{number}", 1, session, "x", accept, score, None, (), learned)


TRACES = [*(said(n, int(n < 5)) for n in range(10)), *(said(10 + n, int(n < 24)) for n in range(30))]
TRUTH = {f"t{n}": float(n < 5) for n in range(10)}


def test_rate_is_corrected_by_the_judged_traces_without_a_label() -> None:
    # Labelled: 5 of 10 accepted, the judge is right about all. Others: it accepts 24 of 30.
    # w = .25/10 / (.25/10 + .16/30) = 75/91; .5 + w (.8 - .5).
    found = accept_rates(TRACES, TRUTH)
    assert found.accept.value is not None
    assert found.accept.value == pytest.approx(0.5 + 75 / 91 * 0.3)
    assert found.labelled == found.accept.n == 10
    assert found.raw.value == pytest.approx(29 / 40)
    assert found.accept.low is not None
    assert found.accept.high is not None
    assert 0.5 < found.accept.low < found.accept.value < found.accept.high < 1


def test_below_ten_labels_it_says_how_many_are_missing() -> None:
    found = accept_rates(TRACES, {name: TRUTH[name] for name in [*TRUTH][:7]})
    assert (found.accept.value, found.labelled) == (None, 7)
    assert "3 are missing" in found.accept.note
    assert found.raw.value == pytest.approx(29 / 40)


def test_labels_of_rows_drawn_as_unsure_and_of_learned_queries_do_not_count() -> None:
    assert accept_rates(TRACES, TRUTH, {"t3"}).labelled == 9
    assert accept_rates([said(0, 1, learned=True), *TRACES[1:]], TRUTH).labelled == 9
    more = {**TRUTH, "t12": 0.0}
    assert accept_rates(TRACES, more, {"t12"}).accept == accept_rates(TRACES, TRUTH).accept


def test_traces_of_one_session_are_one_cluster_and_a_trace_without_a_verdict_is_in_no_raw_rate() -> None:
    found = accept_rates([*(said(n, n % 2, "s") for n in range(20)), said(20, None)], {})
    assert (found.raw.n, found.raw.n_clusters, found.raw.low) == (20, 1, None)


def test_label_of_several_people_is_the_share_that_accepts() -> None:
    values: dict[tuple[str, str], object] = {("a", "x"): 3, ("a", "y"): 2, ("b", "x"): True, ("c", "x"): "seven"}
    labels, notes = accepts_of(values, CARD)
    assert labels == {"a": 0.5, "b": 1.0}
    assert len(notes) == 1
    assert "'seven'" in notes[0]


def test_file_of_labels_is_read_by_trace_and_its_unsure_rows_are_known(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("item_id,grade,annotator,stratum\na,3,x,random\na,1,y,random\nb,2,x,uncertain\nc,,x,random\n")
    found = read_trace_labels(file, CARD, 0)
    assert accepts_of(found.by, CARD)[0] == {"a": 0.5, "b": 0.0}
    assert found.unsure == {"b"}
    file.write_text("trace_id,accept\na,yes\nb,no\n")
    assert accepts_of(read_trace_labels(file, CARD, 0).by, CARD)[0] == {"a": 1.0, "b": 0.0}
    file.write_text("trace,grade\na,3\n")
    with pytest.raises(InputError, match="trace_id"):
        read_trace_labels(file, CARD, 0)


@pytest.mark.parametrize("text", ["accept", "accept<2", "accept=.8", "drift", ""])
def test_alert_that_says_nothing_is_an_error(text: str) -> None:
    with pytest.raises(UserError, match=r"accept<\.80, accept>\.99 and raw<\.80 are valid"):
        alerts_of([text], None)


def test_alert_fires_when_the_whole_interval_is_beyond_it_or_it_cannot_be_told() -> None:
    found = alerts_of(["accept>20%", "accept<.2", "raw>.5", "raw<.5"], accept_rates(TRACES, TRUTH))
    assert [why is not None for why in found.values()] == [True, False, True, False]
    few = alerts_of(["accept<.05", "raw<.05"], accept_rates(TRACES, {}))
    assert "cannot be told" in (few["accept<.05"] or "")
    assert few["raw<.05"] is None


def test_state_after_a_kill_has_every_whole_line_and_knows_what_is_logged(tmp_path: Path) -> None:
    path, about = tmp_path / "watch" / "x.json", {"judge": "runs@1", "rate": 0.05}
    with open_state(path, about) as state:
        state.add([said(0, 1), said(1, None)])
        state.logged, state.next_ms, state.recent = 1, 7, ["t0"]
        state.save()
        with pytest.raises(UserError, match="another judgec watch"), open_state(path, about):
            pass
    with lines_of(path).open("a") as file:
        file.write('{"trace_id": "t2", "sess')  # killed in mid-line
    with open_state(path, about) as state:
        assert state.judged == [said(0, 1), said(1, None)]
        assert (state.logged, state.next_ms, state.recent) == (1, 7, ["t0"])
        state.add([said(2, 0)])
    with open_state(path, about) as state:
        assert [one.trace_id for one in state.judged] == ["t0", "t1", "t2"]
    with (
        pytest.raises(UserError, match=r"begun with rate 0\.05, now rate is 0\.5"),
        open_state(path, {**about, "rate": 0.5}),
    ):
        pass
    path.write_text("[]")
    with pytest.raises(ArtifactError, match="Move it away"), open_state(path, about):
        pass
