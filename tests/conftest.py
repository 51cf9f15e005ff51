"""Settings for all tests: hypothesis repeats the same examples each time, and compilation may take its time."""

from hypothesis import settings

settings.register_profile("bestbefore", deadline=None, derandomize=True, database=None)
settings.load_profile("bestbefore")
