"""Simulations: a stream through keep rule x pull rule, compiled, over many runs in parallel."""

from bestbefore.simulate.explore import Trace, explore, trace
from bestbefore.simulate.table import Table

__all__ = ["Table", "Trace", "explore", "trace"]
