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

LONGEST = (
    "paper/test_published.py",
    "agents/test_certifier.py",
    "streams/test_movielens.py",
    "test_own.py",
    "paper/test_theorems.py",
    "test_docs.py",
    "agents/test_explorer.py",
    "test_mutants.py",
    "cli/test_cli.py",
    "paper/test_reproduce.py",
    "paper/test_reduction.py",
    "test_contributing.py",
    "agents/test_by_time.py",
)
"""The files that take longest, most of it compiling: they come first, and neighbours compile other rules.

So two workers seldom compile the same thing at the same time, and none is left alone with a long file in the end.
"""


def pytest_configure(config):
    """Let workers take files in the order that is given here, not by how many tests they have."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Put the files that take longest first."""
    ranks = {config.rootpath / "tests" / name: rank for rank, name in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(item.path, len(LONGEST)))


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
