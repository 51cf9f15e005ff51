"""Policies of MABWiser: `mabwiser.mab.MAB`.

MABWiser adds and removes arms, so an expired arm leaves no trace.  But a new arm begins with an expectation of 0:
"UCB1" and "EpsilonGreedy" pull it only by chance, or when nothing else is above 0.  With `first=1` the adapter pulls
each new arm once before the policy has a say, which is what a user of MABWiser has to do.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bestbefore.clock import Length
from bestbefore.peers.peer import PeerAgent

NOBODY = "(no arm yet)"
"""A MAB must have an arm from the start: this one leaves when the first arm arrives."""


class MABWiserAgent(PeerAgent):
    """A MAB of MABWiser as an agent.

    Parameters
    ----------
    policy
        Makes a MAB without context from `arms` and `seed`, such as partial(MAB, learning_policy=LearningPolicy.UCB1()).
    remove
        Whether expired arms are removed from the MAB.  With False it keeps them, names them, and pays.
    window, memory, budget, first, seed
        See `PeerAgent`.
    """

    def __init__(
        self,
        policy: Callable[..., Any],
        window: Length,
        memory: int | None = None,
        *,
        remove: bool = True,
        budget: int | None = None,
        first: int = 0,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        if not callable(policy):
            raise ValueError(
                "policy must be a function that makes a MAB from arms and seed, such as "
                f"partial(MAB, learning_policy=LearningPolicy.UCB1()), not {policy!r}"
            )
        super().__init__(partial(_made, policy), window, memory, budget=budget, first=first, seed=seed)
        self.removes, self._fitted = bool(remove), False

    def _add(self, arm: Any) -> None:
        self.peer.add_arm(arm)
        if NOBODY in self.peer.arms:
            self.peer.remove_arm(NOBODY)

    def _remove(self, arm: Any) -> None:
        if self.removes:
            self.peer.remove_arm(arm)

    def _choose(self, arms: list[Any]) -> Any:
        return self.peer.predict() if self._fitted else arms[-1]  # MABWiser predicts only after a first reward

    def _learn(self, arm: Any, reward: float) -> None:
        self.peer.partial_fit([arm], [reward])
        self._fitted = True


def mabwiser(policy: str | Any, *, first: int = 0, remove: bool = True, **settings: Any) -> partial[MABWiserAgent]:
    """Return what makes agents of a learning policy of MABWiser, for our simulations.

    Parameters
    ----------
    policy
        The name of a learning policy, such as "UCB1", or the policy itself, such as LearningPolicy.UCB1(alpha=1).
    first
        How often each new arm is pulled before the policy has a say: "UCB1" may never pull it otherwise.
    remove
        Whether expired arms are removed.
    settings
        What the policy is made with, such as alpha=1.

    Examples
    --------
    >>> agent = mabwiser("UCB1", alpha=1, first=1)(window=5)
    >>> agent.arrive("a"), agent.ask()
    ([], 'a')
    """
    try:
        from mabwiser.mab import MAB, LearningPolicy
    except ModuleNotFoundError:
        raise ModuleNotFoundError("policies of MABWiser need it: pip install 'bestbefore[mabwiser]'") from None
    if isinstance(policy, str):
        known = [name for name in vars(LearningPolicy) if isinstance(vars(LearningPolicy)[name], type)]
        if policy not in known:
            raise ValueError(f"policy must be one of MABWiser's, {', '.join(known)}, not {policy!r}")
        policy = getattr(LearningPolicy, policy)(**settings)
    elif settings:
        raise ValueError(f"settings must be those of a policy named by a string, not {settings!r} for {policy!r}")
    return partial(MABWiserAgent, partial(MAB, learning_policy=policy), first=first, remove=remove)


def _made(policy: Callable[..., Any], seed: int) -> Any:
    mab = policy(arms=[NOBODY], seed=seed)
    if getattr(mab, "is_contextual", False):
        raise ValueError("policy must be one without contexts: arms of a stream have none")
    return mab
