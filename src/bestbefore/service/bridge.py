"""Between the event loop and the desk: calls are handed to the committer, and nobody's thread waits for them."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from bestbefore.errors import StoreUnavailable
from bestbefore.store.commit import Call
from bestbefore.store.desk import Desk

READERS: Final = 4
"""How many threads read; a page or a scrape must not wait for a sweep, which has threads of its own."""


class Bridge:
    """A desk as an event loop sees it."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._ready: deque[asyncio.Future[None]] = deque()
        self._rung = False
        self._readers = ThreadPoolExecutor(READERS, "bestbefore-read")
        self._writers = ThreadPoolExecutor(READERS, "bestbefore-write")

    async def carry_out(self, calls: Sequence[Call]) -> None:
        """Carry out calls; each has its answer or its error afterwards."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def ring() -> None:  # in the committing thread: the loop is woken once for all that are ready
            self._ready.append(future)
            if not self._rung:
                self._rung = True
                loop.call_soon_threadsafe(self._deliver)

        try:
            self.desk.begin(calls, ring)
        except ValueError:
            raise StoreUnavailable(
                "the service is stopping; nothing was changed, and it is safe to send it again"
            ) from None
        await future

    def _deliver(self) -> None:
        self._rung = False  # before the queue is emptied: whoever rings from here on is delivered by the next call
        while self._ready:
            future = self._ready.popleft()
            if not future.done():
                future.set_result(None)

    async def read(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Read in a thread of few."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, lambda: function(*arguments, **named))

    async def write(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Do what takes long or is rare: to make a stream, to drop one, to sweep."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writers, lambda: function(*arguments, **named))

    def close(self) -> None:
        """Finish what is under way."""
        self._readers.shutdown()
        self._writers.shutdown()
