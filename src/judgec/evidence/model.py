"""The evidence of items as a matrix: which families of features apply, their IDF, one row an item."""

import gc
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from math import log1p

import numpy as np

from judgec.errors import ArtifactError
from judgec.evidence.answer_features import ANSWER_NAMES, JudgedAnswer, answer_features, read_answer
from judgec.evidence.context_features import CONTEXT_NAMES, context_features
from judgec.evidence.document_features import DOCUMENT_NAMES, document_features
from judgec.evidence.reasons.pair_phrases import pair_phrases
from judgec.evidence.reasons.parts import answer_findings, document_parts, pack, phrases_of
from judgec.evidence.reasons.phrases import Phrases
from judgec.evidence.reference_features import REFERENCE_NAMES, alternatives, reference_features
from judgec.evidence.text import VERSION, Library, StemmedText, library_of
from judgec.evidence.themes import THEME_NAMES, Themes
from judgec.records.conversation import spoken
from judgec.records.label import FloatArray, Item
from judgec.records.language import ENGLISH, LANGUAGES, item_language, languages_of
from judgec.records.tasks.built_in import BUILT_IN
from judgec.records.tasks.registry import TASKS
from judgec.records.tasks.spec import FAMILIES, PAIR, TOLD

Reads = Mapping[str, tuple[str, ...]]
Observed = tuple[FloatArray, list[bytes]]  # features, and the parts of the same texts

TOLD_NAMES = ("count", "supported", "contradicted", "not_found", "quoted")
"""What a language model said of the claims, as shares; ``quoted``: of those that a sentence of the texts decides."""
RUBRIC_NAMES = ("recall", "vital_recall", "partly", "denied")
"""What it said of the nuggets: the shares of ``records.claim.recall``, and of the nuggets given partly or denied."""
THEMES = "themes"  # beside the family ``document`` where there are many documents to learn them from
_NAMES = {
    "document": DOCUMENT_NAMES,
    THEMES: THEME_NAMES,
    "answer": ANSWER_NAMES,
    "reference": REFERENCE_NAMES,
    "contexts": CONTEXT_NAMES,
    "told": TOLD_NAMES,
    "rubric": RUBRIC_NAMES,
}
_USUAL = tuple(name for name in BUILT_IN if TASKS[name].reads.keys().isdisjoint(TOLD))
USUAL_READS: Reads = {  # what most tasks of the package read, by family; a field plays one part in all of them
    family: tuple(dict.fromkeys(field for name in _USUAL for field in TASKS[name].reads.get(family, ())))
    for family in FAMILIES
    if family not in TOLD
}
_USUAL_TEXTS = tuple(dict.fromkeys(field for name in _USUAL for field in TASKS[name].reading))
_DIGITS = 6  # decimals of an IDF weight that are kept: more only make the file longer


class Idf(dict[str, float]):
    """Stem -> inverse document frequency in 0..1; a stem never seen in training weighs 1."""

    def __missing__(self, stem: str) -> float:
        return 1.0

    @classmethod
    def fit(cls, vocabularies: Iterable[Iterable[str]]) -> "Idf":
        """IDF as ``log(1 + n / df) / log(1 + 2 n)`` over n texts: what half an occurrence would give is 1."""
        counts: dict[str, int] = {}
        n = 0
        for vocabulary in vocabularies:
            n += 1
            for stem in vocabulary:
                counts[stem] = counts.get(stem, 0) + 1
        top = log1p(2.0 * max(n, 1))
        return cls((stem, round(log1p(n / counts[stem]) / top, _DIGITS)) for stem in sorted(counts))


@dataclass(frozen=True)
class EvidenceModel:
    """Deterministic features of an item, with the IDF they were fitted with.

    A row depends on its item alone, never on the batch. A family whose texts an item lacks is 0 throughout, with 1 in
    its ``absent`` column. For pairs each feature is answer_a's minus answer_b's, so that swapping them flips every
    sign.

    Args:
        idf: Weights of stems.
        families: Which features are computed, of ``FAMILIES``.
        pairs: True when two answers are compared.
        mean_length: Mean stems of a training document, for BM25.
        version: Of the features' definitions: a judge that was calibrated with others is refused.
        reads: The input fields that each family reads, the first that an item has.
        languages: Whose stemmers and function words are used; of several each item's own, the first where it cannot
            be told.
        themes: Of the training documents, or None.
    """

    idf: Idf
    families: tuple[str, ...]
    pairs: bool = False
    mean_length: float = 1.0
    version: int = VERSION
    reads: Reads = field(default_factory=lambda: USUAL_READS)
    languages: tuple[str, ...] = (ENGLISH,)
    themes: Themes | None = None

    @classmethod
    def fit(
        cls, items: Sequence[Item], task: str | None = None, languages: tuple[str, ...] | None = None
    ) -> "EvidenceModel":
        """IDF over every distinct text of the training items, and the families that their fields allow.

        Args:
            items: The training items.
            task: Their task; default: one of the package, which the fields tell.
            languages: Of the label set that they are from; default: theirs.
        """
        languages = languages_of(items) if languages is None else languages
        libraries = {language: Library(language=language) for language in languages}
        own = None if task is None or task in _USUAL else TASKS[task]
        reads, names = (USUAL_READS, _USUAL_TEXTS) if own is None else (own.reads, own.reading)
        filled = {name for item in items for name in names if item.text(name).strip()}
        present = {family for family, fields in reads.items() if filled.intersection(fields)}
        texts = dict.fromkeys(
            (text, language)
            for item in items
            for language in [item_language(item, languages)]
            for name in names
            for text in item.texts(name)
            if text.strip()
        )
        pairs = not filled.isdisjoint(PAIR)
        answers = pairs or "answer" in present or "document" not in present
        families = ["document"] if "document" in present and not pairs else []
        families += [name for name in FAMILIES[1:] if answers and name in {"answer", *present}]
        lengths = [
            len(libraries[item_language(item, languages)].read(text).stems)
            for item in items
            if (text := _text(item, reads, "document")).strip()
        ]
        model = cls(
            idf=Idf.fit(libraries[language].read(text).vocabulary for text, language in texts),
            families=tuple(families),
            pairs=pairs,
            mean_length=max(1.0, sum(lengths) / max(1, len(lengths))),
            reads=reads,
            languages=languages,
        )
        if "document" in families:
            return model._with_themes(items)
        return model

    def _with_themes(self, items: Sequence[Item]) -> "EvidenceModel":
        """The model with the themes of the items' documents, where these are many."""
        from judgec.evidence.fit_themes import fit_themes  # scipy: only where documents are compared

        libraries = self._libraries()
        texts = dict.fromkeys(
            (_text(item, self.reads, "document"), item_language(item, self.languages)) for item in items
        )
        read = [libraries[language].read(text) for text, language in texts]
        themes = fit_themes([document for document in read if document.stems], self.idf.__getitem__)
        if themes is None:
            return self
        families = tuple(name for one in self.families for name in ((one, THEMES) if one == "document" else (one,)))
        return replace(self, families=families, themes=themes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, ``family.feature``."""
        return tuple(f"{family}.{name}" for family in self.families for name in (*_NAMES[family], "absent"))

    def transform(self, items: Sequence[Item]) -> FloatArray:
        """Features of ``items``, shape (n_items, n_features), all finite, in the order of ``names``."""
        return self._read(items, None)

    def observe(self, items: Sequence[Item]) -> Observed:
        """Features as ``transform`` gives them and, of the same texts, the parts that reasons point at.

        The parts depend on the item and the families alone; ``evidence.parts`` reads them.
        """
        packed: list[bytes] = [b""] * len(items)
        return self._read(items, packed), packed

    def _read(self, items: Sequence[Item], packed: list[bytes] | None) -> FloatArray:
        libraries = self._libraries()
        out = np.zeros((len(items), len(self.names)))
        # Items that share their contexts come one after another: each text is analysed once.
        groups: dict[object, list[int]] = {}
        for i, item in enumerate(items):
            groups.setdefault((self._contexts(item), item.text("query")), []).append(i)
        with collection_paused():
            for i in chain.from_iterable(groups.values()):
                item = items[i]
                library = libraries[item_language(item, self.languages)]
                out[i], found = self._one(item, library, parts=packed is not None)
                if packed is not None:
                    packed[i] = found
        return out

    def _one(self, item: Item, library: Library, *, parts: bool) -> tuple[FloatArray | list[float], bytes]:
        """The features of an item and, where they are wanted, its parts."""
        said = [spoken(item.inputs.get(side, "")) for side in PAIR] if self.pairs else [self._answer(item)]
        answers = [read_answer(text, library) for text in said]
        row: FloatArray | list[float]
        if self.pairs:
            rows = (self._row(item, answer, library) for answer in answers)
            one, other = map(np.array, rows)
            row = one - other
        else:
            row = self._row(item, answers[0], library)
        return row, pack(self._phrases(item, answers, library)) if parts else b""

    def telling(self, features: FloatArray, told: Mapping[str, FloatArray]) -> FloatArray:
        """Features with what a language model said of the claims and of the nuggets.

        Args:
            features: As ``transform`` gives them, shape (n_items, n_features).
            told: The numbers of each family of ``TOLD``, a row an item; a row of NaN where it said nothing.
        """
        filled = features.copy()
        for family in TOLD:
            if family in self.families and family in told:
                first, values = self.names.index(f"{family}.{_NAMES[family][0]}"), told[family]
                known = ~np.isnan(values).any(axis=1)
                filled[known, first : first + values.shape[1] + 1] = np.column_stack(
                    [values[known], np.zeros(known.sum())]
                )
        return filled

    @property
    def reads_told(self) -> bool:
        """True if what a language model said of the claims is evidence, too."""
        return not {*TOLD}.isdisjoint(self.families)

    def _phrases(self, item: Item, answers: Sequence[JudgedAnswer], library: Library) -> Phrases:
        question = library.read(item.text("query"))
        phrases: Phrases = {}
        if "document" in self.families:
            phrases |= document_parts(question, library.read(_text(item, self.reads, "document")))
        if "answer" in self.families:
            contexts = library.read(self._contexts(item))
            reference = _text(item, self.reads, "reference")
            found = [
                answer_findings(answer, question, reference, contexts, library, own=self.pairs) for answer in answers
            ]
            if self.pairs:
                phrases |= pair_phrases(*found)
            else:
                phrases |= phrases_of(found[0], answers[0], question)
        return phrases

    def _row(self, item: Item, answer: JudgedAnswer, library: Library) -> list[float]:
        question = library.read(item.text("query"))
        row: list[float] = []
        for family in self.families:
            # What a model says is filled in where one is asked: see ``telling``.
            values = () if family in TOLD else self._family(family, item, question, answer, library)
            row += values or (0.0,) * len(_NAMES[family])
            row.append(0.0 if values else 1.0)
        return row

    def _family(
        self, family: str, item: Item, question: StemmedText, answer: JudgedAnswer, library: Library
    ) -> tuple[float, ...]:
        """The features of one family, or an empty tuple when the item lacks a text it needs."""
        weight = self.idf.__getitem__
        if family == "document":
            document = library.read(_text(item, self.reads, "document"))
            both = question.stems and document.stems
            return document_features(question, document, weight, self.mean_length) if both else ()
        if family == THEMES:
            document = library.read(_text(item, self.reads, "document"))
            return () if self.themes is None else self.themes.features(question, document, weight)
        if not answer.passage.stems:
            return ()
        if family == "answer":
            return answer_features(answer, question, weight)
        if family == "reference":
            reference = _text(item, self.reads, "reference")
            given = any(library.read(text).stems for text in alternatives(reference))
            return reference_features(answer, question, reference, library, weight) if given else ()
        contexts = library.read(self._contexts(item))
        trusted = library.read(_text(item, self.reads, "reference"))
        return context_features(answer, question, contexts, trusted, weight) if contexts.stems else ()

    def _libraries(self) -> dict[str, Library]:
        return {language: library_of(language) for language in self.languages}

    def _answer(self, item: Item) -> str:
        return next((spoken(said) for name in self.reads.get("answer", ()) if (said := item.inputs.get(name))), "")

    def _contexts(self, item: Item) -> tuple[str, ...]:
        return next((texts for name in self.reads.get("contexts", ()) if (texts := item.texts(name))), ())

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the definitions' version and everything fitted: equal digests give equal features."""
        return hashlib.sha256(self.to_json().encode("utf-8", "surrogatepass")).hexdigest()

    def to_json(self) -> str:
        """The fitted state as one JSON object."""
        state = {
            "version": self.version,
            "families": self.families,
            "pairs": self.pairs,
            "mean_length": self.mean_length,
            "idf": self.idf,
        }
        if self.reads != USUAL_READS:  # a plugin's task
            state["reads"] = self.reads
        if self.languages != (ENGLISH,):
            state["languages"] = self.languages
        if self.themes is not None:
            state[THEMES] = self.themes.to_state()
        return json.dumps(state, sort_keys=True, separators=(",", ":"))

    @classmethod
    def read(cls, saved: object) -> "EvidenceModel":
        """The model itself, or the one that ``to_json`` wrote."""
        return saved if isinstance(saved, EvidenceModel) else cls.from_json(str(saved))

    @classmethod
    def from_json(cls, text: str) -> "EvidenceModel":
        """The model that ``to_json`` wrote.

        Raises:
            ArtifactError: When the text is damaged or was written for other definitions of the features.
        """
        try:
            state = json.loads(text)
            version = state["version"]
            idf = Idf((str(stem), float(weight)) for stem, weight in state["idf"].items())
            families = tuple(map(str, state["families"]))
            own = {str(family): tuple(map(str, fields)) for family, fields in state.get("reads", {}).items()}
            languages = tuple(map(str, state.get("languages", (ENGLISH,))))
            sound = set(families) <= set(_NAMES) and all(0 < weight <= 1 for weight in idf.values())
            sound = sound and bool(languages) and set(languages) <= LANGUAGES.keys()
            pairs, mean_length = bool(state["pairs"]), float(state["mean_length"])
            themes = Themes.from_state(state[THEMES]) if THEMES in state else None
            sound = sound and (THEMES in families) == (themes is not None) and (themes is None or themes.sound)
            model = cls(idf, families, pairs, mean_length, int(version), own or USUAL_READS, languages, themes)
        except (ValueError, KeyError, TypeError, AttributeError) as fault:
            raise ArtifactError(
                f"evidence model: {fault!r}; a complete JSON state is needed. Compile again."
            ) from fault
        if version != VERSION or not sound or not model.mean_length >= 1:
            raise ArtifactError(
                f"evidence model: version {version}, families {list(families)}, languages {list(languages)}; "
                f"version {VERSION} of {', '.join(_NAMES)} in {', '.join(LANGUAGES)} is needed. "
                "Compile the judge again with this release."
            )
        return model


@contextmanager
def collection_paused() -> Iterator[None]:
    """No search for cycles meanwhile: what analysing texts makes has none, and much of it is kept for a while."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _text(item: Item, reads: Reads, family: str) -> str:
    """The text that a family reads of an item, or an empty one."""
    return next((text for name in reads.get(family, ()) if (text := item.text(name))), "")
