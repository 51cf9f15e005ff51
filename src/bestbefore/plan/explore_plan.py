"""The plan of an explorer: its settings, checked, with everything derived that was left open."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bestbefore import bounds, pairs
from bestbefore.arguments import MOST
from bestbefore.mixture import KNOWN, middle_rate, pulls_for_mean, pulls_for_share, pulls_for_width
from bestbefore.noise import Noise
from bestbefore.rules import Keep

if TYPE_CHECKING:
    from bestbefore.probe.certificates import Settings

TEST_RULES = ("paper", "pairs", "exact")
"""How many pulls a fixed test has: see `bestbefore.bounds` and `bestbefore.pairs`."""


@dataclass(frozen=True)
class ExplorePlan:
    """What an explorer does, and what it promises.

    `slots` are those that the keep rule uses; `memory` is what there may be, with those of pending arms.  `promise` is
    the epsilon that holds with probability 1 - delta, of all valid arms but the `exempt` oldest; None where nothing is
    promised.

    `window` is a number of arrivals, or of microseconds if it is `by_time`; `exempt` is in the same unit.  `most` is
    how many arms may be valid at once: the window, or what was said of one by time, or None if that is not known.

    The promise is about each of the best `top` arms, rank by rank.  `spare` more ranks are kept, so that so many arms
    may be withdrawn.

    With fixed tests `theta` is how far an empirical mean may be off, and a test waits for rewards for `patience`, in
    the unit of the window.  With certificates, epsilon is a share of the best
    mean if `relative`; at most `budget` pulls follow an arrival; and epsilon is 0 where the budget is all that is said.
    """

    keep: Keep
    probe: str
    window: int
    memory: int
    slots: int
    epsilon: float
    delta: float
    guarantee: str
    arms: int | None
    noise: Noise
    promise: float | None
    by_time: bool = False
    most: int | None = None
    pending: int = 1
    theta: float = 0.0
    tests: int | str = "paper"
    slack: float = 0.0
    exempt: int = 0
    patience: int | None = None
    budget: int | None = None
    relative: bool = False
    reacts: bool = False
    top: int = 1
    spare: int = 0

    @property
    def ranks(self) -> int:
        """How many newer arms that are no worse make an arm useless."""
        return self.top + self.spare

    @property
    def whole(self) -> bool:
        """Say whether there is a slot for each valid arm."""
        return self.most is not None and self.slots >= self.most

    def tests_of(self, arrival: int) -> int:
        """Return how often an arm is pulled: with certificates, at the very worst.

        `arrival` is its number.  With a window by time it is how many arms had arrived, itself included; and with
        certificates and a weak guarantee, how many of them were valid.
        """
        if self.probe == "certify":
            return self._most_pulls(arrival)
        if isinstance(self.tests, int):
            return self.tests
        if self.tests == "paper":
            failure = bounds.failure(self.most or 1, self.delta, self.guarantee, self.arms, arrival)
            return bounds.pulls_for_noise(self.theta, failure, self.noise.sigma)
        task = (self.epsilon, self.most or 1, self.delta, self.guarantee)
        cell = max(self.epsilon - 2 * self.theta, 0.0)
        if self.tests == "exact":
            return pairs.exact_pulls(*task, arms=self.arms, cell=cell)
        return pairs.pair_pulls(*task, arms=self.arms, arrival=arrival, cell=cell, sigma=self.noise.sigma)

    def tests_at(self, mean: float, arrival: int = 1) -> int:
        """Return how often an arm whose rewards have this mean is pulled at most, where epsilon is a share.

        That is far less than at the very worst, `tests_of`, which is for means of about `bounds.LEAST_MEAN`.
        """
        if not self.relative:
            raise ValueError("relative must be True for pulls by the mean: otherwise see tests_of")
        aim = self.aim
        known = pulls_for_mean(mean, KNOWN * aim, middle_rate(aim, relative=True), self.logs_of(arrival), self.noise)
        return min(in_batches(known), self._most_pulls(arrival))

    def logs_of(self, arrival: int) -> tuple[float, float]:
        """Return ln(1 / p) of the lower and of the upper bound of an arm's certificate; see `tests_of`."""
        shares = bounds.certificate_failures(
            self.most, self.delta, self.guarantee, self.arms, arrival, reacts=self.reacts
        )
        return -math.log(shares[0]), -math.log(shares[1])

    def certificates(self) -> "Settings":
        """Return what the compiled rule is told."""
        from bestbefore.probe.certificates import settings_of

        tuned = self.aim if self.epsilon == 0 else None
        return settings_of(self.epsilon, self.slots, self.noise, whole=self.whole, relative=self.relative, tuned=tuned)

    @property
    def aim(self) -> float:
        """What bounds are tuned for: what cells leave of epsilon, or what the budget can tell apart."""
        if self.epsilon == 0:
            pulls = max(self.budget or 1, 1)
            return min(
                2 * self.noise.sigma * math.sqrt(math.log(2 * (self.most or self.slots) / self.delta) / pulls), 1.0
            )
        cell = 0.0 if self.whole else bounds.certificate_cell(self.epsilon, self.slots, relative=self.relative)
        room = bounds.certificate_room(self.epsilon, cell, relative=self.relative)
        return min(max(room, self.epsilon / 4), 1.0)

    def _most_pulls(self, arrival: int) -> int:
        """Return how many pulls an arm may get that is never known sooner; a little more, since it has them in batches.

        An arm is looked at anew after a fourth more pulls, and has a sixteenth more at once.
        """
        by_budget = math.inf if self.budget is None else self.budget * (self.most or MOST)
        if self.epsilon == 0:
            return int(min(by_budget, MOST))
        aim, logs = self.aim, self.logs_of(arrival)
        pulls_for = pulls_for_share if self.relative else pulls_for_width
        known = pulls_for(KNOWN * aim, middle_rate(aim, relative=self.relative), logs, self.noise)
        return int(min(in_batches(known), by_budget))


def in_batches(known: int) -> int:
    """Return how many pulls an arm may get that is known after so many."""
    return bounds.round_up(known * (1 + 1 / 4) * (1 + 1 / 16) + 1)
