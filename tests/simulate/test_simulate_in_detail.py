"""Simulations, count by count: rewards of 0 and 1 for sure leave nothing to chance, so each number is known."""

import math
import threading

import numpy as np
import pytest

from bestbefore import pull, rules, simulate
from bestbefore.memory import Moment, count, empty_memory, put
from bestbefore.own import FAILED
from bestbefore.plan import plan_play
from bestbefore.probe.challenge import challenge_unit, level_pulls
from bestbefore.pull import kl_ucb
from bestbefore.simulate.account import Account
from bestbefore.simulate.admission import admitted
from bestbefore.simulate.epochs import PlayPiece, Setup
from bestbefore.simulate.leaps import empty_heap, play_leaping
from bestbefore.simulate.rewards import draw_block, next_of_block, one_reward, total_of
from bestbefore.streams import from_means, from_ratings


def only_row(simulation, means, **settings):
    """Run once, and return the row of the table."""
    (row,) = simulation(means, **{"runs": 1, "progress": False} | settings)
    return row


# Exploration


def test_an_arm_is_not_the_answer_once_it_has_expired_and_every_pull_counts():
    """A window of two in three slots: arm 1, the best, leaves when arm 3 arrives."""
    row = only_row(simulate.explore, [1.0, 0.0, 0.0, 0.0], window=2, memory=3, keep="fifo", tests=5)
    assert (row["mean"], row["max"], row["peak_memory"], row["pulls"]) == (0.0, 0.0, 2, 20)


def test_errors_are_of_means_and_not_of_what_was_drawn():
    """A single arm is the best, whatever its one reward was."""
    for seed in range(4):
        row = only_row(simulate.explore, [0.5], window=2, memory=2, keep="fifo", tests=1, seed=seed)
        assert (row["mean"], row["max"]) == (0.0, 0.0)


def test_a_challenge_costs_pulls_of_both_sides():
    """The king returns 1 and his challenger 0, so that one level decides."""
    row = only_row(simulate.explore, [1.0, 0.0], window=5, keep="king", epsilon=0.5, delta=0.05)
    assert row["pulls"] == 2 * level_pulls(challenge_unit(0.5, 0.05), 1)


# Regret


def test_regret_is_to_the_best_valid_arm_and_nobody_else():
    """Arm 1 is valid in two epochs.  In the third and fourth all are equally bad, and nothing can be lost."""
    settings = {"window": 2, "budgets": 10, "memory": 3, "keep": "fifo", "pull": "ucb"}
    regrets = simulate.epoch_regrets([1.0, 0.0, 0.0, 0.0], progress=False, **settings)
    assert regrets[0] == regrets[2] == regrets[3] == 0
    assert regrets[1] > 0
    row = only_row(simulate.play, [1.0, 0.0, 0.0, 0.0], **settings)
    assert (row["pulls"], row["peak_memory"]) == (40, 2)
    assert only_row(simulate.play, [0.5], **settings)["regret"] == 0, "0.5 is the best there is"


def test_what_was_pulled_in_earlier_epochs_is_known_unless_each_begins_afresh():
    """Commit tests arm 1, which returns 0, in the first epoch; and once more only if it has to."""
    tests = plan_play(window=2, memory=2, pull="commit", epsilon=0.9).tests()
    settings = {"window": 2, "budgets": 1000, "memory": 2, "keep": "fifo", "pull": "commit", "epsilon": 0.9}
    regrets = [only_row(simulate.play, [0.0, 1.0], carry=carry, **settings)["regret"] for carry in (True, False)]
    assert regrets == [0, tests]


def test_inf_learns_which_of_two_arms_returns_nothing():
    """Of 500 pulls it gives 8, 9 and 10 to the bad arm, in three runs; seed fixed.

    Losses that are not weighted by their odds give it 56 or more, and rewards taken for losses nearly all.
    """
    table = simulate.play(
        [0.0, 1.0], window=2, budgets=[0, 500], memory=2, keep="fifo", pull="inf", runs=3, progress=False
    )
    assert table["regret"].max() < 30


@pytest.mark.parametrize("leaps", [False, True])
@pytest.mark.parametrize("rule", rules.INDEXED)
def test_a_heap_of_arms_pulls_the_highest_index_and_of_equals_the_newest(rule, leaps):
    """Against a loop that looks at all arms before each pull; rewards are 0 or 1 for sure."""
    rng, number = np.random.default_rng(3), rules.PULL[rule].number
    for _ in range(20):
        size, budget = int(rng.integers(1, 8)), int(rng.integers(1, 60))
        means, arrivals = rng.integers(0, 2, size).astype(float), rng.permutation(size) + 1
        known = rng.integers(0, rng.choice([1, 3, 60]), size)  # nothing, or little, or more
        totals = rng.integers(0, known + 1)
        one, other = empty_memory(size), empty_memory(size)
        for slot in range(size):
            for memory in (one, other):
                put(memory, slot, int(arrivals[slot]), int(known[slot]), float(totals[slot]))
        horizon = pull.horizon_of(budget, count(one), 0.01, 3, youth=5.0)
        pulled = []
        for _ in range(budget):
            slot = pull.highest(number, one, horizon)
            put(one, slot, one.arrival[slot], one.pulls[slot] + 1, one.total[slot] + means[slot])
            pulled.append(slot)
        spent, arms, before = np.zeros(size, np.int64), arms_of(from_means(means)), int(rng.integers(0, size + 1))
        switches, last = play_leaping(
            other, arms, number, None, budget, horizon, leaps, rng, empty_heap(size, 0), spent, np.zeros(size), before
        )
        assert spent.tolist() == np.bincount(pulled, minlength=size).tolist()
        assert switches == np.count_nonzero(np.diff([before, *one.arrival[pulled]]))
        assert last == one.arrival[pulled[-1]]


def test_an_arm_whose_bound_is_the_highest_is_not_pulled_where_its_index_is_lower():
    """Arms stand in the heap by quick bounds, until it matters."""
    number, horizon = rules.PULL["kl_ucb"].number, pull.horizon_of(1000, 2, 0.01, 3)
    arms = [(pulls, total) for pulls in range(2, 40) for total in range(1, pulls)]
    index = np.array([kl_ucb.index(pulls, float(total), horizon) for pulls, total in arms])
    ceiling = np.array([kl_ucb.ceiling(pulls, float(total), horizon) for pulls, total in arms])
    ones, others = np.nonzero((index[:, None] > index + 1e-9) & (ceiling[:, None] < ceiling - 1e-9))
    assert ones.size > 100, "pairs whose bounds stand in the wrong order"
    rng = np.random.default_rng(1)
    for pair in rng.choice(ones.size, 100, replace=False):
        memory, spent = empty_memory(2), np.zeros(2, np.int64)
        for slot, arm in enumerate((ones[pair], others[pair])):
            put(memory, slot, slot + 1, arms[arm][0], float(arms[arm][1]))
        true = arms_of(from_means([1.0, 1.0]))
        play_leaping(memory, true, number, None, 1, horizon, True, rng, empty_heap(2, 0), spent, np.zeros(2), 0)
        assert spent.tolist() == [1, 0]


# How noisy rewards are


def state_after(stream, window, budget, memory, seed=0, **chosen):
    """Return all that the compiled loop carries, at the end of a run of heirs x fresh."""
    piece = PlayPiece("keep", "pull", Setup(stream, window, budget, memory, "heirs", "fresh", **chosen), 0, seed)
    return piece._play(piece.setup.budgets(seed, 0), threading.Event(), np.zeros(0))


@pytest.mark.parametrize("carry", [True, False])
@pytest.mark.parametrize("leaps", [True, False])
def test_each_pull_is_noted_with_how_far_its_reward_is_from_all_or_nothing(leaps, carry):
    """Each reward is 0.2 or 0.8, so that r (1 - r) is 0.16 whatever comes, in blocks and one by one."""
    stream = from_ratings([[count, 20 - count] for count in (4, 10, 6, 8, 12, 3) * 2], [0.2, 0.8])
    for seed in range(3):
        state = state_after(stream, 6, 400, 4, seed, leaps=leaps, carry=carry)
        assert state.memory.pulls.max() >= 200
        assert state.shades == pytest.approx(0.16 * state.memory.pulls)


def test_where_rewards_vary_little_newcomers_are_tested_for_less_long():
    """Arms of the same means: 9 newcomers of 0.475 under a leader of 0.575."""
    calm = from_ratings([[0, 0, 1, 1]] + [[1, 1, 0, 0]] * 9, [0.45, 0.5, 0.55, 0.6])
    pulls = []
    for stream in (calm, from_means([0.575] + [0.475] * 9)):
        memory = state_after(stream, 10, 2000, 10).memory
        pulls.append(memory.pulls[np.argsort(memory.arrival)])
    assert 3 * pulls[0][1:].mean() < pulls[1][1:].mean()


# The everlasting best arm


def seek(means, **settings):
    return only_row(simulate.seek, means, **{"window": 2, "memory": 2, "strategy": "wait", "budget": 100} | settings)


def test_the_best_arm_is_found_with_the_arrival_that_ends_its_window():
    """Arm 3 of a window of two is valid with arm 4, and has outlived its window with arm 5."""
    rows = [seek([0.0, 0.0, 1.0, *[0.0] * more], clock="stops") for more in (1, 2)]
    assert [row["found"] for row in rows] == [False, True]
    assert rows[1]["regret"] == 0


def test_pulls_of_an_arm_that_expired_in_silence_are_wasted_and_cost_one_each():
    """Arm 2 looks as good as arm 1, the best, and is newer.  It has just expired when the stream ends.

    Five rewards of a mean of 0.999 are all 1 but in one of 200 cases; the seed is fixed.
    """
    row = seek([1.0, 0.999, 0.0, 0.0], flag="implicit", strategy="hope", memory=4, tests=5)
    assert (row["tests"], row["wasted"]) == (12, 88), "5 of arms 1 and 2 each; the others are given up at once"
    assert row["regret"] == pytest.approx(2 + 5 * 0.001 + 88)


def test_no_test_takes_more_than_is_left_of_the_budget():
    row = seek([0.5, 0.5], strategy="rank", tests=50, budget=70)
    assert (row["tests"], row["pulls"]) == (70, 70)


# Rewards


def arms_of(stream):
    return next(stream.blocks(np.random.default_rng(0)))


def test_one_reward_is_one_as_often_as_the_mean_says():
    arms, rng = arms_of(from_means([0.0, 1.0])), np.random.default_rng(0)
    assert [one_reward(arms, arm, rng) for arm in (0, 1)] == [0.0, 1.0]


def test_a_sum_of_normal_rewards_deviates_by_sigma_times_the_root_of_their_number():
    """400 sums, whose deviation is known within 18% in all but one of a million cases; seed fixed."""
    arms, rng = arms_of(from_means([0.5]).gaussian(0.2)), np.random.default_rng(0)
    assert np.std([total_of(arms, 0, 25, rng) for _ in range(400)]) == pytest.approx(1.0, rel=0.18)


def test_a_sum_of_ratings_has_each_level_in_its_share():
    """Three levels of a third each: their means sum up to 1500 of 3000, and deviate by less than 5 x 22.4."""
    arms, rng = arms_of(from_ratings([[1, 1, 1]], [0.0, 0.5, 1.0])), np.random.default_rng(0)
    assert total_of(arms, 0, 3000, rng) == pytest.approx(1500, abs=5 * math.sqrt(3000 / 6))


def test_a_block_is_handed_out_reward_by_reward_until_nothing_is_left():
    arms, rng, drawn = arms_of(from_means([0.5])), np.random.default_rng(0), np.zeros(2, np.int64)
    total = draw_block(arms, 0, 50, rng, drawn)
    assert drawn.sum() == 50
    assert sum(next_of_block(arms, drawn, left, rng) for left in range(50, 0, -1)) == total
    assert drawn.tolist() == [0, 0]


# The account of an agent that somebody else has written


class Listing:
    stored = ()


def account_of(*lists, slots=2):
    """Let an arm arrive for each list of arms that are then stored."""
    account = Account(Listing(), slots, window=9)
    for now, stored in enumerate(lists, start=1):
        account.arrive(now, f"tape {now}")
        account._agent.stored = stored
        account.look()
    return account


def test_memory_has_so_many_slots_and_not_one_more():
    assert account_of([1], [1, 2]).peak == 2
    with pytest.raises(ValueError, match="stores 3 arms: 1, 2, 3, but its memory has 2 slots"):
        account_of([1], [1, 2], [1, 2, 3])


def test_the_peak_is_the_most_that_was_ever_stored():
    assert account_of([1], [1, 2], [2]).peak == 2


def test_the_newest_arm_is_at_hand_and_gone_with_the_next_unless_it_is_stored():
    account = account_of([], [])
    assert (account.tape(1), account.tape(2)) == (None, "tape 2")
    account = account_of([1], [1])
    assert (account.tape(1), account.tape(2)) == ("tape 1", "tape 2")


# A keep rule of one's own


def outcome(slot, arrivals):
    """Let a rule of one's own return a slot, and leave these arrivals; the arm that it decides on is number 9."""

    def own(memory, arrival, pulls, total, moment):
        memory.arrival[:] = arrivals
        return slot

    memory = empty_memory(2)
    put(memory, 0, 5, 10, 5.0)
    put(memory, 1, 6, 10, 5.0)
    plain = getattr(admitted, "py_func", admitted)
    return plain(-1, own, memory, 9, 10, 5.0, Moment(9, 20, 9, 0.0, 0.0))


def test_an_own_rule_stores_the_arm_where_it_says_and_leaves_the_others_or_drops_them():
    assert [outcome(1, [5, 9]), outcome(1, [0, 9]), outcome(-1, [5, 6]), outcome(-1, [0, 6])] == [1, 1, -1, -1]
    for slot, arrivals in ((1, [6, 9]), (1, [5, 6]), (-1, [6, 5]), (0, [5, 9])):
        with pytest.raises(ValueError, match="must put the arm into the slot that it returns"):
            outcome(slot, arrivals)


def test_an_own_rule_returns_a_slot_that_there_is():
    for slot in (2, -3):
        with pytest.raises(ValueError, match="must return a slot"):
            outcome(slot, [5, 6])
    with pytest.raises(ValueError, match="raised an error"):
        outcome(FAILED, [5, 6])


def test_by_time_certificates_promise_nothing_while_more_arms_are_valid_than_was_said():
    """Four arms come at once, with at most two: the third and the fourth are one too many."""
    stream = from_means([1.0, 0.0, 1.0, 0.0, 1.0]).at([1, 1, 1, 1, 30])
    seen = simulate.trace(stream, "10s", epsilon=0.5, most=2, progress=False)
    assert (seen.gaps == 1).tolist() == [False, False, True, True, False]
    assert seen.errors.tolist() == [0.0] * 5
