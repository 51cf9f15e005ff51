"""Figures: labels that do not overlap, colours that stay with their rule."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bestbefore import simulate, streams
from bestbefore.report.explore import plot_explore
from bestbefore.report.look import apart, colours_of
from bestbefore.rules import KEEP


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=12))
def test_labels_are_set_apart_and_keep_their_order(heights):
    placed = apart(heights, gap=5)
    order = sorted(range(len(heights)), key=heights.__getitem__)
    for below, above in pairwise(order):
        assert placed[above] - placed[below] >= 5 - 1e-6
    if min((abs(a - b) for i, a in enumerate(heights) for b in heights[:i]), default=9) >= 5:
        assert max(abs(a - b) for a, b in zip(heights, placed, strict=True)) < 1e-9


def test_each_rule_has_a_colour_of_its_own():
    colours = colours_of([*KEEP, "mine", "yours"])
    assert len(set(colours.values())) == len(KEEP) + 2


def test_one_memory_one_run_and_an_error_of_zero_can_be_drawn(tmp_path):
    table = simulate.explore(streams.constant(20), window=5, memory=3, keep="fifo", runs=1)
    plot_explore(table, "a single point", tmp_path / "point.svg")
    assert "fifo" in (tmp_path / "point.svg").read_text()
