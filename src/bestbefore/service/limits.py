"""Limits: how long a request may be and may take to come, and how large an agent may be."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.exceptions import HTTPException

from bestbefore.arguments import real

LARGEST: Final = 10_000
"""The most slots of a stream that is made over HTTP, and the most of whatever else takes room in memory."""

FINEST: Final = 1e-3
"""The smallest epsilon of a stream that is made over HTTP: slots grow with its inverse."""

Receive = Callable[[], Awaitable[Any]]


def check_size(agent: str, settings: Any) -> None:
    """Raise a `ValueError` if an agent would take more memory than a service should give it."""
    if not isinstance(settings, dict):
        raise ValueError(f"settings must be those of an {agent}, not {settings!r}")
    for name in ("memory", "top", "spare", "pending", "most"):
        if real(settings.get(name)) > LARGEST:
            raise ValueError(f"{name} must be at most {LARGEST} in a service, not {settings[name]!r}")
    if real(settings.get("epsilon")) < FINEST:
        raise ValueError(f"epsilon must be at least {FINEST} in a service, not {settings['epsilon']!r}")
    if agent == "Seeker" and settings.get("memory") is None and real(settings.get("window")) > LARGEST:
        raise ValueError(f"memory must be given with such a window, at most {LARGEST}, not None")


def bounded(receive: Receive, most: int, patience: float) -> Receive:
    """Return a way to receive a body that ends where it is too long, or takes too long."""
    taken, until = 0, asyncio.get_running_loop().time() + patience

    async def receiving() -> Any:
        nonlocal taken
        if has_come(receive):
            message = await receive()
        else:
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, f"a request must have come within {patience:g} s", _CLOSE) from None
        taken += len(message.get("body", b""))
        if taken > most:
            raise too_large(most)
        return message

    return receiving


def has_come(receive: Receive) -> bool:
    """Say whether a whole body is here, so that nobody has to be waited for: uvicorn's requests know."""
    return getattr(getattr(receive, "__self__", None), "more_body", None) is False


def too_large(most: int) -> HTTPException:
    """Return the answer to a body that is too long; the rest of it is not read."""
    return HTTPException(413, f"a body must have at most {most} bytes", _CLOSE)


_CLOSE: Final = {"Connection": "close"}
