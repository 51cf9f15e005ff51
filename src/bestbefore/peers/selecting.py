"""Any object that can `select` an arm and `update` it with a reward.

>>> class Newest:
...     def select(self, arms):
...         return arms[-1]
...     def update(self, arm, reward):
...         pass
>>> agent = select(Newest)(window=2, budget=1)
>>> agent.arrive("a"), agent.arrive("b"), agent.arrive("c"), agent.ask()
([], [], ['a'], 'c')
"""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bestbefore.clock import Length
from bestbefore.peers.peer import PeerAgent, made_by


class SelectAgent(PeerAgent):
    """An object with `select` and `update` as an agent.

    `select(arms)` is handed the valid arms, oldest first; `select()` is not, and may name an expired one: see
    `PeerAgent`.  `update(arm, reward)` takes a reward.  If the object has `add_arm(arm)` or `remove_arm(arm)`, these
    are called when an arm arrives, and when it has expired or is let go.

    Parameters
    ----------
    policy
        Makes such an object; if it takes a `seed`, it is told one.
    window, memory, budget, first, seed
        See `PeerAgent`.
    """

    def __init__(
        self,
        policy: Callable[..., Any],
        window: Length,
        memory: int | None = None,
        *,
        budget: int | None = None,
        first: int = 0,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        made = partial(made_by, policy, example="the class itself", needed=("select", "update"))
        super().__init__(made, window, memory, budget=budget, first=first, seed=seed)
        self.removes = hasattr(self.peer, "remove_arm")
        self._is_told = bool(inspect.signature(self.peer.select).parameters)

    def _add(self, arm: Any) -> None:
        if hasattr(self.peer, "add_arm"):
            self.peer.add_arm(arm)

    def _remove(self, arm: Any) -> None:
        if self.removes:
            self.peer.remove_arm(arm)

    def _choose(self, arms: list[Any]) -> Any:
        return self.peer.select(arms) if self._is_told else self.peer.select()

    def _learn(self, arm: Any, reward: float) -> None:
        self.peer.update(arm, reward)


def select(policy: Callable[..., Any], *, first: int = 0) -> partial[SelectAgent]:
    """Return what makes agents of a class with `select` and `update`, for our simulations; see `SelectAgent`.

    Parameters
    ----------
    policy
        Makes an object with `select` and `update`.
    first
        How often a new arm is pulled before the policy has a say.
    """
    return partial(SelectAgent, policy, first=first)
