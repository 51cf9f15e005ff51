"""Rewards and means in the user's own unit."""

import pytest

from bestbefore import Explorer, Player
from bestbefore.scale import scale_of


@pytest.mark.parametrize("scale", [(1, 0), (1, 1), (0,), (0, 1, 2), None, "01", (0, float("inf")), (float("nan"), 1)])
def test_a_scale_is_two_numbers(scale):
    with pytest.raises(ValueError, match=r"scale must be \(low, high\), two finite numbers with low < high, not"):
        scale_of(scale)


@pytest.mark.parametrize("settings", [{}, {"probe": "fixed"}, {"keep": "bucket"}, {"memory": 3, "budget": 40}])
def test_an_explorer_in_euros_does_what_one_in_shares_does(settings):
    """Arms earn between -10 and 40: all it says is in euros, and it asks for the same pulls."""
    means = {"a": 0.2, "b": 0.9, "c": 0.5, "d": 0.7, "e": 0.1}
    aim = {} if "memory" in settings else {"epsilon": 0.25}
    plain = Explorer(window=3, delta=0.1, **settings, **aim)
    euros = Explorer(
        window=3, delta=0.1, **settings, **{name: 50 * value for name, value in aim.items()}, scale=(-10, 40)
    )
    for arm, mean in means.items():
        assert plain.arrive(arm) == euros.arrive(arm)
        while (asked := plain.ask()) is not None:
            assert euros.ask() == asked
            plain.tell(asked, means[asked])
            euros.tell(asked, -10 + 50 * means[asked])
        assert euros.ask() is None
        assert euros.best() == plain.best()
        assert euros.gap == pytest.approx(50 * plain.gap)
        assert euros.means()[arm] is None or euros.means()[arm] == pytest.approx(-10 + 50 * mean)
    if "epsilon" in aim:
        assert (euros.epsilon, euros.promise) == pytest.approx((12.5, 12.5))
    if euros.probe == "certify":
        assert euros.bounds("d") == pytest.approx([-10 + 50 * bound for bound in plain.bounds("d")])


def test_rewards_outside_of_the_scale_are_named():
    explorer = Explorer(window=3, epsilon=5, scale=(0, 50))
    explorer.arrive("a")
    with pytest.raises(ValueError, match="reward must be between 0 and 50, not 51"):
        explorer.tell("a", 51)
    with pytest.raises(ValueError, match="reward must be between 0 and 150, 3 times the scale, not 151"):
        explorer.tell("a", 151, pulls=3)


def test_epsilon_is_in_the_unit_of_the_scale():
    with pytest.raises(ValueError, match="epsilon must be a number above 0 and at most 50, not 60"):
        Explorer(epsilon=60, scale=(0, 50))
    assert Explorer(scale=(0, 50)).epsilon == pytest.approx(5)


def test_a_share_of_the_best_mean_needs_a_scale_from_0():
    with pytest.raises(ValueError, match="scale must begin with 0 where epsilon is a share of the best mean, not"):
        Explorer(epsilon=0.2, relative=True, scale=(1, 50))
    assert Explorer(epsilon=0.2, relative=True, scale=(0, 50)).epsilon == 0.2


def test_a_player_takes_rewards_on_a_scale():
    player = Player(window=3, memory=3, scale=(-1, 1))
    player.arrive("a", 10)
    player.tell("a", -1.0)
    player.tell("a", 0.5)
    assert player.means() == {"a": -0.25}


def test_sums_on_a_scale_far_from_0_may_be_off_in_the_last_digits():
    explorer = Explorer(window=3, scale=(100.1, 100.2), epsilon=0.05)
    explorer.arrive("a")
    explorer.tell("a", sum([100.1] * 10**5), pulls=10**5)
    assert explorer.means() == pytest.approx({"a": 100.1})
