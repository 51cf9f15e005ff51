"""What a seeker's strategy, slots and tests are, from what a person says."""

from collections.abc import Sequence
from dataclasses import dataclass

from bestbefore import bounds
from bestbefore.arguments import between, one_of, whole
from bestbefore.clock import Length, window_of
from bestbefore.noise import Noise, noise_of
from bestbefore.plan.defaults import PLAY_DELTA, SEEK_PULL, WINDOW
from bestbefore.rules import INDEXED, PULL, STRATEGY, Pull, Strategy, strategies_of
from bestbefore.scale import UNIT, scale_of


@dataclass(frozen=True)
class SeekPlan:
    """The settings of a seeker, checked, with everything derived that was left open."""

    strategy: Strategy
    pull: Pull
    window: int
    memory: int
    budget: int | None
    arms: int | None
    tests: int
    delta: float
    noise: Noise
    by_time: bool = False

    @property
    def flag(self) -> str:
        """Whether it can be known that an arm has outlived its window."""
        return self.strategy.flag


def plan_seek(
    window: Length = WINDOW,
    memory: int | None = None,
    flag: str = "explicit",
    strategy: str | None = None,
    *,
    budget: int | None = None,
    arms: int | None = None,
    tests: int | None = None,
    pull: str = SEEK_PULL,
    delta: float = PLAY_DELTA,
    sigma: float | None = None,
    scale: Sequence[float] = UNIT,
) -> SeekPlan:
    """Check what a person has said about the arm that never expires, and derive the rest.

    >>> plan_seek(window=10).strategy.name, plan_seek(window=10, memory=4).strategy.name
    ('wait', 'race')
    >>> plan_seek(budget=10**6, arms=1000).tests
    100
    """
    span = window_of(window)
    if span.by_time and memory is None:
        raise ValueError("memory must be given with a window by time, not None: it is not known how many arms it holds")
    slots = span.length if memory is None else whole("memory", memory)
    allowed = strategies_of(flag)
    if strategy is None:
        strategy = "weigh" if flag == "implicit" else "wait" if slots >= span.length else "race"
    rule = STRATEGY[one_of("strategy", strategy, allowed)]
    budget = None if budget is None else whole("budget", budget)
    arms = None if arms is None else whole("arms", arms)
    if tests is not None:
        tests = whole("tests", tests)
    elif budget is not None and arms is not None:
        tests = bounds.seek_tests(budget, arms, rule.share)
    else:
        tests = rule.tests
    return SeekPlan(
        strategy=rule,
        pull=PULL[one_of("pull", pull, INDEXED)],
        window=span.length,
        by_time=span.by_time,
        memory=slots,
        budget=budget,
        arms=arms,
        tests=tests,
        delta=between("delta", delta, 0, 1),
        noise=noise_of(sigma, scale_of(scale).width),
    )
