"""Commands in processes that are forked from one which has imported the libraries already.

A command of judgec imports for up to 4 s of a core. One process of each test worker does that once; each command is a
copy of it with its own folder, environment, arguments, output and exit code, which then runs ``cli.py`` as Python
would. What differs from a process of its own: it did not import what the command needs. That a command finds its
imports alone is shown where commands are started from a shell: tests/docs runs those of every document.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
IMPORTED = (
    *("scipy.stats", "pandas", "pyarrow.parquet", "sklearn.linear_model", "sklearn.ensemble", "aiohttp", "dspy"),
    *("judgec.cli.app", "judgec.compiler.compile", "judgec.judges.judge", "judgec.api.judge_file"),
    *("judgec.api.compilation", "judgec.api.evaluate", "matplotlib.backends.backend_agg"),
)
STARTS_THREADS = {"lancedb", "mlflow"}  # which a copy would not have


@dataclass
class Warm:
    """The process that is copied; started by the first command, ended with the tests."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    server: "subprocess.Popen[str] | None" = None

    def run(
        self, folder: Path, arguments: Sequence[str], environment: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """What ``subprocess.run`` of ``python cli.py ARGUMENTS`` returns."""
        with self.lock, TemporaryDirectory() as kept:
            out, error = Path(kept) / "out", Path(kept) / "error"
            command = [str(ROOT / "cli.py"), *arguments]
            asked = {"folder": str(folder), "environment": dict(environment), "timeout": timeout, "command": command}
            code = self._ask(asked | {"out": str(out), "error": str(error)})
            said = [path.read_bytes().decode().replace("\r\n", "\n") for path in (out, error)]
        return subprocess.CompletedProcess([sys.executable, *command], code, *said)

    def _ask(self, asked: Mapping[str, object]) -> int:
        if self.server is None or self.server.poll() is not None:
            self.server = subprocess.Popen(
                [sys.executable, "-m", __name__], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            atexit.register(self._end, self.server)
        assert self.server is not None
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write(json.dumps(asked) + "\n")
        self.server.stdin.flush()
        ended: dict[str, int] = json.loads(self.server.stdout.readline())
        assert "code" in ended, f"{asked['command']}: not ended after {asked['timeout']} s"
        return ended["code"]

    @staticmethod
    def _end(server: "subprocess.Popen[str]") -> None:
        with server:  # closes its pipes, which ends it
            pass


def serve() -> list[str]:
    """Fork a process for each line of stdin; returns the arguments, in the copy only."""
    for name in IMPORTED:
        importlib.import_module(name)
    assert not STARTS_THREADS & sys.modules.keys()
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            return _become(asked)
        print(json.dumps(_ended(child, asked["timeout"])), flush=True)
    sys.exit(0)


def _ended(child: int, timeout: float) -> dict[str, int]:
    late = threading.Timer(timeout, os.kill, (child, signal.SIGKILL))
    late.start()
    _, status = os.waitpid(child, 0)
    late.cancel()
    late.join()  # so that the next copy is made of one thread
    code = os.waitstatus_to_exitcode(status)
    return {} if code == -signal.SIGKILL else {"code": code}


def _become(asked: Mapping[str, object]) -> list[str]:
    os.chdir(str(asked["folder"]))
    os.environ.clear()
    os.environ.update(asked["environment"])  # type: ignore[call-overload]  # as the client wrote it
    for number, name in enumerate((os.devnull, asked["out"], asked["error"])):
        opened = os.open(str(name), os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = os.fdopen(0, closefd=False, encoding="utf-8")
    sys.stdout = os.fdopen(1, "w", closefd=False, encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", 1, closefd=False, encoding="utf-8", errors="backslashreplace")
    return [str(argument) for argument in asked["command"]]  # type: ignore[attr-defined]  # a list


WARM = Warm()

if __name__ == "__main__":
    sys.argv = serve()
    sys.path[0] = str(ROOT)
    runpy.run_path(sys.argv[0], run_name="__main__")
