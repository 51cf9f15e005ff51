"""Logs: a line of JSON for each request and each event, without bodies, names of arms, or addresses."""

import json
import logging
import os
import sys
import traceback
from datetime import UTC, datetime
from typing import Any, Final

ACCESS: Final = logging.getLogger("bestbefore.access")
EVENTS: Final = logging.getLogger("bestbefore")


class Lines(logging.Formatter):
    """Writes records as JSON, one in a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line."""
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"time": when, "level": record.levelname.lower(), "log": record.name, "pid": os.getpid()}
        line |= {"event": record.getMessage()} | getattr(record, "facts", {})
        if record.exc_info:
            line |= facts_of(record.exc_info[1])
        return json.dumps(line)


def set_up(level: str) -> None:
    """Log to the standard error, in lines of JSON."""
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
        ACCESS.info("request", extra={"facts": facts})
