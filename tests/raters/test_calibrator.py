import json

import numpy as np
import pytest
from pydantic import ValidationError

from judgec.raters.calibrator import (
    Calibrator,
    Linear,
    Steps,
    above_cuts,
    join_columns,
    linear_probabilities,
    standardize,
)

TWO: dict[str, object] = {
    "linear": Linear(coefficients=((0.5, -1.0),), intercepts=(0.2,), classes=(1,)),
    "center": (0.0, 1.0),
    "spread": (1.0, 2.0),
    "ordinal": True,
}


def of_family(**parts: object) -> Calibrator:
    fields = {"source": "evidence", "family": "ordinal", "n_grades": 2, "prior": (0.5, 0.5), "smoothing": 0.0}
    return Calibrator.model_validate({**fields, "feature_names": ("a", "b"), **parts})


def test_calibrator_reading_a_missing_column_is_refused() -> None:
    with pytest.raises(ValidationError, match="damaged"):
        of_family(**TWO, feature_names=("a",))


def test_calibrator_of_a_file_with_an_empty_place_for_a_forest_is_read_and_written_without() -> None:
    one = of_family(**TWO)
    fields = one.model_dump(mode="json")
    assert "forest" not in fields
    assert Calibrator.model_validate(fields | {"forest": None}) == one
    with pytest.raises(ValidationError):
        Calibrator.model_validate(fields | {"forest": {"roots": [0]}})


def test_apply_root_takes_the_signed_square_root_of_evidence_alone() -> None:
    one = of_family(
        source="both",
        root=True,
        feature_names=("a",),
        center=(0.0, 0.0),
        spread=(1.0, 1.0),
        linear=Linear(coefficients=((0.0, 1.0),), intercepts=(0.0,), classes=(1,)),
        ordinal=True,
    )
    found = one.apply(np.full((3, 2), 0.5), np.array([[16.0], [-0.25], [0.0]]))[:, 1]
    np.testing.assert_allclose(found, 1 / (1 + np.exp([-4.0, 0.5, 0.0])), atol=1e-15)


def test_apply_ordinal_by_hand() -> None:
    # One column, centre 1, spread 2; cuts 1 and 2 of three grades with scores z and z - 1.
    calibrator = of_family(
        family="ordinal",
        n_grades=3,
        prior=(0.2, 0.3, 0.5),
        feature_names=("a",),
        center=(1.0,),
        spread=(2.0,),
        linear=Linear(coefficients=((1.0,), (1.0,)), intercepts=(0.0, -1.0), classes=(1, 2)),
        ordinal=True,
    )
    above_1, above_2 = 1 / (1 + np.exp(-2.0)), 1 / (1 + np.exp(-1.0))
    wanted = [[1 - above_1, above_1 - above_2, above_2]]
    np.testing.assert_allclose(calibrator.apply(None, np.array([[5.0]])), wanted, atol=1e-15)
    # 100 lies 49.5 spreads out and is cut at 3.
    np.testing.assert_array_equal(
        calibrator.apply(None, np.array([[100.0]])), calibrator.apply(None, np.array([[7.0]]))
    )


def test_linear_probabilities_cut_never_crossed_in_training_is_sure() -> None:
    linear = Linear(coefficients=((0.0,),), intercepts=(0.0,), classes=(2,))
    found = linear_probabilities(linear, np.zeros((1, 1)), 4, ordinal=True)
    np.testing.assert_array_equal(found, [[0.0, 0.5, 0.5, 0.0]])


def test_linear_probabilities_multinomial_by_hand_leaves_unseen_grade_out() -> None:
    linear = Linear(coefficients=((0.0,), (1.0,)), intercepts=(0.0, 0.0), classes=(0, 2))
    found = linear_probabilities(linear, np.array([[np.log(3.0)]]), 3, ordinal=False)
    np.testing.assert_allclose(found, [[0.25, 0.0, 0.75]], atol=1e-15)


def test_apply_isotonic_interpolates_and_smooths() -> None:
    calibrator = of_family(
        source="lm",
        family="isotonic",
        feature_names=(),
        smoothing=0.1,
        steps=(Steps(cut=1, x=(0.2, 0.6), y=(0.1, 0.9)),),
    )
    found = calibrator.apply(np.array([[0.6, 0.4], [0.0, 1.0], [np.nan, np.nan]]), None)
    np.testing.assert_allclose(found[:2], [[0.5, 0.5], [0.9 * 0.1 + 0.05, 0.9 * 0.9 + 0.05]], atol=1e-12)
    assert np.isnan(found[2]).all()


def test_apply_unscored_rows_stay_nan_only_where_the_verdict_is_read() -> None:
    verdicts, evidence = np.array([[np.nan, np.nan], [0.3, 0.7]]), np.array([[1.0, 0.0], [2.0, 1.0]])
    assert not np.isnan(of_family(**TWO).apply(verdicts, evidence)).any()
    passed_on = of_family(source="lm", family="none", feature_names=()).apply(verdicts, None)
    np.testing.assert_allclose(passed_on, [[np.nan, np.nan], [0.3, 0.7]])
    nothing = np.full((2, 2), np.nan)
    assert np.isnan(of_family(source="lm", family="none", feature_names=()).apply(nothing, evidence)).all()


def test_apply_wrong_width_or_nothing_is_refused() -> None:
    calibrator = of_family(**TWO)
    for evidence in (None, np.zeros((3, 5)), np.zeros(2)):
        with pytest.raises(ValueError, match="evidence"):
            calibrator.apply(None, evidence)
    with pytest.raises(ValueError, match="verdicts"):
        of_family(source="lm", family="none", feature_names=()).apply(None, np.zeros((1, 2)))


def test_join_columns_are_clipped_logits_of_the_cuts_then_evidence() -> None:
    verdicts = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(above_cuts(verdicts), [[0.8, 0.5], [0.0, 0.0]])
    joined = join_columns("both", verdicts, np.array([[7.0], [8.0]]))
    np.testing.assert_allclose(joined, [[np.log(4.0), 0.0, 7.0], [-np.log(99.0), -np.log(99.0), 8.0]])


def test_standardize_constant_column_is_zero_and_verdict_columns_are_not_cut() -> None:
    found = standardize(np.array([[10.0, 10.0, 5.0]]), np.zeros(3), np.array([1.0, 1.0, 0.0]), 1)
    np.testing.assert_array_equal(found, [[10.0, 3.0, 0.0]])


def test_json_unknown_field_and_broken_number_are_refused() -> None:
    text = of_family(**TWO).model_dump_json()
    assert Calibrator.model_validate_json(text) == of_family(**TWO)
    for damage in ({"__reduce__": "os.system"}, {"smoothing": 2.0}, {"n_grades": 1}, {"family": "pickle"}):
        with pytest.raises(ValidationError):
            Calibrator.model_validate_json(json.dumps(json.loads(text) | damage))
