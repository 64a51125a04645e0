"""Ctrl-C reaches the tests and the commands that they start, even where the whole run was put into the background.

No property is given a time limit: a busy machine has no reliable clock.
"""

import signal

from hypothesis import HealthCheck, settings

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin with it ignored

settings.register_profile("judgec", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("judgec")
