"""What has happened in a stream over time: a call of the API of its own."""

from enum import StrEnum
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel

from bestbefore.service import facts
from bestbefore.service.addresses import StreamName
from bestbefore.service.guard import GuardedRoute, needs
from bestbefore.service.routes import answers, bridge_of, sent

api = APIRouter(prefix="/v1", route_class=GuardedRoute)


class Span(StrEnum):
    """How far to look back: by minutes, quarters of an hour or quarters of a day."""

    hour = "hour"
    day = "day"
    month = "month"


class Step(BaseModel):
    """What happened from `since` on, for one step; `mean` is that of the rewards that counted."""

    since: str
    arrived: int
    asked: int
    told: int
    reward: float
    defaulted: int
    given_up: int
    gone: int
    mean: float | None


class Past(BaseModel):
    """What happened in a stream, step by step, the oldest first; where nothing happened, there is no step."""

    name: str
    span: Span
    step: float
    totals: list[Step]


@api.get(
    "/streams/{name}/totals",
    operation_id="totals",
    summary="What happened over time",
    responses=answers(404),
    response_model=Past,
    openapi_extra=needs("read"),
)
async def past(request: Request, name: StreamName, span: Span = Span.day) -> Any:
    """Return how much was asked and told in each step of the last hour, day or month; no names are in it."""
    bridge = bridge_of(request)
    return sent(await bridge.read(facts.look_back, bridge.desk, name, span.value))
