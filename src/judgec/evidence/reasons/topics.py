"""The topics of a reason: which features tell of the same thing, so that one phrase speaks for all of them."""

from collections.abc import Sequence

import numpy as np

from judgec.records.label import IntArray

TOPICS = (
    "texts",  # what is missing altogether
    "refusal",
    "numbers",  # of the reference
    "names",  # of the reference
    "recall",  # of the reference
    "precision",  # against the reference
    "sentences",  # each one's support in the contexts
    "strangers",  # names and numbers that the contexts do not have
    "support",  # in the contexts
    "question",
    "given",  # what was asked for
    "query",  # words of the query in a document
    "together",  # words of the query that stand together
    "passages",  # the contexts by themselves
    "form",
    "only_a",  # what the first answer says and the second does not
    "only_b",
)
_FEATURES = {
    "refusal": (
        "answer.refusal answer.refused answer.refused_at_once answer.refused_then_answered "
        "reference.refusal_unwarranted"
    ),
    "numbers": (
        "reference.number_conflict reference.number_recall reference.month_conflict reference.less_precise "
        "reference.more_precise"
    ),
    "names": "reference.names_recall",
    "precision": (
        "reference.precision_new reference.precision_soft reference.lcs_precision reference.answer_inside "
        "reference.rarest_extra reference.union_precision"
    ),
    "sentences": (
        "contexts.sentence_mean contexts.sentence_min contexts.sentence_max contexts.sentence_last "
        "contexts.sentences_weak contexts.best_sentence_mean contexts.best_sentence_min contexts.best_sentence_max "
        "contexts.claims_sentence_min contexts.claims_best_mean"
    ),
    "strangers": (
        "contexts.names_unsupported contexts.names_unsupported_count contexts.numbers_unsupported "
        "contexts.numbers_unsupported_count"
    ),
    "question": "answer.question_coverage answer.new_stems answer.question_length",
    "given": (
        "answer.numbers answer.names answer.names_share answer.gives_number answer.gives_name answer.gives_polarity"
    ),
    "together": (
        "document.bigrams document.lcs document.best_sentence document.best_sentence_position "
        "document.first_sentence document.mean_sentence document.proximity"
    ),
    "passages": "contexts.question_support contexts.contexts_recall contexts.contexts_length",
    "form": (
        "reference.length_ratio reference.reference_length reference.alternatives document.length document.query_length"
    ),
}
_BY_FEATURE = {feature: topic for topic, features in _FEATURES.items() for feature in features.split()}
_BY_FAMILY = {
    "answer": "form",
    "reference": "recall",
    "contexts": "support",
    "document": "query",
    "themes": "query",
    "told": "sentences",
    "rubric": "sentences",
}


def topic_of(feature: str) -> str:
    """The topic of a column of ``EvidenceModel.names``."""
    family, _, name = feature.partition(".")
    if name == "absent":
        return "texts"
    return _BY_FEATURE.get(feature) or _BY_FAMILY.get(family, "form")


def topics_of(features: Sequence[str]) -> IntArray:
    """The position in ``TOPICS`` of each feature's topic."""
    return np.array([TOPICS.index(topic_of(feature)) for feature in features], dtype=np.int64)
