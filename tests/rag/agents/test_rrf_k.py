"""The constant of reciprocal rank fusion decides what RAG-Fusion and a hybrid search find."""

import json
from pathlib import Path

import judgec

SENSORS = Path(__file__).parents[3] / "trainsets" / "sensors"


def test_constant_moves_what_a_hybrid_search_finds(tmp_path: Path) -> None:
    """Between one first place and several second ones it decides."""
    judgec.index(SENSORS / "catalogue", out=tmp_path / "index")
    asked = [json.loads(line) for line in (SENSORS / "queries.jsonl").read_text().splitlines()[:30]]
    found = {
        k: judgec.answer(
            queries=asked,
            agents=("rag-hybrid",),
            index=str(tmp_path / "index"),
            rrf_k=k,
            out=tmp_path / f"answers-{k}.jsonl",
            home=tmp_path,
        ).rows
        for k in (0, 1000)
    }
    assert [row["passage_ids"] for row in found[0]] != [row["passage_ids"] for row in found[1000]]
