"""What is to be known of a stream, gathered in one place: the API tells it, and the page shows it."""

from datetime import timedelta
from typing import Any, Final

from bestbefore.agents.saved import plain
from bestbefore.clock import MICROSECOND
from bestbefore.service.intervals import SURE, interval
from bestbefore.service.sentences import sentence
from bestbefore.store.desk import Desk
from bestbefore.store.held import Held
from bestbefore.store.ledger import moment_of
from bestbefore.store.rows import Reading
from bestbefore.store.totals import COUNTED, SPANS

_COUNTS: Final = ("arrived", "asked", "told", "defaulted", "given_up", "erased")


def look(desk: Desk, name: str, silent_after: int) -> dict[str, Any]:
    """Return what a stream is, what it says now, and what has happened in it, as JSON has it."""
    return desk.examine(name, lambda held, reading: facts(held, reading, silent_after))  # type: ignore[no-any-return]


def look_back(desk: Desk, name: str, span: str) -> dict[str, Any]:
    """Return what has happened in a stream, step by step, as JSON has it."""
    return desk.examine(name, lambda held, reading: past(held, reading, span))  # type: ignore[no-any-return]


def look_at_all(desk: Desk, name: str, silent_after: int, span: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return both, of one moment; unless a span is given, it is the one that suits the window."""

    def both(held: Held, reading: Reading) -> Any:
        return facts(held, reading, silent_after), past(held, reading, span or span_of(held))

    return desk.examine(name, both)  # type: ignore[no-any-return]


def facts(held: Held, reading: Reading, silent_after: int) -> dict[str, Any]:
    """Return the facts of a stream."""
    agent, row = held.agent, held.row
    best = agent.best()
    arms = _arms(held, reading, best)
    waiting = sum(arm["waiting"] for arm in arms)
    counts = {name: row.counts[name] for name in _COUNTS}
    counts["gone"] = counts["asked"] - counts["told"] - counts["defaulted"] - counts["given_up"] - waiting
    ends_by_itself = row.settings["patience"] is not None and row.settings["otherwise"] is None
    deadline = reading.next_deadline(row.id, _now(held))
    found = {
        "name": row.name,
        "agent": row.kind,
        "memory": agent.memory,
        "pulls": agent.pulls,
        "best": best,
        "stored": agent.stored,
        "arrivals": counts["arrived"] if not held.kind.ours else agent.arrivals,
        "version": row.version,
        "now": moment_of(_now(held)).isoformat(),
        "window": _window(agent.window),
        "by_time": held.by_time,
        "settings": row.settings["arguments"],
        "patience": None if row.settings["patience"] is None else row.settings["patience"] / 1e6,
        "otherwise": row.settings["otherwise"],
        "arms": arms,
        "intervals": _intervals(agent),
        "leaves_next": _leaves_next(held, arms),
        "counts": counts,
        "waiting": waiting,
        "missed": counts["defaulted"] + (counts["given_up"] if ends_by_itself else 0),
        "next_deadline": None if deadline is None else moment_of(deadline).isoformat(),
        "silent": row.id in reading.silent(_now(held), silent_after, row.id),
        "silent_after": silent_after / 1e6,
    }
    return found | {"promise": _promise(held, found)}


def past(held: Held, reading: Reading, span: str) -> dict[str, Any]:
    """Return the totals of a stream, the oldest first; steps in which nothing happened are left out."""
    step, shown, _ = SPANS[span]
    last = _now(held) // step * step
    rows = reading.totals(held.row.id, step, last - (shown - 1) * step)
    steps = [
        {"since": moment_of(row.since).isoformat()}
        | {name: getattr(row, name) for name in COUNTED}
        | {"mean": row.reward / (row.told + row.defaulted) if row.told + row.defaulted else None}
        for row in rows
    ]
    return {
        "name": held.row.name,
        "version": held.row.version,
        "span": span,
        "step": step / 1e6,
        "from": moment_of(last - (shown - 1) * step).isoformat(),
        "to": moment_of(last + step).isoformat(),
        "totals": steps,
    }


def span_of(held: Held) -> str:
    """Return which span suits a stream: the shortest that holds its window; a day, where that is a number."""
    if not held.by_time:
        return "day"
    length = held.agent.window // MICROSECOND
    return next((name for name, span in SPANS.items() if span.step * span.shown >= length), "month")


def _now(held: Held) -> int:
    return held.row.time


def _window(window: Any) -> Any:
    """Return a window as JSON has it: a number of arrivals, or seconds."""
    return window.total_seconds() if isinstance(window, timedelta) else window


def _arms(held: Held, reading: Reading, best: Any) -> list[dict[str, Any]]:
    """Return what is known of each arm, the best first and others by their means."""
    agent, ours = held.agent, held.kind.ours
    state = agent.state() if ours else {}
    means = agent.means() if ours else {}
    under_way = {arm["arrival"]: arm["in_flight"] for arm in state["arms"]} if ours else reading.open_pulls(held.row.id)
    told = {arm["arrival"]: arm["pulls"] for arm in state.get("arms", ())}
    tested, newest = _under_test(agent, state), _newest(held, state)
    found = []
    for name, row in held.arms.items():
        if not agent.holds(name):
            continue
        pulls = told.get(row.number)
        low, high = _bounds(agent, name, pulls, means.get(name))
        known = {"arm": name, "arrival": row.number, "since": moment_of(row.since).isoformat(), "pulls": pulls}
        known |= {"mean": means.get(name), "low": low, "high": high, "waiting": under_way.get(row.number, 0)}
        known |= {"under_test": row.number in tested, "best": name == best}
        found.append(known | _validity(held, row.number, newest))
    return sorted(found, key=_order)


def _order(arm: dict[str, Any]) -> tuple[bool, bool, float, int]:
    mean = arm["mean"]
    return not arm["best"], mean is None, -(mean or 0.0), -arm["arrival"]


def _bounds(agent: Any, name: Any, pulls: int | None, mean: float | None) -> tuple[float | None, float | None]:
    """Return between which bounds an arm's mean lies: those of its certificate, if it has one."""
    if getattr(agent, "probe", None) == "certify":
        low, high = agent.bounds(name)
        return float(low), float(high)
    return (None, None) if not pulls or mean is None else interval(agent, pulls, mean)


def _intervals(agent: Any) -> dict[str, Any]:
    """Return where the bounds of arms are from, and how sure they are for each arm by itself."""
    if getattr(agent, "probe", None) == "certify":
        return {"kind": "certificate", "sure": None}
    return {"kind": "wilson" if getattr(agent, "sigma", None) is None else "normal", "sure": SURE}


def _under_test(agent: Any, state: dict[str, Any]) -> set[int]:
    """Return the arms that are being tested: that are pulled until enough is known, or wait for most of their rewards.

    With certificates that is whoever is pulled next; with fixed tests, whose test is not over; of a Player, arms of
    which more pulls wait than were told.
    """
    arms = state.get("arms", ())
    if getattr(agent, "probe", None) == "certify":
        return {state["probe"][0]["wanted"], *(agent.arrival_of(arm) for arm in agent.under_test)} - {0}
    if state.get("agent") == "Player":
        return {arm["arrival"] for arm in arms if arm["in_flight"] > arm["pulls"]}
    return {arm["arrival"] for arm in arms if arm["slot"] is None}


def _validity(held: Held, number: int, newest: int) -> dict[str, Any]:
    """Return how long an arm stays valid: until when, or for how many more arrivals."""
    window = held.agent.window
    if held.by_time:
        until = number - 1 + window // MICROSECOND
        return {"valid_until": moment_of(until).isoformat(), "valid_for": (until - _now(held)) / 1e6}
    return {"valid_until": None, "valid_for": number + window - newest}


def _newest(held: Held, state: dict[str, Any]) -> int:
    """Return the number of the newest arrival, by count, or a later one if time went on without arrivals."""
    clock = state["roster"]["clock"] if held.kind.ours else {}
    return max((*(clock.get(name, 0) for name in ("time", "newest")), *held.numbers), default=0)


def _leaves_next(held: Held, arms: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the arm that expires next; of a Seeker's arms, those do not that have outlived their windows."""
    waiting = [arm for arm in arms if arm["valid_for"] > 0]
    first = min(waiting, key=lambda arm: arm["arrival"], default=None)
    return None if first is None else {name: first[name] for name in ("arm", "arrival", "valid_until", "valid_for")}


def _promise(held: Held, found: dict[str, Any]) -> dict[str, Any]:
    """Return what the stream says about its answer, as fields and as a sentence."""
    agent, arms = held.agent, found["arms"]
    first = arms[0] if arms and arms[0]["best"] else None
    rivals = [arm for arm in arms[1:] if first and first["low"] is not None and (arm["high"] or 0) > first["low"]]
    fields: dict[str, Any] = {"kind": _kind(agent, found["agent"]), "could_be_better": len(rivals) if first else None}
    if fields["kind"] in ("certificates", "tests"):
        fields |= {"within": agent.promise, "gap": agent.gap, "certified": agent.certified, "void": agent.void}
        fields |= {"epsilon": agent.epsilon, "sure": 1 - agent.delta, "guarantee": agent.guarantee}
        fields |= {"relative": agent.relative, "top": agent.top, "exempt": _window(agent.exempt)}
        fields |= {"arms": agent.arms, "most": agent.most}
        fields["dropped_could"] = _dropped_could(fields, first, rivals)
    elif fields["kind"] == "seeker":
        fields |= {"found": agent.found is not None, "flag": agent.flag, "overdue": len(agent.overdue)}
    fields = plain(fields)
    return fields | {"sentence": sentence(fields, found)}


def _kind(agent: Any, name: str) -> str:
    if name == "Explorer":
        return "certificates" if agent.probe == "certify" else "tests"
    return {"Player": "player", "Seeker": "seeker"}.get(name, "own")


def _dropped_could(fields: dict[str, Any], first: dict[str, Any] | None, rivals: list[dict[str, Any]]) -> bool:
    """Say whether an arm that is stored no more could still be better: stored ones do not account for the gap."""
    if fields["kind"] != "certificates" or first is None or fields["void"]:
        return False
    stored = max((arm["high"] - first["low"] for arm in rivals), default=0.0)
    return bool(fields["gap"] > stored + 1e-9)
