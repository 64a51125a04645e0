"""What holds for every test process and the commands that it starts.

Ctrl-C reaches them, even where the whole run was put into the background; and ``judgec`` is on the PATH, as for a user
who has activated the environment, so that the next commands which are printed begin with it.
No property is given a time limit: a busy machine has no reliable clock. Properties are tried on the same examples every
time, so that a run on one machine says what a run on another will; ``--hypothesis-profile fresh`` draws new ones
(``make soak`` does).
Modules are compiled once, not by each of the processes, also where a shell forbids it; as many processes run as there
are cores, so none of them spreads a small matrix over several.
A test's call is billed its processor seconds, its processes' too: a fast one that needs more than five fails, and a
full one that needs more than sixty; the ten dearest are printed at the end of a run.
And the environment is after each test what it was before: ``mlflow.set_tracking_uri``, for one, writes to it.
"""

import os
import signal
import sys
import sysconfig
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings

from judgec.connect.tracking import background
from tests import pace, waits
from tests.fake_lm import serving_fake
from tests.verbs.cli.warm import python, spent_by

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin with it ignored
os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

settings.register_profile("fresh", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("judgec", settings.get_profile("fresh"), derandomize=True)
settings.load_profile("judgec")

LONGEST = (  # files with tests that take minutes, to be begun first
    *("tests/goldens/test_goldens.py", "tests/trust/audits/test_injection.py", "tests/docs/test_blocks.py"),
    "tests/verbs/cli/test_demo.py",  # whose tests share what one worker sets up
)
BILL, MOST_SECONDS = "processor seconds", {"soak": float("inf"), "full": 60.0, "fast": 5.0}
TRACKING_URI = "MLFLOW_TRACKING_URI"
os.environ.pop(TRACKING_URI, None)  # a developer's own store is not for tests
waits.shorten()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest tests at the beginning of each half: two workers begin there, and take from each other's end."""
    first: tuple[list[pytest.Item], ...] = ([], [])
    for number, file in enumerate(LONGEST):
        first[number % 2].extend(item for item in items if item.nodeid.startswith(file))
    others = [item for item in items if not item.nodeid.startswith(LONGEST)]
    middle = max(len(items) // 2 - len(first[0]), 0)
    items[:] = [*first[0], *others[:middle], *first[1], *others[middle:]]


def _spent() -> float:
    """Processor seconds of this process, of those that it has waited for, and of the copies that it had made."""
    file = spent_by(background.PYTHON)
    return sum(os.times()[:4]) + sum(map(float, file.read_text().split() if file.exists() else []))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Bill the call, not what is set up for it: that is shared with other tests."""
    before = _spent()
    try:
        yield
    finally:
        seconds = _spent() - before
        item.user_properties.append((BILL, seconds))
    kind = next((kind for kind in MOST_SECONDS if item.get_closest_marker(kind)), "fast")
    most = MOST_SECONDS[kind]
    if seconds > most and seconds > most * pace.slowest():
        pytest.fail(f"{seconds:.1f} s of a processor; a {kind} test has {most:g}", pytrace=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the ten dearest tests."""
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, ())]
    bills = [(dict(report.user_properties).get(BILL, 0.0), report.nodeid) for report in reports]
    for seconds, test in sorted(bills, reverse=True)[:10]:
        if seconds >= 1:
            terminalreporter.write_line(f"{seconds:6.1f} s of a processor  {test}")


@pytest.fixture(autouse=True, scope="session")
def _libraries_are_imported_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = background.PYTHON
    background.PYTHON = python(tmp_path_factory.getbasetemp())
    yield
    background.PYTHON = before


@pytest.fixture(autouse=True, scope="session")
def _fake_lm_is_there() -> Iterator[None]:
    with serving_fake():
        yield


@pytest.fixture(autouse=True)
def _environment_stays() -> Iterator[None]:
    before = dict(os.environ)
    yield
    if os.environ.get(TRACKING_URI) != before.get(TRACKING_URI) and "mlflow" in sys.modules:
        sys.modules["mlflow"].set_tracking_uri(before.get(TRACKING_URI))
    for name in os.environ.keys() - before.keys() - {"PYTEST_CURRENT_TEST"}:
        del os.environ[name]
    os.environ.update({name: value for name, value in before.items() if os.environ.get(name) != value})
