"""The conformance checks find what they are there to find: each broken agent here breaks one promise."""

import pytest

from bestbefore import Explorer, Player
from bestbefore.testing import agents, check_agent


class Sound(Explorer):
    """An explorer with nothing broken."""


class Hoarder(Explorer):
    @property
    def stored(self):
        return super().stored * 2


class Nostalgic(Explorer):
    """Answers with the first arm it ever saw."""

    def best(self):
        return "arm-00001" if self.arrivals else None


class Eternal(Explorer):
    """Keeps arms for one arrival too long, as one off in the window does."""

    def _expire(self):
        window = self._clock.window
        self._clock.window = window._replace(length=window.length + 1)
        super()._expire()
        self._clock.window = window


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


class Shy(Explorer):
    """Says whom it let go only when they would have expired."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.gone = []

    def arrive(self, arm):
        oldest = f"arm-{self.arrivals + 2 - self.window:05d}"
        self.gone += super().arrive(arm)
        told, self.gone = [one for one in self.gone if one < oldest], [one for one in self.gone if one >= oldest]
        return told


class Inventive(Explorer):
    def arrive(self, arm):
        return [*super().arrive(arm), "somebody"]


class Stammering(Explorer):
    def arrive(self, arm):
        return super().arrive(arm) * 2


class Speechless(Explorer):
    def arrive(self, arm):
        super().arrive(arm)


class Open(Explorer):
    """Its state is itself, and it counts what it then refuses."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.refused = {"tells": 0}

    def state(self):
        return super().state() | {"refused": self.refused}

    @classmethod
    def from_state(cls, state):
        refused = state.pop("refused")
        opened = super().from_state(state)
        opened.refused = refused
        return opened

    def tell(self, arm, reward, pulls=1, *, arrival=None):
        self.refused["tells"] += 1
        super().tell(arm, reward, pulls, arrival=arrival)


class OneByOne(Explorer):
    """Takes a total of several pulls for one reward."""

    def tell(self, arm, reward, pulls=1, *, arrival=None):
        super().tell(arm, min(reward, 1) if pulls > 0 else reward, min(pulls, 1), arrival=arrival)


class WithoutCount(OneByOne):
    wanted = property()  # has none


class Flattered(Explorer):
    """Counts all pulls, but takes a total of several for the mean of each."""

    def tell(self, arm, reward, pulls=1, *, arrival=None):
        flattered = pulls > 1 and isinstance(reward, float) and 0 < reward < pulls
        super().tell(arm, float(pulls) if flattered else reward, pulls, arrival=arrival)


class Single(Explorer):
    def tell(self, arm, reward):
        super().tell(arm, reward)


class Insatiable(Explorer):
    """Always wants another pull of its answer."""

    wanted = property()  # has none

    def ask(self):
        return super().ask() or self.best()


class Spendthrift(Player):
    """Does not look at its budget."""

    def arrive(self, arm, budget=None):
        return super().arrive(arm)


class Binary(Explorer):
    def state(self):
        return super().state() | {"raw": b""}


class Method(Explorer):
    def stored(self):
        return super().stored


def made(kind):
    return lambda seed: kind(window=4, memory=3, tests=5, keep="topk", seed=seed)


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
        (Shy, "arrive\\(\\) never returned .* which left memory"),
        (Inventive, "arrive\\(\\) returned 'somebody', which never arrived"),
        (Stammering, "arrive\\(\\) returned 'arm-0.*' twice"),
        (Speechless, "arrive\\(\\) must be a list of arms, not None"),
        (Open, "tell\\('never-arrived', 1.0\\) was refused, but changed the agent"),
        (OneByOne, "pulls is .*, but .* were told"),
        (WithoutCount, "pulls is .*, but .* were told"),
        (Flattered, "k rewards that were wanted make other decisions"),
        (Single, "tell\\(.*, pulls=.\\) raised TypeError"),
        (Binary, "state\\(\\) must be ready for JSON .* bytes"),
        (Method, "stored must be a list of arms, not <bound method"),
    ],
)
def test_a_broken_agent_is_found_out(kind, words):
    with pytest.raises(AssertionError, match=words):
        check_agent(made(kind))


def test_who_never_stops_asking_is_stopped(monkeypatch):
    monkeypatch.setattr(agents, "MOST_PULLS", 300)
    with pytest.raises(AssertionError, match="must return None at last, but went on after 300 pulls at one arrival"):
        check_agent(made(Insatiable))
    with pytest.raises(AssertionError, match="must return None at last, but went on after its budget of 50"):
        check_agent(lambda seed: Spendthrift(window=4, memory=3, seed=seed), arrivals=6)


class Eager(Player):
    """Forgets which pulls are under way: an arm without a reward is new to it each time."""

    def _flights(self):
        return {}


def test_a_new_arm_must_not_be_flooded_before_its_first_reward():
    check_agent(lambda seed: Player(window=9, memory=5, seed=seed), arrivals=12)
    with pytest.raises(AssertionError, match="named 'arm-00013' 300 times of 300 while none of its rewards was told"):
        check_agent(lambda seed: Eager(window=9, memory=5, seed=seed), arrivals=12)


class Timid(Explorer):
    """Falls over when a test of hundreds of pulls ends."""

    def _settle(self, number):
        if self._tests[number].pulls > 100:
            self._pulls += 1
        super()._settle(number)


def test_long_tests_are_brought_to_an_end():
    with pytest.raises(AssertionError, match="pulls is"):
        check_agent(lambda seed: Timid(window=4, epsilon=0.3, probe="fixed", seed=seed))


def test_a_window_must_pass():
    with pytest.raises(ValueError, match="arrivals must be more than the window of 100"):
        check_agent(lambda seed: Explorer(window=100, memory=3, tests=1), arrivals=100)


def test_what_is_no_agent_at_all_is_told_so():
    with pytest.raises(AssertionError, match="lacks some of the names"):
        check_agent(lambda seed: object())
