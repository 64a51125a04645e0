"""``judgec --help`` answers at once because every heavy import waits behind its command."""

import json
import subprocess
import sys

from tests.pace import assert_within

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
from judgec.verbs.cli.app import app
with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
    app(["--help"])
used = time.process_time() - start
roots = sorted({name.split(".")[0] for name in sys.modules})
print(json.dumps({"modules": roots, "text": out.getvalue(), "cpu": used}))
"""


def test_help_imports_nothing_heavy_and_is_quick() -> None:
    def run() -> float:
        done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
        said = json.loads(done.stdout)
        assert not HEAVY & set(said["modules"])
        assert "compile-judge" in said["text"]
        return float(said["cpu"])

    assert_within(CPU_SECONDS, run)


def test_play_of_given_answers_starts_without_what_searches_and_tracks() -> None:
    code = "import sys, judgec.verbs.evaluate; print(*sorted({'lancedb', 'mlflow'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
