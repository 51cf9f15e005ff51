"""What a player's slots and tests are, from what a person says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bestbefore import bounds
from bestbefore.arguments import between, whole
from bestbefore.clock import Length, window_of
from bestbefore.noise import Noise, noise_of
from bestbefore.plan.defaults import PLAY_DELTA, PLAY_KEEP, PLAY_MEMORY, PLAY_PULL, WINDOW
from bestbefore.plan.windows import most_of
from bestbefore.rules import Keep, Pull, keep_rule, pull_rule
from bestbefore.scale import UNIT, scale_of


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
    by_time: bool = False
    most: int | None = None

    @property
    def first(self) -> int:
        """The arrival with which the first epoch begins, for windows by count."""
        return 1 if self.partial else self.window

    def begins(self, number: int, first: int) -> bool:
        """Say whether epochs have begun when an arm arrives, after the first: by time, when that one has expired."""
        return self.partial or number - first + (not self.by_time) >= self.window

    def tests(self, epsilon: float | None = None) -> int:
        """Return by how many pulls each new arm is tested, for `epsilon` or that of the plan: 1, but by `commit`."""
        if not self.pull.tests:
            return 1
        wanted = self.epsilon if epsilon is None else epsilon
        theta = (3 / self.memory if wanted is None else wanted) / 3
        return bounds.pulls_for_noise(theta, bounds.failure(self.most or 1, self.delta), self.noise.sigma)


def plan_play(
    window: Length = WINDOW,
    memory: int | None = None,
    keep: str | Callable[..., Any] = PLAY_KEEP,
    pull: str | Callable[..., Any] = PLAY_PULL,
    *,
    delta: float = PLAY_DELTA,
    carry: bool = True,
    partial: bool = True,
    epsilon: float | None = None,
    sigma: float | None = None,
    most: int | None = None,
    scale: Sequence[float] = UNIT,
) -> PlayPlan:
    """Check what a person has said about spending traffic, and derive the rest.

    >>> plan_play(window=10).memory, plan_play(window=100).memory, plan_play(pull="commit", memory=10).tests()
    (10, 20, 516)
    """
    span, rule = window_of(window), pull_rule(pull)
    most, unit = most_of(span, most), scale_of(scale)
    if rule.tests and most is None:
        raise ValueError(f"most must be given with a window by time and pull={rule.name!r}, not None")
    return PlayPlan(
        keep=keep_rule(keep, to_play=True),
        pull=rule,
        window=span.length,
        by_time=span.by_time,
        most=most,
        memory=min(most or PLAY_MEMORY, PLAY_MEMORY) if memory is None else whole("memory", memory),
        delta=between("delta", delta, 0, 1),
        carry=bool(carry),
        partial=bool(partial),
        epsilon=None if epsilon is None else between("epsilon", epsilon, 0, unit.width, closed="right") / unit.width,
        noise=noise_of(sigma, unit.width),
    )
