"""A simulated newsroom: articles arrive by day and night, are read, clicked late or never, and some are withdrawn.

It calls a service as a web site would, by HTTP and with a key.  Everything happens on the newsroom's own clock, which
the caller moves on; all of it is drawn from one seed.
"""

import heapq
import math
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from bestbefore.agents import Explorer, Player
from bestbefore.errors import UnknownArm

STREAMS: Final = ("front page", "headline test")
"""The streams: one spends the traffic of the front page, one finds out which headline is best."""

ARTICLES: Final = 60.0
"""Articles of a day."""
VIEWS: Final = 8_000.0
"""Page views of a day; of each, both streams are asked for a pull."""
LOST: Final = 0.05
"""The share of page views of which nothing is ever heard."""
DELAY: Final = 6.0 / 1440
"""After which part of a day, on average, a view is reported; some take much longer."""
PATIENCE: Final = 45.0 / 1440
"""For which part of a day a pull waits."""
WITHDRAWN: Final = 3.0
"""Articles that are withdrawn each day."""
OUTAGE: Final = (2.0 / 24, 4.5 / 24)
"""Between which hours of the night the click log is down: nothing is told then, and the page must notice."""
SILENT: Final = 1.0 / 24
"""After which part of a day without a reward that is an alarm."""

_WHO: Final = ("Mayor", "Storm", "Team", "Court", "Library", "Bakery", "Observatory", "Ferry", "School", "Orchestra")
_DOES: Final = ("opens", "delays", "wins", "rejects", "finds", "closes", "paints", "counts", "celebrates", "repairs")
_WHAT: Final = ("the old bridge", "a new comet", "the harbour", "its budget", "“the last word”", "the night train")
_MORE: Final = ("", ", again", " & nobody noticed", ": what we know", " - live", " 🌧️", " (photos)")


@dataclass(slots=True)
class Newsroom:
    """Readers and writers of one day after another; `day` is how many seconds of the stream's clock a day has."""

    desk: Any
    day: float
    now: float
    seed: int = 0
    rates: dict[str, float] = field(default_factory=dict)
    views: int = 0
    articles: int = 0
    _late: list[tuple[float, int, str, str, float]] = field(default_factory=list)
    _streams: list[Any] = field(default_factory=list)
    _rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)

    def open(self) -> None:
        """Make the two streams."""
        told: dict[str, Any] = {"patience": f"{self.day * PATIENCE:.0f} s", "otherwise": None}
        told |= {"remember": f"{self.day / 12:.0f} s"}
        window = f"{self.day:.0f} s"
        player = self.desk.stream(STREAMS[0], Player, window=window, memory=12, seed=self.seed, **told)
        settings = {"epsilon": 0.2, "memory": 16, "guarantee": "anytime", "seed": self.seed}
        self._streams = [player, self.desk.stream(STREAMS[1], Explorer, window=window, **settings, **told)]

    def step(self, to: float) -> None:
        """Let everything happen that happens until a time, and send it at once."""
        share = (to - self.now) / self.day
        busy = _by_day((self.now + to) / 2 / self.day % 1.0)
        self.now = to
        if self._rng.random() < WITHDRAWN * share:
            self._withdraw()
        asked: list[tuple[str, Any]] = []
        try:
            with self.desk.batch() as batch:
                self._report(batch)
                for _ in range(self._rng.poisson(ARTICLES * share * busy)):
                    self._publish(batch)
                for _ in range(self._rng.poisson(VIEWS * share * busy)):
                    self.views += 1
                    asked += [(stream, batch.stream(stream).ask()) for stream in STREAMS]
        except* (LookupError, ValueError):  # rewards that came too late: a deadline has passed, or an article has gone
            pass
        for stream, call in asked:
            if call.result() is not None:
                self._look(stream, call.result())

    def _publish(self, batch: Any) -> None:
        """Let an article arrive; one headline in four is a good one."""
        self.articles += 1
        first, second, third, fourth = (str(self._rng.choice(some)) for some in (_WHO, _DOES, _WHAT, _MORE))
        name = f"{first} {second} {third}{fourth} [{self.articles}]"
        self.rates[name] = float(self._rng.beta(6, 10) if self._rng.random() < 0.25 else self._rng.beta(2, 14))
        for stream in STREAMS:
            batch.stream(stream).arrive(name)
        if len(self.rates) > 4 * ARTICLES:  # those of four days: the oldest has long expired
            del self.rates[next(iter(self.rates))]

    def _withdraw(self) -> None:
        """Withdraw an article, as an editor does."""
        here = self._streams[0].stored
        if len(here) > 3:
            arm = here[int(self._rng.integers(len(here)))]
            for stream in self._streams:
                with suppress(UnknownArm):
                    stream.withdraw(arm)

    def _look(self, stream: str, pull: Any) -> None:
        """Decide what a reader does, and when it is heard of, if ever."""
        clicked = float(self._rng.random() < self.rates.get(pull.arm, 0.0))
        heard = self.now + self.day * DELAY * math.exp(self._rng.normal(0.0, 0.9))
        if self._rng.random() >= LOST and not OUTAGE[0] <= heard / self.day % 1.0 < OUTAGE[1]:
            heapq.heappush(self._late, (heard, len(self._late), stream, pull.id, clicked))

    def _report(self, batch: Any) -> None:
        """Tell the rewards whose time has come."""
        while self._late and self._late[0][0] <= self.now:
            _, _, stream, id, clicked = heapq.heappop(self._late)
            batch.stream(stream).tell(id, clicked)


def _by_day(hour: float) -> float:
    """Return how busy an hour is, on average 1: little happens at night."""
    return max(1.0 + 0.95 * math.sin(2 * math.pi * (hour - 0.33)), 0.05)
