"""The figure of the everlasting best arm: a regret of 0 has its place on the axis."""

import re

import pytest

from bestbefore.report.everlasting import plot_everlasting
from bestbefore.simulate import Table


def texts_of(regrets, path):
    """Draw these regrets of runs by strategy and memory, and return the figure's texts."""
    rows = [
        {"strategy": strategy, "memory": memory, "run": run, "regret": float(regret)}
        for (strategy, memory), runs in regrets.items()
        for run, regret in enumerate(runs)
    ]
    plot_everlasting(Table(rows), "a stream", path)
    return re.findall(r">([^<>]+)</text>", path.read_text())


def test_a_regret_of_zero_is_on_the_axis(tmp_path):
    texts = texts_of({("wait", 5): [0, 900_000], ("wait", 50): [0, 0], ("race", 5): [200, 400]}, tmp_path / "zero.svg")
    assert {"wait", "race", "a stream"} <= set(texts)
    assert [text for text in texts if text.replace(",", "").isdigit() and "," in text] == [
        "1,000",
        "10,000",
        "100,000",
        "1,000,000",
    ]
    assert "0" in texts


def test_without_a_zero_the_axis_ends_at_the_power_of_ten_below(tmp_path):
    texts = texts_of({("stay", 100): [2000, 7000], ("hope", 200): [3000, 3000]}, tmp_path / "some.svg")
    assert "0" not in texts
    assert {"1,000", "10,000"} <= set(texts)
    assert "100,000" not in texts


@pytest.mark.parametrize("regrets", [[0], [0, 0], [1e-9], [0.5], [1], [3, 0.2], [2**53]])
def test_one_memory_and_regrets_of_any_size_can_be_drawn(tmp_path, regrets):
    assert "mine" in texts_of({("mine", 1): regrets}, tmp_path / "point.svg")


def test_every_strategy_of_a_flag_has_a_colour_of_its_own():
    from bestbefore.report.look import colours_of
    from bestbefore.rules import STRATEGIES_OF_FLAG

    for names in STRATEGIES_OF_FLAG.values():
        assert len(set(colours_of([*names, "mine"]).values())) == len(names) + 1
