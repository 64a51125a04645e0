"""Grades in words: which is better, by what the words say."""

from collections.abc import Iterable
from itertools import pairwise

from judgec.records.scale import Grade
from judgec.records.tasks.registry import plain
from judgec.table.rows.cells import is_accept_word

ACCEPTED = 0.6  # from here on a word means good enough
NEGATIONS = frozenset(
    [
        "not",
        "no",
        "without",
        "nicht",
        "kein",
        "keine",
        "ohne",
        "pas",
        "sans",
        "non",
        "senza",
        "sin",
        "nao",
        "sem",
        "niet",
        "nie",
    ]
)
LADDER: dict[str, float] = {
    plain(word) or word: rank
    for rank, words in {
        0.0: """
            terrible horrible awful strongly_disagree very_bad very_poor sehr_schlecht ungenuegend unusable
        """,
        0.1: """
            bad poor wrong false incorrect no down thumbs_down thumb_down irrelevant not_relevant unsupported
            fail failed reject rejected unacceptable unhelpful not_useful not_useful_at_all useless disagree
            dislike disliked negative schlecht falsch nein nicht_relevant mangelhaft incomplete inaccurate
            hallucinated unfaithful none not_supported completely_irrelevant not_at_all 👎 ❌ ✗ not_helpful
            unfaithful_answer low niedrig
            non nao nie nee nej nei ei ne nem hayir hayır tidak нет ні όχι לא لا 否 不 不是 错 错误 いいえ 不正解
            아니오 아니요
            incorrecte faux incorrecto incorrecta fout onjuist slecht onvoldoende errato sbagliato incorreto incorreta
            n_i_o nicht_in_ordnung
        """,
        0.3: """
            weak somewhat_disagree mostly_unsupported mostly_wrong marginal slightly_relevant eher_schlecht
            ausreichend partly_wrong minor
        """,
        0.45: """
            ok okay fair neutral medium mixed average partial partially partly somewhat mediocre
            partially_correct partly_correct partial_correct partially_relevant somewhat_relevant
            partially_supported partially_useful partially_helpful somewhat_helpful related borderline maybe
            teilweise teils mittel befriedigend in_part somewhat_useful mittelmaessig unsure
            incomplete_but_correct neither 😐 moderate
            partiellement en_partie partiel parcialmente en_parte parcial gedeeltelijk deels parzialmente in_parte
        """,
        0.65: """
            mostly_correct mostly_supported mostly_right somewhat_agree acceptable adequate ueberwiegend
            eher_gut mostly
        """,
        0.75: """
            good yes right true correct up thumbs_up thumb_up relevant supported pass passed accept accepted
            helpful useful agree like liked positive gut richtig ja faithful accurate complete 👍 ✅ ✓ high hoch
            fully
            oui si sim tak ja igen ano evet ya да так ναι כן نعم 是 对 正确 はい 예 네 正解
            correcte vrai correcto correcta goed juist voldoende corretto correto correta i_o in_ordnung
        """,
        0.9: """
            very_good fully_correct fully_supported highly_relevant very_relevant very_helpful very_useful
            completely great sehr_gut completely_correct entirely
        """,
        1.0: """
            excellent perfect strongly_agree perfectly_relevant outstanding ausgezeichnet exact
        """,
    }.items()
    for word in words.split()
}


def in_order(words: Iterable[Grade]) -> tuple[tuple[Grade, ...], int] | None:
    """The grades worst first and the position of the lowest accepted one; None where the words do not tell.

    Words that begin with a number (``4 - good``, ``5 stars``) and runs of stars are in the order of these.
    """
    kinds = {" ".join(str(word).split()).casefold(): word for word in words}  # Ja and ja are one
    grades = [word for word in kinds.values() if isinstance(word, str)]
    known = {word: rank_of(word) for word in grades}
    ranks: dict[str, float] = {word: rank for word, rank in known.items() if rank is not None}
    if len(ranks) == len(grades) == len(set(ranks.values())):
        ordered = sorted(grades, key=ranks.__getitem__)
        return tuple(ordered), next((i for i, w in enumerate(ordered) if ranks[w] >= ACCEPTED), len(ordered) - 1)
    numbers = {word: number_of(word) for word in grades}
    found: dict[str, float] = {word: number for word, number in numbers.items() if number is not None}
    if len(found) == len(grades) == len(set(found.values())):
        ordered = sorted(grades, key=found.__getitem__)
        return tuple(ordered), accepted_from(len(ordered))
    return None


def accepted_from(grades: int) -> int:
    """The usual position of the lowest accepted of so many grades: 4 of 1-5, 3 of 1-4, 2 of 0-2, 7 of 1-10."""
    return -(-6 * (grades - 1) // 10)


def rank_of(word: str) -> float | None:
    """Rank of a word, from 0 to 1; None where it is not known."""
    return LADDER.get(plain(word) or word.strip().casefold())


def rank_of_phrase(text: str) -> float | None:
    """Rank of a sentence, by its words that are known; None where it denies one of them."""
    if (known := rank_of(text)) is not None:
        return known
    said = plain(text).split("_")
    pairs = [rank for pair in pairwise(said) if (rank := LADDER.get("_".join(pair))) is not None]
    ranks = pairs or [rank for word in said if (rank := LADDER.get(word)) is not None]
    return sum(ranks) / len(ranks) if ranks and (pairs or not NEGATIONS & {*said}) else None


def is_graded(grade: Grade) -> bool:
    """True for a number, and for a word that is known to be a grade."""
    return not isinstance(grade, str) or is_accept_word(grade) or rank_of(grade) is not None


def number_of(word: str) -> float | None:
    """The number that a word begins with, or how many stars it is; None of any other."""
    bare = word.strip()
    if bare and set(bare) <= {"★", "⭐", "☆", "*"}:
        return float(len(bare) - bare.count("☆"))
    digits = bare.split()[0].rstrip(".:)-/") if bare else ""
    digits = digits.partition("/")[0]
    return float(digits) if digits.isdecimal() else None
