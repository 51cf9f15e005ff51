"""What players do unless told otherwise, simulated: heirs x fresh."""

import math

import numpy as np

from bestbefore import simulate, streams


def test_where_means_rise_it_keeps_up():
    """Each arm is better than the one before.  MOSS clings to its leader; three runs, seeds fixed, a factor of 1.5."""
    stream = streams.from_means(np.linspace(0.1, 0.9, 300))
    regret = simulate.play(stream, 50, 200, 6, "heirs", ["fresh", "moss"], runs=3).summary(
        by=["pull"], columns=["regret"]
    )
    by_rule = {row["pull"]: row["regret"] for row in regret}
    assert 1.5 * by_rule["fresh"] < by_rule["moss"]


def test_leaps_and_single_pulls_lose_the_same():
    """The same distribution: means of 60 runs within 5 standard errors, which fails by chance once in a million."""
    stream = streams.two_level(60, 20)
    losses = [
        simulate.play(stream, 20, 500, 6, leaps=leaps, runs=60, seed=seed)["regret"]
        for leaps, seed in ((True, 1), (False, 2))
    ]
    error = math.sqrt(sum(float(np.var(one, ddof=1)) / 60 for one in losses))
    assert abs(losses[0].mean() - losses[1].mean()) < 5 * error


def test_where_rewards_vary_less_it_loses_less():
    """Two neighbouring ratings vary far less than 0 and 1 of the same mean: 10 runs on the same arms, seeds fixed.

    Leaps note how much they vary, too.
    """
    stream = streams.uniform(300)
    stars = stream.rated([0, 0.25, 0.5, 0.75, 1])
    for leaps in (True, False):
        losses = [
            simulate.play(arms, 50, 500, 6, pull=["fresh", "moss"], leaps=leaps, runs=10).summary(
                by=["pull"], columns=["regret"]
            )
            for arms in (stream, stars)
        ]
        bernoulli, rated = ({row["pull"]: row["regret"] for row in rows} for rows in losses)
        assert rated["fresh"] < 0.7 * bernoulli["fresh"]
        assert rated["moss"] > 0.8 * bernoulli["moss"]


def test_an_old_default_loses_more_where_means_are_rough():
    """On arms near one another, all rules of keeping alike but for means; 10 runs on the same arms, seeds fixed."""
    stream = streams.beta(300, 5, 2)
    losses = {
        pair: simulate.play(stream, 50, 200, 6, *pair, runs=10)["regret"].mean()
        for pair in (("heirs", "fresh"), ("staircase", "moss"))
    }
    assert losses["heirs", "fresh"] < 0.85 * losses["staircase", "moss"]


def test_where_means_fall_heirs_are_there_in_time():
    """Sawtooth: topk fills its slots with arms that expire together; 5 runs, seeds fixed."""
    table = simulate.play(streams.sawtooth(300, 100), 50, 200, 6, ["heirs", "topk"], runs=5)
    by_rule = {row["keep"]: row["regret"] for row in table.summary(by=["keep"], columns=["regret"])}
    assert by_rule["heirs"] < 0.7 * by_rule["topk"]
