"""What each answer costs: pulls an arm for the same promise, by fixed tests and by certificates."""

import os

import pytest

from bestbefore import bounds, simulate
from bestbefore.paper.costs import ARMS, EXACT_FROM, WAYS, Costs, Price, fewer, prices_of, run_price
from bestbefore.paper.panels import BEYOND, DELTA, PAPER, Panel
from bestbefore.plan import plan_exploration

SMALL = Panel("explore", "uniform", 300, 20, (2, 4, 10, 16))
DATA = os.environ.get("BESTBEFORE_DATA")


@pytest.fixture(scope="module")
def costs():
    return Costs(row for price in prices_of([SMALL]) for row in run_price(price))


def row(way, memory=10, panel="mine", **numbers):
    """Make a row up."""
    usual = {"pulls": 100.0, "mean": 0.03, "max": 0.15, "certified": 1.0, "peak_memory": memory, "runs": 2}
    return {"panel": panel, "memory": memory, "epsilon": 3 / memory, "way": way} | usual | numbers


def test_few_some_and_many_slots_are_tried_if_they_promise_anything():
    assert [price.memory for price in prices_of([SMALL])] == [4, 10, 16]
    assert [price.memory for price in prices_of([Panel("explore", "uniform", 60, 10, (2, 3, 5))])] == [5]
    assert prices_of([Panel("explore", "uniform", 60, 10, (2, 3))]) == []
    assert prices_of([Panel("regret", "two-level", 60, 10, (5, 8))]) == []


def test_of_panels_with_the_same_data_and_window_the_one_with_the_fewest_arms_is_tried():
    asked = prices_of([*reversed(PAPER), *BEYOND])
    tried = {price.panel.name for price in asked}
    fewest = {f"explore-{data}-n1000-w{window}" for data in ("uniform", "movielens") for window in (20, 50, 100, 200)}
    assert tried == fewest | {panel.name for panel in BEYOND if panel.task == "explore"}
    assert len({price.key for price in asked}) == len(asked) == 3 * len(tried)
    assert all(price.epsilon < 1 for price in asked)


def test_every_price_can_be_promised_in_every_way():
    """Certificates need fewer slots than Algorithm 1, so that they never ask for more than a price has."""
    for price in prices_of([*PAPER, *BEYOND]):
        for way in price.ways:
            if way != "exact":  # what it takes to find out how many pulls these are is measured elsewhere
                plan = plan_exploration(
                    WAYS[way].keep,
                    price.panel.window,
                    epsilon=price.epsilon,
                    memory=price.memory,
                    delta=DELTA,
                    guarantee="strong",
                    arms=price.panel.arms,
                    **WAYS[way].settings,
                )
                assert plan.promise == price.epsilon
                assert plan.exempt == 0
                assert plan.probe == ("certify" if way == "certify" else "fixed")


def test_the_exact_worst_case_is_only_for_rewards_of_0_or_1_and_not_for_the_smallest_epsilon():
    assert 3 / 20 >= EXACT_FROM > 3 / 22
    assert Price(SMALL, 20).ways == list(WAYS)
    assert "exact" not in Price(SMALL, 22).ways
    assert "exact" not in Price(Panel("explore", "movielens", 1000, 20, (4,)), 4).ways


def test_algorithm_1_pulls_as_often_as_the_paper_says(costs):
    for memory, ways in costs.rows[SMALL.name].items():
        assert ways["paper"]["pulls"] == bounds.pulls(3 / memory, SMALL.window, DELTA, "strong", arms=SMALL.arms)
        assert ways["paper"]["runs"] == ARMS // SMALL.arms


def test_certificates_keep_their_word_with_the_same_slots_and_the_fewest_pulls(costs):
    """Six runs a row; that an error of a run is above epsilon has a chance of at most .01 each.  Seeds are fixed."""
    for memory, ways in costs.rows[SMALL.name].items():
        pulls = [ways[way]["pulls"] for way in WAYS]
        assert pulls == sorted(pulls, reverse=True)
        assert fewer(ways) > 3
        for one in ways.values():
            assert 0 < one["mean"] < one["max"] <= one["epsilon"] == pytest.approx(3 / memory)
            assert one["certified"] == 1
            assert one["peak_memory"] <= memory


def test_the_same_seed_gives_the_same_rows_and_another_does_not():
    price = Price(Panel("explore", "uniform", 100, 10, (5,)), 5)
    assert run_price(price, seed=3) == run_price(price, seed=3)
    assert [one["mean"] for one in run_price(price, seed=3)] != [one["mean"] for one in run_price(price, seed=4)]


def test_a_row_has_the_means_over_runs_and_the_worst_of_all_of_them():
    price = Price(Panel("explore", "uniform", 500, 20, (5,)), 5)
    told = {"epsilon": price.epsilon, "delta": DELTA, "guarantee": "strong", "progress": False}
    table = simulate.explore(
        price.panel.stream(), 20, 5, "staircase", probe="certify", runs=ARMS // 500, seed=2, **told
    )
    one = run_price(price, seed=2)[-1]
    assert one["pulls"] == pytest.approx(table["pulls"].mean() / 500)
    assert one["mean"] == pytest.approx(table["mean"].mean())
    assert one["max"] == table["max"].max() > table["max"].min()
    assert one["peak_memory"] == table["peak_memory"].max()


def test_rows_are_summed_up():
    first = [row("paper", pulls=1000.0), row("pairs", pulls=500.0, mean=0.003), row("certify", pulls=100.0)]
    second = [
        row("paper", 20, pulls=4000.0),
        row("pairs", 20, pulls=2400.0, mean=0.006),
        row("certify", 20, pulls=200.0, mean=0.015, max=0.18, certified=0.9),
    ]
    told = Costs(first + second).summed()
    assert (told.panels, told.settings) == (1, 2)
    assert (told.fewer, told.fewer_than_pairs, told.more_with_less) == ((10, 20), (5, 12), True)
    assert told.worst == pytest.approx(0.18 / 0.15)
    assert (told.above, told.certified) == (1, 0.9)
    assert told.mean_of_paper == pytest.approx((0.1 + 0.2) / 2)
    assert told.mean == pytest.approx(0.1)  # .03 of .3, and .015 of .15
    assert told.mean_by_pairs == pytest.approx((0.01 + 0.04) / 2)


def test_one_epsilon_or_a_saving_that_falls_does_not_show_that_less_saves_more():
    ways = [row("paper", pulls=1000.0), row("pairs"), row("certify")]
    assert not Costs(ways).summed().more_with_less
    falls = [row("paper", 20, pulls=900.0), row("pairs", 20), row("certify", 20)]
    assert not Costs(ways + falls).summed().more_with_less
    rises = [row("paper", 20, pulls=1100.0), row("pairs", 20), row("certify", 20)]
    assert Costs(ways + rises).summed().more_with_less
    then_falls = [row("paper", 30, pulls=1050.0), row("pairs", 30), row("certify", 30)]
    assert not Costs(ways + rises + then_falls).summed().more_with_less
    other = [{**one, "panel": "other"} for one in ways]
    assert Costs(ways + other).summed().panels == 2


@pytest.mark.skipif(not DATA, reason="BESTBEFORE_DATA names no place of MovieLens 1M")
def test_movies_are_rated_as_the_data_says_and_certified_within_epsilon():
    ways = {one["way"]: one for one in run_price(Price(Panel("explore", "movielens", 1000, 50, (16,)), 16), path=DATA)}
    assert list(ways) == ["paper", "pairs", "certify"]
    assert ways["certify"]["max"] <= 3 / 16
    assert fewer(ways) > 5
