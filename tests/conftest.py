"""What holds for every test process and the commands that it starts.

Ctrl-C reaches them, even where the whole run was put into the background; and ``judgec`` is on the PATH, as for a user
who has activated the environment, so that the next commands which are printed begin with it.
"""

import os
import signal
import sysconfig

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin with it ignored
os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
