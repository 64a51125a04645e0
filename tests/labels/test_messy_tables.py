"""Sixty tables as people keep them: read right with the answers given, or refused in one error that says what to do."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

import judgec
from judgec.connect.tracking.store import tracking_store
from judgec.errors import InputError, UserError
from judgec.records.label import LabelSet
from judgec.verbs.cli.project import completed
from judgec.verbs.init import LabelSetup
from judgec.verbs.options.labels import LabelsOptions
from judgec.verbs.source import LabelSource, read_source
from tests.labels.answers import ANSWERS, RESHAPED
from tests.labels.messy import TABLES, Truth, written

READ = [name for name in TABLES if name not in RESHAPED]
ARGUMENTS = ("columns=", "annotators=", "best=", "winner_words=")


def graded(labels: LabelSet) -> dict[str, Counter[str]]:
    """By annotator, how often each grade was given."""
    found: dict[str, Counter[str]] = {}
    for label in labels.labels:
        grade = label.accept if labels.accept_only else labels.scale.grades[label.grades[labels.aspects[0]]]
        found.setdefault(label.annotator, Counter())[str(grade)] += 1
    return found


def differences(found: LabelSetup, truth: Truth) -> list[str]:
    """What was read otherwise than it is."""
    labels, own = found.labels, graded(found.labels)
    people = {name: next((who for who in truth.graded if who in name), name) for name in own}
    seen = {
        "annotators": (sorted(people.values()), sorted(truth.graded)),
        "graded": ({people[name]: counts for name, counts in own.items()}, dict(truth.graded)),
        "items": (len(labels.items), truth.items),
        "queries": (len({item.query_id for item in labels.items}), truth.queries),
        "agents": ({item.agent for item in labels.items if item.agent}, set(truth.agents)),
        "judges": (set(found.draft.judges), set(truth.judges)),
        "scale": (list(map(str, labels.scale.grades)), list(map(str, truth.scale))),
        "left_out": ([one for one in truth.left_out if not any(one in note for note in labels.notes)], []),
        "ids": (not truth.ids or truth.ids in {item.item_id for item in labels.items}, True),
    }
    return [f"{what}: {one} for {other}" for what, (one, other) in seen.items() if one != other]


def test_most_of_sixty_tables_are_read() -> None:
    assert len(TABLES) == 60
    assert len(READ) >= 50


@pytest.mark.parametrize("name", READ)
def test_messy_table_is_read_as_it_is_once_the_questions_are_answered(name: str, tmp_path: Path) -> None:
    path, truth = written(name, tmp_path)
    with pytest.raises(UserError) as asked:
        judgec.init(str(path))
    assert re.search(rf"init '?{re.escape(str(path))}[# ]", str(asked.value))
    assert any(one in str(asked.value) for one in ARGUMENTS)
    assert not (tmp_path / "judgec.toml").exists()
    found = judgec.init(str(path), **ANSWERS[name])
    assert differences(found, truth) == []
    read = LabelsOptions(**completed(LabelsOptions, {"file": str(path)}))  # type: ignore[arg-type]  # as the shell
    labels = read_source(LabelSource(read.file, read.reading(read.task)), tracking_store(tmp_path, None, {}), {})
    assert labels.digest == found.labels.digest
    said = json.loads(json.dumps(found.to_json()))
    assert said["asked"] == []
    assert {"reading", "unused"} <= said.keys()


@pytest.mark.parametrize("name", RESHAPED)
def test_table_that_is_no_row_an_answer_ends_in_the_lines_that_reshape_it(name: str, tmp_path: Path) -> None:
    path, _ = written(name, tmp_path)
    with pytest.raises(InputError) as refused:
        judgec.init(str(path), **ANSWERS[name])
    assert RESHAPED[name] in str(refused.value)
    assert not (tmp_path / "judgec.toml").exists()
