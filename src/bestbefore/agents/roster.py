"""The roster: who is here, by name and by number, and who has just left.

Slots know arms by the numbers of their arrivals; the roster knows their names.  What leaves it leaves no trace.

>>> roster = Roster(window=2)
>>> roster.arrive("a"), roster.arrive("b")
(1, 2)
>>> roster.keep_only({2})
>>> roster.handed_out(), roster.names
(['a'], ['b'])
>>> roster.number("a")
Traceback (most recent call last):
bestbefore.errors.UnknownArm: arm 'a' is not in memory: it was let go, has expired, or never arrived
"""

from collections.abc import Hashable
from typing import Any

from bestbefore.agents import saved
from bestbefore.arguments import finite, is_name, whole
from bestbefore.errors import ExpiredArm, UnknownArm
from bestbefore.noise import Noise


class Roster:
    """The names of the arms that an agent stores or tests, and of those that it let go since the last arrival."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.now = 0
        """The number of the newest arrival."""
        self._names: dict[int, Hashable] = {}
        self._numbers: dict[Hashable, int] = {}
        self._let_go: list[Hashable] = []

    def __len__(self) -> int:
        return len(self._names)

    @property
    def oldest(self) -> int:
        """The oldest number still valid; 0 or less while the first window is not full."""
        return self.now - self.window + 1

    @property
    def names(self) -> list[Any]:
        """The names of all who are here, oldest first."""
        return [self._names[number] for number in sorted(self._names)]

    def name(self, number: int) -> Any:
        """Return the name of an arm that is here."""
        return self._names[number]

    def check_new(self, arm: Hashable) -> None:
        """Raise a `ValueError` if this cannot be the name of an arriving arm."""
        if not is_name(arm):
            raise ValueError(f"arm must be hashable, not None and not NaN, not {arm!r}")
        if arm in self._numbers:
            raise ValueError(f"arm must be new, but {arm!r} is in memory since arrival {self._numbers[arm]}")

    def arrive(self, arm: Hashable) -> int:
        """Take a new arm in, and return its number."""
        self.check_new(arm)
        self.now += 1
        self._add(self.now, arm)
        return self.now

    def pass_time(self) -> None:
        """Let time go on by one step, without an arrival."""
        self.now += 1

    def number(self, arm: Hashable, arrival: int | None = None) -> int:
        """Return the number of an arm that is here; it must be `arrival`, if that is given."""
        try:
            number = self._numbers.get(arm)
        except TypeError:  # what cannot be hashed is nobody's name
            number = None
        if arrival is not None and whole("arrival", arrival) != number:
            if arrival < self.oldest:
                raise ExpiredArm(f"arm {arm!r} of arrival {arrival} has expired: valid are the last {self.window}")
            number = None
        if number is None:
            raise UnknownArm(f"arm {arm!r} is not in memory: it was let go, has expired, or never arrived")
        return number

    def keep_only(self, numbers: set[int]) -> None:
        """Let everybody go who is not among these, oldest first."""
        for number in sorted(number for number in self._names if number not in numbers):
            arm = self._names.pop(number)
            del self._numbers[arm]
            self._let_go.append(arm)

    def handed_out(self) -> list[Any]:
        """Return whom memory let go since the last call, and forget them."""
        gone, self._let_go = self._let_go, []
        return gone

    def state(self) -> dict[str, Any]:
        """Return the clock and who was let go since the last arrival; whoever keeps numbers saves the other names."""
        return {"now": self.now, "let_go": self._let_go}

    def restore(self, state: dict[str, Any]) -> None:
        """Take clock and arms let go from a saved state."""
        fields = saved.checked(state, {"now": int, "let_go": list})
        self.now, self._let_go = fields["now"], [saved.name(arm) for arm in fields["let_go"]]

    def restore_arm(self, number: int, name: Any, *, oldest: int) -> None:
        """Take an arm back from a saved state; one before `oldest` is refused."""
        arm = saved.name(name)
        if not max(oldest, 1) <= number <= self.now or number in self._names or arm in self._numbers:
            raise ValueError(f"state is damaged: arm {arm!r} with arrival {number} is not valid, or stands twice")
        self._add(number, arm)

    def _add(self, number: int, arm: Hashable) -> None:
        self._names[number] = arm
        self._numbers[arm] = number


def checked_total(reward: float, pulls: int, noise: Noise) -> float:
    """Return the total of so many rewards, if they can have it: each lies in [0, 1] where rewards are bounded."""
    total = finite("reward", reward)
    if not noise.bounded or 0 <= total <= pulls:
        return total
    if not -1e-9 <= total / pulls <= 1 + 1e-9:  # sums of many floats may be off in the last digits
        allowed = "1" if pulls == 1 else f"{pulls}, the number of pulls"
        raise ValueError(f"reward must be between 0 and {allowed}, not {reward!r}")
    return min(max(total, 0.0), float(pulls))
