"""Random sequences of calls: durable agents must answer as agents in memory do.

    python benchmarks/sequences.py                    100,000 sequences
    python benchmarks/sequences.py 2000 --seed 7      so many, and others
    python benchmarks/sequences.py --only 4711        one of them, call by call

Each sequence is drawn from a number of its own: an agent of some kind and settings, a patience, and up to 18 calls by
two desks in turn, as by two processes: duplicates, conflicts, wrong ids, bad rewards, slates, batches, sweeps, clock
jumps, restarts.  Answers are compared call by call, states and ledgers in the end.  `tests/store/test_as_in_memory.py`
does the same by hypothesis, which finds the shortest sequence that shows a difference.

The files are in memory where the system has a folder for that, and are not flushed: this is about answers, kill.py is
about crashes.  The first difference ends it, with the number of its sequence.
"""

import argparse
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import event

from bestbefore import Explorer, Player, connect
from bestbefore.store.desk import Desk
from bestbefore.store.held import Held
from bestbefore.store.moving import misfits
from bestbefore.store.sqlite import SqliteStore
from bestbefore.store.stream import Stream
from bestbefore.store.verbs import settle
from bestbefore.testing.reference import Reference
from bestbefore.testing.stores import answer_of

AT_ONCE = 500
"""How many sequences share a database."""

NOON = 1_800_000_000.0

AGENTS: list[tuple[Any, dict[str, Any]]] = [
    (Explorer, {"window": 4, "memory": 3, "tests": 3}),
    (Explorer, {"window": 1, "memory": 1, "tests": 2}),
    (Explorer, {"window": 3, "memory": 9, "tests": 2, "pending": 1}),
    (Explorer, {"window": 4, "memory": 3, "tests": 2, "keep": "bucket"}),
    (Explorer, {"window": 5, "memory": 4, "tests": 2, "keep": "reservoir"}),
    (Explorer, {"window": 5, "memory": 6, "tests": 2, "top": 2}),
    (Explorer, {"window": 5, "memory": 6, "tests": 2, "top": 2, "spare": 1}),
    (Explorer, {"window": "1 min", "memory": 3, "tests": 3, "pending": 2, "most": 9, "patience": "25 s"}),
    (Explorer, {"window": "1 min", "epsilon": 0.3, "memory": 12}),
    (Explorer, {"window": "1 min", "epsilon": 1.0, "memory": 4}),
    (Explorer, {"window": "1 min", "epsilon": 0.3, "tolerance": "10 s"}),
    (Explorer, {"window": 4, "epsilon": 0.3, "memory": 12, "budget": 6}),
    (Explorer, {"window": 4, "epsilon": 0.4, "guarantee": "anytime"}),
    (Explorer, {"window": 4, "epsilon": 0.4, "relative": True}),
    (Explorer, {"window": 4, "epsilon": 0.4, "scale": (0.0, 7.0)}),
    (Player, {"window": 4, "memory": 3}),
    (Player, {"window": 1, "memory": 1}),
    (Player, {"window": 3, "memory": 8, "pull": "moss", "keep": "staircase"}),
    (Player, {"window": 4, "memory": 3, "pull": "inf"}),
    (Player, {"window": "1 min", "memory": 3, "pull": "thompson"}),
    (Player, {"window": "1 min", "memory": 3, "keep": "reservoir", "pull": "ucb"}),
]
ARMS = ["storm", "calm", "sun", "rain", 7, ("fog", 2.5), True]
IDS = ["p1", "p2", "p3", "p4", "p5", "p6", "nobody"]
VERBS = ["arrive"] * 5 + ["ask"] * 6 + ["tell"] * 6 + ["wait"] * 4
VERBS += ["slate", "give_up", "withdraw", "best", "best k", "batch", "sweep", "advance", "restart"]


class Desks:
    """Two desks on one file, as of two processes, with a clock that is told."""

    def __init__(self, folder: str) -> None:
        self.url, self.now = f"sqlite:///{folder}/streams.db", NOON
        self.both = [self.opened(), self.opened()]

    def opened(self) -> Desk:
        desk = connect(self.url, clock=lambda: self.now, sweep=None)
        store = desk._store
        assert isinstance(store, SqliteStore)  # noqa: S101
        store.close()  # what is open was opened to be flushed
        event.listen(store._writer, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF"))
        return desk

    def restart(self, which: int) -> None:
        self.both[which].close()
        self.both[which] = self.opened()

    def close(self) -> None:
        for desk in self.both:
            desk.close()


class Sequence:
    """The same calls to a durable agent and to one in memory, at the same times."""

    def __init__(self, number: int, desks: Desks, *, loud: bool = False) -> None:
        self.rng, self.desks, self.loud = np.random.default_rng(number), desks, loud
        self.name, desks.now = f"stream {number}", NOON
        kind, settings = AGENTS[self.rng.integers(len(AGENTS))]
        settings = settings | {"seed": int(self.rng.integers(9))}
        waits, otherwise = self.rng.random() < 0.6, None if self.rng.random() < 0.3 else 0.0
        self.reference = Reference(kind(**settings), 20_000_000 if waits else None, otherwise)
        self.high = settings.get("scale", (0.0, 1.0))[1]
        self.slates, self.budgets = kind is Player, kind is Player and self.rng.random() < 0.5
        ledger = {"patience": "20 s" if waits else None, "otherwise": otherwise, "remember": "365 days"}
        desks.both[0].stream(self.name, kind(**settings), **ledger)
        if loud:
            print(kind.__name__, settings, ledger)

    def run(self) -> int:
        """Make the calls; return how many there were."""
        calls = int(self.rng.integers(3, 19))
        for _ in range(calls):
            self.step(VERBS[self.rng.integers(len(VERBS))])
        self.compare()
        return calls

    def step(self, verb: str) -> None:
        which = int(self.rng.random() < 0.2)
        desk, now = self.desks.both[which], round(self.desks.now * 1e6)
        page, arm = Stream(self.name, desk), ARMS[self.rng.integers(len(ARMS))]
        id, reward = IDS[self.rng.integers(len(IDS))], [0.0, 0.5 * self.high, self.high, 77.0][self.rng.integers(4)]
        theirs = self.reference
        if verb == "wait":
            self.desks.now += [0.000001, 1, 7, 20, 61, -5, -100][self.rng.integers(7)]
        elif verb == "restart":
            if self.rng.random() < 0.2:
                self.desks.restart(which)
        elif verb == "sweep":  # both must do what is due now: the clock may go back before the next call
            desk.sweep()
            theirs.settle(now)
        elif verb == "arrive":
            more = {"budget": int(self.rng.integers(9))} if self.budgets else {}
            self.same(lambda: page.arrive(arm, **more), lambda: theirs.arrive(now, arm, **more), verb, arm, more)
        elif verb == "ask":
            self.same(lambda: _arm(page.ask(id=id)), lambda: theirs.ask(now, id), verb, id)
        elif verb == "slate" and self.slates:
            k = int(self.rng.integers(1, 4))
            ask = lambda: [(pull.id, pull.arm) for pull in page.ask(k, id=id)]  # noqa: E731 (one line is enough)
            self.same(ask, lambda: theirs.slate(now, id, k), verb, id, k)
        elif verb == "tell":
            for _ in range(1 + int(self.rng.integers(2))):
                self.same(lambda: page.tell(id, reward), lambda: theirs.tell(now, id, reward), verb, id, reward)
        elif verb == "give_up":
            self.same(lambda: page.give_up(id), lambda: theirs.give_up(now, id), verb, id)
        elif verb == "withdraw":
            self.same(lambda: page.withdraw(arm), lambda: theirs.withdraw(now, arm), verb, arm)
        elif verb == "best":
            self.same(page.best, lambda: theirs.best(now), verb)
        elif verb == "best k":
            self.same(lambda: page.best(2), lambda: theirs.best(now, 2), verb)
        elif verb == "advance":
            self.same(page.advance, lambda: theirs.advance(now), verb)
        elif verb == "batch":
            self.batch(desk, now)

    def batch(self, desk: Desk, now: int) -> None:
        """Send some calls at once, the same id or arm perhaps several times."""
        batch, expected = desk.batch(), []
        for _ in range(int(self.rng.integers(2, 6))):
            verb, page = ["arrive", "ask", "tell"][self.rng.integers(3)], batch.stream(self.name)
            arm, id = ARMS[self.rng.integers(len(ARMS))], IDS[self.rng.integers(len(IDS))]
            if verb == "arrive":
                page.arrive(arm)
            elif verb == "ask":
                page.ask(id=id)
            else:
                page.tell(id, 0.0)
            arguments = {"arrive": (arm,), "ask": (id,), "tell": (id, 0.0)}[verb]
            expected.append(answer_of(lambda: getattr(self.reference, verb)(now, *arguments)))  # noqa: B023
        with suppress(ExceptionGroup):
            batch.__exit__(None, None, None)
        found = [answer_of(call.result) for call in batch.calls]
        found = [_arm(one) for one in found]
        self.require(found == expected, f"a batch was answered by {found}, in memory by {expected}")

    def same(self, durable: Any, in_memory: Any, *what: Any) -> None:
        expected, found = answer_of(in_memory), answer_of(durable)
        if self.loud:
            print(f"{self.desks.now:.6f}", *what, "->", found)
        self.require(found == expected, f"{what} is answered by {found!r}, in memory by {expected!r}")

    def compare(self) -> None:
        """What is due is done on both sides; then all that they know is the same."""
        now = round(self.desks.now * 1e6)
        self.same(self.desks.both[0].stream(self.name).best, lambda: self.reference.best(now), "best")
        desk = self.desks.both[0]
        desk._carry_out(self.name, settle())
        self.reference.settle(now)
        with desk._store.read() as reading:
            head = reading.head(self.name)
            row = reading.stream(head.id) if head else None
            self.require(row is not None, "the stream is gone")
            held = Held(row, desk._kind_of(row))
            wrong = misfits(reading, row, held)
        self.require(held.agent.state() == self.reference.agent.state(), "the states differ")
        self.require(not wrong, f"state and ledger differ: {wrong}")

    def require(self, holds: bool, what: str) -> None:
        if not holds:
            raise AssertionError(f"{self.name}: {what}")


def _arm(pull: Any) -> Any:
    return getattr(pull, "arm", pull)


def run(first: int, count: int, *, loud: bool = False) -> int:
    """Run some sequences on a database of their own; return how many calls they made."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        desks = Desks(folder)
        try:
            return sum(Sequence(number, desks, loud=loud).run() for number in range(first, first + count))
        finally:
            desks.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sequences", type=int, nargs="?", default=100_000)
    parser.add_argument("--seed", type=int, default=0, help="other sequences")
    parser.add_argument("--only", type=int, help="the number of the one sequence to run")
    options = parser.parse_args()
    if options.only is not None:
        run(options.only, 1, loud=True)
        return 0
    began, done, calls = time.monotonic(), 0, 0
    while done < options.sequences:
        some = min(AT_ONCE, options.sequences - done)
        calls += run(options.seed * 10**9 + done, some)
        done += some
        print(f"{done} sequences, {calls} calls, no difference, {time.monotonic() - began:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
