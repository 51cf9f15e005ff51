"""How a client sends: connections that stay open, times that end, and what is safe is sent again."""

import json
import os
import random
import time
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from bestbefore.arguments import between
from bestbefore.errors import StoreUnavailable
from bestbefore.store.wire import error_of

AGAIN: Final = (408, 429, 502, 503, 504)
"""Answers after which a call is sent again."""

LONGEST: Final = 60.0
"""For how many seconds a call is sent again and again, before it fails."""

FIRST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 2.0


class Sending:
    """Sends calls to one server."""

    def __init__(self, url: str, key: str | None, timeout: float) -> None:
        try:
            import httpx
        except ModuleNotFoundError:
            raise ModuleNotFoundError("a desk on a server needs httpx: pip install 'bestbefore[client]'") from None
        parts = urlsplit(url)
        if not parts.hostname or parts.username or parts.query or parts.fragment:
            raise ValueError('url must be like "http://host:8000", without a key in it: give it as key=...')
        if key is not None and (not isinstance(key, str) or not key.isascii() or not key.isprintable()):
            raise ValueError("key must be the text that `bestbefore keys make` has shown")
        self.url, self._httpx, self._closed = url.rstrip("/"), httpx, False
        self._timeout = between("timeout", timeout, 0, 3600, closed="right")
        self._headers = {"Content-Type": "application/json"} | (
            {} if key is None else {"Authorization": f"Bearer {key}"}
        )
        self._open()

    def _open(self) -> None:
        self._pid = os.getpid()
        self._client = self._httpx.Client(timeout=self._timeout, headers=self._headers, trust_env=False)

    def close(self) -> None:
        """Let go of all connections."""
        if not self._closed:
            self._closed = True
            self._client.close()

    def send(self, method: str, place: str, body: Any, *, safe: bool, done: Sequence[int]) -> Any:
        """Send a call, and return its answer; raise what the server's problem document stands for.

        One that is `safe` is sent again if its answer is lost; any is if it cannot have been taken in.  With `done`, an
        answer of these statuses says that the first of several sendings was carried out.
        """
        if self._closed:
            raise ValueError("the desk is closed: connect again")
        if self._pid != os.getpid():  # after a fork: the connections belong to the other process
            self._open()
        content = None if body is None else json.dumps(body).encode()
        until, pause, lost = time.monotonic() + LONGEST, FIRST_PAUSE, False
        while True:
            wait = 0.0
            try:
                answer = self._client.request(method, self.url + place, content=content)
            except self._httpx.TransportError as wrong:
                sent = not isinstance(wrong, (self._httpx.ConnectError, self._httpx.ConnectTimeout))
                error: Exception = StoreUnavailable(
                    f"{self.url} cannot be reached: {wrong or type(wrong).__name__}; it is safe to send the call again"
                )
                again, lost = safe or not sent, lost or sent
            else:
                if answer.is_success:
                    return answer.json()
                if lost and answer.status_code in done:
                    return None
                error, again = _error(answer), answer.status_code in AGAIN and (safe or answer.status_code == 429)
                lost = lost or answer.status_code >= 500
                wait = _seconds(answer.headers.get("Retry-After"))
            pause = min(pause * 2, LONGEST_PAUSE)
            wait = max(wait, pause * random.uniform(0.5, 1))  # noqa: S311 (no secret)
            if not again or time.monotonic() + wait > until:
                raise error
            time.sleep(wait)


def _error(answer: Any) -> Exception:
    try:
        document = answer.json()
    except ValueError:
        document = None
    return error_of(document if isinstance(document, dict) else {}, answer.status_code)


def _seconds(text: str | None) -> float:
    return min(float(text), LONGEST_PAUSE) if text and text.isdigit() else 0.0
