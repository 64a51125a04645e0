"""Checks whether a reference is in an answer: figures, dates, names and words in one written form."""

import re
from collections.abc import Sequence

from judgec.evidence.numerals import is_number
from judgec.evidence.text import FUNCTION_STEMS, Library, StemmedText

STATED = 0.6  # share of a reference's content words that an answer must have; all of its figures
NEAR = 12  # words of an answer within which a short reference must stand together
SHORT = 12  # content words of a reference that must stand together
_DESIGNATION = re.compile(r"\b([A-Z][A-Za-z]+) ([A-Z]{0,3}\d+[A-Za-z]{0,2})\b")

_CITATION = re.compile(r"\[\d{1,3}\]")

_library = Library()


def read(text: str) -> StemmedText:
    """The text as stems, kept for the next time; citations such as ``[2]`` are no figures."""
    return _library.read(_CITATION.sub(" ", text))


def key_stems(reference: str) -> list[str]:
    """The content stems of a reference in order; its function words when it has nothing else."""
    stems = read(reference).stems
    return [stem for stem in stems if stem not in FUNCTION_STEMS] or list(stems)


def states(answer: str, reference: str) -> bool:
    """True when the answer gives the reference: all of its figures, most of its words, a short one in one place.

    Alternatives of a reference are separated by `` | ``; one is enough.
    """
    return any(_states(answer, one) for one in reference.split(" | "))


def _states(answer: str, reference: str) -> bool:
    keys = dict.fromkeys(key_stems(reference))
    if not keys:
        return False
    stems = read(answer).stems
    figures = {stem for stem in keys if is_number(stem)}
    if len(keys) > SHORT:
        return _enough(set(stems), keys, figures)
    places = [at for at, stem in enumerate(stems) if stem in keys]
    reach = NEAR + len(read(reference).stems)
    return any(_enough(set(stems[at : at + reach]), keys, figures) for at in places)


def _enough(found: set[str], keys: dict[str, None], figures: set[str]) -> bool:
    return figures <= found and sum(stem in found for stem in keys) >= STATED * len(keys)


def quotes(answer: str, text: str) -> bool:
    """True when the stems of a text stand in the answer one after the other."""
    stems, wanted = read(answer).stems, read(text).stems
    return bool(wanted) and any(
        stems[at : at + len(wanted)] == wanted for at, stem in enumerate(stems) if stem == wanted[0]
    )


def support(text: str, passages: Sequence[str]) -> float:
    """Share of the text's content stems that stand in the passages; 0 without passages."""
    keys = dict.fromkeys(key_stems(text))
    known = {stem for passage in passages for stem in read(passage).vocabulary}
    return sum(stem in known for stem in keys) / len(keys) if keys and known else 0.0


def neighbours(query: str, answer: str) -> set[str]:
    """Designations in the answer that share their name with one in the question and are not it ("Fenn 20", not 25).

    Empty when the answer names what was asked about as well.
    """
    asked = {(name, number) for name, number in _DESIGNATION.findall(query)}
    given = {(name, number) for name, number in _DESIGNATION.findall(answer)}
    if not asked or asked & given:
        return set()
    names = {name for name, _ in asked}
    return {f"{name} {number}" for name, number in given if name in names}
