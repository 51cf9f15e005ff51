"""A rule of one's own: a plain function runs compiled in the same loops, and live; it is watched, never mixed up."""

import json
import math

import numba
import numpy as np
import pytest

from bestbefore import Explorer, Player, own, simulate, streams
from bestbefore.keep import staircase
from bestbefore.memory import drop, free_slot, mean_of, oldest_slot, put
from bestbefore.pull import moss


def my_staircase(memory, arrival, pulls, total, moment):
    """The built-in rule, behind a function of one's own."""
    return staircase.admit(memory, arrival, pulls, total, moment)


def my_moss(pulls, total, horizon):
    bonus = max(math.log(horizon.budget / horizon.arms / pulls), 0.0) / pulls
    return total / pulls + 2 * horizon.noise.sigma * math.sqrt(bonus)


def newest(memory, arrival, pulls, total, moment):
    """Keep the newest arms."""
    slot = free_slot(memory)
    if slot < 0:
        slot = oldest_slot(memory)
    put(memory, slot, arrival, pulls, total)
    return slot


@numba.njit
def decorated(memory, arrival, pulls, total, moment):
    return newest_compiled(memory, arrival, pulls, total)


@numba.njit
def newest_compiled(memory, arrival, pulls, total):
    slot = free_slot(memory)
    if slot < 0:
        slot = oldest_slot(memory)
    put(memory, slot, arrival, pulls, total)
    return slot


def unnamed(table):
    return [{name: value for name, value in row.items() if name not in ("keep", "pull")} for row in table]


@pytest.mark.parametrize("kind", ["bernoulli", "stars", "gaussian"])
def test_the_own_copy_of_a_rule_explores_as_the_rule_does(kind):
    stream = {
        "bernoulli": streams.uniform(300),
        "stars": streams.uniform(300).rated([0, 0.5, 1]),
        "gaussian": streams.uniform(300).gaussian(0.3),
    }[kind]
    common = {"window": 30, "memory": [2, 5], "tests": 40, "slack": 1.0, "runs": 3}
    built_in, own_copy = (simulate.explore(stream, keep=keep, **common) for keep in ("staircase", my_staircase))
    assert unnamed(built_in) == unnamed(own_copy)
    assert set(own_copy["keep"]) == {"my_staircase"}


@pytest.mark.parametrize("leaps", [True, False])
def test_the_own_copy_of_a_keep_rule_plays_as_the_rule_does(leaps):
    common = {"window": 20, "budgets": 200, "memory": 4, "leaps": leaps, "runs": 3}
    built_in, own_copy = (
        simulate.play(streams.uniform(100), keep=keep, **common) for keep in ("staircase", my_staircase)
    )
    assert unnamed(built_in) == unnamed(own_copy)


def test_one_by_one_the_own_copy_of_an_index_plays_as_the_rule_does():
    common = {"window": 20, "budgets": 200, "memory": 4, "leaps": False, "runs": 3}
    built_in, own_copy = (simulate.play(streams.uniform(100), pull=pull, **common) for pull in ("moss", my_moss))
    assert unnamed(built_in) == unnamed(own_copy)
    noisy = streams.uniform(100).gaussian(2.0)
    built_in, own_copy = (simulate.play(noisy, pull=pull, **common) for pull in ("moss", my_moss))
    assert [row["pulls"] for row in built_in] == [row["pulls"] for row in own_copy]


def test_leaps_of_an_own_index_change_nothing_but_speed():
    """Mean regret over 300 runs with leaps and without, within five standard errors: by chance once in a million."""
    common = {"window": 10, "budgets": 300, "memory": 5, "pull": my_moss, "runs": 300}
    lost = [
        simulate.play(streams.uniform(30), leaps=leaps, seed=seed, **common)["regret"]
        for seed, leaps in enumerate([True, False])
    ]
    error = math.sqrt(sum(one.var(ddof=1) / one.size for one in lost))
    assert abs(lost[0].mean() - lost[1].mean()) < 5 * error


@pytest.mark.parametrize("rule", [newest, decorated], ids=["plain", "decorated"])
def test_plain_functions_and_decorated_ones_do_alike_in_all_loops_and_live(rule):
    common = {"window": 10, "memory": 3, "runs": 2}
    explored = simulate.explore(streams.uniform(80), keep=["fifo", rule], tests=20, **common)
    assert unnamed(explored.where(keep="fifo")) == unnamed(explored.where(keep=own.name_of(rule)))
    played = simulate.play(streams.uniform(80), keep=["fifo", rule], budgets=50, **common)
    assert unnamed(played.where(keep="fifo")) == unnamed(played.where(keep=own.name_of(rule)))
    for agent, told in ((Explorer, {"tests": 5}), (Player, {})):
        ours, theirs = (agent(window=10, memory=3, keep=keep, seed=1, **told) for keep in ("fifo", rule))
        for arm in range(25):
            for one in (ours, theirs):
                one.arrive(arm) if agent is Explorer else one.arrive(arm, budget=5)
                while (asked := one.ask()) is not None:
                    one.tell(asked, asked % 5 / 5)
            assert (ours.stored, ours.best()) == (theirs.stored, theirs.best())


def test_functions_of_one_name_are_never_mixed_up():
    """Somebody edits a rule in a notebook and runs the cell again: the new one runs, and the old one if asked for."""

    def make(keeps_newest):
        def rule(memory, arrival, pulls, total, moment):
            if memory.arrival[0] == 0 or keeps_newest:
                put(memory, 0, arrival, pulls, total)
                return 0
            return -1

        return rule

    first, second = make(False), make(True)
    for rule, expected in ((first, [1, 1, 1, 4]), (second, [1, 2, 3, 4]), (first, [1, 1, 1, 4])):
        assert simulate.trace([0.5] * 4, window=3, memory=1, keep=rule, tests=1).answers.tolist() == expected


def test_rules_of_ones_own_are_given_again_when_an_agent_is_restored():
    player = Player(window=5, memory=3, keep=newest, pull=my_moss, seed=1)
    player.arrive("a", budget=3)
    player.tell(player.ask(), 1.0)
    state = json.loads(json.dumps(player.state()))
    again = Player.from_state(state, keep=newest, pull=my_moss)
    assert (again.ask(), again.state()["arms"]) == (player.ask(), player.state()["arms"])
    for missing in ({}, {"keep": newest}, {"keep": my_staircase, "pull": my_moss}):
        with pytest.raises(ValueError, match=r"(keep|pull) must be given again: .* called '(newest|my_moss)'"):
            Player.from_state(state, **missing)
    with pytest.raises(ValueError, match="keep must be left out: the agent that was saved had 'staircase'"):
        Explorer.from_state(Explorer(memory=3).state(), keep=newest)


# What is watched


def raises(memory, arrival, pulls, total, moment):
    if arrival == 3:
        raise ValueError("three")
    put(memory, 0, arrival, pulls, total)
    return 0


def beyond(memory, arrival, pulls, total, moment):
    memory.arrival[memory.arrival.size + arrival] = arrival
    return 0


def nowhere(memory, arrival, pulls, total, moment):
    return 99


def elsewhere(memory, arrival, pulls, total, moment):
    put(memory, 0, arrival, pulls, total)
    return 1


def moves(memory, arrival, pulls, total, moment):
    if memory.arrival[0] > 0:
        put(memory, 1, memory.arrival[0], 1, 0.0)
    put(memory, 0, arrival, pulls, total)
    return 0


def passes(memory, arrival, pulls, total, moment):
    return -1


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (raises, "keep rule 'raises': it raised an error"),
        (beyond, "keep rule 'beyond': it raised an error"),
        (nowhere, "keep rule 'nowhere': it must return a slot, or -1"),
        (elsewhere, "keep rule 'elsewhere': it must put the arm into the slot that it returns"),
        (moves, "keep rule 'moves': it must put the arm into the slot that it returns, and leave the others"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_keep_rule_that_breaks_its_contract_is_named(rule, words):
    with pytest.raises(ValueError, match=words):
        simulate.explore(streams.uniform(20), window=5, memory=2, keep=rule, tests=3, runs=1)


def test_a_rule_that_passes_over_everybody_never_has_an_answer_and_cannot_play():
    table = simulate.explore([0.5, 0.7], window=2, memory=2, keep=passes, tests=3, runs=1)
    assert (table["max"][0], table["peak_memory"][0]) == (0.7, 0)
    with pytest.raises(ValueError, match="rules 'passes' and 'fresh': it must keep at least one arm"):
        simulate.play([0.5, 0.7], window=2, memory=2, budgets=5, keep=passes, runs=1)


def test_a_rule_may_empty_slots():
    def only_the_newest(memory, arrival, pulls, total, moment):
        for slot in range(memory.arrival.size):
            drop(memory, slot)
        put(memory, 1, arrival, pulls, total)
        return 1

    table = simulate.explore(streams.uniform(20), window=5, memory=3, keep=only_the_newest, tests=3, runs=1)
    assert table["peak_memory"][0] == 1


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (lambda pulls, total, horizon: math.nan, "must not fall when the mean rises"),
        (lambda pulls, total, horizon: -total / pulls, "it falls from mean 0.0 to mean 0.1 after 1 pulls"),
        (lambda pulls, total, horizon: total / pulls + pulls, "it rises from 1 to 2 pulls of mean 0.0"),
    ],
    ids=["nan", "falls", "rises"],
)
def test_an_index_for_which_leaps_are_not_exact_is_refused(index, words):
    with pytest.raises(ValueError, match=words):
        simulate.play([0.5, 0.7], window=2, budgets=5, pull=index, runs=1)


def test_without_leaps_any_index_will_do_but_one_that_is_no_number():
    def most_pulled(pulls, total, horizon):
        return pulls

    table = simulate.play([0.5, 0.7], window=2, memory=2, budgets=50, pull=most_pulled, leaps=False, runs=1)
    assert table["pulls"][0] == 100

    def none(pulls, total, horizon):
        return math.nan

    with pytest.raises(ValueError, match="rules 'heirs' and 'none': it must return a number"):
        simulate.play([0.5, 0.7], window=2, budgets=50, pull=none, leaps=False, runs=1)


def test_what_numba_cannot_compile_is_said():
    def odd(memory, arrival, pulls, total, moment):
        return {}["slot"] + object()

    with pytest.raises(ValueError, match="keep rule 'odd' cannot be compiled by numba"):
        simulate.explore([0.5], window=1, memory=1, keep=odd, tests=1, runs=1)


@pytest.mark.parametrize(
    ("function", "is_rule"),
    [
        (newest, True),
        (decorated, True),
        (lambda a, b, c, d, e: -1, True),
        (lambda window, memory, seed: None, False),
        (lambda window, memory, seed, epsilon, delta: None, False),
        (lambda **told: None, False),
        (Explorer, False),
        (np.zeros, False),
    ],
)
def test_rules_are_told_from_functions_that_make_agents(function, is_rule):
    assert own.is_rule("keep", function) == is_rule


def test_a_function_with_the_wrong_parameters_is_refused_live():
    with pytest.raises(ValueError, match=r"keep must be a function of \(memory, arrival, pulls, total, moment\)"):
        Explorer(keep=mean_of, memory=3)
    with pytest.raises(ValueError, match=r"pull must be a function of \(pulls, total, horizon\)"):
        Player(pull=moss.is_above)


# Live agents watch, too


def explored(agent, arm):
    agent.arrive(arm)
    agent.tell(arm, 0.5)


def played(agent, arm):
    agent.arrive(arm, budget=1)


@pytest.mark.parametrize("rule", [nowhere, elsewhere, moves, raises])
@pytest.mark.parametrize(("kind", "told", "step"), [(Explorer, {"tests": 2}, explored), (Player, {}, played)])
def test_a_rule_that_breaks_its_contract_leaves_a_live_agent_as_it_was(rule, kind, told, step):
    """Each arm is half tested when the next arrives, which settles it: the arrival that fails has not happened."""
    agent, refused = kind(window=5, memory=2, keep=rule, seed=1, **told), None
    for arm in range(1, 9):
        before = json.dumps(agent.state())
        try:
            step(agent, arm)
        except ValueError as wrong:
            refused = str(wrong)
            break
    assert f"keep rule '{rule.__name__}'" in str(refused)
    assert json.dumps(agent.state()) == before


def test_a_live_player_wants_an_arm_to_pull_and_an_index_that_is_a_number():
    with pytest.raises(ValueError, match="keep rule 'passes' must keep at least one arm"):
        Player(window=5, memory=2, keep=passes).arrive("a", budget=1)

    def none(pulls, total, horizon):
        return math.nan

    player = Player(window=5, memory=2, pull=none)
    player.arrive("a", budget=3)
    player.tell(player.ask(), 0.5)
    with pytest.raises(ValueError, match="pull rule must return a number"):
        player.ask()


LEVEL = 0.0


def test_a_rule_is_compiled_anew_when_a_value_that_it_refers_to_changes(monkeypatch):
    def above(memory, arrival, pulls, total, moment):
        if total < LEVEL * pulls:
            return -1
        put(memory, 0, arrival, pulls, total)
        return 0

    setting = {"window": 3, "memory": 1, "keep": above, "tests": 10}
    assert simulate.trace([1.0, 0.0, 0.0], **setting).answers.tolist() == [1, 2, 3]
    monkeypatch.setitem(globals(), "LEVEL", 0.5)
    assert simulate.trace([1.0, 0.0, 0.0], **setting).answers.tolist() == [1, 1, 1]


def test_a_late_reward_comes_with_a_fresh_coin():
    """A rule that passes over one arm in twenty does not lose each arm that hears of a late reward."""

    def nearly_all(memory, arrival, pulls, total, moment):
        if moment.coin < 0.05:
            return -1
        put(memory, 0, arrival, pulls, total)
        return 0

    kept = 0
    for seed in range(40):
        explorer = Explorer(window=5, memory=1, keep=nearly_all, tests=1, seed=seed)
        explorer.arrive("a")
        explorer.tell("a", 0.5)
        if explorer.stored:
            explorer.tell("a", 0.5)
        kept += len(explorer.stored)
    assert kept > 20


def test_a_slot_that_is_not_whole_is_refused():
    def half(memory, arrival, pulls, total, moment):
        put(memory, 0, arrival, pulls, total)
        return 0.5

    with pytest.raises(ValueError, match="keep rule 'half': it must return a slot"):
        simulate.explore([0.5], window=1, memory=1, keep=half, tests=1, runs=1)


def test_a_write_beyond_the_slots_is_refused_wherever_it_is_made():
    """By `put`, too, which is compiled for speed."""

    def far(memory, arrival, pulls, total, moment):
        put(memory, 10_000_000, arrival, pulls, total)
        return 0

    with pytest.raises(ValueError, match="keep rule 'far': it raised an error"):
        simulate.explore([0.5], window=1, memory=1, keep=far, tests=1, runs=1)


def test_parts_with_a_rule_of_their_own_are_merged_by_that_rule():
    def in_slot(slot):
        def rule(memory, arrival, pulls, total, moment):
            put(memory, slot, arrival, pulls, total)
            return slot

        return rule

    rule = in_slot(1)
    parts = [Explorer(window=9, memory=2, tests=1, keep=rule) for _ in range(2)]
    for number, part in enumerate(parts, start=1):
        part.arrive(number, at=number)
        part.tell(number, 1 / number)
    assert Explorer.merged(parts).stored == [2]
    with pytest.raises(ValueError, match="parts must have the same keep rule"):
        Explorer.merged([parts[0], Explorer(window=9, memory=2, tests=1, keep=in_slot(0))])
