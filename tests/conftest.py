"""Settings for all tests: hypothesis repeats the same examples each time, and compilation may take its time."""

import signal

from hypothesis import settings

settings.register_profile("bestbefore", deadline=None, derandomize=True, database=None)
settings.load_profile("bestbefore")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # who runs them in the background hands this down
    signal.signal(signal.SIGINT, signal.default_int_handler)
