"""The calls that make streams, drop them and look at them; `verb_routes` has those that change them."""

import json
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from bestbefore.agents import Explorer, Player, Seeker
from bestbefore.service import facts, models
from bestbefore.service.addresses import StreamName
from bestbefore.service.bridge import Bridge
from bestbefore.service.guard import GuardedRoute, needs
from bestbefore.service.limits import check_size
from bestbefore.store.desk import Desk
from bestbefore.store.wire import erased_out

_AGENTS: Final[dict[str, Any]] = {"Explorer": Explorer, "Player": Player, "Seeker": Seeker}
_WORDS: Final = {
    401: "no key, or one that is not known",
    403: "the key has another scope",
    404: "the stream or the pull is not known",
    405: "no such method here",
    408: "the request took too long to come",
    409: "it was done before, with other content",
    410: "the arm has expired, was let go or withdrawn",
    413: "the body is too long",
    422: "something is not as it must be: the field is named",
    429: "too many calls at once: see Retry-After",
    500: "something is wrong with the service, or this stream is damaged: see its log",
    503: "the database is away: see Retry-After",
}
PROBLEM: Final = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return how problems of a route are described; some can happen anywhere."""
    common = (401, 403, 405, 408, 413, 422, 429, 500, 503)
    return {status: {"description": _WORDS[status], "content": PROBLEM} for status in sorted({*statuses, *common})}


api = APIRouter(prefix="/v1", route_class=GuardedRoute)


encoded: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Returns content as JSON; made once, since that takes longer than to use it."""


def sent(content: Any, status: int = 200) -> Response:
    """Return an answer as JSON."""
    return Response(encoded(content).encode(), status, media_type="application/json")


def sent_parts(name: str, parts: list[str]) -> Response:
    """Return an answer that is one list, of parts that are JSON already."""
    return Response(f'{{"{name}":[{",".join(parts)}]}}'.encode(), media_type="application/json")


def bridge_of(request: Request) -> Bridge:
    """Return the way to the desk."""
    found: Bridge = request.app.state.bridge
    return found


@api.get(
    "/streams",
    operation_id="list_streams",
    summary="List all streams",
    responses=answers(),
    response_model=models.Streams,
    openapi_extra=needs("read"),
)
async def list_streams(request: Request) -> Any:
    """Return the names of all streams, sorted."""
    bridge = bridge_of(request)
    return sent({"streams": await bridge.read(bridge.desk.streams)})


@api.put(
    "/streams/{name}",
    operation_id="make_stream",
    summary="Make a stream",
    responses=answers(409) | {201: {"model": models.Made, "description": "it was made"}},
    response_model=models.Made,
    openapi_extra=needs("write"),
)
async def make_stream(request: Request, name: StreamName, said: models.Stream) -> Any:
    """Make a stream, or see that it is there with the same settings; with others it is a conflict."""
    bridge = bridge_of(request)
    made = await bridge.write(_make, bridge.desk, name, said)
    return sent({"stream": name, "made": made}, 201 if made else 200)


def _make(desk: Desk, name: str, said: models.Stream) -> bool:
    kind, settings = _AGENTS[said.agent], said.settings
    if said.state is not None and settings:
        raise ValueError(f"settings must be left out where a state is given, not {sorted(settings)}")
    check_size(said.agent, settings if said.state is None else said.state.get("arguments", {}))
    reserved = {"patience", "otherwise", "remember", "agent", "name", "self", "valid"} & set(settings)
    if reserved:
        raise ValueError(f"settings must not have {sorted(reserved)}: a stream has them, or they are functions")
    try:
        agent = kind(**settings) if said.state is None else kind.from_state(said.state)
    except (TypeError, KeyError, AttributeError, IndexError, OverflowError, MemoryError, ZeroDivisionError) as wrong:
        raise ValueError(f"settings must be those of an {said.agent}: {wrong}") from None
    there = desk.has(name)
    desk.stream(name, agent, patience=said.patience, otherwise=said.otherwise, remember=said.remember)
    return not there


@api.get(
    "/streams/{name}",
    operation_id="look_at_stream",
    summary="Look at a stream",
    responses=answers(404),
    response_model=models.Facts,
    openapi_extra=needs("read"),
)
async def look_at_stream(request: Request, name: StreamName) -> Any:
    """Return what a stream is and what has happened in it."""
    bridge = bridge_of(request)
    return sent(await bridge.read(facts.look, bridge.desk, name, request.app.state.settings.silent_after))


@api.delete(
    "/streams/{name}",
    operation_id="drop_stream",
    summary="Drop a stream",
    responses=answers(404),
    response_model=models.Done,
    openapi_extra=needs("admin"),
)
async def drop_stream(request: Request, name: StreamName) -> Any:
    """Delete a stream with all that belongs to it, names included."""
    bridge = bridge_of(request)
    await bridge.write(bridge.desk.drop, name)
    return sent({"done": True})


@api.get(
    "/streams/{name}/best",
    operation_id="best",
    summary="The best arm now",
    responses=answers(404),
    response_model=models.Best,
    openapi_extra=needs("read"),
)
async def best(request: Request, name: StreamName, k: Annotated[int | None, Query(ge=1, le=1000)] = None) -> Any:
    """Return the best arm, or with `k` a list of up to k; never one that has expired."""
    bridge = bridge_of(request)
    return sent({"best": await bridge.read(lambda: bridge.desk.stream(name).best(k))})


@api.get(
    "/streams/{name}/erased",
    operation_id="erased",
    summary="What was erased",
    responses=answers(404),
    response_model=models.Erased,
    openapi_extra=needs("read"),
)
async def erased(request: Request, name: StreamName) -> Any:
    """Return how many arms were erased, when the last sweep ran, and how old the oldest arm held is."""
    bridge = bridge_of(request)
    return sent(erased_out(await bridge.read(bridge.desk.erased, name)))


@api.get(
    "/streams/{name}/state",
    operation_id="state",
    summary="All that the agent knows",
    responses=answers(404),
    response_model=models.State,
    openapi_extra=needs("read"),
)
async def state(request: Request, name: StreamName) -> Any:
    """Return the agent's state as it can be saved, names included."""
    bridge = bridge_of(request)
    return sent({"state": await bridge.read(lambda: bridge.desk.stream(name).state())})
