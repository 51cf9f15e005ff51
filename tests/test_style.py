"""The style of figures: labels that do not overlap, colours that stay with their rule, ticks to read off."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from bestbefore.rules import FLAGS, KEEP, PULL, strategies_of
from bestbefore.style import (
    MOST_CURVES,
    apart,
    check_ending,
    colours_of,
    fitting,
    label,
    log_ticks,
    note,
    scale_to_zero,
)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=12))
def test_labels_are_set_apart_and_keep_their_order(heights):
    placed = apart(heights, gap=5)
    order = sorted(range(len(heights)), key=heights.__getitem__)
    for below, above in pairwise(order):
        assert placed[above] - placed[below] >= 5 - 1e-6
    if min((abs(a - b) for i, a in enumerate(heights) for b in heights[:i]), default=9) >= 5:
        assert max(abs(a - b) for a, b in zip(heights, placed, strict=True)) < 1e-9


@given(st.lists(st.tuples(st.floats(0, 500), st.floats(1, 60)), min_size=1, max_size=30))
def test_labels_that_are_kept_fit_beside_each_other_and_those_left_out_do_not(labels):
    places, widths = zip(*sorted(labels), strict=True)
    kept = fitting(places, widths, gap=4)
    assert kept[-1] == len(places) - 1
    for left, right in pairwise(kept):
        assert places[right] - places[left] >= (widths[left] + widths[right]) / 2 + 4
    for gone in set(range(len(places))) - set(kept):
        after = min(one for one in kept if one > gone)
        assert places[after] - places[gone] < (widths[after] + widths[gone]) / 2 + 4


# Colours


def test_each_rule_has_a_colour_of_its_own():
    for column, names in {"keep": KEEP, "pull": PULL}.items():
        colours = colours_of([*names, "mine"], column)
        assert len(set(colours.values())) == len(names) + 1 == MOST_CURVES


def test_every_strategy_of_a_flag_has_a_colour_of_its_own():
    for names in map(strategies_of, FLAGS):
        assert len(set(colours_of([*names, "mine"], "strategy").values())) == len(names) + 1


def test_a_rule_has_its_colour_whoever_is_beside_it():
    assert colours_of(["mine", "topk"], "keep")["topk"] == colours_of(["topk", "fifo"], "keep")["topk"]
    assert colours_of(["mine", "topk"], "keep")["mine"] != colours_of(["topk"], "keep")["topk"]


def test_rules_with_the_same_colour_get_others_when_they_meet():
    assert len(set(colours_of(["wait", "stay", "race", "weigh"], "strategy").values())) == 4


@given(
    st.lists(st.sampled_from([*KEEP, "a", "b", "c"]), unique=True, max_size=8), st.sampled_from(["keep", "", "pull"])
)
def test_no_two_lines_share_a_colour_up_to_the_most(names, column):
    assert len(set(colours_of(names, column).values())) == len(names)


# Ticks


@given(st.floats(1e-5, 1e12), st.floats(1, 1e9), st.integers(4, 20))
def test_ticks_enclose_all_numbers_and_are_enough_to_read_off_and_not_too_many(low, factor, most):
    high = low * factor
    ticks = log_ticks(low, high, most)
    assert ticks == sorted(set(ticks))
    assert ticks[0] <= low * (1 + 1e-9)
    assert high * (1 - 1e-9) <= ticks[-1]
    if factor >= 3:
        assert 3 <= len(ticks) <= most
    else:
        assert 5 <= len(ticks) <= 13


@pytest.mark.parametrize("most", [12, 16])
def test_three_decades_are_labelled_at_1_2_and_5(most):
    assert [label(tick) for tick in log_ticks(0.001, 1, most)] == [
        "0.001",
        "0.002",
        "0.005",
        "0.01",
        "0.02",
        "0.05",
        "0.1",
        "0.2",
        "0.5",
        "1",
    ]


def test_many_decades_are_labelled_as_far_as_they_fit():
    assert log_ticks(1, 10_000, most=9) == [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000]
    assert log_ticks(1, 10_000, most=8) == [1, 10, 100, 1000, 10_000]
    assert log_ticks(1, 1e9, most=6) == [1, 1e3, 1e6, 1e9]


def heights(numbers, **settings):
    axes = Figure().subplots()
    scale_to_zero(axes, numbers, **settings)
    return axes, [axes.transData.transform((0, number))[1] for number in sorted(numbers)]


def test_zero_is_drawn_at_zero_and_not_at_the_least_power():
    axes, placed = heights([0.0, 1e-3, 0.1, 0.2], least=-5)
    assert placed == sorted(set(placed))
    assert axes.get_ylim()[0] < 0
    assert axes.get_yticklabels()[0].get_text() == "0"


def test_what_is_below_the_least_power_counts_as_zero():
    axes, _ = heights([1e-9, 0.1, 0.2], least=-5)
    assert [text.get_text() for text in axes.get_yticklabels()][:2] == ["0", "0.1"]


def test_without_a_zero_there_is_no_tick_of_it():
    axes, _ = heights([0.02, 0.3], least=-5)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["0.02", "0.05", "0.1", "0.2", "0.5"]
    assert axes.get_yscale() == "log"


@pytest.mark.parametrize("numbers", [[0], [0, 0], [1e-9], [0.5], [1], [3, 0.2], [2**53], [2**53, 0]])
def test_numbers_of_any_size_have_a_place_within_the_axis(numbers):
    axes, placed = heights(numbers, least=0)
    box = axes.get_window_extent()
    assert all(box.y0 <= height <= box.y1 for height in placed)


def test_ticks_between_have_no_labels_of_their_own():
    """Matplotlib would write 3 x 10^4 beside our 20,000 where an axis has little more than a decade."""
    axes, _ = heights([3_000, 32_000], least=0)
    axes.figure.canvas.draw()
    assert len(axes.yaxis.get_minorticklocs()) > 0
    assert not any(tick.get_text() for tick in axes.yaxis.get_ticklabels(minor=True))


# Words and files


def test_a_note_says_what_lines_and_bands_are():
    assert note(1, "interval") == "Lines are of a single run."
    assert note(3) == "Lines are the mean over 3 runs, bands from the lowest run to the highest."
    assert note(3, "error") == "Lines are the mean over 3 runs, bands one standard error to either side."
    assert note(3, "interval", 0.9) == "Lines are the mean over 3 runs, bands its 90% confidence interval."
    assert note(3, None) == "Lines are the mean over 3 runs."


@pytest.mark.parametrize("name", ["a.png", "b.SVG", "c.pdf", "d.eps", "e.jpg", "f.webp", "folder.d/g.tiff"])
def test_a_file_may_end_as_matplotlib_likes(name):
    check_ending("save", name)


@pytest.mark.parametrize("name", ["picture.txt", "picture", ".png"])
def test_other_endings_are_refused_with_a_list_of_those_that_are_not(name):
    with pytest.raises(ValueError, match=rf"save must end in one of .*\.pdf, .*\.svg, .*not be '{name}'"):
        check_ending("save", name)
