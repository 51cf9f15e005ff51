"""The figures of exploration and regret: what is 0 stands at 0, ticks are whole, and a line says what is drawn."""

import re

import pytest

from bestbefore.report.explore import plot_explore
from bestbefore.report.look import scale_to_zero
from bestbefore.report.regret import plot_regret
from bestbefore.simulate import Table


def texts_of(picture):
    return re.findall(r">([^<>]+)</text>", picture.read_text())


def errors(*numbers, memory=(4,)):
    return Table(
        [
            {"keep": "fifo", "memory": slots, "run": run, "mean": number, "max": number}
            for slots in memory
            for run, number in enumerate(numbers)
        ]
    )


@pytest.mark.parametrize("numbers", [(0.0,), (0.0, 0.25), (3e-7, 0.25)])
def test_an_error_of_zero_is_on_the_axis(tmp_path, numbers):
    plot_explore(errors(*numbers), "errors", tmp_path / "zero.svg")
    assert "0" in texts_of(tmp_path / "zero.svg")


def test_zero_is_drawn_at_zero_and_not_at_the_least_power():
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    scale_to_zero(axes, [0.0, 0.2], least=-5)
    heights = [axes.transData.transform((0, error))[1] for error in (0.0, 1e-3, 0.1)]
    assert heights == sorted(set(heights))
    assert axes.get_ylim()[0] < 0


def test_without_a_zero_there_is_no_tick_of_it(tmp_path):
    plot_explore(errors(0.02, 0.3), "errors", tmp_path / "some.svg")
    assert "0" not in texts_of(tmp_path / "some.svg")


def test_one_memory_has_one_tick(tmp_path):
    plot_explore(errors(0.02, 0.3), "errors", tmp_path / "one.svg")
    texts = texts_of(tmp_path / "one.svg")
    assert texts.count("4") == 2
    assert not [text for text in texts if re.fullmatch(r"[34]\.\d+", text)]


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        (1, "Lines are of a single run."),
        (2, "Lines are the mean over 2 runs, bands from the lowest run to the highest."),
    ],
)
def test_a_small_line_says_what_lines_and_bands_are(tmp_path, runs, words):
    plot_explore(errors(*[0.2] * runs), "errors", tmp_path / "errors.svg")
    rows = [{"keep": "fifo", "pull": "ucb", "memory": 4, "run": run, "regret": 0.0} for run in range(runs)]
    plot_regret(Table(rows), "regret", tmp_path / "regret.svg")
    assert words in texts_of(tmp_path / "errors.svg")
    assert {words, "0"} <= set(texts_of(tmp_path / "regret.svg"))
