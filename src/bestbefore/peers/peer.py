"""A peer behind our verbs: what all adapters share.

A peer is a policy of another library.  It knows nothing of windows, of slots or of budgets, so the adapter does that
part, and no more:

- **Memory.**  A peer has no keep rule.  The adapter stores the newest `memory` valid arms: all of them, unless it is
  told otherwise.  A peer that cannot remove an arm still remembers those that expired: `held` counts these as well.
- **Expired arms.**  They are removed from a peer that can remove them.  One that is handed a list of arms to choose
  from is handed the valid ones.  One that does neither may name an expired arm: it is told a reward of 0 for that, a
  valid arm at random is pulled in its place, and `wasted` counts it.
- **New arms.**  They are added when they arrive.  Whether a peer ever pulls an arm that was added late is its own
  affair, unless `first` says how often the adapter pulls each new arm before the peer has a say.
- **The answer** is the arm of the highest mean reward, as it is for a `Player`; the peer is not asked.
"""

import inspect
import pickle
from collections.abc import Callable, Hashable
from typing import Any, Self

import numpy as np

from bestbefore.arguments import finite, is_name, whole
from bestbefore.clock import Clock, Length, When, said, window_of
from bestbefore.errors import UnknownArm

VERSION = 1
"""Of saved states."""


class PeerAgent:
    """An agent whose decisions are those of a peer; adapters say how to add, remove, choose and learn.

    Parameters
    ----------
    made
        Makes the peer from a seed.
    window
        Only the last W arrivals are valid, for a number W; or those of a time such as "24h" or a timedelta.
    memory
        The most arms that are stored, the newest ones.  Unless given, all valid arms; needed if the window is a time.
    budget
        Pulls after an arrival that is told no budget of its own; unless given, there is no end to them.
    first
        How often a new arm is pulled before the peer has a say.  With 0 the peer is left to itself.
    seed
        A seed or a generator, for the peer and for the arms pulled in place of expired ones.
    """

    removes: bool = False
    """Whether the peer forgets an arm that it is told to remove."""

    def __init__(
        self,
        made: Callable[[int], Any],
        window: Length,
        memory: int | None = None,
        *,
        budget: int | None = None,
        first: int = 0,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        length = window_of(window)
        if memory is None and length.by_time:
            raise ValueError(
                f"memory must be given if the window is a time, not None: how many arms are valid in {window!r} "
                "is not known beforehand, and a peer stores them all"
            )
        self.memory = length.length if memory is None else whole("memory", memory)
        self.budget = None if budget is None else whole("budget", budget, at_least=0)
        self.first = whole("first", first, at_least=0)
        self._clock = Clock(length)
        self._rng = np.random.default_rng(seed)
        self._arms: dict[Any, list[Any]] = {}  # in order of arrival: number, pulls told, total, pulls asked for
        self._left = self.budget
        self._pulls = self._peak = self._wasted = self._held_on = 0
        self.peer: Any = made(int(self._rng.integers(2**31)))
        """The policy of another library."""

    def arrive(self, arm: Hashable, budget: int | None = None, *, at: When = None) -> list[Any]:
        """Let a new arm arrive, with a budget of pulls; return the arms that have expired or had to make room.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
        budget
            Pulls until the next arrival.
        at
            When: an aware datetime or seconds with a window by time; a number on the stream's clock with a window by
            count.  Unless given, the wall clock's time, or the next number.
        """
        if not is_name(arm):
            raise ValueError(f"arm must be hashable, not None and not NaN, not {arm!r}")
        if arm in self._arms:
            raise ValueError(f"arm must be new, but {arm!r} is in memory")
        left = self.budget if budget is None else whole("budget", budget, at_least=0)
        time = self._clock.arrival_at(at)
        self._add(arm)
        number = self._clock.arrive(time)
        self._arms[arm] = [number, 0, 0.0, 0]
        gone, oldest = [], self._clock.oldest
        for other, (arrived, *_) in list(self._arms.items()):  # oldest first
            if arrived < oldest or len(self._arms) > self.memory:
                del self._arms[other]
                self._remove(other)
                gone.append(other)
        if not self.removes:
            self._held_on += len(gone)
        self._left, self._peak = left, max(self._peak, len(self._arms))
        return gone

    def ask(self) -> Any:
        """Return the arm to pull next, or None when the budget is spent or no arm is stored."""
        if not self._arms or self._left == 0:
            return None
        arm = self._new()
        if arm is None:
            arm = self._choose(list(self._arms))
            if not is_name(arm):
                raise ValueError(f"the policy {type(self.peer).__name__} must name an arm, not {arm!r}")
            if arm not in self._arms:
                self._wasted += 1
                self._learn(arm, 0.0)
                arm = list(self._arms)[int(self._rng.integers(len(self._arms)))]
        self._arms[arm][3] += 1
        if self._left is not None:
            self._left -= 1
        return arm

    def tell(self, arm: Hashable, reward: float, pulls: int = 1) -> None:
        """Take a reward of an arm; of a total of several pulls the peer hears the mean, so many times.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
        reward
            The reward, or the sum of several.
        pulls
            How many pulls the reward is the sum of.
        """
        if not is_name(arm) or arm not in self._arms:
            raise UnknownArm(f"arm {arm!r} is not in memory: it was let go, has expired, or never arrived")
        count, total = whole("pulls", pulls), finite("reward", reward)
        for _ in range(count):
            self._learn(arm, total / count)
        known = self._arms[arm]
        known[1] += count
        known[2] += total
        self._pulls += count

    def best(self, k: int | None = None) -> Any:
        """Return the stored arm of the highest mean reward, or a list of the best k; of equals, the newest first.

        Parameters
        ----------
        k
            How many arms; None for one arm instead of a list.
        """
        most = 1 if k is None else whole("k", k)
        ranked = sorted(self._arms, key=self._rank, reverse=True)[:most]
        return ranked if k is not None else next(iter(ranked), None)

    @property
    def window(self) -> Any:
        """How many arrivals, or how long, an arm is valid."""
        return self._clock.window.told

    @property
    def stored(self) -> list[Any]:
        """The arms that can be pulled, oldest first."""
        return list(self._arms)

    @property
    def held(self) -> int:
        """How many arms the peer may still know: those stored, and those that it was never made to forget."""
        return len(self._arms) + self._held_on

    @property
    def wasted(self) -> int:
        """How often the peer named an arm that has expired."""
        return self._wasted

    @property
    def pulls(self) -> int:
        """All pulls told so far."""
        return self._pulls

    @property
    def peak_memory(self) -> int:
        """The most arms that were ever stored at once; see `held` for those that a peer could not forget."""
        return self._peak

    def state(self) -> dict[str, Any]:
        """Return all that the agent and the peer know, ready for JSON where the arms' names are.

        The peer is pickled, in pickle's readable form: what it still knows of an expired arm can be seen there.
        """
        window = self._clock.window
        own = {name: value for name, value in self.__dict__.items() if name not in ("_clock", "_rng", "_arms", "peer")}
        return {
            "version": VERSION,
            "window": said(window),
            "clock": self._clock.state(),
            "rng": self._rng.bit_generator.state,
            "arms": [[arm, *known] for arm, known in self._arms.items()],
            "own": own,
            "peer": pickle.dumps(self.peer, protocol=0).decode("latin-1"),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Make an agent that goes on where the one that gave `state` stood.

        A pickled peer can run any code when it is loaded: load only what you saved yourself.

        Parameters
        ----------
        state
            What `state()` returned.
        """
        if state.get("version") != VERSION:
            raise ValueError(f"state must have version {VERSION}, not {state.get('version')!r}")
        agent = cls.__new__(cls)
        agent.__dict__.update(state["own"])
        agent._clock = Clock(window_of(state["window"]))
        agent._clock.restore(**state["clock"])
        agent._rng = np.random.default_rng()
        agent._rng.bit_generator.state = state["rng"]
        agent._arms = {arm: known for arm, *known in state["arms"]}
        agent.peer = pickle.loads(state["peer"].encode("latin-1"))  # noqa: S301  as the docstring says
        return agent

    def _new(self) -> Any:
        """Return the newest arm that was not pulled often enough for the peer to have a say, or None."""
        for arm in reversed(self._arms) if self.first else ():
            if self._arms[arm][3] < self.first:
                return arm
        return None

    def _rank(self, arm: Any) -> tuple[float, int]:
        number, pulls, total, _ = self._arms[arm]
        return (total / pulls if pulls else -float("inf")), number

    def _add(self, arm: Any) -> None:
        """Tell the peer of a new arm."""

    def _remove(self, arm: Any) -> None:
        """Make the peer forget an arm, if it can."""

    def _choose(self, arms: list[Any]) -> Any:
        """Let the peer name an arm, one of these if it takes a list."""
        raise NotImplementedError

    def _learn(self, arm: Any, reward: float) -> None:
        """Let the peer learn a reward."""
        raise NotImplementedError


def made_by(maker: Callable[..., Any], seed: int, *, example: str, needed: tuple[str, ...]) -> Any:
    """Make a peer by a function, with a seed if it takes one, if it has all that is needed."""
    if not callable(maker) or (all(hasattr(maker, name) for name in needed) and not inspect.isclass(maker)):
        raise ValueError(
            f"policy must be a function that makes a new policy for each run, such as {example}, not {maker!r}"
        )
    try:
        parameters = inspect.signature(maker).parameters
    except (TypeError, ValueError):
        parameters = {}  # type: ignore[assignment]
    takes_seed = "seed" in parameters and "seed" not in getattr(maker, "keywords", {})
    peer = maker(seed=seed) if takes_seed else maker()
    if missing := [name for name in needed if not callable(getattr(peer, name, None))]:
        raise ValueError(
            f"a policy must have {', '.join(needed)}, but {type(peer).__name__} lacks {', '.join(missing)}"
        )
    return peer
