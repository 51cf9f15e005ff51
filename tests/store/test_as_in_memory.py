"""A durable agent answers as an agent in memory does: random calls, with duplicates, conflicts, wrong ids, clock jumps
and restarts.

Here by hypothesis, which finds short sequences; `python benchmarks/sequences.py` draws 100,000 of them.
"""

import importlib.util
import itertools
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from bestbefore import Explorer, Player, connect
from bestbefore.store.held import Held
from bestbefore.store.moving import problems
from bestbefore.testing.reference import Reference
from bestbefore.testing.stores import answer_of

AGENTS = {
    "fixed tests by count": (Explorer, {"window": 4, "memory": 3, "tests": 3, "seed": 3}),
    "fixed tests by time": (
        Explorer,
        {"window": "1 min", "memory": 3, "tests": 3, "pending": 2, "most": 9, "patience": "25 s", "seed": 3},
    ),
    "certificates by time": (Explorer, {"window": "1 min", "epsilon": 0.3, "memory": 12, "seed": 3}),
    "certificates by count": (Explorer, {"window": 4, "epsilon": 0.3, "memory": 12, "budget": 6, "seed": 3}),
    "player by count": (Player, {"window": 4, "memory": 3, "seed": 3}),
    "player that draws, by time": (Player, {"window": "1 min", "memory": 3, "pull": "thompson", "seed": 3}),
}
BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"
PATIENCE = {None: None, "20 s": 20_000_000}

arms = st.sampled_from(["storm", "calm", "sun", "rain", "fog"])
ids = st.sampled_from(["p1", "p2", "p3", "p4", "p5", "p6", "nobody"])
rewards = st.sampled_from([0.0, 0.5, 1.0, 7.0])


class AsInMemory(RuleBasedStateMachine):
    """The same calls to both, at the same times."""

    def __init__(self):
        super().__init__()
        self.name = f"stream {next(NUMBERS)}"
        self.now = 1_800_000_000.0
        self.desk = None

    @initialize(agent=st.sampled_from(sorted(AGENTS)), patience=st.sampled_from(list(PATIENCE)), lost=st.booleans())
    def begin(self, agent, patience, lost):
        kind, settings = AGENTS[agent]
        self.made, self.ledger = kind(**settings), {"patience": patience, "otherwise": None if lost else 0.0}
        self.reference = Reference(kind(**settings), PATIENCE[patience], self.ledger["otherwise"])
        self.connect()

    def connect(self):
        self.desk = connect(f"sqlite:///{FOLDER}/streams.db", clock=lambda: self.now, sweep=None)
        self.page = self.desk.stream(self.name, self.made, remember="365 days", **self.ledger)

    def same(self, verb, *arguments):
        expected = answer_of(lambda: getattr(self.reference, verb)(round(self.now * 1e6), *arguments))
        if verb == "ask":
            found = answer_of(lambda: getattr(self.page.ask(id=arguments[0]), "arm", None))
        else:
            found = answer_of(lambda: getattr(self.page, verb)(*arguments))
        assert found == expected, (verb, arguments)

    @rule(arm=arms)
    def arrive(self, arm):
        self.same("arrive", arm)

    @rule(id=ids)
    def ask(self, id):
        self.same("ask", id)

    @rule(id=ids, reward=rewards, again=st.booleans())
    def tell(self, id, reward, again):
        for _ in range(1 + again):
            self.same("tell", id, reward)

    @rule(id=ids)
    def give_up(self, id):
        self.same("give_up", id)

    @rule(arm=arms)
    def withdraw(self, arm):
        self.same("withdraw", arm)

    @rule(k=st.sampled_from([None, 1, 3]))
    def best(self, k):
        self.same("best", *([] if k is None else [k]))

    @rule(seconds=st.sampled_from([0.000001, 1, 7, 20, 61, -5, -100]))
    def wait(self, seconds):
        self.now += seconds

    @rule()
    def sweep(self):
        """A sweep does what is due, and nothing else; so must the one in memory, since the clock may go back."""
        self.desk.sweep()
        self.reference.settle(round(self.now * 1e6))

    @precondition(lambda self: self.desk is not None)
    @rule()
    def restart(self):
        self.compare()
        self.desk.close()
        self.connect()

    def compare(self):
        """They answer the same, and all that they know is the same."""
        self.same("best")
        with self.desk._store.read() as reading:
            row = reading.stream(reading.head(self.name).id)
        assert Held(row, self.desk._kind_of(row)).agent.state() == self.reference.agent.state()
        assert problems(self.desk._store, names=[self.name]) == {self.name: []}

    def teardown(self):
        if self.desk is not None:
            try:
                self.compare()
            finally:
                self.desk.drop(self.name)
                self.desk.close()


FOLDER = None
NUMBERS = itertools.count(1)


def run(examples: int, steps: int = 20) -> None:
    """Run so many sequences; the same each time."""
    run_state_machine_as_test(AsInMemory, settings=settings(max_examples=examples, stateful_step_count=steps))


@pytest.mark.parametrize("steps", [8, 30])
def test_a_durable_agent_answers_as_one_in_memory(steps, tmp_path, monkeypatch):
    """Answers do not depend on where the file is: in memory, where the system has a folder for that."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else tmp_path  # noqa: S108
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        monkeypatch.setitem(globals(), "FOLDER", folder)
        run(12, steps)


def test_more_kinds_of_agents_by_two_desks_answer_as_in_memory():
    """The first of the 100,000 sequences of benchmarks/sequences.py."""
    spec = importlib.util.spec_from_file_location("sequences", BENCHMARKS / "sequences.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.run(0, 60) > 400  # calls
