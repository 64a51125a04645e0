"""Agreement of an answer with its peers: what other systems answered to the same query.

The peers stand in the item itself, as its column ``peers``; they are never gathered from what else is judged.
"""

from collections import Counter
from collections.abc import Sequence
from math import log1p

from judgec.evidence.overlap import Weight, f1, soft_support, support, total
from judgec.evidence.text import Library, StemmedText

AGREES = 0.6  # likeness from which a peer says the same

PEER_NAMES = (
    "precision",  # IDF share of the answer's stems that are not in the question, in a peer; the mean over the peers
    "recall",  # of a peer's such stems in the answer
    "f1",
    "likeness",  # the same with similar stems, or 1 where one text stands in the other
    "inside",
    "recall_soft",
    "agreeing",  # share of the peers that say the same
    "reference",  # how far the peers say what the reference does
    "beside_reference",  # how much more the answer does
    "agreeing_reference",  # how far those do that are like the answer
    "consensus",  # share of the peers with the text that most of them give
    "beside_consensus",
    "said_by",  # share of the peers that use a stem of the answer, its mean by weight
    "said_by_least",
    "count",
    "number_conflict",  # share of the peers with other figures only
)


def peer_features(
    reply: StemmedText,
    question: StemmedText,
    peers: Sequence[str],
    references: Sequence[StemmedText],
    library: Library,
    weight: Weight,
) -> tuple[float, ...]:
    """The numbers of ``PEER_NAMES`` for an answer of at least one word; an empty tuple where no peer says a word.

    A text that several peers give counts once for each. Nothing depends on the order of the peers.

    Args:
        reply: The answer.
        question: What was asked.
        peers: What the others answered.
        references: The alternatives of the reference; may be empty.
        library: Where texts are read.
        weight: IDF of a stem.
    """
    counted = sorted(Counter(peers).items())
    read = [(passage, count) for text, count in counted if (passage := library.read(text)).stems]
    if not read:
        return ()
    passages, counts = [passage for passage, _ in read], [count for _, count in read]
    whole, asked = sum(counts), question.vocabulary

    def mean(values: Sequence[float]) -> float:
        return total(value * count for value, count in zip(values, counts, strict=True)) / whole

    rows = [_alike(reply, passage, question, weight) for passage in passages]
    means = [mean(column) for column in zip(*rows, strict=True)]
    likeness = [row[3] for row in rows]
    given = [_given(passage, references, asked, weight) for passage in passages]
    own, like = _given(reply, references, asked, weight), total(map(float.__mul__, likeness, map(float, counts)))
    near = total(g * a * n for g, a, n in zip(given, likeness, counts, strict=True)) / like if like else own
    consensus = max(sum(n for other, n in read if _inside(passage, other)) / whole for passage in passages)
    new = _new(reply, asked)
    shares = [sum(n for passage, n in read if stem in passage.vocabulary) / whole for stem in new]
    mass = [weight(stem) for stem in new]
    return (
        *means,
        mean([float(one >= AGREES) for one in likeness]),
        mean(given),
        own - mean(given),
        near,
        consensus,
        consensus - means[4],
        total(map(float.__mul__, mass, shares)) / total(mass),
        min(shares),
        log1p(whole),
        mean([_other_figures(reply, passage, asked) for passage in passages]),
    )


def agreeing(reply: StemmedText, question: StemmedText, peers: Sequence[str], library: Library) -> tuple[int, int]:
    """Number of peers that say the same as an answer with words, and that say anything: words weigh alike."""
    same = whole = 0
    for text, count in Counter(peers).items():
        peer = library.read(text)
        if peer.stems:
            whole += count
            same += count * (_alike(reply, peer, question, _one)[3] >= AGREES)
    return same, whole


def _one(_stem: str) -> float:
    return 1.0


def _new(passage: StemmedText, asked: dict[str, int]) -> list[str]:
    """Distinct stems that are not in the question; all of them where the question has them all."""
    return [stem for stem in passage.vocabulary if stem not in asked] or list(passage.vocabulary)


def _inside(one: StemmedText, other: StemmedText) -> bool:
    return one.compact in other.compact or other.compact in one.compact


def _alike(
    reply: StemmedText, peer: StemmedText, question: StemmedText, weight: Weight
) -> tuple[float, float, float, float, float, float]:
    """Similarity of the answer to a peer: the first six of ``PEER_NAMES``."""
    said, told = _new(reply, question.vocabulary), _new(peer, question.vocabulary)
    precision, recall = support(said, peer.vocabulary, weight, 0.0), support(told, reply.vocabulary, weight, 0.0)
    near, back = soft_support(said, peer, weight, 0.0), soft_support(told, reply, weight, 0.0)
    inside = float(_inside(reply, peer))
    return precision, recall, f1(precision, recall), max(f1(near, back), inside), inside, back


def _given(passage: StemmedText, references: Sequence[StemmedText], asked: dict[str, int], weight: Weight) -> float:
    """Share of the closest alternative of the reference that a text gives; 0 without a reference."""
    return max(
        (
            max(soft_support(_new(wanted, asked), passage, weight, 0.0), float(_inside(wanted, passage)))
            for wanted in references
        ),
        default=0.0,
    )


def _other_figures(reply: StemmedText, peer: StemmedText, asked: dict[str, int]) -> float:
    """1 where both give figures that the question lacks, and none of the answer's is the peer's."""
    told = [number for number in reply.numbers if number not in asked]
    others = any(number not in asked for number in peer.numbers)
    return float(bool(told) and others and not any(peer.gives(number, reply) for number in told))
