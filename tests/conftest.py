"""Settings for all tests: hypothesis repeats the same examples each time, and compilation may take its time."""

import os
import signal
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from hypothesis import settings

settings.register_profile(
    "bestbefore",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=int(os.environ.get("BESTBEFORE_EXAMPLES", "50")),
)
settings.load_profile("bestbefore")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # who runs them in the background hands this down
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def compiled_rewards():
    """Give live agents the rewards of the compiled loop, where both pull the same arms in the same order.

    Both draw from generators of the same seed then, and not from tapes, so that rewards are the same number by number.
    """
    from bestbefore.simulate.rewards import total_of
    from bestbefore.simulate.seeds import generators

    class AsCompiled:
        def __init__(self, seed, run):
            self.rng = generators(seed, run)[1]

        def of_block(self, arms):
            for row in range(arms.means.size):
                yield SimpleNamespace(
                    mean=float(arms.means[row]),
                    one=lambda row=row: total_of(arms, row, 1, self.rng),
                    total=lambda pulls, row=row: total_of(arms, row, pulls, self.rng),
                )

    @contextmanager
    def use():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("bestbefore.simulate.drive.Tapes", AsCompiled)
            yield

    return use
