"""Shards judged one by one: as the whole file would be, each counted once, faults with their place."""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from judgec.errors import BudgetError, InputError, UserError
from judgec.lm.watch import Silent
from judgec.table.shards.manifest import ShardManifest
from judgec.table.shards.place import Found, ShardPlace
from judgec.verbs.judge_file import judge_file, judges_of
from judgec.verbs.judge_shards import _Fault, _ShardJob, _ShardWork, judge_shard, judge_shards, sharded
from judgec.verbs.options.judge import JudgeFileOptions
from tests.service.fake_openai import FakeOpenAI
from tests.verbs.cli.judging import KEY, request, save_judge, write_items


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def work_on(home: Path, url: str | None) -> _ShardWork:
    options = replace(request(home, home / "items", url), out=home / "out")
    return _ShardWork(tuple(judges_of(options)), options, str(home / "items"), str(home / "out"), None)


def job(home: Path, name: str) -> _ShardJob:
    return _ShardJob(Found(name, (home / "items" / name).stat().st_size, 0), "key")


def test_a_shard_is_judged_as_its_file_and_its_replies_are_never_paid_again(tmp_path: Path) -> None:
    (tmp_path / "items").mkdir()
    file = write_items(tmp_path / "items" / "part-0.jsonl", 20)
    save_judge(tmp_path)
    with FakeOpenAI("good") as server:
        judge_file.run(request(tmp_path, file, server.base_url), Silent())
        work, before = work_on(tmp_path, server.base_url), server.calls
        manifest = judge_shard(work, job(tmp_path, "part-0.jsonl"))
        assert isinstance(manifest, ShardManifest)
        asked = server.calls - before
        (tmp_path / "out" / "part-0.jsonl").unlink()
        again = judge_shard(work, job(tmp_path, "part-0.jsonl"))
        assert (asked, server.calls - before) == (21, 21)
    assert isinstance(again, ShardManifest)
    assert (again.sha256, again.counts["lm_calls"], again.counts["journaled"]) == (manifest.sha256, 0, 21)
    assert (tmp_path / "out" / "part-0.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()
    assert ShardManifest.read(ShardPlace(work.target), "part-0.jsonl") == again
    assert KEY not in "".join(path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file())


def test_a_parquet_shard_gives_a_parquet_shard(tmp_path: Path) -> None:
    import pyarrow as pa

    (tmp_path / "items").mkdir()
    rows = [json.loads(line) for line in write_items(tmp_path / "items.jsonl", 3).read_text().splitlines()]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "items" / "part.parquet")
    save_judge(tmp_path)
    with FakeOpenAI("good") as server:
        manifest = judge_shard(work_on(tmp_path, server.base_url), job(tmp_path, "part.parquet"))
    assert isinstance(manifest, ShardManifest)
    written = pq.read_table(tmp_path / "out" / "part.parquet").to_pylist()
    assert [row["item_id"] for row in written] == ["i0", "i1", "i2"]
    assert all(row["grade"] is not None for row in written)


def test_faults_of_a_shard_name_the_shard_and_leave_no_manifest(tmp_path: Path) -> None:
    (tmp_path / "items").mkdir()
    (tmp_path / "items" / "part.jsonl").write_text('{"query": "q", "answer": "a"}\n{"query": \n')
    save_judge(tmp_path)
    fault = judge_shard(work_on(tmp_path, None), job(tmp_path, "part.jsonl"))
    assert isinstance(fault, _Fault)
    assert fault.kind is InputError
    assert fault.lines[0].startswith(f"{tmp_path}/items/part.jsonl:2: ")
    assert not (tmp_path / "out" / "_manifests").exists()


def test_what_are_shards_is_told_from_files_and_data_sets(tmp_path: Path) -> None:
    file = write_items(tmp_path / "items.jsonl", 1)
    save_judge(tmp_path)
    options = JudgeFileOptions(file=str(tmp_path), judge="mine", home=tmp_path)
    ray = replace(options, engine="ray")
    for shards in (options, ray, replace(options, file=f"{tmp_path}/*.jsonl"), replace(options, file="s3://a/items")):
        assert sharded(shards)
    for table in (str(file), f"{tmp_path}/f.xlsx#A[1]", "hf:a/b@train[:9]", "mlflow:a", f"{tmp_path}/none"):
        assert not sharded(replace(options, file=table))
    assert not sharded(replace(options, out=tmp_path / "one.parquet"))  # the rows of all files, in one
    with pytest.raises(UserError, match=r"a pattern; the judged shards need a folder\. Name it with --out"):
        judge_shards.run(JudgeFileOptions(file=f"{tmp_path}/*.jsonl", judge="mine", home=tmp_path), Silent())
    with pytest.raises(UserError, match="the shards to judge; judged ones would replace them"):
        judge_shards.run(replace(options, out=tmp_path), Silent())
    with pytest.raises(UserError, match=r"judgec\.judge_shards judges them"):
        judge_file.run(ray, Silent())
    (tmp_path / "labels.jsonl").touch()
    assert not sharded(options)
    assert sharded(ray)


def test_a_folder_is_judged_file_after_file_here_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    (tmp_path / "items" / "b").mkdir(parents=True)
    parts = {name: tmp_path / "items" / name for name in ("part-0.jsonl", "b/part-1.jsonl")}
    rows = write_items(tmp_path / "all.jsonl", 40).read_text().splitlines(keepends=True)
    for (_, path), half in zip(parts.items(), (rows[:20], rows[20:]), strict=True):
        path.write_text("".join(half))
    save_judge(tmp_path)
    with FakeOpenAI("good") as server:
        options = replace(request(tmp_path, tmp_path / "items", server.base_url), out=tmp_path / "out", in_flight=2)
        with pytest.raises(BudgetError, match="1 of 2 shards are judged"):
            judge_shards.run(replace(options, budget=30), Silent())
        assert 21 <= server.calls <= 30
        written = {one: one.stat().st_mtime_ns for one in (tmp_path / "out").rglob("part-*.jsonl")}
        done = judge_shards.run(options, Silent())
        assert len(written) == 1
        assert all(one.stat().st_mtime_ns == changed for one, changed in written.items())
        assert (done.tally.items, done.unscored) == (40, 0)
        assert done.report["shards"] == {"total": 2, "judged_before": 1}
        calls = server.calls
        assert judge_shards.run(options, Silent()).report["shards"] == {"total": 2, "judged_before": 2}
        for name, path in parts.items():
            judge_file.run(replace(options, file=str(path), out=tmp_path / "o.jsonl"), Silent())
            assert (tmp_path / "o.jsonl").read_bytes() == (tmp_path / "out" / name).read_bytes()
        assert server.calls == calls  # the journal is the home's: nothing is paid again
        assert not (tmp_path / "out" / "_replies").exists()
