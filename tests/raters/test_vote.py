"""Several verdicts as one: hand-worked pools, jurors that are missing, agreement, threads."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from judgec.errors import InputError, ServiceError, UserError
from judgec.lm.client import client_of, open_lm
from judgec.lm.executor import Ask, Executor
from judgec.lm.journal.journal import Journal
from judgec.lm.router import routed
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage
from judgec.raters.features import KeptFeatures
from judgec.raters.judge import Binding, CompiledJudge
from judgec.raters.known import KnownAnswers
from judgec.raters.panel import Panel
from judgec.raters.piece import ROWS, Piece, pieces_of
from judgec.raters.prompt import PromptRater
from judgec.raters.rate import rated
from judgec.raters.rater import Rater
from judgec.raters.registry import judge_module
from judgec.raters.vote import Juror, Jury, pool
from judgec.records.judgment import UNSCORED, Judgments, concatenate
from judgec.records.label import Item
from judgec.records.scale import Scale
from judgec.records.tasks.preference import PREFERENCE_SCALE
from tests.raters.engine import Answer, ScriptedEngine, bad_request, reply
from tests.raters.judgments import judgments
from tests.raters.test_judge import passing
from tests.raters.test_pairwise import MODULE

SCALE = Scale(grades=(1, 2, 3), accept_at=3)
FIELDS = ("query", "answer")


def judge_with(threshold: float | None = None, scale: Scale = SCALE) -> CompiledJudge:
    module = judge_module("grade", scale, ("grade",), FIELDS)
    return CompiledJudge(module, scale, ("grade",), None, {"grade": passing(threshold, len(scale.grades))})


def ballot(*spreads: tuple[float, ...] | None, reason: str = "r") -> Judgments:
    """Calibrated judgments with these distributions; None is unscored."""
    table = np.array([spread or (np.nan,) * 3 for spread in spreads])
    nearest = np.rint(np.nan_to_num(table @ SCALE.values, nan=UNSCORED + 1)).astype(int) - 1
    reasons = [None if spread else f"{reason} said nothing" for spread in spreads]
    made = judgments(table, nearest, values=SCALE.values, unscored=reasons)
    return replace(made, rationale=tuple(reason if spread else "" for spread in spreads))


def test_pool_of_pairwise_verdicts_that_balance_is_a_tie() -> None:
    judge = CompiledJudge(MODULE, PREFERENCE_SCALE, ("grade",))
    places = [PREFERENCE_SCALE.position(word) for word in ("a", "b", "tie")]
    one, two, three = ballot((0.5, 0.25, 0.25)), ballot((0.25, 0.5, 0.25)), ballot((0.6, 0.2, 0.2))
    for given in (one, two, three):
        given.probabilities[:] = given.probabilities[..., np.argsort(places)]
    assert pool([one, two], [judge, judge]).grade.tolist() == [[places[2]]]
    assert pool([one, two, three], [judge, judge, judge]).grade.tolist() == [[places[0]]]


def test_pool_is_the_mean_of_the_distributions() -> None:
    one, two = ballot((0.8, 0.1, 0.1), (0.0, 0.2, 0.8)), ballot((0.2, 0.1, 0.7), (0.0, 0.6, 0.4))
    joint = pool([one, two], [judge_with(), judge_with()])
    assert joint.probabilities[:, 0] == pytest.approx(np.array([[0.5, 0.1, 0.4], [0.0, 0.4, 0.6]]))
    assert joint.score[:, 0] == pytest.approx([1.9, 2.6])
    assert joint.grade[:, 0].tolist() == [0, 2]  # their medians
    assert joint.confidence[:, 0] == pytest.approx([0.5, 0.6])
    assert joint.accept[:, 0].tolist() == [0, 1]  # .4 and .6 against one half


def test_pool_accepts_by_the_mean_margin_over_each_jurors_own_threshold() -> None:
    one, two = ballot((0.7, 0.0, 0.3), (0.7, 0.0, 0.3)), ballot((0.2, 0.0, 0.8), (0.3, 0.0, 0.7))
    # Margins .3 - .2 = .1 and .8 - .9 = -.1 make 0: accepted. The second: .1 and -.2.
    joint = pool([one, two], [judge_with(0.2), judge_with(0.9)])
    assert joint.accept[:, 0].tolist() == [1, 0]


def test_pool_leaves_out_who_said_nothing_and_is_unscored_only_when_nobody_did() -> None:
    one = ballot(None, (0.1, 0.1, 0.8), None, reason="a")
    two = ballot((0.6, 0.2, 0.2), (0.3, 0.1, 0.6), None, reason="b")
    joint = pool([one, two], [judge_with(0.85), judge_with()])
    assert joint.probabilities[0, 0] == pytest.approx([0.6, 0.2, 0.2])
    assert joint.probabilities[1, 0] == pytest.approx([0.2, 0.1, 0.7])
    assert joint.unscored == (None, None, "a said nothing")
    assert joint.accept[:, 0].tolist() == [0, 1, UNSCORED]  # the second: (.8 - .85 + .6 - .5) / 2 is above 0
    assert joint.grade[2, 0] == UNSCORED
    assert np.isnan(joint.score[2, 0])
    assert joint.rationale[0] == "b"


def test_pool_gives_the_reason_of_who_is_nearest_to_the_joint_score() -> None:
    low, high = ballot((1.0, 0.0, 0.0), reason="low"), ballot((0.0, 0.0, 1.0), reason="high")
    assert pool([low, high], [judge_with()] * 2).rationale == ("low",)  # as near as the other
    assert pool([low, high, high], [judge_with()] * 3).rationale == ("high",)
    assert pool([ballot(None), high], [judge_with()] * 2).rationale == ("high",)


def test_a_new_panel_gives_the_reason_of_who_is_nearest_among_those_that_say_why() -> None:
    far, near = ballot((0.8, 0.2, 0.0), reason="far"), ballot((0.0, 0.6, 0.4), reason="near")
    silent = ballot((0.0, 0.8, 0.2), reason="")
    for order in ([far, near, silent], [silent, near, far]):
        panel = Panel(kind="mean", members=("a", "b", "c"), reasons="nearest")
        assert panel.verdict(order, SCALE).rationale == ("near",)
        assert pool(order, [judge_with()] * 3).rationale == ("near",)


def test_pool_of_classes_gives_the_reason_of_the_first_who_gave_the_joint_grade_and_of_no_other() -> None:
    classes = Scale(grades=("x", "y", "z"), level="nominal")

    def said(first: float, second: float, grade: int, reason: str) -> Judgments:
        return replace(ballot((first, second, 0.0), reason=reason), grade=np.array([[grade]]))

    def reason_of(*given: Judgments) -> str:
        return pool(given, [judge_with(scale=classes)] * len(given)).rationale[0]

    silent, other = said(0.9, 0.1, 0, ""), said(0.4, 0.6, 1, "y")
    assert reason_of(other, silent) == ""
    assert reason_of(silent, other, said(0.8, 0.2, 0, "x")) == "x"
    assert reason_of(other, said(0.9, 0.1, 0, "x")) == "x"


def test_pool_without_any_accept_rule_leaves_accept_open() -> None:
    silent = Scale(grades=(1, 2, 3))
    joint = pool([ballot((0, 0, 1.0))] * 2, [judge_with(scale=silent)] * 2)
    assert joint.accept.tolist() == [[UNSCORED]]
    joint = pool([ballot((0, 0, 1.0))] * 2, [judge_with(scale=silent), judge_with(0.6, silent)])
    assert joint.accept.tolist() == [[1]]  # the one that has a threshold decides


def test_pool_of_one_passes_it_on_and_of_different_items_is_refused() -> None:
    one = ballot((0.5, 0.5, 0.0))
    assert pool([one], [judge_with()]) is one
    with pytest.raises(InputError, match="while it was read"):
        pool([one, replace(one, item_ids=("other",))], [judge_with()] * 2)


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
                judge.module,
                scale=scale,
                aspects=judge.aspects,
                to=name,
                sample=sample,
                samples=samples,
                anew=True,
                known=known,
            )
            return judge.bound(Binding(lambda _: prompt, KeptFeatures(self.journal, name)))

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
    by_hand = pool(alone, [one.judge for one in jurors])
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
