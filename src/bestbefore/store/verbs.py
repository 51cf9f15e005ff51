"""The verbs of a durable stream: each is a function of the stream in memory, its ledger and the time."""

import inspect
import secrets
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from bestbefore.arguments import finite, whole
from bestbefore.errors import UnknownArm
from bestbefore.store.held import Held
from bestbefore.store.ledger import Ledger, Pull, moment_of, same_as_before
from bestbefore.store.names import check_text, text_of
from bestbefore.store.rows import GIVEN_UP, GONE, TOLD, PullRow

Verb = Callable[[Held, Ledger, int], Any]
"""Does something with a stream in memory, at a time, and returns the answer."""

LONGEST_ID = 200
LARGEST_SLATE = 1000


def checked_id(id: Any) -> str:
    """Return the id of a pull, if it can be one."""
    if not isinstance(id, str) or not 1 <= len(id) <= LONGEST_ID or "\0" in id:
        raise ValueError(f"id must be a text of 1 to {LONGEST_ID} characters, not {id!r}")
    check_text("id", id)
    return id


def arrive(arm: Any, at: Any, more: dict[str, Any]) -> Verb:
    """Let a new arm arrive; one that is here already, sent again with the same content, has done so."""
    text = text_of(arm)

    def verb(held: Held, ledger: Ledger, now: int) -> list[Any]:
        _check_named(held, "arrive", more)
        if at is None or not held.has_come(arm, text, at):  # a time that was told may be over when it is told again
            now = held.moment(now, at)
            held.settle(ledger, now)
        if arm in held.arms:
            held.check_again(arm, text, at)
            return list(held.gone)
        times = held.times(now) if held.by_time else {} if at is None else {"at": at}
        gone = held.agent.arrive(arm, **more, **times)
        held.touch(now)
        held.enter(arm, now)
        held.let_go(ledger, gone, now)
        held.wait_for(held.next_expiry())
        return list(held.gone)

    return verb


def ask(id: str | None, k: int | None) -> Verb:
    """Ask which arm to pull, under an id; asked again, the answer is the same pull."""
    ids, new = ids_of(new_id() if id is None else id, k), id is None
    slate = {} if k is None else {"k": k}

    def verb(held: Held, ledger: Ledger, now: int) -> Any:
        _check_named(held, "ask", slate)
        now = held.moment(now)
        held.settle(ledger, now)
        before = [] if new else [row for row in map(ledger.find, ids) if row is not None]
        if not before:
            named = held.agent.ask(**slate, **held.times(now))
            held.touch(now)
            arms = [arm for arm in (named if k is not None else [named]) if arm is not None]
            chance = _chance_of(held.agent) if k is None else None  # on a page of k, no arm has one of its own
            before = [_asked(held, ledger, *pair, now, chance) for pair in zip(ids, arms, strict=False)]
            held.drain(ledger, now)
        pulls = [_shown(held, row) for row in before]
        return pulls if k is not None else next(iter(pulls), None)

    return verb


def _check_named(held: Held, verb: str, named: Mapping[str, Any]) -> None:
    """Raise a `ValueError` if the agent's verb does not take what it is told."""
    known = _takes(held.kind.agent, verb) if named else None
    unknown = [] if known is None else sorted(set(named) - known)
    if unknown:
        raise ValueError(
            f"{unknown[0]} must be left out for the {held.kind.agent.__name__} of stream {held.row.name!r}: "
            f"its {verb} does not take it"
        )


@lru_cache
def _takes(agent: type, verb: str) -> frozenset[str] | None:
    """Return what a verb of an agent can be told by name; None for anything."""
    parameters = inspect.signature(getattr(agent, verb)).parameters.values()
    return None if any(one.kind is one.VAR_KEYWORD for one in parameters) else frozenset(one.name for one in parameters)


def new_id() -> str:
    """Return an id that nobody else has; those of one time stand together, so that few pages of a database change."""
    return f"{time.time_ns():016x}{secrets.token_hex(8)}"


def ids_of(id: str, k: int | None) -> list[str]:
    """Return the ids of the pulls that are asked for at once."""
    checked_id(id)
    if k is None:
        return [id]
    if whole("k", k) > LARGEST_SLATE:
        raise ValueError(f"k must be at most {LARGEST_SLATE} in a durable stream, not {k!r}")
    return [checked_id(f"{id}/{place}") for place in range(1, k + 1)]


def _chance_of(agent: Any) -> float | None:
    """Return the probability with which an agent has just named an arm, if it says so."""
    chance = getattr(agent, "chance", None)
    return chance if type(chance) is float and 0 < chance <= 1 else None


def _asked(held: Held, ledger: Ledger, id: str, arm: Any, now: int, chance: float | None) -> PullRow:
    """Write a pull into the ledger."""
    patience = held.row.settings["patience"]
    deadline = None if patience is None else now + patience
    row = PullRow(id, held.arms[arm].number, now, deadline, chance=chance)
    ledger.add(row)
    held.count("asked", now)
    held.wait_for(row.deadline)
    return row


def _shown(held: Held, row: PullRow) -> Pull:
    deadline = None if row.deadline is None else moment_of(row.deadline)
    return Pull(row.id, held.arm_of(row), row.arrival, moment_of(row.asked), deadline)


def tell(id: str, reward: float) -> Verb:
    """Tell the reward of a pull, exactly once."""
    id, told = checked_id(id), finite("reward", reward)

    def verb(held: Held, ledger: Ledger, now: int) -> None:
        now = held.moment(now)
        held.settle(ledger, now)
        row = ledger.pull(id)
        if row.how != GONE and same_as_before(row, TOLD, told):
            return
        held.agent.tell(held.arm_of(row), told, arrival=row.arrival, **held.times(now))
        held.touch(now)
        ledger.end(row, TOLD, told, now)
        held.count("told", now, reward=told)
        held.drain(ledger, now)

    return verb


def give_up(id: str) -> Verb:
    """Take note that a pull will never report."""
    id = checked_id(id)

    def verb(held: Held, ledger: Ledger, now: int) -> None:
        now = held.moment(now)
        held.settle(ledger, now)
        row = ledger.pull(id)
        if row.how != GONE and same_as_before(row, GIVEN_UP, None):
            return
        held.agent.give_up(held.arm_of(row), arrival=row.arrival, **held.times(now))
        held.touch(now)
        ledger.end(row, GIVEN_UP, None, now)
        held.count("given_up", now)
        held.drain(ledger, now)

    return verb


def withdraw(arm: Any) -> Verb:
    """Let an arm go at once, without a trace."""
    text_of(arm)

    def verb(held: Held, ledger: Ledger, now: int) -> None:
        now = held.moment(now)
        held.settle(ledger, now)
        if arm not in held.arms:
            raise UnknownArm(f"arm {arm!r} is not in memory: it was let go, has expired, or never arrived")
        held.agent.withdraw(arm, **held.times(now))
        held.touch(now)
        held.let_go(ledger, [arm], now, told=False)
        held.drain(ledger, now)

    return verb


def advance(to: Any) -> Verb:
    """Let time go on where nothing arrives."""

    def verb(held: Held, ledger: Ledger, now: int) -> list[Any]:
        now = held.moment(now, to, "to")
        held.settle(ledger, now)
        gone = held.agent.advance(now / 1e6 if held.by_time else to)
        if gone or to is not None or held.by_time:  # whoever loads the state must find its clock where it is here
            held.touch(now)
        held.let_go(ledger, gone, now)
        return list(held.gone)

    return verb


def other(name: str, *arguments: Any, **named: Any) -> Verb:
    """Call a verb that only some agents have, such as a seeker's `learn`."""

    def verb(held: Held, ledger: Ledger, now: int) -> Any:
        now = held.moment(now)
        held.settle(ledger, now)
        found = getattr(held.agent, name, None)
        if found is None:
            raise ValueError(f"{name} is no verb of the {held.kind.agent.__name__} of stream {held.row.name!r}")
        gone = found(*arguments, **named)
        held.touch(now)
        held.let_go(ledger, gone, now)
        held.drain(ledger, now)
        return list(held.gone)

    return verb


def settle() -> Verb:
    """Do what is due, and nothing else."""

    def verb(held: Held, ledger: Ledger, now: int) -> list[Any]:
        held.settle(ledger, held.moment(now))
        return list(held.gone)

    return verb
