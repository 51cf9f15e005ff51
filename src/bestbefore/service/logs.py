"""Logs: a line of JSON for each request and each event, without bodies, names of arms, or addresses."""

import asyncio
import json
import logging
import os
import sys
import time
import traceback
from datetime import UTC, datetime
from typing import Any, Final, TextIO

ACCESS: Final = logging.getLogger("bestbefore.access")
EVENTS: Final = logging.getLogger("bestbefore")


class Lines(logging.Formatter):
    """Writes records as JSON, one in a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line."""
        facts = getattr(record, "facts", {}) | (facts_of(record.exc_info[1]) if record.exc_info else {})
        return _line(record.created, record.levelname.lower(), record.name, record.getMessage(), facts)


def _line(created: float, level: str, log: str, event: str, facts: dict[str, Any]) -> str:
    when = datetime.fromtimestamp(created, UTC).isoformat(timespec="milliseconds")
    return json.dumps({"time": when, "level": level, "log": log, "pid": os.getpid(), "event": event} | facts)


class Requests:
    """Writes the lines of requests past `logging`, and those that are answered together at once.

    Through `logging` each line takes a fifth of the time of a whole request, most of it to write the line.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._lines = stream, list[str]()

    def take(self, facts: dict[str, Any]) -> None:
        """Take what is known of a request; it is written when the event loop has finished its turn."""
        if not self._lines:
            asyncio.get_running_loop().call_soon(self.write)
        self._lines.append(_line(time.time(), "info", ACCESS.name, "request", facts))

    def write(self) -> None:
        """Write what was taken."""
        text, self._lines = "\n".join([*self._lines, ""]), []
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the log is full or closed: requests are answered all the same
            pass


_requests: Requests | None = None


def set_up(level: str) -> None:
    """Log to the standard error, in lines of JSON."""
    global _requests
    _requests = Requests(sys.stderr)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    for name in ("bestbefore", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = ([handler] if name != "uvicorn.error" else []), name == "uvicorn.error"
        logger.setLevel(level.upper())


def facts_of(wrong: BaseException | None) -> dict[str, Any]:
    """Return of which kind an error is and where it happened; not its words, in which there may be names."""
    frames = [] if wrong is None else traceback.extract_tb(wrong.__traceback__)
    place = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return {"error": type(wrong).__name__, "place": place[-12:]}


def log_failure(wrong: BaseException) -> None:
    """Log an error that nobody expected."""
    EVENTS.error("failed", extra={"facts": facts_of(wrong)})


def log_request(method: str, route: str, status: int, seconds: float, key: Any) -> None:
    """Log a request: which route, not which address, so that no name is in it."""
    if ACCESS.isEnabledFor(logging.INFO):
        facts = {
            "method": method,
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 2),
            "key": getattr(key, "id", None),
        }
        if _requests is None:  # a service in a program of somebody else's, whose logging it is
            ACCESS.info("request", extra={"facts": facts})
        else:
            _requests.take(facts)
