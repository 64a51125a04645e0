"""What is known of items: found when nothing changed, missed as soon as anything does, never a bad reply."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judgec.evidence.model import EvidenceModel, Observed
from judgec.evidence.processes import Processes
from judgec.lm.client import client_of, open_lm
from judgec.lm.executor import Executor, Reply, Request
from judgec.lm.journal.facts import Facts
from judgec.lm.journal.journal import Journal
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage
from judgec.raters.features import KeptFeatures
from judgec.raters.known import KnownAnswers
from judgec.raters.piece import ROWS, Piece, pieces_of
from judgec.raters.prompt import PromptRater
from judgec.raters.rate import rated
from judgec.raters.rater import Rating, together
from judgec.raters.registry import judge_module
from judgec.raters.run import Bound
from judgec.raters.signatures import demonstration
from judgec.records.judgment import Judgments, concatenate
from judgec.records.label import Item
from judgec.records.scale import Scale
from tests.raters.engine import Answer, ScriptedEngine, json_reply, reply
from tests.raters.test_judge import passing
from tests.raters.trees import judge_of

SCALE = Scale(grades=(1, 2, 3, 4, 5), accept_at=4)
ASPECTS = ("grade",)
FIELDS = ("query", "answer")


def items(count: int) -> tuple[Item, ...]:
    return tuple(Item(str(n), "q", {"query": "How far?", "answer": f"{n} km\nor so"}) for n in range(count))


class SideBySide:
    """Raters at once, whose judgments are kept apart."""

    def __init__(self, raters: list[PromptRater], said: list[list[Judgments]]) -> None:
        self.raters, self.said = raters, said

    def rate(self, piece: Piece) -> Rating:
        found = yield from together([rater.rate(piece) for rater in self.raters])
        for own, one in zip(self.said, found, strict=True):
            own.append(one)
        return found[0]


class Bench:
    """A judge, an engine that counts, and a journal in a file."""

    def __init__(self, path: Path, script: Callable[[str, int], Answer] | None = None) -> None:
        self.path = path
        self.engine = ScriptedEngine(script or (lambda prompt, _: reply(1 + len(prompt) % 5, confidence=70)))
        self.spec = LMSpec(model="hosted_vllm/scripted")
        self.scale = SCALE
        self.module = judge_module("grade", SCALE, ASPECTS, FIELDS)
        self.usage = Usage()

    def judge(self, asked: tuple[Item, ...], *, samples: int = 1) -> list[Judgments]:
        """Raw judgments, one a sample."""
        self.usage = Usage()
        with Journal(self.path) as journal:
            lm = open_lm(self.spec, journal=journal, budget=Budget(), usage=self.usage, backend=self.engine)
            raters = [
                PromptRater(
                    self.module,
                    scale=self.scale,
                    aspects=ASPECTS,
                    sample=sample,
                    samples=samples,
                    anew=True,
                    known=KnownAnswers(journal, client_of(lm), "judge"),
                )
                for sample in range(samples)
            ]
            ask, pieces = Executor(lm).run, list(pieces_of(asked))
            said: list[list[Judgments]] = [[] for _ in raters]
            list(rated(SideBySide(raters, said), pieces, ask))
        return [concatenate(own) for own in said]

    @property
    def asked(self) -> int:
        return sum(self.engine.asked.values())

    def replies(self) -> int:
        with Journal(self.path) as journal:
            return len(journal)


def same(one: Judgments, two: Judgments) -> bool:
    return (
        (one.item_ids, one.rationale, one.unscored) == (two.item_ids, two.rationale, two.unscored)
        and np.array_equal(one.probabilities, two.probabilities, equal_nan=True)
        and np.array_equal(one.grade, two.grade)
        and np.array_equal(one.confidence, two.confidence, equal_nan=True)
    )


@pytest.mark.parametrize("samples", [1, 3])
def test_second_run_finds_every_verdict_and_neither_reads_nor_renders_an_item(tmp_path: Path, samples: int) -> None:
    bench, asked = Bench(tmp_path / "j.db"), items(ROWS + 40)
    first = bench.judge(asked, samples=samples)
    assert bench.asked == samples * len(asked)
    assert bench.usage.spent.calls == samples * len(asked)
    second = bench.judge(asked, samples=samples)
    assert bench.asked == samples * len(asked)
    assert (bench.usage.spent.calls, bench.usage.spent.journaled) == (0, samples * len(asked))
    assert all(same(one, two) for one, two in zip(first, second, strict=True))


def test_known_verdicts_mix_with_new_ones_in_order_and_under_other_names(tmp_path: Path) -> None:
    bench, asked = Bench(tmp_path / "j.db"), items(30)
    (some,) = bench.judge(asked[::3])
    (every,) = bench.judge(asked)
    assert bench.asked == 30
    assert every.item_ids == tuple(item.item_id for item in asked)
    assert every.grade[::3].tolist() == some.grade.tolist()
    assert len(set(every.grade[:, 0])) > 1
    (again,) = bench.judge(tuple(replace(item, item_id=f"new {item.item_id}") for item in asked))
    assert bench.asked == 30
    assert again.item_ids[0] == "new 0"


def changed_prompt(bench: Bench) -> None:
    bench.module.signature = bench.module.signature.with_instructions("Be strict.")


def changed_demonstration(bench: Bench) -> None:
    shown = demonstration(bench.module, items(1)[0], [4], SCALE, reason="so")
    bench.module.demos = [shown]


def changed_rubric(bench: Bench) -> None:
    bench.scale = SCALE.model_copy(update={"meanings": ("a", "b", "c", "d", "e")})
    bench.module = judge_module("grade", bench.scale, ASPECTS, FIELDS)


def changed_temperature(bench: Bench) -> None:
    bench.spec = LMSpec(model="hosted_vllm/scripted", temperature=0.5)


def changed_model(bench: Bench) -> None:
    bench.engine.identity = "another version"


@pytest.mark.parametrize(
    "change", [changed_prompt, changed_demonstration, changed_rubric, changed_temperature, changed_model]
)
def test_any_change_of_what_a_verdict_follows_from_misses_and_changing_back_hits(
    tmp_path: Path, change: Callable[[Bench], None]
) -> None:
    bench, asked = Bench(tmp_path / "j.db"), items(5)
    bench.judge(asked)
    other = Bench(tmp_path / "j.db")
    change(other)
    other.judge(asked)
    assert other.asked == 5
    third = Bench(tmp_path / "j.db")
    third.judge(asked)
    assert third.asked == 0


def test_another_release_misses_the_verdict_but_finds_the_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, asked = Bench(tmp_path / "j.db"), items(5)
    (first,) = bench.judge(asked)
    monkeypatch.setattr("judgec.raters.known.__version__", "99")
    (second,) = bench.judge(asked)
    assert bench.asked == 5
    assert bench.usage.spent.journaled == 5
    assert same(first, second)


def test_bad_reply_is_not_served_for_ever(tmp_path: Path) -> None:
    runs = 0

    def script(prompt: str, _: int) -> Answer:
        if "> 1 km" in prompt and runs < 2:
            return "I would rather not say."
        return json_reply(3) if "JSON object" in prompt else reply(3)

    bench, asked = Bench(tmp_path / "j.db", script), items(3)
    (first,) = bench.judge(asked)
    assert first.unscored[1] is not None
    assert bench.replies() == 4  # three first askings and a second one
    runs = 1
    (second,) = bench.judge(asked)
    assert second.unscored[1] is not None
    assert bench.replies() == 5  # both bad replies were known: one new asking
    runs = 2
    (third,) = bench.judge(asked)
    assert third.unscored == (None, None, None)
    assert bench.replies() == 6
    asked_before = bench.asked
    (fourth,) = bench.judge(asked)
    assert bench.asked == asked_before
    assert same(third, fourth)


def test_bad_reply_to_many_equal_items_costs_what_one_does_and_is_not_served_for_ever(tmp_path: Path) -> None:
    good = False

    def script(prompt: str, _: int) -> Answer:
        if not good:
            return "I would rather not say."
        return json_reply(3) if "JSON object" in prompt else reply(3)

    (one,) = items(1)
    bench, twins = Bench(tmp_path / "j.db", script), tuple(replace(one, item_id=str(n)) for n in range(40))
    for run in range(12):
        (said,) = bench.judge(twins)
        assert not said.scored.any()
        assert bench.asked == 2 + run  # another asking a run
    good = True
    (said,) = bench.judge(twins)
    assert said.scored.all()
    assert bench.asked == 2 + 12


def unseen(piece: Piece) -> Piece:
    """The piece with items that nobody may look at."""
    return replace(piece, items=())


@pytest.mark.parametrize("without_parts", [False, True])
def test_features_and_parts_are_computed_once_and_come_back_exactly(tmp_path: Path, without_parts: bool) -> None:
    asked = items(20)
    evidence = EvidenceModel.fit(asked)
    (piece,) = pieces_of(asked)
    features, parts = evidence.observe(asked)
    with Journal(tmp_path / "j.db") as journal:
        if without_parts:  # as a release that knew no parts left it: features without are computed anew
            old = Facts(journal, "features", bytes.fromhex(evidence.digest), "judge")
            old.put_many([(digest, row.tobytes()) for digest, row in zip(piece.digests, features + 1.0, strict=True)])
        first = KeptFeatures(journal, "judge").begin(evidence, piece, range(20))()
    with Journal(tmp_path / "j.db") as journal:
        known, kept = unseen(piece), KeptFeatures(journal, "judge")
        again, some = (kept.begin(evidence, known, rows)() for rows in (range(20), [7, 3]))
        other = replace(evidence, mean_length=evidence.mean_length + 1)
        with pytest.raises(IndexError):
            kept.begin(other, known, [7])  # nobody takes features of other evidence for its own
    for found in (first, again):
        assert np.array_equal(found[0], features)
        assert found[1] == parts
    assert np.array_equal(some[0], features[[7, 3]])


def facts_in(path: Path) -> int:
    with Journal(path) as journal:
        return int(journal.select("SELECT COUNT(*) FROM facts")[0][0])


@pytest.mark.parametrize("last_first", [False, True])
@pytest.mark.parametrize("count", [0, 1])
def test_features_of_texts_that_come_again_are_computed_and_kept_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, last_first: bool
) -> None:
    """Ten pieces of the same four items are open at once, in each of two runs that share a journal."""
    asked = items(4)
    evidence, pieces = EvidenceModel.fit(asked), [*pieces_of(asked)] * 10
    features, parts = evidence.observe(asked)
    computed, compute = [], EvidenceModel.observe

    def observe(model: EvidenceModel, some: Sequence[Item]) -> Observed:
        computed.append(len(some))
        return compute(model, some)

    monkeypatch.setattr(EvidenceModel, "observe", observe)
    with ExitStack() as opened:
        journals = [opened.enter_context(Journal(tmp_path / "j.db")) for _ in range(2)]
        processes = opened.enter_context(Processes(count, [evidence])) if count else None
        runs = [KeptFeatures(journal, "judge", processes) for journal in journals]
        begun = [[kept.begin(evidence, piece, range(4)) for piece in pieces] for kept in runs]
        found = [observed() for run in begun for observed in (run[::-1] if last_first else run)]
        assert not any(any(kept._begun.values()) for kept in runs)
        again = KeptFeatures(journals[0], "judge").begin(evidence, unseen(pieces[0]), range(4))()
    assert computed == ([] if count else [4, 4])
    for values, packed in (*found, again):
        assert np.array_equal(values, features)
        assert packed == parts
    assert facts_in(tmp_path / "j.db") == 4


def test_verdicts_on_texts_that_come_again_are_kept_once(tmp_path: Path) -> None:
    bench, asked = Bench(tmp_path / "j.db"), [replace(items(4)[n % 4], item_id=str(n)) for n in range(2 * ROWS)]
    first, second = bench.judge(tuple(asked)), bench.judge(tuple(asked))
    grades = [dict(zip(one.item_ids, one.grade[:, 0].tolist(), strict=True)) for (one,) in (first, second)]
    assert grades[0] == grades[1]
    assert bench.asked == 4
    assert facts_in(tmp_path / "j.db") == 4


def test_stream_of_a_judge_equals_judging_the_list(tmp_path: Path) -> None:
    asked = items(ROWS + 9)
    bench = Bench(tmp_path / "j.db")
    judge = judge_of(bench.module, SCALE, ASPECTS, None, {"grade": passing(0.7)})
    with Journal(tmp_path / "j.db") as journal:
        lm = open_lm(bench.spec, journal=journal, budget=Budget(), usage=Usage(), backend=bench.engine)
        prompt = PromptRater(
            bench.module, scale=SCALE, aspects=ASPECTS, anew=True, known=KnownAnswers(journal, client_of(lm), "judge")
        )
        rater = Bound(judge.rater, judge.run(lambda _: prompt, features=KeptFeatures(journal, "judge")))
        streamed = concatenate([one for _, one in rated(rater, pieces_of(asked), Executor(lm).run)])
        listed = judge.judge(asked, Executor(lm).run)
    assert same(streamed, listed)
    assert streamed.accept.tolist() == listed.accept.tolist()


def test_slow_first_call_does_not_hold_up_more_than_a_few_pieces() -> None:
    """The item that waits is the first; everything else is answered at once, in bounded memory."""

    def ask(requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        source = iter(requests)
        held = next(source)
        for request in source:
            yield Reply(request.key, reply(3))
        yield Reply(held.key, reply(5))

    module = judge_module("grade", SCALE, ASPECTS, FIELDS)
    rater = PromptRater(module, scale=SCALE, aspects=ASPECTS)
    taken = 0

    def pieces() -> Iterator[Piece]:
        nonlocal taken
        for piece in pieces_of(items(40 * ROWS), digested=False):
            taken += 1
            yield piece

    _, first = next(rated(rater, pieces(), ask))
    assert taken <= 17
    assert first.grade[0, 0] == 4
