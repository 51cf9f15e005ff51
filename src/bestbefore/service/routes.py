"""The calls: streams, arms, pulls and rewards, each a verb of a durable stream."""

import json
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from bestbefore.agents import Explorer, Player, Seeker
from bestbefore.errors import StoreUnavailable
from bestbefore.service import facts, models, problems
from bestbefore.service.addresses import StreamName
from bestbefore.service.bridge import Bridge
from bestbefore.service.calls import VERBS, asked, call_of, from_batch, result
from bestbefore.service.guard import GuardedRoute, needs
from bestbefore.service.limits import check_size
from bestbefore.store.commit import Call
from bestbefore.store.desk import Desk
from bestbefore.store.wire import erased_out, swept_out

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
    503: "the database is away: see Retry-After",
}
PROBLEM: Final = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return how problems of a route are described; some can happen anywhere."""
    common = (401, 403, 429, 503, 405, 408, 413, 422)
    return {status: {"description": _WORDS[status], "content": PROBLEM} for status in sorted({*statuses, *common})}


api = APIRouter(prefix="/v1", route_class=GuardedRoute)


def sent(content: Any, status: int = 200) -> Response:
    """Return an answer as JSON."""
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    return Response(body, status, media_type="application/json")


def bridge_of(request: Request) -> Bridge:
    """Return the way to the desk."""
    found: Bridge = request.app.state.bridge
    return found


async def carried_out(request: Request, name: str, verb: str, said: Any = None) -> Any:
    """Carry out one call; return its answer as JSON has it."""
    call = call_of(name, verb, said)
    await bridge_of(request).carry_out([call])
    return VERBS[verb].answer(call.result())


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
    there = name in desk.streams()
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


@api.post(
    "/streams/{name}/arms",
    operation_id="arrive",
    summary="Let an arm arrive",
    responses=answers(404, 409),
    response_model=models.Gone,
    openapi_extra=needs("write"),
)
async def arrive(request: Request, name: StreamName, said: models.Arrival) -> Any:
    """Let a new arm arrive; one that is here already has done so, and nothing changes."""
    return sent(await carried_out(request, name, "arrive", said))


@api.post(
    "/streams/{name}/arms/withdraw",
    operation_id="withdraw",
    summary="Withdraw an arm",
    responses=answers(404, 410),
    response_model=models.Done,
    openapi_extra=needs("write"),
)
async def withdraw(request: Request, name: StreamName, said: models.Withdrawal) -> Any:
    """Let an arm go at once, without a trace; its bytes are erased from the disk before this returns, if possible."""
    done = await carried_out(request, name, "withdraw", said)
    bridge = bridge_of(request)
    await bridge.write(bridge.desk.erase)
    return sent(done)


@api.post(
    "/streams/{name}/pulls",
    operation_id="ask",
    summary="Ask which arm to pull",
    responses=answers(404, 409, 410),
    response_model=models.Pulls,
    openapi_extra=needs("tell"),
)
async def ask(request: Request, name: StreamName, said: models.Question) -> Any:
    """Ask for one pull, a slate of `k` or a batch of `count`; with an id of yours, the answer is the same again."""
    calls = asked(name, said)
    await bridge_of(request).carry_out(calls)
    answers = [VERBS["ask"].answer(call.result())["pulls"] for call in calls]
    return sent({"pulls": [pull for some in answers for pull in some]})


@api.post(
    "/streams/{name}/rewards",
    operation_id="tell",
    summary="Tell a reward",
    responses=answers(404, 409, 410),
    response_model=models.Done,
    openapi_extra=needs("tell"),
)
async def tell(request: Request, name: StreamName, said: models.Told) -> Any:
    """Tell the reward of a pull by its id: it counts exactly once, however often it is sent."""
    return sent(await carried_out(request, name, "tell", said))


@api.post(
    "/streams/{name}/rewards/batch",
    operation_id="tell_many",
    summary="Tell many rewards",
    responses=answers(404),
    response_model=models.Results,
    openapi_extra=needs("tell"),
)
async def tell_many(request: Request, name: StreamName, said: models.Rewards) -> Any:
    """Tell many rewards at once; each has a result of its own, and one that is wrong fails alone."""
    calls = [call_of(name, "tell", one) for one in said.rewards]
    await bridge_of(request).carry_out(calls)
    if isinstance(calls[0].error, (LookupError, StoreUnavailable)) and _all_alike(calls):
        raise calls[0].error
    return sent({"results": [result(call, "tell") for call in calls]})


def _all_alike(calls: list[Call]) -> bool:
    """Say whether a whole batch failed for one reason: no such stream, or no database."""
    first = type(calls[0].error)
    return first.__name__ in ("UnknownStream", "StoreUnavailable") and all(type(call.error) is first for call in calls)


@api.post(
    "/streams/{name}/lost",
    operation_id="give_up",
    summary="Give a pull up",
    responses=answers(404, 409, 410),
    response_model=models.Done,
    openapi_extra=needs("tell"),
)
async def give_up(request: Request, name: StreamName, said: models.Lost) -> Any:
    """Take note that a pull will never report: it counts for nothing."""
    return sent(await carried_out(request, name, "give_up", said))


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


@api.post(
    "/streams/{name}/advance",
    operation_id="advance",
    summary="Let time go on",
    responses=answers(404),
    response_model=models.Gone,
    openapi_extra=needs("write"),
)
async def advance(request: Request, name: StreamName, said: models.Advance) -> Any:
    """Let time go on where nothing arrives; return the arms that memory let go."""
    return sent(await carried_out(request, name, "advance", said))


@api.post(
    "/streams/{name}/learn",
    operation_id="learn",
    summary="Learn whether an arm is valid",
    responses=answers(404, 410),
    response_model=models.Gone,
    openapi_extra=needs("write"),
)
async def learn(request: Request, name: StreamName, said: models.Learnt) -> Any:
    """Tell a Seeker whether an arm is valid."""
    return sent(await carried_out(request, name, "learn", said))


@api.post(
    "/streams/{name}/tick",
    operation_id="tick",
    summary="Let one step pass",
    responses=answers(404),
    response_model=models.Gone,
    openapi_extra=needs("write"),
)
async def tick(request: Request, name: StreamName) -> Any:
    """Let time go on by one step after the last arrival, for a Seeker."""
    return sent(await carried_out(request, name, "tick"))


@api.post(
    "/streams/{name}/finish",
    operation_id="finish",
    summary="End a stream",
    responses=answers(404),
    response_model=models.Gone,
    openapi_extra=needs("write"),
)
async def finish(request: Request, name: StreamName, said: models.Finish) -> Any:
    """End the stream of a Seeker: no more arms will arrive."""
    return sent(await carried_out(request, name, "finish", said))


@api.post(
    "/batch",
    operation_id="batch",
    summary="Many calls at once",
    responses=answers(),
    response_model=models.Results,
    openapi_extra=needs("tell"),
)
async def batch(request: Request, said: models.Batch) -> Any:
    """Send many calls, of any streams; they share transactions, and one that is wrong fails alone.

    Each verb needs the scope that its own call needs: with a key of scope `tell`, a batch can ask, tell and give up.
    """
    key = request.scope["bestbefore.key"]
    for needed in sorted({VERBS[one.verb].scope for one in said.calls}):
        if not key.may(needed):
            return problems.refusal(403, f"this batch needs a key of scope {needed!r}; this one has {key.scope!r}")
    calls = [from_batch(one) for one in said.calls]
    bridge = bridge_of(request)
    await bridge.carry_out([call for call in calls if call.error is None])
    if any(one.verb == "withdraw" for one in said.calls):
        await bridge.write(bridge.desk.erase)
    return sent({"results": [result(call, one.verb) for call, one in zip(calls, said.calls, strict=True)]})


@api.post(
    "/sweep",
    operation_id="sweep",
    summary="Do what is due",
    responses=answers(),
    response_model=models.Swept,
    openapi_extra=needs("admin"),
)
async def sweep(request: Request) -> Any:
    """Do what is due in all streams, and erase the bytes of names that were deleted; the service does it by itself."""
    bridge = bridge_of(request)
    return sent(swept_out(await bridge.write(bridge.desk.sweep)))
