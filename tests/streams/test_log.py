"""Logs as streams: from whatever they are in, the same arms; and what is wrong is said with its line."""

import csv
import gzip
import tracemalloc
import zipfile
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from bestbefore import simulate, streams
from bestbefore.streams import Columns, log_arrow, log_cells, log_rows, log_tally, read_log

START = datetime(2026, 3, 1, tzinfo=UTC)
COLUMNS = {"arm": "ad", "reward": "click", "time": "at"}


@pytest.fixture
def rows():
    """Five ads, an hour apart, 400 rows in no order: two at first have the same time."""
    rng = np.random.default_rng(1)
    ads = rng.integers(5, size=400)
    hours = ads + rng.integers(24, size=400)
    times = [START + timedelta(hours=int(hour)) for hour in hours]
    clicks = (rng.random(400) < 0.1 * (ads + 1)).astype(int)
    return [{"ad": f"ad {ad}", "click": int(click), "at": at} for ad, click, at in zip(ads, clicks, times, strict=True)]


@pytest.fixture(params=["pyarrow", "row by row"])
def way(request, monkeypatch):
    """Read in both ways."""
    if request.param == "row by row":
        monkeypatch.setattr(log_arrow, "installed", lambda: False)
    else:  # no way but the fast one
        for name in ("from_csv_file", "from_frame"):
            monkeypatch.setattr(f"bestbefore.streams.log.{name}", None)
    return request.param


def written(path, rows, *, text=str):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(rows[0])
        writer.writerows([[text(cell) for cell in row.values()] for row in rows])
    return path


def facts(source, **settings):
    log = read_log(source, Columns("ad", "click", "at"), **settings)
    return (
        [str(name) for name in log.names],
        log.arrived.tolist(),
        log.last.tolist(),
        log.rows.tolist(),
        (log.total / log.rows).round(9).tolist(),
    )


def truth(rows):
    """What `facts` must be, by plain Python."""
    times, clicks = {}, {}
    for row in rows:
        times.setdefault(row["ad"], []).append(
            (row["at"] - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        )
        clicks.setdefault(row["ad"], []).append(row["click"])
    order = sorted(times, key=lambda ad: min(times[ad]))
    means = [round(sum(clicks[ad]) / len(clicks[ad]), 9) for ad in order]
    return (
        order,
        [min(times[ad]) for ad in order],
        [max(times[ad]) for ad in order],
        [len(times[ad]) for ad in order],
        means,
    )


def test_a_csv_file(rows, tmp_path, way):
    assert facts(written(tmp_path / "log.csv", rows)) == truth(rows)


def test_a_csv_file_that_is_compressed_or_has_tabs_or_a_byte_order_mark(rows, tmp_path, way):
    plain = written(tmp_path / "log.csv", rows).read_text("utf-8")
    with gzip.open(tmp_path / "log.csv.gz", "wt", encoding="utf-8", newline="") as file:
        file.write(plain)
    (tmp_path / "marked.csv").write_text("\ufeff" + plain, encoding="utf-8")
    (tmp_path / "log.tsv").write_text(plain.replace(",", "\t"), encoding="utf-8")
    for name in ("log.csv.gz", "marked.csv", "log.tsv"):
        assert facts(tmp_path / name) == truth(rows), name
    assert streams.from_log(tmp_path / "log.csv.gz", **COLUMNS).name == "log"


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_frame(rows, made, way):
    assert facts(made(rows)) == truth(rows)


def test_a_parquet_file(rows, tmp_path):
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "log.parquet")
    assert facts(tmp_path / "log.parquet") == truth(rows)


def test_rows_that_are_dicts_tuples_or_come_one_by_one(rows):
    assert facts(rows) == facts(iter(rows)) == truth(rows)
    log = read_log([tuple(row.values()) for row in rows], Columns(0, 1, 2))
    assert (log.names, log.rows.tolist()) == (truth(rows)[0], truth(rows)[3])


def test_pieces_make_no_difference(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(log_rows, "ROWS", 7)
    monkeypatch.setattr(log_arrow, "ROWS", 7)
    monkeypatch.setattr(log_arrow, "BLOCK", 300)
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "log.parquet")
    for source in (rows, pl.DataFrame(rows), tmp_path / "log.parquet", written(tmp_path / "log.csv", rows)):
        assert facts(source) == truth(rows)


def test_times_in_other_zones_and_units_are_the_same_times(rows, tmp_path, way):
    shifted = [row | {"at": row["at"].astimezone(timezone(timedelta(hours=5, minutes=30)))} for row in rows]
    naive = [row | {"at": row["at"].replace(tzinfo=None)} for row in rows]
    seconds = [row | {"at": row["at"].timestamp()} for row in rows]
    milliseconds = [row | {"at": int(1000 * row["at"].timestamp())} for row in rows]
    for name, these, settings in (
        ("shifted", shifted, {}),
        ("naive", naive, {"zone": "UTC"}),
        ("seconds", seconds, {}),
        ("milliseconds", milliseconds, {"unit": "ms"}),
    ):
        assert facts(written(tmp_path / f"{name}.csv", these), **settings) == truth(rows), name
        assert facts(pd.DataFrame(these), **settings) == truth(rows), name


def test_a_zone_is_that_of_the_dates(rows, tmp_path, way):
    naive = [row | {"at": row["at"].replace(tzinfo=None)} for row in rows]
    found = facts(written(tmp_path / "log.csv", naive), zone="America/New_York")  # five hours behind in early March
    assert found[1] == [time + 5 * 3600 * 10**6 for time in truth(rows)[1]]


def test_a_pull_draws_one_of_the_arms_own_rewards():
    rows = [("a", stars, 1) for stars in (1, 1, 4)] + [("b", 5, 2)]
    stream = streams.from_log(rows, 0, 1, 2, scale=(1, 5))
    block = next(stream.blocks(np.random.default_rng(0)))
    assert block.levels.tolist() == [0.0, 0.75, 1.0]
    assert block.weights.round(6).tolist() == [[0.666667, 0.333333, 0], [0, 0, 1]]
    assert block.times.tolist() == [10**6, 2 * 10**6]


def test_windows_by_time_work_on_it(rows):
    stream = streams.from_log(rows, **COLUMNS)
    table = simulate.play(stream, window="90 minutes", budgets=50, memory=2, runs=1)
    assert table["pulls"].tolist() == [250]
    assert table["peak_memory"].tolist() == [2]


def test_arms_arrive_when_the_log_says(rows, way):
    told = [row | {"since": START - timedelta(hours=int(row["ad"][-1]))} for row in rows]
    frame = pd.DataFrame(told)
    log = read_log(frame, Columns("ad", "click", "at", "since"))
    assert log.names == [f"ad {ad}" for ad in (4, 3, 2, 1, 0)]
    assert np.diff(log.arrived).tolist() == [3600 * 10**6] * 4


def test_arms_with_few_rows_are_left_out(rows):
    log = read_log([*rows, {"ad": "rare", "click": 1, "at": START}], Columns("ad", "click", "at"), least=2)
    assert (log.left_out, log.stream.length, len(log.names)) == (1, 5, 6)
    with pytest.raises(ValueError, match="least must be at most"):
        read_log(rows, Columns("ad", "click", "at"), least=1000)


class TestContinuousRewards:
    """More than 65 different rewards are counted on a grid; means stay exact."""

    ROWS = tuple((int(7 * draw) % 4, float(draw), 5) for draw in np.random.default_rng(3).random(2000))

    def means(self):
        return [np.mean([reward for arm, reward, _ in self.ROWS if arm == own]) for own in range(4)]

    def test_means_stay(self):
        log = read_log(self.ROWS, Columns(0, 1, 2))
        assert not log.exact
        assert log.levels.size == 65
        weighed = dict(zip(log.names, log.arms.means, strict=True))
        assert [weighed[arm] for arm in range(4)] == pytest.approx(self.means())
        assert log.squares.sum() == pytest.approx(sum(reward**2 for _, reward, _ in self.ROWS))

    def test_the_variance_grows_by_less_than_is_said(self):
        log = read_log(self.ROWS, Columns(0, 1, 2))
        drawn = log.counts @ log.levels**2 - log.squares
        assert (drawn >= 0).all()
        assert (drawn / log.rows <= (1 / 128) ** 2).all()

    def test_the_same_in_pieces(self, monkeypatch):
        whole = read_log(self.ROWS, Columns(0, 1, 2))
        monkeypatch.setattr(log_rows, "ROWS", 30)
        assert read_log(self.ROWS, Columns(0, 1, 2)).counts == pytest.approx(whole.counts)

    def test_many_arms_have_a_coarser_grid(self, monkeypatch):
        monkeypatch.setattr(log_tally, "CELLS", 100)
        log = read_log(self.ROWS, Columns(0, 1, 2))
        assert log.counts.size <= 100
        weighed = dict(zip(log.names, log.arms.means, strict=True))
        assert [weighed[arm] for arm in range(4)] == pytest.approx(self.means())


GOOD = "2026-03-01T10:00:00+00:00"


@pytest.mark.parametrize(
    ("line", "settings", "said"),
    [
        (["", "1", GOOD], {}, "line 4: ad is missing"),
        (["b", "", GOOD], {}, "line 4: click is missing"),
        (["b", "1", " "], {}, "line 4: at is missing"),
        (["b", "yes", GOOD], {}, "line 4: click must be a number, not 'yes'"),
        (["b", "nan", GOOD], {}, "line 4: click must be a number, not 'nan'"),
        (["b", "3", GOOD], {}, "line 4: click must lie between 0 and 1, not '3'; if rewards have another range"),
        (["b", "-1", GOOD], {"scale": (0, 5)}, "line 4: click must lie between 0 and 5"),
        (["b", "1", "yesterday"], {}, "line 4: at must be a date such as .*, or a number, not 'yesterday'"),
        (["b", "1", "2026-13-01T10:00:00+00:00"], {}, "line 4: at must be a date"),
        (["b", "1", "1969-03-01T10:00:00+00:00"], {}, "line 4: at must be from 1970 on"),
        (["b", "1", "2026-03-01T10:00:00"], {}, "line 4: at is a date without a time zone, and in line 2 .* with"),
        (["b", "1", "17"], {}, "line 4: at is a number, and in line 2 it is a date with a time zone"),
        (["b", "1"], {}, "line 4: 3 columns are needed, not 2"),
        (["b", 'a "quote', GOOD], {}, "line 4: click must be a number"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(line, settings, said, tmp_path):
    path = tmp_path / "log.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["ad", "click", "at"], ["a", "0", GOOD], ["a", "1", GOOD], line, ["a", "1", GOOD]])
    with pytest.raises(ValueError, match=said) as wrong:
        streams.from_log(path, **COLUMNS, **settings)
    assert str(path) in str(wrong.value)


def test_a_line_is_counted_in_the_file_even_where_cells_have_several(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(f'ad,click,at\n"two\nlines",0,{GOOD}\n\nb,2,{GOOD}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="line 5: click must lie"):
        streams.from_log(path, **COLUMNS)


def test_naive_dates_need_a_zone(tmp_path):
    path = written(tmp_path / "log.csv", [{"ad": "a", "click": 1, "at": "2026-03-01 10:00"}])
    with pytest.raises(ValueError, match=r'line 2: at has no time zone: .* say which is meant, as in zone="UTC"'):
        streams.from_log(path, **COLUMNS)
    with pytest.raises(ValueError, match="zone must be the name of a time zone"):
        streams.from_log(path, **COLUMNS, zone="Middle Earth")


def test_numbers_in_another_unit_are_noticed():
    with pytest.raises(ValueError, match=r"row 1: at must be a time from 1970 to 2255 in s, .* say unit='ms'"):
        streams.from_log([{"ad": "a", "click": 1, "at": 1_772_000_000_000}], **COLUMNS)


def test_an_arm_arrives_once_and_before_its_rows(tmp_path):
    rows = [{"ad": "a", "click": 1, "at": 10, "since": 5}, {"ad": "a", "click": 1, "at": 11, "since": 6}]
    with pytest.raises(ValueError, match="line 3: since must be the same in all rows of an arm, and is not"):
        streams.from_log(written(tmp_path / "log.csv", rows), **COLUMNS, arrived="since")
    with pytest.raises(ValueError, match="row 1: at must not be before since, and is"):
        streams.from_log([rows[0] | {"at": 1}], **COLUMNS, arrived="since")


def test_mixed_kinds_of_times_in_different_pieces_are_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(log_arrow, "BLOCK", 200)
    lines = [["ad", "click", "at"], *[["a", "0", GOOD]] * 30, *[["a", "0", "17"]] * 30]
    with (tmp_path / "log.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)
    with pytest.raises(ValueError, match="line 32: at is a number, and in line 2"):
        streams.from_log(tmp_path / "log.csv", **COLUMNS)


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_missing_values_of_frames(made, way, monkeypatch):
    monkeypatch.undo()
    good = {"ad": "a", "click": 1.0, "at": START}
    for column in good:
        frame = made([good, good | {column: None}])
        with pytest.raises(ValueError, match=f"row 2: {column} is missing"):
            streams.from_log(frame, **COLUMNS)


def test_columns_that_are_not_there(tmp_path):
    path = written(tmp_path / "log.csv", [{"ad": "a", "click": 1, "at": 5}])
    with pytest.raises(
        ValueError, match="line 1: a column must be called 'clicks', and there is none; columns are ad,"
    ):
        streams.from_log(path, arm="ad", reward="clicks", time="at")
    with pytest.raises(ValueError, match="a column must be called 'clicks'; columns are ad"):
        streams.from_log(pd.DataFrame([{"ad": "a"}]), arm="ad", reward="clicks", time="at")
    with pytest.raises(ValueError, match="row 1: there is no 'clicks' in"):
        streams.from_log([{"ad": "a"}], arm="ad", reward="clicks", time="at")
    with pytest.raises(ValueError, match="reward must be the name of a column"):
        streams.from_log(path, arm="ad", reward=None, time="at")


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_cells_with_something_else_between_them(mark, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(mark.join(COLUMNS.values()) + "\n")
    with pytest.raises(ValueError, match=r"there is none; .*; cells must have commas between them .*, not") as wrong:
        streams.from_log(path, **COLUMNS)
    assert str(wrong.value).endswith(repr(mark))


def test_a_column_is_read_as_one_thing_only(rows):
    with pytest.raises(ValueError, match="arm and reward must be different columns, not all 'click'"):
        streams.from_log(rows, arm="click", reward="click", time="at")
    with pytest.raises(ValueError, match="time and arrived must be different columns, not all 'at'"):
        streams.from_log(rows, **COLUMNS, arrived="at")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['"a,0,1', "b,0,2"], "line 3: a quote opens a cell here, and none closes it"),
        (["a,0,1", 'c,"0,1', 'b,"0",2'], "line 4: a quote opens a cell here, and none closes it"),
        (["é,0,1", "ü,0,1"], "line 3: text must be in UTF-8, and the byte 0xe9 is not"),
    ],
)
def test_text_that_is_not_as_csv_has_it(lines, said, tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes("\n".join(["ad,click,at", "a,1,5", *lines, ""]).encode("latin-1"))
    with pytest.raises(ValueError, match=said):
        streams.from_log(path, **COLUMNS)
    with gzip.open(tmp_path / "log.csv.gz", "wb") as file:
        file.write(path.read_bytes())
    with pytest.raises(ValueError, match=said):
        streams.from_log(tmp_path / "log.csv.gz", **COLUMNS)


def test_files_that_are_something_else(rows, tmp_path):
    plain = written(tmp_path / "log.csv", rows)
    with zipfile.ZipFile(tmp_path / "zip.csv", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(plain, "log.csv")
    (tmp_path / "wide.csv").write_bytes(plain.read_text("utf-8").encode("utf-16"))
    (tmp_path / "zipped.csv").write_bytes(gzip.compress(plain.read_bytes()))
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(plain.read_bytes())[:300])
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "parquet.csv")
    for name, said in (
        ("zip.csv", "it is a ZIP archive or a spreadsheet; save what is in it as CSV"),
        ("wide.csv", "it is in UTF-16; save it in UTF-8"),
        ("zipped.csv", r"it is compressed; its name must end in \.csv\.gz"),
        ("cut.csv.gz", "Compressed file ended before"),
        ("parquet.csv", r"it is a Parquet file; its name must end in \.parquet"),
    ):
        with pytest.raises(ValueError, match=f"{name} is not a CSV file in UTF-8: {said}"):
            streams.from_log(tmp_path / name, **COLUMNS)


def test_nothing_to_read(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("ad,click,at\n")
    with pytest.raises(ValueError, match="log has no rows"):
        streams.from_log(path, **COLUMNS)
    path.write_text("")
    with pytest.raises(ValueError, match="line 1: the names of columns are needed, and the file is empty"):
        streams.from_log(path, **COLUMNS)
    (tmp_path / "log.csv.gz").write_text("ad,click,at\n")
    with pytest.raises(ValueError, match="is not a CSV file in UTF-8: Not a gzipped file"):
        streams.from_log(tmp_path / "log.csv.gz", **COLUMNS)
    with pytest.raises(IsADirectoryError):
        streams.from_log(tmp_path, **COLUMNS)
    with pytest.raises(ValueError, match="source must be a file, a DataFrame"):
        streams.from_log(17, **COLUMNS)
    with pytest.raises(FileNotFoundError):
        streams.from_log(tmp_path / "none.csv", **COLUMNS)
    (tmp_path / "log.parquet").write_text("ad,click,at\n")
    with pytest.raises(ValueError, match="is not a Parquet file"):
        streams.from_log(tmp_path / "log.parquet", **COLUMNS)


def test_a_log_can_be_read_again_if_it_is_still_there(rows):
    log, seen = read_log(rows, Columns("ad", "click", "at")), []
    log.again(lambda batch: seen.append(batch.codes))
    assert np.bincount(np.concatenate(seen)).tolist() == log.rows.tolist()
    used_up = read_log(iter(rows), Columns("ad", "click", "at"))
    with pytest.raises(ValueError, match="not an iterator: it is used up"):
        used_up.again(seen.append)


@pytest.mark.parametrize("kind", ["csv", "frame", "list", "parquet"])
def test_the_progress_bar_goes_all_the_way(kind, rows, tmp_path, monkeypatch):
    monkeypatch.setattr(log_rows, "ROWS", 70)
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "log.parquet")
    sources = {"csv": written(tmp_path / "log.csv", rows), "frame": pd.DataFrame(rows), "list": rows}
    steps = []

    @contextmanager
    def bar(label, total, show):
        assert (label, total, show) == ("reading", 100, True)
        yield lambda: steps.append(1)

    monkeypatch.setattr("bestbefore.streams.log.progress_bar", bar)
    streams.from_log(sources.get(kind, tmp_path / "log.parquet"), **COLUMNS, progress=True)
    assert len(steps) == 100


@pytest.mark.parametrize("kind", ["rows that come one by one", "csv"])
def test_memory_does_not_grow_with_rows(kind, tmp_path, monkeypatch):
    """Of ten times as many rows, no more are in memory at once."""
    monkeypatch.setattr(log_rows, "ROWS", 500)
    monkeypatch.setattr(log_arrow, "installed", lambda: False)

    def most(size):
        rows = ((f"ad {row % 7}", row % 2, 1_772_000_000 + row) for row in range(size))
        source, columns = rows, Columns(0, 1, 2)
        if kind == "csv":
            source, columns = tmp_path / f"{size}.csv", Columns("ad", "click", "at")
            source.write_text("ad,click,at\n" + "".join(f"{ad},{click},{at}\n" for ad, click, at in rows))
        tracemalloc.start()
        assert read_log(source, columns).rows.sum() == size
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    most(1000)  # what is imported and kept for good
    assert most(30_000) < 1.5 * most(3000)


def test_memory_does_not_grow_with_rows_that_pyarrow_reads(tmp_path, monkeypatch):
    """It hands on pieces, whose size does not depend on how many there are."""
    monkeypatch.setattr(log_arrow, "BLOCK", 2**15)
    monkeypatch.setattr(log_rows, "ROWS", 500)

    def most(size):
        path = tmp_path / f"{size}.csv"
        path.write_text("ad,click,at\n" + "".join(f"ad {row % 7},{row % 2},{row}\n" for row in range(size)))
        batches = []
        reading = log_cells.reading_of(Columns("ad", "click", "at"), (0, 1), "s", None)
        for batch in log_arrow.from_csv_file(path, ["ad", "click", "at"], reading, lambda part: None):
            batches.append(batch.codes.size)
        assert sum(batches) == size
        return max(batches)

    assert most(100_000) <= 1.5 * most(10_000)
