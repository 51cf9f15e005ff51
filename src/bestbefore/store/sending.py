"""How a client sends: connections that stay open, times that end, and what is safe is sent again."""

import json
import os
import random
import time
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from bestbefore._version import __version__ as VERSION
from bestbefore.arguments import between
from bestbefore.errors import StoreUnavailable
from bestbefore.store.wire import PRODUCT, TYPE, error_of

AGAIN: Final = (408, 429, 502, 503, 504)
"""Answers after which a call is sent again."""

LONGEST: Final = 60.0
"""For how many seconds a call is sent again and again, before it fails."""

FIRST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 2.0

_NO_SUCH_CALL: Final = (f"{TYPE}unknown", f"{TYPE}method")


class Sending:
    """Sends calls to one server.  Any number of threads may use it at once."""

    def __init__(self, url: str, key: str | None, timeout: float) -> None:
        try:
            import httpx
        except ModuleNotFoundError:
            raise ModuleNotFoundError("a desk on a server needs httpx: pip install 'bestbefore[client]'") from None
        self.url, self._httpx, self._closed = _checked(url), httpx, False
        if key is not None and (not isinstance(key, str) or not key.isascii() or not key.isprintable() or not key):
            raise ValueError("key must be the text that `bestbefore keys make` has shown")
        self._timeout = between("timeout", timeout, 0, 3600, closed="right")
        self._headers = {"Content-Type": "application/json", "User-Agent": f"{PRODUCT}/{VERSION}"}
        self._headers |= {} if key is None else {"Authorization": f"Bearer {key}"}
        self._verify = httpx.create_ssl_context() if url.startswith("https:") else True  # takes SSL_CERT_FILE
        self._open()

    def _open(self) -> None:
        self._pid = os.getpid()
        self._client = self._httpx.Client(
            timeout=self._timeout,
            headers=self._headers,
            trust_env=False,  # a key is sent to whom it is for: no proxy, and no other password, from the environment
            verify=self._verify,
            limits=self._httpx.Limits(max_connections=None, max_keepalive_connections=100),
        )

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
                    f"{self.url} cannot be reached: {wrong or type(wrong).__name__}; {_advice(safe or not sent)}"
                )
                again, lost = safe or not sent, lost or sent
            else:
                if answer.is_success:
                    return self._content(answer)
                if lost and answer.status_code in done:
                    return None
                error, again = self._error(answer), _may_again(answer, safe)
                lost = lost or answer.status_code >= 500
                wait = _seconds(answer.headers.get("Retry-After"))
            pause = min(pause * 2, LONGEST_PAUSE)
            wait = max(wait, pause * random.uniform(0.5, 1))  # noqa: S311 (no secret)
            if not again or time.monotonic() + wait > until:
                raise error
            time.sleep(wait)

    def _content(self, answer: Any) -> Any:
        """Return what an answer says, if it is one of a service."""
        found = _json(answer)
        if found is None:
            raise self._stranger(answer)
        return found

    def _error(self, answer: Any) -> Exception:
        """Return the error that an answer stands for, whoever has given it."""
        document = _json(answer)
        if document is not None and document.get("type") in _NO_SUCH_CALL:
            return self._other_version(answer.headers.get("Server", "?"), "it does not know this call")
        if document is not None and "type" in document:
            return error_of(document, answer.status_code)
        if answer.status_code in AGAIN or answer.status_code >= 500:  # a proxy before it, and the service is away
            return StoreUnavailable(f"{self.url} answered {answer.status_code}, and it was not the service itself")
        return self._stranger(answer)

    def _stranger(self, answer: Any) -> ValueError:
        """Return the error of an answer that no service gives."""
        to = answer.headers.get("Location")
        what = f"{answer.status_code}, {answer.headers.get('Content-Type', 'no content type')!r}"
        what += f", a redirect to {to!r}" if to else ""
        return ValueError(
            f"url must be where `bestbefore serve` listens; at {self.url!r} something else answered: {what}"
        )

    def misread(self, wrong: Exception) -> ValueError:
        """Return the error of an answer that is JSON, but not what this version of a client expects."""
        return self._other_version("unknown", f"its answer cannot be read ({type(wrong).__name__}: {wrong})")

    def _other_version(self, server: str, what: str) -> ValueError:
        return ValueError(
            f"url must be that of a service which this client, {PRODUCT}/{VERSION}, can talk to; {self.url!r} "
            f"({server}) seems to be of another version: {what}"
        )


def _checked(url: str) -> str:
    """Return the address of a server, if it can be one."""
    try:
        parts = urlsplit(url)
        right = bool(parts.hostname) and not (parts.username or parts.query or parts.fragment) and parts.port != 0
    except ValueError:  # a port that none can be, a half bracket
        right = False
    if not right:
        raise ValueError('url must be like "http://host:8000", without a key in it: give it as key=...')
    return url.rstrip("/")


def _may_again(answer: Any, safe: bool) -> bool:
    """Say whether a call is sent again after an answer; one of 429 was not even looked at."""
    return answer.status_code in AGAIN and (safe or answer.status_code == 429)


def _advice(safe: bool) -> str:
    return "it is safe to send the call again" if safe else "nobody knows whether the call was carried out: look first"


def _json(answer: Any) -> dict[str, Any] | None:
    """Return the document in an answer, or None if it has none."""
    try:
        found = answer.json() if "json" in answer.headers.get("Content-Type", "") else None
    except ValueError:
        found = None
    return found if isinstance(found, dict) else None


def _seconds(text: str | None) -> float:
    return min(float(text), LONGEST_PAUSE) if text and text.isdigit() else 0.0
