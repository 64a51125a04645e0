"""A judge as MLflow's scorer: which field is filled by what, and threads that score a row each."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import judgec
from judgec.errors import UserError
from tests.compile.small import compiled_from
from tests.service import grading_world

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's imports warn; they are not ours to mend

INPUTS = ("query", "answer", "reference", "contexts")


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> judgec.Judge:
    """A judge of evidence alone."""
    home = tmp_path_factory.mktemp("judged")
    compiled_from(home, grading_world.rows(90, per_query=2), lm="embedded")
    return judgec.load_judge("small@latest", home=home)


@pytest.mark.parametrize(
    ("inputs", "outputs", "expectations", "row"),
    [
        (
            {"question": "How far?", "contexts": ["a", "b"]},
            "3 km",
            {"expected_response": "3 km"},
            {"query": "How far?", "contexts": ["a", "b"], "answer": "3 km", "reference": "3 km"},
        ),
        ({"anything": "How far?"}, {"response": "3 km"}, {}, {"query": "How far?", "answer": "3 km"}),
        (
            {"query": "How far?", "reference": "4 km"},
            {"answer": "3 km", "sources": 2},
            {"reference": "5 km"},
            {"query": "How far?", "answer": "3 km", "reference": "4 km"},
        ),
        ({"query": "How far?"}, "", {"reference": None}, {"query": "How far?", "answer": ""}),
    ],
)
def test_fields_are_filled_by_what_mlflow_has(
    inputs: dict[str, object], outputs: object, expectations: dict[str, object], row: dict[str, object]
) -> None:
    from judgec.verbs.mlflow_scorer import row_of

    assert row_of("grade", inputs, outputs, expectations, None) == row


def test_a_pair_comes_from_named_outputs() -> None:
    from judgec.verbs.mlflow_scorer import row_of

    row = row_of("preference", {"query": "q"}, {"answer_a": "x", "answer_b": "y"}, {}, None)
    assert row == {"query": "q", "answer_a": "x", "answer_b": "y"}
    with pytest.raises(UserError, match="answer_a, answer_b missing; inputs have query, outputs are str"):
        row_of("preference", {"query": "q"}, "x", {}, None)


def test_feedback_is_grade_reason_and_score_and_an_error_where_there_is_no_verdict(judge: judgec.Judge) -> None:
    scorer = judge.as_mlflow_scorer()
    one = judge(query="How far?", answer="3 km", reference="3 km", contexts=["It is 3 km."])

    found = scorer(
        inputs={"query": "How far?", "contexts": ["It is 3 km."]}, outputs="3 km", expectations={"reference": "3 km"}
    )

    assert [(each.name, each.value) for each in found] == [("small", one.grade), ("small.score", one.score)]
    assert found[0].rationale == one.rationale
    assert found[0].source.source_id == "small@1"
    failed = scorer._feedback({"grade": None, "score": None, "rationale": None, "unscored": "no grade in the reply"})
    assert [(each.value, each.error.error_code, each.error.error_message) for each in failed] == [
        (None, "UNSCORED", "no grade in the reply")
    ] * 2


def test_registering_the_scorer_names_the_registered_model(judge: judgec.Judge) -> None:
    with pytest.raises(UserError, match=r"small@1: MLflow cannot register .*models:/small@champion"):
        judge.as_mlflow_scorer().register()


def test_threads_score_a_row_each_and_each_gets_its_own(judge: judgec.Judge) -> None:
    scorer = judge.as_mlflow_scorer()
    asked: dict[str, object] = {"query": "How far?", "contexts": ["It is 3 km."]}
    rows = [{**asked, "answer": f"{n} km", "reference": "3 km"} for n in range(6)]

    def value(row: dict[str, object]) -> object:
        found = scorer(inputs=asked, outputs=row["answer"], expectations={"reference": row["reference"]})
        return found[1].value

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(value, rows)) == [one["score"] for one in judge.rows(rows)]


@pytest.mark.full
def test_a_registered_judge_loads_in_mlflow_and_judges_as_the_judge_itself(tmp_path: Path) -> None:
    import mlflow
    import pandas as pd

    rows = grading_world.rows(90, per_query=2)
    found = judgec.compile_judge(rows, name="known", home=tmp_path, progress=False)
    fields = pd.DataFrame([{name: row[name] for name in INPUTS if name in row} for row in rows[:20]])

    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlruns/mlflow.db")
    try:
        model = mlflow.pyfunc.load_model("models:/known/1", model_config={"home": str(tmp_path / "elsewhere")})
        loaded = model.predict(fields)
    finally:
        mlflow.set_tracking_uri(None)
    pd.testing.assert_frame_equal(loaded, found.judge(fields, progress=False)[list(loaded.columns)])
    assert model.metadata.signature.inputs.required_input_names() == ["query", "answer"]
    files = {path.name for path in (tmp_path / "mlruns").rglob("judge/**/*") if path.is_file()}
    assert {"MLmodel", "card.json", "mlflow_model.py"} <= files
    assert any(name.startswith("judgec-") and name.endswith(".whl") for name in files)
    assert not [name for name in files if name.endswith(".pkl")]
