"""``judge.align`` really run: MLflow's judge, MLflow's traces, our compile, a fake endpoint behind the real clients."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.runs import Logged
from judgec.errors import InputError, UserError
from judgec.raters import programs
from judgec.records.estimate import Estimate
from judgec.records.scale import Scale
from tests.connect.tracking.feedback import ASSESSMENT, EXPERIMENT, environment, write_feedback
from tests.service.fake_openai import FakeOpenAI
from tests.service.grading_world import KEY_PHRASE, MILD_PHRASE, stubborn, teachable
from tests.service.replies import Call, Outcome, Text, answer

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's imports warn; they are not ours to mend
N = 45
INSTRUCTIONS = "How good is {{ outputs }} as an answer to {{ inputs }}? Grade it 1 to 5."


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Any]]:  # MLflow's types are not followed
    with environment():
        write_feedback(tmp_path_factory.mktemp("traces"), N)
        import mlflow

        found = mlflow.get_experiment_by_name(EXPERIMENT)
        yield mlflow.search_traces(locations=[found.experiment_id], return_type="list", max_results=N)


def make(instructions: str = INSTRUCTIONS, kind: object = int, name: str = ASSESSMENT) -> Any:  # as above
    from mlflow.genai.judges import make_judge

    return make_judge(name=name, instructions=instructions, model="openai:/fake", feedback_value_type=kind)


def mlflow_too(call: Call) -> Outcome:
    """Grades as ``teachable``; MLflow's own judge prompt, which has none of our fields, gets MLflow's JSON."""
    if call.prompt.outputs:
        return teachable(call)
    return Text(json.dumps({"result": 4, "rationale": "well said"}))


def test_align_returns_a_judge_that_carries_demonstrations_and_can_be_called(
    traces: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from judgec.mlflow_align import JudgecAlignmentOptimizer

    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with FakeOpenAI(mlflow_too) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base_url)
        optimizer = JudgecAlignmentOptimizer(home=tmp_path)
        judge = make()
        aligned = judge.align(traces, optimizer=optimizer)
        asked = [json.dumps(body["messages"]) for body in server.bodies]
        feedback = aligned(inputs={"question": "How many?"}, outputs="Seven.")
        last = json.dumps(server.bodies[-1]["messages"])

    assert optimizer.report["aligned"] is True
    assert (aligned.name, aligned.model, aligned.feedback_value_type) == (judge.name, judge.model, int)
    assert aligned.instructions.startswith(INSTRUCTIONS)
    assert "Example 1\ninputs: How many units does the " in aligned.instructions
    assert "outputs: It is " in aligned.instructions
    assert "says so\nresult: " in aligned.instructions
    assert "Nothing is known about this product" not in aligned.instructions  # the template shows no trace
    assert judge.instructions == INSTRUCTIONS
    # The uncompiled prompt is the user's, in our field names, with the grades to choose from.
    assert any("How good is `answer` as an answer to `query`? Grade it 1 to 5." in text for text in asked)
    assert (feedback.value, feedback.error) == (4, None)
    assert "Example 1" in last
    card = programs.load(tmp_path, f"{ASSESSMENT}@latest").card
    assert card.looks == 1
    assert card.objective == "qwk"  # MLflow's judge applies no calibrator: a constant bias must cost something
    gain = optimizer.report["raw_gain"]
    assert isinstance(gain, dict)
    tested = optimizer.report["test"]
    assert isinstance(tested, dict)
    raw = [tested[name]["qwk"]["value"] for name in ("compiled_prompt", "uncompiled")]
    assert gain["value"] == pytest.approx(raw[0] - raw[1])
    assert gain["value"] > 0
    split = optimizer.report["split"]
    assert isinstance(split, dict)
    assert sum(split.values()) == N


@pytest.mark.full
def test_align_is_a_run_of_mlflows_current_store_beside_what_the_user_has_running(
    traces: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mlflow

    from judgec.mlflow_align import JudgecAlignmentOptimizer

    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with FakeOpenAI(mlflow_too) as server, mlflow.start_run() as running:
        optimizer = JudgecAlignmentOptimizer(home=tmp_path, api_base=server.base_url, optimizer="labeled")
        make().align(traces, optimizer=optimizer)
        active = mlflow.active_run()
        assert active is not None
        assert active.info.run_id == running.info.run_id
    logged = mlflow.get_run(str(optimizer.report["mlflow_run_id"]))
    assert logged.info.run_id != running.info.run_id
    assert logged.info.status == "FINISHED"
    tested = optimizer.report["test"]
    assert isinstance(tested, dict)
    in_full = mlflow.artifacts.load_dict(f"{logged.info.artifact_uri}/metrics.json")
    named = {name: value for name, _, value, *_ in in_full["data"]}
    assert named["test.compiled_prompt.qwk"] == pytest.approx(tested["compiled_prompt"]["qwk"]["value"])
    assert logged.data.params["program"] == ASSESSMENT


def test_align_with_reflection_rewrites_the_instructions_in_names_that_the_template_shows(
    traces: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from judgec.mlflow_align import JudgecAlignmentOptimizer

    def reflecting(call: Call) -> Outcome:
        if any(output.name == "new_instruction" for output in call.prompt.outputs):
            return answer(call, {"new_instruction": f"Grade the `answer`: {KEY_PHRASE}, {MILD_PHRASE}."})
        return teachable(call)

    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with FakeOpenAI(reflecting) as server:
        optimizer = JudgecAlignmentOptimizer(home=tmp_path, api_base=server.base_url, optimizer="gepa")
        aligned = make().align(traces, optimizer=optimizer)
    assert optimizer.report["aligned"] is True
    assert aligned.instructions.startswith(f"Grade the `answer`: {KEY_PHRASE}, {MILD_PHRASE}.")
    assert "Grades" in aligned.instructions  # the rubric stays
    assert aligned.instructions.endswith("answer: {{ outputs }}\nquery: {{ inputs }}")


@pytest.mark.parametrize("cap", [{"budget": 10}, {"max_cost": 0.0001, "lm": "openai/gpt-4o-mini"}])
def test_align_that_does_not_fit_its_caps_asks_nothing(
    traces: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cap: dict[str, Any]
) -> None:
    from judgec.mlflow_align import JudgecAlignmentOptimizer

    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with FakeOpenAI(teachable) as server:
        optimizer = JudgecAlignmentOptimizer(home=tmp_path, api_base=server.base_url, **cap)
        with pytest.raises(UserError, match="judging every label once"):
            make().align(traces, optimizer=optimizer)
        assert server.calls == 0


@pytest.mark.soak
@pytest.mark.parametrize(("low", "shown"), [(-0.01, False), (None, False), (0.0, True)])
def test_align_where_a_gain_has_to_be_shown_goes_by_its_interval(
    traces: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, low: float | None, shown: bool
) -> None:
    from judgec import mlflow_align

    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setattr(Tracker, "log_compile", lambda *_: Logged(run_id="r", experiment_id="e"))
    gain = Estimate(value=0.1, low=low, high=None if low is None else 0.2, note="")
    monkeypatch.setattr(mlflow_align, "_raw_gain", lambda *_: gain)
    judge = make()
    with FakeOpenAI(teachable) as server:
        for required in (False, True):
            options: dict[str, Any] = {"home": tmp_path, "api_base": server.base_url, "require_shown": required}
            aligned = judge.align(traces, optimizer=mlflow_align.JudgecAlignmentOptimizer(**options))
            assert (aligned is not judge) is (shown or not required)


@pytest.mark.soak
def test_align_that_finds_nothing_better_returns_the_judge_as_it_was(
    traces: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from judgec.mlflow_align import JudgecAlignmentOptimizer

    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with FakeOpenAI(stubborn) as server:
        optimizer = JudgecAlignmentOptimizer(home=tmp_path, api_base=server.base_url)
        judge = make()
        assert judge.align(traces, optimizer=optimizer) is judge
    assert optimizer.report["aligned"] is False


def test_align_passes_the_labels_of_all_raters_on(traces: list[Any]) -> None:
    from judgec.mlflow_align import labels_of

    labels = labels_of(make(), traces)
    assert len(labels.items) == N
    assert sum(label.annotator == "bob" for label in labels.labels) == N // 3
    assert set(labels.items[0].inputs) == {"query", "answer"}
    assert labels_of(make(), traces[::-1]) == labels  # whatever order a search gives them in


def test_align_of_a_judge_that_reads_the_trace_shows_the_contexts(traces: list[Any]) -> None:
    from judgec.mlflow_align import labels_of

    labels = labels_of(make("Is {{ trace }} good?"), traces)
    assert labels.items[0].inputs["contexts"] == ("Nothing is known about this product.",)


def test_align_without_feedback_of_the_judges_name_says_what_there_is(traces: list[Any], tmp_path: Path) -> None:
    from judgec.mlflow_align import JudgecAlignmentOptimizer

    with pytest.raises(InputError, match="no human feedback 'tone'; there is quality"):
        make(name="tone").align(traces, optimizer=JudgecAlignmentOptimizer(home=tmp_path))


def test_align_of_a_model_that_mlflow_serves_asks_for_another(traces: list[Any], tmp_path: Path) -> None:
    from mlflow.genai.judges import make_judge

    from judgec.mlflow_align import JudgecAlignmentOptimizer

    judge = make_judge(name=ASSESSMENT, instructions=INSTRUCTIONS, model="databricks:/x", feedback_value_type=int)
    with pytest.raises(UserError, match=r"Name the model with lm="):
        judge.align(traces, optimizer=JudgecAlignmentOptimizer(home=tmp_path))


@pytest.mark.parametrize(
    ("kind", "seen", "scale"),
    [
        (int, [1, 3], None),
        (bool, [True], Scale(name="quality", grades=("false", "true"), accept_at="true")),
        (Literal["yes", "no"], ["no"], Scale(name="quality", grades=("no", "yes"), accept_at="yes")),
        (Literal[3, 1, 2], [1], Scale(name="quality", grades=(1, 2, 3))),
        (Literal["b", "a", "c"], ["a"], Scale(name="quality", level="nominal", grades=("b", "a", "c"))),
        (str, ["Pass", "fail"], Scale(name="quality", grades=("fail", "Pass"), accept_at="Pass")),
        (str, ["2", "3"], None),
    ],
)
def test_scale_of_a_judge_follows_its_value_type(kind: object, seen: list[object], scale: Scale | None) -> None:
    from judgec.mlflow_align import scale_of

    assert scale_of(make(kind=kind), seen) == scale


def test_literal_text_with_braces_is_no_template_variable() -> None:
    from judgec.mlflow_align import VARIABLE, _literal

    assert not VARIABLE.findall(_literal("a {{ name }} and {{x}}"))
