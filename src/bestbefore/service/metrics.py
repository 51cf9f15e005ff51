"""Numbers for Prometheus: calls and their times, transactions, and what waits in the streams.  No names are in them."""

import os
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector

from bestbefore import __version__
from bestbefore.store.desk import Desk

MEDIA: Final = "text/plain; version=0.0.4; charset=utf-8"
MANY: Final = "PROMETHEUS_MULTIPROC_DIR"
"""Where several worker processes put their numbers together."""

_TIMES: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_SIZES: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


class Metrics:
    """What a process has counted."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        of: dict[str, Any] = {"registry": self._registry}
        self._calls = Counter("bestbefore_calls", "Requests.", ("method", "route", "status"), **of)
        self._times = Histogram("bestbefore_call_seconds", "How long requests took.", ("route",), buckets=_TIMES, **of)
        self._commits = Histogram("bestbefore_commit_seconds", "How long transactions took.", buckets=_TIMES, **of)
        self._groups = Histogram("bestbefore_group_size", "Calls that shared a transaction.", buckets=_SIZES, **of)
        self._known: dict[tuple[str, str, int], tuple[Any, Any]] = {}

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        found = self._known.get((method, route, status))
        if found is None:
            found = self._calls.labels(method, route, str(status)), self._times.labels(route)
            self._known[method, route, status] = found
        found[0].inc()
        found[1].observe(seconds)

    def commit(self, calls: int, seconds: float) -> None:
        """Count a transaction."""
        self._commits.observe(seconds)
        self._groups.observe(calls)

    def text(self, desk: Desk, silent_after: int) -> bytes:
        """Return all numbers as Prometheus reads them."""
        registry = CollectorRegistry()
        if MANY in os.environ:
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        registry.register(_Now(desk, silent_after))
        own = b"" if MANY in os.environ else generate_latest(self._registry)
        return own + generate_latest(registry)


class _Now:
    """What is in the database now."""

    def __init__(self, desk: Desk, silent_after: int) -> None:
        self._desk, self._after = desk, silent_after

    def collect(self) -> Any:
        """Yield numbers."""
        version = GaugeMetricFamily("bestbefore_info", "1, of this version.", labels=["version"])
        version.add_metric([__version__], 1)
        yield version
        now, swept = self._desk.overview(self._after), self._desk.check() or 0.0
        for name, text, value in (
            ("streams", "Streams.", now.streams),
            ("waiting_pulls", "Pulls whose rewards are awaited.", now.waiting),
            ("silent_streams", "Streams that are asked for pulls and are told nothing.", now.silent),
            ("erased_arms", "Arms that were erased from the streams that are here.", now.erased),
            ("oldest_arm_seconds", "The age of the oldest arm held; 0 if there is none.", now.oldest),
            (
                "swept_seconds",
                "How long ago the last sweep was; 0 if there was none.",
                float("nan") if swept is None else swept,
            ),
            ("waiting_calls", "Calls that wait for the next transaction in this process.", self._desk.waiting),
        ):
            yield GaugeMetricFamily(f"bestbefore_{name}", text, value)
