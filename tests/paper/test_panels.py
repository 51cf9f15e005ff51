"""The paper's panels, as data."""

import itertools
from collections import Counter

import numpy as np
import pytest

from bestbefore.paper.deviations import AS_DESCRIBED, PUBLISHED
from bestbefore.paper.panels import BEYOND, PAPER, Panel

SIZES = {20: range(2, 17, 2), 50: range(2, 29, 2), 100: range(5, 51, 5), 200: range(10, 101, 10)}


def test_there_are_45_panels_as_the_paper_has_them():
    assert Counter((panel.task, panel.data) for panel in PAPER) == {
        ("explore", "uniform"): 16,
        ("explore", "movielens"): 12,
        ("regret", "two-level"): 4,
        ("regret", "movielens"): 4,
        ("everlasting", "uniform"): 9,
    }
    explored = {(panel.arms, panel.window) for panel in PAPER if panel.task == "explore" and panel.data == "uniform"}
    assert explored == set(itertools.product((1000, 2000, 5000, 10_000), (20, 50, 100, 200)))
    rated = {(panel.arms, panel.window) for panel in PAPER if panel.task == "explore" and panel.needs_movielens}
    assert rated == set(itertools.product((1000, 2000, 3500), (20, 50, 100, 200)))
    lasting = {(panel.arms, panel.window) for panel in PAPER if panel.task == "everlasting"}
    assert lasting == set(itertools.product((500, 1000, 2000), (10, 20, 50)))


def test_memory_sizes_are_those_of_the_paper():
    for panel in PAPER:
        if panel.task == "explore":
            assert panel.memory == tuple(SIZES[panel.window])
        elif panel.task == "regret":
            assert panel.memory == tuple({20: range(2, 21, 2), 50: range(5, 51, 5)}[panel.window])
        else:
            assert panel.window in panel.memory, "where regret falls to 0"


def test_names_are_unique_and_good_for_files():
    names = [panel.name for panel in (*PAPER, *BEYOND)]
    assert len(set(names)) == len(names)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for name in names)


def test_panels_beyond_the_paper_are_in_real_order():
    assert all(panel.in_real_order for panel in BEYOND)
    assert not any(panel.in_real_order for panel in PAPER)


def test_synthetic_streams_have_as_many_arms_as_the_panel_says():
    for panel in PAPER:
        if not panel.needs_movielens:
            stream = panel.stream()
            assert stream.length == panel.arms
            assert next(stream.blocks(np.random.default_rng(0))).means.max() <= 1


def test_a_smaller_panel_keeps_its_shape():
    for panel in PAPER:
        small = panel.smaller()
        assert small.arms <= max(300, 2 * panel.window)
        assert small.arms > small.window
        assert set(small.memory) <= set(panel.memory)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": "dance"}, "task must be one of"),
        ({"data": "stars"}, "data must be one of"),
        ({"arms": 0}, "arms must be"),
        ({"window": 0}, "window must be"),
        ({"memory": ()}, "memory must name"),
        ({"memory": (0,)}, "memory must be"),
    ],
)
def test_a_panel_that_makes_no_sense_is_refused(change, message):
    settings = {"task": "explore", "data": "uniform", "arms": 10, "window": 5, "memory": (2,)}
    with pytest.raises(ValueError, match=message):
        Panel(**settings | change)


def test_a_memory_that_comes_twice_is_refused():
    with pytest.raises(ValueError, match=r"memory must name each number of slots once, not \(4, 4, 8\)"):
        Panel("explore", "uniform", 100, 20, (4, 4, 8))


# As published


def rated(folder, movies=8):
    """Write a MovieLens 1M in which movie i has i - 1 ratings of 5 stars and one of 1 star."""
    data = folder / "ml-1m"
    data.mkdir()
    data.joinpath("movies.dat").write_text("".join(f"{i}::M{i} (1999)::Drama\n" for i in range(1, movies + 1)))
    lines = [
        f"{user}::{movie}::{5 if user < movie else 1}::978300000\n"
        for movie in range(1, movies + 1)
        for user in range(1, movie + 1)
    ]
    data.joinpath("ratings.dat").write_text("".join(lines))
    return folder


def means(panel, path, deviations, seed=0):
    return next(panel.stream(path, deviations).blocks(np.random.default_rng(seed))).means


def test_as_published_the_first_movies_arrive_and_as_described_any(tmp_path):
    panel, path = Panel("explore", "movielens", 4, 2, (1,)), rated(tmp_path)
    for seed in range(5):
        assert sorted(means(panel, path, PUBLISHED, seed)) == pytest.approx([0, 1 / 2, 2 / 3, 3 / 4])
    seen = {round(mean, 3) for seed in range(20) for mean in means(panel, path, AS_DESCRIBED, seed)}
    assert len(seen) == 8
    alone = PUBLISHED._replace(first_movies=False)
    assert sorted(means(panel, path, alone)) == sorted(means(panel, path, AS_DESCRIBED))


def test_as_published_an_epoch_of_movies_has_100_w_pulls():
    movies, made = Panel("regret", "movielens", 500, 20, (2,)), Panel("regret", "two-level", 500, 20, (2,))
    assert (movies.budget(PUBLISHED), movies.budget(), made.budget(PUBLISHED)) == (2000, 1000, 1000)
    assert movies.budget(PUBLISHED._replace(large_budget=False)) == 1000


def test_as_published_low_arms_have_means_of_their_own():
    panel = Panel("regret", "two-level", 100, 20, (2,))
    assert set(means(panel, None, AS_DESCRIBED)) == {0.25, 0.95}
    assert len(set(means(panel, None, PUBLISHED))) > 90
    assert set(means(panel, None, PUBLISHED._replace(spread_means=False))) == {0.25, 0.95}


def test_what_is_cheap_is_run_more_often():
    assert [panel.cheap_runs for panel in PAPER if panel.name == "regret-movielens-n500-w20"] == [40]
    assert [panel.cheap_runs for panel in PAPER if panel.name == "regret-movielens-n1000-w20"] == [10]
    assert {panel.cheap_runs for panel in PAPER if panel.task == "everlasting"} == {100}
