"""Streams: made once, found again, with the verbs of agents; what was done is there for whoever looks."""

import subprocess
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from bestbefore import Explorer, Player, Seeker, UnknownArm, UnknownStream, connect
from bestbefore.store.commit import Committer
from bestbefore.store.kinds import Kind
from bestbefore.store.moving import problems

SETTINGS = {"window": 5, "memory": 3, "tests": 4, "seed": 1}


def test_the_words_of_the_first_page(desk, clock):
    """As an engineer would write it: arrive, ask, tell, best, withdraw, streams, drop."""
    page = desk.stream("front page", Explorer, window="24h", memory=12, epsilon=0.2)
    assert page.arrive("Storm closes airports") == []
    page.arrive("Calm returns")
    pull = page.ask()
    assert pull.arm == "Storm closes airports"
    assert pull.asked == datetime.fromtimestamp(clock.now, UTC)
    assert pull.deadline is None
    assert pull.arrival == page.look().arrival_of(pull.arm)
    page.tell(pull.id, 1.0)
    assert set(page.best(3)) == {"Storm closes airports", "Calm returns"}
    page.withdraw("Storm closes airports")
    assert page.best() == "Calm returns"
    assert desk.streams() == ["front page"]
    desk.drop("front page")
    assert desk.streams() == []


def test_a_stream_is_made_once_and_found_again_with_the_same_settings(desk, url):
    made = desk.stream("front", Explorer, window=timedelta(days=1), epsilon=Fraction(1, 5), patience="10 min")
    made.arrive("storm")
    with connect(url, sweep=None) as later:
        same = later.stream("front", Explorer, window="24h", epsilon=0.2, seed=7, patience=timedelta(minutes=10))
        assert same.stored == made.stored
        assert later.stream("front").memory == made.memory


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"window": 6}, "window must be 5, as stream 'front' was made, not 6"),
        ({"patience": "1 min"}, "patience must be '10min', as stream 'front' was made, not '1min'"),
        ({"otherwise": None}, "otherwise must be 0.0, as stream 'front' was made, not None"),
        ({"remember": "1h"}, "remember must be '1d', as stream 'front' was made, not '1h'"),
    ],
)
def test_a_stream_that_was_made_otherwise_is_refused(desk, other, message):
    desk.stream("front", Explorer, **SETTINGS, patience="10 min")
    with pytest.raises(ValueError, match=message):
        desk.stream("front", Explorer, **SETTINGS | {"patience": "10 min"} | other)
    with pytest.raises(ValueError, match="agent must be Explorer, as stream 'front' was made, not Player"):
        desk.stream("front", Player, window=5)


@pytest.mark.parametrize(
    ("name", "agent", "settings", "message"),
    [
        ("", Explorer, {}, "name must be a text of 1 to 200 characters, not ''"),
        (7, Explorer, {}, "name must be a text of 1 to 200 characters, not 7"),
        ("\ud800", Explorer, {}, "name must be text that can be written as UTF-8"),
        ("front", Explorer, {"window": 0}, "window must be a whole number of at least 1, not 0"),
        ("front", Explorer, {"patience": 5}, 'patience must be a time such as "10 min", not 5'),
        ("front", Explorer, {"remember": 5}, 'remember must be a time such as "10 min", not 5'),
        (
            "front",
            Explorer,
            {"patience": "1h", "otherwise": 2},
            "otherwise must be a number of at least 0 and at most 1",
        ),
        ("front", None, {"window": 5}, "agent must be given with the settings of stream 'front'"),
        ("front", dict, {}, "agent must have memory, window, arrive"),
        ("front", Explorer(window=5), {"window": 5}, r"settings must be left out where an agent is given"),
    ],
)
def test_bad_streams_are_refused_and_nothing_is_made(desk, name, agent, settings, message):
    with pytest.raises(ValueError, match=message):
        desk.stream(name, agent, **settings)
    assert desk.streams() == []


def test_an_unknown_stream_is_an_error_of_its_own(desk):
    for call in (desk.stream, desk.drop, desk.erased):
        with pytest.raises(UnknownStream, match="stream 'front' is not in the database"):
            call("front")
    page = desk.stream("front", Explorer, **SETTINGS)
    desk.drop("front")
    for call in (page.ask, page.best, lambda: page.arrive("storm")):
        with pytest.raises(UnknownStream, match="stream 'front' is not in the database"):
            call()


def test_a_stream_that_was_dropped_and_made_again_begins_anew(desk, url):
    """Whoever has the old one in memory must not go on with it, though both are of one version."""
    with connect(url, sweep=None) as other:
        page, theirs = desk.stream("front", Explorer, **SETTINGS), other.stream("front", Explorer, **SETTINGS)
        page.arrive("storm")
        theirs.ask()
        assert theirs.look().holds("storm")
        desk.drop("front")
        anew = desk.stream("front", Explorer, **SETTINGS)
        anew.arrive("calm")
        anew.ask()
        with desk._store.read() as reading:
            assert reading.head("front").version == other._committer._held["front"].row.version
        assert not theirs.look().holds("storm")
        assert theirs.ask().arm == "calm"


def test_an_agent_from_memory_goes_on_in_the_database(desk, clock):
    explorer = Explorer(window="1h", epsilon=0.2)
    explorer.arrive("storm", at=clock.now - 60)
    explorer.arrive("calm", at=clock.now - 30)
    explorer.tell("storm", 1.0)
    page = desk.stream("front", explorer)
    assert page.stored == explorer.stored
    assert page.pulls == 1
    page.tell(page.ask().id, 1.0)
    assert problems(desk._store) == {"front": []}
    clock.now += 3600 - 45
    assert desk.sweep().gone == {"front": ["storm"]}


def test_an_agent_with_pulls_under_way_is_refused(desk):
    explorer = Explorer(**SETTINGS)
    explorer.arrive("storm")
    explorer.ask()
    with pytest.raises(ValueError, match="agent must have no pulls under way: 1 arms have some"):
        desk.stream("front", explorer)


def test_verbs_of_players_and_seekers(desk):
    player = desk.stream("play", Player, window=5, memory=3, seed=1)
    for arm in "abc":
        player.arrive(arm, budget=4)
    pulls = player.ask(2, id="view")
    assert [pull.id for pull in pulls] == ["view/1", "view/2"]
    assert player.ask(2, id="view") == pulls
    assert len({pull.arm for pull in pulls}) == 2
    for pull in pulls:
        player.tell(pull.id, 0.5)
    assert len(player.ask(3)) == 2  # of a budget of 4

    durable, in_memory = desk.stream("seek", Seeker, window=2, memory=2), Seeker(window=2, memory=2)
    for arm in "abcd":
        assert durable.arrive(arm) == in_memory.arrive(arm)
        if in_memory.overdue == ["a"]:
            assert durable.learn("a", True) == in_memory.learn("a", True)
    assert durable.look().found == in_memory.found == "a"
    for verb, arguments in (("finish", ("goes on",)), ("tick", ()), ("tick", ())):
        assert getattr(durable, verb)(*arguments) == getattr(in_memory, verb)(*arguments)
    assert durable.state() | {"rng": ""} == in_memory.state() | {"rng": ""}
    with pytest.raises(ValueError, match="learn is no verb of the Player of stream 'play'"):
        player.learn("a", True)


@pytest.mark.parametrize("arm", [{"a"}, b"bytes", None, float("nan"), ("a", None), "\ud800", "x" * 3000])
def test_names_that_cannot_be_stored_are_refused(desk, arm):
    page = desk.stream("front", Explorer, **SETTINGS)
    with pytest.raises(ValueError, match="arm must"):
        page.arrive(arm)
    assert page.look().arrivals == 0


@pytest.mark.parametrize("arm", ["Sturm über Köln", "nul \0 in the middle", 7, 2.5, True, ("a", ("b", 3)), ""])
def test_names_come_back_as_they_were(desk, url, arm):
    desk.stream("front", Explorer, **SETTINGS).arrive(arm)
    with connect(url, sweep=None) as later:
        pull = later.stream("front").ask()
        assert pull.arm == arm
        assert type(pull.arm) is type(arm)
        later.stream("front").withdraw(arm)
        with pytest.raises(UnknownArm):
            later.stream("front").withdraw(arm)


def test_reading_does_not_wait_for_a_writer(desk, url):
    """Another process is in the middle of a transaction: readers see what was there before, at once."""
    page = desk.stream("front", Explorer, **SETTINGS)
    page.arrive("storm")
    with connect(url, sweep=None) as other, other._store.write() as writing:
        writing.drop(writing.head("front").id)
        assert desk.streams() == ["front"]
        assert page.look().holds("storm")
    assert desk.streams() == []


def test_two_clocks_that_differ_do_not_make_time_go_back(desk, clock, url):
    page = desk.stream("front", Explorer, window="1h", epsilon=0.2)
    page.arrive("storm")
    with connect(url, clock=lambda: clock.now - 30, sweep=None) as behind:
        theirs = behind.stream("front")
        theirs.arrive("calm")
        assert theirs.ask().asked == datetime.fromtimestamp(clock.now, UTC)
    with pytest.raises(ValueError, match="at must not be earlier than the last time"):
        page.arrive("sun", at=clock.now - 1)
    assert page.arrive("sun", at=datetime.fromtimestamp(clock.now + 3600, UTC)) == ["storm"]


def test_whoever_wants_to_hear_of_names_that_go_is_told_once(url, clock):
    heard = []
    with connect(url, clock=clock, sweep=None, forget=lambda *told: heard.append(told)) as desk:
        page = desk.stream("front", Explorer, window="1h", epsilon=0.2)
        page.arrive("storm")
        clock.now += 3600
        page.arrive("calm")
        clock.now += 3600
        desk.sweep()
    assert heard == [("front", ["storm"]), ("front", ["calm"])]


def test_a_sweep_of_its_own_needs_nobody_to_call(url):
    """Time is real here, and the test waits for what happens, however long that takes."""
    gone = threading.Event()
    with connect(url, sweep="10 ms", forget=lambda stream, arms: gone.set()) as desk:
        desk.stream("front", Explorer, window="50 ms", epsilon=0.2).arrive("storm")
        assert gone.wait(60)


def test_a_batch_takes_many_calls_in_one_transaction(desk):
    page = desk.stream("front", Explorer, window=5, memory=3, tests=1000, seed=1)
    page.arrive("storm")
    before = desk._store.read
    ids = [page.ask().id for _ in range(50)]
    with before() as reading:
        version = reading.head("front").version
    with desk.batch() as batch:
        calls = [batch.stream("front").tell(id, 0.5) for id in ids]
    assert [call.result() for call in calls] == [None] * 50
    with before() as reading:
        assert reading.head("front").version == version + 1
    with suppress(KeyError), desk.batch() as batch:  # nothing is sent if the block fails
        batch.stream("front").ask()
        raise KeyError
    with before() as reading:
        assert reading.head("front").version == version + 1


class Breaks(Explorer):
    """An agent of a user's own that fails in the middle of a change."""

    def tell(self, arm, reward, pulls=1, **more):
        super().tell(arm, reward, pulls, **more)
        if reward == 0.25:
            raise RuntimeError("in the middle")


def test_an_agent_that_fails_in_the_middle_has_changed_nothing_and_others_go_on(url):
    with connect(url, sweep=None, agents=[Breaks]) as desk:
        page = desk.stream("front", Breaks, **SETTINGS)
        page.arrive("storm")
        ids = [page.ask().id for _ in range(3)]
        batch = desk.batch()
        for id, reward in zip(ids, (0.5, 0.25, 1.0), strict=True):
            batch.stream("front").tell(id, reward)
        with pytest.raises(ExceptionGroup, match="1 of 3 calls failed; the others are done") as raised:
            batch.__exit__(None, None, None)
        assert [type(one) for one in raised.value.exceptions] == [RuntimeError]
        assert page.pulls == 2
        assert page.look().means() == {"storm": 0.75}
        page.tell(ids[1], 0.75)
        assert problems(desk._store, desk._kind_of) == {"front": []}
    with connect(url, sweep=None) as desk:
        with pytest.raises(ValueError, match=r"agents must have the class .*:Breaks of stream 'front'"):
            desk.stream("front").ask()
        assert list(desk.sweep().failed) == []


def test_calls_that_wait_at_the_same_time_share_a_transaction(desk, monkeypatch):
    """The first transaction is held until 20 more calls wait: the second takes them all."""
    page = desk.stream("front", Explorer, window=5, memory=3, tests=1000, seed=1)
    page.arrive("storm")
    rounds, ready, held = [], threading.Event(), threading.Event()
    real = Committer._round

    def watched(self, calls):
        rounds.append(len(calls))
        if len(rounds) == 1:
            held.set()
            ready.wait()
        real(self, calls)

    monkeypatch.setattr(Committer, "_round", watched)
    threads = [threading.Thread(target=page.ask) for _ in range(21)]
    threads[0].start()
    held.wait()
    for thread in threads[1:]:
        thread.start()
    while len(desk._committer._waiting) < 20:
        pass
    ready.set()
    for thread in threads:
        thread.join()
    assert rounds == [1, 20]
    assert desk._store is not None
    assert problems(desk._store) == {"front": []}


def test_a_desk_that_is_closed_says_so_and_may_be_closed_again(url):
    desk = connect(url, sweep=None)
    page = desk.stream("front", Explorer, **SETTINGS)
    desk.close()
    desk.close()
    for call in (page.ask, page.best, desk.streams, desk.sweep):
        with pytest.raises(ValueError, match="the desk is closed: connect again"):
            call()


@pytest.mark.parametrize("wrong", ["headlines.db", "mysql://here/db", "", 7, "sqlite://", "sqlite:///:memory:"])
def test_an_address_that_cannot_be_one_is_refused(wrong):
    with pytest.raises(ValueError, match="url must"):
        connect(wrong)


def test_no_database_inside_the_package(url):
    import bestbefore

    inside = Path(bestbefore.__file__).parent / "streams.db"
    with pytest.raises(ValueError, match="url must not name a file inside the installed package"):
        connect(f"sqlite:///{inside}")


FORKED = """
import os, sys
from bestbefore import Explorer, connect

with connect(sys.argv[1], sweep="1 h") as desk:
    page = desk.stream("front", Explorer, window=5, memory=3, tests=1000, seed=1)
    page.arrive("storm")
    page.tell(page.ask().id, 0.5)
    child = os.fork()
    for _ in range(5):
        page.tell(page.ask().id, 1.0)
    if child == 0:
        desk.close()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
    assert page.pulls == 11, page.pulls
"""


def test_a_desk_may_be_forked(url):
    """A server that loads first and forks then: both processes work on, each with connections of its own."""
    subprocess.run([sys.executable, "-W", "error", "-c", FORKED, url], check=True, timeout=300)  # noqa: S603


def test_to_import_the_package_or_ask_for_help_imports_no_database():
    code = "import sys, bestbefore, bestbefore.cli; sys.exit('sqlalchemy' in sys.modules or 'numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)  # noqa: S603


def test_without_the_extra_a_sentence_says_what_to_install():
    code = (
        "import sys; sys.modules['sqlalchemy'] = None\n"
        "from bestbefore import connect\n"
        "try: connect('sqlite:///x.db')\n"
        "except ModuleNotFoundError as wrong: print(wrong)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=120)  # noqa: S603
    assert "pip install 'bestbefore[store]'" in done.stdout


def test_by_count_an_arm_may_come_with_its_number_and_time_goes_on_by_numbers(desk):
    page, explorer = desk.stream("front", Explorer, window=5, epsilon=0.2, seed=1), Explorer(window=5, epsilon=0.2)
    for arm, number in (("storm", 3), ("calm", 7)):
        assert page.arrive(arm, at=number) == explorer.arrive(arm, at=number)
    with pytest.raises(ValueError, match="at must be above 7, the number of the newest arrival, not 7"):
        page.arrive("sun", at=7)
    assert page.advance(8) == explorer.advance(8) == ["storm"]
    assert page.ask() is None
    assert page.stored == explorer.stored


def test_an_error_that_many_calls_share_is_an_error_of_each(desk, monkeypatch):
    """Each thread raises its own: a traceback belongs to one of them alone."""
    from bestbefore import StoreUnavailable

    page = desk.stream("front", Explorer, **SETTINGS)
    lost = StoreUnavailable("the cable was cut")
    lost.uncertain = True

    def fails(self, calls):
        raise lost

    monkeypatch.setattr(Committer, "_once", fails)
    batch = desk.batch()
    calls = [batch.stream("front").ask() for _ in range(3)]
    with pytest.raises(ExceptionGroup) as raised:
        batch.__exit__(None, None, None)
    assert len(set(map(id, raised.value.exceptions))) == 3
    assert all(call.error.uncertain for call in calls)
    monkeypatch.undo()
    page.arrive("storm")


def test_an_agent_is_kept_in_memory_as_long_as_nobody_else_changes_it(desk, url, monkeypatch):
    """It is loaded again when its version is no longer the database's, and only then."""
    page = desk.stream("front", Explorer, **SETTINGS)
    page.arrive("storm")
    loaded = []
    real = Kind.restored
    monkeypatch.setattr(Kind, "restored", lambda self, state: loaded.append(1) or real(self, state))
    for _ in range(3):
        page.ask()
    assert len(loaded) == 0
    with connect(url, sweep=None) as other:
        other.stream("front").give_up(other.stream("front").ask(id="theirs").id)
    assert len(loaded) == 1  # there
    page.tell(page.ask().id, 0.5)
    assert len(loaded) == 2  # and once here
