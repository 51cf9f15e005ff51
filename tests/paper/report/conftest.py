"""Small reproductions with made-up rows."""

from dataclasses import asdict

import pytest

from bestbefore.paper.costs import prices_of
from bestbefore.paper.earnings import CELLS
from bestbefore.paper.finding import share
from bestbefore.paper.panels import Panel
from bestbefore.paper.readings import CURVES, MEASURES
from bestbefore.paper.summary import Reproduction
from bestbefore.paper.verdicts import judge

PANELS = {
    "explore": Panel("explore", "uniform", arms=100, window=20, memory=(2, 4, 6, 8)),
    "regret": Panel("regret", "two-level", arms=100, window=20, memory=(2, 4, 6, 20)),
    "everlasting": Panel("everlasting", "uniform", arms=100, window=10, memory=(1, 5, 10, 12)),
    "beyond": Panel("explore", "movielens-release-year", arms=100, window=20, memory=(2, 4)),
}
LEVELS = {"published": 0.4, "described": 0.03, "ours": 0.002}


@pytest.fixture(scope="session")
def panels():
    """Return a small panel of each task, and one beyond the paper."""
    return PANELS


@pytest.fixture(scope="session")
def make_rows():
    """Return what makes up rows."""
    return rows_of


@pytest.fixture(scope="session")
def make_finding():
    """Return what makes a finding up."""
    return finding


@pytest.fixture(scope="session")
def make_reproduction():
    """Return what makes a reproduction of small panels."""
    return reproduction


def rows_of(panel, runs=5, level=None):
    """Make rows that fall with memory; all of them are `level` if that is given."""
    top = 1 if panel.task == "explore" else 1000 * panel.arms
    return [
        {"panel": panel.name, "reading": curve.reading, "curve": curve.name, "memory": memory, "run": run}
        | dict.fromkeys(MEASURES[panel.task], _number(top * LEVELS[curve.reading] * (1 + run) / memory, level))
        | ({"found": run % 2 == 1} if "found" in MEASURES[panel.task] else {})
        for curve in CURVES[panel.task]
        for memory in panel.memory
        for run in range(runs)
    ]


def _number(usual, level):
    return usual if level is None else level


def finding(**words):
    """Make a finding that holds, unless the words say otherwise."""
    usual = {"theorem": "coin", "statement": "a coin is fair", "setting": "ours", "measured": "share of heads"}
    return share(490, 1000, equal_to=0.5, **usual | words)


def costs_of(panels):
    """Make rows of costs up: certificates save 15 times, and keep within a half of epsilon."""
    pulls = {"paper": 6000.0, "pairs": 3456.0, "exact": 3000.0, "certify": 400.0}
    return tuple(
        {"panel": price.panel.name, "memory": price.memory, "epsilon": price.epsilon, "way": way, "runs": 3}
        | {"pulls": pulls[way] * price.memory, "mean": price.epsilon / 10, "max": price.epsilon / 2}
        | {"certified": 1.0, "peak_memory": price.memory}
        for price in prices_of(panels)
        for way in price.ways
    )


def reproduction(*panels, rows=None, left_out=None, findings=None, made=None):
    """Make a reproduction of these panels."""
    rows = rows or {panel.name: rows_of(panel) for panel in panels}
    verdicts = {panel.name: judge(panel, rows[panel.name]) for panel in panels}
    findings = (finding(remark="a remark"),) if findings is None else findings
    made = made or {"version": "0.1.0", "seed": "0", "command": "bestbefore reproduce --seed 0"}
    earnings = tuple(asdict(cell) | {"runs": 20, "regret": 1234.0, "error": 5.0} for cell in CELLS)
    beside = {"earnings": earnings, "costs": costs_of(panels)}
    return Reproduction(panels, rows, verdicts, left_out or {}, findings, made, runs=5, **beside)
