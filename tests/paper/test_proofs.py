"""Where a proof of the paper does not follow: the counterexamples of docs/theorems.md, computed.

None of them is about an experiment: they are exact, and cannot fail by chance.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from bestbefore import Explorer, streams

COPIES = 1000


def test_lemma_b5_multiplies_chances_that_need_not_be_independent():
    """Solve all copies, or with chance 1 / 200 none: all are right with 99 / 100, but not as the proof has it."""
    outcomes = {COPIES: Fraction(199, 200), 0: Fraction(1, 200)}  # copies solved, and the chance of that
    all_right = outcomes[COPIES]
    each_right = sum(chance * solved / COPIES for solved, chance in outcomes.items())
    assert all_right >= Fraction(99, 100)
    assert float(each_right) ** COPIES < 0.01, "the product of the proof, which it says is the chance of all"
    sigma = 1 + math.log2(all_right)
    assert 0.9 < sigma < 1
    assert each_right < 1 - sigma / COPIES, "and k / 100 copies would have to be surer than this"


def test_lemma_b5_holds_for_the_chance_of_each_copy_given_those_before_it():
    """The repair: these do multiply to the chance of all, and half of them fail with a chance of order 1 / k."""
    given = [Fraction(199, 200), *[Fraction(1)] * (COPIES - 1)]
    assert math.prod(given) == Fraction(199, 200)
    failures = sorted(1 - chance for chance in given)
    assert sum(failures) <= -math.log(0.99)
    assert failures[COPIES // 2] <= -2 * math.log(0.99) / COPIES


def test_the_proof_of_lemma_4_2_gives_epsilon_and_not_two_thirds_of_it():
    """Two arms, each found one slice off: the answer is .299 below the best, with epsilon = .3.

    .6 is in slice 6 and looks like .5, of slice 5; .301 is in slice 4 and looks like .401, of slice 5 again.  The newer
    arm takes the slot, and all that the proof asks for has happened.
    """
    epsilon, means, seen = 0.3, {"best": 0.6, "newer": 0.301}, {"best": 0.5, "newer": 0.401}
    slices = {arm: (math.ceil(means[arm] / 0.1), math.ceil(seen[arm] / 0.1)) for arm in means}
    assert slices == {"best": (6, 5), "newer": (4, 5)}
    assert all(abs(means[arm] - seen[arm]) <= epsilon / 3 + 1e-12 for arm in means)
    explorer = Explorer(window=2, epsilon=epsilon, keep="bucket")
    for arm in means:
        explorer.arrive(arm)
        while (asked := explorer.ask()) is not None:
            explorer.tell(asked, seen[asked])
    gap = means["best"] - means[explorer.best()]
    assert gap == pytest.approx(0.299)
    assert 2 / 3 * epsilon < gap < epsilon


def test_the_window_after_lemma_e2_is_small_against_one_over_epsilon_not_against_epsilon():
    """For n = 1000, T = 10^12 and W = 10, as the argument needs it: only the best arm of the stairs is epsilon-best.

    As printed, W would have to be small against the cube root of n ln n / T, which is epsilon, and below 1.
    """
    arms, pulls, window = 1000, 10**12, 10
    epsilon = (arms * math.log(arms) / pulls) ** (1 / 3)
    (block,) = streams.memory_stairs(arms, window).blocks(np.random.default_rng(0))
    steps = -np.diff(block.means)
    assert steps[steps > 0].min() >= epsilon
    assert epsilon < 1 <= window < 1 / epsilon
