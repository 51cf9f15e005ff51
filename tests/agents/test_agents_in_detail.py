"""Agents, verb by verb: each test turns on one decision."""

import pytest

from bestbefore import Explorer, Player, Seeker, UnknownArm


def settled(agent, arm, mean):
    """Let an arm arrive, and tell the mean whenever it is asked for."""
    gone = agent.arrive(arm)
    while (asked := agent.ask()) is not None:
        agent.tell(asked, mean)
    return gone


def asks(agent, times):
    return [agent.ask() for _ in range(times)]


# What all share


def test_a_new_arm_is_foreseen_as_what_is_usual_here():
    """Arm a has 0.3 in 10 pulls, and so is expected of b: it is pulled until as many of its pulls are under way."""
    player = Player(window=3, memory=2, keep="fifo", pull="ucb")
    player.arrive("a", budget=0)
    player.arrive("b", budget=100)
    player.tell("a", 3, pulls=10)
    memory = player._foreseen({2: 8})
    mean = memory.total / memory.pulls
    assert memory.pulls.tolist() == [10, 8]
    assert mean.tolist() == pytest.approx([0.3, (0.3 * 10 + 0.5) / 11], abs=0.01)
    assert Player(window=3, memory=2)._foreseen({}).pulls.tolist() == [0, 0]


def test_where_nothing_is_known_one_half_is_foreseen():
    player = Player(window=3, memory=2, keep="fifo")
    player.arrive("a", budget=100)
    memory = player._foreseen({1: 8})
    assert (memory.pulls.tolist(), memory.total.tolist()) == ([8, 0], [4.0, 0.0])


def test_each_pull_under_way_counts_until_it_is_told():
    explorer = Explorer(window=9, memory=3, tests=5)
    explorer.arrive("a")
    assert asks(explorer, 4) == ["a"] * 4
    explorer.tell("a", 1, pulls=3)
    assert asks(explorer, 2) == ["a", None], "one is under way, and two are wanted"


def test_an_arm_that_is_gone_has_no_pulls_under_way():
    seeker = Seeker(window=5, memory=1, strategy="rank", tests=2, budget=10)
    seeker.arrive("a")
    seeker.ask()
    assert seeker.left == 9
    seeker.learn("a", False)
    assert seeker.left == 10, "its reward can never come"


def test_the_newest_arm_is_not_stored_while_it_is_under_test():
    explorer = Explorer(window=9, memory=3, tests=2)
    explorer.arrive("a")
    assert (len(explorer), explorer.stored, explorer.peak_memory) == (0, [], 0)


def test_the_peak_stays_when_arms_leave():
    explorer = Explorer(window=9, memory=3, tests=1, keep="staircase")
    for arm, mean in (("a", 0.9), ("b", 0.5), ("c", 0.95)):
        settled(explorer, arm, mean)
    assert (explorer.stored, explorer.peak_memory) == (["c"], 2)


# The explorer


def test_a_late_reward_places_an_arm_of_the_staircase_anew():
    """Arm b becomes better than a, which is older: a can never be the answer again."""
    explorer = Explorer(window=9, memory=3, tests=10, keep="staircase")
    settled(explorer, "a", 0.9)
    settled(explorer, "b", 0.5)
    explorer.tell("b", 90, pulls=90)
    assert (explorer.stored, explorer.best()) == (["b"], "b")


def test_a_late_reward_places_an_arm_of_a_bucket_anew():
    """Arm a rises into the slice of b, which is newer and stays."""
    explorer = Explorer(window=9, memory=2, tests=10, keep="bucket")
    settled(explorer, "a", 0.2)
    settled(explorer, "b", 0.9)
    explorer.tell("a", 20, pulls=20)
    assert explorer.stored == ["b"]


def test_where_the_place_does_not_depend_on_the_mean_it_stays():
    explorer = Explorer(window=9, memory=2, tests=10, keep="fifo")
    settled(explorer, "a", 0.2)
    settled(explorer, "b", 0.9)
    explorer.tell("a", 90, pulls=90)
    assert (explorer.stored, explorer.best()) == (["a", "b"], "a")


def test_a_test_cut_short_suspends_the_promise_while_its_arm_is_valid():
    explorer = Explorer(window=3, epsilon=0.5, probe="fixed")
    explorer.arrive("a")
    explorer.tell("a", 1)
    promises = []
    for arm in "bcde":
        settled(explorer, arm, 0.5)
        promises.append(explorer.promise)
    assert promises == [None, None, 0.5, 0.5], "arm a is valid until d arrives"


def test_a_reward_after_the_test_suspends_the_promise():
    explorer = Explorer(window=3, epsilon=0.5, probe="fixed")
    settled(explorer, "a", 0.5)
    assert explorer.promise == 0.5
    explorer.tell("a", 1)
    assert explorer.promise is None


def test_as_many_arms_are_under_test_as_may_be_and_only_valid_ones():
    explorer = Explorer(window=9, memory=6, pending=2, tests=5)
    under_test = []
    for arm in "abc":
        explorer.arrive(arm)
        under_test.append("".join(explorer.under_test))
    assert under_test == ["a", "ab", "bc"]
    explorer = Explorer(window=3, memory=6, pending=5, tests=5)
    for arm in "abc":
        explorer.arrive(arm)
    assert explorer.under_test == ["a", "b", "c"], "the window is full, and all are valid"
    explorer.arrive("d")
    assert explorer.under_test == ["b", "c", "d"]


def test_an_arm_is_asked_for_as_often_as_it_is_wanted():
    explorer = Explorer(window=9, memory=3, tests=3)
    explorer.arrive("a")
    assert asks(explorer, 5) == ["a", "a", "a", None, None]


# The player


def test_the_first_epoch_begins_with_the_arm_that_fills_the_window():
    player = Player(window=2, memory=2, partial=False)
    player.arrive("a", budget=3)
    assert player.ask() is None
    player.arrive("b", budget=3)
    assert asks(player, 4)[-2:] != [None, None]


def test_a_budget_is_spent_and_not_one_pull_more():
    player = Player(window=2, memory=2)
    player.arrive("a", budget=3)
    assert asks(player, 5) == ["a", "a", "a", None, None]


def test_pulls_that_nobody_asked_for_are_spent_too():
    player = Player(window=1, memory=1)
    player.arrive("a", budget=10)
    player.tell("a", 6, pulls=8)
    assert player.left == 2


def test_a_window_that_begins_afresh_does_not_count_earlier_pulls():
    player = Player(window=2, memory=2, keep="fifo", carry=False)
    player.arrive("a", budget=5)
    asks(player, 5)
    player.arrive("b", budget=5)
    player.tell("a", 5, pulls=5)
    assert player.state()["arms"][0]["pulls"] == 0
    player.tell("a", 2, pulls=2)
    assert player.state()["arms"][0]["pulls"] == 2, "these were not asked for before, and count"


def test_an_epoch_without_pulls_wipes_nothing():
    player = Player(window=3, memory=2, keep="fifo", carry=False)
    player.arrive("a", budget=10)
    player.tell("a", 9, pulls=10)
    player.arrive("b", budget=0)
    assert player.state()["arms"][0]["pulls"] == 10
    assert player.best() == "a"


def test_inf_estimates_losses_of_this_epoch_alone():
    """One arm has odds of 1: a reward of 1 is no loss, and one of 0 a loss of 1."""
    player = Player(window=3, memory=2, keep="topk", pull="inf", seed=0)
    player.arrive("a", budget=5)
    losses = []
    for reward in (1, 0, 0.25):
        player.tell(player.ask(), reward)
        losses.append(player.state()["arms"][0]["loss"])
    assert losses == pytest.approx([0, 1, 1.75])
    player.arrive("b", budget=5)
    assert [arm["loss"] for arm in player.state()["arms"]] == [0.0, 0.0]


# The seeker


def test_while_pulls_are_under_way_a_race_takes_an_unknown_arm_for_one_half():
    """The leader has 0.4, so an arm at 1/2 gets its whole test, and one at 0 a third of it."""
    seeker = Seeker(window=10, memory=3, strategy="race", tests=30)
    seeker.arrive("a")
    seeker.tell("a", 12, pulls=30)
    seeker.arrive("b")
    assert asks(seeker, 31) == ["b"] * 30 + [None]


def test_an_arm_is_overdue_once_its_window_is_over_and_not_before():
    seeker = Seeker(window=2, memory=2, strategy="wait")
    overdue = []
    for arm in "abc":
        seeker.arrive(arm)
        overdue.append("".join(seeker.overdue))
    assert overdue == ["", "", "a"]


def test_flags_are_asked_for_with_the_arrival_that_ends_a_window():
    heard = []

    def valid(arm):
        heard.append(arm)
        return False

    seeker = Seeker(window=2, memory=2, strategy="wait", valid=valid)
    for arm in "abc":
        seeker.arrive(arm)
    assert heard == ["a"]
    assert seeker.stored == ["b"]


def test_rank_pulls_each_arm_equally_often():
    seeker = Seeker(window=5, memory=2, strategy="rank", tests=2)
    seeker.arrive("a")
    assert asks(seeker, 3) == ["a", "a", None]


def test_to_hear_that_an_arm_is_valid_within_its_window_says_nothing():
    seeker = Seeker(window=1, memory=1, strategy="wait")
    seeker.arrive("a")
    seeker.learn("a", True)
    assert seeker.found is None


def ended(*means):
    """Return a seeker whose stream of two arms has ended, while time goes on."""
    seeker = Seeker(window=2, memory=2, strategy="rank", tests=2, budget=100)
    for arm, mean in zip("ab", means, strict=True):
        settled(seeker, arm, mean)
    seeker.finish(time="goes on")
    return seeker


def test_the_leader_is_pulled_when_the_next_tick_would_lose_it():
    """Arm b is the newest of a window of two: there is one tick to wait for."""
    seeker = ended(0.0, 1.0)
    assert seeker.ask() is None
    seeker.tick()
    assert seeker.ask() == "b"


def test_an_arm_that_is_overdue_is_not_pulled_before_its_flag_is_told():
    seeker = ended(1.0, 0.0)
    seeker.tick()
    assert (seeker.overdue, seeker.ask()) == (["a"], "b")


def test_ticks_are_no_arrivals():
    seeker = ended(0.0, 1.0)
    seeker.tick()
    assert seeker.arrivals == 2


def test_of_equal_arms_the_newest_is_the_best():
    seeker = Seeker(window=5, memory=3, strategy="rank", tests=2)
    for arm in "abc":
        settled(seeker, arm, 0.5)
    assert seeker.best() == "c"


# Names


def test_an_arm_expires_with_the_arrival_that_is_a_window_later_and_is_handed_out_once():
    explorer = Explorer(window=2, memory=5, tests=1, keep="fifo")
    assert [settled(explorer, arm, 0.5) for arm in "abcd"] == [[], [], ["a"], ["b"]]


def test_a_name_that_is_forgotten_may_come_again():
    explorer = Explorer(window=1, memory=1, tests=1, keep="fifo")
    for arm in "aba":
        settled(explorer, arm, 0.5)
    assert explorer.stored == ["a"]


def test_a_reward_for_an_earlier_bearer_of_the_name_is_refused():
    explorer = Explorer(window=9, memory=1, tests=1, keep="fifo")
    for arm in "aba":
        settled(explorer, arm, 0.5)
    with pytest.raises(UnknownArm):
        explorer.tell("a", 1, arrival=1)
