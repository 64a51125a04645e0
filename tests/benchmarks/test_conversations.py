"""The benchmark of turns: dialogues stay in one fold, and only the evidence of turns differs between its columns."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest
from benchmarks.conversations import NO_JUDGE, WITH, WITHOUT, Case, judged, main, of_group, section

from judgec.labels.labels import read_label_file
from judgec.raters.recorded import OnWhat, read_recorded
from tests.verbs.cli.test_conversations import dialogues, write


@pytest.mark.full
def test_turns_tell_what_the_last_answer_alone_does_not(tmp_path: Path) -> None:
    rows = dialogues(80)
    write(tmp_path / "chats.jsonl", rows)
    said = [{"item_id": row["item_id"], "judge": "always", "grade": 5} for row in rows]
    pd.DataFrame(said).to_parquet(tmp_path / "chats.verdicts.parquet")
    labels = read_label_file(str(tmp_path / "chats.jsonl"), turn="last").labels
    recorded = read_recorded(str(tmp_path / "chats.verdicts.parquet"), OnWhat.of(labels))
    with ThreadPoolExecutor(1) as pool:
        found = judged(Case("chats", "last"), labels, recorded, pool)
    assert set(found.ratings) == {
        (judge, turns, "grade") for judge in (NO_JUDGE, "always") for turns in (WITHOUT, WITH)
    }
    with_turns, without = (found.ratings[NO_JUDGE, turns, "grade"] for turns in (WITH, WITHOUT))
    assert len(with_turns.expert) == len(without.expert) == 80  # each is tested once
    assert (with_turns.expert == without.expert).all()
    right = [float((one.expert == one.judge).mean()) for one in (with_turns, without)]
    assert right[0] > right[1] + 0.1
    assert "| no LM | grade |" in section(found)


def test_group_keeps_its_items_and_their_labels(tmp_path: Path) -> None:
    rows = [{**row, "group": f"turn {number % 2}"} for number, row in enumerate(dialogues(12))]
    write(tmp_path / "chats.jsonl", rows)
    kept = of_group(read_label_file(str(tmp_path / "chats.jsonl")).labels, "turn 1")
    assert [item.item_id for item in kept.items] == [label.item_id for label in kept.labels]
    assert [item.item_id for item in kept.items] == [f"d{n}" for n in range(1, 12, 2)]


def test_folder_without_the_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="none of llmrubric_dialogue, mtbench_preference"):
        main(["--data", str(tmp_path)])
