"""The constant of reciprocal rank fusion decides what RAG-Fusion and a hybrid search find."""

import json
from pathlib import Path

import pytest

import judgec
from judgec.verbs.answered import Answers

SENSORS = Path(__file__).parents[3] / "trainsets" / "sensors"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("fused") / "index"
    judgec.index(SENSORS / "catalogue", out=out)
    return out


def answered(index: Path, rrf_k: int) -> Answers:
    asked = [json.loads(line) for line in (SENSORS / "queries.jsonl").read_text().splitlines()[:30]]
    agents = ("rag-bm25", "rag-hybrid", "rag-fusion-hybrid")
    return judgec.answer(
        queries=asked,
        agents=agents,
        index=str(index),
        rrf_k=rrf_k,
        out=index.parent / f"answers-{rrf_k}.jsonl",
        home=index.parent,
    )


def test_constant_decides_between_one_first_place_and_several_second_ones(index: Path) -> None:
    found = [[row["passage_ids"] for row in answered(index, k).rows] for k in (0, 1000)]
    assert found[0] != found[1]


def test_constant_moves_what_a_hybrid_search_finds(index: Path) -> None:
    rows = {k: [row for row in answered(index, k).rows if row["agent"] == "rag-hybrid"] for k in (0, 1000)}
    assert [row["passage_ids"] for row in rows[0]] != [row["passage_ids"] for row in rows[1000]]
