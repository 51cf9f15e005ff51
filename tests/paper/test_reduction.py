"""The reduction: one explorer, many problems."""

import numpy as np
import pytest

from bestbefore import Explorer
from bestbefore.paper.reduction import Solved, solve
from bestbefore.streams import reduction

W, PROBLEMS, EPSILON, DELTA = 4, 4, 0.4, 1e-4
RULES = {
    "bucket": {"keep": "bucket"},
    "staircase": {"keep": "staircase"},
    "topk": {"keep": "topk", "memory": 2},
    "fifo": {"keep": "fifo", "memory": W},
    "king": {"keep": "king"},
}
each_rule = pytest.mark.parametrize("rule", RULES)


def explorer_of(rule, window=W, problems=PROBLEMS):
    """Make one with a strong guarantee, or with the pulls of one where the rule promises nothing."""
    arms = 2 * window * problems
    return Explorer(window, EPSILON, DELTA, guarantee="strong", arms=arms, **RULES[rule])


class Arm:
    """A Bernoulli arm that counts its pulls."""

    def __init__(self, mean, rng):
        self.mean, self.rng, self.pulls = mean, rng, 0

    def pull(self):
        self.pulls += 1
        return float(self.rng.random() < self.mean)


def random_problems(rng, window=W, problems=PROBLEMS, low=0.0, high=1.0):
    return [[Arm(mean, rng) for mean in row] for row in rng.uniform(low, high, (problems, window))]


def mean(arm):
    return arm.mean


class Listener:
    """A user's own explorer: the four verbs, a window and a memory, nothing else.  It pulls each arm 300 times."""

    def __init__(self, window):
        self.window, self.arms, self.left = window, [], 0

    @property
    def stored(self):
        return [arm for arm, _ in self.arms]

    def arrive(self, arm):
        gone = self.stored[: len(self.arms) + 1 - self.window]
        self.arms = [*self.arms[len(gone) :], (arm, 0.0)]
        self.left = 300
        return gone

    def ask(self):
        return self.arms[-1][0] if self.left else None

    def tell(self, arm, reward):
        assert arm == self.arms[-1][0]
        self.arms[-1] = arm, self.arms[-1][1] + reward
        self.left -= 1

    def best(self):
        return max(self.arms, key=lambda pair: pair[1])[0]


# Answers


@each_rule
def test_all_problems_are_solved(rule):
    """10 runs with delta = 1/10,000: it fails by chance at most once in a thousand tests.

    `topk` and `king`, which fail on other streams, promise nothing; but here only the best of W arms is asked for, and
    who was before them does not count.  A king's pulls are many, so he gets 3 runs.
    """
    for seed in range(3 if rule == "king" else 10):
        problems = random_problems(np.random.default_rng(seed), low=0.1)
        solved = solve(explorer_of(rule), problems, pull=Arm.pull)
        for answer, problem in zip(solved.answers, problems, strict=True):
            assert answer in problem
            assert answer.mean >= max(map(mean, problem)) - EPSILON


@each_rule
def test_the_answer_is_no_zero_arm_and_no_arm_of_another_problem(rule):
    """Even where real arms are hardly better than zero."""
    problems = random_problems(np.random.default_rng(0), high=0.01)
    solved = solve(explorer_of(rule), problems, pull=Arm.pull)
    assert all(answer in problem for answer, problem in zip(solved.answers, problems, strict=True))


@each_rule
def test_a_window_of_one_arm_answers_with_it(rule):
    rules = dict(RULES[rule]) | ({"memory": 1} if rule in ("fifo", "topk") else {})
    explorer = Explorer(1, guarantee="strong", arms=6, tests=3, **rules)
    assert solve(explorer, [["a"], ["b"], ["c"]], pull=lambda arm: 0.5).answers == ("a", "b", "c")


def test_names_may_come_again():
    problems = [["a", "b", "b"], ["b", "a", "c"], ["c", "c", "c"]]
    explorer = Explorer(3, 0.2, guarantee="strong", arms=18)
    assert solve(explorer, problems, pull={"a": 0.2, "b": 0.9, "c": 0.5}.get).answers == ("b", "b", "c")


def test_arms_may_be_none_or_unhashable():
    """The explorer never sees them."""
    solved = solve(Explorer(2, tests=1), [[None, [1]]], pull=lambda arm: 0.2 if arm is None else 0.7)
    assert solved.answers == ([1],)


def test_no_problems_are_solved_for_nothing():
    assert solve(Explorer(5), [], pull=pytest.fail) == Solved((), 0, 0)


# Pulls


@each_rule
def test_only_real_arms_are_pulled_and_all_pulls_are_counted(rule):
    explorer = explorer_of(rule)
    problems = random_problems(np.random.default_rng(1))
    solved = solve(explorer, problems, pull=Arm.pull)
    assert solved.pulls == sum(arm.pulls for problem in problems for arm in problem)
    assert solved.pulls < solved.explorer_pulls == explorer.pulls


def test_tests_of_a_fixed_length_spend_half_of_their_pulls_on_zero_arms():
    solved = solve(Explorer(W, tests=7), random_problems(np.random.default_rng(0)), pull=Arm.pull)
    assert (solved.pulls, solved.explorer_pulls) == (7 * W * PROBLEMS, 2 * 7 * W * PROBLEMS)


@each_rule
def test_the_explorer_lives_through_the_stream_of_the_same_name(rule):
    """Driven by hand through `streams.reduction`, with rewards equal to means, it gives the same answers."""
    means = np.random.default_rng(2).random((PROBLEMS, W))
    solved = solve(explorer_of(rule), means.tolist(), pull=float)
    explorer, answers = explorer_of(rule), []
    stream = next(reduction(means, W).blocks(np.random.default_rng(0))).means
    for arrival in range(stream.size):
        explorer.arrive(arrival)
        while (arm := explorer.ask()) is not None:
            explorer.tell(arm, stream[arm])
        answers.append(stream[explorer.best()] if explorer.best() is not None else None)
    assert list(solved.answers) == answers[2 * W - 1 :: 2 * W]
    assert solved.explorer_pulls == explorer.pulls


# A user's own


def test_an_explorer_of_your_own_needs_four_verbs_only():
    """300 pulls: an arm looks better than one that is better by 0.4 with probability at most e^-24 (Hoeffding)."""
    problems = random_problems(np.random.default_rng(3))
    solved = solve(Listener(W), problems, pull=Arm.pull)
    for answer, problem in zip(solved.answers, problems, strict=True):
        assert answer.mean >= max(map(mean, problem)) - 0.4
    assert (solved.pulls, solved.explorer_pulls) == (300 * W * PROBLEMS, 600 * W * PROBLEMS)


def test_an_explorer_without_an_answer_gives_none():
    class Silent(Listener):
        def best(self):
            return None

    assert solve(Silent(2), [["a", "b"]], pull=lambda arm: 0.5).answers == (None,)


@pytest.mark.parametrize("arm", [0, -1, 99, "a"])
def test_an_answer_that_is_not_valid_is_an_error(arm):
    class Nostalgic(Listener):
        def best(self):
            return arm

    with pytest.raises(ValueError, match=rf"^the explorer answered with arm {arm!r}, which is not valid"):
        solve(Nostalgic(2), [["a", "b"]], pull=lambda arm: 0.5)


def test_asking_for_an_arm_that_is_not_valid_is_an_error():
    class Hasty(Listener):
        def ask(self):
            return 3

    with pytest.raises(ValueError, match=r"^the explorer asked for arm 3, which is not valid"):
        solve(Hasty(2), [["a", "b"]], pull=lambda arm: 0.5)


# Bad input


@pytest.mark.parametrize("second", [[], ["a"], ["a", "b", "c"]])
def test_a_problem_has_as_many_arms_as_the_window_and_nothing_is_pulled_before_that_is_known(second):
    match = rf"^problems must have 2 arms each, as the window has, but problem 2 has {len(second)}$"
    with pytest.raises(ValueError, match=match):
        solve(Explorer(2, tests=1), [["a", "b"], second], pull=pytest.fail)


def test_an_explorer_must_be_fresh():
    explorer = Explorer(2, tests=1)
    explorer.arrive("old")
    explorer.tell("old", 1.0)
    with pytest.raises(ValueError, match=r"^explorer must be fresh, not one that stores \['old'\]$"):
        solve(explorer, [["a", "b"]], pull=pytest.fail)


def test_a_reward_that_is_none_is_refused_by_the_explorer():
    with pytest.raises(ValueError, match=r"^reward must be"):
        solve(Explorer(2, tests=1), [["a", "b"]], pull=lambda arm: 1.5)
