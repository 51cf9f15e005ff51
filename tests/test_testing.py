"""The conformance checks find what they are there to find: each broken agent here breaks one promise."""

import pytest

from bestbefore import Explorer
from bestbefore.testing import check_agent


class Sound(Explorer):
    """An explorer with nothing broken."""


class Hoarder(Explorer):
    @property
    def memory(self):
        return super().memory * 2


class Nostalgic(Explorer):
    """Answers with the first arm it ever saw."""

    def best(self):
        return "arm-00001" if self.arrivals else None


class Eternal(Explorer):
    """Keeps arms for one arrival too long, as one off in the window does."""

    def _expire(self):
        self._roster.window += 1
        super()._expire()
        self._roster.window -= 1


class Secretive(Explorer):
    """Does not say whom it let go."""

    def arrive(self, arm):
        super().arrive(arm)
        return []


class Moody(Explorer):
    """Draws from a generator of its own."""

    moods = 0

    def ask(self):
        Moody.moods += 1
        return super().ask() if Moody.moods % 7 else None


class Forgetful(Explorer):
    """Loses the count of its pulls when it is saved."""

    def state(self):
        state = super().state()
        state["pulls"] = 0
        return state


class Careless(Explorer):
    """Counts a reward before it looks at it."""

    def tell(self, arm, reward, pulls=1, *, arrival=None):
        self._pulls += 1
        super().tell(arm, reward, pulls, arrival=arrival)


class Gullible(Explorer):
    """Takes rewards of anybody."""

    def tell(self, arm, reward, pulls=1, *, arrival=None):
        try:
            super().tell(arm, reward, pulls, arrival=arrival)
        except LookupError:
            return


class Gossip(Explorer):
    """Its state names everybody who ever came."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.seen = []

    def arrive(self, arm):
        gone = super().arrive(arm)
        self.seen.append(arm)
        return gone

    def state(self):
        return super().state() | {"seen": list(self.seen)}

    @classmethod
    def from_state(cls, state):
        seen = state.pop("seen")
        gossip = super().from_state(state)
        gossip.seen = seen
        return gossip


def made(kind):
    return lambda seed: kind(window=4, memory=3, pulls=5, keep="topk", seed=seed)


def test_a_sound_agent_passes():
    check_agent(made(Sound))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Hoarder, "arms are stored in 3 slots"),
        (Nostalgic, "best\\(\\) returned 'arm-00001', which has expired"),
        (Eternal, "which has expired"),
        (Secretive, "never returned"),
        (Moody, "the same seed makes other decisions"),
        (Forgetful, "pulls is .* in a restored agent"),
        (Careless, "pulls is"),
        (Gullible, "must raise ValueError or LookupError"),
        (Gossip, "the state still names"),
    ],
)
def test_a_broken_agent_is_found_out(kind, words):
    with pytest.raises(AssertionError, match=words):
        check_agent(made(kind))


class Timid(Explorer):
    """Falls over when a test of hundreds of pulls ends."""

    def _settle(self, number):
        if self._tests[number].pulls > 100:
            self._pulls += 1
        super()._settle(number)


def test_long_tests_are_brought_to_an_end():
    with pytest.raises(AssertionError, match="pulls is"):
        check_agent(lambda seed: Timid(window=4, epsilon=0.3, seed=seed))


def test_a_window_must_pass():
    with pytest.raises(ValueError, match="arrivals must be more than the window of 100"):
        check_agent(lambda seed: Explorer(window=100, memory=3, pulls=1), arrivals=100)


def test_what_is_no_agent_at_all_is_told_so():
    with pytest.raises(AssertionError, match="lacks some of the names"):
        check_agent(lambda seed: object())
