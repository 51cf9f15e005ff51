"""What all agents share when they are saved: one list of arms, each in a slot or under test."""

import json
from fractions import Fraction

import numpy as np
import pytest

from bestbefore import Explorer, Player, Seeker
from bestbefore.agents.generators import BIT_GENERATORS, generator_state, restored_generator

AGENTS = {
    "Explorer": lambda: Explorer(window=4, memory=3, tests=2, keep="fifo", seed=0),
    "Player": lambda: Player(window=4, memory=3, keep="fifo", pull="inf", partial=True, seed=0),
    "Seeker": lambda: Seeker(window=4, memory=3, strategy="rank", tests=2, seed=0),
}
EVERY_AGENT = pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS)


def after_three_arms(make):
    """Make an agent that has three arms; of the last, one pull is told and one is under way."""
    agent = make()
    for arm in (("a", (1, 2)), np.int64(5), "c"):
        agent.arrive(arm)
        agent.tell(arm, 0.5)
    agent.ask()
    return agent


@EVERY_AGENT
def test_a_state_is_what_json_makes_of_it(make):
    """So it does not matter whether it went through a file; nor is it changed by what the agent does later."""
    agent = after_three_arms(make)
    state = agent.state()
    text = json.dumps(state)
    assert json.loads(text) == state
    restored = type(agent).from_state(state)
    assert restored.state() == state
    for going_on in (agent, restored):
        going_on.ask()
        going_on.arrive("d")
    assert json.dumps(state) == text
    assert restored.state() == agent.state() != state


@EVERY_AGENT
def test_arms_that_cannot_be_together_are_refused(make):
    """Each change is to the record of the last arm, which stands in a slot or is under test."""
    agent = after_three_arms(make)
    state = agent.state()
    *others, last = state["arms"]
    for change, words in [
        ({"slot": others[0]["slot"]}, "there is no room for arm 'c' in slot 0"),
        ({"slot": 3}, "there is no room for arm 'c' in slot 3"),
        ({"slot": -1}, "slot cannot be -1"),
        ({"slot": True}, "slot cannot be True"),
        ({"arrival": others[0]["arrival"]}, "is not valid, or stands twice"),
        ({"arrival": 4}, "is not valid, or stands twice"),
        ({"arm": others[0]["arm"]}, "is not valid, or stands twice"),
        ({"arm": None}, "None cannot be the name of an arm"),
        ({"total": 7.0}, "reward must be between 0 and 1"),
        ({"in_flight": -1}, "in_flight cannot be -1"),
    ]:
        with pytest.raises(ValueError, match=words):
            type(agent).from_state(state | {"arms": [*others, last | change]})


@EVERY_AGENT
def test_no_more_arms_are_under_test_than_may_be(make):
    agent = after_three_arms(make)
    state = agent.state()
    with pytest.raises(ValueError, match=r"there is no room for arm .* in slot None"):
        type(agent).from_state(state | {"arms": [arm | {"slot": None} for arm in state["arms"]]})


def test_the_arm_that_a_seeker_tests_is_the_newest():
    state = after_three_arms(AGENTS["Seeker"]).state()
    with pytest.raises(ValueError, match="the arm under test is not the newest"):
        Seeker.from_state(state | {"arms": [state["arms"][0] | {"slot": None}]})


@EVERY_AGENT
def test_arguments_are_those_of_the_constructor(make):
    agent = make()
    state = agent.state()
    for change in ({"seed": 1}, {"valid": None}, {"colour": "red"}):
        with pytest.raises(ValueError, match="state is damaged: arguments must be"):
            type(agent).from_state(state | {"arguments": state["arguments"] | change})
    for name, value in state["arguments"].items():
        with pytest.raises(ValueError, match="state is damaged: arguments must be"):
            type(agent).from_state(state | {"arguments": {k: v for k, v in state["arguments"].items() if k != name}})
        if not isinstance(value, bool):
            with pytest.raises(ValueError, match=f"{name} must be"):
                type(agent).from_state(state | {"arguments": state["arguments"] | {name: "x"}})


@EVERY_AGENT
def test_a_class_of_ones_own_is_saved_as_the_agent_that_it_is_made_from(make):
    agent = make()

    class Own(type(agent)):
        def __init__(self, **settings):
            super().__init__(**settings)

    state = agent.state()
    assert state["agent"] == type(agent).__name__
    restored = Own.from_state(state)
    assert type(restored) is Own
    assert restored.state() == state


@EVERY_AGENT
def test_no_number_of_a_state_is_too_long_for_another_language(make):
    """Many readers of JSON have no whole numbers beyond 2**53."""

    def numbers(value):
        if isinstance(value, (dict, list)):
            for item in value.values() if isinstance(value, dict) else value:
                yield from numbers(item)
        elif isinstance(value, int):
            yield value

    assert max(numbers(after_three_arms(make).state())) < 2**53


@pytest.mark.parametrize("rng", ["", "3", "[]", '{"bit_generator": "Dice"}', '{"bit_generator": "PCG64"}'])
def test_a_generator_that_cannot_be_restored(rng):
    state = after_three_arms(AGENTS["Player"]).state()
    with pytest.raises(ValueError, match=r"state is damaged: the (random )?generator"):
        Player.from_state(state | {"rng": rng})


@EVERY_AGENT
def test_a_name_that_is_a_fraction_stays_one(make):
    agent = make()
    agent.arrive(Fraction(1, 3))
    type(agent).from_state(agent.state()).tell(Fraction(1, 3), 1)


def test_a_seeker_that_asked_who_is_valid_is_not_restored_without():
    """It would take silence for an answer, and let the best arm go."""
    asked = Seeker(window=2, memory=2, valid=lambda arm: arm == "gem")
    with pytest.raises(ValueError, match="valid must be given again"):
        Seeker.from_state(asked.state())
    restored = Seeker.from_state(asked.state(), valid=lambda arm: arm == "gem")
    with pytest.raises(ValueError, match="valid must be given again"):
        Seeker.from_state(restored.state())
    with pytest.raises(ValueError, match="flags cannot be 'red'"):
        Seeker.from_state(asked.state() | {"flags": "red"}, valid=bool)


@pytest.mark.parametrize("budget", [None, 2])
def test_a_player_without_arms_asks_for_nothing(budget):
    """So it is when all have been withdrawn."""
    state = after_three_arms(AGENTS["Player"]).state()
    assert Player.from_state(state | {"arms": [], "budget": budget}).ask() is None


def test_a_duel_has_finite_numbers():
    king = Explorer(window=4, keep="king", epsilon=0.5)
    state = king.state()
    state["probe"][-1][-1] = float("inf")
    with pytest.raises(ValueError, match="state is damaged"):
        Explorer.from_state(state)


def test_losses_that_add_up_to_more_than_a_number_can_be_are_refused():
    player = Player(window=4, memory=3, pull="inf", sigma=1.0, partial=True, seed=0)
    player.arrive("a", budget=10)
    player.tell(player.ask(), -1e308)
    with pytest.raises(ValueError, match="reward must be a finite number"):
        player.tell(player.ask(), -1e308)
    assert player.pulls == 1


def damaged(part):
    """Yield what a part of a saved generator may have become."""
    for key, value in part.items():
        inner = damaged(value) if isinstance(value, dict) else []
        lists = [value[:-1], [*value, 1], [], [1.5] * len(value)] if isinstance(value, list) else []
        beyond = [10**6] if key in ("pos", "buffer_pos", "has_uint32") else []
        for other in (*inner, *lists, *beyond, None, -1, 2**200, 1.5, "x"):
            yield part | {key: other}
        yield {name: one for name, one in part.items() if name != key}


@pytest.mark.parametrize("kind", BIT_GENERATORS)
def test_a_generator_that_is_damaged_is_refused_when_it_is_read(kind):
    """Some damage would be noticed only when a number is drawn, and some never: it would be read from elsewhere."""
    generator = np.random.Generator(getattr(np.random, kind)(1))
    text = generator_state(generator)
    assert restored_generator(text).random() == generator.random()
    for state in damaged(json.loads(text)):
        with pytest.raises(ValueError, match="state is damaged"):
            restored_generator(json.dumps(state))


@pytest.mark.parametrize("sigma", [1e300, 1e-300, 1e51])
def test_a_sigma_that_nothing_can_be_squared_with_is_refused(sigma):
    for agent in AGENTS.values():
        state = after_three_arms(agent).state()
        with pytest.raises(ValueError, match="sigma must be"):
            type(agent()).from_state(state | {"arguments": state["arguments"] | {"sigma": sigma}})


def test_what_is_returned_never_names_an_arm_that_is_here():
    """An earlier "p" was let go, and its name has come again: there is nobody to forget."""
    explorer = Explorer(window=3, memory=1, tests=1, keep="topk")
    explorer.arrive("p")
    explorer.tell("p", 0.1)
    explorer.arrive("better")
    explorer.tell("better", 0.9)
    assert not explorer.holds("p")
    assert explorer.arrive("p") == []
    assert explorer.advance() == []
