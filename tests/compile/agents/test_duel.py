from dataclasses import replace
from pathlib import Path

import pytest

from judgec.compile.agents.compile import AgentCompile
from judgec.compile.agents.duel import duel
from judgec.compile.agents.metric import ScoredAnswer
from judgec.compile.pipeline import COMPILED, UNCOMPILED
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.rag.agents.answer import Answer
from judgec.rag.agents.rag import AgentSettings
from judgec.raters import programs
from judgec.raters.judge import load_judge
from judgec.tournament.files.queries import Query
from tests.compile.agents.contested import compiled_agent
from tests.compile.small import compiled_from

WORDS = ("red", "green", "blue", "white")


def test_better_agent_wins_by_a_judge_that_knows_the_reference(tmp_path: Path) -> None:
    rows = [
        {
            "query_id": f"t{n}",
            "query": f"Which colours has flag {n}?",
            "answer": " ".join(WORDS[i] if i < quality else f"wrong{i}" for i in range(4)),
            "reference": " ".join(WORDS),
            "grade": quality + 1,
        }
        for n in range(60)
        for quality in (n % 5, (n + 2) % 5)
    ]
    compiled_from(tmp_path, rows, name="flags", lm="embedded")
    program = programs.load(tmp_path, "flags@latest")
    queries = [Query(f"q{n}", f"Which colours has flag {n}?", " ".join(WORDS)) for n in range(12)]
    good = [Answer(query_id=q.query_id, agent=COMPILED, text=" ".join(WORDS)) for q in queries]
    bad = [Answer(query_id=q.query_id, agent=UNCOMPILED, text="wrong0 wrong1") for q in queries]
    bad[3] = replace(bad[3], text=None, error="down")
    settings = AgentCompile("ag", tmp_path, "rag-bm25", AgentSettings(), resamples=200)
    scores = {COMPILED: [ScoredAnswer(1.0)] * 12, UNCOMPILED: [ScoredAnswer(0.0)] * 12}
    found = compiled_agent(queries, {COMPILED: good, UNCOMPILED: bad}, scores, settings)
    with Session(LMSpec.parse("embedded"), tmp_path) as session:
        met = duel(
            found,
            UNCOMPILED,
            {query.query_id: query for query in queries},
            load_judge(program),
            program.card,
            session.ask,
            independent=True,
            resamples=200,
            seed=0,
        )
    assert (met.wins, met.losses, met.ties, met.unscored) == (11, 0, 0, 1)
    assert met.net.value == 1.0
    assert met.difference is not None
    assert (met.difference.value or 0) > 1.5
    assert met.means[COMPILED].value == pytest.approx((met.means[UNCOMPILED].value or 0) + (met.difference.value or 0))
    assert met.to_json()["independent"] is True
