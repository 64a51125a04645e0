"""``judgec --help`` answers at once because every heavy import waits behind its command."""

import json
import subprocess
import sys

HEAVY = {
    "dspy",
    "mlflow",
    "pandas",
    "sklearn",
    "scipy",
    "datasets",
    "matplotlib",
    "pyarrow",
    "litellm",
    "numpy",
}
CPU_SECONDS = 0.3
PROBE = """
import contextlib, io, json, sys, time
start = time.process_time()
from judgec.cli.app import app
with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
    app(["--help"])
used = time.process_time() - start
roots = sorted({name.split(".")[0] for name in sys.modules})
print(json.dumps({"modules": roots, "text": out.getvalue(), "cpu": used}))
"""


def test_help_imports_nothing_heavy_and_is_quick() -> None:
    runs = [
        json.loads(subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    ]
    assert not HEAVY & set(runs[0]["modules"])
    assert "compile-judge" in runs[0]["text"]
    assert min(run["cpu"] for run in runs) < CPU_SECONDS
