"""The log of a stream over HTTP: its pulls that have a reward, a page at a time."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import AwareDatetime, BaseModel, Field

from bestbefore.service.addresses import StreamName
from bestbefore.service.guard import GuardedRoute, needs
from bestbefore.service.models import Arm
from bestbefore.service.routes import answers, bridge_of, sent
from bestbefore.store.logs import MOST, page_out

logged = APIRouter(prefix="/v1", route_class=GuardedRoute)


class Row(BaseModel):
    """A pull that has a reward."""

    id: str
    arm: Arm
    arrived: AwareDatetime
    asked: AwareDatetime
    reward: float
    how: str = Field(description="told, or defaulted when its deadline passed.")
    propensity: float | str = Field(
        description="The probability with which the arm was named; or deterministic, if nothing was drawn; or unknown."
    )


class Log(BaseModel):
    """Some rows of a log, by id."""

    rows: list[Row]
    last: str | None = Field(description="More rows come after this id; null if there are none.")
    nameless: int = Field(description="Pulls with a reward that were passed over, since their arms have gone.")


@logged.get(
    "/streams/{name}/log",
    operation_id="log",
    summary="What happened",
    responses=answers(404),
    response_model=Log,
    openapi_extra=needs("read"),
)
async def log(
    request: Request,
    name: StreamName,
    after: Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")] = "",
    most: Annotated[int, Query(ge=1, le=MOST)] = MOST,
) -> Any:
    """Return pulls that have a reward, of arms that are still here, with the probability of each choice."""
    bridge = bridge_of(request)
    return sent(page_out(await bridge.read(bridge.desk.log_page, name, after, most)))
