"""Judging without a model, plain and on Ray: items a CPU second, by the clock, memory, from 10,000 items on.

``python -m benchmarks.hundred_million [--sizes 10000,100000,1000000] [--workers 2] [--shard 50000] [--folder DIR]``, in
the project's root, writes ``hundred_million.md``. clapnq's items, each with a question of its own; a judge of evidence
alone. Both engines run as commands; a CPU second is that of the process and all that it waits for, and on Ray what the
manifests say.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from benchmarks import judging_world as world
from benchmarks.figures import measured_on, table
from judgec.labels.labels import read_labels

PAGE = Path(__file__).with_suffix(".md")
COMPILED = "evidence"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--shard", type=int, default=50_000, help="items of a shard, at most a fourth of all")
    parser.add_argument("--folder", help="where large files go; 6 GB for a million items")
    options = parser.parse_args()
    load, rows = os.getloadavg()[0], []
    for row in measured(options):
        print(*row, flush=True)
        rows.append(row)
    header = ("items", "engine", "seconds", "items/s", "items a CPU second", "peak MB of a process")
    about = (
        f"`judgec judge` of a judge of evidence alone, {options.workers} workers, clapnq items. On Ray the CPU seconds "
        "are those of the shards in their workers, without the start of the cluster; the peak is the largest worker's."
    )
    title = "# A hundred million: evidence alone, plain and on Ray"
    lines = [title, "", "Written by `python -m benchmarks.hundred_million`."]
    PAGE.write_text("\n".join([*lines, "", about, "", *table(header, rows), "", measured_on(load), ""]))


def measured(options: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    sizes = sorted(int(size) for size in options.sizes.split(","))
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        home = Path(folder)
        run(home, "compile-judge", str(world.LABELS), "--name", COMPILED)
        items = read_labels(str(world.LABELS)).items
        whole = home / "items.jsonl"
        world.write_items(whole, items, sizes[-1])
        for size in sizes:
            file = home / f"{size}.jsonl"
            with whole.open("rb") as every, file.open("wb") as some:
                some.writelines(islice(every, size))
            yield plain(home, file, size, options.workers)
            yield on_ray(home, file, size, options)
            file.unlink()


def plain(home: Path, file: Path, size: int, workers: int) -> tuple[str, ...]:
    """``judge FILE --workers N``; nothing is in the journal."""
    shutil.rmtree(home / ".judgec", ignore_errors=True)
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    judge(home, file, home / "out.jsonl", "--workers", str(workers))
    seconds = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (f"{size:,}", "plain", *figures(size, seconds, cpu), f"{after.ru_maxrss / 1024:,.0f}")


def on_ray(home: Path, file: Path, size: int, options: argparse.Namespace) -> tuple[str, ...]:
    """``judge FOLDER --engine ray``; its rows must be those of the plain engine."""
    source, out = home / "items", home / "judged"
    for path in (source, out):
        shutil.rmtree(path, ignore_errors=True)
    source.mkdir()
    each = min(options.shard, max(1, size // (2 * options.workers)))
    with file.open("rb") as lines:
        number = 0
        while some := list(islice(lines, each)):
            (source / f"part-{number:06}.jsonl").write_bytes(b"".join(some))
            number += 1
    begun = time.perf_counter()
    judge(home, source, out, "--engine", "ray", "--workers", str(options.workers))
    seconds = time.perf_counter() - begun
    manifests = [json.loads(path.read_text())["counts"] for path in (out / "_manifests").iterdir()]
    with (home / "out.jsonl").open("rb") as expected:
        for path in sorted(out.glob("part-*")):
            assert path.read_bytes() == expected.read(path.stat().st_size), path
    cpu = sum(counts["cpu_seconds"] for counts in manifests)
    return (f"{size:,}", "ray", *figures(size, seconds, cpu), f"{max(counts['peak_mb'] for counts in manifests):,.0f}")


def figures(size: int, seconds: float, cpu: float) -> tuple[str, str, str]:
    return f"{seconds:,.1f}", f"{size / seconds:,.0f}", f"{size / cpu:,.0f}"


def judge(home: Path, file: Path, out: Path, *more: str) -> None:
    run(home, "judge", str(file), "--judge", f"{COMPILED}@latest", "--out", str(out), *more)


def run(home: Path, *typed: str) -> None:
    command = [sys.executable, "cli.py", *typed, "--home", str(home), "--json"]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()
