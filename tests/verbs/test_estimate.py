"""``judgec.estimate``: the rate of a lenient judge is put right by a sample of labels, from memory as from a file."""

import asyncio
from pathlib import Path

import pandas as pd
import pytest

import judgec
from judgec.errors import UserError
from tests.compile.small import compiled_from, write
from tests.service import grading_world
from tests.service.fake_openai import FakeOpenAI
from tests.verbs.cli.trust.test_estimate import Row, bare, lenient, rows


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the judge ``w``, which accepts from grade 4."""
    home = tmp_path_factory.mktemp("rates")
    with FakeOpenAI(lenient) as server:
        compiled_from(home, grading_world.rows(60), lm="openai/fake", api_base=server.base_url, name="w", accept_at="4")
    return home


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")


def test_estimate_of_a_frame_puts_the_rate_of_a_lenient_judge_right(home: Path, tmp_path: Path) -> None:
    everything: list[Row] = rows(400, 3, "x")
    labelled = [row for row in everything if int(row["query_id"][2:]) % 3 == 0]
    frame, sample = pd.DataFrame(bare(everything)).rename(columns={"query": "Frage"}), pd.DataFrame(labelled)
    sample = sample.rename(columns={"query": "Frage"})
    with FakeOpenAI(lenient) as server:
        judge = judgec.load_judge("w@latest", home=home, api_base=server.base_url)
        found = judgec.estimate(frame, judge=judge, labels=sample, columns={"Frage": "query"})

        async def inside() -> judgec.RateEstimate:
            return judgec.estimate(
                write(tmp_path / "i.jsonl", bare(everything)),
                judge="w@latest",
                labels=write(tmp_path / "l.jsonl", labelled),
                home=home,
                api_base=server.base_url,
            )

        paid = server.calls
        from_files = asyncio.run(inside())
        assert server.calls == paid  # the journal has them all
    truth = sum(row["grade"] >= 4 for row in everything) / len(everything)
    assert found.raw.low is not None
    assert found.raw.low > truth  # sure of a wrong number
    assert found.low is not None
    assert found.high is not None
    assert found.low < truth < found.high
    assert found.value == found.corrected.value == found.table.loc["grade", "corrected"]
    assert from_files.aspects == found.aspects
    assert found.labelled == len(labelled)
    assert f"{100 * (found.value or 0):.1f} %" in repr(found)
    assert "<table" in found._repr_html_()
    assert found.refused == ""


def test_estimate_that_labels_cannot_correct_has_no_value_and_says_why(home: Path) -> None:
    everything = rows(40, 5, "z")
    with FakeOpenAI(lenient) as server:
        found = judgec.estimate(
            bare(everything), judge="w@latest", labels=everything[:4], home=home, api_base=server.base_url
        )
    assert found.value is None
    assert "4 labelled items" in found.refused
    assert found.refused in repr(found)
    with pytest.raises(UserError, match="--estimate: refused"):
        found.require()


def test_estimate_that_cannot_be_made_is_refused_before_items_are_read(home: Path) -> None:
    with pytest.raises(UserError, match="mean: not an estimate; accept_rate is one"):
        judgec.estimate("nothing.jsonl", judge="w@1", labels=rows(9, 5, "z"), statistic="mean", home=home)
    with pytest.raises(UserError, match="there is no judge 'v'"):
        judgec.estimate("nothing.jsonl", judge="v", labels=rows(9, 5, "z"), home=home)
