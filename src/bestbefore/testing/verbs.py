"""Checks of the verbs that an agent may have besides the four: withdraw, give_up and advance."""

from typing import Any

from bestbefore.testing.session import Session, require, saved_text


def check_withdraw(session: Session, arrivals: int) -> None:
    """Withdraw the answer, the newest arm and any other, in turn: each is nowhere at once, and never comes back."""
    for _ in range(arrivals):
        session.step()
        agent, stored = session.agent, session.now_stored()
        newest = session.name(session.arrived)
        arm = [session.call("best"), newest, stored[len(stored) // 2] if stored else None][session.arrived % 3]
        if arm is None or (arm not in stored and arm not in saved_text(agent)):
            continue
        session.require_refused(("withdraw", ("never-arrived",), {}))
        if arm in session.let_go:  # the agent has only not handed it out yet
            continue
        try:
            agent.withdraw(arm)
        except LookupError:
            require(arm not in stored, f"withdraw({arm!r}) was refused, but the arm is stored")
            continue
        session.withdrawn.add(arm)
        session.stored.discard(arm)
        require(arm not in session.now_stored(), f"{arm!r} was withdrawn and is still stored")
        require(arm not in saved_text(agent), f"{arm!r} was withdrawn, but the state still names it")
        session.require_refused(("tell", (arm, session.reward(arm)), {}), ("withdraw", (arm,), {}))
        if (best := session.call("best")) is not None:
            session.require_valid(best, "best() returned")
        session.require_pulls()


def check_give_up(session: Session, arrivals: int) -> None:
    """Lose every second pull: it counts for nothing, and another is asked for."""
    for _ in range(arrivals):
        session.arrive()
        asked: list[Any] = []
        while len(asked) < session.FEW and (arm := session.call("ask")) is not None:
            session.require_valid(arm, "ask() returned")
            asked.append(arm)
        if asked and arm is None:
            _give_up(session, asked.pop())
            again = session.call("ask")
            require(
                again is not None, f"ask() must name an arm in place of a pull given up at arrival {session.arrived}"
            )
            asked.append(again)
        for place, arm in enumerate(asked):
            if place % 2 == 0 and arm in session.now_stored():
                session.call("tell", arm, session.reward(arm))
                session.told += 1
            else:
                _give_up(session, arm)
        newest = session.name(session.arrived)
        session.require_refused(
            ("give_up", (newest, 10**6), {}), ("give_up", (newest, 0), {}), ("give_up", ("never-arrived",), {})
        )
        session.require_pulls()
        session.stored.update(session.now_stored())


def _give_up(session: Session, arm: Any) -> None:
    """Give up one pull of an arm that is under way, if the arm is still here."""
    try:
        session.agent.give_up(arm)
    except LookupError:
        require(arm not in session.now_stored(), f"give_up({arm!r}) was refused, but the arm is stored")


def check_advance(session: Session, arrivals: int) -> None:
    """Let a whole window go by without an arrival: all arms are returned, and nothing is left; then go on."""
    for _ in range(arrivals):
        session.step()
    if session.keeps_expired:
        return
    agent, last = session.agent, max(session.now, session.newest)
    for part in (1, 2, 3):
        session.now = last + session.length * part // 3
        session.take_let_go("advance()", session.call("advance", _told(session, session.now)))
        for arm in session.now_stored():
            session.require_valid(arm, "stored has")
    session.require_refused(("advance", (_told(session, last),), {}))
    require(session.now_stored() == [], f"a window has gone by, but {session.now_stored()} are stored")
    for verb in ("best", "ask"):
        require((arm := session.call(verb)) is None, f"a window has gone by, but {verb}() returned {arm!r}")
    named = [arm for arm in session.numbers if arm in saved_text(agent)]
    require(not named, f"a window has gone by, but the state names {named}")
    missing = sorted(set(session.numbers) - session.let_go)
    require(not missing, f"advance() never returned {missing}, which have expired")
    session.step()


def _told(session: Session, time: int) -> float:
    return time / 1e6 if session.by_time else time
