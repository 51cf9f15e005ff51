"""A tidy table: rows that share their columns, written as CSV and JSON, read by pandas."""

import csv
import json
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bestbefore.simulate import Table, explore

ROWS = [
    {"keep": "bucket", "memory": 5, "run": 0, "mean": 0.25},
    {"keep": "bucket", "memory": 5, "run": 1, "mean": 0.75},
    {"keep": "fifo, with W slots", "memory": 5, "run": 0, "mean": 0.1 + 0.2},
    {"keep": "fifo, with W slots", "memory": 9, "run": 0, "mean": 0.0},
]


@pytest.fixture
def table():
    return Table(ROWS)


def test_a_table_has_rows_and_columns(table):
    assert len(table) == 4
    assert list(table) == ROWS
    assert table.columns == ["keep", "memory", "run", "mean"]


def test_a_column_is_an_array(table):
    assert table["mean"].dtype == np.float64
    assert table["mean"].tolist() == [0.25, 0.75, 0.1 + 0.2, 0.0]


def test_its_repr_says_how_many_rows_and_which_columns(table):
    assert repr(table) == "<Table of 4 rows: keep, memory, run, mean>"


def test_where_returns_the_rows_that_have_all_of_these_values(table):
    assert table.where(keep="bucket").rows == ROWS[:2]
    assert table.where(memory=5, run=0).rows == [ROWS[0], ROWS[2]]
    assert table.where().rows == ROWS


def test_where_nothing_fits_an_empty_table_still_knows_its_columns(table):
    """So that a chain of questions does not break where the first has no answer."""
    empty = table.where(keep="topk")
    assert len(empty) == 0
    assert empty.where(memory=5).rows == []
    assert empty["mean"].tolist() == []
    assert empty.to_csv() == "keep,memory,run,mean\n"


@pytest.mark.parametrize(
    "ask",
    [
        lambda table: table["median"],
        lambda table: table.where(median=3),
        lambda table: table.summary(by=["median"], columns=["mean"]),
        lambda table: table.summary(by=["keep"], columns=["median"]),
    ],
    ids=["column", "where", "summary by", "summary of"],
)
def test_a_column_that_is_not_there_is_named_with_those_that_are(table, ask):
    with pytest.raises(KeyError, match="no column 'median'; there are keep, memory, run, mean"):
        ask(table)


def test_a_summary_has_mean_error_interval_range_and_runs_of_each_group(table):
    start, end = stats.t.interval(0.95, 1, 0.5, 0.25)
    assert table.summary(by=["keep", "memory"], columns=["mean"])[0] == {
        "keep": "bucket",
        "memory": 5,
        "mean": 0.5,
        "mean_se": 0.25,
        "mean_from": pytest.approx(start),
        "mean_to": pytest.approx(end),
        "mean_low": 0.25,
        "mean_high": 0.75,
        "runs": 2,
    }


def test_a_higher_confidence_makes_wider_intervals(table):
    widths = [
        row["mean_to"] - row["mean_from"]
        for confidence in (0.5, 0.9, 0.99)
        for row in table.where(keep="bucket").summary("keep", "mean", confidence=confidence)
    ]
    assert widths == sorted(set(widths))
    with pytest.raises(ValueError, match="confidence must be a number above 0 and below 1, not 1"):
        table.summary("keep", "mean", confidence=1)


def test_a_summary_of_one_run_has_no_error(table):
    row = table.summary(by=["keep", "memory"], columns=["mean"])[2]
    assert (row["mean"], row["mean_low"], row["mean_high"], row["runs"]) == (0.0, 0.0, 0.0, 1)
    assert np.isnan([row["mean_se"], row["mean_from"], row["mean_to"]]).all()


def test_a_summary_of_yes_and_no_is_a_share():
    table = Table([{"run": run, "found": run < 3} for run in range(4)])
    [row] = table.summary(by=(), columns="found")
    assert (row["found"], row["found_low"], row["found_high"], row["runs"]) == (0.75, 0.0, 1.0, 4)


def test_rows_of_one_run_count_as_one():
    """Memory by memory the same arms are seen: to count rows as if they were independent would hide the error."""
    table = Table(
        [{"memory": memory, "run": run, "mean": 10 * run + memory} for memory in (1, 2, 3) for run in range(2)]
    )
    [row] = table.summary(by=(), columns="mean")
    assert (row["mean"], row["mean_se"], row["runs"]) == (7.0, 5.0, 2)
    assert (row["mean_low"], row["mean_high"]) == (2.0, 12.0)


def test_without_a_column_of_runs_each_row_is_one():
    [row] = Table([{"mean": 1.0}, {"mean": 3.0}]).summary(by=(), columns="mean")
    assert (row["mean"], row["mean_se"], row["runs"]) == (2.0, 1.0, 2)


def test_a_summary_of_nothing_is_empty(table):
    assert table.where(keep="topk").summary("keep", "mean") == []


def test_a_summary_can_be_a_table_again(table):
    assert Table(table.summary("keep", "mean")).to_csv().startswith("keep,mean,mean_se,mean_from,mean_to,mean_low,")


def test_a_summary_has_a_row_for_each_combination_in_the_order_of_the_table(table):
    groups = table.summary(by=["keep", "memory"], columns=["mean"])
    assert [(group["keep"], group["memory"], group["runs"]) for group in groups] == [
        ("bucket", 5, 2),
        ("fifo, with W slots", 5, 1),
        ("fifo, with W slots", 9, 1),
    ]


def test_csv_can_be_read_back_to_the_last_digit(table, tmp_path):
    """A comma inside of a cell is quoted."""
    text = table.to_csv(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == text == table.to_csv()
    read = [
        {"keep": row["keep"], "memory": int(row["memory"]), "run": int(row["run"]), "mean": float(row["mean"])}
        for row in csv.DictReader(text.splitlines())
    ]
    assert read == ROWS


def test_json_can_be_read_back_to_the_last_digit(table, tmp_path):
    text = table.to_json(tmp_path / "table.json")
    assert (tmp_path / "table.json").read_text() == text == table.to_json()
    assert Table(json.loads(text)) == table


def test_pandas_takes_it_column_by_column(table):
    pd.testing.assert_frame_equal(table.to_pandas(), pd.DataFrame(ROWS))


def test_tables_are_equal_if_their_rows_are(table):
    assert table == Table([dict(row) for row in ROWS])
    assert table != Table(ROWS[:3])
    assert table != ROWS


def test_a_table_does_not_change_with_the_list_it_was_made_of():
    rows = list(ROWS)
    table = Table(rows)
    rows.clear()
    assert len(table) == 4


def test_what_a_simulation_returns_goes_through_csv_json_and_pandas():
    """Plain numbers, not NumPy's: JSON knows only those."""
    table = explore([0.2, 0.8, 0.5], window=2, memory=2, keep=["fifo", "bucket"], tests=5, runs=2)
    assert Table(json.loads(table.to_json())) == table
    assert len(table.to_csv().splitlines()) == 1 + 4
    assert table.to_pandas()["memory"].tolist() == [2, 2, 2, 2]


def test_without_pandas_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match=r"to_pandas needs pandas: pip install 'bestbefore\[pandas\]'"):
        Table([]).to_pandas()
