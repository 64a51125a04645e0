"""Short waits: a fault that tests cause costs hundredths of a second, not the back-off that a real service is given.

What is tried again is the same. A test of the waits themselves hands ``Retries()`` in.
"""

from functools import partial

from judgec.lm import client
from judgec.lm.backend import Retries
from judgec.lm.batch import client as batches
from judgec.lm.batch import service


def shorten() -> None:
    """Of this process, and of copies of it."""
    vars(client)["Retries"] = partial(Retries, first_seconds=0.01, most_seconds=0.05)
    vars(batches).update(SETTLE_SECONDS=1.0, FIRST_LOOK=0.05, MOST_LOOK=0.2)
    vars(service).update(FIRST_WAIT=0.01)
