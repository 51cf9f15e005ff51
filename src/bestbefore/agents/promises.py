"""Promises: what an explorer says about its answer, and when it says nothing."""

from collections.abc import Hashable

from bestbefore.agents.certifier import Certifier
from bestbefore.agents.tested import Tested


class Promising(Tested):
    """An agent that can be asked how good its answer is."""

    guarantee: str
    probe: str
    arms: int | None
    most: int | None
    spare: int
    _certifier: Certifier | None

    @property
    def tests(self) -> int:
        """The pulls of one arm's test, at most: of the newest arm, where they grow with time.

        With certificates, it is what an arm may take at the very worst; most take far fewer.
        """
        return self.plan.tests_of(self._counted.get(self._clock.newest) or max(self._count_for_shares(), 1))

    @property
    def gap(self) -> float:
        """With probability 1 - delta the answer is within this of the best valid arm, now: a difference of means.

        With certificates it is the highest upper bound of all other arms, stored or dropped, less the lower bound of
        the answer.  With fixed tests it is `promise`, or the width of the scale where nothing is promised.
        """
        if self._certifier and not self._is_void():
            return self._certifier.answer()[1] * self.scale.width
        return self.scale.width if self.promise is None else self.promise

    @property
    def certified(self) -> bool:
        """Whether the answer is within epsilon of the best, with probability 1 - delta."""
        if self._certifier and not self._is_void():
            return self._certifier.answer()[2]
        return self.promise is not None

    def bounds(self, arm: Hashable) -> tuple[float, float]:
        """Return a lower and an upper bound of an arm's mean, from its certificate.

        The guarantee is about those that it needs at a time, not about all arms ever.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
        """
        number = self._roster.number(arm)
        if not self._certifier:
            raise ValueError(f"probe must be 'certify' for bounds of arm {arm!r}, not {self.probe!r}")
        low, high = self._certifier.bounds(self._slot(number))
        return self.scale.outside(low), self.scale.outside(high)

    @property
    def promise(self) -> float | None:
        """The epsilon that is promised with probability 1 - delta, of all arms whose tests are over, or None.

        It speaks of all valid arms but the `exempt` oldest, which are none unless `slack` is above 0.  There is none
        where the settings allow none, nor while an arm is valid whose test was cut short, or got rewards after it, or
        that was withdrawn, unless `spare` ranks make up for it; with certificates, while the answer is not certified:
        `gap` then says what is.  A strong guarantee ends when more than `arms` arms have arrived, and others pause
        while more than `most` are valid.
        """
        if self._is_void():
            return None
        if self._certifier and not self._certifier.answer()[2]:
            return None
        return None if self.plan.promise is None else self.plan.promise * self._unit

    @property
    def _unit(self) -> float:
        """What epsilon is multiplied by to be in the user's unit: a share stays a share."""
        return 1.0 if self.plan.relative else self.scale.width

    @property
    def void(self) -> str | None:
        """Why nothing is promised now, whatever the settings: "arms", "most", "withdrawn" or "irregular"; or None.

        More than `arms` arms have arrived; more than `most` are valid; an arm was withdrawn, and no spare rank makes up
        for it; or the test of an arm was cut short, or got rewards after it.
        """
        if self.guarantee == "strong" and self.arrivals > (self.arms or 0):
            return "arms"
        if self.plan.by_time and self.most is not None and self._clock.valid > self.most:
            return "most"
        oldest = max(self._clock.oldest, 1)
        if sum(number >= oldest for number in self._withdrawn) > self.spare:
            return "withdrawn"
        return "irregular" if self._irregular >= oldest else None

    def _is_void(self) -> bool:
        """Say whether nothing is promised now, whatever the settings: see `promise`."""
        return self.void is not None
