"""Over forty tables as people keep them are read as a person reads them; where that is not sure, ``init`` asks."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from judgec.connect.tracking.store import tracking_store
from judgec.errors import UserError
from judgec.lm.watch import Silent
from judgec.records.label import LabelSet
from judgec.table.rows.columns import as_names
from judgec.verbs.cli.project import completed
from judgec.verbs.init import LabelSetup, init
from judgec.verbs.options.init import InitOptions
from judgec.verbs.options.labels import LabelsOptions
from judgec.verbs.source import LabelSource, read_source
from tests.labels.messy import TABLES, Truth, written


def setup(path: Path, flag: tuple[str, ...] = ()) -> LabelSetup:
    """What ``judgec init FILE --yes`` with one flag writes."""
    options = InitOptions(file=str(path), replace=True)
    if flag:
        options = replace(options, **{flag[0].removeprefix("--"): as_names(flag[1])})  # type: ignore[arg-type]  # names
    return init.run(options, Silent())


def graded(labels: LabelSet) -> dict[str, Counter[str]]:
    """By annotator, how often each grade was given."""
    found: dict[str, Counter[str]] = {}
    for label in labels.labels:
        grade = label.accept if labels.accept_only else labels.scale.grades[label.grades[labels.aspects[0]]]
        found.setdefault(label.annotator, Counter())[str(grade)] += 1
    return found


def differences(found: LabelSetup, labels: LabelSet, truth: Truth) -> list[str]:
    """What was read otherwise than it is."""
    own = graded(labels)
    people = {name: next((who for who in truth.graded if who in name), name) for name in own}
    meant = () if found.proposal.scale is None else found.proposal.scale.meanings
    judges = set(found.proposal.judges)
    seen = {
        "annotators": (sorted(people.values()), sorted(truth.graded)),
        "graded": ({people[name]: counts for name, counts in own.items()}, dict(truth.graded)),
        "items": (len(labels.items), truth.items),
        "queries": (len({item.query_id for item in labels.items}), truth.queries),
        "agents": ({item.agent for item in labels.items if item.agent}, set(truth.agents)),
        "judges": (judges, set(truth.judges)),
        "scale": (list(map(str, labels.scale.grades)), list(map(str, truth.scale))),
        "meanings": (not truth.meanings or truth.meanings == meant, True),
        "reasons": (sum(bool(label.rationale) for label in labels.labels), truth.reasons),
        "ids": (not truth.ids or truth.ids in {item.item_id for item in labels.items}, True),
        "left_out": ([one for one in truth.left_out if not any(one in note for note in labels.notes)], []),
    }
    return [f"{what}: {one} for {other}" for what, (one, other) in seen.items() if one != other]


@pytest.mark.parametrize("name", TABLES)
def test_messy_table_is_read_as_it_is_or_asked_about(name: str, tmp_path: Path) -> None:
    path, truth = written(name, tmp_path)
    if truth.flag:
        with pytest.raises(UserError) as asked:
            setup(path)
        assert truth.flag[0] in str(asked.value)
    found = setup(path, truth.flag)
    assert differences(found, found.labels, truth) == []
    read = LabelsOptions(**completed(LabelsOptions, {"file": str(path)}))  # type: ignore[arg-type]  # as the shell
    labels = read_source(LabelSource(read.file, read.reading(read.task)), tracking_store(tmp_path, None, {}), {})
    assert labels.digest == found.labels.digest


def test_corpus_has_forty_tables_and_few_need_a_flag(tmp_path: Path) -> None:
    flags = [written(name, tmp_path)[1].flag for name in TABLES]
    assert len(flags) >= 40
    assert sum(map(bool, flags)) <= len(flags) / 10


def test_meanings_of_another_sheet_are_proposed_and_not_written_unasked(tmp_path: Path) -> None:
    path, truth = written("legend_on_another_sheet", tmp_path)
    found = setup(path)
    assert found.proposal.scale is not None
    assert found.proposal.scale.meanings == truth.meanings
    assert found.project.scale is not None
    assert found.project.scale.meanings == ()
    assert any("Legende" in note for note in found.notes)
