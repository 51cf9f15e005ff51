"""Merging: one explorer from several that saw parts of one stream, on one clock.

*With fixed tests* the arms of all parts go through the keep rule once more, oldest first.  What a part dropped, a newer
arm in the same cell or a higher one covers.  That arm is in the union too, unless it was dropped there in favour of
one that is newer still, in the same cell or a higher one.  So the answer has the guarantee of one explorer that saw
the whole stream, and there are no more slots.

*With certificates* rows unite with their charges.  A charge stands for arms that are older than its heir, in the union
as well; so the proof of `bestbefore.probe.certify` holds word for word, with heirs in any part.  Pulls may be needed
before the answer is certified anew.

The shares of delta must not depend on how many arms a part has seen: see `_check_shares`.

docs/distributed.md has the proof at length.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from bestbefore.agents.certifier import Certifier
from bestbefore.agents.holding import Statistics
from bestbefore.clock import said
from bestbefore.probe.certificates import Certificates
from bestbefore.probe.union import Row, united

if TYPE_CHECKING:
    from bestbefore.agents.explorer import Explorer

Arms: TypeAlias = "dict[int, list[tuple[Explorer, int]]]"
"""The arms of the union by number, each with the parts that have it and its number there."""


def merge(into: "Explorer", parts: "Sequence[Explorer]") -> None:
    """Let a fresh explorer go on from where several others stand."""
    _check_shares(into)
    arms, expired = _arms(parts, into._clock.oldest_at(max(part._clock.now for part in parts)))
    into._clock.unite([part._clock for part in parts], max(arms, default=0), _shared(arms))
    into._pulls = sum(part._pulls for part in parts)
    into._irregular = _irregular(arms, parts)
    into._withdrawn = sorted(number for part in parts for number in part._withdrawn)
    for number, held in sorted(arms.items()):
        part, old = held[0]
        into._roster.add(number, part._roster.name(old))
        into._counted[number] = max(part._counted[old] for part, old in held)
        if under_way := sum(part._in_flight.get(old, 0) for part, old in held):
            into._in_flight[number] = under_way
    valid = {number: held for number, held in arms.items() if number >= into._clock.oldest}
    if into._certifier:
        _unite_certificates(into, into._certifier, valid, parts)
    else:
        _place_anew(into, valid)
    into._roster.take_let_go([arm for part in parts for arm in part._roster.waiting] + expired)
    into._forget()
    into._peak_memory = max([into._peak_memory] + [part._peak_memory for part in parts])


def check_alike(parts: Iterable[Any], kind: type) -> "list[Explorer]":
    """Return the parts as a list, if they are explorers of the same settings that can be merged."""
    found = list(parts) if isinstance(parts, Iterable) else []
    if not found or not all(isinstance(part, kind) for part in found):
        raise ValueError(f"parts must be a list of one explorer or more, not {parts!r}")
    if len({id(part) for part in found}) < len(found):
        raise ValueError("parts must be different explorers: the rewards of one that is there twice would count twice")
    first = found[0]
    for part in found:
        for name, value in part._arguments.items():
            if value != first._arguments[name]:
                raise ValueError(
                    f"parts must have the same settings, but {name} is {first._arguments[name]!r} in one and {value!r} "
                    "in another"
                )
        if part.keep != first.keep:
            raise ValueError(f"parts must have the same keep rule, not {first.keep!r} and {part.keep!r}")
    rule = first.plan.keep
    if first.probe == "challenge" or (rule.draws and not rule.own):
        raise ValueError(f"parts must not have keep={rule.name!r}: such parts do not make one of the whole stream")
    return found


def _check_shares(explorer: "Explorer") -> None:
    """Refuse guarantees that a part cannot know its share of: those that count the arms that have come, by time."""
    plan = explorer.plan
    if plan.by_time and (plan.guarantee == "anytime" or (plan.guarantee == "weak" and plan.most is None)):
        say = "guarantee must be 'weak' or 'strong'" if plan.guarantee == "anytime" else "most must be given"
        raise ValueError(
            f"{say} to merge explorers with a window by time ({said(explorer._clock.window)}): a part cannot know how "
            "many arms the others have seen"
        )


def _arms(parts: "Sequence[Explorer]", oldest: int) -> tuple[Arms, list[Any]]:
    """Return the arms of all parts by number, each with the parts that have it and its number there.

    By time, arms of one instant in several parts get one number after the other.  The names of those that arrived
    before `oldest` are returned apart: a part may be behind, and not know that they have expired.
    """
    known: dict[Any, list[tuple[int, Explorer]]] = {}
    expired = []
    for part in parts:
        for number in sorted(part._counted):
            if number < oldest:
                expired.append(part._roster.name(number))
            else:
                known.setdefault(part._roster.name(number), []).append((number, part))
    arms: Arms = {}
    for name, places in sorted(known.items(), key=lambda each: (each[1][0][0], repr(each[0]))):
        number = places[0][0]
        if any(other != number for other, _ in places):
            raise ValueError(f"parts must know arm {name!r} by one arrival, not by {sorted({n for n, _ in places})}")
        if number in arms and not places[0][1].plan.by_time:
            raise ValueError(f"parts must number arms on one clock, by arrive(arm, at=number): {number} is two arms")
        while number in arms:
            number += 1
        arms[number] = [(part, old) for old, part in places]
    return arms, expired


def _irregular(arms: Arms, parts: "Sequence[Explorer]") -> int:
    """Return the newest arm of which nothing can be promised, or 0: in a part, or since several parts know it."""
    newest = max(part._irregular for part in parts)
    later = max((number - old for number, held in arms.items() for _, old in held), default=0)  # see `_arms`
    return max([newest and newest + later] + [number for number, held in arms.items() if len(held) > 1])


def _shared(arms: Arms) -> int:
    """Return how often arms were counted more than once."""
    return sum(len(held) - 1 for held in arms.values())


def _place_anew(into: "Explorer", arms: Arms) -> None:
    """Let the keep rule decide on the arms of all parts, oldest first; tests go on as far as there is room for them.

    No arm is passed over: in its favour others may have been, see `bestbefore.keep.staircase`.
    """
    under_test: list[int] = []
    known: dict[int, Statistics] = {}
    for number, held in sorted(arms.items()):
        each = [part._statistics(old) for part, old in held]
        wanted = into._tests_of(number)
        known[number] = Statistics(sum(one.pulls for one in each), sum(one.total for one in each), wanted)
        if all(old in part._tests for part, old in held) and known[number].pulls < wanted:
            under_test.append(number)
    room = into.plan.pending - (into._clock.newest not in under_test)
    kept = under_test[max(len(under_test) - room, 0) :]
    for number, statistics in known.items():
        if number in kept:
            into._tests[number] = statistics
        else:
            if number in under_test:
                into._irregular = max(into._irregular, number)
            if statistics.pulls:
                into._admit(number, statistics, slack=0.0)
    into._expire()


def _unite_certificates(into: "Explorer", certifier: Certifier, arms: Arms, parts: "Sequence[Explorer]") -> None:
    """Unite the rows of all parts."""
    rows = [
        Row(
            number,
            into.plan.logs_of(into._counted[number]),
            [(_certificates(part), part._slot(old)) for part, old in held],
        )
        for number, held in sorted(arms.items())
    ]
    both = united(rows, list(map(_certificates, parts)), into._clock.oldest, certifier.settings)
    certifier.take(both, max(part._certifier.spent for part in parts if part._certifier), into._in_flight)
    into._slots = both.memory


def _certificates(part: "Explorer") -> Certificates:
    if part._certifier is None:
        raise ValueError(f"part must certify its answers, not {part!r}")
    return part._certifier.certificates
