"""What one pass of a watch says: the corrected rate, labels that count, alerts; its state after a kill."""

from pathlib import Path

import pytest

from judgec.connect.watch_state import JudgedTrace, open_state
from judgec.errors import ArtifactError, InputError, UserError
from judgec.records.card import ProgramCard
from judgec.records.scale import Scale
from judgec.verbs.trace_labels import file_labels, people_shares
from judgec.verbs.watch import fired, sample_rates, state_name

CARD = ProgramCard.model_construct(
    task="grade", aspects=("grade",), scale=Scale(name="s", level="ordinal", grades=(1, 2, 3), accept_at=3)
)


def said(number: int, accept: bool | None, session: str = "", *, learned: bool = False) -> JudgedTrace:
    score = None if accept is None else 1.0 + 2 * accept
    return JudgedTrace(f"t{number}", session, ["query"], learned, {"accept": accept, "score": score})


TRACES = [*(said(n, n < 5) for n in range(10)), *(said(10 + n, n < 24) for n in range(30))]
TRUTH = {f"t{n}": float(n < 5) for n in range(10)}


def test_rate_is_corrected_by_the_judged_traces_without_a_label() -> None:
    # Labelled: 5 of 10 accepted, the judge is right about all. Others: it accepts 24 of 30.
    # It is trusted wholly: what it says of all 40.
    found = sample_rates(TRACES, TRUTH, "grade")
    assert found.corrected.value is not None
    assert found.weight == 1.0
    assert found.corrected.value == pytest.approx(29 / 40)
    assert found.n_labelled == found.corrected.n == 10
    assert found.raw.value == pytest.approx(29 / 40)
    assert found.corrected.low is not None
    assert found.corrected.high is not None
    assert 0.4 < found.corrected.low < found.corrected.value < found.corrected.high < 1


def test_below_ten_labels_that_count_there_is_no_corrected_rate() -> None:
    found = sample_rates([said(0, accept=True, learned=True), *TRACES[1:]], TRUTH, "grade")
    assert (found.corrected.value, found.n_labelled) == (None, 9)
    assert found.raw.value == pytest.approx(29 / 40)


def test_traces_of_one_session_are_one_cluster_and_a_trace_without_a_verdict_is_in_no_raw_rate() -> None:
    found = sample_rates([*(said(n, n % 2 == 1, "s") for n in range(20)), said(20, None)], {}, "grade")
    assert (found.raw.n, found.raw.n_clusters, found.raw.low, found.unscored) == (20, 1, None, 1)


def test_label_of_several_people_is_the_share_that_accepts() -> None:
    earlier: dict[str, dict[str, object]] = {"a": {"y": 3}}
    later: dict[str, dict[str, object]] = {"a": {"x": 3, "y": 2}, "b": {"x": True}, "c": {"x": "seven"}}
    assert people_shares([earlier, later], CARD) == ({"a": 0.5, "b": 1.0}, 1)


def test_file_of_labels_is_read_by_trace_without_its_unsure_rows(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("item_id,grade,annotator,stratum\na,3,x,random\na,1,y,random\nb,2,x,uncertain\nc,,x,random\n")
    given, unsure = file_labels(file, CARD, "grade")
    in_mlflow: dict[str, dict[str, object]] = {"b": {"z": True}}
    assert people_shares([in_mlflow, given], CARD, unsure) == ({"a": 0.5}, 0)
    file.write_text("trace_id,accept\na,yes\nb,no\n")
    assert people_shares([file_labels(file, CARD, "grade")[0]], CARD) == ({"a": 1.0, "b": 0.0}, 0)
    file.write_text("trace_id,accept\na,1\nb,0\nc,maybe\n")  # no grades of the scale
    assert people_shares([file_labels(file, CARD, "grade")[0]], CARD) == ({"a": 1.0, "b": 0.0}, 1)
    file.write_text("trace,grade\na,3\n")
    with pytest.raises(InputError, match="trace_id"):
        file_labels(file, CARD, "grade")


def test_label_of_a_scale_without_a_threshold_accepts_nothing() -> None:
    card = CARD.model_copy(update={"scale": CARD.scale.model_copy(update={"accept_at": None})})
    given: dict[str, dict[str, object]] = {"a": {"x": 1, "y": True}, "b": {"x": False}}
    assert people_shares([given], card) == ({"a": 1.0, "b": 0.0}, 1)


def test_experiments_whose_names_no_file_can_have_do_not_share_a_state() -> None:
    names = ["客服", "订单", "a b", "a-b"]
    assert len({state_name(name, "runs@1") for name in names}) == 4
    assert state_name("a-b", "runs@1") == "a-b.runs@1.json"


@pytest.mark.parametrize("text", ["accept", "accept<2", "accept=.8", "drift", ""])
def test_alert_that_says_nothing_is_an_error(text: str) -> None:
    with pytest.raises(UserError, match=r"accept<\.80, accept>\.99 and raw<\.80 are valid"):
        fired(text)


def test_alert_fires_when_the_whole_interval_is_beyond_it_or_it_cannot_be_told() -> None:
    known, few = sample_rates(TRACES, TRUTH, "grade"), sample_rates(TRACES, {}, "grade")
    alerts = ("accept>20%", "accept<.2", "raw>.5", "raw<.5")
    assert [fired(text, known) is not None for text in alerts] == [True, False, True, False]
    assert fired("accept<.05", few) is not None
    assert fired("raw<.05", few) is None


def test_state_after_a_kill_has_every_whole_line_and_knows_what_is_logged(tmp_path: Path) -> None:
    path, about = tmp_path / "watch" / "x.json", {"store": "s", "rate": 0.05}
    with open_state(path, about) as state:
        state.add([said(0, accept=True), said(1, None)])
        state.logged, state.next_ms = 1, 7
        state.save()
        with pytest.raises(UserError, match="another pass"), open_state(path, about):
            pass
    with path.with_suffix(".jsonl").open("a") as file:
        file.write('{"trace_id": "t2", "sess')  # killed in mid-line
    with open_state(path, about) as state:
        assert state.judged == [said(0, accept=True), said(1, None)]
        assert (state.logged, state.next_ms) == (1, 7)
        state.add([said(2, accept=False)])
    with open_state(path, about) as state:
        assert [one.trace_id for one in state.judged] == ["t0", "t1", "t2"]
    with pytest.raises(UserError, match=r"0\.5"), open_state(path, {**about, "rate": 0.5}):
        pass
    path.write_text("[]")
    with pytest.raises(ArtifactError, match="Move it away"), open_state(path, about):
        pass
