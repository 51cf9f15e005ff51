"""Every call in every way: schemathesis over the whole API, all phases and all checks, against a server that runs.

    python benchmarks/every_call.py --requests 10000

Beside schemathesis's own checks (no 5xx, no answer that is not described, nothing accepted that must be refused, no
way around keys ...) one of ours looks into the database after each answer: a call that was refused has changed nothing.
The clock of the service stands still, so that nothing falls due by itself.  The exit code says if all was well.
"""

import argparse
import json
import logging
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events, from_schema

from bestbefore import connect
from bestbefore.service.keys import Keys
from bestbefore.service.running import Running
from bestbefore.service.settings import Settings
from bestbefore.store.moving import problems

REFUSABLE = [
    "make_stream",
    "arrive",
    "ask",
    "tell",
    "give_up",
    "advance",
    "learn",
    "tick",
    "finish",
    "best",
    "withdraw",
]
"""Calls that may be refused (410, 422) though they are as described: it depends on the stream what they can say."""

_watched: list["Watch"] = []


class Watch:
    """Looks into the file of the service after each answer."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path, check_same_thread=False)
        self._last = self._version()
        self.refused = self.changed = 0

    def _version(self) -> int:
        """Return a number that changes whenever another connection has written something."""
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def after(self, status: int) -> bool:
        """Say whether it is as it must be after an answer."""
        before, self._last = self._last, self._version()
        self.refused += status >= 400
        self.changed += before != self._last
        return status < 400 or before == self._last


@schemathesis.check
def refused_changes_nothing(ctx: Any, response: Any, case: Any) -> None:
    """Look at the database after each answer."""
    for watch in _watched:
        assert watch.after(response.status_code), "a call was refused, and has changed the database"  # noqa: S101


def settings(key: str, examples: int, seed: int) -> SchemathesisConfig:
    """Return the settings of schemathesis: all phases, all checks, the same requests each time."""
    refusable = {"expected-statuses": ["2xx", "401", "403", "404", "409", "410", "422", "429"]}
    return SchemathesisConfig.from_dict(
        {
            "seed": seed,
            "suppress-health-check": ["all"],
            "request-timeout": 300,
            "headers": {"Authorization": f"Bearer {key}"},
            "generation": {"max-examples": examples, "deterministic": True, "database": "none"},
            "continue-on-failure": True,
            "operations": [
                {"include-operation-id": id, "checks": {"positive_data_acceptance": refusable}} for id in REFUSABLE
            ],
        }
    )


def run(folder: Path, examples: int, seed: int, say: Callable[[str], object] = print) -> dict[str, Any]:
    """Send requests; return how many there were by phase, call and status, and what was wrong."""
    path = folder / "streams.db"
    faults: list[str] = []
    phases, statuses, calls = Counter[str](), Counter[int](), Counter[str]()
    with connect(f"sqlite:///{path}", clock=lambda: 1_800_000_000.0, sweep=None) as desk:
        keys = Keys(desk._store)
        key = keys.make("every call", "admin")[1]
        with Running(desk, keys, Settings(db=f"sqlite:///{path}")) as running:
            schema = schemathesis.openapi.from_url(
                f"{running.address}/openapi.json", config=settings(key, examples, seed), timeout=300
            )
            watch = Watch(str(path))
            _watched[:] = [watch]
            for event in from_schema(schema).execute():
                if isinstance(event, events.ScenarioFinished):
                    _take(event, phases, statuses, calls, faults)
                elif isinstance(event, events.NonFatalError):
                    faults.append(
                        f"{event.label}: {event.info.format() if hasattr(event.info, 'format') else event.info}"
                    )
                elif isinstance(event, events.FatalError):
                    raise event.exception
                elif isinstance(event, events.PhaseFinished):
                    say(f"{event.phase.name.value}: {event.status.value}, {sum(phases.values())} requests so far")
            _watched.clear()
        faults += [f"the ledger: {name}: {what}" for name, found in problems(desk._store).items() for what in found]
    return {
        "requests": sum(phases.values()),
        "phases": dict(phases),
        "statuses": dict(sorted(statuses.items())),
        "calls": dict(calls),
        "refused": watch.refused,
        "changed": watch.changed,
        "faults": faults,
    }


def _take(
    event: events.ScenarioFinished,
    phases: Counter[str],
    statuses: Counter[int],
    calls: Counter[str],
    faults: list[str],
) -> None:
    recorder = event.recorder
    for id, interaction in recorder.interactions.items():
        if interaction.response is not None:
            phases[event.phase.value] += 1
            statuses[interaction.response.status_code] += 1
            case = recorder.cases.get(id)
            calls[case.value.operation.label if case else "?"] += 1
    for id, checks in recorder.checks.items():
        for check in checks:
            if check.failure_info is not None:
                case = recorder.cases.get(id)
                answer = recorder.interactions[id].response if id in recorder.interactions else None
                faults.append(
                    f"{case.value.operation.label if case else '?'}: {check.name}: {check.failure_info.failure.title}: "
                    f"{check.failure_info.failure.message[:600]}\n    {check.failure_info.code_sample[:800]}\n"
                    f"    -> {answer.status_code if answer else None} {answer.text[:500] if answer else ''}"
                )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000, help="go on until there were so many")
    parser.add_argument("--examples", type=int, default=100, help="of each call, in each phase of a round")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    logging.getLogger("bestbefore.access").setLevel(logging.WARNING)
    total, wrong, seed = 0, 0, options.seed
    while total < options.requests:
        with tempfile.TemporaryDirectory() as folder:
            found = run(Path(folder), options.examples, seed)
        total, wrong, seed = total + found["requests"], wrong + len(found["faults"]), seed + 1
        for fault in found.pop("faults"):
            print("FAULT", fault)
        print(json.dumps(found), flush=True)
    print(f"{total} requests, {wrong} faults")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
