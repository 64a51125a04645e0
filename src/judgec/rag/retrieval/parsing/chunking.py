"""A document as chunks of bounded size that overlap and break where the text does."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal, Self

from judgec.errors import UserError
from judgec.rag.retrieval.parsing.document import Section

Unit = Literal["characters", "tokens"]
PRESETS = ("1000/250", "3000/150", "2000t")  # vRAG-Eval; RAGProbe; RAGElo's passages of up to ten pages
_FORM = re.compile(r"(\d+)(t?)(?:/(\d+)t?)?")
_TOKEN = re.compile(r"\w{1,6}|[^\w\s]")  # about what subword tokenizers make of European languages

# How much a place wants to be a break: a section begins, a paragraph, a line, a sentence, a word.
SECTION, PARAGRAPH, LINE, SENTENCE, WORD = 4, 3, 2, 1, 0
_BREAKS = (
    (PARAGRAPH, re.compile(r"(?<=\n)(?=[ \t]*\n)\s*\n")),
    (LINE, re.compile(r"(?<=\n)")),
    (SENTENCE, re.compile(r"(?<=[.!?;])\s+|(?<=[。！？])")),
    (WORD, re.compile(r"(?<=\s)")),
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a document and where it begins."""

    text: str
    section: str
    page: int | None


@dataclass(frozen=True, slots=True)
class Chunking:
    """Rules for cutting documents.

    Args:
        size: Most characters or tokens of a chunk.
        overlap: Most that a chunk repeats of the one before; at most half of ``size``.
        unit: What is counted. Tokens are pieces of words of at most six letters, and punctuation marks: no
            tokenizer of a particular model.
    """

    size: int = 1000
    overlap: int = 250
    unit: Unit = "characters"

    @classmethod
    def parse(cls, text: str) -> Self:
        """From ``SIZE/OVERLAP`` in characters, or with ``t`` after the size in tokens: 1000/250, 2000t, 512t/64.

        Raises:
            UserError: When it is neither, or the overlap is more than half of the size.
        """
        found = _FORM.fullmatch(text.strip())
        if found is None:
            raise UserError(
                f"--chunk: {text!r}; SIZE/OVERLAP in characters or SIZEt/OVERLAP in tokens is valid, for example "
                f"{', '.join(PRESETS)}. Correct it."
            )
        size, overlap = int(found[1]), int(found[3] or 0)
        if size < 20 or overlap > size // 2:
            raise UserError(
                f"--chunk: {text!r}; a size of at least 20 and an overlap of at most half of it are valid. Correct it."
            )
        return cls(size, overlap, "tokens" if found[2] else "characters")

    def __str__(self) -> str:
        """As ``parse`` reads it."""
        return f"{self.size}{'t' if self.unit == 'tokens' else ''}/{self.overlap}"

    def split(self, sections: Sequence[Section]) -> Iterator[Chunk]:
        """The chunks of a document in order; a chunk may hold several short sections.

        A chunk ends at the strongest break (section, paragraph, line, sentence, word) of its second half, the
        last one among equals. Where it ends with a section, the next one repeats nothing of it.
        """
        measure = _tokens if self.unit == "tokens" else len
        if len(sections) == 1 and measure(sections[0].text) <= self.size:  # most rows of a table of passages
            if text := sections[0].text.strip():
                yield Chunk(text, sections[0].heading, sections[0].page)
            return
        atoms = list(self._atoms(sections))
        ends = list(accumulate(atom.size for atom in atoms))
        begin = 0
        while begin < len(atoms):
            before = ends[begin - 1] if begin else 0
            reach = begin
            while reach < len(atoms) and ends[reach] - before <= self.size:
                reach += 1
            end = reach
            if reach < len(atoms):
                half = before + self.size / 2
                places = [place for place in range(begin + 1, reach + 1) if ends[place - 1] >= half]
                end = max(places or [max(reach, begin + 1)], key=lambda place: (atoms[place].strength, place))
            text = "".join(atom.text for atom in atoms[begin:end]).strip()
            if text:
                first = next(atom for atom in atoms[begin:end] if atom.text.strip())
                yield Chunk(text, first.section.heading, first.section.page)
            if end == len(atoms):
                return
            following = end
            while (
                atoms[following].strength < SECTION  # a section is not begun with the end of another
                and following - 1 > begin
                and ends[end - 1] - ends[following - 2] <= self.overlap
            ):
                following -= 1
            begin = following

    def _atoms(self, sections: Sequence[Section]) -> Iterator["_Atom"]:
        """Pieces that are never cut: sections that are short, else their paragraphs, lines, sentences, words."""
        measure = _tokens if self.unit == "tokens" else len
        before: str | None = None
        for section in sections:
            begins = PARAGRAPH if section.heading == before else SECTION  # a page goes on with the one before it
            before = section.heading
            for strength, text in _pieces(section.text.rstrip() + "\n\n", begins, measure, max(self.size // 8, 5)):
                yield _Atom(text, measure(text), strength, section)


@dataclass(frozen=True, slots=True)
class _Atom:
    text: str
    size: int
    strength: int
    section: Section


def _tokens(text: str) -> int:
    return len(_TOKEN.findall(text))


def _pieces(text: str, strength: int, measure: Callable[[str], int], most: int) -> Iterator[tuple[int, str]]:
    """``text`` in pieces of at most ``most``, each with the strength of the break before it."""
    if measure(text) <= most:
        yield strength, text
        return
    for weaker, pattern in _BREAKS:
        if weaker >= strength:
            continue
        cuts = [0, *(cut for found in pattern.finditer(text) if 0 < (cut := found.end()) < len(text)), len(text)]
        if len(cuts) > 2:
            for number, (start, stop) in enumerate(pairwise(cuts)):
                inner = strength if number == 0 else weaker
                yield from _below(text[start:stop], inner, weaker, measure, most)
            return
    for start in range(0, len(text), most):  # a word longer than a chunk
        yield (strength if start == 0 else WORD), text[start : start + most]


def _below(text: str, strength: int, level: int, measure: Callable[[str], int], most: int) -> Iterator[tuple[int, str]]:
    """The pieces of a part that was cut at ``level``; its own beginning keeps ``strength``."""
    for number, (inner, piece) in enumerate(_pieces(text, level, measure, most)):
        yield (strength if number == 0 else inner), piece
