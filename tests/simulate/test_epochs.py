"""The simulation of regret: exactly the budget, exactly the live player, and leaps that change nothing."""

import functools
import itertools
import json
import threading
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from bestbefore import Player, bounds, rules, simulate, streams
from bestbefore.simulate.epochs import PlayPiece, Setup

KEEPS, PULLS = sorted(rules.KEEP_TO_PLAY), sorted(rules.PULL)
REWARDS = {
    "bernoulli": lambda stream: stream,
    "stars": lambda stream: stream.rated([0, 0.25, 0.5, 1]),
    "gaussian": lambda stream: stream.gaussian(0.3),
}


@settings(max_examples=120)
@given(
    means=st.lists(st.integers(0, 10).map(lambda k: k / 10), min_size=1, max_size=12),
    window=st.integers(1, 8),
    memory=st.integers(1, 10),
    keep=st.sampled_from(KEEPS),
    pull=st.sampled_from(PULLS),
    kind=st.sampled_from(sorted(REWARDS)),
    carry=st.booleans(),
    partial=st.booleans(),
    leaps=st.booleans(),
    data=st.data(),
)
def test_budgets_are_kept_and_regret_is_never_negative(
    means, window, memory, keep, pull, kind, carry, partial, leaps, data
):
    """All pairs of rules at odd sizes: exactly T_j pulls in each epoch, 0 and 1 included, on valid arms only."""
    window = min(window, len(means))
    epochs = len(means) if partial else len(means) - window + 1
    budgets = data.draw(st.lists(st.sampled_from([0, 1, 2, 30]), min_size=epochs, max_size=epochs))
    stream = REWARDS[kind](streams.from_means(means))
    common = {"carry": carry, "partial": partial, "leaps": leaps}
    (row,) = simulate.play(stream, window, budgets, memory, keep, pull, runs=1, **common)
    regrets = simulate.epoch_regrets(stream, window, budgets, memory, keep, pull, **common)
    assert row["pulls"] == sum(budgets)
    assert row["peak_memory"] <= min(memory, window)
    assert (regrets >= -1e-9).all()
    assert (regrets[np.array(budgets) == 0] == 0).all()
    assert row["regret"] == pytest.approx(regrets.sum())
    assert row["switches"] <= row["pulls"]


def slots_after(setup, seed, run=0):
    """Return the slots of the compiled loop at the end of a run."""
    return state_after(setup, seed, run).memory


def state_after(setup, seed, run=0):
    """Return all that the compiled loop carries, at the end of a run."""
    piece = PlayPiece("keep", "pull", setup, run, seed)
    return piece._play(setup.budgets(seed, run), threading.Event(), np.zeros(0))


DETERMINED = [pair for pair in itertools.product(KEEPS, rules.INDEXED) if pair[0] != "reservoir"]


@settings(max_examples=120)
@given(
    means=st.lists(st.integers(0, 10).map(lambda k: k / 10), min_size=1, max_size=12),
    window=st.integers(1, 8),
    memory=st.integers(1, 10),
    pair=st.sampled_from([*DETERMINED, ("reservoir", "ucb"), ("staircase", "thompson"), ("topk", "inf")]),
    kind=st.sampled_from(sorted(REWARDS)),
    carry=st.booleans(),
    partial=st.booleans(),
    budget=st.sampled_from([0, 1, 7, 40]),
    seed=st.integers(0, 2**32),
)
def test_player_and_compiled_loop_decide_alike(
    compiled_rewards, means, window, memory, pair, kind, carry, partial, budget, seed
):
    """On the same rewards both pull the same arms, one after the other; random rules draw the same luck, too."""
    keep, pull = pair
    window = min(window, len(means))
    stream = REWARDS[kind](streams.from_means(means))
    sigma = 0.3 if kind == "gaussian" else None

    players = []

    def live(window, memory, seed):
        chosen = {"carry": carry, "partial": partial, "sigma": sigma, "epsilon": 0.9}
        players.append(Player(window, memory, keep, pull, seed, **chosen))
        return players[-1]

    common = {"carry": carry, "partial": partial, "leaps": False, "runs": 1, "seed": seed, "epsilon": 0.9}
    with compiled_rewards():
        compiled, by_verbs = (
            simulate.play(stream, window, budget, memory, rule, pull, **common).rows[0] for rule in (keep, live)
        )
    assert by_verbs["regret"] == pytest.approx(compiled["regret"])
    same = ("pulls", "switches", "peak_memory")
    assert [by_verbs[name] for name in same] == [compiled[name] for name in same]
    chosen = {name: common[name] for name in ("carry", "partial", "leaps", "epsilon")}
    setup = Setup(stream, window, budget, memory, keep, pull, **chosen)
    state, slots_live = state_after(setup, seed), players[0]._slots
    slots = state.memory
    assert slots_live.arrival.tolist() == slots.arrival.tolist()
    assert slots_live.pulls.tolist() == slots.pulls.tolist()
    assert slots_live.total == pytest.approx(slots.total)
    if kind == "stars" and rules.PULL[pull].index:
        stored = slots.arrival > 0
        assert players[0]._shades[stored] == pytest.approx(state.shades[stored])


@pytest.mark.parametrize("pull", rules.INDEXED)
@pytest.mark.parametrize("means", [[0.0, 0.0], [1.0, 1.0], [0.5, 0.5]])
def test_they_decide_alike_where_indices_are_level(compiled_rewards, pull, means):
    """Equal arms and a long epoch: indices tie again and again, and both must break the tie the same way."""
    players = []

    def live(window, memory, seed):
        players.append(Player(window, memory, "fifo", pull, seed, epsilon=0.9))
        return players[-1]

    stream = streams.from_means(means)
    with compiled_rewards():
        simulate.play(stream, 2, 5_000, 2, live, runs=1)
    setup = Setup(stream, 2, 5_000, 2, "fifo", pull, leaps=False, epsilon=0.9)
    slots = slots_after(setup, 0)
    assert players[0]._slots.pulls.tolist() == slots.pulls.tolist()


@pytest.mark.parametrize("pull", ["ucb", "moss", "kl_ucb", "thompson"])
def test_bonuses_grow_with_the_noise(pull):
    """Gaussian rewards of deviation 3: whoever took it for 1/2 would now and then never find the better arm.

    30 runs of 20,000 pulls on means 0.2 and 0.9; the worst possible regret is 14,000, and none pays a third of it.
    """
    stream = streams.from_means([0.2, 0.9]).gaussian(3.0)
    assert simulate.play(stream, 2, 20_000, 2, "fifo", pull, runs=30)["regret"].max() < 14_000 / 3


CASES = [
    ("bernoulli", "ucb", [0.9, 0.8, 0.3], 60),
    ("bernoulli", "ucb", [0.99, 0.98], 300),
    ("bernoulli", "moss", [0.9, 0.8, 0.3], 60),
    ("bernoulli", "moss", [0.97, 0.95, 0.9], 400),
    ("bernoulli", "kl_ucb", [0.9, 0.8, 0.3], 60),
    ("bernoulli", "kl_ucb", [0.98, 0.95], 300),
    ("bernoulli", "fresh", [0.9, 0.8, 0.3], 60),
    ("bernoulli", "fresh", [0.6, 0.5, 0.5], 400),
    ("bernoulli", "commit", [0.9, 0.85], 200),
    ("stars", "ucb", [0.9, 0.8, 0.3], 200),
    ("stars", "moss", [0.9, 0.8, 0.85], 300),
    ("stars", "kl_ucb", [0.9, 0.85], 200),
    ("stars", "fresh", [0.9, 0.8, 0.85], 300),
]


@pytest.mark.parametrize(("kind", "pull", "means", "budget"), CASES)
def test_leaps_change_nothing(kind, pull, means, budget):
    """Regret and switches have the same distribution with leaps on and off: two-sample tests over 1,200 runs each.

    Each case makes two tests at level 1e-4, so that one of 26 fails by chance with probability 0.0026.
    """
    stream = REWARDS[kind](streams.from_means(means * 2))
    common = {"keep": "fifo", "pull": pull, "runs": 1200, "epsilon": 0.9}
    off, on = (
        simulate.play(stream, len(means), budget, len(means), leaps=leaps, seed=int(leaps), **common)
        for leaps in (False, True)
    )
    for column in ("regret", "switches"):
        assert ks_2samp(off[column], on[column]).pvalue > 1e-4


def pulls_per_arm(stream, window, budget, pull, leaps, runs):
    """How often each arm of the last window was pulled, a row a run."""
    setup = Setup(stream, window, budget, window, "fifo", pull, leaps=leaps, partial=False)
    done = [slots_after(setup, int(leaps), run) for run in range(runs)]
    return np.array([slots.pulls[np.argsort(slots.arrival)] for slots in done])


@pytest.mark.parametrize("pull", ["ucb", "moss", "kl_ucb", "fresh"])
@pytest.mark.parametrize("means", [[0.9, 0.9, 0.5], [1.0, 0.97, 0.0], [0.05, 0.02, 0.01]])
def test_leaps_pull_each_arm_as_often(means, pull):
    """Pulls per arm over two epochs of 250, leaps off and on: 36 two-sample tests at level 1e-4, 700 runs each."""
    off, on = (
        pulls_per_arm(streams.from_means([*means, means[0]]), 3, 250, pull, leaps, 700) for leaps in (False, True)
    )
    for arm in range(3):
        assert ks_2samp(off[:, arm], on[:, arm]).pvalue > 1e-4


def test_the_tests_of_commit():
    """s is that of Algorithm 1 for 3 / memory, for a given epsilon, or for the one with the least bound."""
    stream, total = streams.uniform(100), 81_000
    tests = {
        epsilon: Setup(stream, 20, 1000, 6, "topk", "commit", epsilon=epsilon, partial=False).tests(total)
        for epsilon in (None, 0.3, "best")
    }
    best = bounds.best_commit_epsilon(100, total)
    assert tests == {
        None: bounds.pulls(0.5, 20, 0.01),
        0.3: bounds.pulls(0.3, 20, 0.01),
        "best": bounds.pulls(best, 20, 0.01),
    }
    (row,) = simulate.play(stream, 20, 1000, 6, "topk", "commit", epsilon="best", partial=False, runs=1)
    assert row["pulls"] == total


def test_memory_of_a_run_does_not_grow_with_the_budget():
    peaks = []
    for budget in (100, 100_000):
        simulate.play(streams.uniform(200), 20, budget, 20, runs=1, jobs=1)
        tracemalloc.start()
        simulate.play(streams.uniform(200), 20, budget, 20, runs=1, jobs=1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_the_same_seed_gives_the_same_table_alone_or_in_parallel():
    tables = [
        simulate.play(streams.uniform(60), 10, 100, [3, 10], ["reservoir", "staircase"], PULLS, runs=2, jobs=jobs)
        for jobs in (1, 4)
    ]
    assert tables[0] == tables[1]
    assert tables[0].columns == ["keep", "pull", "memory", "run", "regret", "pulls", "switches", "peak_memory"]
    json.dumps(tables[0].rows)


def test_budgets_of_all_kinds():
    stream = streams.uniform(40)
    for budgets, total in [
        (10, 400),
        (list(range(40)), 780),
        (simulate.budgets.spread(500), 500),
        (simulate.budgets.concentrated(500), 500),
        (simulate.budgets.concentrated(500, epoch=3), 500),
    ]:
        assert set(simulate.play(stream, 10, budgets, 5, runs=3)["pulls"]) == {total}


MEANS = {"runs": 50, "seed": 1}


def mean_regret(stream, memory, keep, pull, **more):
    table = simulate.play(stream, 20, 1000, memory, keep, pull, **MEANS, **more)
    return [row["regret"] for row in table.summary(["memory"], ["regret"])]


def test_on_the_papers_arms_few_slots_are_enough():
    """n = 500, W = 20, T_j = 1000, from the first arrival on as in the paper's experiments; means over 50 runs.

    Measured: 0.27 of the regret of fifo x ucb with 6 slots, 0.21 with 20.  Before the first window is full no arm may
    be pulled where epochs begin later (`partial=False`): 6 slots then hold 6 of 20 unknown arms, and pay 0.53.
    """
    stream = streams.two_level(500, 20)
    (reference,) = mean_regret(stream, 20, "fifo", "ucb")
    few, all_slots = mean_regret(stream, [6, 20], "staircase", "moss")
    assert few <= 0.4 * reference
    assert all_slots <= 0.3 * reference


def test_regret_of_the_reservoir_falls_steadily_with_memory():
    regrets = mean_regret(streams.two_level(500, 20), list(range(2, 21, 2)), "reservoir", "ucb")
    assert all(more > less for more, less in itertools.pairwise(regrets))


@pytest.mark.parametrize(
    "budgets", [1000, simulate.budgets.spread(181_000), simulate.budgets.concentrated(181_000)], ids=["=", "~", "1"]
)
def test_moss_in_each_window_is_of_order_sqrt(budgets):
    """fifo x moss, begun anew in each window, pays below 0.7 of the sum of sqrt(W T_j): measured .55, .54 and .17."""
    stream = streams.uniform(200)
    table = simulate.play(stream, 20, budgets, 20, "fifo", "moss", carry=False, partial=False, runs=20)
    setup = Setup(stream, 20, budgets, 20, "fifo", "moss", partial=False)
    bounds_of = [np.sqrt(20 * setup.budgets(0, run)).sum() for run in range(20)]
    assert np.mean(table["regret"] / bounds_of) < 0.7


def test_regret_grows_like_the_root_of_the_budget():
    """From T_j = 10 to 100,000 the slope on logarithmic axes is at most 0.55."""
    sizes = [10, 100, 1000, 10_000, 100_000]
    regrets = [
        simulate.play(streams.uniform(60), 20, size, 20, "fifo", "moss", carry=False, runs=20)["regret"].mean()
        for size in sizes
    ]
    assert np.polyfit(np.log(sizes), np.log(regrets), 1)[0] <= 0.55


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"budgets": lambda epochs, rng: np.full(epochs, 1.5)}, "whole numbers of at least 0"),
        ({"window": 0}, "window must be"),
        ({"window": 5, "partial": False}, "window must be at most 3, the arms of the stream, not 5"),
        ({"budgets": -1}, "budgets must be a whole number of at least 0, not -1"),
        ({"budgets": [1]}, "budgets must be a list of 3"),
        ({"budgets": "many"}, "budgets must be a number"),
        ({"memory": 0}, "memory must be"),
        ({"keep": "king"}, "keep must be one of"),
        ({"keep": []}, "keep must name at least one"),
        ({"pull": []}, "pull must name at least one"),
        ({"pull": ["ucb", "ucb"]}, "pull must name each rule once, not .ucb. 2 times"),
        ({"pull": "best"}, "pull must be one of 'ucb'"),
        ({"delta": 0}, "delta must be"),
        ({"epsilon": "least"}, "epsilon must be one of 'best'"),
        ({"epsilon": 0}, "epsilon must be"),
    ],
)
def test_bad_input_is_named(wrong, words):
    with pytest.raises(ValueError, match=words):
        simulate.play(**{"stream": [0.5, 0.7, 0.6], "window": 2, "budgets": 10, "runs": 1} | wrong)


def test_own_agents_have_names_of_their_own():
    settings = {"stream": [0.5, 0.6], "window": 1, "budgets": 10, "memory": 1, "runs": 1}
    pair = [functools.partial(Player, pull=pull) for pull in ("ucb", "moss")]
    assert simulate.play(**settings, keep=pair)["keep"].tolist() == ["Player", "Player 2"]
    assert simulate.play(**settings, keep={"by ucb": pair[0], "fifo": "fifo"})["keep"].tolist() == ["by ucb", "fifo"]


def test_an_agent_must_spend_its_budget():
    class Lazy(Player):
        def ask(self):
            return super().ask() if self._spent < 3 else None

    with pytest.raises(ValueError, match="stopped after 3 of 10 pulls"):
        simulate.play([0.5, 0.6], 1, 10, 1, Lazy, runs=1)
