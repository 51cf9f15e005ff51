"""Estimators in the manner of scikit-learn predict an arm's mean from its features."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge, SGDRegressor

from bestbefore import peers


def test_features_tell_of_an_arm_that_was_never_pulled():
    """Means rise with the feature; without features the new arm is like the average of the others."""
    for features, expected in ((lambda arm: [arm], 9), (None, 3)):
        agent = peers.estimator(Ridge, features=features, explore=0.0, first=0)(window=4, seed=0)
        for arm in (1, 2, 3):
            agent.arrive(arm)
            agent.tell(arm, arm / 10)
        agent.arrive(9)
        assert agent.ask() == expected


def test_fit_sees_the_arms_stored_and_nobody_else():
    class Seen(Ridge):
        def fit(self, rows, means, sample_weight=None):
            self.rows, self.means, self.weights = rows, means, sample_weight
            return super().fit(rows, means, sample_weight)

    agent = peers.estimator(Seen, explore=0.0)(window=2, seed=0)
    for arm, reward in zip("abc", (0.9, 0.2, 0.4), strict=True):
        agent.arrive(arm)
        agent.tell(agent.ask(), reward)
        agent.tell(arm, reward)
    assert agent.ask() == "c"
    assert agent.peer.means.tolist() == [0.2, 0.4]
    assert agent.peer.weights.tolist() == [2, 2]
    assert agent.peer.rows.tolist() == [[0, 1], [1, 0]]  # "c" has the coordinate that "a" had
    assert (agent.held, agent.removes) == (2, True)


def test_partial_fit_learns_each_reward_and_forgets_nothing():
    agent = peers.estimator(SGDRegressor, partial=True, explore=0.0)(window=2, seed=0)
    for arm in "abc":
        agent.arrive(arm)
        agent.tell(agent.ask(), 0.9)
    assert agent.ask() in ("b", "c")
    assert agent.peer.t_ == 1 + 3
    assert (agent.held, agent.removes) == (3, False)


def test_it_explores_as_often_as_told():
    """Of 400 pulls 100 are at random, 50 of these of the worse arm; outside of 25..75 with probability 2e-4."""
    agent = peers.estimator(Ridge, explore=0.25, every=50)(window=2, seed=0)
    for arm in (0.1, 0.9):
        agent.arrive(arm)
        agent.tell(agent.ask(), arm)
    asked = np.array([agent.ask() for _ in range(400)])
    assert 25 < (asked == 0.1).sum() < 75


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="explore must be a number of at least 0 and at most 1, not 2"):
        peers.estimator(Ridge, explore=2)(window=2)
    with pytest.raises(ValueError, match="a policy must have partial_fit, predict, but Ridge lacks partial_fit"):
        peers.estimator(Ridge, partial=True)(window=2)
    with pytest.raises(ValueError, match="cannot be saved"):
        peers.estimator(Ridge)(window=2).state()
