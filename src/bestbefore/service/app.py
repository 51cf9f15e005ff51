"""The app: the calls of the API, health, numbers and the page, on one desk."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi

from bestbefore import __version__
from bestbefore.errors import StoreUnavailable
from bestbefore.service import page, problems, totals, verb_routes
from bestbefore.service.bridge import Bridge
from bestbefore.service.edge import Edge
from bestbefore.service.guard import Guard, GuardedRoute, needs
from bestbefore.service.keys import Keys
from bestbefore.service.links import add_links
from bestbefore.service.logged import logged
from bestbefore.service.metrics import MEDIA, Metrics
from bestbefore.service.models import ARM, ARM_MARK, Health, Problem
from bestbefore.service.routes import answers, api, bridge_of, sent
from bestbefore.service.settings import Settings
from bestbefore.service.warm import compile_rules
from bestbefore.store.desk import Desk

_ABOUT: Final = """Streams of arms of which only the recent ones count: which is best now?

Every call but /health needs a key: `Authorization: Bearer bb_...`. Calls may be sent again: the same content gives the
same answer, other content is a conflict (409). Errors are problem documents (RFC 9457)."""

_SAID_TO_NOBODY: Final[Any] = dict.fromkeys(("tracing", "metrics", "logs", "auto_configure"), False)
"""What FastAPI would send to a collector of OpenTelemetry, if there is one: in addresses and bodies there are names."""

PATIENCE: Final = 5.0
"""For how many seconds `/health` waits for the database."""


def create_app(desk: Desk, keys: Keys, settings: Settings) -> FastAPI:
    """Return the app that serves a desk to whoever has a key."""
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        bridge: Bridge = app.state.bridge
        await bridge.write(compile_rules)
        desk.watch(metrics.commit)
        yield
        bridge.close()

    app = FastAPI(
        title="Best Before",
        version=__version__,
        description=_ABOUT,
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,  # the usual pages load scripts from outside
        redoc_url=None,
        telemetry=_SAID_TO_NOBODY,
    )
    app.state.bridge, app.state.settings, app.state.metrics = Bridge(desk), settings, metrics
    app.state.guard = Guard(keys, app.state.bridge)
    app.include_router(api)
    app.include_router(verb_routes.api)
    app.include_router(totals.api)
    app.include_router(logged)
    page.install(app, keys, settings)
    _operate(app)
    problems.install(app)
    app.add_middleware(Edge, settings=settings, metrics=metrics)
    _describe(app)
    return app


def _operate(app: FastAPI) -> None:
    """Add what operators ask for."""

    @app.get("/health", operation_id="health", summary="Is it well?", response_model=Health, responses=_only(503))
    async def health(request: Request) -> Any:
        """Read from the database, and say whether that went well; this needs no key."""
        bridge = bridge_of(request)
        try:
            async with asyncio.timeout(PATIENCE):
                await bridge.read(bridge.desk.check)
        except TimeoutError:
            raise StoreUnavailable(f"the database has not answered for {PATIENCE:g} s") from None
        return sent({"status": "ok"})

    async def numbers(request: Request) -> Response:
        """Return numbers for Prometheus: calls, times, transactions, what waits. No names are in them."""
        bridge, state = bridge_of(request), request.app.state
        text = await bridge.read(state.metrics.text, bridge.desk, state.settings.silent_after)
        return Response(text, media_type=MEDIA)

    described: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
    app.router.add_api_route(
        "/metrics",
        numbers,
        operation_id="metrics",
        summary="Numbers for Prometheus",
        responses=answers() | described,
        response_class=Response,
        openapi_extra=needs("read"),
        route_class_override=GuardedRoute,
    )


def _only(status: int) -> dict[int | str, dict[str, Any]]:
    return {one: answers()[one] for one in (405, 500, status)}


def _describe(app: FastAPI) -> None:
    """Add to the description of the API what routes cannot say: keys, and problem documents."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = get_openapi(title=app.title, version=app.version, description=_ABOUT, routes=app.routes)
            parts = found.setdefault("components", {})
            parts.setdefault("schemas", {})["Problem"] = Problem.model_json_schema()
            parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer", "description": "A key."}}
            parts["schemas"]["Arm"] = ARM
            _name_arms(found)
            add_links(found)
            app.openapi_schema = found
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _name_arms(part: Any) -> None:
    """Put the description of an arm's name, which refers to itself, wherever one is meant."""
    if isinstance(part, dict):
        if part.pop(ARM_MARK, False):
            part.pop("title", None)
            part["$ref"] = "#/components/schemas/Arm"
        for value in part.values():
            _name_arms(value)
    elif isinstance(part, list):
        for value in part:
            _name_arms(value)
