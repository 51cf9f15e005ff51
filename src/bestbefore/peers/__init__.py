"""Policies of other libraries as agents with our verbs, and the model as an environment of Gymnasium.

>>> from bestbefore import simulate, streams
>>> class Newest:
...     def select(self, arms):
...         return arms[-1]
...     def update(self, arm, reward):
...         pass
>>> table = simulate.play(streams.uniform(20), window=5, budgets=10, memory=5, keep={"newest": select(Newest)}, runs=1)
>>> table["pulls"].tolist(), table["peak_memory"].tolist()
([200], [5])
"""

from typing import TYPE_CHECKING, Any

from bestbefore.peers.estimating import EstimatorAgent, estimator
from bestbefore.peers.mabwise import MABWiserAgent, mabwiser
from bestbefore.peers.peer import PeerAgent
from bestbefore.peers.rivers import RiverAgent, river
from bestbefore.peers.selecting import SelectAgent, select

if TYPE_CHECKING:
    from bestbefore.peers.environment import StreamEnv

__all__ = [
    "EstimatorAgent",
    "MABWiserAgent",
    "PeerAgent",
    "RiverAgent",
    "SelectAgent",
    "StreamEnv",
    "estimator",
    "mabwiser",
    "river",
    "select",
]


def __getattr__(name: str) -> Any:
    if name == "StreamEnv":
        try:
            import gymnasium  # noqa: F401
        except ModuleNotFoundError:
            raise ModuleNotFoundError("StreamEnv needs Gymnasium: pip install 'bestbefore[gym]'") from None
        from bestbefore.peers.environment import StreamEnv

        return StreamEnv
    raise AttributeError(f"module 'bestbefore.peers' has no attribute {name!r}")
