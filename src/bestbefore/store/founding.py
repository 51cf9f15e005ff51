"""How a stream begins: its settings, its first row, and whether one that is there was made alike."""

from datetime import timedelta
from typing import Any

from bestbefore.arguments import between
from bestbefore.clock import Length, Window, said, window_of
from bestbefore.errors import Conflict
from bestbefore.store.held import COUNTS, Held
from bestbefore.store.kinds import Kind
from bestbefore.store.names import compact, hidden, text_of
from bestbefore.store.rows import ArmRow, StreamRow


def ledger_settings(agent: Any, patience: Length | None, otherwise: float | None, remember: Length) -> dict[str, Any]:
    """Return the settings of the ledger as they are saved."""
    waits, kept = None if patience is None else window_of(patience, "patience"), window_of(remember, "remember")
    for name, length, given in (("patience", waits, patience), ("remember", kept, remember)):
        if length is not None and not length.by_time:
            raise ValueError(f'{name} must be a time such as "10 min", not {given!r}')
    if waits is not None or otherwise != 0.0:
        otherwise = check_otherwise(agent, otherwise)
    return {"patience": waits and waits.length, "otherwise": otherwise, "remember": kept.length}


def check_otherwise(agent: Any, otherwise: Any) -> float | None:
    """Return what a pull counts as when its patience is over, if the agent can be told that, or None."""
    if otherwise is None:
        return None
    bounded = getattr(agent, "sigma", None) is None
    ends = getattr(agent, "scale", (0.0, 1.0)) if bounded else (-(2.0**53), 2.0**53)
    return between("otherwise", otherwise, *ends, closed="both")


def first_row(name: str, kind: Kind, agent: Any, settings: dict[str, Any], now: int) -> StreamRow:
    """Return the row of a stream that begins with an agent."""
    state = agent.state()
    here: list[ArmRow] = []
    if kind.ours:
        clock = state["roster"]["clock"]
        now = max(now, clock["time"] - 1) if isinstance(agent.window, timedelta) else now
        state["roster"] = {"clock": clock | {"on_wall": 0}, "let_go": []}  # the desk tells the time from now on
        here = [ArmRow(arm["arrival"], text_of(arm["arm"]), now) for arm in state["arms"]]
    elif agent.stored:
        raise ValueError(f"agent must be fresh where it is of a class of your own, not one that stores {agent.stored}")
    text = compact(hidden(state, {arm.name: arm.number for arm in here}, ours=kind.ours))
    counts = dict.fromkeys(COUNTS, 0) | {"before": int(agent.pulls), "arrived": len(here)}
    row = StreamRow(0, name, kind.name, settings, 1, 0, None, counts, text, here)
    held = Held(row, kind)
    row.time = now if here else 0
    row.due = held.next_expiry()
    return row


def check_same(row: StreamRow, kind: Kind, wanted: dict[str, Any]) -> None:
    """Raise a `Conflict` if a stream was made otherwise."""
    if row.kind != kind.name:
        raise Conflict(f"agent must be {row.kind}, as stream {row.name!r} was made, not {kind.name}")
    found = dict(row.settings)
    if kind.ours:  # a state of an earlier version may have had fewer
        found["arguments"] = Held(row, kind).agent.state()["arguments"]
    for setting, value in _flat(wanted).items():
        if (before := _flat(found).get(setting)) != value:
            raise Conflict(
                f"{setting} must be {_told(setting, before)!r}, as stream {row.name!r} was made, "
                f"not {_told(setting, value)!r}"
            )


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    arguments: dict[str, Any] = settings.get("arguments", {})
    return arguments | {name: value for name, value in settings.items() if name != "arguments"}


def _told(setting: str, value: Any) -> Any:
    """Return a setting as a person says it."""
    return said(Window(value, True)) if setting in ("patience", "remember") and isinstance(value, int) else value
