"""Streams: arms in arrival order, made by a formula, from numbers at hand, from a file, or from MovieLens."""

from bestbefore.streams.files import from_csv
from bestbefore.streams.movielens import movielens
from bestbefore.streams.stream import BLOCK, Arms, Stream, as_stream, from_means, from_ratings
from bestbefore.streams.synthetic import beta, constant, decreasing, sawtooth, two_level, uniform

__all__ = [
    "BLOCK",
    "Arms",
    "Stream",
    "as_stream",
    "beta",
    "constant",
    "decreasing",
    "from_csv",
    "from_means",
    "from_ratings",
    "movielens",
    "sawtooth",
    "two_level",
    "uniform",
]
