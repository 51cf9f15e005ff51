"""What travels between a server and its clients: pulls, answers and errors as JSON, and back."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from bestbefore.agents import saved
from bestbefore.clock import MICROSECOND
from bestbefore.errors import (
    Conflict,
    ExpiredArm,
    StoreDamaged,
    StoreUnavailable,
    UnknownArm,
    UnknownPull,
    UnknownStream,
)
from bestbefore.store.answers import Erased, Swept
from bestbefore.store.ledger import Pull

PRODUCT: Final = "bestbefore"
"""What servers and clients call themselves, with `VERSION` behind it."""

TYPE: Final = "urn:bestbefore:problem:"
"""What the types of problem documents begin with."""


class Problem(NamedTuple):
    """A kind of error: its word in the type of a problem document, its status and its title."""

    word: str
    status: int
    title: str
    error: type[Exception]


PROBLEMS: Final = (  # the first that fits counts
    Problem("unknown-stream", 404, "There is no such stream", UnknownStream),
    Problem("unknown-pull", 404, "There is no such pull", UnknownPull),
    Problem("expired", 410, "The arm has expired", ExpiredArm),
    Problem("gone", 410, "The arm is not here any more", UnknownArm),
    Problem("conflict", 409, "It was done before, and otherwise", Conflict),
    Problem("damaged", 500, "What is in the database cannot be read", StoreDamaged),
    Problem("unavailable", 503, "The database cannot be reached now", StoreUnavailable),
    Problem("invalid", 422, "Something is not as it must be", ValueError),
)
"""The errors of a desk as problem documents."""


def problem_of(error: BaseException) -> Problem | None:
    """Return what kind of problem an error is, or None for one that nobody expected."""
    return next((problem for problem in PROBLEMS if isinstance(error, problem.error)), None)


def error_of(document: Mapping[str, Any], status: int) -> Exception:
    """Return the error that a problem document stands for."""
    word = str(document.get("type", "")).removeprefix(TYPE)
    text = str(document.get("detail") or document.get("title") or f"the server answered {status}")
    kind = next((problem.error for problem in PROBLEMS if problem.word == word), None)
    if kind is None:
        if status in (401, 403):
            return PermissionError(text)
        kind = StoreUnavailable if status >= 500 or status in (408, 429) else ValueError
    return kind(text)


def pull_out(pull: Pull) -> dict[str, Any]:
    """Return a pull as JSON has it."""
    deadline = None if pull.deadline is None else pull.deadline.isoformat()
    return {
        "id": pull.id,
        "arm": pull.arm,
        "arrival": pull.arrival,
        "asked": pull.asked.isoformat(),
        "deadline": deadline,
    }


def pull_in(data: Mapping[str, Any]) -> Pull:
    """Return the pull that `pull_out` made JSON of."""
    deadline = None if data["deadline"] is None else datetime.fromisoformat(data["deadline"])
    asked = datetime.fromisoformat(data["asked"])
    return Pull(data["id"], saved.name(data["arm"]), data["arrival"], asked, deadline)


def erased_out(erased: Erased) -> dict[str, Any]:
    """Return what was erased as JSON has it; an age is in seconds."""
    return {
        "arms": erased.arms,
        "swept": None if erased.swept is None else erased.swept.isoformat(),
        "oldest": None if erased.oldest is None else erased.oldest / timedelta(seconds=1),
        "waiting": erased.waiting,
    }


def erased_in(data: Mapping[str, Any]) -> Erased:
    """Return what `erased_out` made JSON of."""
    swept = None if data["swept"] is None else datetime.fromisoformat(data["swept"])
    oldest = None if data["oldest"] is None else round(data["oldest"] * 1e6) * MICROSECOND
    return Erased(data["arms"], swept, oldest, data["waiting"])


def swept_out(swept: Swept) -> dict[str, Any]:
    """Return what a sweep has done as JSON has it."""
    failed = {name: str(wrong) for name, wrong in swept.failed.items()}
    return swept._asdict() | {"failed": failed}


def swept_in(data: Mapping[str, Any]) -> Swept:
    """Return what `swept_out` made JSON of."""
    gone = {name: names_in(arms) for name, arms in data["gone"].items()}
    failed: dict[str, Exception] = {name: StoreUnavailable(text) for name, text in data["failed"].items()}
    return Swept(data["streams"], gone, data["forgotten"], data["erased"], failed)


def names_in(arms: Any) -> list[Any]:
    """Return names of arms as they were: what JSON has made a list was a tuple."""
    return [saved.name(arm) for arm in arms]
