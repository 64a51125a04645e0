"""What holds for every test process and the commands that it starts.

Ctrl-C reaches them, even where the whole run was put into the background; and ``judgec`` is on the PATH, as for a user
who has activated the environment, so that the next commands which are printed begin with it.
No property is given a time limit: a busy machine has no reliable clock. Properties are tried on the same examples every
time, so that a run on one machine says what a run on another will; ``--hypothesis-profile fresh`` draws new ones
(``make soak`` does).
Modules are compiled once, not by each of the processes, also where a shell forbids it; as many processes run as there
are cores, so none of them spreads a small matrix over several.
And the environment is after each test what it was before: ``mlflow.set_tracking_uri``, for one, writes to it.
"""

import os
import signal
import sys
import sysconfig
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from judgec.connect.tracking import background
from tests import waits
from tests.fake_lm import serving_fake
from tests.verbs.cli.warm import python

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
    *("tests/verbs/cli/test_watch.py", "tests/goldens/test_goldens.py"),
    *("tests/trust/audits/test_injection.py", "tests/docs/test_blocks.py"),
)
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
