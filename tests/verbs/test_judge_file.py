"""``judgec.judge_file``: rows in, the same rows with judgments out, and a result that says how it went."""

import asyncio
from pathlib import Path

import pytest

import judgec
from judgec.errors import UserError
from judgec.lm.executor import Progress
from tests.service.fake_openai import FakeOpenAI
from tests.verbs.cli.judging import KEY, save_judge, write_items


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


class Told:
    """A watch that keeps what it is told."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.last: Progress | None = None

    def stage(self, name: str, detail: str = "") -> None:
        self.stages.append(f"{name} {detail}")

    def note(self, text: str) -> None:
        raise AssertionError(text)

    def waiting(self, text: str) -> None:
        raise AssertionError(text)

    def progress(self, progress: Progress) -> None:
        self.last = progress


def test_judge_file_writes_the_rows_and_returns_what_was_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_judge(tmp_path)
    file, out, told = write_items(tmp_path / "items.jsonl", 30), tmp_path / "out.csv", Told()
    with FakeOpenAI("good") as server:
        found = judgec.judge_file(
            file, judge="mine", out=str(out), home=str(tmp_path), api_base=server.base_url, progress=told
        )
    frame = found.frame()
    assert found.judges == ("mine@1",)
    assert frame["item_id"].tolist() == [f"i{n}" for n in range(30)]
    (counts,) = found.table.astype(int).to_dict("records")
    accepted, rejected = counts["accepted"], counts["rejected"]
    assert (accepted, rejected) == (found.report["accepted"], found.report["rejected"])
    assert accepted + rejected + found.unscored == 30
    assert found.verdict == f"30 items: {accepted} accepted, {rejected} rejected; 0 unscored"
    assert repr(found) == f"<FileJudgments {out} by mine@1: {found.verdict}>"
    assert "<table" in found._repr_html_()
    assert [stage.split()[0] for stage in told.stages] == ["judge", "items"]
    assert told.last is not None
    assert told.last.total == 30
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "")


def test_judge_file_of_a_jury_takes_names_inside_a_running_event_loop(tmp_path: Path) -> None:
    save_judge(tmp_path)
    save_judge(tmp_path, "other", instructions="Be strict.")
    file = write_items(tmp_path / "items.jsonl", 8)

    async def inside(url: str) -> judgec.FileJudgments:
        return judgec.judge_file(
            file, jury=["mine", "other"], out=tmp_path / "o.jsonl", home=tmp_path, api_base=url, columns={}
        )

    with FakeOpenAI("good") as server:
        found = asyncio.run(inside(server.base_url))
    assert found.judges == ("mine@1", "other@1")
    assert found.report["judge"] is None
    assert str(found.report["unproven"]).startswith("no label measured this jury (mine@1, other@1)")  # as evaluate says
    assert found.frame()["unproven"].tolist() == [True] * 8


def test_judge_file_says_what_is_valid(tmp_path: Path) -> None:
    save_judge(tmp_path)
    file, out = write_items(tmp_path / "items.jsonl", 3), tmp_path / "o.jsonl"
    for jury in ([], ["mine", "other"]):
        with pytest.raises(UserError, match="one of --judge NAME and --jury"):
            judgec.judge_file(file, judge="mine" if jury else None, jury=jury, out=out, home=tmp_path)
    with pytest.raises(UserError, match=r"judge_file: samples=0; a number of at least 1 is valid"):
        judgec.judge_file(file, judge="mine", out=out, home=tmp_path, samples=0)
