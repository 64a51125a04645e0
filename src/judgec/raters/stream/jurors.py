"""The jurors of a compiled panel or cascade, each asked with its own prompt and model."""

import threading
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from judgec.labels.stream.pieces import Piece
from judgec.raters.pairwise import joined
from judgec.raters.panel import Panel
from judgec.raters.stream.interview import Interview
from judgec.raters.stream.side_by_side import Shared, SideBySide
from judgec.records.judgment import Judgments
from judgec.records.scale import Scale


class JuryInterview:
    """Compiled judges in place of one prompt that is put to a stream of items.

    Args:
        interviews: Of each juror, by name; of one sample each.
        panel: How their verdicts become one; None where one juror alone, or a cascade, is asked.
        scale: The grades.
        pairs: The pieces hold every pair twice, the second time mirrored.
    """

    def __init__(self, interviews: Mapping[str, Interview], panel: Panel | None, scale: Scale, *, pairs: bool) -> None:
        self.stop = threading.Event()
        self._interviews, self._panel, self._scale, self._pairs = interviews, panel, scale, pairs

    @property
    def half_way(self) -> int:
        """How many of the jurors' verdicts lay half way between two grades."""
        return sum(one.half_way for one in self._interviews.values())

    def of(self, juror: str) -> Interview:
        """A juror's own; ending the whole ends it, too."""
        return self._interviews[juror]

    def hold(self, pieces: Iterable[Piece]) -> Iterator[tuple[Piece, list[Judgments]]]:
        """Each piece with the raw verdict of all, in order; a pair's is of both orders already."""
        names = list(self._interviews) if self._panel is None else list(self._panel.members)
        shared = Shared(pieces, len(names))
        held = [partial(self._interviews[name].hold, shared.reader(number)) for number, name in enumerate(names)]
        with SideBySide(held, [self._interviews[name].stop for name in names]) as together:
            for said in together:
                if self.stop.is_set():
                    return
                piece = said[0][0]
                raw = [joined(one, self._scale) if self._pairs else one for _, (one,) in said]
                yield piece, [raw[0] if self._panel is None else self._panel.verdict(raw, self._scale)]
