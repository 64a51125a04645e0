"""``judgec.agreement`` of a table in memory."""

import asyncio
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import judgec
from judgec.errors import UserError
from tests.cli.process import judgec as run


def graded(n: int = 120) -> pd.DataFrame:
    """Grades 1-5 of an expert and a judge that errs, every tenth cell empty."""
    rng = np.random.default_rng(3)
    human = rng.integers(1, 6, n)
    judge = np.clip(human + rng.integers(-1, 2, n), 1, 5).astype(float)
    judge[::10] = np.nan
    return pd.DataFrame({"human": human, "gpt4": judge, "ticket": np.arange(n) // 3}, index=[f"r{i}" for i in range(n)])


def test_agreement_of_a_frame_equals_scipy_and_the_file_of_the_same_rows(tmp_path: Path) -> None:
    frame = graded()
    found = judgec.agreement(frame, expert="human", judge="gpt4", cluster="ticket")
    scored = frame.dropna()
    assert found.estimates["tau_b"].value == pytest.approx(stats.kendalltau(scored.human, scored.gpt4).statistic)
    assert found.agreement.unscored == 12
    assert found.table.columns.tolist() == ["value", "low", "high"]
    tau = found.table.loc["tau_b"].to_dict()
    assert tau["low"] < tau["value"] < tau["high"]
    frame.to_csv(tmp_path / "graded.csv")
    of_file = judgec.agreement(tmp_path / "graded.csv", expert="human", judge="gpt4", cluster="ticket")
    pd.testing.assert_frame_equal(of_file.table, found.table)
    assert found.verdict in repr(found)
    assert "<table" in found._repr_html_()
    typed = ["--expert", "human", "--judge", "gpt4", "--cluster", "ticket"]
    assert "gpt4 against human, graded.csv" in run(tmp_path, "agreement", "graded.csv", *typed).stdout


def test_agreement_leaves_out_learned_rows_unless_all_are_wanted() -> None:
    frame = graded().assign(learned=[i < 40 for i in range(120)])

    async def inside() -> judgec.MeasuredAgreement:
        return judgec.agreement(frame, expert="human", judge="gpt4")

    new = asyncio.run(inside())
    everything = judgec.agreement(frame, expert="human", judge="gpt4", all=True)
    assert (new.learned, new.agreement.n + new.agreement.unscored) == (40, 80)
    assert (everything.learned, everything.agreement.n + everything.agreement.unscored) == (40, 120)
    assert any("left out" in note for note in new.notes)


def test_agreement_names_the_columns_that_there_are() -> None:
    with pytest.raises(UserError, match=r"DataFrame: --judge gpt5: no such column; there are human, gpt4, ticket"):
        judgec.agreement(graded(), expert="human", judge="gpt5")
