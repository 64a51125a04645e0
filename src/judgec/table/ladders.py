"""Words that are grades, which tell a column of grades from one of classes or remarks."""

from judgec.records.scale import Grade
from judgec.records.tasks.registry import plain
from judgec.table.rows.cells import is_accept_word

_WORDS = """
    terrible horrible awful strongly_disagree very_bad very_poor sehr_schlecht ungenuegend unusable
    bad poor wrong false incorrect no down thumbs_down thumb_down irrelevant not_relevant unsupported
    fail failed reject rejected unacceptable unhelpful not_useful not_useful_at_all useless disagree
    dislike disliked negative schlecht falsch nein nicht_relevant mangelhaft incomplete inaccurate
    hallucinated unfaithful none not_supported completely_irrelevant not_at_all 👎 ❌ ✗ not_helpful
    unfaithful_answer low niedrig
    non nao nie nee nej nei ei ne nem hayir hayır tidak нет ні όχι לא لا 否 不 不是 错 错误 いいえ 不正解
    아니오 아니요
    incorrecte faux incorrecto incorrecta fout onjuist slecht onvoldoende errato sbagliato incorreto incorreta
    n_i_o nicht_in_ordnung
    weak somewhat_disagree mostly_unsupported mostly_wrong marginal slightly_relevant eher_schlecht
    ausreichend partly_wrong minor
    ok okay fair neutral medium mixed average partial partially partly somewhat mediocre
    partially_correct partly_correct partial_correct partially_relevant somewhat_relevant
    partially_supported partially_useful partially_helpful somewhat_helpful related borderline maybe
    teilweise teils mittel befriedigend in_part somewhat_useful mittelmaessig unsure
    incomplete_but_correct neither 😐 moderate
    partiellement en_partie partiel parcialmente en_parte parcial gedeeltelijk deels parzialmente in_parte
    mostly_correct mostly_supported mostly_right somewhat_agree acceptable adequate ueberwiegend
    eher_gut mostly
    good yes right true correct up thumbs_up thumb_up relevant supported pass passed accept accepted
    helpful useful agree like liked positive gut richtig ja faithful accurate complete 👍 ✅ ✓ high hoch
    fully
    oui si sim tak ja igen ano evet ya да так ναι כן نعم 是 对 正确 はい 예 네 正解
    correcte vrai correcto correcta goed juist voldoende corretto correto correta i_o in_ordnung
    very_good fully_correct fully_supported highly_relevant very_relevant very_helpful very_useful
    completely great sehr_gut completely_correct entirely
    excellent perfect strongly_agree perfectly_relevant outstanding ausgezeichnet exact
    """
KNOWN = frozenset(plain(word) or word for word in _WORDS.split())


def is_graded(grade: Grade) -> bool:
    """True for a number, and for a word that is known to be a grade."""
    return not isinstance(grade, str) or is_accept_word(grade) or (plain(grade) or grade.strip().casefold()) in KNOWN
