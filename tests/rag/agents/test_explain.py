"""Why an answer rests on its passages: the parts reproduce the fused list by hand, whatever the constant."""

import json
from pathlib import Path

import pytest

import judgec
from judgec.records.explanation import Explanation
from judgec.tournament.files.reading import Sources, read_entries
from judgec.verbs.answered import Answers

SENSORS = Path(__file__).parents[3] / "trainsets" / "sensors"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("explained") / "index"
    judgec.index(SENSORS / "catalogue", out=out)
    return out


def answered(index: Path, rrf_k: int, *, explain: bool = True) -> Answers:
    asked = [json.loads(line) for line in (SENSORS / "queries.jsonl").read_text().splitlines()[:30]]
    agents = ("rag-bm25", "rag-hybrid", "rag-fusion-hybrid")
    return judgec.answer(
        queries=asked,
        agents=agents,
        index=str(index),
        explain=explain,
        rrf_k=rrf_k,
        out=index.parent / f"answers-{rrf_k}.jsonl",
        home=index.parent,
    )


@pytest.mark.parametrize("k", [0, 60])
def test_fused_list_is_that_of_its_parts_by_hand(index: Path, k: int) -> None:
    for row in answered(index, k).rows:
        explain = row["explain"]
        assert isinstance(explain, dict)
        first, *_ = searches = explain["searches"]
        assert first["query"] == row["query"]
        assert {search.get("rrf_k") for search in searches} == {None if row["agent"] == "rag-bm25" else k}
        for one in (one for search in searches for one in search["ranking"] if "ranks" in one):
            assert one["score"] == pytest.approx(sum(1 / (k + rank) for rank in one["ranks"].values()))
            assert set(one["ranks"]) <= {"bm25", "knn"}
        assert [one["query"] for one in searches[1:]] == row.get("searched", [])
        if row["agent"] != "rag-fusion-hybrid":
            assert (len(searches), explain["rrf_k"], explain["fused"]) == (1, None, [])
            assert [one["passage_id"] for one in first["ranking"]] == row["passage_ids"]
            continue
        scores: dict[str, float] = {}
        for search in searches:
            for place, one in enumerate(search["ranking"]):
                assert one["rank"] == place + 1
                scores[one["passage_id"]] = scores.get(one["passage_id"], 0) + 1 / (k + place + 1)
        best = sorted(scores, key=lambda key: -scores[key])[:5]
        assert [one["passage_id"] for one in explain["fused"]] == best == row["passage_ids"]
        assert [one["rrf_score"] for one in explain["fused"]] == pytest.approx([scores[key] for key in best])


def test_constant_decides_between_one_first_place_and_several_second_ones(index: Path) -> None:
    found = [[row["passage_ids"] for row in answered(index, k).rows] for k in (0, 1000)]
    assert found[0] != found[1]
    assert not [row for row in answered(index, 60, explain=False).rows if "explain" in row]


def test_constant_moves_what_a_hybrid_search_finds_and_the_page_says_where_it_stood(index: Path) -> None:
    rows = {k: [row for row in answered(index, k).rows if row["agent"] == "rag-hybrid"] for k in (0, 1000)}
    assert [row["passage_ids"] for row in rows[0]] != [row["passage_ids"] for row in rows[1000]]
    explain = Explanation.from_json(rows[0][0]["explain"])
    assert explain is not None
    query, key = rows[0][0]["query"], explain.searches[0].ranking[0][0]
    places = explain.searches[0].ranks[key]
    score = sum(1 / rank for rank in places.values())
    told = " + ".join(f"{name} rank {rank} (1/{rank})" for name, rank in places.items())
    assert explain.why()[0] == f"1. {key}: score {score:.4g} for “{query}” = {told}"


def test_explanation_comes_back_from_the_file_and_says_why(index: Path) -> None:
    rows = answered(index, 60).rows
    entries = read_entries(Sources(answers=((str(index.parent / "answers-60.jsonl"), ""),)))
    assert len(entries.why) == len(rows)
    row = rows[-1]
    why = entries.why[str(row["query_id"]), str(row["agent"])]
    assert why.to_json() == row["explain"]
    lines = why.why()
    assert len(lines) == len(row["passage_ids"])  # type: ignore[arg-type]  # a list, as JSON has it
    key, score = why.fused[0]
    assert lines[0].startswith(f"1. {key}: {score:.5f} = rank 1 for “")


@pytest.mark.parametrize("cell", [None, "because", {"searches": 1}, {"searches": [{}], "rrf_k": 1, "fused": []}, [1]])
def test_column_of_that_name_with_something_else_is_nothing(cell: object) -> None:
    assert Explanation.from_json(cell) is None
