"""The log of a stream: its pulls that have a reward, of arms that are still here.

A row has the probability with which its arm was named where the rule draws and knows it, and a word where there is no
such number.  Once an arm has gone, its rows are gone with its name: what is to be kept has to be written before.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from bestbefore.agents import saved
from bestbefore.store.commit import unknown_stream
from bestbefore.store.ledger import moment_of
from bestbefore.store.names import name_of
from bestbefore.store.rows import DEFAULTED, TOLD, PullRow, Reading

DETERMINISTIC: Final = "deterministic"
"""Nothing was drawn: the arm followed from what was known."""
UNKNOWN: Final = "unknown"
"""Something was drawn, but with which probability is not known."""
MOST: Final = 1000
"""How many pulls are read at once."""


class Logged(NamedTuple):
    """A pull that has a reward; `how` says whether it was told, or counted when its deadline passed."""

    id: str
    arm: Any
    arrived: datetime
    asked: datetime
    reward: float
    how: str
    propensity: float | str
    """The probability with which the arm was named, or "deterministic", or "unknown"."""


class Page(NamedTuple):
    """Some rows of a log, by id; more come after the id `last`, unless that is None.

    `nameless` is how many pulls with a reward were passed over, since their arms have gone.
    """

    rows: list[Logged]
    last: str | None
    nameless: int


def page_of(reading: Reading, name: str, agent: Any, after: str, most: int = MOST) -> Page:
    """Return the rows of a log whose ids come after one; `agent` is the stream's, as it is now."""
    head = reading.head(name)
    row = None if head is None else reading.stream(head.id)
    if head is None or row is None:
        raise unknown_stream(name)
    arms = {arm.number: (name_of(arm.name), moment_of(arm.since)) for arm in row.arms}
    here = {number: arm for number, arm in arms.items() if _holds(agent, arm[0], number)}
    pulls = reading.pulls_after(head.id, after, most)
    ended = [pull for pull in pulls if pull.how in (TOLD, DEFAULTED)]
    rows = [_logged(pull, *here[pull.arrival], agent) for pull in ended if pull.arrival in here]
    return Page(rows, pulls[-1].id if len(pulls) == most else None, len(ended) - len(rows))


def _holds(agent: Any, arm: Any, number: int) -> bool:
    """Say whether an arm is here: one that has expired may still be in the database, until somebody sweeps."""
    return bool(agent.holds(arm)) and agent.arrival_of(arm) == number


def _logged(pull: PullRow, arm: Any, arrived: datetime, agent: Any) -> Logged:
    if pull.reward is None or pull.how is None:
        raise ValueError(f"pull {pull.id!r} must have a reward to be logged")
    propensity = DETERMINISTIC if getattr(agent, "draws", None) is False else pull.chance or UNKNOWN
    return Logged(pull.id, arm, arrived, moment_of(pull.asked), pull.reward, pull.how, propensity)


def all_rows(page: Callable[[str], Page]) -> Iterator[Logged]:
    """Yield the rows of all pages, each of which is read when it is needed."""
    last: str | None = ""
    while last is not None:
        found = page(last)
        yield from found.rows
        last = found.last


def page_out(page: Page) -> dict[str, Any]:
    """Return a page as JSON has it."""
    rows = [row._asdict() | {"arrived": row.arrived.isoformat(), "asked": row.asked.isoformat()} for row in page.rows]
    return {"rows": rows, "last": page.last, "nameless": page.nameless}


def page_in(data: Mapping[str, Any]) -> Page:
    """Return the page that `page_out` made JSON of."""
    return Page([_logged_in(row) for row in data["rows"]], data["last"], data["nameless"])


def _logged_in(row: Mapping[str, Any]) -> Logged:
    times = {name: datetime.fromisoformat(row[name]) for name in ("arrived", "asked")}
    return Logged(**(dict(row) | times | {"arm": saved.name(row["arm"])}))
