"""Claims of an answer: how it is cut, what decides each, and what becomes a feature."""

import math

import pytest

from judgec.evidence.citation_features import CITATION_NAMES, check_citations, citation_features
from judgec.evidence.claim_features import CLAIM_NAMES, CheckedAnswer, check, claim_features
from judgec.evidence.claims import cut
from judgec.evidence.model import TOLD_NAMES, EvidenceModel
from judgec.evidence.reasons.check_phrases import check_phrases
from judgec.evidence.text import Library
from judgec.raters.checks import CLAIMS, details_of
from judgec.records.claim import (
    CONTRADICTED,
    NOT_FOUND,
    OKAY,
    PARTLY,
    SUPPORTED,
    VITAL,
    CheckedClaim,
    CheckedNugget,
    Found,
    as_nugget,
    recall,
)
from judgec.records.label import Item, Text

LIBRARY = Library()


def one(_: str) -> float:
    return 1.0


def item(answer: str, **inputs: Text) -> Item:
    return Item("i", "q", {"query": "What is known of the harbour?", "answer": answer, **inputs})


def checked(answer: str, **inputs: Text) -> CheckedAnswer:
    found = check(item(answer, **inputs), LIBRARY, one)
    assert found is not None
    return found


def only(answer: str, *contexts: str) -> CheckedClaim:
    (claim,) = checked(answer, contexts=contexts).claims
    return claim.checked


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("It was opened in 1920. Dr. J. Smith built it.", ["It was opened in 1920.", "Dr. J. Smith built it."]),
        ("Sure! I do not know who built it.", []),
        (
            "The old harbour was opened in 1920, but the new lighthouse is much younger.",
            ["The old harbour was opened in 1920", "the new lighthouse is much younger."],
        ),
        ("It has salt and pepper, and fish.", ["It has salt and pepper, and fish."]),
        ("1. It is deep.\n- It is wide [2].", ["It is deep.", "It is wide [2]."]),
        ("", []),
    ],
)
def test_cut_gives_clauses_that_claim_something_as_they_stand_in_the_answer(answer: str, claims: list[str]) -> None:
    found = cut(answer, LIBRARY)

    assert [claim.text for claim in found] == claims
    assert [answer[claim.start : claim.end] for claim in found] == claims


@pytest.mark.parametrize(
    ("answer", "context", "verdict"),
    [
        ("The harbour was opened in 1920.", "In 1920 the harbour was opened.", SUPPORTED),
        ("The harbour was opened in 1920.", "The harbour was opened in 1927.", CONTRADICTED),
        ("The quay is 5 km long.", "The quay is 5000 m long.", SUPPORTED),
        ("The ferry carries lorries.", "The ferry does not carry lorries.", CONTRADICTED),
        ("The ferry does not carry lorries.", "The ferry does not carry lorries.", SUPPORTED),
        ("Traffic in the port increased.", "Traffic in the port decreased.", CONTRADICTED),
        ("The quay was built by Anna Berg.", "The quay was built by Carla Dorn.", CONTRADICTED),
        ("A museum shows paintings.", "The quay was built of granite.", NOT_FOUND),
    ],
)
def test_closest_sentence_decides_a_claim(answer: str, context: str, verdict: str) -> None:
    assert only(answer, context).verdict == verdict


def test_claim_names_the_sentence_that_decides_and_where_it_stands() -> None:
    claim = only("The quay is of granite.", "Fish is sold here.", "It rains. The quay is of granite. It is old.")

    assert claim.to_json() == {
        "text": "The quay is of granite.",
        "verdict": SUPPORTED,
        "sentence": "The quay is of granite.",
        "source": "contexts",
        "number": 2,
        "start": 0,
        "end": 23,
    }


def test_answer_with_no_word_of_its_reference_gives_another_name() -> None:
    (wrong,) = checked("John Adams", reference="George Washington | Washington").claims
    (right,) = checked("Washington", reference="George Washington | Washington").claims

    assert (wrong.verdict, wrong.checked.source) == (CONTRADICTED, "reference")
    assert right.verdict == SUPPORTED


def test_nuggets_are_looked_for_in_the_answer() -> None:
    nuggets = ("vital: The harbour was opened in 1920.", "okay: It is deep.", "vital: Its lighthouse is red.")
    found = checked("The harbour was opened in 1920. It is deep.", nuggets=nuggets).checked_nuggets

    assert [one.verdict for one in found] == [SUPPORTED, SUPPORTED, NOT_FOUND]
    assert found[0].sentence == "The harbour was opened in 1920."
    assert recall(found, VITAL) == 1 / 2
    assert recall(found, OKAY) == 1.0
    assert recall(found) == pytest.approx((1 + 0.5) / (1 + 0.5 + 1))
    assert recall((), VITAL) is None


@pytest.mark.parametrize(
    ("verdicts", "share"),
    [
        ((SUPPORTED, PARTLY, NOT_FOUND), (5 + 2 / 2) / 8),
        ((SUPPORTED, SUPPORTED, SUPPORTED), (5 + 2 - 4) / 7),
        ((CONTRADICTED, NOT_FOUND, SUPPORTED), 0.0),  # -4 of 7 points: no answer is worth less than nothing
    ],
)
def test_recall_of_criteria_is_their_weighted_share(verdicts: tuple[Found, ...], share: float) -> None:
    points = (5, 2, 1) if share == 6 / 8 else (5, 2, -4)
    found = tuple(
        CheckedNugget(as_nugget(f"{weight:+d}: A fact."), one) for weight, one in zip(points, verdicts, strict=True)
    )

    assert recall(found) == pytest.approx(share)
    assert [one.to_json()["weight"] for one in found] == list(points)


def test_answer_with_nuggets_alone_has_a_reason_that_names_the_weightiest_missing_one() -> None:
    found = checked("It is deep.", nuggets=("+1: It is wide.", "+5: It was opened in 1920.", "okay: It is deep."))

    assert check_phrases(found)["sentences"][1] == ('1 of 3 nuggets is given; missing is "It was opened in 1920."')
    assert details_of(CLAIMS, [item("It is deep.", nuggets=("It is deep.",))], None, None)[0]["claims"] == []


def test_features_are_one_a_name_and_finite() -> None:
    full = checked("It was opened in 1920. It is red.", contexts=("It was opened in 1920.",), reference="In 1920.")
    none = checked("I do not know.", contexts=("It was opened in 1920.",))

    for found in (full, none):
        values = claim_features(found)
        assert len(values) == len(CLAIM_NAMES)
        assert all(map(math.isfinite, values))
    by_name = dict(zip(CLAIM_NAMES, claim_features(full), strict=True))
    assert (by_name["supported"], by_name["not_found"], by_name["contradicted"]) == (0.5, 0.5, 0.0)


def test_nothing_to_check_against_is_no_check() -> None:
    assert check(item("It is deep."), LIBRARY, one) is None


CITED = ("The quay is of granite.", "The lighthouse is red.", "Fish is sold here.")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("The quay is of granite [1]. The lighthouse is red [1].", [(1, SUPPORTED), (1, NOT_FOUND)]),
        ("The quay is of granite.[1] The lighthouse is red.[2]", [(1, SUPPORTED), (2, SUPPORTED)]),
        ("The quay is of granite. [1] The lighthouse is red. [2]", [(1, SUPPORTED), (2, SUPPORTED)]),
        ("The quay is of granite [1, 3].", [(1, SUPPORTED), (3, NOT_FOUND)]),
        ("The quay is of granite [1-2].", [(1, SUPPORTED), (2, NOT_FOUND)]),
        ("The quay is of granite [7]. Nobody swims there.", [(7, NOT_FOUND)]),
        ("The lighthouse is red.", [(1, NOT_FOUND), (2, SUPPORTED), (3, NOT_FOUND)]),
    ],
)
def test_each_citation_is_checked_in_the_document_that_it_names(answer: str, said: list[tuple[int, str]]) -> None:
    found = check_citations(item(answer, contexts=CITED), LIBRARY, one)

    assert found is not None
    claims = [claim for sentence in found.sentences for claim in sentence.checked]
    assert [(claim.number, claim.verdict) for claim in claims] == said
    values = citation_features(found)
    assert len(values) == len(CITATION_NAMES)
    assert all(map(math.isfinite, values))


def test_documents_that_begin_with_their_numbers_keep_them() -> None:
    found = check_citations(item("It is red [5].", contexts=("[3] It is deep.", "[5] It is red.")), LIBRARY, one)

    assert found is not None
    (claim,) = found.sentences[0].checked
    assert (claim.number, claim.verdict, claim.sentence) == (5, SUPPORTED, "It is red.")


def test_only_the_tasks_that_name_them_have_families_of_claims() -> None:
    items = [item("The harbour is deep.", contexts=("The harbour is deep.",))]

    assert EvidenceModel.fit(items, "grade").families == ("answer", "contexts")
    assert EvidenceModel.fit(items, "claims").families == ("answer", "contexts", "claims", "told")
    assert EvidenceModel.fit(items, "cited").families == ("answer", "contexts", "citations", "told")
    assert '"reads"' not in EvidenceModel.fit(items, "grade").to_json()


def test_what_a_model_told_is_absent_until_it_is_filled_in() -> None:
    items = [item("The harbour is deep.", contexts=("The harbour is deep.",))] * 2
    model = EvidenceModel.from_json(EvidenceModel.fit(items, "claims").to_json())
    features = model.transform(items)
    first = model.names.index("told.count")
    told = features.copy()[:, : len(TOLD_NAMES)]
    told[0], told[1] = 0.5, math.nan

    filled = model.telling(features, {"told": told})

    assert features[:, first:].tolist() == [[0, 0, 0, 0, 0, 1]] * 2
    assert filled[:, first:].tolist() == [[0.5] * 5 + [0], [0] * 5 + [1]]
