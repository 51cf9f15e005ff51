"""Who may call what: each route names the scope that it needs, where its description does."""

from collections.abc import Callable, Coroutine
from typing import Any, Final

from fastapi import Request, Response
from fastapi.routing import APIRoute

from bestbefore.service import problems
from bestbefore.service.bridge import Bridge
from bestbefore.service.keys import Key, Keys

SCOPE: Final = "x-scope"
"""What a route's description calls the scope that it needs."""

_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="bestbefore"'}


def needs(scope: str, **more: Any) -> dict[str, Any]:
    """Return what a route adds to its description if it needs a key of this scope."""
    return {SCOPE: scope, "security": [{"key": []}], **more}


class Guard:
    """Knows keys by what requests say."""

    def __init__(self, keys: Keys, bridge: Bridge) -> None:
        self._keys, self._bridge = keys, bridge

    async def check(self, request: Request, scope: str) -> Key | Response:
        """Return the key of a request if it may do this, else the answer that it may not."""
        text = request.headers.get("authorization", "")
        kind, _, value = text.partition(" ")
        if kind.lower() != "bearer" or not value:
            return problems.refusal(401, "send a key: `Authorization: Bearer bb_...`", _CHALLENGE)
        find, asks = self._keys.find, self._keys.must_read(value)
        key = await self._bridge.read(find, value) if asks else find(value)
        if key is None:
            return problems.refusal(401, "this key is not known, or was revoked", _CHALLENGE)
        request.scope["bestbefore.key"] = key
        if not key.may(scope):
            return problems.refusal(403, f"this needs a key of scope {scope!r}; this one has {key.scope!r}")
        return key


class GuardedRoute(APIRoute):
    """A route that asks for a key before it reads anything."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, behind the guard."""
        inner, scope = super().get_route_handler(), (self.openapi_extra or {})[SCOPE]

        async def handler(request: Request) -> Response:
            found = await request.app.state.guard.check(request, scope)
            return found if isinstance(found, Response) else await inner(request)

        return handler
