"""EPOCH by all sets of stored arms: against the stream itself, against the formula, and against the bound."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from bestbefore import bounds, streams
from bestbefore.paper.epoch_sets import least_by_gaps, least_regret, regret_of

LIMIT = math.pi**2 / 3 - 3
"""The sum of 1 / (d (d + 1))^2 over all d."""


def streams_of_all_h(window):
    """Return the means of one period for each h, as the stream itself draws them."""
    found = {}
    for seed in range(1000):
        (block,) = streams.epoch(2 * window, window).blocks(np.random.default_rng(seed))
        means = [Fraction(round(2 * window * mean), 2 * window) for mean in block.means]
        found.setdefault(means[-1], means)
        if len(found) == window - 1:
            return found.values()
    raise AssertionError("a thousand seeds did not draw every h")


@pytest.mark.parametrize("window", [2, 3, 6])
def test_the_regret_of_a_set_is_that_of_whoever_stores_it_on_the_stream(window):
    """At times W .. 2 W - 2: the best of the last W arms, less the best of those stored and those that arrived since.

    Arm W has just arrived at time W; all of the second block is at hand, for all of it is alike.
    """
    periods = streams_of_all_h(window)
    for size in range(window):
        for stored in combinations(range(1, window), size):
            lost = Fraction(0)
            for means in periods:
                for now in range(window, 2 * window - 1):
                    valid = range(now - window + 1, now + 1)
                    at_hand = [arm for arm in valid if arm in stored or arm >= window]
                    lost += max(means[arm - 1] for arm in valid) - max(means[arm - 1] for arm in at_hand)
            assert regret_of(window, stored) == lost / (window - 1)


@pytest.mark.parametrize("window", range(2, 10))
def test_gaps_and_sets_agree(window):
    for memory in range(window + 2):
        assert least_by_gaps(window, memory) == least_regret(window, memory)


@pytest.mark.parametrize("window", [2, 5, 6, 13, 40])
def test_no_set_is_below_the_bound(window):
    for memory in range(window):
        assert least_by_gaps(window, memory) >= Fraction(bounds.period_regret(window, memory)) * (
            1 - Fraction(1, 10**12)
        )


def test_the_bound_is_the_least_regret_where_few_arms_are_left_out():
    """One, two or three arms: i = 1, or 1 and 2, or 1, 2 and 4, at a cost of 1, 5 and 12, the pentagonal numbers."""
    for left_out, squares in ((0, 0), (1, 1), (2, 5), (3, 12)):
        least = least_by_gaps(20, 19 - left_out)
        assert least == Fraction(squares, 2 * 20 * 19)
        assert float(least) == pytest.approx(bounds.period_regret(20, 19 - left_out))
    assert least_by_gaps(20, 15) == Fraction(23, 2 * 20 * 19), "four: more than 22"


def test_with_half_the_window_the_best_set_tends_to_a_limit():
    """(W - 1 - m)^2 / (2 c) squares, c = pi^2 / 3 - 3, from below: 0.2156 in units of a pull an epoch."""
    shares = [float(least_by_gaps(window, window // 2)) * 16 * LIMIT for window in (51, 101, 201)]
    assert shares == sorted(shares)
    assert 0.97 < shares[-1] < 1


def test_with_few_slots_the_bound_is_near_the_best_set():
    for memory in range(9):
        assert float(least_by_gaps(120, memory)) < 1.6 * bounds.period_regret(120, memory)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: least_regret(1, 0), "window must be a whole number of at least 2, not 1"),
        (lambda: least_regret(5, -1), "memory must be a whole number of at least 0, not -1"),
        (lambda: least_by_gaps(1, 0), "window must be a whole number of at least 2, not 1"),
        (lambda: least_by_gaps(5, 0.5), "memory must be a whole number of at least 0, not 0.5"),
        (lambda: regret_of(1, ()), "window must be a whole number of at least 2, not 1"),
    ],
)
def test_what_is_not_allowed_is_named(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()
