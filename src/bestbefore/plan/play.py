"""What a player's slots and tests are, from what a person says."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bestbefore import bounds
from bestbefore.arguments import between, whole
from bestbefore.noise import Noise, noise_of
from bestbefore.plan.defaults import KEEP, PLAY_DELTA, PLAY_MEMORY, PULL_RULE, WINDOW
from bestbefore.rules import Keep, Pull, keep_rule, pull_rule


@dataclass(frozen=True)
class PlayPlan:
    """The settings of a player, checked, with everything derived that was left open."""

    keep: Keep
    pull: Pull
    window: int
    memory: int
    delta: float
    carry: bool
    partial: bool
    epsilon: float | None
    noise: Noise

    @property
    def first(self) -> int:
        """The arrival with which the first epoch begins."""
        return 1 if self.partial else self.window

    def tests(self, epsilon: float | None = None) -> int:
        """Return by how many pulls each new arm is tested, for `epsilon` or that of the plan: 1, but by `commit`."""
        if not self.pull.tests:
            return 1
        wanted = self.epsilon if epsilon is None else epsilon
        theta = (3 / self.memory if wanted is None else wanted) / 3
        return bounds.pulls_for_noise(theta, bounds.failure(self.window, self.delta), self.noise.sigma)


def plan_play(
    window: int = WINDOW,
    memory: int | None = None,
    keep: str | Callable[..., Any] = KEEP,
    pull: str | Callable[..., Any] = PULL_RULE,
    *,
    delta: float = PLAY_DELTA,
    carry: bool = True,
    partial: bool = True,
    epsilon: float | None = None,
    sigma: float | None = None,
) -> PlayPlan:
    """Check what a person has said about spending traffic, and derive the rest.

    >>> plan_play(window=10).memory, plan_play(window=100).memory, plan_play(pull="commit", memory=10).tests()
    (10, 20, 516)
    """
    window = whole("window", window)
    return PlayPlan(
        keep=keep_rule(keep, to_play=True),
        pull=pull_rule(pull),
        window=window,
        memory=min(window, PLAY_MEMORY) if memory is None else whole("memory", memory),
        delta=between("delta", delta, 0, 1),
        carry=bool(carry),
        partial=bool(partial),
        epsilon=None if epsilon is None else between("epsilon", epsilon, 0, 1, closed="right"),
        noise=noise_of(sigma),
    )
