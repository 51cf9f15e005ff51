"""Requests as calls of a desk, alone or in a batch, and their answers as JSON."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from bestbefore.agents import saved
from bestbefore.errors import StoreUnavailable
from bestbefore.service import models, problems
from bestbefore.store import verbs
from bestbefore.store.commit import Call
from bestbefore.store.verbs import Verb, ids_of
from bestbefore.store.wire import pull_out


class Said(NamedTuple):
    """How a verb is sent: the model of its body, the scope it needs, what it does, how its answer looks."""

    model: type[models.Model] | None
    scope: str
    verb: Callable[[Any], tuple[Verb, list[str]]]
    answer: Callable[[Any], Any]


def name_in(arm: Any) -> Any:
    """Return the name of an arm as JSON has it: a list is a tuple."""
    try:
        return saved.name(arm)
    except (ValueError, RecursionError):
        raise ValueError("arm must be a string, a number, a boolean or a list of these") from None


def _arrive(said: models.Arrival) -> tuple[Verb, list[str]]:
    more = {} if said.budget is None else {"budget": said.budget}
    return verbs.arrive(name_in(said.arm), said.at, more), []


def _ask(said: models.Question) -> tuple[Verb, list[str]]:
    return verbs.ask(said.id, said.k), [] if said.id is None else ids_of(said.id, said.k)


def _pulls(answer: Any) -> dict[str, Any]:
    found = answer if isinstance(answer, list) else [] if answer is None else [answer]
    return {"pulls": [pull_out(pull) for pull in found]}


def _gone(answer: Any) -> dict[str, Any]:
    return {"gone": answer}


def _done(_: Any) -> dict[str, Any]:
    return {"done": True}


VERBS: Final[dict[str, Said]] = {
    "arrive": Said(models.Arrival, "write", _arrive, _gone),
    "ask": Said(models.Question, "tell", _ask, _pulls),
    "tell": Said(models.Told, "tell", lambda said: (verbs.tell(said.id, said.reward), [said.id]), _done),
    "give_up": Said(models.Lost, "tell", lambda said: (verbs.give_up(said.id), [said.id]), _done),
    "withdraw": Said(models.Withdrawal, "write", lambda said: (verbs.withdraw(name_in(said.arm)), []), _done),
    "advance": Said(models.Advance, "write", lambda said: (verbs.advance(said.to), []), _gone),
    "learn": Said(
        models.Learnt, "write", lambda said: (verbs.other("learn", name_in(said.arm), said.valid), []), _gone
    ),
    "tick": Said(None, "write", lambda _: (verbs.other("tick"), []), _gone),
    "finish": Said(models.Finish, "write", lambda said: (verbs.other("finish", said.time), []), _gone),
}


def call_of(stream: str, verb: str, said: Any) -> Call:
    """Return a call, if what was said can be carried out."""
    made, ids = VERBS[verb].verb(said)
    return Call(stream, made, ids)


def asked(stream: str, said: models.Question) -> list[Call]:
    """Return the calls of a question: one, or `count` of them."""
    if said.count is None:
        return [call_of(stream, "ask", said)]
    if said.k is not None:
        raise ValueError(f"count must be left out where k is given, not {said.count}")
    ids = [None] * said.count if said.id is None else ids_of(said.id, said.count)
    return [call_of(stream, "ask", models.Question.model_construct(id=id, k=None, count=None)) for id in ids]


def check_pulls(said: models.Batch) -> None:
    """Raise a `ValueError` if a batch asks for more pulls than a request may."""
    slates = [one.arguments.get("k") for one in said.calls if one.verb == "ask"]
    asked = sum(k if isinstance(k, int) else 1 for k in slates)
    if asked > models.MOST_AT_ONCE:
        raise ValueError(f"calls must ask for at most {models.MOST_AT_ONCE} pulls in all, not {asked}")


def from_batch(said: models.Call) -> Call:
    """Return a call of a batch; one that is wrong has its error already."""
    how = VERBS[said.verb]
    try:
        if how.model is None and said.arguments:
            raise ValueError(f"arguments must be left out for {said.verb}, not {sorted(said.arguments)}")
        body = None if how.model is None else how.model.model_validate(said.arguments)
        if isinstance(body, models.Question) and body.count is not None:
            raise ValueError(f"count must be left out in a batch, not {body.count}")
        return call_of(said.stream, said.verb, body)
    except ValidationError as wrong:
        first = wrong.errors()[0]
        error = ValueError(f"{'.'.join(map(str, first['loc'])) or said.verb}: {first['msg']}")
    except ValueError as wrong:
        error = wrong
    call = Call(said.stream, verbs.settle())
    call.error = error
    return call


def result(call: Call, verb: str) -> dict[str, Any]:
    """Return how a call of many went."""
    if call.error is None:
        return {"answer": VERBS[verb].answer(call.answer)}
    found = problems.document(call.error)
    if found is None:
        found = problems.document(StoreUnavailable("the call failed; nothing was changed"))
    return {"problem": found}
