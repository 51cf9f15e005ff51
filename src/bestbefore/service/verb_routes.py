"""The calls that change a stream: arms, pulls and rewards, alone or in batches."""

from typing import Any, Final

from fastapi import APIRouter, Request

from bestbefore.errors import StoreUnavailable, UnknownStream
from bestbefore.service import models, problems
from bestbefore.service.addresses import StreamName
from bestbefore.service.calls import VERBS, asked, call_of, check_pulls, from_batch, result
from bestbefore.service.guard import GuardedRoute, needs
from bestbefore.service.routes import answers, bridge_of, encoded, sent, sent_parts
from bestbefore.store.commit import Call
from bestbefore.store.verbs import tell as tell_verb
from bestbefore.store.wire import swept_out

api = APIRouter(prefix="/v1", route_class=GuardedRoute)

_TOLD: Final = encoded({"answer": VERBS["tell"].answer(None)})  # how most of the results of many look


async def carried_out(request: Request, name: str, verb: str, said: Any = None) -> Any:
    """Carry out one call; return its answer as JSON has it."""
    call = call_of(name, verb, said)
    await bridge_of(request).carry_out([call])
    return VERBS[verb].answer(call.result())


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
    calls = [Call(name, tell_verb(one["id"], one["reward"]), [one["id"]]) for one in said.rewards]
    await bridge_of(request).carry_out(calls)
    _raise_if_all_failed(calls, (UnknownStream, StoreUnavailable))
    return sent_parts("results", [_TOLD if call.error is None else encoded(result(call, "tell")) for call in calls])


def _raise_if_all_failed(calls: list[Call], kinds: tuple[type[Exception], ...]) -> None:
    """Raise what a whole batch failed for, if it is one of these: then the request has failed, not its calls."""
    for kind in kinds:
        if all(isinstance(call.error, kind) for call in calls) and calls[0].error is not None:
            raise calls[0].error


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
    check_pulls(said)
    calls = [from_batch(one) for one in said.calls]
    bridge = bridge_of(request)
    await bridge.carry_out([call for call in calls if call.error is None])
    _raise_if_all_failed(calls, (StoreUnavailable,))
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
