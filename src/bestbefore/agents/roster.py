"""The names of the arms that are here: numbers on the clock stand for arms everywhere else."""

from collections.abc import Hashable, Iterable
from typing import Any

from bestbefore.agents import saved
from bestbefore.arguments import finite, is_name, whole
from bestbefore.clock import Clock, said
from bestbefore.errors import ExpiredArm, UnknownArm
from bestbefore.noise import Noise
from bestbefore.scale import UNIT, Scale


class Roster:
    """The names of the arms that an agent stores or tests, and of those that it let go and was not asked for yet."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._names: dict[int, Hashable] = {}
        self._numbers: dict[Hashable, int] = {}
        self._let_go: list[Hashable] = []

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, arm: Any) -> bool:
        return is_name(arm) and arm in self._numbers

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

    def add(self, number: int, arm: Hashable) -> None:
        """Take a new arm in."""
        self._names[number] = arm
        self._numbers[arm] = number

    def remove(self, number: int) -> None:
        """Forget an arm that was withdrawn: nobody has to be told, not even of an earlier bearer of its name."""
        arm = self._names.pop(number)
        self._numbers.pop(arm)
        self._let_go = [gone for gone in self._let_go if gone != arm]

    def number(self, arm: Hashable, arrival: int | None = None) -> int:
        """Return the number of an arm that is here; it must be `arrival`, if that is given."""
        number = self._numbers[arm] if arm in self else None
        if arrival is not None and whole("arrival", arrival) != number:
            if arrival < self._clock.oldest:
                raise ExpiredArm(f"arm {arm!r} of arrival {arrival} has expired: {self._valid()}")
            number = None
        if number is None:
            raise UnknownArm(f"arm {arm!r} is not in memory: it was let go, has expired, or never arrived")
        return number

    def check_valid(self, number: int, time: int) -> None:
        """Raise an `ExpiredArm` if an arm will have expired at a time."""
        if number < self._clock.oldest_at(time):
            raise ExpiredArm(f"arm {self._names[number]!r} of arrival {number} has expired: {self._valid()}")

    def keep_only(self, numbers: set[int]) -> None:
        """Let everybody go who is not among these, oldest first."""
        for number in sorted(number for number in self._names if number not in numbers):
            arm = self._names.pop(number)
            del self._numbers[arm]
            self._let_go.append(arm)

    def handed_out(self) -> list[Any]:
        """Return whom memory let go since the last call, and forget them; a name that has come again is not told."""
        if not self._let_go:
            return []
        gone, self._let_go = self._let_go, []
        return [arm for arm in dict.fromkeys(gone) if arm not in self._numbers]

    @property
    def waiting(self) -> list[Any]:
        """Whom memory let go and nobody was told of yet."""
        return list(self._let_go)

    def take_let_go(self, arms: Iterable[Hashable]) -> None:
        """Take over whom other memories let go."""
        self._let_go += dict.fromkeys(arms)

    def state(self) -> dict[str, Any]:
        """Return the clock and who was let go; whoever keeps numbers saves the other names."""
        return {"clock": self._clock.state(), "let_go": self._let_go}

    def restore(self, state: dict[str, Any]) -> None:
        """Take clock and arms let go from a saved state."""
        fields = saved.checked(state, {"clock": dict, "let_go": list})
        times = dict.fromkeys(("time", "newest", "arrivals", "on_wall"), int) | {"recent": list}
        self._clock.restore(**saved.checked(fields["clock"], times))
        self._let_go = [saved.name(arm) for arm in fields["let_go"]]

    def restore_arm(self, number: int, name: Any, *, oldest: int) -> None:
        """Take an arm back from a saved state; one before `oldest` is refused."""
        arm = saved.name(name)
        if not max(oldest, 1) <= number <= self._clock.newest or number in self._names or arm in self._numbers:
            raise ValueError(f"state is damaged: arm {arm!r} with arrival {number} is not valid, or stands twice")
        self.add(number, arm)

    def _valid(self) -> str:
        window = self._clock.window
        return f"valid are the last {said(window)}" if not window.by_time else f"arms are valid for {said(window)}"


def checked_total(reward: float, pulls: int, noise: Noise, scale: Scale = UNIT) -> float:
    """Return the total of so many rewards, as shares of a scale, if they can have it: bounded ones lie within it."""
    total = scale.inside(finite("reward", reward), pulls)
    if not noise.bounded or 0 <= total <= pulls:
        return finite("reward", total)
    rounding = 1e-9 * max(1.0, *(abs(end) / scale.width for end in scale))
    if not -rounding <= total / pulls <= 1 + rounding:  # sums of many floats may be off in the last digits
        low, high = (f"{pulls * end:g}" for end in scale)
        times = "" if pulls == 1 else f", {pulls} times the scale" if scale != UNIT else ", the number of pulls"
        raise ValueError(f"reward must be between {low} and {high}{times}, not {reward!r}")
    return min(max(total, 0.0), float(pulls))
