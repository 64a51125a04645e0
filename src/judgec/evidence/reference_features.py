"""Agreement of an answer with its reference: the best of the alternatives, and how they do together."""

from math import log1p

from judgec.evidence.answer_features import JudgedAnswer, refusing
from judgec.evidence.overlap import Weight, contains_run, cosine, f1, lcs, ratio, support, supports, total
from judgec.evidence.text import Library, StemmedText

SEPARATOR = " | "  # between the alternatives of a reference
MATCHED = 0.9  # soft recall from which an alternative counts as given

_ONE = (
    "recall_new",  # IDF share of the reference's stems that are not in the question
    "recall_soft",
    "recall_content",
    "precision_new",
    "precision_soft",
    "f1",
    "lcs_recall",
    "lcs_precision",
    "lcs_f1",
    "inside_answer",
    "answer_inside",
    "inside_compact",
    "trigram_cosine",
    "length_ratio",
    "names_recall",
    "rarest_missing",
    "rarest_extra",
    "number_conflict",
    "number_recall",
    "month_conflict",
    "less_precise",  # share of the reference's figures left out by an answer that gives some of them
    "more_precise",  # figures that the reference does not give
    "first_sentence_recall",
    "reference_length",
)
_AVERAGED = ("recall_new", "recall_soft", "lcs_f1", "inside_answer", "trigram_cosine")
REFERENCE_NAMES = (
    *_ONE,
    *(f"mean_{name}" for name in _AVERAGED),
    "alternatives",
    "alternatives_matched",
    "union_precision",
    "union_recall",
    "refusal_unwarranted",  # refuses although the reference gives an answer
)
_SOFT, _LCS_F1, _INSIDE = (_ONE.index(name) for name in ("recall_soft", "lcs_f1", "inside_answer"))


def alternatives(reference: str) -> list[str]:
    """The alternatives of a reference, blank ones left out."""
    return [text for text in reference.split(SEPARATOR) if text.strip()]


def reference_features(
    answer: JudgedAnswer, question: StemmedText, reference: str, library: Library, weight: Weight
) -> tuple[float, ...]:
    """The numbers of ``REFERENCE_NAMES`` for an answer and a reference with at least one word each."""
    reply, asked = answer.passage, question.vocabulary
    wanted = [passage for passage in map(library.read, alternatives(reference)) if passage.stems]
    rows = [_compare(reply, question, passage, weight) for passage in wanted]
    unknown = any(any(refusing(passage)) for passage in wanted)
    best = max(rows, key=lambda row: (row[_SOFT] + row[_LCS_F1] + row[_INSIDE], row))
    means = (total(row[_ONE.index(name)] for row in rows) / len(rows) for name in _AVERAGED)
    union = {stem: None for passage in wanted for stem in passage.vocabulary}
    return (
        *best,
        *means,
        log1p(len(rows)),
        sum(1 for row in rows if row[_SOFT] > MATCHED) / len(rows),
        support(_new(reply, asked), union, weight, 0.0),
        support([stem for stem in union if stem not in asked], reply.vocabulary, weight, best[0]),
        0.0 if unknown else answer.refusal,
    )


def _new(passage: StemmedText, asked: dict[str, int]) -> list[str]:
    """Distinct stems that are not in the question; all of them where the question has them all."""
    return [stem for stem in passage.vocabulary if stem not in asked] or list(passage.vocabulary)


def _compare(reply: StemmedText, question: StemmedText, wanted: StemmedText, weight: Weight) -> tuple[float, ...]:
    said, asked = reply.vocabulary, question.vocabulary
    new, told, empty = _new(wanted, asked), _new(reply, asked), wanted.function_stems
    content, names = [stem for stem in new if stem not in empty], wanted.names
    recall, soft_recall, rarest_missing = supports(new, reply, weight, 0.0)
    precision, soft_precision, rarest_extra = supports(told, wanted, weight, 0.0)
    common, long, short = lcs(reply.stems, wanted), len(wanted.stems), len(reply.stems)
    return (
        recall,
        soft_recall,
        ratio(sum(map(said.__contains__, content)), len(content), recall),
        precision,
        soft_precision,
        f1(precision, recall),
        common / long,
        common / short,
        2 * common / (long + short),
        float(contains_run(wanted.stems, reply)),
        float(contains_run(reply.stems, wanted)),
        float(wanted.compact in reply.compact or reply.compact in wanted.compact),
        cosine(wanted.character_trigrams, reply.character_trigrams),
        log1p(short) - log1p(long),
        ratio(sum(map(said.__contains__, names)), len(names), 0.5),
        rarest_missing,
        rarest_extra,
        *_figures(reply, wanted, asked),
        support(new, frozenset(reply.sentences[0]), weight, 0.0),
        log1p(long),
    )


def _figures(
    reply: StemmedText, wanted: StemmedText, asked: dict[str, int]
) -> tuple[float, float, float, float, float]:
    """Number conflict and recall, month conflict, share of figures left out, figures added."""
    needed = [number for number in wanted.numbers if number not in asked]
    told = [number for number in reply.numbers if number not in asked]
    shared = sum(1 for number in needed if reply.gives(number, wanted))
    extra = sum(1 for number in told if not wanted.gives(number, reply))
    months = [month for month in wanted.months if month not in asked]
    same_month = any(month in reply.months for month in months)
    return (
        float(bool(needed) and bool(told) and shared == 0),
        ratio(shared, len(needed), 0.5),
        float(bool(months) and bool(reply.months) and not same_month),
        ratio(len(needed) - shared, len(needed)) if shared else 0.0,
        log1p(extra),
    )
