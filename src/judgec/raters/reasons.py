"""Gives every judgment its reason: the model's own, the evidence that decided, or both where evidence overrode it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from judgec.evidence.reasons.phrases import EITHER, SILENT
from judgec.evidence.reasons.sentence import OF_GRADES, OF_PAIRS, Wording, sentences_of
from judgec.evidence.reasons.topics import TOPICS, topics_of
from judgec.raters.calibrator import Calibrator, Trace
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import FloatArray, IntArray
from judgec.records.scale import Grade, Scale

FLAT = 1e-9  # difference of two logits below which the slope is taken at the point itself


class Contributions:
    """Contributions of each topic to the expectation of ``axis``.

    Args:
        calibrator: One that reads evidence.
        topics: The topic of each feature, shape (n_features,), 0 .. n_topics - 1.
        n_topics: How many there are.
        axis: What each grade is worth, shape (n_grades,).
    """

    def __init__(self, calibrator: Calibrator, topics: IntArray, n_topics: int, axis: FloatArray) -> None:
        self._n_topics = n_topics
        self._axis = axis
        self._ordinal = calibrator.ordinal
        self._linear = calibrator.linear
        self._numbers = calibrator.of_numbers
        width = 1 if self._numbers else calibrator.n_grades - 1
        self._verdict_columns = 0 if calibrator.source == "evidence" else width
        self._weight = 1.0 - (0.0 if self._numbers else calibrator.smoothing)
        self._order = self._verdict_columns + np.argsort(topics, kind="stable")
        self._topics, self._starts = np.unique(np.sort(topics), return_index=True)
        if calibrator.linear is not None:
            self._coefficients = np.array(calibrator.linear.coefficients)

    def of(self, trace: Trace, rows: IntArray) -> FloatArray:
        """The contributions to some rows, shape (n_rows, n_topics); 0 to a row that was not calibrated.

        Args:
            trace: From ``Calibrator.apply``.
            rows: Positions in what was calibrated.
        """
        out = np.zeros((len(rows), self._n_topics))
        at = trace.places(rows)
        known = np.flatnonzero(at >= 0)
        if trace.scaled is not None and self._linear is not None:
            out[known] += self._of_linear(trace.scaled[at[known]])
        return out * self._weight

    def _of_linear(self, scaled: FloatArray) -> FloatArray:
        assert self._linear is not None  # asked only then
        start = np.array(self._linear.intercepts)
        # einsum stays in one thread: for matrices this small, those of a BLAS cost many times what they save.
        logits = np.einsum("nc,sc->ns", scaled, self._coefficients) + start
        if self._numbers:
            slopes = np.ones(logits.shape)
        else:
            slopes = self._cut_slopes(logits, start) if self._ordinal else self._class_slopes(logits, start)
        terms = scaled * np.einsum("ns,sc->nc", slopes, self._coefficients)
        out = np.zeros((len(scaled), self._n_topics))
        out[:, self._topics] = np.add.reduceat(terms[:, self._order], self._starts, axis=1)
        return out

    def _cut_slopes(self, logits: FloatArray, start: FloatArray) -> FloatArray:
        """Slope of the expectation with each cut's logit on the way from ``start``."""
        assert self._linear is not None  # asked only then
        above, before = 0.5 * (1.0 + np.tanh(0.5 * logits)), 0.5 * (1.0 + np.tanh(0.5 * start))
        way = logits - start
        far = np.abs(way) > FLAT
        slopes = np.where(far, (above - before) / np.where(far, way, 1.0), above * (1.0 - above))
        cuts = np.array(self._linear.classes)
        return np.asarray(slopes * (self._axis[cuts] - self._axis[cuts - 1]))

    def _class_slopes(self, logits: FloatArray, start: FloatArray) -> FloatArray:
        """The same of each class's logit, taken half-way."""
        assert self._linear is not None  # asked only then
        middle = (logits + start) / 2.0
        weights = np.exp(middle - middle.max(axis=1, keepdims=True))
        chances = weights / weights.sum(axis=1, keepdims=True)
        worth = self._axis[list(self._linear.classes)]
        return np.asarray(chances * (worth - (chances @ worth)[:, None]))


BY_SHARES = "The evidence told no grade from another while compiling: the grade that the labels have most."
BY_EVIDENCE = "the evidence"
BY_CALIBRATION = "what such verdicts are worth, with the evidence,"  # the evidence alone points the other way
NO_REASON = "The verdict was {verdict}, without a reason."


@dataclass(frozen=True, slots=True)
class SeenScores:
    """Scored items as calibration saw them, in order.

    Args:
        parts: Of the evidence, or None when none was read.
        traces: By aspect.
        turned: By aspect of the mirrored pairs, for a judge that compares two answers.
    """

    parts: Sequence[bytes] | None
    traces: Mapping[str, Trace] = field(default_factory=dict)
    turned: Mapping[str, Trace] | None = None


class Reasons:
    """Makes the reasons of one judge.

    Args:
        calibrators: By aspect.
        scale: The grades.
        pairs: True when the judge compares two answers.
    """

    def __init__(
        self,
        calibrators: Mapping[str, Calibrator],
        scale: Scale,
        *,
        pairs: bool,
    ) -> None:
        self._calibrators = calibrators
        self._scale = scale
        self._pairs = pairs
        self._topics = {aspect: topics_of(one.feature_names) for aspect, one in calibrators.items()}
        self._made: dict[tuple[str, int], Contributions] = {}

    def of(self, judgments: Judgments, raw: Judgments | None, seen: SeenScores) -> tuple[str, ...]:
        """One reason an item; unscored items keep theirs.

        Args:
            judgments: Calibrated.
            raw: The verdicts, or None for a judge that asks nobody.
            seen: What calibration saw.
        """
        scored = np.flatnonzero(judgments.scored)
        said = [self._of_aspect(j, judgments, raw, seen, scored) for j in range(len(judgments.aspects))]
        out = list(judgments.rationale)
        joined = said[0] if len(said) == 1 else [_by_aspect(judgments.aspects, one) for one in zip(*said, strict=True)]
        for row, text in zip(scored.tolist(), joined, strict=True):
            if text:
                own = out[row]
                out[row] = text if not own else f"{own} [{text}]"
        return tuple(out)

    def _of_aspect(
        self, j: int, judgments: Judgments, raw: Judgments | None, seen: SeenScores, scored: IntArray
    ) -> list[str]:
        """Explanation of each scored item beside the verdict's own reason."""
        aspect = judgments.aspects[j]
        calibrator = self._calibrators.get(aspect)
        grade = judgments.grade[scored, j]
        reads = calibrator is not None and calibrator.source != "lm" and seen.parts is not None
        if raw is None:
            assert calibrator is not None  # a judge that asks nobody has one for each aspect
            if calibrator.family == "prior":
                return [BY_SHARES] * len(scored)
            rows = np.arange(len(scored))
            upward = self._upward(grade, judgments.probabilities[scored, j])
            return self._sentences(aspect, seen, rows, grade, upward)[0]
        stated, own = raw.grade[scored, j], [raw.rationale[row] for row in scored]
        known = (stated != UNSCORED) & (grade != UNSCORED)
        changed = known & (stated != grade)
        silent = known & np.array([not reason for reason in own], dtype=bool)
        rows = np.flatnonzero(changed | silent)
        sentences, agrees = [""] * len(rows), np.zeros(len(rows), dtype=bool)
        if reads and len(rows) and calibrator is not None and calibrator.family != "prior":
            upward = self._upward(grade[rows], judgments.probabilities[scored[rows], j])
            if self._scale.level != "nominal":  # what is explained is the change
                upward = np.where(changed[rows], grade[rows] > stated[rows], upward)
            sentences, agrees = self._sentences(aspect, seen, rows, grade[rows], upward)
        out = [""] * len(scored)
        for place, row in enumerate(rows.tolist()):
            by = BY_EVIDENCE if agrees[place] else BY_CALIBRATION
            out[row] = self._beside(int(stated[row]), int(grade[row]), bool(silent[row]), by, sentences[place])
        return out

    def _beside(self, stated: int, grade: int, silent: bool, by: str, sentence: str) -> str:
        """Text beside a verdict's own reason; nothing where the verdict alone decided, however mapped."""
        grades = self._scale.grades
        if stated != grade and sentence:
            return f"The verdict was {grades[stated]}; {by} made it {grades[grade]}. {sentence}"
        if not silent:
            return ""
        text = NO_REASON.format(verdict=grades[stated])
        return f"{text} {sentence}" if sentence else text

    def _upward(self, grade: IntArray, spread: FloatArray) -> NDArray[np.bool_]:
        """True where what speaks for a high grade, or for answer a, comes first; half-way the probabilities say it."""
        if self._scale.level == "nominal" and not self._pairs:
            return np.ones(len(grade), dtype=bool)
        axis = self._axis(0)
        middle = 0.0 if self._pairs else (axis[0] + axis[-1]) / 2.0
        return np.asarray(np.where(axis[grade] == middle, spread @ axis > middle, axis[grade] > middle))

    def _axis(self, grade: int) -> FloatArray:
        """Value that is explained: the score, for pairs how far a lies before b, for other classes the one chosen."""
        if self._pairs:
            axis = np.zeros(len(self._scale.grades))
            axis[[self._scale.position("a"), self._scale.position("b")]] = 1.0, -1.0
            return axis
        if self._scale.level == "nominal":
            return np.asarray(np.eye(len(self._scale.grades))[grade])
        return np.array(self._scale.values)

    def _sentences(
        self, aspect: str, seen: SeenScores, rows: IntArray, grade: IntArray, upward: NDArray[np.bool_]
    ) -> tuple[list[str], NDArray[np.bool_]]:
        """Sentences of some of the scored items, and whether the evidence as a whole points the way they begin."""
        assert seen.parts is not None  # asked only then
        parts = [seen.parts[row] for row in rows.tolist()]
        if self._pairs or self._scale.level != "nominal":
            moved = self._contributions(aspect, 0).of(seen.traces[aspect], rows)
            if seen.turned is not None:
                moved = (moved - self._contributions(aspect, 0).of(seen.turned[aspect], rows)) / 2.0
            said = sentences_of(parts, moved, upward, self._wording())
            return said, (moved.sum(axis=1) > 0) == upward
        agrees = np.ones(len(rows), dtype=bool)
        out = [""] * len(rows)
        for chosen in np.unique(grade).tolist():
            these = np.flatnonzero(grade == chosen)
            moved = self._contributions(aspect, chosen).of(seen.traces[aspect], rows[these])
            name = self._scale.grades[chosen]
            words = self._wording(name)
            plain = [_without_sides(parts[i]) for i in these.tolist()]
            for i, text in zip(these.tolist(), sentences_of(plain, moved, upward[these], words), strict=True):
                out[i] = text
            agrees[these] = moved.sum(axis=1) > 0
        return out, agrees

    def _wording(self, name: Grade | None = None) -> Wording:
        """Names of the sides: those of a class where its name is given."""
        usual = OF_PAIRS if self._pairs else OF_GRADES
        return usual if name is None else Wording(f"For {name}: ", f"Against {name}: ")

    def _contributions(self, aspect: str, grade: int) -> Contributions:
        key = (aspect, grade)
        if key not in self._made:
            calibrator = self._calibrators[aspect]
            self._made[key] = Contributions(calibrator, self._topics[aspect], len(TOPICS), self._axis(grade))
        return self._made[key]


def _by_aspect(aspects: Sequence[str], said: Sequence[str]) -> str:
    """Reasons of several aspects, each with its name where they differ."""
    if len(set(said)) == 1:
        return said[0]
    named: dict[str, list[str]] = {}
    for aspect, text in zip(aspects, said, strict=True):
        if text:
            named.setdefault(text, []).append(aspect)
    return " ".join(f"{', '.join(names)}: {text}" for text, names in named.items())


def _without_sides(packed: bytes) -> bytes:
    """Parts whose phrases speak for whatever class they moved the item to: classes have no good and bad."""
    codes = np.frombuffer(packed[: len(TOPICS)], dtype=np.int8)
    return np.where(codes == SILENT, SILENT, EITHER).astype(np.int8).tobytes() + packed[len(TOPICS) :]
