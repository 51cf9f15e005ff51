"""Policies of river: `river.bandit`.

river's policies are handed the arms to choose from at each pull, so arms may come and go, and an expired arm is never
pulled.  But what a policy learned of an arm stays: there is no verb to remove one, and memory grows with the stream.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np

from bestbefore.clock import Length
from bestbefore.peers.peer import PeerAgent, made_by


class RiverAgent(PeerAgent):
    """A policy of river as an agent.

    Parameters
    ----------
    policy
        Makes a policy without context, such as partial(bandit.UCB, delta=1).  If it takes a `seed`, it is told one.
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
        made = partial(made_by, policy, example="partial(bandit.UCB, delta=1)", needed=("pull", "update"))
        super().__init__(made, window, memory, budget=budget, first=first, seed=seed)

    def _choose(self, arms: list[Any]) -> Any:
        return self.peer.pull(arms)

    def _learn(self, arm: Any, reward: float) -> None:
        self.peer.update(arm, reward)


def river(policy: str | Callable[..., Any], *, first: int = 0, **settings: Any) -> partial[RiverAgent]:
    """Return what makes agents of a policy of river, for our simulations.

    Parameters
    ----------
    policy
        The name of a policy in `river.bandit`, such as "UCB", or the class itself.
    first
        How often each new arm is pulled before the policy has a say; river calls that `burn_in`.
    settings
        What the policy is made with, such as delta=1.

    Examples
    --------
    >>> river("UCB", delta=1)(window=5).arrive("a")
    []
    """
    if isinstance(policy, str):
        try:
            from river import bandit
        except ModuleNotFoundError:
            raise ModuleNotFoundError("policies of river need river: pip install 'bestbefore[river]'") from None
        if policy not in bandit.__all__ or not hasattr(getattr(bandit, policy), "pull"):
            known = [name for name in bandit.__all__ if hasattr(getattr(bandit, name), "pull")]
            raise ValueError(f"policy must be one of river's, {', '.join(known)}, not {policy!r}")
        policy = cast(Callable[..., Any], getattr(bandit, policy))
    return partial(RiverAgent, partial(policy, **settings), first=first)
