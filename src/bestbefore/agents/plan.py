"""What an explorer sets out to do: slots, noise and the accuracy that it may promise, from what the user has said.

>>> plan = make_plan("bucket", window=50, epsilon=0.3, delta=0.1)
>>> plan.slots, plan.pulls_of(1), plan.promise
(10, 401, 0.3)
>>> plan = make_plan("staircase", window=50, memory=6, delta=0.1)     # few slots, put to their best use: no promise
>>> plan.slots, plan.epsilon, plan.slack, plan.promise
(6, 0.5, 1.0, None)
"""

import math
from dataclasses import dataclass

from bestbefore import bounds
from bestbefore.arguments import between, one_of, whole
from bestbefore.rules import KEEP


@dataclass(frozen=True)
class Plan:
    """The settings of an explorer, checked, with everything derived that was left open.

    `slots` are those of the keep rule; `noise` is theta, within which a mean is to be known; `promise` is the epsilon
    that holds with probability 1 - delta, or None where nothing is promised.
    """

    keep: str
    window: int
    slots: int
    pending: int
    epsilon: float
    delta: float
    guarantee: str
    arms: int | None
    noise: float
    pulls: int | None
    slack: float
    sigma: float | None
    promise: float | None

    def pulls_of(self, arrival: int) -> int:
        """Return how often the arm of this arrival is to be pulled."""
        if self.pulls is not None:
            return self.pulls
        failure = bounds.failure(self.window, self.delta, self.guarantee, self.arms, arrival)
        return bounds.pulls_for_noise(self.noise, failure, 0.5 if self.sigma is None else self.sigma)


def make_plan(
    keep: str,
    window: int,
    *,
    epsilon: float | None = None,
    delta: float = 0.05,
    guarantee: str = "weak",
    arms: int | None = None,
    memory: int | None = None,
    pending: int = 1,
    pulls: int | None = None,
    split: float | None = None,
    slack: float | None = None,
    sigma: float | None = None,
) -> Plan:
    """Check what the user has said, and derive the rest.

    `epsilon` alone gives the slots, by `split`; `memory` alone gives epsilon, as in the paper 3 / memory.  With both,
    what the slots leave of epsilon is for noise.
    """
    one_of("keep", keep, KEEP)
    window, pending = whole("window", window), whole("pending", pending)
    if slack is None:
        slack = 1.0 if epsilon is None and memory is not None else 0.0
    if memory is None:
        epsilon = between("epsilon", 0.1 if epsilon is None else epsilon, 0, 1, closed="right")
        slots, noise = _slots_for(keep, window, epsilon, split)
    elif split is not None:
        raise ValueError(f"split must be left out when memory is given, not {split!r}: the slots decide it")
    else:
        slots = whole("memory", memory, at_least=pending) - (pending - 1)
        epsilon, noise = _epsilon_for(keep, window, slots, epsilon)
    if keep == "king":
        slots = 1
    plan = Plan(
        keep=keep,
        window=window,
        slots=slots,
        pending=pending,
        epsilon=epsilon,
        delta=between("delta", delta, 0, 1),
        guarantee=one_of("guarantee", guarantee, bounds.GUARANTEES),
        arms=None if arms is None else whole("arms", arms),
        noise=noise,
        pulls=None if pulls is None else whole("pulls", pulls),
        slack=between("slack", slack, 0, math.inf, closed="left"),
        sigma=None if sigma is None else between("sigma", sigma, 0, math.inf),
        promise=epsilon if pulls is None and epsilon <= 1 and _is_sure(keep, window, slots, slack) else None,
    )
    plan.pulls_of(1)  # complains of what is missing for the guarantee
    return plan


def _slots_for(keep: str, window: int, epsilon: float, split: float | None) -> tuple[int, float]:
    """Return the slots that the rule needs for epsilon, and the noise that is left."""
    if split is None:
        split = bounds.STAIRCASE_SPLIT if keep == "staircase" else bounds.PAPER_SPLIT
    slots = bounds.memory(epsilon, split)
    if keep == "fifo" or (keep == "staircase" and slots >= window):
        return window, bounds.noise(epsilon, split=0)
    return slots, bounds.noise(epsilon, split)


def _epsilon_for(keep: str, window: int, slots: int, epsilon: float | None) -> tuple[float, float]:
    """Return epsilon, if need be the one that the slots can promise, and the noise that they leave of it."""
    width = _width(keep, window, slots)
    if epsilon is None:
        epsilon = bounds.epsilon_for_memory(slots)
    elif between("epsilon", epsilon, 0, 1, closed="right") <= (width or 0):
        raise ValueError(
            f"memory must be more than {1 / epsilon:g} slots to promise epsilon={epsilon!r} with keep={keep!r}, "
            f"besides those of pending arms, not {slots}; without epsilon, memory is put to the best use it has"
        )
    return float(epsilon), bounds.noise(min(epsilon, 1.0)) if width is None else (epsilon - width) / 2


def _is_sure(keep: str, window: int, slots: int, slack: float) -> bool:
    """Tell whether the rule bounds the error on every stream."""
    passes_over = keep == "staircase" and slots < window and slack > 0
    return _width(keep, window, slots) is not None and not passes_over


def _width(keep: str, window: int, slots: int) -> float | None:
    """Return what slots cost of epsilon: 0 for a whole window, a slice where there are slices; None for no promise."""
    if keep in ("fifo", "staircase") and slots >= window:
        return 0.0
    return 1 / slots if keep in ("bucket", "staircase") else None
