"""Figures of tables: lines and bands are the numbers of the summary, ticks can be read, a note says what is drawn."""

import sys
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from bestbefore import simulate, streams
from bestbefore.simulate import Table, plot
from bestbefore.style import STYLE, colours_of

MEMORIES = (2, 4, 8)


@pytest.fixture(scope="module")
def explored():
    stream = streams.uniform(60)
    return simulate.explore(stream, window=10, memory=MEMORIES, keep=["bucket", "staircase"], tests=5, runs=4)


@pytest.fixture(scope="module")
def played():
    return simulate.play(streams.uniform(60), 10, 50, memory=[3, 10], keep="staircase", pull=["ucb", "moss"], runs=3)


@pytest.fixture(scope="module")
def sought():
    return simulate.seek(streams.uniform(60), window=10, budget=2000, memory=[3, 10], runs=3)


def made_up(**columns):
    """Make a table of one rule and one run from columns of equal length."""
    sizes = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return Table([{"keep": "fifo", "run": 0} | row for row in sizes])


def lines_of(axes):
    """Return the lines that were drawn, by name."""
    return {line.get_label(): line for line in axes.get_lines() if not line.get_label().startswith("_")}


def bands_of(axes):
    """Return the edges of bands: for each, the lowest and the highest y by x."""
    found = []
    for band in axes.collections:
        heights = {}
        for x, y in band.get_paths()[0].vertices:
            heights.setdefault(x, []).append(y)
        found.append({x: (min(values), max(values)) for x, values in heights.items()})
    return found


def texts_of(axes):
    return [text.get_text() for text in axes.texts]


def ticks_of(axis):
    return [tick.get_text() for tick in axis.get_ticklabels()]


# What is drawn


def test_exploration_has_a_panel_for_the_mean_and_one_for_the_worst_error(explored):
    panels = plot(explored)
    assert [axes.get_title(loc="left") for axes in panels] == ["Mean error over all times", "Worst error at any time"]
    assert panels[0].get_ylim() == panels[1].get_ylim()
    for axes, column in zip(panels, ("mean", "max"), strict=True):
        for name, line in lines_of(axes).items():
            rows = explored.where(keep=name).summary("memory", column)
            assert line.get_xdata().tolist() == list(MEMORIES)
            assert line.get_ydata().tolist() == [row[column] for row in rows]
            assert to_hex(line.get_color()) == colours_of([name], "keep")[name].lower()
        assert texts_of(axes) == ["bucket", "staircase"]


def test_regret_has_a_line_for_each_pair_of_rules(played):
    axes = plot(played)
    assert isinstance(axes, Axes)
    assert list(lines_of(axes)) == texts_of(axes) == ["staircase x ucb", "staircase x moss"]
    assert axes.get_xlabel() == "memory (slots)"


def test_the_everlasting_arm_has_a_line_for_each_strategy_and_zero_at_the_bottom(sought):
    axes = plot(sought)
    assert list(lines_of(axes)) == ["wait", "rank", "race"]
    assert ticks_of(axes.yaxis)[0] == "0", "to wait in W slots costs nothing"


@pytest.mark.parametrize(
    ("band", "low", "high"),
    [
        ("range", lambda row: row["mean_low"], lambda row: row["mean_high"]),
        ("error", lambda row: row["mean"] - row["mean_se"], lambda row: row["mean"] + row["mean_se"]),
        ("interval", lambda row: row["mean_from"], lambda row: row["mean_to"]),
    ],
)
def test_bands_are_what_the_note_says(explored, band, low, high):
    axes = plot(explored, columns="mean", band=band, confidence=0.8)
    rows = explored.summary(["keep", "memory"], "mean", confidence=0.8)
    drawn = [edge for band in bands_of(axes) for edges in band.values() for edge in edges]
    assert sorted(drawn) == pytest.approx(sorted(edge for row in rows for edge in (low(row), high(row))))
    said = {"range": "lowest run to the highest", "error": "standard error", "interval": "80% confidence interval"}
    assert said[band] in axes.figure.get_supxlabel()


def test_without_a_band_there_is_none(explored):
    axes = plot(explored, columns="mean", band=None)
    assert bands_of(axes) == []
    assert axes.figure.get_supxlabel() == "Lines are the mean over 4 runs."


def test_a_single_run_has_no_band_and_the_note_says_so(explored):
    axes = plot(explored.where(run=0), columns="mean")
    assert bands_of(axes) == []
    assert axes.figure.get_supxlabel() == "Lines are of a single run."


def test_shares_have_an_axis_from_0_to_100_percent(sought):
    axes = plot(sought, columns="found")
    assert ticks_of(axes.yaxis) == ["0%", "20%", "40%", "60%", "80%", "100%"]
    assert lines_of(axes)["wait"].get_ydata()[-1] == 1.0


def test_columns_that_count_different_things_have_axes_of_their_own(sought):
    found, regret = plot(sought, columns=["found", "regret"])
    assert found.get_ylim() != regret.get_ylim()


def test_a_column_of_ones_own_is_drawn_on_a_linear_axis_below_zero_too():
    axes = plot(made_up(memory=[1, 2], gain=[-0.5, 1.5]), columns="gain")
    assert axes.get_yscale() == "linear"
    assert axes.get_title(loc="left") == "gain"
    assert axes.get_ylim()[0] < -0.5


def test_lines_can_be_named_by_any_columns(explored):
    rows = [row | {"window": window} for window in (10, 20) for row in explored.where(memory=4)]
    axes = plot(Table(rows), x="window", columns="mean", lines=["keep", "memory"])
    assert list(lines_of(axes)) == ["bucket x 4", "staircase x 4"]
    assert axes.get_xlabel() == "window (arms)"
    assert ticks_of(axes.xaxis) == ["10", "20"]


# Ticks


def test_numbers_between_powers_of_ten_can_be_read_off():
    axes = plot(made_up(memory=[1, 2, 3], regret=[300.0, 4000.0, 70_000.0]))
    assert ticks_of(axes.yaxis) == [
        "200",
        "500",
        "1,000",
        "2,000",
        "5,000",
        "10,000",
        "20,000",
        "50,000",
        "100,000",
    ]
    assert len(axes.yaxis.get_minorticklocs()) > 0


def test_the_memories_that_were_tried_are_the_ticks(explored):
    for axes in plot(explored):
        assert ticks_of(axes.xaxis) == ["2", "4", "8"]


def test_where_ticks_do_not_fit_some_are_left_out_and_none_overlap():
    memory = list(range(1000, 1200))
    axes = plot(made_up(memory=memory, regret=[1000.0] * 200))
    assert "1,199" in ticks_of(axes.xaxis)
    assert 5 < len(ticks_of(axes.xaxis)) < 20
    axes.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.get_xticklabels()]
    assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])


def test_numbers_that_grow_by_factors_are_spaced_by_factors():
    axes = plot(made_up(epsilon=[0.001, 0.01, 0.1, 1.0], regret=[4.0, 3.0, 2.0, 1.0]), x="epsilon")
    assert axes.get_xscale() == "log"
    assert ticks_of(axes.xaxis) == ["0.001", "0.01", "0.1", "1"]
    steps = np.diff([axes.transData.transform((tick, 1))[0] for tick in axes.get_xticks()])
    assert steps == pytest.approx([steps[0]] * 3)


def test_x_may_be_names():
    axes = plot(made_up(stream=["uniform", "beta"], regret=[30.0, 10.0]), x="stream")
    assert ticks_of(axes.xaxis) == ["uniform", "beta"]
    assert lines_of(axes)["fifo"].get_ydata().tolist() == [30.0, 10.0]


@pytest.mark.parametrize("regret", [0, 1e-9, 0.5, 1, 2**53])
def test_a_single_point_of_any_size_can_be_drawn(regret):
    axes = plot(made_up(memory=[4], regret=[regret]))
    assert ticks_of(axes.xaxis) == ["4"]
    assert texts_of(axes) == ["fifo"]


def test_names_of_lines_do_not_overlap():
    rows = [
        {"keep": f"rule {rule}", "memory": m, "run": 0, "regret": 100.0 + rule} for rule in range(8) for m in (1, 2)
    ]
    axes = plot(Table(rows))
    axes.figure.draw_without_rendering()
    boxes = sorted((text.get_window_extent() for text in axes.texts), key=lambda box: box.y0)
    assert all(below.y0 + 0.75 * below.height < above.y0 for below, above in pairwise(boxes))


# Axes and files


def test_axes_that_are_given_are_drawn_onto_and_their_figure_is_left_alone(explored):
    figure = Figure(layout="constrained")
    above, below = figure.subplots(2, 1)
    assert plot(explored, columns="mean", axes=below, title="errors") is below
    assert len(above.get_lines()) == 0
    assert figure.get_suptitle() == figure.get_supxlabel() == ""
    assert {"errors", "Lines are the mean over 4 runs, bands from the lowest run to the highest."} <= set(
        texts_of(below)
    )


def test_where_nobody_makes_room_for_names_they_are_in_a_legend(explored):
    axes = plot(explored, columns="mean", axes=Figure().subplots())
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["bucket", "staircase"]
    assert plot(explored, columns="mean").get_legend() is None


def test_a_line_that_ends_early_has_its_name_at_its_end():
    rows = [
        {"keep": "fifo", "memory": 9, "run": 0, "regret": 5.0},
        {"keep": "king", "memory": 1, "run": 0, "regret": 9.0},
    ]
    axes = plot(Table(rows))
    axes.figure.draw_without_rendering()
    beside, inside = (
        {text.get_text(): text for text in axes.texts}[name].get_window_extent() for name in ("fifo", "king")
    )
    assert inside.x1 < axes.get_window_extent().x1 < beside.x0


def test_an_array_of_axes_takes_a_column_each(explored):
    panels = Figure().subplots(1, 2)
    assert plot(explored, axes=panels) == list(panels)
    assert all(len(lines_of(axes)) == 2 for axes in panels)


def test_drawing_leaves_the_settings_of_matplotlib_alone(explored):
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    plot(explored)
    assert dict(mpl.rcParams) == before
    assert before["axes.titleweight"] != STYLE["axes.titleweight"]


def test_no_window_is_opened_and_pyplot_is_not_even_imported():
    import subprocess

    code = (
        "import sys\nfrom bestbefore.simulate import Table, plot\n"
        "plot(Table([{'keep': 'fifo', 'memory': 1, 'run': 0, 'regret': 1.0}]))\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603


@pytest.mark.parametrize(
    ("ending", "start"),
    [
        ("png", b"\x89PNG"),
        ("svg", b"<?xml"),
        ("pdf", b"%PDF"),
        ("eps", b"%!PS"),
        ("jpg", b"\xff\xd8"),
        ("tif", b"II*\0"),
        ("webp", b"RIFF"),
    ],
)
def test_any_kind_of_file_can_be_written(explored, tmp_path, ending, start):
    plot(explored.where(memory=4), title="50% & more", save=tmp_path / f"picture.{ending}")
    assert (tmp_path / f"picture.{ending}").read_bytes().startswith(start)


def test_words_stay_words_in_svg(explored, tmp_path):
    plot(explored, title="a stream", save=tmp_path / "picture.svg")
    assert {">a stream<", ">staircase<"} <= {
        f">{part.split('<')[0]}<" for part in (tmp_path / "picture.svg").read_text().split(">")
    }


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"band": "sigma"}, ValueError, "band must be one of 'range', 'error', 'interval', not 'sigma'"),
        ({"columns": []}, ValueError, r"columns must name at least one column to draw, not \[\]"),
        ({"columns": "speed"}, KeyError, "no column 'speed'; there are keep, memory, run"),
        ({"x": "window"}, KeyError, "no column 'window'; there are keep, memory, run"),
        ({"lines": "colour"}, KeyError, "no column 'colour'"),
        ({"x": "keep"}, ValueError, "x and lines must tell settings apart, but 3 rows .* differ in memory, epsilon"),
        ({"save": "picture.txt"}, ValueError, r"save must end in one of .*\.png.*, not be 'picture.txt'"),
        ({"confidence": 0}, ValueError, "confidence must be a number above 0 and below 1, not 0"),
    ],
)
def test_what_is_wrong_is_named(explored, arguments, error, words):
    with pytest.raises(error, match=words):
        plot(explored, **arguments)


def test_axes_must_be_as_many_as_columns(explored):
    with pytest.raises(ValueError, match=r"axes must be as many as columns \(mean, max\), not 1"):
        plot(explored, axes=Figure().subplots())


def test_more_lines_than_can_be_told_apart_are_refused():
    rows = [{"keep": f"rule {rule}", "memory": 1, "run": 0, "regret": 1.0} for rule in range(9)]
    with pytest.raises(ValueError, match="lines must be at most 8, not 9: more cannot be told apart"):
        plot(Table(rows))


def test_an_empty_table_and_one_without_known_columns_cannot_be_drawn():
    with pytest.raises(ValueError, match="at least one row to draw, and the table has none"):
        plot(Table([], ["keep", "memory", "run", "regret"]))
    with pytest.raises(ValueError, match="columns must say what to draw: the table has neither errors nor regret"):
        plot(made_up(memory=[1], speed=[1.0]))


def test_without_matplotlib_the_error_names_the_extra(monkeypatch, explored):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"plot needs matplotlib: pip install 'bestbefore\[plot\]'"):
        plot(explored)
