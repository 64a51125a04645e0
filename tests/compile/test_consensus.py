"""Which consensus a judge learns: only what is learned changes, and nothing of the test labels gets into it."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judgec.compile.calibrate import _families, _fit_source, fit_out_of_fold
from judgec.compile.calibrate_choice import Data
from judgec.compile.consensus import Consensus, consensus_notes, shares_of, taught
from judgec.compile.dataset import Dataset, make_dataset
from judgec.compile.folds.parts import make_parts
from judgec.labels.labels import read_labels
from judgec.labels.split.draw import FRESH
from judgec.lm.watch import Silent
from judgec.records.label import IntArray
from judgec.records.scale import Scale
from judgec.verbs.compile_judge import planned
from judgec.verbs.options.compile_judge import CompileJudgeOptions
from tests.compile.small import Rows, compiled_from, write
from tests.service import grading_world

RELIABLE = {"ann": 0.95, "bob": 0.6, "cem": 0.5}
FIVE = Scale(grades=(1, 2, 3, 4, 5))
FOUR = Scale(grades=(1, 2, 3, 4))


def rows(n: int = 150) -> Rows:
    """Ann is nearly always right; bob and cem often say anything."""
    chance = random.Random(3)
    return [
        {**row, "annotator": name, "grade": row["grade"] if chance.random() < share else chance.randint(1, 5)}
        for row in grading_world.rows(n, per_query=2)
        for name, share in RELIABLE.items()
    ]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return make_dataset(read_labels(str(write(tmp_path_factory.mktemp("labels") / "l.jsonl", rows()))), 0)


def test_dawid_skene_changes_what_is_learned_and_nothing_else(plain: Dataset) -> None:
    found = taught(plain, "dawid-skene")
    assert (found.train.experts.grade != plain.train.experts.grade).any()
    assert np.array_equal(found.test.experts.grade, plain.test.experts.grade)
    assert np.array_equal(found.train.experts.grade_by, plain.train.experts.grade_by)
    threshold = plain.labels.scale.accept_index
    assert threshold is not None
    assert np.array_equal(found.train.experts.accept, found.train.experts.grade >= threshold)
    for consensus in ("median", "soft"):
        assert taught(plain, consensus) is plain


def test_dawid_skene_is_nearer_to_the_truth_than_the_median(plain: Dataset) -> None:
    truth = {row["item_id"]: int(str(row["grade"])) - 1 for row in grading_world.rows(150, per_query=2)}
    wanted = np.array([truth[item.item_id] for item in plain.train.items])
    hits = {
        consensus: float((taught(plain, consensus).train.experts.grade[:, 0] == wanted).mean())
        for consensus in ("median", "dawid-skene")
    }
    assert hits["dawid-skene"] > hits["median"] + 0.02


def test_test_labels_have_no_part_in_what_is_learned(plain: Dataset) -> None:
    other = plain.test.experts
    scrambled = replace(plain, test=replace(plain.test, experts=replace(other, grade_by=np.roll(other.grade_by, 1, 0))))
    one, two = (taught(each, "dawid-skene").train.experts.grade for each in (plain, scrambled))
    assert np.array_equal(one, two)


def test_promise_is_checked_on_the_median(plain: Dataset) -> None:
    median, found = (
        make_parts(plain.labels, 0, memory=FRESH, folds=1, reserve=True, consensus=consensus).shipped
        for consensus in ("median", "dawid-skene")
    )
    assert median.reserve is not None
    assert found.reserve is not None
    assert np.array_equal(found.reserve.experts.grade, median.reserve.experts.grade)
    assert (found.train.experts.grade != median.train.experts.grade).any()


def test_every_fold_takes_its_own_consensus(plain: Dataset) -> None:
    median, found = (
        make_parts(plain.labels, 0, memory=FRESH, folds=5, reserve=False, consensus=consensus)
        for consensus in ("median", "dawid-skene")
    )
    for one, other in zip(median.tested, found.tested, strict=True):
        assert (one.train.experts.grade != other.train.experts.grade).any()
        assert np.array_equal(one.test.experts.grade, other.test.experts.grade)


def test_notes_say_what_the_consensus_came_to(plain: Dataset) -> None:
    assert consensus_notes(plain, "median", 0) == []
    found = taught(plain, "dawid-skene")
    before, after = (each.train.experts.grade for each in (plain, found))
    changed = int((before != after).sum() + (plain.dev.experts.grade != found.dev.experts.grade).sum())
    assert consensus_notes(found, "dawid-skene", 0)[0].startswith(f"--consensus dawid-skene: {changed} of ")
    assert "annotators differ on" in consensus_notes(plain, "soft", 0)[0]


@pytest.mark.parametrize("consensus", ["dawid-skene", "soft"])
def test_single_annotator_is_said_in_words_and_learned_as_ever(tmp_path: Path, consensus: Consensus) -> None:
    alone = make_dataset(read_labels(str(write(tmp_path / "l.jsonl", grading_world.rows(60, per_query=2)))), 0)
    assert np.array_equal(taught(alone, consensus).train.experts.grade, alone.train.experts.grade)
    assert "no learned item has two annotators" in consensus_notes(alone, consensus, 0)[0]


def test_shares_are_the_annotators_own() -> None:
    by = np.array([[0, 2, -1], [0, 1, -1], [1, -1, -1]])
    assert shares_of(by, 3) == pytest.approx(np.array([[2 / 3, 1 / 3, 0], [0, 0.5, 0.5], [0, 0, 0]]))


# --- soft labels in the calibrator --------------------------------------------------------------------------------


def _data(n: int = 300) -> tuple[Data, IntArray]:
    """A judge that states one grade, and three annotators who spread around it."""
    rng = np.random.default_rng(2)
    level = rng.uniform(-0.5, 3.5, size=n)
    by = np.clip(np.rint(level + 0.8 * rng.standard_normal((3, n))), 0, 3).astype(np.int64)
    stated = np.clip(np.rint(level), 0, 3).astype(np.int64)
    target = np.median(by, axis=0).astype(np.int64)
    return Data(np.eye(4)[stated], None, target, np.arange(n) // 2, FOUR, np.full(n, -1)), by


def test_certain_shares_give_the_very_calibrator_of_hard_labels() -> None:
    hard, _ = _data()
    certain = replace(hard, shares=np.eye(4)[hard.target])
    one, two = (fit_out_of_fold(data)[0] for data in (hard, certain))
    assert one.family == two.family
    assert one.rule == two.rule
    assert two.apply(hard.verdicts, None) == pytest.approx(one.apply(hard.verdicts, None), abs=1e-6)


def test_soft_labels_give_probabilities_nearer_to_single_annotators() -> None:
    hard, by = _data()
    soft = replace(hard, shares=shares_of(by, 4))
    loss = {}
    for name, data in (("hard", hard), ("soft", soft)):
        said = fit_out_of_fold(data)[1].probabilities
        above = said[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
        loss[name] = np.mean([(((grades[:, None] > np.arange(3)) - above) ** 2).sum(axis=1) for grades in by])
    assert loss["soft"] < loss["hard"] - 0.005


def test_every_family_learns_shares_as_weighted_rows() -> None:
    """Items without features: each family's probabilities are the mean of the shares, not of the medians."""
    n = 120
    shares = np.tile([0.25, 0.75], (n, 1))
    verdicts = np.tile([0.5, 0.5], (n, 1))
    scale = Scale(grades=(0, 1), accept_at=1)
    target = np.array([1] * (n - 1) + [0])
    data = Data(verdicts, np.ones((n, 1)), target, np.arange(n), scale, target, shares=shares)
    for source in ("lm", "evidence", "both"):
        for (_, family), fitted in _fit_source(data, source, 0, 8, _families(source, data)):
            if family != "none":
                assert fitted.apply(verdicts, np.ones((n, 1)))[:, 1] == pytest.approx(0.75, abs=0.02), (source, family)


def test_compile_learns_the_consensus_that_was_asked_for_and_says_so(tmp_path: Path) -> None:
    options = CompileJudgeOptions(labels=str(write(tmp_path / "l.jsonl", rows(90))), home=tmp_path, consensus="soft")
    assert planned(options, Silent())[0].consensus == "soft"
    soft = compiled_from(tmp_path / "soft", rows(90), consensus="soft")
    median = compiled_from(tmp_path / "median", rows(90))
    assert soft.saved.report["consensus"] == "soft"
    assert [note for note in soft.compiled.notes if note.startswith("--consensus soft")]
    assert soft.saved.card.settings["consensus"] == "soft"
    assert "consensus" not in median.saved.card.settings
    assert soft.compiled.judge.calibration() != median.compiled.judge.calibration()
    tested, other = (one.compiled.dataset.test.experts.grade for one in (soft, median))
    assert np.array_equal(tested, other)
