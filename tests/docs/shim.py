"""``judgec`` and ``make`` as the documents call them, inside a test.

``judgec`` is this checkout's; with FAKE_OPENAI set, commands that ask a model are sent there. A command that serves a
page is stopped once the page is up. ``make TARGET`` says what it would do, so that the target exists.
The first command of each name in a run of tests is a Python that has imported nothing; WARM_PYTHON runs the others
(``tests/verbs/cli/warm.py``), and a file in STARTED says that the first one was.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
ASKS = {"doctor", "compile-judge", "judge", "evaluate", "audit", "compile-agent", "answer", "generate-queries"}


def main() -> int:
    name, *arguments = sys.argv[1:]
    if name == "make":
        real = shutil.which("make", path=os.environ["REAL_PATH"])  # not this one again
        assert real is not None
        return subprocess.run([real, "-n", *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, check=False).returncode
    server = os.environ.get("FAKE_OPENAI")
    recorded = any(one.startswith("recorded:") for one in arguments)
    if server and arguments[0] in ASKS and "embedded" not in arguments and not recorded:
        arguments += ["--api-base", server]
    command = [sys.executable, str(ROOT / "cli.py"), *arguments]
    if arguments[0] == "ui":
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            command += ["--port", str(free.getsockname()[1])]
    if arguments[0] != "ui" and arguments[:2] != ["labels", "review"]:
        started = Path(os.environ["STARTED"], arguments[0])
        if started.exists():
            command[0] = os.environ["WARM_PYTHON"]
        started.parent.mkdir(exist_ok=True)
        started.touch()
        return subprocess.run(command, check=False).returncode
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        up = any("http://127.0.0.1" in line for line in process.stdout)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
    return 0 if up else 1


if __name__ == "__main__":
    sys.exit(main())
