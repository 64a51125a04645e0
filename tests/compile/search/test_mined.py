"""Criteria that are mined from all reasons, in the world of ``benchmarks.planted``."""

import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from benchmarks.planted import CASES, MODEL, STEPS, Planted, serving

from judgec.compile.compile import compile_judge
from judgec.compile.dataset import make_dataset
from judgec.compile.measured import Compiled
from judgec.compile.search.candidates import first_predictor, task_module
from judgec.compile.search.mined import FOLDS, FOUND, LOOKS, mined, reasons_of
from judgec.compile.search.task import Task
from judgec.compile.settings import CompileSettings, SearchSettings, reflection_spec
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Silent
from tests.compile.search.world import World
from tests.compile.small import session_of
from tests.service.replies import Call, answer, digest

ASKED = "What do they look at that the rubric does not say?"


@contextmanager
def listening(planted: Planted) -> Iterator[list[str]]:
    """What the LM is asked to mine."""
    heard: list[str] = []
    reply = Planted.reply

    def noting(self: Planted, call: Call) -> str:
        if ASKED in call.instructions:
            heard.append(json.dumps(call.body["messages"], ensure_ascii=False))
        return reply(self, call)

    with patch.object(Planted, "reply", noting), serving(planted):
        yield heard


def settings_in(folder: str) -> CompileSettings:
    spec = LMSpec.parse(MODEL)
    search = SearchSettings(reflection=reflection_spec(spec, None)[0])
    return CompileSettings("planted", Path(folder), spec, "qwk", search, evidence=False)


def compiled(rows: list[dict[str, object]]) -> tuple[Compiled, int]:
    with tempfile.TemporaryDirectory() as folder, session_of(settings_in(folder)) as session:
        found = compile_judge(CASES.labels(rows), settings_in(folder), session, Silent())
        return found, session.spent.calls


@contextmanager
def task_of(rows: list[dict[str, object]]) -> Iterator[Task]:
    """A search on these labels."""
    labels = CASES.labels(rows)
    with tempfile.TemporaryDirectory() as folder, session_of(settings_in(folder)) as session:
        yield World(make_dataset(labels, 0), session, settings_in(folder), task_module(labels)).task()


def test_auto_on_sixty_labels_names_what_experts_look_at_and_no_reason_of_a_test_item_is_read() -> None:
    rows = CASES.rows(60, 3, "c")
    for row in rows:  # so that each reason can be told apart
        row["rationale"] = row["rationale"] and f"{row['rationale']} ({row['item_id']}!)"
    with listening(CASES) as heard:
        found, calls = compiled(rows)
    assert calls <= 700
    listed = first_predictor(found.shipped.module).signature.instructions.partition(FOUND)[2]
    named = [line.removeprefix("- ") for line in listed.splitlines() if line.startswith("- ")]
    assert {one.rule for one in CASES.criteria} <= set(named)
    assert found.verification.agreements["compiled"].estimates["qwk"].value > 0.8  # type: ignore[operator]
    read = set(re.findall(r"\(c(\d+)!\)", "".join(heard)))
    assert read
    assert not read & {item.item_id[1:] for item in found.dataset.test.items}


def test_mined_fences_reasons_and_has_a_prompt_for_each_fold_that_read_none_of_it() -> None:
    rows = CASES.rows(60, 0, "c")
    for row in rows:
        row["rationale"] = row["rationale"] and f"{row['rationale']} ({row['item_id']}!)\n[[ ## rubric ## ]]"
    with listening(CASES) as heard, task_of(rows) as task:
        found = mined(task, 1)
    assert found is not None
    whole, *folds = heard
    assert len(folds) == len(found.unseen) == FOLDS
    assert r"> [\\[ ## rubric ## ]]" in whole  # as JSON writes it
    assert "> [[" not in whole
    for asked, fold in zip(folds, found.unseen, strict=True):
        read = {f"c{number}" for number in re.findall(r"\(c(\d+)!\)", asked)}
        assert read
        assert not read & fold.queries
    assert set().union(*(one.queries for one in found.unseen)) == {
        item.query_id for part in (task.train, task.dev) for item in part.items
    }


def test_a_prompt_that_remembers_labels_does_not_win() -> None:
    """The LM repeats the reasons that it reads, and gives the right grade wherever its prompt holds the item's."""
    rng = np.random.default_rng(0)
    rows = CASES.rows(60, 0, "c")
    shuffled = rng.permutation([int(str(row["grade"])) for row in rows])
    for row, grade in zip(rows, shuffled, strict=True):
        row["grade"], row["rationale"] = int(grade), f"case {row['item_id']} is worth {grade}!"

    def remembering(self: Planted, call: Call) -> str:
        whole = json.dumps(call.body["messages"])
        if any(output.name == "new_instruction" for output in call.prompt.outputs):
            lines = re.findall(r"case c\d+ is worth \d!", whole)
            return answer(call, {"new_instruction": "- " + " ".join(dict.fromkeys(lines))}).text
        case = re.search(r"Case (c\d+):", call.prompt.inputs.get("answer", ""))
        known = case and re.search(rf"case {case[1]} is worth (\d)!", call.instructions)
        graded = [output.name for output in call.prompt.outputs if output.labels]
        grade = known[1] if known else str(digest("guess", str(call.prompt.inputs)) % 6)
        return answer(call, dict.fromkeys(graded, grade)).text

    patched = patch("judgec.compile.search.mined.CRITERION_CHARACTERS", 10_000)
    with patched, patch.object(Planted, "reply", remembering), serving(CASES):
        found, _ = compiled(rows)
        with task_of(rows) as task:
            memory = mined(task)
            assert memory is not None
            asked = {"ask": task.ask, "scale": task.scale, "aspects": ("grade",)}
            seen = task.judge(memory.module, task.dev)
            fair = memory.verdicts(task.dev.items, **asked)  # type: ignore[arg-type]  # names above
    assert task.value(task.dev, seen) == pytest.approx(1.0)  # it does remember
    assert task.value(task.dev, fair) < 0.5
    assert not found.decision.promoted
    assert found.choice.searched["mined"][1].value < 0.5


def test_mined_without_reasons_proposes_nothing() -> None:
    rows = [{**row, "rationale": ""} for row in CASES.rows(40, 0, "c")]
    with serving(CASES), task_of(rows) as task:
        assert reasons_of(task) == []
        assert mined(task) is None


def test_mined_looks_again_until_nothing_new_is_found_and_keeps_what_stands() -> None:
    """One look of this LM names two criteria at most and misses three in ten."""
    rows = STEPS.rows(60, 1, "c")
    with listening(STEPS) as heard, task_of(rows) as task:
        once, found = mined(task, 1), mined(task)
    assert once is not None
    assert found is not None
    named = [
        {
            rule
            for rule in (one.rule for one in STEPS.criteria)
            if rule in first_predictor(made.module).signature.instructions
        }
        for made in (once, found)
    ]
    assert len(named[0]) <= 2
    assert len(named[1]) == 5
    assert named[0] <= named[1]
    assert len(heard) <= (1 + LOOKS) * (1 + FOLDS)
