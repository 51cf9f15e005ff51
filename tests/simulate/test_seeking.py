"""The everlasting best arm, simulated."""

import functools

import numpy as np
import pytest
from scipy import stats

from bestbefore import Seeker, bounds, rules, simulate, streams

EXPLICIT, IMPLICIT = rules.strategies_of("explicit"), rules.strategies_of("implicit")


def seek(stream, **settings):
    return simulate.seek(stream, **{"window": 50, "budget": 10**6, "runs": 30, "progress": False} | settings)


def test_a_window_of_slots_costs_nothing_and_fewer_may_cost_all():
    """n = 1000, W = 50: regret is exactly 0 in each of 100 runs with 50 slots, and of a wide range below."""
    table = seek(streams.uniform(1000), memory=[5, 25, 50], strategy="wait", runs=100)
    assert (table.where(memory=50)["regret"] == 0).all()
    for memory in (5, 25):
        regrets = table.where(memory=memory)["regret"]
        assert regrets.min() == 0, "somebody is lucky"
        assert regrets.max() > 0.9 * 10**6


def test_five_slots_and_a_few_pulls_go_far_on_benign_streams():
    """Less than 2% of what a sample of five pays; measured 0.7%."""
    table = seek(streams.uniform(1000), memory=5, strategy=["wait", "race"], runs=100)
    race, sample = (table.where(strategy=name)["regret"].mean() for name in ("race", "wait"))
    assert race < 0.02 * sample


def test_with_less_than_a_window_nobody_is_spared_on_decreasing_means():
    """The best arm comes first, and those after it cannot be told from it: five slots lose it."""
    table = seek(streams.decreasing(1000), memory=5)
    for strategy in EXPLICIT:
        assert table.where(strategy=strategy)["regret"].mean() > 0.5 * 10**6


def test_when_time_stops_the_last_window_has_to_be_played():
    """Only then does a window of slots cost something, where the best arm is among the last W."""
    means = np.full(100, 0.3)
    for place, costs in ((10, False), (95, True)):
        means[:], means[place] = 0.3, 0.9
        table = seek(means, memory=50, strategy="wait", clock="stops", budget=10_000)
        assert table["found"].all() != costs
        assert (table["regret"] > 0).all() == costs
        assert table["regret"].max() < 6 * np.sqrt(50 * 10_000), "as MOSS plays 50 arms"


def test_regret_is_counted_as_the_paper_defines_it():
    """All T pulls on the one arm of a sample of one, that is not the best: T times the gap."""
    table = seek([0.5, 0.9, 0.2], window=1, memory=1, budget=1000, strategy="wait")
    assert table["regret"].tolist() == [0.0] * 30, "with W = 1 one slot is enough"
    table = seek([0.9, 0.5, 0.2, 0.2, 0.2], window=4, memory=1, budget=1000, strategy="wait")
    missed = table["regret"] > 0
    assert 0 < missed.sum() < 30
    assert set(table["regret"][missed].round(6)) <= {400.0, 700.0}


@pytest.mark.parametrize("strategy", IMPLICIT)
def test_an_expired_arm_costs_one_a_pull(strategy):
    """The first arm seems the best, as all of its rewards are 1, and so is the second, which really is: a coin."""
    means = np.concatenate([[0.99, 1.0], np.full(98, 0.1)])
    table = seek(means, flag="implicit", strategy=strategy, memory=5, window=10, budget=10_000, tests=2, runs=200)
    wasted = table["wasted"]
    if strategy == "hope":
        assert (wasted > 9000).any()
        assert (wasted == 0).any()
        assert (table["regret"] >= wasted).all()
    else:
        assert (wasted == 0).all() or strategy == "weigh"
    assert (table["pulls"] == 10_000).all()


def test_weigh_is_as_good_as_the_better_of_the_two_on_both_kinds_of_streams():
    gem = np.full(1000, 0.25)
    gem[200] = 0.95
    for stream, better in ((gem, "hope"), (streams.uniform(1000), "stay")):
        table = seek(stream, flag="implicit", memory=10)
        regret = {name: table.where(strategy=name)["regret"].mean() for name in IMPLICIT}
        assert min(regret["stay"], regret["hope"]) == regret[better]
        assert regret["weigh"] < 1.3 * regret[better]
        assert max(regret["stay"], regret["hope"]) > 5 * regret[better]


@pytest.mark.parametrize("flag", ["explicit", "implicit"])
@pytest.mark.parametrize(("arms", "window", "memory", "budget"), [(1, 1, 1, 1), (3, 50, 60, 10), (30, 1, 1, 100)])
@pytest.mark.parametrize("clock", ["goes on", "stops"])
def test_odd_sizes(flag, arms, window, memory, budget, clock):
    for means in (np.zeros(arms), np.ones(arms), np.linspace(0, 1, arms)):
        table = seek(means, window=window, memory=memory, budget=budget, flag=flag, clock=clock, runs=2)
        assert (table["pulls"] == budget).all()
        assert (table["regret"] >= 0).all()
        assert (table["regret"] <= budget).all()
        assert (table["peak_memory"] <= memory).all()


@pytest.mark.parametrize("rewards", ["bernoulli", "stars", "gaussian"])
def test_every_kind_of_reward(rewards):
    stream = streams.uniform(300)
    stream = {"bernoulli": stream, "stars": stream.rated([0, 0.5, 1]), "gaussian": stream.gaussian(0.2)}[rewards]
    table = seek(stream, window=30, memory=6, strategy="race", budget=200_000)
    assert table["regret"].mean() < 0.05 * 200_000


def test_budgets_are_kept_to_by_the_tests_too():
    table = seek(streams.uniform(500), memory=5, strategy=["rank", "race"], budget=100)
    assert (table["pulls"] == 100).all()
    assert (table["tests"] <= 100).all()


def test_the_same_seed_gives_the_same_table_alone_or_in_parallel():
    one, two = (seek(streams.uniform(100), memory=[3, 9], runs=4, budget=1000, jobs=jobs) for jobs in (1, 2))
    assert one == two
    assert one != seek(streams.uniform(100), memory=[3, 9], runs=4, budget=1000, seed=1)


def test_a_stream_of_many_blocks():
    table = seek(streams.uniform(20_000), memory=[3, 50], window=50, strategy="wait", runs=3)
    assert (table.where(memory=50)["regret"] == 0).all()


def test_the_best_arm_is_caught_by_a_sample_as_often_as_it_has_slots():
    """Of W arms in random order a sample of m holds each with probability m / W (here n = W): exact binomial test.

    Fails by chance with probability 0.001.
    """
    table = seek(streams.uniform(20), window=20, memory=5, strategy="wait", budget=10, runs=1000)
    caught = int((table["regret"] == 0).sum())
    assert stats.binomtest(caught, 1000, 5 / 20).pvalue > 0.001


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"flag": "loud"}, "flag must be one of"),
        ({"strategy": "stay"}, "strategy must be one of 'wait', 'rank', 'race', not 'stay'"),
        ({"strategy": []}, "strategy must name at least one"),
        ({"clock": "ticks"}, "clock must be one of 'goes on', 'stops', not 'ticks'"),
        ({"budget": 0}, "budget must be"),
        ({"memory": []}, "memory must name"),
        ({"tests": 0}, "tests must be"),
    ],
)
def test_bad_input_is_named(settings, message):
    with pytest.raises(ValueError, match=message):
        seek([0.5, 0.6], **settings)


def test_tests_are_a_share_of_the_budget():
    assert bounds.seek_tests(100, 1000) == 1
    with pytest.raises(ValueError, match="arms must be"):
        bounds.seek_tests(100, 0)


def test_own_agents_have_names_of_their_own():
    settings = {"memory": 3, "window": 5, "budget": 100, "runs": 1}
    pair = [functools.partial(Seeker, tests=tests) for tests in (1, 9)]
    table = seek(streams.uniform(30), strategy=["wait", *pair], **settings)
    assert table["strategy"].tolist() == ["wait", "Seeker", "Seeker 2"]
    table = seek(streams.uniform(30), strategy={"one test": pair[0], "wait": "wait"}, **settings)
    assert table["strategy"].tolist() == ["one test", "wait"]


def test_an_agent_must_say_whom_it_let_go():
    class Speechless(Seeker):
        def arrive(self, arm):
            super().arrive(arm)

    with pytest.raises(ValueError, match="arrive must return a list of the arms that memory let go, not None"):
        seek([0.5], strategy=Speechless, runs=1)


def test_runs_can_be_chosen_by_number():
    """A run is the same whoever else runs: so work can be cut into pieces."""
    settings = {"memory": 3, "window": 5, "budget": 100}
    whole = seek(streams.uniform(30), runs=4, **settings)
    parts = [row for run in range(4) for row in seek(streams.uniform(30), runs=[run], **settings)]
    assert sorted(parts, key=str) == sorted(whole, key=str)
    for runs in ([], [-1], "3", 0):
        with pytest.raises(ValueError, match="runs must be"):
            seek([0.5], runs=runs)
