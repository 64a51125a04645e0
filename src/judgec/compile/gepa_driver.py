"""Runs ``gepa.optimize`` on any program: a model rewrites instructions after reading how they scored.

Source: Agrawal et al. (2025), "GEPA: reflective prompt evolution can outperform reinforcement learning",
arXiv:2507.19457.
"""

import math
import random
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar, Generic, TypeVar

import dspy
import gepa
from dspy.teleprompt.gepa.gepa_utils import DspyAdapter
from dspy.utils.exceptions import AdapterParseError
from gepa import EvaluationBatch

from judgec.compile.quotations import dropped, rewrite_without_repeats
from judgec.compile.stopping import Stop
from judgec.lm.watch import Watch
from judgec.raters.criteria import RewriteInstruction
from judgec.raters.fencing import fence
from judgec.raters.replies import UnreadableReplyError, read_fields
from judgec.raters.replies.said import said
from judgec.raters.signatures import description

FEEDBACK = "Feedback"  # what a lesson calls it
FIELD = "new_instruction"
FORMATS = f"JSON with {FIELD!r}, '[[ ## {FIELD} ## ]]' or one ``` block"

_TAGGED = re.compile(r"<(\w*instructions?)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_LANGUAGE = re.compile(r"\A[\w+-]*[ \t]*\n")
_FENCE = "```"


class RepeatsItemError(ValueError):
    """A rewrite that repeats an item was dropped, and so was the next attempt at it."""


def reply_fields(predict: dspy.Predict) -> str:
    """What a predictor is told of its reply beside the instruction: of a judge, what each aspect asks."""
    fields = [f"{name}: {description(field)}" for name, field in predict.signature.output_fields.items()]
    return "\n".join(["Its reply has these fields:", *fields])


class AnyFormat(dspy.JSONAdapter):  # type: ignore[misc]  # DSPy's classes are untyped
    """DSPy's JSON adapter, whose replies may also come in the chat format, in a tag or in a fenced block."""

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:  # as DSPy types it
        """The output fields of a reply.

        Raises:
            AdapterParseError: When there is no instruction in it.
        """
        if set(signature.output_fields) != {FIELD}:
            found: dict[str, Any] = super().parse(signature, completion)
            return found
        text = instruction_in(completion)
        if text is None:
            raise AdapterParseError(
                adapter_name=type(self).__name__,
                signature=signature,
                lm_response=completion,
                message=f"No instruction could be read; {FORMATS} is valid.",
            )
        return {FIELD: text}


def instruction_in(reply: str) -> str | None:
    """The new instruction that a reply holds, or None: text without any frame may be anything, a refusal too."""
    bare, fields = said(reply), dict[str, object]()
    with suppress(UnreadableReplyError):
        fields = read_fields(bare)
    for found in (fields, {name.casefold(): inner for name, inner in _TAGGED.findall(bare)}):
        text = _unfenced(_named({name: one for name, one in found.items() if isinstance(one, str)}) or "")
        if text:
            return text
    return _in_fence(bare) or None


def _in_fence(text: str) -> str | None:
    """The text between the first and the last fence: an instruction may have blocks of its own."""
    begin, end = text.find(_FENCE), text.rfind(_FENCE)
    if begin < 0:
        return None
    inner = text[begin + len(_FENCE) : end if end > begin else None]
    return _LANGUAGE.sub("", inner).strip()


def _unfenced(text: str) -> str:
    """The text without a fence around all of it, and without the end of one that began before it."""
    bare = text.strip()
    if bare.startswith(_FENCE) and bare.endswith(_FENCE) and len(bare) > len(_FENCE):
        return _in_fence(bare) or ""
    return bare.removesuffix(_FENCE).strip() if bare.count(_FENCE) % 2 else bare


def _named(fields: Mapping[str, str]) -> str | None:
    """The field that is asked for, or the only one that is named like it ("improved_instruction")."""
    if FIELD in fields:
        return fields[FIELD]
    like = [text for name, text in fields.items() if "instruction" in name.lower() and "current" not in name.lower()]
    return like[0] if len(like) == 1 else None


TURNS = 3  # of GEPA a rewrite, at most: what it swallows asks for none
SHOWN = 80  # characters of a reply that could not be read
STRATEGY = "current_best"  # of parents: in few rewrites each has to build on the one before
PERFECT = 1e9  # no score is perfect: a share may exceed 1, and more may always be asked for

Given = TypeVar("Given")
Trace = TypeVar("Trace")
Texts = dict[str, str]
"""What GEPA calls a candidate: the instructions of each predictor."""


@dataclass(frozen=True, slots=True)
class ProgramTrial(Generic[Trace]):
    """Result of a program on a batch.

    Args:
        outputs: One an instance.
        scores: One an instance; the higher the better.
        value: What candidates are ranked by, or None when the batch was not what they are compared on.
        traces: What a rewrite may be written from, one an instance.
    """

    outputs: Sequence[str | None]
    scores: Sequence[float]
    value: float | None
    traces: Callable[[], Sequence[Trace]]


class ReflectiveAdapter(DspyAdapter, Generic[Given, Trace]):  # type: ignore[misc]  # DSPy's classes are untyped
    """GEPA's view of a program that is asked through the executor, not called.

    Args:
        module: The program as it is.
        reflection: The model that rewrites, or None for DSPy's.
        seed: Of everything random.

    Attributes:
        experts: The feedback is what experts said, whose words may be used.
        stop: Why nothing more is asked.
        left: Calls of the reflection model that it may still make.
        read: Rewrites that were taken.
        unreadable: Replies that could not be read.
        repeats: What each rewrite that was dropped repeats of an item.
    """

    experts: ClassVar[bool]

    def __init__(self, module: dspy.Module, reflection: dspy.LM | None, seed: int) -> None:
        rng = random.Random(seed)
        super().__init__(
            module,
            metric_fn=_unused,
            feedback_map={},
            rng=rng,
            reflection_lm=reflection,
        )
        self.stop = Stop()
        self.left = self._left_at_best = 0
        self.read = 0
        self.unreadable: list[str] = []
        self.repeats: list[str] = []
        self._refused: tuple[object, Exception] | None = None
        self._seed = seed
        self._valued: list[tuple[float, Texts]] = []

    @abstractmethod
    def trial(self, program: Any, batch: Sequence[Given]) -> ProgramTrial[Trace]:  # DSPy's modules are untyped
        """Run a program on a batch and score it."""

    @abstractmethod
    def fixed(self, name: str) -> str:
        """What the predictor ``name`` is told whatever is rewritten."""

    @abstractmethod
    def kept(self, name: str, text: str) -> str:
        """A rewrite for the predictor ``name`` with what must stay as it is."""

    @abstractmethod
    def lesson(self, name: str, trace: Trace) -> Mapping[str, object]:
        """Example of one instance that the reflection model reads to rewrite the predictor ``name``.

        No rewrite may repeat it, but for its ``FEEDBACK`` where that is what experts said of it.
        """

    def best_rewrites(
        self,
        start: Texts,
        trainset: Sequence[Given],
        valset: Sequence[Given],
        *,
        minibatch: int,
        rounds: int,
        keep: int,
        watch: Watch,
        idle: int | None = None,
        fits: Callable[[], bool] = lambda: True,
    ) -> list[Texts]:
        """The best of the rewrites that were valued on all of ``valset``, best first; the start is not among them.

        Args:
            start: The instructions as they are.
            trainset: What rewrites are written from.
            valset: What they are compared on.
            minibatch: Instances a rewrite is written from.
            rounds: Most calls of the reflection model; one a rewrite, and one more where it repeats an item.
            keep: Most rewrites handed over.
            watch: Told when a cap ends the search.
            idle: Rewrites in a row, none of them the best so far, after which no more are asked for; None for no end.
            fits: False when the caps leave no room for another rewrite.

        Raises:
            ServiceError: When the LM cannot be reached. A cap only ends the search.
        """
        self.left = self._left_at_best = rounds
        turns = count()

        def ended(_: object) -> bool:
            over = not self.left or self._left_at_best - self.left >= (idle or rounds) or next(turns) > TURNS * rounds
            return self.stop.error is not None or over or not fits()

        with self.stop.ending("gepa", watch):
            gepa.optimize(
                seed_candidate=start,
                trainset=trainset,
                valset=valset,
                adapter=self,
                reflection_minibatch_size=min(minibatch, len(trainset)),
                skip_perfect_score=False,
                perfect_score=PERFECT,
                candidate_selection_strategy=STRATEGY,
                stop_callbacks=[ended],
                logger=_Quiet(),
                seed=self._seed,
            )
        self._tell(watch)
        unique = {tuple(sorted(texts.items())): (value, texts) for value, texts in self._valued if texts != start}
        best = [texts for _, texts in sorted(unique.values(), key=lambda found: -found[0])[:keep]]
        if self.read and not best:
            watch.note(f"gepa: none of {self.read} rewritten instructions was better than what it was written from")
        return best

    def _tell(self, watch: Watch) -> None:
        """Say how many replies were dropped: they are no sign that nothing better can be written."""
        if self.repeats:
            watch.note(dropped("gepa", self.repeats))
        if self.unreadable:
            asked = self.read + len(self.repeats) + len(self.unreadable)
            first = " ".join(self.unreadable[0].split())
            shown = first if len(first) <= SHOWN else f"{first[:SHOWN]}…"
            watch.note(
                f"gepa: {len(self.unreadable)} of {asked} replies of the reflection model could not be read as an "
                f"instruction ({FORMATS} is valid); the first: {shown!r}. Try another --reflection-lm."
            )

    def evaluate(
        self,
        batch: Sequence[Given],
        candidate: Texts,
        capture_traces: bool = False,
        num_threads: int | None = None,  # noqa: ARG002 - the executor runs many calls at once
    ) -> EvaluationBatch:
        """Run and score a batch; GEPA may ask for traces of what candidates are compared on and gets none."""
        with self.stop.noting():
            trial = self.trial(self.build_program(candidate), batch)
        if trial.value is not None:
            if trial.value > max((value for value, _ in self._valued), default=-math.inf):
                self._left_at_best = self.left
            self._valued.append((trial.value, dict(candidate)))
        traced = capture_traces and trial.value is None
        return EvaluationBatch(list(trial.outputs), list(trial.scores), trial.traces() if traced else None)

    def batch_evaluate(
        self, items: Sequence[tuple[Texts, Sequence[Given]]], *, capture_traces: bool = True
    ) -> list[EvaluationBatch]:
        """One after the other: the order of calls is then the same in every run."""
        return [self.evaluate(batch, candidate, capture_traces) for candidate, batch in items]

    def make_reflective_dataset(
        self,
        candidate: Texts,  # noqa: ARG002 - GEPA's signature
        eval_batch: EvaluationBatch,
        components_to_update: list[str],
    ) -> dict[str, list[Mapping[str, object]]]:
        """The lessons of a batch for each predictor that is to be rewritten."""
        return {name: [self.lesson(name, trace) for trace in eval_batch.trajectories] for name in components_to_update}

    def propose_new_texts(
        self,
        candidate: Texts,
        reflective_dataset: dict[str, list[dict[str, Any]]],  # as DSPy types it
        components_to_update: list[str],
    ) -> Texts:
        """Ask the reflection model; GEPA goes on to the next minibatch when it gets nothing that can be used."""
        if self._refused is not None and self._refused[0] == (candidate, reflective_dataset):
            raise self._refused[1]  # GEPA tries the same again, and the same reply would come from the journal
        try:
            with self.stop.noting(), dspy.context(lm=self.reflection_lm or dspy.settings.lm, adapter=AnyFormat()):
                texts = {
                    name: self._rewrite(name, candidate[name], reflective_dataset[name])
                    for name in components_to_update
                }
        except (AdapterParseError, RepeatsItemError) as error:
            self.unreadable += [str(error.lm_response)] if isinstance(error, AdapterParseError) else []
            self._refused = (dict(candidate), reflective_dataset), error
            raise
        self.read += 1
        return {name: self.kept(name, text) for name, text in texts.items()}

    def _rewrite(self, name: str, text: str, lessons: Sequence[Mapping[str, object]]) -> str:
        """A new instruction that repeats none of the lessons.

        Raises:
            RepeatsItemError: No attempt was one.
        """
        given = {"fixed": self.fixed(name), "current_instruction": text}
        own = [{key: said for key, said in one.items() if key != FEEDBACK or not self.experts} for one in lessons]
        free = [*given.values(), *(str(one[FEEDBACK]) for one in lessons if self.experts)]

        def ask(again: str) -> str:
            self.left -= 1
            signature = RewriteInstruction if again else RewriteInstruction.delete("repeated")
            more = {"repeated": fence("repeated", again)} if again else {}
            return str(dspy.Predict(signature)(**given, examples_with_feedback=list(lessons), **more)[FIELD])

        if found := rewrite_without_repeats(ask, own, free, self.repeats, self.left):
            return found
        raise RepeatsItemError(self.repeats[-1])


def _unused(*_: object) -> float:
    raise AssertionError("programs are scored by ReflectiveAdapter.trial")


class _Quiet:
    """GEPA's log."""

    def log(self, message: str) -> None:
        """Nothing is shown: the watch says what matters."""
