"""Conformance: checks that every store passes, ours and other people's."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from bestbefore.agents import Explorer, Player
from bestbefore.errors import Conflict, UnknownArm, UnknownPull, UnknownStream
from bestbefore.store.desk import Desk
from bestbefore.store.held import Held
from bestbefore.store.moving import problems
from bestbefore.store.rows import Store
from bestbefore.testing.reference import Reference
from bestbefore.testing.session import require

Opener = Callable[[], Store]
"""Opens the same database each time, which is empty the first time."""

NOON = 1_800_000_000.0
"""When checks begin, in seconds since 1970."""


class Clock:
    """A clock that stands still until it is told."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def check_store(open: Opener, *, seed: int = 0) -> None:
    """Raise an `AssertionError` that says what is wrong, if a store breaks the contract of `Store`.

    That is in `bestbefore.store.rows`.  `open()` opens the same database each time, which is empty the first time.  It
    is opened several times at once, as by several processes.

    - a stream that was made is found again by whoever opens the database, with all that was done to it;
    - a transaction that fails has changed nothing;
    - a pull ends exactly once, however often and from wherever it is told;
    - deadlines and windows by time are kept by a sweep, and ids are forgotten when they can no longer be told;
    - a call that fails in a batch fails alone;
    - threads and openings that work at once lose nothing and count nothing twice;
    - a name that was let go or withdrawn is in no row, and the store can say that its bytes are erased;
    - a durable agent answers as an agent in memory does, whenever it is closed and opened again.

    Parameters
    ----------
    open
        Opens the same database each time, which is empty the first time.
    seed
        The seed of random calls.
    """
    clock = Clock()

    @contextmanager
    def desk() -> Iterator[Desk]:
        with Desk(open(), clock=clock) as found:
            yield found

    check_desk(desk, clock, seed=seed)
    _check(desk, clock, _check_all_or_nothing)
    _check(desk, clock, _check_erased)
    _check_as_in_memory(desk, clock, seed + 1)
    with desk() as last:
        misfits = {name: what for name, what in problems(last._store).items() if what}
        require(not misfits, f"states do not fit their ledgers: {misfits}")


Desks = Callable[[], Any]


def check_desk(open: Desks, clock: Clock, *, seed: int = 0) -> None:
    """Raise an `AssertionError` that says what is wrong, if a desk breaks its promises: on a database, or on a server.

    `open()` opens a desk on the same streams each time, of which there are none the first time; it is closed by its
    `with`.  Whoever tells the desk the time reads it from `clock`.  All that `check_store` says is checked, but what
    only a store can show.

    Parameters
    ----------
    open
        Opens a desk on the same streams each time.
    clock
        Tells the desk the time.
    seed
        The seed of random calls.
    """
    for check in (_check_found_again, _check_exactly_once, _check_deadlines, _check_batch, _check_at_once):
        _check(open, clock, check)
    _check_as_in_memory(open, clock, seed)
    with open() as last:
        for name in last.streams():
            last.drop(name)


def _check(desk: Desks, clock: Clock, check: Callable[[Desks, Clock], None]) -> None:
    """Make a check, and drop what it made."""
    try:
        check(desk, clock)
    except (LookupError, ValueError, OSError) as wrong:
        raise AssertionError(f"a call that is right raised {wrong!r}") from wrong
    with desk() as last:
        for name in last.streams():
            last.drop(name)


def _check_found_again(desk: Desks, clock: Clock) -> None:
    with desk() as one, desk() as other:
        page = one.stream("front", Explorer, window=5, memory=3, tests=4, seed=1)
        page.arrive("storm")
        pull = page.ask(id="mine")
        again = other.stream("front", Explorer, window=5, memory=3, tests=4)
        require(other.streams() == ["front"], f"streams() is {other.streams()} where one stream was made")
        require(again.ask(id="mine") == pull, "the same id gave another pull to another process")
        again.tell("mine", 1.0)
        require(page.pulls == 1, "what one process was told, another does not know")
        page.arrive("calm")
        again.arrive("sun")
        require(page.look().arrivals == 3, "arrivals of two processes do not add up")
        require(page.arrive("sun") == [], "an arm that is here and arrives again is not answered as done")
        require(page.look().arrivals == 3, "an arm that arrived again was counted again")
        _refused(
            lambda: page.arrive("sun", at=7), Conflict, "an arm that is here and arrives again with another number"
        )
        _refused(lambda: one.stream("front", Explorer, window=6, memory=3, tests=4), ValueError, "other settings")
    with desk() as one:
        require(one.stream("front").pulls == 1, "a stream that was closed and opened again has lost what was told")
        one.drop("front")
        _refused(lambda: one.stream("front"), UnknownStream, "a stream that was dropped")
        _refused(lambda: page.ask(), ValueError, "a desk that is closed")


def _check_all_or_nothing(desk: Desks, clock: Clock) -> None:
    with desk() as one:
        one.stream("front", Explorer, window=5, memory=3, tests=4, seed=1).arrive("storm")
        store = one._store
        before = _row(store, "front")
        try:
            with store.write() as writing:
                writing.drop(before.id)
                raise KeyError("stop")
        except KeyError:
            pass
        require(_row(store, "front") == before, "a transaction that failed has changed something")


def _check_exactly_once(desk: Desks, clock: Clock) -> None:
    with desk() as one, desk() as other:
        pages = [one.stream("front", Explorer, window=5, memory=3, tests=4, seed=1), other.stream("front")]
        pages[0].arrive("storm")
        pull = pages[0].ask()
        for page in pages * 2:
            page.tell(pull.id, 0.5)
        require(pages[1].pulls == 1, f"a reward that was told four times was counted {pages[1].pulls} times")
        for page in pages:
            _refused(partial(page.tell, pull.id, 1.0), Conflict, "another reward of the same pull")
            _refused(partial(page.tell, "nobody", 1.0), UnknownPull, "a pull that was never asked for")
        late = pages[1].ask()
        pages[0].withdraw("storm")
        _refused(lambda: pages[1].tell(late.id, 1.0), UnknownArm, "a reward of an arm that was withdrawn")
        require(pages[0].pulls == 1, "a call that was refused was counted")


def _check_deadlines(desk: Desks, clock: Clock) -> None:
    with desk() as one, desk() as other:
        settings: dict[str, Any] = {"window": "1h", "epsilon": 0.2, "patience": "10 min"}
        page = one.stream("zero", Explorer, remember="1h", **settings)
        given = one.stream("none", Explorer, otherwise=None, **settings)
        for each in (page, given):
            each.arrive("storm")
            each.arrive("calm")
        ids = [each.ask().id for each in (page, given)]
        clock.now += 599
        require(other.sweep().streams == 0, "a sweep ended pulls before their deadlines")
        clock.now += 1
        require(other.sweep().streams == 2, "a sweep did not end pulls at their deadlines")
        require([page.pulls, given.pulls] == [1, 0], "at its deadline a pull is told, or given up if there is nothing")
        page.tell(ids[0], 0.0)
        _refused(lambda: page.tell(ids[0], 1.0), Conflict, "a reward after the deadline")
        _refused(lambda: given.tell(ids[1], 1.0), Conflict, "a reward of a pull that was given up")
        clock.now += 3001
        swept = other.sweep()
        require(swept.gone == {"zero": ["storm", "calm"], "none": ["storm", "calm"]}, f"a sweep let go {swept.gone}")
        clock.now += 3600
        require(other.sweep().forgotten >= 1, "an id is kept longer than it can be told")
        _refused(lambda: page.tell(ids[0], 0.0), UnknownPull, "an id that is forgotten")
        require(page.best() is None and page.stored == [], "an arm that has expired is still shown")


def _check_batch(desk: Desks, clock: Clock) -> None:
    with desk() as one:
        page = one.stream("front", Explorer, window=5, memory=3, tests=9, seed=1)
        page.arrive("storm")
        ids = [page.ask().id for _ in range(4)]
        try:
            with one.batch() as batch:
                front = batch.stream("front")
                calls = [front.tell(id, reward) for id, reward in zip(ids, (0.5, 7.0, 0.5, 0.5), strict=True)]
                calls += [front.tell(ids[0], 1.0), front.arrive("storm"), batch.stream("nobody").ask()]
        except* (ValueError, UnknownStream) as group:
            require(len(group.exceptions) == 3, f"3 calls of a batch were wrong, {len(group.exceptions)} failed")
        else:
            raise AssertionError("a batch with calls that are wrong must raise an ExceptionGroup")
        failed = [call.error is not None for call in calls]
        require(
            failed == [False, True, False, False, True, False, True], f"the wrong calls of a batch failed: {failed}"
        )
        require(page.pulls == 3, f"of a batch, 3 rewards were good, {page.pulls} were counted")


def _check_at_once(desk: Desks, clock: Clock) -> None:
    """Work from two openings, with threads, on two streams at once."""
    errors: list[BaseException] = []

    def work(page: Any, mine: int) -> None:
        try:
            for turn in range(6):
                pull = page.ask(id=f"{mine}-{turn}")
                for _ in range(2):
                    page.tell(pull.id, (mine + turn) % 2)
        except BaseException as wrong:
            errors.append(wrong)

    with desk() as one, desk() as other:
        for name in ("front", "sports"):
            one.stream(name, Explorer, window=5, memory=3, tests=1000, seed=1).arrive("storm")
        pages = [where.stream(name) for where in (one, other) for name in ("front", "sports")]
        threads = [threading.Thread(target=work, args=(page, mine)) for mine, page in enumerate(pages * 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        require(not errors, f"calls at once failed: {errors[:3]}")
        for page in pages:
            require(page.pulls == 24, f"4 threads told 24 rewards of a stream, {page.pulls} were counted")


def _check_erased(desk: Desks, clock: Clock) -> None:
    with desk() as one:
        store = one._store
        page = one.stream("front", Explorer, window=3, memory=2, tests=1, seed=1)
        pulls = []
        for number in range(8):
            page.arrive(f"secret-{number}")
            pulls.append(page.ask())
            page.tell(pulls[-1].id, 1 - number / 10)
        held = sum(f"secret-{number}" in str(_row(store, "front")) for number in range(8))
        require(held == len(page.stored), f"{held} names are in rows, but {len(page.stored)} arms are here")
        require(one.erased("front").arms == 8 - held, f"erased() counts {one.erased('front').arms} of {8 - held} arms")
        require(store.erase(), "a store that nobody else uses must be able to erase bytes")
        require(not one.erased("front").waiting, "erased() says that bytes are left where all were erased")


def _check_as_in_memory(desk: Desks, clock: Clock, seed: int) -> None:
    """Compare a durable agent with one in memory, on random calls; it is closed and opened again now and then."""
    makers: dict[str, tuple[Any, dict[str, Any]]] = {
        "count": (Explorer, {"window": 4, "memory": 3, "tests": 3, "seed": 3}),
        "time": (Explorer, {"window": "1 min", "epsilon": 0.3, "seed": 3}),
        "play": (Player, {"window": "1 min", "memory": 3, "pull": "thompson", "seed": 3}),
    }
    rng = np.random.default_rng(seed)
    for name, (kind, settings) in makers.items():
        reference = Reference(kind(**settings), patience=20_000_000)
        for _ in range(4):
            with desk() as one:
                page = one.stream(name, kind, patience="20 s", **settings)
                for _ in range(15):
                    clock.now += float(rng.choice([0, 1, 7, 31, -5]))
                    _same_step(page, reference, round(clock.now * 1e6), rng)
                if not isinstance(one, Desk):
                    continue  # what a server keeps is its own affair; that answers are the same was seen
                row = _row(one._store, name)
            same = Held(row, one._kind_of(row)).agent.state() == reference.agent.state()
            require(same, f"the state of the durable {kind.__name__} is not that of one in memory")


def _same_step(page: Any, reference: Reference, now: int, rng: np.random.Generator) -> None:
    """Do the same to both, and compare the answers."""
    arm, id, reward = f"arm-{rng.integers(9)}", f"pull-{rng.integers(25)}", float(rng.integers(3)) / 2
    verb, arguments = [
        ("arrive", (arm,)),
        ("ask", (id,)),
        ("ask", (id,)),
        ("tell", (id, reward)),
        ("tell", (id, reward)),
        ("give_up", (id,)),
        ("withdraw", (arm,)),
        ("best", ()),
    ][rng.integers(8)]
    expected = answer_of(lambda: getattr(reference, verb)(now, *arguments))
    if verb == "ask":
        found = answer_of(lambda: getattr(page.ask(id=id), "arm", None))
    else:
        found = answer_of(lambda: getattr(page, verb)(*arguments))
    require(found == expected, f"{verb}{arguments} is answered by {found!r}, in memory by {expected!r}")


def answer_of(call: Callable[[], Any]) -> Any:
    """Return an answer, or the kind of the error that was raised instead."""
    try:
        return call()
    except (ValueError, LookupError) as wrong:
        return next(
            kind for kind in (Conflict, UnknownPull, UnknownArm, ValueError, LookupError) if isinstance(wrong, kind)
        )


def _refused(call: Callable[[], Any], kind: type[Exception], what: str) -> None:
    try:
        call()
    except kind:
        return
    raise AssertionError(f"{what} must raise {kind.__name__}")


def _row(store: Store, name: str) -> Any:
    with store.read() as reading:
        head = reading.head(name)
        return None if head is None else reading.stream(head.id)
