"""The edge: what happens to every request, whatever it asks for: limits, logs and numbers."""

import time
from typing import Any, Final

from fastapi import Request

from bestbefore import __version__
from bestbefore.service import hot, logs, problems
from bestbefore.service.addresses import keep_as_sent
from bestbefore.service.limits import bounded, too_large
from bestbefore.service.metrics import Metrics
from bestbefore.service.settings import Settings
from bestbefore.store.wire import PRODUCT

_HEADERS: Final = ((b"x-content-type-options", b"nosniff"), (b"server", f"{PRODUCT}/{__version__}".encode()))
_ALWAYS: Final = ("/health", "/metrics")
_METHODS: Final = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH")


class Edge:
    """Wraps an app."""

    def __init__(self, app: Any, settings: Settings, metrics: Metrics) -> None:
        self._app, self._settings, self._metrics = app, settings, metrics
        self._open = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, begun = time.perf_counter(), 500, False
        keep_as_sent(scope)

        async def sending(message: Any) -> None:
            nonlocal status, begun
            if message["type"] == "http.response.start":
                status, begun = message["status"], True
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        self._open += 1
        try:
            refused = self._refused(scope)
            if refused is not None:
                await refused(scope, receive, sending)
            else:
                receiving = bounded(receive, self._settings.most_bytes, self._settings.patience)
                called = hot.match(scope)
                if called is None:
                    await self._app(scope, receiving, sending)
                else:
                    scope["route"] = called[0]
                    answer = await hot.serve(Request(scope, receiving), *called)
                    await answer(scope, receiving, sending)
        except Exception as wrong:
            logs.log_failure(wrong)
            if not begun:
                await problems.refusal(500, "something is wrong with the service: see its log")(scope, receive, sending)
        finally:
            self._open -= 1
            took = time.perf_counter() - began
            route = getattr(scope.get("route"), "path", "-")
            method = scope["method"] if scope["method"] in _METHODS else "-"
            self._metrics.request(method, route, status, took)
            logs.log_request(method, route, status, took, scope.get("bestbefore.key"))

    def _refused(self, scope: Any) -> Any:
        """Return the answer to a request that is not even looked at."""
        if self._open > self._settings.most_calls and scope["path"] not in _ALWAYS:
            return problems.refusal(429, f"more than {self._settings.most_calls} calls at once: send it again later")
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if length.isdigit() and int(length) > self._settings.most_bytes:
            wrong = too_large(self._settings.most_bytes)
            return problems.refusal(wrong.status_code, wrong.detail, wrong.headers)
        return None
