"""Streams: arms in arrival order, made by a formula, hard by design, from numbers at hand, a file, a log, or
MovieLens.

When arms arrive, for windows by time, is said by `stream.at(...)`, with times or with an arrival process.
"""

from bestbefore.streams.arrivals import Arrivals, bursts, day_and_night, poisson
from bestbefore.streams.files import from_csv
from bestbefore.streams.hard import (
    const,
    dist,
    epoch,
    exact_hard,
    failing_king,
    memory_stairs,
    reduction,
    signal,
    signal_beta,
    signal_prime,
    signal_prime_beta,
)
from bestbefore.streams.log import Log, from_log, read_log
from bestbefore.streams.log_cells import Columns
from bestbefore.streams.movielens_stream import movielens
from bestbefore.streams.stream import BLOCK, Arms, Stream, as_stream, from_means, from_ratings
from bestbefore.streams.synthetic import beta, constant, decreasing, sawtooth, two_level, two_level_spread, uniform

__all__ = [
    "BLOCK",
    "Arms",
    "Arrivals",
    "Columns",
    "Log",
    "Stream",
    "as_stream",
    "beta",
    "bursts",
    "const",
    "constant",
    "day_and_night",
    "decreasing",
    "dist",
    "epoch",
    "exact_hard",
    "failing_king",
    "from_csv",
    "from_log",
    "from_means",
    "from_ratings",
    "memory_stairs",
    "movielens",
    "poisson",
    "read_log",
    "reduction",
    "sawtooth",
    "signal",
    "signal_beta",
    "signal_prime",
    "signal_prime_beta",
    "two_level",
    "two_level_spread",
    "uniform",
]
