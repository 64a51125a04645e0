"""Each feature's meaning on examples that can be checked with a pencil; every word weighs 1 unless said
otherwise.
"""

from math import log1p

import pytest

from judgec.evidence.answer_features import ANSWER_NAMES, answer_features, read_answer, refuses, without_courtesies
from judgec.evidence.context_features import CONTEXT_NAMES, context_features
from judgec.evidence.document_features import DOCUMENT_NAMES, document_features
from judgec.evidence.reference_features import REFERENCE_NAMES, alternatives, reference_features
from judgec.evidence.text import Library, read


def one(_stem: str) -> float:
    return 1.0


def of_answer(answer: str, query: str = "") -> dict[str, float]:
    library = Library()
    values = answer_features(read_answer(answer, library), library.read(query), one)
    return dict(zip(ANSWER_NAMES, values, strict=True))


def of_contexts(answer: str, contexts: str, query: str = "", reference: str = "") -> dict[str, float]:
    library = Library()
    reply = read_answer(answer, library)
    texts = (library.read(query), library.read((contexts,)), library.read(reference))
    return dict(zip(CONTEXT_NAMES, context_features(reply, *texts, one), strict=True))


def of_reference(answer: str, reference: str, query: str = "") -> dict[str, float]:
    library = Library()
    reply = read_answer(answer, library)
    values = reference_features(reply, library.read(query), reference, library, one)
    return dict(zip(REFERENCE_NAMES, values, strict=True))


def of_document(query: str, document: str) -> dict[str, float]:
    values = document_features(read(query), read(document), one, 4.0)
    return dict(zip(DOCUMENT_NAMES, values, strict=True))


@pytest.mark.parametrize(
    "sentence",
    [
        "i don't know.",
        "the document does not provide any information about it.",
        "there is no mention of a date.",
        "i'm sorry, but i cannot answer that.",
        "it is not specified in the text.",
        "the question is unanswerable.",
        "unfortunately, i couldn't find the year.",
        "there is insufficient information.",
        "the context doesn't say who won.",
        "i have no figures for it.",
        "i found nothing about cable lengths.",
        "we do not have their values.",
        "nothing that i was shown says where it should hang.",
        "storage times are not covered by the pages in front of me.",
        "neither a gap nor a distance is mentioned in the passages i can see.",
        "which of them suits a roof is beyond the text available to me.",
        "its repeatability is missing from my excerpts.",
    ],
)
def test_refuses_ways_to_decline_are_found(sentence: str) -> None:
    assert refuses(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "paris is the capital of france.",
        "the north sea is not deep.",
        "he notably won in 1990.",
        "no. 4 is the best seller.",
        "she never lost a match.",
        "the pages in front of the first chapter are not numbered.",
        "i have two cables at hand, and the longer one fits.",
        "nothing but water may touch the given sensor.",
    ],
)
def test_refuses_plain_statements_are_not(sentence: str) -> None:
    assert not refuses(sentence)


def test_without_courtesies_keeps_the_claim() -> None:
    text = "Sure, I'd be happy to help! Based on the provided document, Paris is it. Let me know if that helps."
    assert without_courtesies(text).split() == ["Paris", "is", "it."]
    assert without_courtesies("Paris is the capital.") == "Paris is the capital."


def test_answer_features_refusal_is_the_share_of_sentences() -> None:
    mixed = of_answer("I do not know the year. It was in Rome.")
    assert (mixed["refusal"], mixed["refused"], mixed["refused_at_once"]) == (0.5, 1.0, 1.0)
    assert mixed["refused_then_answered"] == 1.0  # 4 * 1/2 * 1/2
    late = of_answer("It was in Rome. I do not know the year.")
    assert (late["refused"], late["refused_at_once"]) == (1.0, 0.0)
    assert of_answer("It was in Rome.")["refusal"] == 0.0


def test_answer_features_asked_for_figure_says_whether_one_is_given() -> None:
    assert of_answer("In 1990.", "When did it open?")["gives_number"] == 1.0
    assert of_answer("Long ago.", "When did it open?")["gives_number"] == -1.0
    assert of_answer("Long ago.", "What is it?")["gives_number"] == 0.0
    assert of_answer("Yes, it is.", "Is it open?")["gives_polarity"] == 1.0
    assert of_answer("It was Marie.", "Who is it?")["gives_name"] == 1.0


def test_answer_features_length_and_repetition_by_hand() -> None:
    found = of_answer("red fish blue fish", "fish")
    assert found["length"] == pytest.approx(log1p(4))
    assert found["repetition"] == pytest.approx(1 / 4)
    assert found["new_stems"] == pytest.approx(2 / 3)
    assert found["question_coverage"] == 1.0


def test_context_features_support_leaves_the_question_out() -> None:
    found = of_contexts("the tower is iron", "Iron was used.", query="the tower is")
    assert found["support_new"] == 1.0
    assert found["support_all"] == pytest.approx(1 / 4)
    assert of_contexts("the tower is steel", "Iron was used.", query="the tower is")["support_new"] == 0.0


def test_context_features_worst_sentence_and_unsupported_things_are_found() -> None:
    found = of_contexts("Bees make honey. Also Napoleon bought 17 hives.", "Bees make honey in 12 hives.")
    assert found["sentence_max"] == 1.0
    assert found["sentence_min"] == pytest.approx(1 / 5)  # hives, of also napoleon bought 17 hives
    assert found["names_unsupported"] == 1.0
    assert found["numbers_unsupported"] == 1.0
    assert found["numbers_unsupported_count"] == pytest.approx(log1p(1))
    assert found["longest_unsupported"] == pytest.approx(log1p(3))  # "also" is a function word


def test_context_features_copied_text_has_full_ngrams_and_scrambled_has_none() -> None:
    copied = of_contexts("bees make sweet honey", "wild bees make sweet honey daily")
    scrambled = of_contexts("honey sweet make bees", "wild bees make sweet honey daily")
    assert [copied[name] for name in ("bigrams", "trigrams", "fourgrams", "lcs", "copied_longest")] == [1.0] * 5
    assert [scrambled[name] for name in ("bigrams", "trigrams", "fourgrams")] == [0.0] * 3
    assert scrambled["lcs"] == pytest.approx(1 / 4)
    assert scrambled["support_all"] == 1.0


def test_context_features_best_sentence_is_one_sentence() -> None:
    together = of_contexts("bees honey", "Bees make honey. Cows give milk.")
    apart = of_contexts("bees milk", "Bees make honey. Cows give milk.")
    assert (together["best_sentence_mean"], apart["best_sentence_mean"]) == (1.0, 0.5)


def test_context_features_claims_leave_refusals_and_courtesies_out() -> None:
    found = of_contexts("Sure! Bees make honey. The text does not mention wax.", "Bees make honey.")
    assert found["claims_support"] == 1.0
    assert found["support_new"] < 1.0
    assert of_contexts("I do not know.", "Bees make honey.")["claims_support"] == 0.5


def test_context_features_trusted_support_counts_the_reference_too() -> None:
    found = of_contexts("amber honey", "Bees make honey.", reference="amber")
    assert (found["support_content_types"], found["support_trusted"]) == (0.5, 1.0)


def test_reference_features_alternatives_take_the_best() -> None:
    assert alternatives("Rome | New York |  | Oslo") == ["Rome", "New York", "Oslo"]
    found = of_reference("It is New York.", "Rome | New York")
    assert (found["recall_new"], found["inside_answer"]) == (1.0, 1.0)
    assert found["mean_recall_new"] == 0.5
    assert found["alternatives_matched"] == 0.5
    assert found["union_recall"] == pytest.approx(2 / 3)


def test_reference_features_containment_is_a_run_and_spacing_is_forgiven() -> None:
    assert of_reference("york new", "New York")["inside_answer"] == 0.0
    assert of_reference("York", "New York")["answer_inside"] == 1.0
    split = of_reference("the note book", "notebook")
    assert (split["inside_answer"], split["inside_compact"]) == (0.0, 1.0)


def test_reference_features_number_conflict_needs_two_figures_that_differ() -> None:
    assert of_reference("in 1991", "in 1990")["number_conflict"] == 1.0
    assert of_reference("in nineteen", "in 19")["number_conflict"] == 0.0
    assert of_reference("in spring", "in 1990")["number_conflict"] == 0.0
    asked = of_reference("in 1991", "in 1991 about 40", query="what happened in 1991")
    assert asked["number_conflict"] == 0.0  # 1991 stands in the question and answers nothing


def test_reference_features_granularity_of_a_date() -> None:
    less = of_reference("May 1990", "3 May 1990")
    assert (less["less_precise"], less["more_precise"], less["month_conflict"]) == (0.5, 0.0, 0.0)
    more = of_reference("3 May 1990", "May 1990")
    assert more["less_precise"] == 0.0
    assert more["more_precise"] == pytest.approx(log1p(1))
    assert of_reference("3 June 1990", "May 1990")["month_conflict"] == 1.0


def test_reference_features_recall_and_precision_by_hand() -> None:
    found = of_reference("queen charlotte of spain", "charlotte of mecklenburg", query="who was queen")
    assert found["recall_new"] == pytest.approx(2 / 3)
    assert found["precision_new"] == pytest.approx(2 / 3)  # charlotte and of, of charlotte of spain
    assert found["lcs_f1"] == pytest.approx(4 / 7)
    assert found["length_ratio"] == pytest.approx(log1p(4) - log1p(3))
    assert (found["rarest_missing"], found["rarest_extra"]) == (1.0, 1.0)


def test_reference_features_refusal_is_unwarranted_only_when_an_answer_exists() -> None:
    assert of_reference("I do not know.", "In 1990")["refusal_unwarranted"] == 1.0
    assert of_reference("I do not know.", "The text does not say.")["refusal_unwarranted"] == 0.0
    assert of_reference("In 1990", "In 1990")["refusal_unwarranted"] == 0.0


def test_document_features_bm25_by_hand() -> None:
    # Two matched terms in a document of mean length 4: tf 2 gives 2 * 2.2 / (2 + 1.2), tf 1 gives 2.2 / 2.2.
    found = of_document("iron tower paris", "tower tower iron bridge")
    assert found["bm25"] == pytest.approx(4.4 / 3.2 + 1.0)
    assert found["bm25_share"] == pytest.approx((4.4 / 3.2 + 1.0) / (3 * 2.2))
    assert found["recall"] == pytest.approx(2 / 3)
    assert found["density"] == pytest.approx(3 / 4)


def test_document_features_order_and_place_matter() -> None:
    found = of_document("iron tower", "A bridge of wood. An iron tower stands.")
    assert (found["bigrams"], found["lcs"], found["best_sentence"]) == (1.0, 1.0, 1.0)
    assert (found["best_sentence_position"], found["first_sentence"]) == (0.5, 0.0)
    assert of_document("iron tower", "tower iron")["bigrams"] == 0.0
