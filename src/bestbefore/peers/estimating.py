"""Any estimator in the manner of scikit-learn: it predicts an arm's mean from its features.

The arm of the highest prediction is pulled, or any arm at random with probability `explore`: an estimator says nothing
of how sure it is.  New arms are pulled once before they are predicted, unless `first` says otherwise.

With `fit`, the estimator is fitted anew after each `every` rewards, to the means of the arms stored, weighted by their
pulls if `fit` takes a `sample_weight`: what is not stored has no trace in it.  With `partial=True` it
learns by `partial_fit`, each reward as it comes.  Then what it learned of expired arms stays in its weights: a good
thing if their features say something of new arms, a bad one if they do not.
"""

import inspect
from collections.abc import Callable, Sequence
from functools import partial as bound
from typing import Any

import numpy as np

from bestbefore.arguments import between, whole
from bestbefore.clock import Length
from bestbefore.peers.peer import PeerAgent, made_by

Features = Callable[[Any], Sequence[float]]
"""Returns the features of an arm, by its name."""


class EstimatorAgent(PeerAgent):
    """An estimator with `fit` or `partial_fit`, and `predict`, as an agent.

    Parameters
    ----------
    policy
        Makes an estimator, such as the class `Ridge` of scikit-learn.
    features
        Returns the features of an arm, by its name.  Unless given, arms have nothing in common: each has a coordinate
        of its own, which an arm that comes `memory` arrivals later takes over.
    explore
        The probability of pulling an arm at random.
    every
        Fit again after so many rewards.
    partial
        Learn by `partial_fit`, reward by reward.
    window, memory, budget, first, seed
        See `PeerAgent`.
    """

    def __init__(
        self,
        policy: Callable[..., Any],
        window: Length,
        memory: int | None = None,
        *,
        features: Features | None = None,
        explore: float = 0.1,
        every: int = 1,
        partial: bool = False,
        budget: int | None = None,
        first: int = 1,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        made = bound(
            made_by, policy, example="the class Ridge", needed=("partial_fit" if partial else "fit", "predict")
        )
        super().__init__(made, window, memory, budget=budget, first=first, seed=seed)
        self.explore = between("explore", explore, 0, 1, closed="both")
        self.every, self.partial = whole("every", every), bool(partial)
        self.removes = not self.partial
        self._features = features
        self._weighted = not self.partial and "sample_weight" in inspect.signature(self.peer.fit).parameters
        self._places: dict[Any, int] = {}
        self._arrived = self._news = 0
        self._fitted = False

    def state(self) -> dict[str, Any]:
        """Raise: features are a function, which JSON cannot hold."""
        raise ValueError("an agent with an estimator cannot be saved: its features are a function")

    def _add(self, arm: Any) -> None:
        self._places[arm] = self._arrived % self.memory
        self._arrived += 1

    def _remove(self, arm: Any) -> None:
        del self._places[arm]

    def _rows(self, arms: list[Any]) -> Any:
        if self._features is not None:
            return np.array([self._features(arm) for arm in arms], float)
        return np.eye(self.memory)[[self._places[arm] for arm in arms]]

    def _choose(self, arms: list[Any]) -> Any:
        if self._rng.random() < self.explore:
            return arms[int(self._rng.integers(len(arms)))]
        if self._news >= self.every or not self._fitted:
            self._fit()
        return arms[int(np.argmax(self.peer.predict(self._rows(arms))))] if self._fitted else arms[-1]

    def _learn(self, arm: Any, reward: float) -> None:
        self._news += 1
        if self.partial:
            self.peer.partial_fit(self._rows([arm]), np.array([reward]))
            self._fitted = True

    def _fit(self) -> None:
        """Fit to the means of the arms stored."""
        known = {arm: (pulls, total / pulls) for arm, (_, pulls, total, _) in self._arms.items() if pulls}
        if self.partial or not known:
            return
        pulls, means = map(np.array, zip(*known.values(), strict=True))
        weights = {"sample_weight": pulls} if self._weighted else {}
        self.peer.fit(self._rows(list(known)), means, **weights)
        self._fitted, self._news = True, 0


def estimator(
    policy: Callable[..., Any],
    *,
    features: Features | None = None,
    explore: float = 0.1,
    every: int = 1,
    partial: bool = False,
    first: int = 1,
) -> "bound[EstimatorAgent]":
    """Return what makes agents of an estimator, for our simulations; see `EstimatorAgent`.

    Parameters
    ----------
    policy
        Makes an estimator, such as the class `Ridge` of scikit-learn.
    features
        What an arm looks like, as numbers; unless given, each arm has a column of its own.
    explore
        The probability of a random arm.
    every
        After how many rewards to fit anew.
    partial
        Whether to use `partial_fit`.
    first
        How often a new arm is pulled before the estimator has a say.
    """
    settings: dict[str, Any] = {"features": features, "explore": explore, "every": every, "partial": partial}
    return bound(EstimatorAgent, policy, first=first, **settings)
