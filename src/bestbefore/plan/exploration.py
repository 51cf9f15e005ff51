"""What an explorer's slots, tests and promise are, from what a person says.

>>> plan = plan_exploration("bucket", window=50, epsilon=0.3, delta=0.1)
>>> plan.memory, plan.tests_of(1), plan.promise
(10, 401, 0.3)
>>> plan = plan_exploration("staircase", window=50, memory=6)     # few slots, put to their best use
>>> plan.memory, plan.promise, plan.exempt                        # within 1/2 of all but the 8 oldest valid arms
(6, 0.5, 8)
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bestbefore import bounds
from bestbefore.arguments import between, one_of, whole
from bestbefore.noise import Noise, noise_of
from bestbefore.plan.defaults import DELTA, EPSILON, GUARANTEE, KEEP, WINDOW
from bestbefore.rules import PROBE, Keep, keep_rule


@dataclass(frozen=True)
class ExplorePlan:
    """The settings of an explorer, checked, with everything derived that was left open.

    `slots` are those that the keep rule uses; `memory` is what there may be, with those of pending arms.  `theta` is
    how far an empirical mean may be off.  `promise` is the epsilon that holds with probability 1 - delta, of all valid
    arms but the `exempt` oldest; None where nothing is promised.
    """

    keep: Keep
    probe: str
    window: int
    memory: int
    slots: int
    pending: int
    epsilon: float
    delta: float
    guarantee: str
    arms: int | None
    theta: float
    tests: int | None
    slack: float
    noise: Noise
    promise: float | None
    exempt: int

    def tests_of(self, arrival: int) -> int:
        """Return how often the arm of this arrival is to be pulled."""
        if self.tests is not None:
            return self.tests
        failure = bounds.failure(self.window, self.delta, self.guarantee, self.arms, arrival)
        return bounds.pulls_for_noise(self.theta, failure, self.noise.sigma)


def plan_exploration(
    keep: str | Callable[..., Any] = KEEP,
    window: int = WINDOW,
    *,
    epsilon: float | None = None,
    delta: float = DELTA,
    guarantee: str = GUARANTEE,
    arms: int | None = None,
    memory: int | None = None,
    probe: str | None = None,
    pending: int = 1,
    tests: int | None = None,
    split: float | None = None,
    slack: float | None = None,
    sigma: float | None = None,
) -> ExplorePlan:
    """Check what a person has said about exploration, and derive the rest.

    `epsilon` alone gives the slots, by `split`; `memory` alone gives epsilon, as in the paper 3 / memory.  With both,
    tests are for what the slots leave of epsilon.  With `tests`, each arm is pulled so often, whatever epsilon is, and
    nothing is promised.
    """
    rule = keep_rule(keep)
    window, pending = whole("window", window), whole("pending", pending)
    tests = None if tests is None else whole("tests", tests)
    slack = between("slack", _slack(epsilon, memory) if slack is None else slack, 0, math.inf, closed="left")
    if epsilon is not None or memory is None:
        epsilon = between("epsilon", EPSILON if epsilon is None else epsilon, 0, 1, closed="right")
    if memory is None:
        slots, theta = _slots_for(rule, window, float(epsilon or EPSILON), split)
    elif split is not None:
        raise ValueError(f"split must be left out when memory is given, not {split!r}: the slots decide it")
    else:
        memory = whole("memory", memory, at_least=pending)
        slots = memory - (pending - 1)
        theta = _theta_for(rule, window, slots, epsilon, tests)
    epsilon = bounds.epsilon_for_memory(slots) if epsilon is None else epsilon
    slots = rule.slots or slots
    exempt = _exempt(rule, window, slots, slack)
    sure = _width(rule, window, slots) is not None and epsilon <= 1 and exempt < window
    plan = ExplorePlan(
        keep=rule,
        probe=_probe(rule, probe, pending),
        window=window,
        memory=slots + pending - 1 if memory is None else memory,
        slots=slots,
        pending=pending,
        epsilon=epsilon,
        delta=between("delta", delta, 0, 1),
        guarantee=one_of("guarantee", guarantee, bounds.GUARANTEES),
        arms=None if arms is None else whole("arms", arms),
        theta=theta,
        tests=tests,
        slack=slack,
        noise=noise_of(sigma),
        promise=epsilon if sure and tests is None else None,
        exempt=exempt,
    )
    plan.tests_of(1)  # complains of what is missing for the guarantee
    return plan


def _slack(epsilon: float | None, memory: int | None) -> float:
    """Return 0, which promises something of all valid arms; or 1 where slots are to be put to their best use."""
    return 1.0 if epsilon is None and memory is not None else 0.0


def _probe(rule: Keep, probe: str | None, pending: int) -> str:
    """Return how arms are tested: as the keep rule needs it."""
    if probe is not None and one_of("probe", probe, PROBE) != rule.probe:
        raise ValueError(f"probe must be {rule.probe!r} with keep={rule.name!r}, not {probe!r}")
    if rule.probe == "challenge" and pending != 1:
        raise ValueError(f"pending must be 1 with keep={rule.name!r}: one challenge at a time, not {pending}")
    return rule.probe


def _slots_for(rule: Keep, window: int, epsilon: float, split: float | None) -> tuple[int, float]:
    """Return the slots that the rule needs for epsilon, and how far means may be off."""
    split = rule.split if split is None else split
    slots = bounds.memory(epsilon, split)
    if rule.whole and (rule.cells is None or slots >= window):
        return window, bounds.noise(epsilon, split=0)
    return slots, bounds.noise(epsilon, split)


def _theta_for(rule: Keep, window: int, slots: int, epsilon: float | None, tests: int | None) -> float:
    """Return how far means may be off if so many slots are to do; a third of epsilon where that follows from them."""
    width = _width(rule, window, slots)
    if epsilon is None:
        return (3 if width == 0 else 2) / (2 * slots)
    if width is None:
        return bounds.noise(epsilon)
    if epsilon <= width and tests is None:
        few = math.floor(1 / epsilon + 1e-9) - (rule.cells or 0)
        raise ValueError(
            f"memory must be more than {few} slots to promise epsilon={epsilon!r} with keep={rule.name!r}, "
            f"besides those of pending arms, not {slots}; without epsilon, memory is put to the best use it has"
        )
    return max((epsilon - width) / 2, 0.0)


def _width(rule: Keep, window: int, slots: int) -> float | None:
    """Return what slots cost of epsilon: 0 for a whole window, a cell where there are cells; None for no promise."""
    if rule.whole and slots >= window:
        return 0.0
    return None if rule.cells is None else 1 / (slots + rule.cells)


def _exempt(rule: Keep, window: int, slots: int, slack: float) -> int:
    """Return how many of the oldest valid arms may be better than the answer, since their stand-in has expired."""
    if not rule.slack or slots >= window:
        return 0
    return window if slack >= slots else math.floor(slack * window / slots)
