import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.lm.saved_engine import QUICK_INTERCEPT, QUICK_NAMES, QUICK_PRIOR, quick_features


def named(
    query: str, answer: str, reference: str = "", contexts: tuple[str, ...] = (), document: str = ""
) -> dict[str, float]:
    return dict(zip(QUICK_NAMES, quick_features(query, answer, reference, contexts, document), strict=True))


def prior_score(
    query: str, answer: str, reference: str = "", contexts: tuple[str, ...] = (), document: str = ""
) -> float:
    values = quick_features(query, answer, reference, contexts, document)
    return QUICK_INTERCEPT + sum(value * slope for value, slope in zip(values, QUICK_PRIOR, strict=True))


@given(
    st.text(max_size=50),
    st.text(max_size=50),
    st.text(max_size=50),
    st.text(max_size=50),
    st.text(max_size=50),
)
def test_quick_features_any_text_is_within_zero_and_one(
    query: str, answer: str, reference: str, context: str, document: str
) -> None:
    values = quick_features(query, answer, reference, (context,), document)
    assert len(values) == len(QUICK_NAMES) == len(QUICK_PRIOR)
    assert all(0.0 <= value <= 1.0 for value in values)


def test_quick_features_meaning_on_small_texts() -> None:
    right = named("who won", "Ann won", reference="Ann | Bo")
    assert (right["reference_recall"], right["reference_contained"], right["empty"]) == (1.0, 1.0, 0.0)
    assert named("when", "in 1991", reference="1990")["number_conflict"] == 1.0
    refused = named("who won", "I do not know.", reference="Ann")
    assert (refused["refusal"], refused["refusal_unwarranted"]) == (1.0, 1.0)
    assert named("who won", "I do not know.")["refusal_unwarranted"] == 0.0
    assert named("who won", "")["empty"] == 1.0
    assert named("iron tower", "", document="a tower of iron")["document_support"] == 1.0
    assert named("who", "Bees sting", contexts=("Bees make honey",))["context_support"] == pytest.approx(1 / 2)


def test_prior_right_answers_score_above_wrong_ones() -> None:
    assert prior_score("who won", "Ann", "Ann") > prior_score("who won", "Bo", "Ann") + 0.5
    contexts = ("Bees make honey in spring.",)
    assert (
        prior_score("what", "Bees make honey", contexts=contexts)
        > prior_score("what", "Cows give milk", contexts=contexts) + 0.5
    )
    assert prior_score("iron", "", document="iron") > prior_score("iron", "", document="wood") + 0.5
