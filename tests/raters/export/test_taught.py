"""``export --to sft|dpo``: the labels that a judge learned from as chat, never those of its test."""

import json
from pathlib import Path
from typing import Any

import pytest

import judgec
from judgec.errors import UserError
from judgec.labels.labels import read_labels
from judgec.raters import programs
from tests.compile.small import compiled_from, write

GRADES = (1, 2, 3, 4, 5)


def rows(of: int = 30) -> list[dict[str, object]]:
    """Two annotators of each answer; every third time the second one grades higher, and says why."""
    return [
        {
            "item_id": f"i{n}",
            "query": f"What is thing {n}?",
            "answer": f"Thing {n}: {'good ' * (n % 5)}",
            "reference": f"thing {n}",
            "annotator": who,
            "grade": min(5, n % 5 + 1 + (who == "cy" and n % 3 == 0)),
            "rationale": f"{who} of {n}" if n % 2 else "",
        }
        for n in range(of)
        for who in ("ann", "bob", "cy")
    ]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("taught")
    file = write(home / "labels.jsonl", rows())
    compiled_from(home, rows(), name="small", source={"path": str(file)})
    return home


def exported(home: Path, to: str, out: Path, **more: Any) -> tuple[judgec.Export, list[dict[str, Any]]]:
    done = judgec.export("small@1", to=to, out=out, home=home, **more)  # type: ignore[arg-type]
    return done, [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def test_sft_teaches_train_and_dev_with_reasons_and_no_item_of_the_test(home: Path, tmp_path: Path) -> None:
    done, lines = exported(home, "sft", tmp_path / "sft.jsonl")
    side = programs.load(home, "small@1").split["queries"]
    ids = {str(row["item_id"]): row for row in rows()}
    queries = {f"i{n}": query for n, query in enumerate(_query_ids(home))}
    assert {side[queries[line["item_id"]]] for line in lines} == {"train", "dev"}
    assert {line["item_id"] for line in lines} == {i for i in ids if side[queries[i]] != "test"}
    digests = done.report["split_digests"]
    assert isinstance(digests, dict)
    assert digests["test"] == programs.load(home, "small@1").card.split_digest
    for line in lines:
        assert line["split"] == side[queries[line["item_id"]]]
        assert line["split_digest"] == digests[line["split"]]
        system, user, assistant = line["messages"]
        assert (system["role"], user["role"], assistant["role"]) == ("system", "user", "assistant")
        n = int(line["item_id"][1:])
        assert f"> Thing {n}:" in user["content"]
        assert f"[[ ## grade ## ]]\n{n % 5 + 1}" in assistant["content"]
        assert (f"ann of {n}" in assistant["content"]) == bool(n % 2)
        assert "## confidence ##" not in str(line["messages"])
        assert "how sure" not in str(line["messages"])
        assert ("[[ ## reason ## ]]" in user["content"] + system["content"]) == bool(n % 2)


def test_dpo_rejects_what_the_others_outvoted_else_a_grade_beside_the_right_one(home: Path, tmp_path: Path) -> None:
    _, lines = exported(home, "dpo", tmp_path / "dpo.jsonl")
    assert {line["rejected_from"] for line in lines} == {"annotator", "drawn"}
    for line in lines:
        n = int(line["item_id"][1:])
        right, wrong = (_grade(line[side][0]["content"]) for side in ("chosen", "rejected"))
        dissent = n % 3 == 0 and n % 5 < 4
        assert right == n % 5 + 1
        assert abs(wrong - right) == 1
        assert (line["rejected_from"] == "annotator") == dissent
        if dissent:
            assert wrong == right + 1
        both = ["reason" in line[side][0]["content"] for side in ("chosen", "rejected")]
        assert both == [dissent and n % 2 == 1] * 2
    assert lines == exported(home, "dpo", tmp_path / "again.jsonl")[1]


def test_labels_that_moved_are_named_and_others_are_refused(home: Path, tmp_path: Path) -> None:
    moved, other = write(tmp_path / "moved.jsonl", rows()), write(tmp_path / "other.jsonl", rows(12))
    _, lines = exported(home, "sft", tmp_path / "a.jsonl")
    assert exported(home, "sft", tmp_path / "b.jsonl", labels=str(moved))[1] == lines
    with pytest.raises(UserError, match="are not those that it was tested on"):
        exported(home, "sft", tmp_path / "c.jsonl", labels=str(other))
    with pytest.raises(UserError, match="--to prompt writes none"):
        judgec.export("small@1", to="prompt", out=tmp_path / "d.json", home=home, labels=str(moved))
    assert not (tmp_path / "c.jsonl").exists()


def test_a_judge_that_was_tested_in_folds_has_nothing_to_teach(tmp_path: Path) -> None:
    file = write(tmp_path / "labels.jsonl", rows())
    compiled_from(tmp_path, rows(), name="small", folds=3, source={"path": str(file)})
    with pytest.raises(UserError, match="tested in folds"):
        exported(tmp_path, "sft", tmp_path / "sft.jsonl")


def _query_ids(home: Path) -> list[str]:
    return [item.query_id for item in read_labels(str(home / "labels.jsonl")).items]


def _grade(content: str) -> int:
    return int(content.split("[[ ## grade ## ]]\n")[1].split(maxsplit=1)[0])
