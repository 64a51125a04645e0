"""Several verdicts as one: hand-worked pools, jurors that are missing, agreement, threads."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from judgec.errors import ServiceError, UserError
from judgec.lm.client import client_of, open_lm
from judgec.lm.executor import Ask, Executor
from judgec.lm.journal.journal import Journal
from judgec.lm.router import routed
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage
from judgec.raters.features import KeptFeatures
from judgec.raters.judge import JudgeTree
from judgec.raters.known import KnownAnswers
from judgec.raters.piece import ROWS, Piece, pieces_of
from judgec.raters.pool import pool
from judgec.raters.predictors import module_of
from judgec.raters.prompt import PromptRater
from judgec.raters.rate import rated
from judgec.raters.rater import Rater
from judgec.raters.registry import judge_module
from judgec.raters.run import Bound
from judgec.raters.vote import Juror, Jury
from judgec.records.judgment import Judgments, concatenate
from judgec.records.label import Item
from judgec.records.scale import Scale
from tests.raters.engine import Answer, ScriptedEngine, bad_request, reply
from tests.raters.test_judge import passing
from tests.raters.trees import judge_of

SCALE = Scale(grades=(1, 2, 3), accept_at=3)
FIELDS = ("query", "answer")


def judge_with(threshold: float | None = None, scale: Scale = SCALE) -> JudgeTree:
    module = judge_module("grade", scale, ("grade",), FIELDS)
    return judge_of(module, scale, ("grade",), None, {"grade": passing(threshold, len(scale.grades))})


def items(count: int) -> tuple[Item, ...]:
    return tuple(Item(str(n), "q", {"query": "How far?", "answer": f"{n} km"}) for n in range(count))


@dataclass
class Bench:
    """Jurors with their models."""

    journal: Journal
    ways: dict[str, Ask] = field(default_factory=dict)

    def juror(
        self, name: str, script: Callable[[str, int], Answer], *, samples: int = 1, scale: Scale = SCALE
    ) -> Juror:
        engine = ScriptedEngine(script)
        engine.identity = name
        spec = LMSpec(model="hosted_vllm/scripted")
        lm = open_lm(spec, journal=self.journal, budget=Budget(), usage=Usage(), backend=engine)
        self.ways[name] = Executor(lm).run
        judge, known = judge_with(scale=scale), KnownAnswers(self.journal, client_of(lm), name)

        def bound(sample: int) -> Rater:
            prompt = PromptRater(
                module_of(judge.prompts[0], scale),
                scale=scale,
                aspects=judge.aspects,
                to=name,
                sample=sample,
                samples=samples,
                anew=True,
                known=known,
            )
            return Bound(judge.rater, judge.run(lambda _: prompt, features=KeptFeatures(self.journal, name)))

        return Juror(name, judge, [bound(sample) for sample in range(samples)])

    def running(self, jury: Jury, pieces: Iterable[Piece]) -> Iterator[tuple[Piece, Judgments]]:
        return rated(jury, pieces, routed({juror.name: self.ways[juror.name] for juror in jury.jurors}))

    def judged(self, jury: Jury, asked: tuple[Item, ...]) -> Judgments:
        return concatenate([one for _, one in self.running(jury, pieces_of(asked))])


def number(prompt: str) -> int:
    return int(prompt.partition("[[ ## answer ## ]]\n> ")[2].split(" km")[0])


def test_jury_of_three_agrees_with_pooling_each_by_hand_and_reports_their_agreement(tmp_path: Path) -> None:
    asked = items(ROWS + 30)
    scripts: list[Callable[[str, int], Answer]] = [
        lambda prompt, _: reply(1 + number(prompt) % 3),
        lambda prompt, _: reply(1 + number(prompt) // 2 % 3),
        lambda prompt, _: bad_request() if number(prompt) % 10 == 0 else reply(1 + number(prompt) % 2),
    ]
    with Journal(tmp_path / "j.db") as journal:
        bench = Bench(journal)
        jurors = [bench.juror(f"j{n}", script) for n, script in enumerate(scripts)]
        alone = [bench.judged(Jury([one]), asked) for one in jurors]
        jury = Jury(jurors)
        joint = bench.judged(jury, asked)
    by_hand = pool(alone, SCALE, [one.judge.rater.thresholds for one in jurors])
    assert joint.item_ids == tuple(item.item_id for item in asked)
    assert joint.probabilities == pytest.approx(by_hand.probabilities, nan_ok=True)
    assert joint.grade.tolist() == by_hand.grade.tolist()
    report = jury.agreement()
    assert report is not None
    grades = np.array([one.grade[:, 0] for one in alone])
    pairs = report["pairs"]
    assert isinstance(pairs, list)
    assert [(pair["a"], pair["b"], pair["n"]) for pair in pairs] == [
        ("j0", "j1", len(asked)),
        ("j0", "j2", int((grades[2] >= 0).sum())),
        ("j1", "j2", int((grades[2] >= 0).sum())),
    ]
    table = np.zeros((3, 3))
    np.add.at(table, (grades[0], grades[1]), 1)
    assert pairs[0]["kappa"] == pytest.approx(cohens_kappa(table).kappa)
    both = grades[:, grades[2] >= 0]
    counts = np.array([(both == grade).sum(axis=0) for grade in range(3)]).T
    rest = grades[:2, grades[2] < 0]
    assert rest.shape[1] == 55
    assert isinstance(report["fleiss_kappa"], float)
    assert abs(report["fleiss_kappa"] - fleiss_kappa(counts)) < 0.05  # which leaves out the items of two


def test_jury_of_one_with_samples_pools_them_and_reports_how_they_agree(tmp_path: Path) -> None:
    def script(_: str, times: int) -> Answer:
        return reply((1, 3, 3)[times])

    with Journal(tmp_path / "j.db") as journal:
        bench = Bench(journal)
        jury = Jury([bench.juror("j", script, samples=3)])
        joint = bench.judged(jury, items(4))
        alone = Jury([bench.juror("k", lambda _prompt, _times: reply(2))])
        bench.judged(alone, items(2))
    assert alone.agreement() is None  # of one reply there is none
    assert joint.probabilities[:, 0] == pytest.approx(np.array([[1 / 3, 0, 2 / 3]] * 4))
    report = jury.agreement()
    assert report is not None
    pairs = report["pairs"]
    assert isinstance(pairs, list)
    assert [pair["a"] for pair in pairs] == ["j #1", "j #1", "j #2"]
    assert report["fleiss_kappa"] == pytest.approx(-0.5)  # P = 1/3, shares 1/3 and 2/3: (1/3 - 5/9) / (4/9)


def test_jury_of_different_scales_is_refused(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.db") as journal:
        one = Bench(journal).juror("a@1", lambda _prompt, _times: reply(1))
        two = Bench(journal).juror("b@2", lambda _prompt, _times: reply(1), scale=Scale(grades=(1, 2, 3, 4)))
        with pytest.raises(UserError, match="a@1 and b@2"):
            Jury([one, two])


def test_jury_when_one_juror_cannot_be_reached_stops_the_others(tmp_path: Path) -> None:
    class DownError(ServiceError):
        pass

    calls = 0

    def works(_: str, _times: int) -> Answer:
        nonlocal calls
        calls += 1
        return reply(1)

    def down(_: str, _times: int) -> Answer:
        return DownError("nobody answers")

    with Journal(tmp_path / "j.db") as journal:
        bench = Bench(journal)
        jury = Jury([bench.juror("a", works), bench.juror("b", down)])
        with pytest.raises(ServiceError, match="nobody answers"):
            bench.judged(jury, items(40 * ROWS))
    assert calls < 30 * ROWS


def test_jury_left_early_stops_its_jurors(tmp_path: Path) -> None:
    taken = 0

    def pieces() -> Iterator[Piece]:
        nonlocal taken
        for piece in pieces_of(items(60 * ROWS), digested=False):
            taken += 1
            yield Piece(piece.item_ids, tuple(map(str.encode, piece.item_ids)), piece.items)

    with Journal(tmp_path / "j.db") as journal:
        bench = Bench(journal)
        jury = Jury([bench.juror(name, lambda _prompt, _times: reply(1)) for name in "ab"])
        running = bench.running(jury, pieces())
        next(running)
        running.close()  # type: ignore[attr-defined]  # it is a generator
    assert taken < 30
