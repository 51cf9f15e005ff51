"""Streams: arms in arrival order, made by a formula, from numbers at hand, or from a file."""

from bestbefore.streams.files import from_csv
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
    "sawtooth",
    "two_level",
    "uniform",
]
