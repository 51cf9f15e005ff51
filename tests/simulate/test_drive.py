"""Own agents in the loop: what they are told, what they may remember, and what is measured of them."""

import threading
from functools import partial

import numpy as np
import pytest

from bestbefore import Explorer, Player, Seeker, simulate, streams
from bestbefore.simulate.drive import drive_explore, drive_play, drive_seek
from bestbefore.simulate.made import Setting, arguments_for


class Scripted:
    """Does at each arrival what a script says: arms to pull, arms stored then, and the answer."""

    def __init__(self, script, early=None):
        self.script, self.early, self.now = script, early or {}, 0
        self.stored, self.queue, self.told = [], [], []

    def arrive(self, arm, budget=None):
        self.now = arm
        pulls, self.later, self.answer = self.script[arm]
        self.queue = list(pulls)
        if arm in self.early:
            self.stored = self.early[arm]
        return []

    def ask(self):
        if self.queue:
            return self.queue.pop(0)
        self.stored = self.later
        return None

    def tell(self, arm, reward):
        self.told.append((arm, reward))

    def best(self):
        return self.answer


def explored(script, memory=2, window=3, means=(0.1, 0.9, 0.5, 0.7, 0.3), early=None):
    agent = Scripted({number + 1: step for number, step in enumerate(script)}, early)
    where = Setting(streams.from_means(means[: len(script)]), window, memory, seed=0, run=0)
    return agent, drive_explore(lambda: agent, where, 0.1)


# Memory


def test_arms_stored_and_the_newest_can_be_pulled_and_answered_with():
    agent, row = explored([([1], [1], 1), ([1, 2], [1, 2], 2), ([3, 1, 2], [2, 3], 3), ([4, 2, 3], [2, 4], 4)])
    assert [arm for arm, _ in agent.told] == [1, 1, 2, 3, 1, 2, 4, 2, 3]
    assert (row["pulls"], row["peak_memory"]) == (9, 2)
    assert row["mean"] == pytest.approx((0 + 0 + 0.4 + 0.2) / 4)


WRONG = {
    "stores nothing": (
        [([1], [], 1), ([1], [], 2)],
        r"asked for arm 1, which is not in its memory: .* \(none now\) and",
    ),
    "answers with what it let go": ([([], [], 1), ([], [], 1)], "answered with arm 1, which is not in its memory"),
    "expired": ([([], [1], 1)] * 3 + [([1], [], 4)], "stores arm 1, which has expired"),
    "asks for what has expired": ([([], [1], 1)] * 3 + [([1], [], 4)], "asked for arm 1, which has expired"),
    "too many": (
        [([], [1], 1), ([], [1, 2], 2), ([], [1, 2, 3], 3)],
        "stores 3 arms: 1, 2, 3, but its memory has 2 slots",
    ),
    "stores what it let go": ([([], [1], 1), ([], [], 2), ([], [1], 3)], "stores arm 1, which is not in its memory"),
    "never arrived": ([([], [7], 1)], "stores arm 7, which never arrived"),
    "no arm": ([([], ["x"], 1)], "stores arm 'x', which never arrived"),
    "not hashable": ([([], [[]], 1)], r"stores arm \[\], which never arrived"),
    "twice": ([([], [1, 1], 1)], "stores arm 1 twice"),
    "asks for nonsense": ([([[]], [], 1)], r"asked for arm \[\], which never arrived"),
    "asks for the future": ([([2], [], 1)], "asked for arm 2, which never arrived"),
    "no list": ([([], 3, 1)], "stored must be a list of arms, not 3"),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_what_memory_cannot_hold_stops_the_run_with_a_sentence(case):
    script, words = WRONG[case]
    early = {4: []} if case == "asks for what has expired" else None
    with pytest.raises(ValueError, match=words) as caught:
        explored(script, early=early)
    if case != "no list":
        assert f"at arrival {len(script)} the agent Scripted" in str(caught.value)


def test_an_arm_let_go_within_an_arrival_is_gone_with_the_next():
    """What was stored when an arm came can be pulled until its pulls are over, and not later."""
    with pytest.raises(ValueError, match="at arrival 3 the agent Scripted asked for arm 1"):
        explored([([], [1], 1), ([2, 1], [2], 2), ([1], [2], 3)])


def test_the_newest_arm_can_be_stored_when_the_next_one_comes():
    """As agents do that settle what they think of an arm only then."""
    _, row = explored([([1], [], 1), ([2, 1], [1], 1), ([3, 1], [1], 1)], early={2: [1], 3: [1]})
    assert row["peak_memory"] == 1


def test_an_agent_that_keeps_a_window_in_secret_is_found_out():
    class Hoarder(Explorer):
        stored = ()

    with pytest.raises(ValueError, match="the agent Hoarder answered with arm 1, which is not in its memory"):
        simulate.explore([0.9, 0.1, 0.1], 3, 3, partial(Hoarder, tests=50), runs=1)


def test_a_player_cannot_have_more_slots_than_it_was_given():
    bigger = partial(Player, memory=7, keep="fifo")
    with pytest.raises(ValueError, match="the agent Player stores 4 arms: 1, 2, 3, 4, but its memory has 3 slots"):
        simulate.play(streams.uniform(20), 10, 5, 3, bigger, runs=1)


class Implicit:
    """Stores the first arms, and pulls the very first whenever it may, valid or not."""

    def __init__(self, memory):
        self.memory, self.stored = memory, []

    def arrive(self, arm):
        if len(self.stored) < self.memory:
            self.stored.append(arm)
        return []

    def ask(self):
        return self.stored[0] if self.ended else None

    ended = False

    def tell(self, arm, reward): ...

    def finish(self, time):
        self.ended = True


class Explicit(Implicit):
    overdue = ()

    def learn(self, arm, valid): ...


def test_with_an_implicit_flag_expired_arms_can_be_stored_and_cost_one_a_pull():
    means = [0.2, 0.9, 0.4, 0.5, 0.6]
    common = {"window": 2, "budget": 30, "flag": "implicit", "clock": "stops", "runs": 1}
    (row,) = simulate.seek(means, strategy=Implicit, memory=2, **common)
    assert (row["wasted"], row["regret"], row["peak_memory"]) == (30, 30.0, 2)


def test_with_an_explicit_flag_they_cannot():
    common = {"window": 2, "budget": 30, "clock": "stops", "runs": 1}
    with pytest.raises(ValueError, match="at arrival 3 the agent Explicit stores arm 1, which has expired"):
        simulate.seek([0.2, 0.9, 0.4, 0.5], strategy=Explicit, memory=2, **common)
    (row,) = simulate.seek([0.9, 0.2, 0.4, 0.5], strategy=Explicit, memory=1, **common)
    assert (row["regret"], row["wasted"]) == (pytest.approx(0), 0), "the best arm stays valid"


def test_flags_are_told_of_stored_arms_only_and_after_their_window():
    """Whoever could have any arm's flag would need no memory, and no time, to find the best."""
    common = {"window": 2, "memory": 1, "budget": 5, "clock": "stops", "runs": 1}

    class Nosy(Explicit):
        def arrive(self, arm):
            self.overdue = (1,) if arm == 3 else ()
            return super().arrive(arm)

    with pytest.raises(ValueError, match="at arrival 3 the agent Nosy waits for the flag of arm 1, which has expired"):
        simulate.seek([0.9, 0.2, 0.4], strategy=lambda: Nosy(0), **common)

    class Hasty(Explicit):
        overdue = (1,)

    with pytest.raises(ValueError, match=r"at arrival 1 .* flag of arm 1, whose window is not over: .* arms up to -1"):
        simulate.seek([0.9, 0.2, 0.4], strategy=Hasty, **common)


@pytest.mark.parametrize("flag", ["explicit", "implicit"])
@pytest.mark.parametrize("memory", [1, 3, 8])
@pytest.mark.parametrize("clock", ["goes on", "stops"])
def test_seekers_store_what_they_say(flag, memory, clock):
    made = []

    def live(**settings):
        made.append(Seeker(flag=flag, **settings))
        return made[-1]

    common = {"window": 8, "memory": memory, "budget": 500, "flag": flag, "clock": clock, "runs": 3, "jobs": 1}
    table = simulate.seek(streams.uniform(40), strategy=live, **common)
    assert table["peak_memory"].tolist() == [seeker.peak_memory for seeker in made]


# What agents are told


def test_agents_are_told_what_they_name():
    facts = {"window": 5, "memory": 2, "seed": "luck", "epsilon": None, "delta": 0.1, "arms": 9, "budget": 7}
    always = {"window": 5, "memory": 2, "seed": "luck"}
    assert arguments_for(lambda: None, facts) == {}
    assert arguments_for(lambda arms, memory: None, facts) == {"memory": 2, "arms": 9}
    assert arguments_for(lambda **others: None, facts) == always
    assert arguments_for(lambda **others: None, facts, ("budget",)) == always | {"budget": 7}
    assert arguments_for(lambda delta=1, *, budget, **others: None, facts) == always | {"delta": 0.1, "budget": 7}
    assert arguments_for(lambda epsilon, delta: None, facts) == {"epsilon": None, "delta": 0.1}
    assert arguments_for(lambda epsilon=0.2: None, facts) == {}, "what is left open is left to the default"
    assert arguments_for(lambda window, /, memory: None, facts) == {"memory": 2}
    assert arguments_for(partial(lambda delta, arms: None, delta=0.5), facts) == {"arms": 9}
    assert arguments_for(partial(lambda **others: None, memory=3), facts) == {"window": 5, "seed": "luck"}
    assert arguments_for(dict, facts) == always


def test_each_simulation_tells_its_own():
    told = []

    def note(kind):
        def factory(window, memory, seed, epsilon, delta, arms, budget, **others):
            told.append((window, memory, epsilon, delta, arms, budget, others))
            return kind(window=window, memory=memory, seed=seed)

        return factory

    means, common = [0.3, 0.6, 0.2, 0.5], {"window": 2, "memory": 2, "runs": 1, "delta": 0.2}
    simulate.explore(means, keep=note(partial(Explorer, tests=3)), epsilon=0.6, **common)
    simulate.explore(means, keep=note(partial(Explorer, tests=3)), **common)
    for budgets in (10, [10, 10, 10, 10], [10, 9, 10, 10], simulate.budgets.concentrated(10, epoch=3)):
        simulate.play(means, budgets=budgets, keep=note(Player), epsilon=0.5, **common)
    simulate.play(means, budgets=10, keep=note(Player), epsilon="best", **common)
    simulate.seek(means, budget=50, strategy=note(Seeker), **common)
    assert [one[2:6] for one in told] == [
        (0.6, 0.2, 4, None),
        (None, 0.2, 4, None),
        (0.5, 0.2, 4, 10),
        (0.5, 0.2, 4, 10),
        (0.5, 0.2, 4, None),
        (0.5, 0.2, 4, None),
        (None, 0.2, 4, 10),
        (None, 0.2, 4, 50),
    ]
    assert {one[:2] for one in told} == {(2, 2)}
    assert all(one[6] == {} for one in told)


def test_an_agent_told_all_pulls_as_the_rule_of_its_name():
    """All settings are told, and an open memory is left open: an Explorer has the slots and pulls of its rule."""
    settings = [
        {"memory": 6, "epsilon": 0.5, "delta": 0.1, "guarantee": "strong"},
        {"epsilon": 0.3},
        {},
        {"memory": 4},
        {"memory": 4, "tests": 7},
        {"epsilon": 0.2, "split": 0.5, "guarantee": "anytime"},
    ]
    for rule in ("bucket", "staircase", "topk"):
        own = {"rule": rule, "live": partial(Explorer, keep=rule)}
        for said in settings:
            first, second = simulate.explore(streams.uniform(30), 10, keep=own, runs=1, **said)
            assert first["memory"] == second["memory"]
            if rule == "staircase" and not said.keys() & {"tests", "split"} and said != {"memory": 4}:
                assert first["certified"] == second["certified"] == 1, "rewards, and so pulls, differ"
            else:
                assert first["pulls"] == second["pulls"]


def test_agents_are_told_how_noisy_rewards_are():
    for simulation, told in (("explore", {"keep": Explorer}), ("play", {"keep": Player, "budgets": 20})):
        table = getattr(simulate, simulation)(streams.uniform(30).gaussian(2.0), 5, memory=3, runs=1, **told)
        assert table["peak_memory"][0] <= 3


def test_a_function_that_is_neither_a_rule_nor_makes_an_agent_is_told_so():
    def nearly(memory, arrival, total):
        return -1

    with pytest.raises(ValueError, match=r"must be a rule of .*, or make an agent .*; 'nearly' needs 'arrival'"):
        simulate.explore([0.5], 1, 1, nearly, runs=1)


# Rewards, and what is measured


def test_whoever_pulls_an_arm_equally_often_sees_the_same_rewards():
    """One pulls an arm's rewards one by one, in turns with others; one as totals; each sees the same total."""

    class Ledger(Explorer):
        def tell(self, arm, reward, pulls=1):
            count, total = self.books.get(arm, (0, 0.0))
            self.books[arm] = count + pulls, total + reward
            super().tell(arm, reward, pulls)

    class AtOnce(Ledger): ...

    class Singly(Ledger):
        wanted = property()

    AtOnce.books, Singly.books = {}, {}

    for kind in (AtOnce, Singly):
        simulate.explore(streams.uniform(40), 10, 3, partial(kind, keep="bucket", tests=700), runs=1)
    assert Singly.books == AtOnce.books
    assert set(dict(AtOnce.books)) == set(range(1, 41))

    from_players = {}

    class Alternate:
        def __init__(self, memory):
            self.stored, self.totals, self.left = [], {}, 0
            from_players[type(self)] = self.totals

        def arrive(self, arm, budget):
            self.stored, self.left = [*self.stored, arm][-2:], budget

        def ask(self):
            self.left -= 1
            return self.stored[self.left % len(self.stored)]

        def tell(self, arm, reward):
            self.totals.setdefault(arm, []).append(reward)

    class InBlocks(Alternate):
        def ask(self):
            self.left -= 1
            return self.stored[self.left * len(self.stored) // 600]

    for kind in (Alternate, InBlocks):
        simulate.play(streams.uniform(20), 2, 600, 2, kind, runs=1)
    assert from_players[Alternate] == from_players[InBlocks]
    assert len(from_players[Alternate][5]) == 600


def test_answers_errors_and_regrets_can_be_had_time_by_time():
    stream = streams.uniform(200)
    where = Setting(stream, window=20, memory=4, seed=3, run=1)
    answers, errors, regrets = np.zeros(200, np.int64), np.zeros(200), np.zeros(200)
    row = drive_explore(partial(Explorer, tests=5), where, 0.3, answers=answers, errors=errors)
    means = np.concatenate([arms.means for arms in where.blocks()])
    best = np.array([means[max(now - 20, 0) : now].max() for now in range(1, 201)])
    assert errors == pytest.approx(best - means[answers - 1])
    assert (row["mean"], row["max"]) == (pytest.approx(errors.mean()), errors.max())
    row = drive_play(Player, where, np.r_[np.zeros(19, int), np.full(181, 30)], first=20, regrets=regrets)
    assert regrets.sum() == pytest.approx(row["regret"])
    assert regrets[:19].tolist() == [0.0] * 19
    assert (regrets[19:] >= 0).all()
    assert row["pulls"] == 181 * 30


def test_a_run_that_is_stopped_ends_early():
    stop, asked = threading.Event(), []

    class Stopping(Player):
        def ask(self):
            asked.append(1)
            stop.set()
            return super().ask()

    where = Setting(streams.uniform(100), window=10, memory=4, seed=0, run=0)
    assert drive_play(partial(Stopping, partial=True), where, np.full(100, 50), stop=stop) == {}
    assert drive_explore(partial(Explorer, tests=9), where, 0.1, stop=stop) == {}
    assert drive_seek(Seeker, where, 10**6, (1, 0.5), False, False, stop=stop) == {}
    assert len(asked) == 1


def test_memory_of_a_run_does_not_grow_with_the_stream():
    """A stream three times as long, in windows three times as long: nothing is kept of arms that are not stored."""
    import tracemalloc

    def peak(arms):
        where = Setting(streams.uniform(arms), window=arms // 2, memory=5, seed=0, run=0)
        tracemalloc.start()
        drive_explore(Steady, where, 0.1)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    peak(1000)
    assert peak(27_000) < 1.5 * peak(9_000)


class Steady(Implicit):
    """Stores only the newest arm, pulls it once, and answers with it."""

    def arrive(self, arm):
        self.stored = self.left = [arm]

    def ask(self):
        arms, self.left = self.left, []
        return arms[0] if arms else None

    def best(self):
        return self.stored[0]
