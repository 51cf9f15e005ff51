"""Streams: arms in arrival order, made by a formula, hard by design, from numbers at hand, a file, or MovieLens."""

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
from bestbefore.streams.movielens_stream import movielens
from bestbefore.streams.stream import BLOCK, Arms, Stream, as_stream, from_means, from_ratings
from bestbefore.streams.synthetic import beta, constant, decreasing, sawtooth, two_level, two_level_spread, uniform

__all__ = [
    "BLOCK",
    "Arms",
    "Stream",
    "as_stream",
    "beta",
    "const",
    "constant",
    "decreasing",
    "dist",
    "epoch",
    "exact_hard",
    "failing_king",
    "from_csv",
    "from_means",
    "from_ratings",
    "memory_stairs",
    "movielens",
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
