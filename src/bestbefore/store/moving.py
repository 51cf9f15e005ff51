"""Streams as a whole: checked, taken out as JSON and put back, copied from one database to another."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict
from typing import Any, Final, NamedTuple

from bestbefore.arguments import between, finite
from bestbefore.errors import StoreDamaged
from bestbefore.store.commit import unknown_stream
from bestbefore.store.engines import SqlStore
from bestbefore.store.founding import check_otherwise
from bestbefore.store.held import COUNTS, Held
from bestbefore.store.kinds import OURS, Kind
from bestbefore.store.names import compact, name_of, stream_name, text_of
from bestbefore.store.rows import DEFAULTED, GIVEN_UP, GONE, TOLD, ArmRow, PullRow, Reading, Store, StreamRow, TotalRow
from bestbefore.store.totals import SPANS
from bestbefore.store.verbs import checked_id

FORMAT: Final = 1
"""The version of exported streams."""

AT_ONCE: Final = 1000


class Sum(NamedTuple):
    """How many rows a stream has, and a checksum of all that is in them, in whatever order."""

    arms: int
    pulls: int
    checksum: str


def problems(
    store: Store, kind_of: Callable[[StreamRow], Kind] | None = None, names: Collection[str] | None = None
) -> dict[str, list[str]]:
    """Return what is wrong with each stream, an empty list where nothing is: does it load, and fit its ledger?

    With `names`, only those are looked at.
    """
    found: dict[str, list[str]] = {}
    with store.read() as reading:
        for name in reading.names() if names is None else names:
            try:
                row = _row(reading, name)
                found[name] = misfits(reading, row, Held(row, (kind_of or kind_by_name)(row)))
            except (ValueError, LookupError) as wrong:
                found[name] = [str(wrong)]
    return found


def kind_by_name(row: StreamRow) -> Kind:
    """Return the class of a stream, if it is one of this package's own."""
    if row.kind not in OURS:
        raise ValueError(f"stream {row.name!r} has agents of a class of your own, {row.kind}: it is not checked here")
    return Kind(OURS[row.kind])


def misfits(reading: Reading, row: StreamRow, held: Held) -> list[str]:
    """Return how a stream's state and its ledger contradict each other."""
    wrong: list[str] = []
    counts, under_way = row.counts, reading.open_pulls(row.id)
    told = counts["before"] + counts["told"] + counts["defaulted"]
    if held.agent.pulls != told:
        wrong.append(f"the agent was told {held.agent.pulls} pulls, the ledger counts {told}")
    ended = sum(counts[how] for how in ("told", "defaulted", "given_up", "gone"))
    if counts["asked"] != ended + sum(under_way.values()):
        wrong.append(
            f"{counts['asked']} pulls were asked for, but {ended} ended and {sum(under_way.values())} are open"
        )
    if held.kind.ours:
        in_flight = {arm["arrival"]: arm["in_flight"] for arm in held.agent.state()["arms"] if arm["in_flight"]}
        if in_flight != under_way:
            wrong.append(f"the agent has pulls under way of arms {in_flight}, the ledger {under_way}")
    if strangers := sorted(set(under_way) - set(held.numbers)):
        wrong.append(f"pulls are open of arms that are not here, of numbers {strangers}")
    return wrong


def exported(store: Store, name: str) -> dict[str, Any]:
    """Return a whole stream as JSON has it, the names of its arms included."""
    with store.read() as reading:
        row = _row(reading, name)
        pulls = [_pull_out(pull) for pull in _pulls(reading, row.id)]
    arms = [{"number": arm.number, "name": json.loads(arm.name), "since": arm.since} for arm in row.arms]
    told = {"name": row.name, "kind": row.kind, "settings": row.settings, "time": row.time, "due": row.due}
    rest = {"counts": row.counts, "state": json.loads(row.state), "arms": arms, "pulls": pulls}
    return {"bestbefore": "stream", "format": FORMAT, **told, **rest}


def _pull_out(pull: PullRow) -> dict[str, Any]:
    """Return a pull as JSON has it; a chance that is not known is left out, as it was before there were any."""
    found = asdict(pull)
    return found if pull.chance is not None else {name: value for name, value in found.items() if name != "chance"}


def imported(store: Store, data: Any) -> str:
    """Put a stream that was exported into a database, under its name; return that."""
    if not isinstance(data, dict) or data.get("bestbefore") != "stream":
        raise ValueError("this must be a stream as `bestbefore db export` writes it, and is none")
    if data.get("format") != FORMAT:
        raise ValueError(f"format must be {FORMAT}, not {data.get('format')!r}: it was exported by another version")
    try:
        arms = [ArmRow(arm["number"], compact(arm["name"]), arm["since"]) for arm in data["arms"]]
        pulls = [PullRow(**pull) for pull in data["pulls"]]
        name, kind, settings = data["name"], data["kind"], data["settings"]
        state = compact(data["state"])
        row = StreamRow(0, name, kind, settings, 1, data["time"], data["due"], data["counts"], state, arms)
        _check(row, pulls)
    except (KeyError, TypeError, ValueError, AttributeError) as wrong:
        raise StoreDamaged(f"the exported stream is damaged: {wrong!r}; nothing was changed") from None
    held = Held(row, Kind(OURS[row.kind])) if row.kind in OURS else None
    if held is not None and (row.settings["patience"] is not None or row.settings["otherwise"] != 0.0):
        try:
            check_otherwise(held.agent, row.settings["otherwise"])
        except ValueError as wrong:
            raise StoreDamaged(f"the exported stream is damaged: {wrong}; nothing was changed") from None
    _put(store, row, [pulls], held)
    return row.name


def _check(row: StreamRow, pulls: list[PullRow]) -> None:
    """Raise a `ValueError` or a `TypeError` where a stream from a file could not have been written by a desk."""
    stream_name(row.name)
    for arm in row.arms:
        text_of(name_of(arm.name))
    if set(row.counts) != set(COUNTS):
        raise ValueError(f"counts must be of {COUNTS}")
    if set(row.settings) != {"patience", "otherwise", "remember", "arguments"}:
        raise ValueError(f"settings must be of the ledger and the agent, not {sorted(row.settings)}")
    numbers = [row.time, row.settings["remember"], *row.counts.values()]
    numbers += [number for arm in row.arms for number in (arm.number, arm.since)]
    numbers += [number for pull in pulls for number in (pull.arrival, pull.asked)]
    perhaps = [row.due, row.settings["patience"]]
    perhaps += [number for pull in pulls for number in (pull.deadline, pull.ended, pull.forget)]
    for number in [*numbers, *(number for number in perhaps if number is not None)]:
        if type(number) is not int or not 0 <= number < 2**62:
            raise ValueError(f"times and counts must be whole numbers of at least 0, not {number!r}")
    for pull in pulls:
        checked_id(pull.id)
        if pull.how not in (None, TOLD, DEFAULTED, GIVEN_UP, GONE):
            raise ValueError(f"how must say how a pull ended, not {pull.how!r}")
        if pull.reward is not None:
            finite("reward", pull.reward)
        if pull.chance is not None:
            between("chance", pull.chance, 0, 1, closed="right")


def copy(source: SqlStore, target: SqlStore) -> dict[str, Sum]:
    """Copy all streams with their totals into another database, and compare counts and checksums.

    Nothing may write meanwhile.

    Streams that are there already, and the same, are left alone: a copy that was interrupted can be run again.
    """
    sums: dict[str, Sum] = {}
    with source.read() as reading:
        for name in reading.names():
            row = _row(reading, name)
            sums[name] = summed(reading, name)
            with target.read() as there:
                known = summed(there, name) if there.head(name) is not None else None
            if known is not None and known != sums[name]:
                raise ValueError(f"stream {name!r} is in {target.shown} already, and not the same: drop it there first")
            if known is None:
                _put(target, row, _parts(reading, row.id), totals=_totals(reading, row.id))
    with source.read() as reading, target.read() as there:
        for name in reading.names():
            if sums.get(name) != summed(reading, name):
                raise ValueError(f"stream {name!r} was changed in {source.shown} while it was copied: copy again")
            if sums[name] != summed(there, name):
                raise StoreDamaged(f"stream {name!r} is not the same in {target.shown}: its counts or checksums differ")
    return sums


def summed(reading: Reading, name: str) -> Sum:
    """Return how many rows a stream has, and a checksum of them that does not depend on their order."""
    row = _row(reading, name)
    row.id = 0
    first, pulls = asdict(row), 0
    arms = first.pop("arms")
    total = _hash(first)
    for arm in arms:
        total += _hash(list(arm))
    for pull in _pulls(reading, _id(reading, name)):
        total, pulls = total + _hash(asdict(pull)), pulls + 1
    total += sum(_hash(each._asdict()) for each in _totals(reading, _id(reading, name)))
    return Sum(len(arms), pulls, f"{total % 2**256:064x}")


def _hash(value: Any) -> int:
    return int.from_bytes(hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest())


def _row(reading: Reading, name: str) -> StreamRow:
    row = reading.stream(_id(reading, name))
    if row is None:
        raise unknown_stream(name)
    return row


def _id(reading: Reading, name: str) -> int:
    head = reading.head(name)
    if head is None:
        raise unknown_stream(name)
    return head.id


def _parts(reading: Reading, stream: int) -> Iterator[list[PullRow]]:
    """Yield the pulls of a stream, many at a time."""
    last = ""
    while some := reading.pulls_after(stream, last, AT_ONCE):
        yield some
        last = some[-1].id


def _pulls(reading: Reading, stream: int) -> Iterator[PullRow]:
    for some in _parts(reading, stream):
        yield from some


def _totals(reading: Reading, stream: int) -> list[TotalRow]:
    """Return all totals of a stream."""
    return [row for span in SPANS.values() for row in reading.totals(stream, span.step, 0)]


def _put(store: Store, row: StreamRow, pulls: Any, held: Held | None = None, totals: Collection[TotalRow] = ()) -> None:
    """Add a stream with its pulls and totals, all or nothing; with `held`, only if its ledger fits its state."""
    with store.write() as writing:
        made = writing.create(row)
        if made is None:
            raise ValueError(f"stream {row.name!r} is in the database already: drop it first; nothing was changed")
        for some in pulls:
            writing.add_pulls(made, some)
        writing.add_totals(made, totals, {})
        row.id = made
        if held is not None and (wrong := misfits(writing, row, held)):
            raise StoreDamaged(f"the exported stream is damaged: {'; '.join(wrong)}; nothing was changed")
