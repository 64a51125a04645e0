"""A compile of few queries: what each fold learns, what is pooled, what the judge that ships is measured by."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judgec
from judgec.compile.held_out import held_out, judged_unlearned, spread, unlearned
from judgec.compile.parts import make_parts
from judgec.errors import UserError
from judgec.labels.labels import read_labels
from judgec.labels.split.memory import Memory
from judgec.lm.executor import Reply
from judgec.raters import programs
from judgec.raters.judge import load_judge
from judgec.records.label import Item
from tests.compile.small import Outcome, compiled_from, write
from tests.service import grading_world
from tests.service.fake_openai import FakeOpenAI

ROWS = grading_world.rows(60, per_query=2)
Json = dict[str, Any]  # a file of a version


@dataclass(frozen=True)
class World:
    home: Path
    server: FakeOpenAI
    calls: int
    first: Outcome


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Thirty queries, compiled with the default folds."""
    home = tmp_path_factory.mktemp("folds")
    with FakeOpenAI("teachable") as server:
        first = compiled_from(home, ROWS, lm="openai/fake", api_base=server.base_url, folds=None)
        yield World(home, server, server.calls, first)


def none_asked(requests: object, *, total: int | None = None) -> Iterator[Reply]:
    """An ``Ask`` that nothing may be asked of."""
    assert not list(requests)  # type: ignore[call-overload]  # an iterable of requests
    return iter(())


def test_every_item_is_tested_once_by_a_judge_that_did_not_learn_from_its_query(world: World) -> None:
    compiled, report = world.first.compiled, world.first.saved.report
    assert report["split"] == {"train": 0, "dev": 0, "test": 60, "folds": 5}
    assert sorted(item.item_id for item in compiled.dataset.test.items) == sorted(str(row["item_id"]) for row in ROWS)
    assert all(agreement.n in {0, 60} for agreement in compiled.verification.agreements.values())
    parts = make_parts(compiled.dataset.labels, 0, memory=Memory(), folds=5)
    for round_ in parts.tested:
        learned = {item.query_id for part in (round_.train, round_.dev) for item in part.items}
        assert not learned & {item.query_id for item in round_.test.items}
    # The majority is that of each fold's own train labels, no constant over the folds where these differ.
    row = {item.item_id: i for i, item in enumerate(compiled.dataset.test.items)}
    majority = compiled.verification.judgments["majority"].grade[:, 0]
    for round_ in parts.tested:
        counts = np.bincount(round_.train.experts.target[:, 0, 0], minlength=5)
        assert {int(majority[row[item.item_id]]) for item in round_.test.items} == {int(counts.argmax())}


def test_files_of_the_version_say_what_was_learned_and_keep_every_judgment(world: World) -> None:
    folder = world.home / "programs" / "small" / "0001"
    split: Json = json.loads((folder / "split.json").read_text())
    assert sorted(split["folds"].values()) == sorted([1, 2, 3, 4, 5] * 6)
    assert set(split["queries"].values()) == {"train"}  # by the judge that ships
    assert split["items"] == {"train": 0, "dev": 0, "test": 60, "folds": 5}
    assert len(split["tested"]) == 30
    report: Json = json.loads((folder / "report.json").read_text())
    assert len(report["judgments"]) == 60
    assert len(report["folds"]) == 5


def test_judge_that_ships_learned_from_all_queries(world: World) -> None:
    compiled = world.first.compiled
    parts = make_parts(compiled.dataset.labels, 0, memory=Memory(), folds=5)
    assert parts.refit is not None
    learned = {item.query_id for part in (parts.refit.train, parts.refit.dev) for item in part.items}
    assert len(learned) == 30
    assert compiled.judge.calibrators["grade"].n_labels > 40 * 0.8 * 0.9  # more than any fold's train


def test_verdicts_that_folds_share_are_paid_once(world: World) -> None:
    asked = [json.dumps(body["messages"]) for body in world.server.bodies[: world.calls]]
    assert len(asked) == len(set(asked))


def test_rerun_asks_nothing_and_its_look_is_the_second_against_the_champions_judgments(world: World) -> None:
    before = world.server.calls
    again = compiled_from(world.home, ROWS, lm="openai/fake", api_base=world.server.base_url, folds=None)
    assert world.server.calls - before <= 1  # the preflight
    assert again.saved.card.looks == 2
    if world.first.saved.card.promoted:
        assert again.compiled.decision.rival == "champion"
        assert again.compiled.decision.difference.value == 0


def test_family_keeps_its_folds_with_more_queries_and_refuses_another_mode(world: World) -> None:
    with pytest.raises(UserError, match=r"--folds 1: .* --folds 5"):
        compiled_from(world.home, ROWS, lm="openai/fake", api_base=world.server.base_url, folds=1)


def test_held_out_items_of_a_judge_in_folds_are_all_of_its_own_and_judged_out_of_fold(world: World) -> None:
    program = programs.load(world.home, "small@1")
    labels = read_labels(str(write(world.home / "again.jsonl", ROWS)))
    found = held_out(labels, "again.jsonl", program)
    assert (len(found.items), found.learned) == (60, 0)
    judged = judged_unlearned(found.items, program, partial(load_judge(program).judge, ask=none_asked))
    tested = world.first.compiled.verification.judgments["compiled"]
    order = [tested.item_ids.index(name) for name in judged.item_ids]
    assert judged.grade.tolist() == tested.grade[order].tolist()
    assert judged.probabilities == pytest.approx(tested.probabilities[order])
    assert judged.rationale == tuple(tested.rationale[i] for i in order)
    # None is left where the verdicts are those of the judge that ships.
    assert unlearned(labels.items, program, out_of_fold=False) == []
    with pytest.raises(UserError, match="all 60 labelled items"):
        held_out(labels, "again.jsonl", program, out_of_fold=False)
    # Another answer to a known question, under another query_id; and an answer to a question of its own.
    rows = [
        {**ROWS[0], "item_id": "new", "query_id": "x", "answer": "Another answer."},
        {**ROWS[0], "item_id": "free", "query_id": "y", "query": "How heavy is it?", "grade": 1},
    ]
    more = read_labels(str(write(world.home / "new.jsonl", rows)))
    assert [more.items[i].item_id for i in unlearned(more.items, program)] == ["free"]


def test_compare_measures_the_out_of_fold_judgments(world: World) -> None:
    path = write(world.home / "compared.jsonl", ROWS)
    asked = {"home": world.home, "api_base": world.server.base_url}
    found = judgec.compare("small@1", "small@1", labels=path, **asked).comparison.a  # type: ignore[arg-type]  # options
    expected = world.first.compiled.verification.agreements["compiled"].estimates["tau_b"].value
    assert found.estimates["tau_b"].value == pytest.approx(expected)


def test_spread_takes_one_of_every_query_before_two_of_any() -> None:
    items = [Item(str(i), f"q{i // 3}", {}) for i in range(9)]
    chosen = spread(items, 4, [5, 1, 9, 4, 4, 4, 7, 2, 3])
    assert [items[i].query_id for i in chosen].count("q0") <= 2
    assert {items[i].query_id for i in chosen} == {"q0", "q1", "q2"}
    assert chosen == sorted(chosen)
    assert 1 in chosen  # the smallest number of q0
