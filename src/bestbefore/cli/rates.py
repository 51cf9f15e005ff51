"""`bestbefore advise --rate`: what is affordable where means are small, such as click rates.

>>> rows = rate_advice(window=50, relative=0.2, rate=0.03, delta=0.05, memory=50, arms=1000, budget=20_000_000)
>>> rows[0]["tests"], rows[0]["hoeffding"], round(rows[1]["affordable"], 2)
(74913, 561814, 0.35)
"""

from typing import Any, Final

from bestbefore import bounds
from bestbefore.arguments import between, whole
from bestbefore.mixture import KNOWN, middle_rate, pulls_for_width
from bestbefore.plan import ExplorePlan, plan_exploration
from bestbefore.plan.explore_plan import in_batches

LARGEST: Final = 0.99
"""A share of the best mean that is hardly worth a promise."""


def rate_advice(
    window: int, relative: float | None, rate: float, delta: float, memory: int, arms: int, budget: int
) -> list[dict[str, Any]]:
    """Return rows of the table for arms whose best mean is about `rate`.

    The first, if a share `relative` of the best mean is given, says what it takes to promise that: `tests` are the
    pulls of an arm of that mean, at most, and `hoeffding` those by a bound that does not know that such rewards vary
    little.  The last says which share `budget` pulls of all `arms` can promise, `affordable`, or None.
    """
    between("rate", rate, bounds.LEAST_MEAN, 1)
    each, rows = whole("budget", budget) // whole("arms", arms), []
    if relative is not None:
        made, tests = _planned(window, relative, rate, delta)
        rows.append(
            _row(f"within {relative:.3g} of the best mean, if that is about {rate:g}", made, tests, memory, rate)
            | {"hoeffding": (blind := _hoeffding(made, rate))}
            | {"cost": f"at most {tests:,} pulls of an arm that good, and {blind:,} by Hoeffding's bound"}
        )
    task = f"what {budget:,} pulls of {arms:,} arms can promise, if the best mean is about {rate:g}"
    made, tests = _planned(window, LARGEST, rate, delta)
    if tests > each:
        nothing = f"nothing: with {each:,} pulls per arm, no share of it is affordable"
        row = _row(task, made, tests, memory, rate) | {"possible": False, "promise": None}
        return [*rows, row | {"affordable": None, "cost": nothing}]
    low, high = 0.0, LARGEST
    while high - low > 1e-4:
        half = (low + high) / 2
        low, high = (low, half) if _affordable(window, half, rate, delta, each) else (half, high)
    made, tests = _planned(window, high, rate, delta)
    cost = f"{each:,} pulls per arm: within {high:.2g} of the best mean; worse arms take fewer"
    return [*rows, _row(task, made, tests, memory, rate) | {"affordable": high, "cost": cost}]


def _planned(window: int, share: float, rate: float, delta: float) -> tuple[ExplorePlan, int]:
    """Return the plan for a share of the best mean, and the pulls of an arm of that mean at most."""
    made = plan_exploration(window=window, epsilon=share, delta=delta, relative=True)
    return made, made.tests_at(rate)


def _affordable(window: int, share: float, rate: float, delta: float, each: int) -> bool:
    """Say whether so many pulls of each arm are enough for a share; one that needs beyond 2^53 is not affordable."""
    try:
        return _planned(window, share, rate, delta)[1] <= each
    except ValueError:
        return False


def _hoeffding(made: ExplorePlan, rate: float) -> int:
    """Return the pulls that bounds of the same width take which hold for all rewards in [0, 1] alike."""
    width = KNOWN * made.aim * rate
    return in_batches(pulls_for_width(width, middle_rate(made.aim * rate), made.logs_of(1)))


def _row(task: str, made: ExplorePlan, tests: int, memory: int, rate: float) -> dict[str, Any]:
    planned = {"keep": made.keep.name, "tests": tests, "promise": made.promise, "rate": rate}
    found = {
        "task": task,
        "slots": made.memory,
        "possible": memory >= made.memory,
        "cost": "",
        "source": "ours, certify",
    }
    return found | planned
