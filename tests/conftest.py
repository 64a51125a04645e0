"""Ctrl-C reaches the tests and the commands that they start, even where the whole run was put into the background."""

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin with it ignored
