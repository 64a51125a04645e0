"""A compile to log, with numbers made up for the tests."""

from pathlib import Path

from judgec.connect.tracking.runs import CandidateRun, CompileRun, DatasetInput, ModelVersion
from judgec.records.estimate import Estimate

STARTED = 1_700_000_000.0  # 2023-11-14 22:13:20 UTC


def version_folder(home: Path, number: int) -> Path:
    folder = home / "programs" / "sensors" / f"{number:04d}"
    folder.mkdir(parents=True)
    (folder / "tree.json").write_text(f'{{"version": {number}}}', encoding="utf-8")
    (folder / "card.json").write_text("{}", encoding="utf-8")
    (folder / "program.pkl").write_bytes(b"never sent")
    return folder


def compile_run(home: Path, number: int, tau_b: float, *aliases: str) -> CompileRun:
    """A compile whose compiled judge reached ``tau_b``, begun ``number`` minutes after ``STARTED``."""
    started = STARTED + 60 * number
    return CompileRun(
        name=f"sensors {number:04d}",
        params={"seed": 0, "lm": "embedded", "max cost+tax": None},
        metrics={
            "test.tau_b": Estimate(value=tau_b, low=tau_b - 0.125, high=tau_b + 0.25, p=0.03125, n=90),
            "test.uncompiled.tau_b": Estimate(value=0.25),
            "test.majority.tau_b": Estimate(value=None, note="all grades equal"),
            "games.agent+v2": 17,
        },
        candidates=tuple(
            CandidateRun(
                name=f"candidate {i}",
                params={"demos": i},
                metrics={"dev.tau_b": i / 8},
                started=started + i,
                ended=started + i + 1,
                status="FAILED" if i == 7 else "FINISHED",
            )
            for i in range(8)
        ),
        datasets=tuple(
            DatasetInput(
                name="labels.csv",
                digest="0123456789abcdef" * 4,
                split=split,
                source="labels.csv",
                columns={"query": "string", "grade": "long"},
                n_rows=rows,
            )
            for split, rows in (("train", 150), ("dev", 60), ("test", 90))
        ),
        started=started,
        ended=started + 20,
        artifacts={"report.json": home / "programs" / "sensors" / f"{number:04d}" / "card.json"},
        tags={"judgec.labels": "constructed"},
        version=ModelVersion(
            name="sensors",
            folder=version_folder(home, number),
            aliases=aliases,
            tags={"test.tau_b": str(tau_b), "promoted": "true"},
        ),
        description="Made up for a test.",
    )
