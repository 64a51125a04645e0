"""``judgec judge`` on items that are all known: items a second, and what memory does from 10,000 to a million."""

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks import judging_world as world
from benchmarks.figures import table
from judgec.evidence.model import EvidenceModel
from judgec.evidence.text import library_of
from judgec.labels.bulk.items import open_items
from judgec.labels.labels import read_labels
from judgec.lm.journal.facts import Facts
from judgec.lm.journal.journal import Journal
from judgec.raters.piece import pieces_of
from judgec.records.label import Item

FEATURES = "all features of the evidence"

# The real command, with its own clock and memory beside the counts.
MEASURED = """
import re, sys, time
from dataclasses import replace
from pathlib import Path
from judgec.verbs import judge_file
from judgec.verbs.cli.app import main
inner = judge_file.judged
def judged(options, watch):
    begun, used = time.perf_counter(), time.process_time()
    found = inner(options, watch)
    taken = {"seconds": time.perf_counter() - begun, "cpu": time.process_time() - used}
    high = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())  # ru_maxrss begins with the parent's
    return replace(found, report={**found.report, **taken, "peak_mb": int(high.group(1)) / 1024})
judge_file.judged = judged
sys.argv[0] = "judgec"
main()
"""


def first_pass(options: argparse.Namespace) -> Iterator[str]:
    """New items: read, asked of an endpoint without latency, all features, written."""
    count, rates = options.items, []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder, world.server() as url:
        home = Path(folder)
        items, _ = world.make_judge(home)
        for repeat in range(options.repeats):
            file = home / f"{repeat}.jsonl"
            world.write_items(file, items, count, first=repeat * count)
            _, counts = _judge(home, file, url)
            assert (counts["items"], counts["unscored"]) == (count, 0), counts
            assert counts["lm_calls"] >= count, counts
            rates.append((count / counts["cpu"], count / counts["seconds"]))
    by_cpu, by_clock = (sorted(column)[len(column) // 2] for column in zip(*rates, strict=True))
    yield f"{count} new clapnq items a repeat, {FEATURES}, verdicts from an endpoint without latency; medians."
    yield ""
    yield from table(("", "judgments/s"), [("a CPU second", f"{by_cpu:,.0f}"), ("by the clock", f"{by_clock:,.0f}")])


def evidence(options: argparse.Namespace) -> Iterator[str]:
    """Features and parts of clapnq's items alone, in this process: of new texts, and of texts that come again."""
    labels, rows = read_labels(str(world.LABELS)), []
    model = EvidenceModel.fit(labels.items, labels.task)
    gc.freeze()  # as judgec judge does
    for what, forget in (("new texts", True), ("texts that were read before", False)):
        taken = []
        for _ in range(1 + 3 * options.repeats):
            if forget:
                library_of.cache_clear()
            begun = time.process_time()
            model.observe(labels.items)
            taken.append(time.process_time() - begun)
        rates = sorted(len(labels.items) / seconds for seconds in taken[1:])
        rows.append((what, f"{rates[len(rates) // 2]:,.0f}", f"{rates[-1]:,.0f}"))
    yield f"{len(labels.items)} clapnq items, {len(model.names)} features with the parts of reasons, one process."
    yield ""
    yield from table(("", "items a CPU second, median", "best"), rows)


def from_journal(options: argparse.Namespace) -> Iterator[str]:
    """Read, looked up, calibrated, written; nothing is asked."""
    sizes = sorted(int(size) for size in options.sizes.split(","))
    rows = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder, world.server() as url:
        home = Path(folder)
        items, _ = world.make_judge(home)
        whole = home / "items.jsonl"
        world.write_items(whole, items, sizes[-1])
        _fill(home, whole, items, url)
        for size in sizes:
            part = home / f"{size}.jsonl"
            with whole.open("rb") as every, part.open("wb") as some:
                some.writelines(next(every) for _ in range(size))
            rows.append(_row(f"{size:,}", size, *_judge(home, part, url), calls=0))
            part.unlink()
        size, texts = sizes[0], len(items)
        world.write_items(whole, items, size, first=sizes[-1], texts=texts)
        facts = _facts(home)
        for turn, calls in (("first", texts), ("second", 0)):
            rows.append(
                _row(f"{size:,} of {texts} new texts, {turn} pass", size, *_judge(home, whole, url), calls=calls)
            )
        kept = _facts(home) - facts
    yield f"`judgec judge` in a process of its own on clapnq items, {FEATURES}."
    yield f"Of the {texts} texts that come again, the journal holds {kept} facts: verdicts and features."
    yield ""
    yield from table(("items", "seconds", "items/s", "without start-up", "a CPU second", "peak MB"), rows)


def _row(name: str, size: int, seconds: float, counts: Mapping[str, float], *, calls: int) -> tuple[str, ...]:
    assert (counts["lm_calls"], counts["unscored"]) == (calls, 0), counts
    assert calls or counts["journaled"] == size + 1, counts  # one to see whether somebody is there
    rates = (size / seconds, size / counts["seconds"], size / counts["cpu"], counts["peak_mb"])
    return name, f"{seconds:,.1f}", *(f"{rate:,.0f}" for rate in rates)


def _facts(home: Path) -> int:
    with Journal(home / ".judgec" / "journal.db") as journal:
        return int(journal.select("SELECT COUNT(*) FROM facts")[0][0])


def _judge(home: Path, file: Path, url: str) -> tuple[float, dict[str, float]]:
    command = [sys.executable, "-c", MEASURED, "judge", str(file), "--judge", world.NAME]
    command += ["--out", str(home / "out.jsonl"), "--home", str(home), "--api-base", url, "--json"]
    begun = time.perf_counter()
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ)
    return time.perf_counter() - begun, json.loads(ran.stdout)


def _fill(home: Path, whole: Path, items: Sequence[Item], url: str) -> None:
    """Judge each of clapnq's items, then give its copies the same verdict and features: hours of both are saved."""
    first = home / "first.jsonl"
    world.write_items(first, items, len(items))
    world.run(world.request(home, first, url))
    known = [digest for piece in pieces_of(open_items(str(first), task="grade").items) for digest in piece.digests]
    with Journal(home / ".judgec" / "journal.db") as journal:
        for digest, kind, name in journal.select("SELECT digest, kind, name FROM owners"):
            facts = Facts(journal, kind, digest, name)
            found = facts.get_many(known)
            values = [found[one] for one in known]
            number = 0
            for piece in pieces_of(open_items(str(whole), task="grade").items):
                rows = [(one, values[n % len(values)]) for n, one in enumerate(piece.digests, number)]
                facts.put_many(rows[max(0, len(values) - number) :])
                number += len(rows)
