"""States of earlier versions are read, and the agents go on as they would have then."""

import json
from pathlib import Path

import pytest

from bestbefore import Explorer, Player, Seeker

STATES = Path(__file__).parent / "states"
KINDS = {kind.__name__: kind for kind in (Explorer, Player, Seeker)}


def saved_states():
    """Yield all states that were saved, with what the agent then answered, and asked for three times."""
    for path in sorted(STATES.glob("version_*.json")):
        for name, saved in json.loads(path.read_text("utf-8")).items():
            yield pytest.param(saved, id=f"{path.stem}-{name}")


@pytest.mark.parametrize("saved", list(saved_states()))
def test_a_saved_agent_goes_on(saved):
    agent = KINDS[saved["state"]["agent"]].from_state(saved["state"])
    assert agent.best() == saved["best"]
    assert [agent.ask() for _ in range(3)] == saved["asks"]
    again = type(agent).from_state(json.loads(json.dumps(agent.state())))
    assert again.state() == agent.state()


def test_an_explorer_of_version_1_does_not_begin_to_certify():
    (state,) = [one.values[0]["state"] for one in saved_states() if one.id == "version_1-staircase"]
    assert Explorer.from_state(state).probe == "fixed"


def test_a_player_of_version_3_begins_with_the_traffic_that_it_had():
    (state,) = [one.values[0]["state"] for one in saved_states() if one.id == "version_3-moss"]
    player = Player.from_state(state)
    assert player._pace == player.pulls / player.arrivals > 0


def test_a_player_of_version_4_goes_on_without_what_nobody_asks_for_any_more():
    (state,) = [one.values[0]["state"] for one in saved_states() if one.id == "version_4-heirs x fresh"]
    before = json.dumps(state)
    now = Player.from_state(state).state()
    assert json.dumps(state) == before, "a state that is read stays as it is"
    assert set(state) - set(now) == {"heir"}
    assert set(now) - set(state) == {"dispersion"}


@pytest.mark.parametrize("arms", [None, [None], 5])
def test_a_player_of_version_4_whose_arms_are_no_arms_is_refused(arms):
    (state,) = [one.values[0]["state"] for one in saved_states() if one.id == "version_4-heirs x fresh"]
    with pytest.raises(ValueError, match="state is damaged"):
        Player.from_state(state | {"arms": arms})


@pytest.mark.parametrize("version", [0, 6, None, "1", [1]])
def test_a_version_that_nobody_knows_is_refused(version):
    with pytest.raises(ValueError, match="state must be of version 1 to 5, not"):
        Explorer.from_state(Explorer().state() | {"version": version})
