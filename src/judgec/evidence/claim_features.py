"""An answer claim by claim: how many hold in contexts and reference, what is missing of reference and nuggets."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p

from judgec.evidence.claims import Alignment, align, cut, source_of
from judgec.evidence.overlap import Weight, ratio, total
from judgec.evidence.reference_features import alternatives
from judgec.evidence.sentences import Sentence, sentence_at
from judgec.evidence.text import Library
from judgec.records.claim import (
    CONTRADICTED,
    NOT_FOUND,
    OKAY,
    SUPPORTED,
    VITAL,
    CheckedNugget,
    Nugget,
    as_nugget,
    recall,
)
from judgec.records.label import Item

NEUTRAL = 0.5  # a share of nothing

CLAIM_NAMES = (
    "count",
    "supported",  # share of the claims
    "contradicted",
    "not_found",
    "supported_words",  # share of the words of all claims
    "near_mean",  # how much of a claim its deciding sentence has
    "near_min",
    "near_second",  # of the second weakest claim
    "anywhere_mean",
    "anywhere_min",
    "alike_min",
    "first_near",
    "last_near",
    "figures",  # share of the claims whose figures are contradicted
    "negation",
    "opposites",
    "names",
    "lost_figures",
    "lost_names",
    "reference_recall",  # share of the reference's claims that the answer gives
    "reference_near",  # of the best alternative, the mean of its claims
    "reference_near_min",
    "vital_recall",
    "okay_recall",
    "nugget_recall",
    "nugget_near",
    "nuggets_contradicted",
)


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer whose claims were checked.

    Args:
        claims: Each beside what decides it.
        reference: The claims of each alternative of the reference, beside the answer.
        nuggets: What the answer should say, beside the answer.
        sourced: There are contexts or a reference; without, no claim can be found anywhere.
    """

    claims: tuple[Alignment, ...]
    reference: tuple[tuple[Alignment, ...], ...]
    nuggets: tuple[tuple[Nugget, Alignment], ...]
    sourced: bool = True

    @property
    def checked_nuggets(self) -> tuple[CheckedNugget, ...]:
        """The nuggets for people."""
        return tuple(CheckedNugget(nugget, one.verdict, one.checked.sentence) for nugget, one in self.nuggets)


def check(item: Item, library: Library, weight: Weight) -> CheckedAnswer | None:
    """The claims of an item's answer and what decides them; None where it has nothing to check them against."""
    answer, reference = item.text("answer"), item.text("reference")
    question = library.read(item.text("query"))
    given = alternatives(reference)
    sources = [source_of("reference", n, text, library) for n, text in enumerate(given, 1)]
    wanted = [cut(text, library) for text in given]
    sources += [source_of("contexts", n, text, library) for n, text in enumerate(item.texts("contexts"), 1)]
    nuggets = tuple(map(as_nugget, item.texts("nuggets")))
    sourced = any(source.sentences for source in sources)
    if not sourced and not nuggets:
        return None
    own = [source_of("answer", 1, answer, library)]
    said = own[0].whole.vocabulary
    new = [[one for one in library.read(text).content if one not in question.vocabulary] for text in given]
    missed = any(new) and not any(one in said for stems in new for one in stems)
    return CheckedAnswer(
        claims=tuple(align(claim, question, sources, weight, missed=missed) for claim in cut(answer, library)),
        reference=tuple(tuple(align(claim, question, own, weight) for claim in claims) for claims in wanted if claims),
        nuggets=tuple((one, align(_whole(one.text, library), question, own, weight)) for one in nuggets),
        sourced=sourced,
    )


def claim_features(checked: CheckedAnswer) -> tuple[float, ...]:
    """The numbers of ``CLAIM_NAMES``."""
    return (*_of_claims(checked.claims), *_of_reference(checked.reference), *_of_nuggets(checked))


def _of_claims(claims: Sequence[Alignment]) -> tuple[float, ...]:
    if not claims:
        return (0.0, *(0.0,) * 3, *(NEUTRAL,) * 9, *(0.0,) * 6)
    n, near = len(claims), sorted(one.near for one in claims)
    words = [len(one.claim.read.stems) for one in claims]
    anywhere = [one.anywhere for one in claims]
    return (
        log1p(n),
        *(sum(one.verdict == verdict for one in claims) / n for verdict in (SUPPORTED, CONTRADICTED, NOT_FOUND)),
        sum(size for size, one in zip(words, claims, strict=True) if one.verdict == SUPPORTED) / sum(words),
        total(near) / n,
        near[0],
        near[min(1, n - 1)],
        total(anywhere) / n,
        min(anywhere),
        min(one.alike for one in claims),
        claims[0].near,
        claims[-1].near,
        *(sum(one.conflict == kind for one in claims) / n for kind in ("figures", "negation", "opposites", "names")),
        log1p(sum(one.lost_figures for one in claims)),
        log1p(sum(one.lost_names for one in claims)),
    )


def _of_reference(alternatives: Sequence[Sequence[Alignment]]) -> tuple[float, float, float]:
    """Of the alternative that the answer gives most of."""
    if not alternatives:
        return NEUTRAL, NEUTRAL, NEUTRAL
    rows = [
        (
            sum(one.verdict == SUPPORTED for one in claims) / len(claims),
            total(one.near for one in claims) / len(claims),
            min(one.near for one in claims),
        )
        for claims in alternatives
    ]
    return max(rows)


def _of_nuggets(checked: CheckedAnswer) -> tuple[float, ...]:
    nuggets = checked.checked_nuggets
    shares = (recall(nuggets, VITAL), recall(nuggets, OKAY), recall(nuggets))
    near = [one.near for _, one in checked.nuggets]
    denied = sum(one.verdict == CONTRADICTED for one in nuggets)
    return (
        *(NEUTRAL if share is None else share for share in shares),
        ratio(total(near), len(near), NEUTRAL),
        ratio(denied, len(nuggets)),
    )


def _whole(text: str, library: Library) -> Sentence:
    return sentence_at(text, 0, len(text), library.reader.language, units=library.units)
