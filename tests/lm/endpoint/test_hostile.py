"""Replies of every shape: each is a verdict, a reason or an error of one call, soon; never the end of a run."""

import functools
import json
import math
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import dspy
import numpy as np
import pytest
from dspy import lm15

from judgec.lm.endpoint import untrusted
from judgec.lm.endpoint.exchange import Bill
from judgec.lm.executor import Reply
from judgec.lm.journal.journal import Journal, JournaledReply
from judgec.lm.logprobs import load
from judgec.lm.prices import BYTES_PER_TOKEN, TOKENS_PER_MESSAGE
from judgec.lm.spec import LMSpec
from judgec.raters.prompt import PromptRater
from judgec.raters.replies import UnreadableReplyError
from judgec.records.scale import Scale
from tests.lm.endpoint.test_wire import wired
from tests.lm.judging import GradeAnswer
from tests.pace import assert_within
from tests.service import hostile

FULL, SOAK = pytest.mark.full, pytest.mark.soak
MOST_CPU_SECONDS = 0.050  # of one reply
SCALE = Scale(grades=(1, 2, 3, 4, 5))


class _Reader:
    """Everything that happens to the body of a reply, from the wire to the verdict."""

    def __init__(self) -> None:
        self._wire, _, journaled = wired("openai/x")
        self._plain = journaled.plain([{"role": "user", "content": "Grade this."}])
        self._bill = Bill(LMSpec.parse("openai/gpt-4o-mini"))
        predict = dspy.Predict(GradeAnswer)
        self._rater = PromptRater(predict, scale=SCALE, aspects=("grade",))

    def journaled(self, body: bytes) -> JournaledReply:
        if len(body) > untrusted.most_bytes(2048, 8):
            return self._bill.record(self._plain, self._wire.faulty(untrusted.TOO_LONG), 0.0)
        return self._bill.record(self._plain, self._wire.decode(body), 0.0)

    def read(self, body: bytes) -> tuple[str, JournaledReply | None]:
        """What became of a reply, and what the journal keeps of it."""
        try:
            kept = self.journaled(body)
        except lm15.LM15Error:
            return "failed", None
        return self._outcome(kept), kept

    def seconds(self, body: bytes) -> float:
        """CPU time to read it; the least of three, since a garbage collection is nobody's fault."""
        took = []
        for _ in range(3):
            began = time.process_time()
            self.read(body)
            took.append(time.process_time() - began)
            if took[-1] < MOST_CPU_SECONDS / 2:
                break
        return min(took)

    def _outcome(self, kept: JournaledReply) -> str:
        said = Reply(0, kept.text, logprobs=load(kept.logprobs), finish=kept.finish)
        try:
            verdict = self._rater.read(said, 0)
        except UnreadableReplyError as error:
            return str(error).partition(":")[0]
        assert np.isfinite(verdict.probabilities).all()
        assert verdict.probabilities.sum() == pytest.approx(1)
        return "scored"


def read_all(bodies: Iterable[bytes], path: Path) -> Counter[str]:
    """What became of them; each was read in time, and what was paid for can be journaled."""
    reader, outcomes = _Reader(), Counter[str]()
    kept: list[tuple[bytes, JournaledReply]] = []
    for number, body in enumerate(bodies):
        began = time.process_time()
        outcome, reply = reader.read(body)
        if time.process_time() - began > MOST_CPU_SECONDS:  # on a slow machine it may be
            assert_within(MOST_CPU_SECONDS, functools.partial(reader.seconds, body))
        outcomes[outcome] += 1
        if reply is not None:
            kept.append((number.to_bytes(32, "big"), reply))
    with Journal(path / "journal.db") as journal:
        journal.put_many(kept)
        assert len(journal.get_many([digest for digest, _ in kept])) == len(kept)
    return outcomes


def test_reply_with_any_field_of_any_kind_is_read_or_refused_in_time(tmp_path: Path) -> None:
    fields = len(hostile.PATHS) * len(hostile.ODD)
    outcomes = read_all(hostile.shapes(fields + 200), tmp_path)
    assert outcomes.total() == fields + 200
    assert outcomes["scored"] > fields / 4  # what only bills or decorates costs no verdict
    kinds = {"malformed reply", "off-scale grade", "empty reply", "refusal", "content filter", "tool call", "cut reply"}
    assert set(outcomes) <= {"scored", "failed"} | kinds


@pytest.mark.parametrize("shapes", [pytest.param(500, marks=FULL), pytest.param(10_000, marks=SOAK)])
def test_thousands_of_shapes_are_read_or_refused_in_time(tmp_path: Path, shapes: int) -> None:
    assert read_all(hostile.shapes(shapes), tmp_path).total() == shapes


@pytest.mark.parametrize("tokens", ["many", "100", -1, 1.5, 10**30, True, None, [], {}])
def test_count_of_another_kind_is_not_given_and_the_prompts_length_is_billed(tokens: object) -> None:
    reader = _Reader()
    bodies = [
        hostile.replaced(("usage", name), value)
        for name, value in [("prompt_tokens", tokens), ("prompt_tokens", 10), ("completion_tokens", tokens)]
    ]
    odd, good, unsaid = (reader.journaled(json.dumps(body).encode()) for body in bodies)
    assert good.input_tokens == 10
    assert odd.input_tokens == math.ceil(len("Grade this.") / BYTES_PER_TOKEN + TOKENS_PER_MESSAGE)
    assert unsaid.output_tokens == math.ceil(len(hostile.GOOD) / BYTES_PER_TOKEN)
    assert odd.text == good.text == hostile.GOOD
    assert odd.usd is not None
    assert odd.usd > 0


@pytest.mark.parametrize("unit", ['{"', '{"a":', "[", '"\\"', '{"grade":5,', "[[ ## grade ## ]]\n", '"a":,', "4 - "])
def test_text_that_makes_parsers_repair_takes_time_by_its_length(unit: str) -> None:
    text = "{" + unit * (30_000 // len(unit))
    body, reader = json.dumps(hostile.body(text)).encode(), _Reader()
    assert_within(MOST_CPU_SECONDS, lambda: reader.seconds(body))


def test_reply_longer_than_the_tokens_asked_for_is_kept_as_a_fault() -> None:
    reader = _Reader()
    text = "x" * (untrusted.most_text(2048) + 1)
    outcome, kept = reader.read(json.dumps(hostile.body(text)).encode())
    assert outcome == "malformed reply"
    assert kept is not None
    assert (kept.text, kept.finish, kept.output_tokens) == ("", untrusted.TOO_LONG, 2048)
