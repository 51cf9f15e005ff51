"""MovieLens in its three formats, made up small: orders, scales, damage, where the data is found, and downloads."""

import functools
import hashlib
import http.server
import os
import re
import sys
import threading
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore import DataMissing, simulate
from bestbefore.streams import movielens, movielens_files, movielens_place

DATASETS = ["1m", "100k", "latest-small"]

MOVIES = {  # number: title, year of release or None; the one without a rating is no arm
    7: ("Ran", 1985),
    1: ("Toy Story", 1995),
    30: ('Heat, "the" movie', 1995),
    4: ("Nobody's film", 1990),
    12: ("Caf\u00e9 9", None),
    100: ("Alien", 1979),
}


def at(year, second=0):
    return int(datetime(year, 7, 1, tzinfo=UTC).timestamp()) + second


RATINGS = [  # user, movie, stars, time
    (1, 1, 5, at(1998, 5)),
    (1, 7, 1, at(1998, 6)),
    (2, 30, 4, at(1998, 1)),
    (2, 1, 3, at(1998, 9)),
    (3, 12, 2, at(1997)),
    (3, 12, 5, at(1999)),
    (3, 7, 3, at(1998, 1)),
    (4, 100, 4, at(1999)),
    (4, 30, 4, at(2000)),
]
FIRST_RATING = [12, 7, 30, 1, 100]  # 7 and 30 at the same second
RELEASE_YEAR = [100, 7, 30, 1, 12]  # 12 has no year, and was first rated in 1997; 30 was rated before 1


def write(folder, dataset, ratings=RATINGS, movies=MOVIES):
    """Write a small dataset in the format of a big one."""
    folder.mkdir(parents=True, exist_ok=True)
    titles = {movie: title + (f" ({year})" if year else "") for movie, (title, year) in movies.items()}
    if dataset == "1m":
        lines = [f"{movie}::{title}::Drama|War\n" for movie, title in titles.items()]
        (folder / "movies.dat").write_text("".join(lines), "latin-1")
        (folder / "ratings.dat").write_text("".join("::".join(map(str, rating)) + "\n" for rating in ratings))
    elif dataset == "100k":
        dates = {movie: f"01-Jan-{year}" if year else "" for movie, (_, year) in movies.items()}
        genres = "|".join("0" * 19)
        lines = [f"{movie}|{title}|{dates[movie]}||http://x/|{genres}\n" for movie, title in titles.items()]
        (folder / "u.item").write_text("".join(lines), "latin-1")
        (folder / "u.data").write_text("".join("\t".join(map(str, rating)) + "\n" for rating in ratings))
    else:
        quoted = {movie: '"' + title.replace('"', '""') + '"' for movie, title in titles.items()}
        lines = [f"{movie},{title},Drama|War\r\n" for movie, title in quoted.items()]
        (folder / "movies.csv").write_bytes(("movieId,title,genres\r\n" + "".join(lines)).encode())
        rows = [f"{user},{movie},{stars:.1f},{time}\r\n" for user, movie, stars, time in ratings]
        (folder / "ratings.csv").write_bytes(("userId,movieId,rating,timestamp\r\n" + "".join(rows)).encode())
    return folder


def ratings_file(dataset):
    return movielens_files.RELEASES[dataset].ratings


def movies_file(dataset):
    return movielens_files.RELEASES[dataset].movies


def pack(folder, archive):
    """Zip a folder as GroupLens does: the files are in a folder within."""
    with zipfile.ZipFile(archive, "w") as packed:
        for file in folder.iterdir():
            packed.write(file, f"{folder.name}/{file.name}")
    return archive


def arms(stream, seed=0):
    (block,) = stream.blocks(np.random.default_rng(seed))
    return block


def mean_stars(movie, ratings=RATINGS):
    stars = [rating[2] for rating in ratings if rating[1] == movie]
    return sum(stars) / len(stars)


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """No data is named, nothing is in the cache, and the server does not answer."""
    monkeypatch.delenv("BESTBEFORE_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(movielens_place, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(movielens_place, "SERVER", "http://127.0.0.1:1")


# Arms


@pytest.mark.parametrize("dataset", DATASETS)
def test_a_movie_is_an_arm_and_a_pull_one_of_its_ratings(tmp_path, dataset):
    block = arms(movielens(dataset, path=write(tmp_path, dataset), order="first-rating"))
    low = 0.5 if dataset == "latest-small" else 1
    assert block.means == pytest.approx([(mean_stars(movie) - low) / (5 - low) for movie in FIRST_RATING])
    for movie, weights in zip(FIRST_RATING, block.weights, strict=True):
        stars = [rating[2] for rating in RATINGS if rating[1] == movie]
        expected = {star: stars.count(star) / len(stars) for star in stars}
        got = {low + level * (5 - low): share for level, share in zip(block.levels, weights, strict=True) if share}
        assert got == pytest.approx(expected)


@pytest.mark.parametrize(
    ("dataset", "scale", "levels"),
    [
        ("1m", "stretched", [0, 0.25, 0.5, 0.75, 1]),
        ("100k", "stretched", [0, 0.25, 0.5, 0.75, 1]),
        ("latest-small", "stretched", [stars / 9 for stars in range(10)]),
        ("1m", "fifths", [0.2, 0.4, 0.6, 0.8, 1]),
        ("100k", "fifths", [0.2, 0.4, 0.6, 0.8, 1]),
        ("latest-small", "fifths", [stars / 10 for stars in range(1, 11)]),
    ],
)
def test_scales(tmp_path, dataset, scale, levels):
    block = arms(movielens(dataset, path=write(tmp_path, dataset), scale=scale, order="release-year"))
    assert block.levels == pytest.approx(levels)
    if scale == "fifths":
        assert block.means == pytest.approx([mean_stars(movie) / 5 for movie in RELEASE_YEAR])


def test_half_stars_of_latest_small_count(tmp_path):
    ratings = [(1, 1, 0.5, at(1998)), (2, 1, 3.5, at(1998))]
    block = arms(movielens("latest-small", path=write(tmp_path, "latest-small", ratings)))
    assert block.means == pytest.approx([(0 + 3 / 4.5) / 2])


# Orders


@pytest.mark.parametrize("dataset", DATASETS)
def test_by_first_rating_movies_arrive_when_they_were_first_rated(dataset, tmp_path):
    stream = movielens(dataset, path=write(tmp_path, dataset), order="first-rating")
    first = {movie: min(time for _, rated, _, time in RATINGS if rated == movie) for movie in FIRST_RATING}
    assert arms(stream).times.tolist() == [first[movie] * 10**6 for movie in FIRST_RATING]
    few = movielens(dataset, path=write(tmp_path, dataset), order="first-rating", arms=3)
    assert set(arms(few).times.tolist()) < set(arms(stream).times.tolist())
    table = simulate.explore(stream, "1 day", memory=5, keep="fifo", tests=50, runs=1, progress=False)
    assert table["peak_memory"].tolist() == [3], "7, 30 and 1 came within seconds"


@pytest.mark.parametrize("order", ["permuted", "release-year"])
def test_other_orders_have_no_times(order, tmp_path):
    stream = movielens(path=write(tmp_path, "1m"), order=order)
    assert not stream.timed
    assert arms(stream).times.size == 0


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize(("order", "movies"), [("first-rating", FIRST_RATING), ("release-year", RELEASE_YEAR)])
def test_real_orders_are_the_same_in_each_run(tmp_path, dataset, order, movies):
    stream = movielens(dataset, path=write(tmp_path, dataset), order=order, scale="fifths")
    assert (stream.name, stream.length) == (f"movielens-{dataset}-{order}", 5)
    for seed in range(3):
        assert arms(stream, seed).means == pytest.approx([mean_stars(movie) / 5 for movie in movies])


def test_the_permuted_order_is_another_in_each_run_and_the_same_for_the_same_seed(tmp_path):
    stream = movielens(path=write(tmp_path, "1m"), scale="fifths")
    assert (stream.name, stream.length) == ("movielens-1m", 5)
    orders = [tuple(arms(stream, seed).means) for seed in range(20)]
    assert orders == [tuple(arms(stream, seed).means) for seed in range(20)]
    assert len(set(orders)) > 10
    assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(orders[0]))}


@pytest.mark.parametrize("order", ["permuted", "first-rating"])
def test_arms_takes_some_movies_at_random_others_in_each_run(tmp_path, order):
    """Each of 6 movies, all of different means, is in half of the samples of 3, give or take 4 sigma of 1000 runs."""
    movies = dict.fromkeys(range(1, 7), ("m", 1990))
    ratings = [(user, movie, 5 if user < movie else 1, at(1998, movie)) for movie in movies for user in range(1, 7)]
    stream = movielens(path=write(tmp_path, "1m", ratings, movies), arms=3, order=order)
    assert stream.length == 3
    samples = np.array([arms(stream, seed).means for seed in range(1000)])
    means, counts = np.unique(samples.round(9), return_counts=True)
    assert means == pytest.approx([movie / 6 for movie in range(6)])
    assert np.abs(counts - 500).max() < 4 * np.sqrt(1000 / 4)
    rising = (np.diff(samples, axis=1) > 0).all(axis=1)
    assert rising.all() if order == "first-rating" else 0.1 < rising.mean() < 0.24  # of 6 orders one


@pytest.mark.parametrize("order", ["permuted", "first-rating"])
def test_first_takes_the_movies_of_the_lowest_numbers(tmp_path, order):
    """Here later numbers were rated first, so that in real order the movies of the lowest numbers come last."""
    movies = dict.fromkeys(range(1, 7), ("m", 1990))
    ratings = [(user, movie, 5 if user < movie else 1, at(1998, 7 - movie)) for movie in movies for user in range(1, 7)]
    stream = movielens(path=write(tmp_path, "1m", ratings, movies), arms=3, first=True, order=order)
    samples = np.array([arms(stream, seed).means for seed in range(60)])
    assert np.sort(samples) == pytest.approx(np.tile([0, 1 / 6, 2 / 6], (60, 1)))
    orders = {tuple(sample.argsort().tolist()) for sample in samples}
    assert orders == {(2, 1, 0)} if order == "first-rating" else len(orders) == 6


def test_a_series_and_a_title_with_a_number_have_the_years_they_should(tmp_path):
    """The year is the last thing in brackets, be it two years or followed by blanks."""
    movies = {1: ("2001: A Space Odyssey (1968)", None), 2: ("Series (1967-1970)", None), 3: ("M (1931) ", None)}
    ratings = [(1, movie, movie, at(1998)) for movie in movies]
    block = arms(movielens(path=write(tmp_path, "1m", ratings, movies), order="release-year", scale="fifths"))
    assert block.means.tolist() == [0.6, 0.4, 0.2]


def test_a_time_of_0_is_none(tmp_path):
    """By release year the movie comes last of its year, or last of all; by first rating there is no way."""
    ratings = [rating if rating[1] not in (30, 12) else (*rating[:3], 0) for rating in RATINGS]
    folder = write(tmp_path, "1m", ratings)
    block = arms(movielens(path=folder, order="release-year", scale="fifths"))
    assert block.means == pytest.approx([mean_stars(movie) / 5 for movie in (100, 7, 1, 30, 12)])
    with pytest.raises(DataMissing, match=r"'first-rating' needs the times of all ratings, but 4 of those in"):
        movielens(path=folder, order="first-rating")


@pytest.mark.parametrize("order", ["permuted", "release-year"])
def test_a_simulation_runs_on_it(tmp_path, order):
    table = simulate.explore(
        movielens(path=write(tmp_path, "1m"), order=order), window=2, memory=2, keep="fifo", tests=2000, runs=2, jobs=1
    )
    assert len(table) == 2
    assert max(row["mean"] for row in table.summary(by=["keep"], columns=["mean"])) < 0.1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"dataset": "10m"}, "dataset must be one of '1m', '100k', 'latest-small', not '10m'"),
        ({"order": "random"}, "order must be one of 'permuted', 'first-rating', 'release-year', not 'random'"),
        ({"scale": "r/5"}, "scale must be one of 'stretched', 'fifths', not 'r/5'"),
        ({"arms": 0}, "arms must be a whole number of at least 1, not 0"),
        ({"arms": 6}, "arms must be at most 5, the rated movies of MovieLens 1M, not 6"),
    ],
)
def test_bad_arguments_are_named(tmp_path, arguments, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        movielens(**{"path": write(tmp_path, "1m"), **arguments})


# Damage: each is told with the file and the line


FIELDS = {"1m": "::", "100k": "\t", "latest-small": ","}


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize(
    ("fields", "what"),
    [
        (["1", "1", "7", "899251205"], r"the rating must be one of .*5, not '7'"),
        (["1", "1", "0", "899251205"], r"the rating must be one of .*5, not '0'"),
        (["1", "1", "nan", "899251205"], r"the rating must be one of .*5, not 'nan'"),
        (["1", "1", "4.25", "899251205"], r"the rating must be one of .*5, not '4.25'"),
        (["1", "1", "", "899251205"], r"the rating must be one of .*5, not ''"),
        (["1", "555", "5", "899251205"], r"movie '555' is not in (movies|u)\."),
        (["1", "Ran", "5", "899251205"], r"movie 'Ran' is not in (movies|u)\."),
        (["1", "1.5", "5", "899251205"], r"movie '1.5' is not in (movies|u)\."),
        (["me", "1", "5", "899251205"], r"the user must be a whole number, not 'me'"),
        (["1", "1", "5", "8992"], r"the time must be seconds since 1970, from 1995 on, not '8992'"),
        (["1", "1", "5", "1e300"], r"the time must be seconds since 1970, from 1995 on, not '1e300'"),
        (["1", "1", "5", "-1"], r"the time must be seconds since 1970, from 1995 on, not '-1'"),
        (["1", "1", "5", "now" * 1000], r"the time must be seconds since 1970, from 1995 on, not 'nowno.{,50}$"),
        (["1", "1", "5"], r"4 fields with .* between them are needed, not 3"),
        (["1", "1", "5", "899251205", "x"], r"4 fields with .* between them are needed, not 5"),
        (["1;1;5;899251205"], r"4 fields with .* between them are needed, not 1"),
        (["\x00\xff\x01"], r"(4 fields with .* between them are needed, not 1|the text is not utf-8)"),
    ],
)
@pytest.mark.parametrize("line", [1, 4, len(RATINGS)])
def test_a_bad_rating_is_named_with_its_line(tmp_path, dataset, fields, what, line):
    file = write(tmp_path, dataset) / ratings_file(dataset)
    lines = file.read_bytes().splitlines(keepends=True)
    header = dataset == "latest-small"
    lines[line - 1 + header] = FIELDS[dataset].join(fields).encode("latin-1") + b"\n"
    file.write_bytes(b"".join(lines))
    with pytest.raises(ValueError, match=rf"{re.escape(str(file))}, line {line + header}: {what}"):
        movielens(dataset, path=tmp_path)


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("cut", [3, 7, 9, 12])
def test_a_file_that_was_cut_off_is_named_with_its_last_line(tmp_path, dataset, cut):
    """Cut within the time, before it, within the rating, or between movie and rating."""
    file = write(tmp_path, dataset) / ratings_file(dataset)
    file.write_bytes(file.read_bytes().rstrip()[:-cut])
    last = len(RATINGS) + (dataset == "latest-small")
    with pytest.raises(ValueError, match=rf"{re.escape(str(file))}, line {last}: "):
        movielens(dataset, path=tmp_path)


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("which", [ratings_file, movies_file])
@pytest.mark.parametrize("content", [b"", b"\n\n \n"])
def test_an_empty_file_is_named(tmp_path, dataset, which, content):
    file = write(tmp_path, dataset) / which(dataset)
    file.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{re.escape(str(file))}( has no|, line 1: |, line 3: )"):
        movielens(dataset, path=tmp_path)


def test_a_header_only_has_no_ratings(tmp_path):
    file = write(tmp_path, "latest-small") / "ratings.csv"
    file.write_text("userId,movieId,rating,timestamp\n")
    with pytest.raises(ValueError, match=r"ratings\.csv has no ratings"):
        movielens("latest-small", path=tmp_path)


@pytest.mark.parametrize("name", ["ratings.csv", "movies.csv"])
def test_other_columns_are_refused(tmp_path, name):
    file = write(tmp_path, "latest-small") / name
    file.write_bytes(file.read_bytes().replace(b"movieId", b"movie", 1))
    with pytest.raises(ValueError, match=rf"{re.escape(name)}, line 1: the columns must be .*, not "):
        movielens("latest-small", path=tmp_path)


@pytest.mark.parametrize("dataset", DATASETS)
def test_binary_junk_is_refused(tmp_path, dataset):
    file = write(tmp_path, dataset) / ratings_file(dataset)
    file.write_bytes(bytes(np.random.default_rng(0).integers(0, 256, 5000, np.uint8)))
    with pytest.raises(ValueError, match=rf"{re.escape(str(file))}, line 1: "):
        movielens(dataset, path=tmp_path)


@pytest.mark.parametrize(
    ("dataset", "line", "what"),
    [
        ("1m", "30::Heat (1995)", "3 fields are needed, not 2"),
        ("1m", "x::Heat (1995)::Drama", "the movie's number must be a whole number of at least 1, not 'x'"),
        ("1m", "1e300::Heat (1995)::Drama", "the movie's number must be a whole number of at least 1, not '1e300'"),
        ("1m", "1::Heat (1995)::Drama", "movie 1 is listed twice"),
        ("100k", "30|Heat (1995)|01-Jan-1995", "24 fields are needed, not 3"),
        ("latest-small", "30,Heat, the movie (1995),Drama", "3 fields are needed, not 4"),
        ("latest-small", "0,Heat (1995),Drama", "the movie's number must be a whole number of at least 1, not '0'"),
        ("latest-small", b"30,Caf\xe9 (1995),Drama", "the text is not utf-8: "),
    ],
)
def test_a_bad_movie_is_named_with_its_line(tmp_path, dataset, line, what):
    file = write(tmp_path, dataset) / movies_file(dataset)
    lines = file.read_bytes().splitlines(keepends=True)
    bad = 3 + (dataset == "latest-small")
    lines[bad - 1] = (line if isinstance(line, bytes) else line.encode()) + b"\n"
    file.write_bytes(b"".join(lines))
    with pytest.raises(ValueError, match=rf"{re.escape(str(file))}, line {bad}: {re.escape(what)}"):
        movielens(dataset, path=tmp_path)


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r\n\r\n"])
def test_lines_may_end_in_any_way(tmp_path, dataset, ending):
    expected = arms(movielens(dataset, path=write(tmp_path / "a", dataset)))
    for which in (ratings_file, movies_file):
        file = write(tmp_path / "b", dataset) / which(dataset)
        file.write_bytes(ending.join(file.read_bytes().splitlines()))
    assert arms(movielens(dataset, path=tmp_path / "b")).means.tolist() == expected.means.tolist()


def test_a_csv_file_that_a_spreadsheet_wrote_again_is_read(tmp_path):
    expected = arms(movielens("latest-small", path=write(tmp_path / "a", "latest-small")))
    file = write(tmp_path / "b", "latest-small") / "ratings.csv"
    quoted = re.sub(rb"[^,\r\n]+", rb'"\g<0>"', file.read_bytes())
    file.write_bytes(b"\xef\xbb\xbf" + quoted)
    assert arms(movielens("latest-small", path=tmp_path / "b")).means.tolist() == expected.means.tolist()


LINES = b"1::1::5::899251205\n2::30::4::899251201\n3::7::3::0\n"


@given(
    st.integers(0, len(LINES) - 1), st.integers(0, 3), st.binary(max_size=3) | st.sampled_from([b"::", b"\n", b"e1"])
)
def test_what_is_read_fast_is_what_is_read_carefully(place, cut, put):
    """Whatever happens to a file, the fast way gives up, or agrees with the careful one."""
    text = movielens_files._Text("ratings.dat", LINES[:place] + put + LINES[place + cut :])
    known = {1, 7, 30}
    fast = movielens_files._fast(movielens_files.RELEASES["1m"], text, np.array(sorted(known)))
    if fast is not None:
        assert fast.tolist() == movielens_files._careful(movielens_files.RELEASES["1m"], text, known).tolist()


# Where the data is


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("form", ["folder", "folder above", "zip", "folder of zip", "text"])
@pytest.mark.parametrize("named", ["path", "variable"])
def test_the_forms_of_a_path(tmp_path, monkeypatch, dataset, form, named):
    name = movielens_files.RELEASES[dataset].folder
    folder = write(tmp_path / "made" / name, dataset)
    (tmp_path / "packed").mkdir()
    archive = pack(folder, tmp_path / "packed" / f"{name}.zip")
    path = {"folder": folder, "folder above": folder.parent, "zip": archive, "folder of zip": archive.parent}.get(form)
    path = str(folder) if form == "text" else path
    if named == "variable":
        monkeypatch.setenv("BESTBEFORE_DATA", str(path))
    stream = movielens(dataset, path=path if named == "path" else None, order="first-rating", scale="fifths")
    assert arms(stream).means == pytest.approx([mean_stars(movie) / 5 for movie in FIRST_RATING])


def test_a_path_goes_before_the_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("BESTBEFORE_DATA", str(tmp_path / "nothing"))
    assert movielens(path=write(tmp_path / "here", "1m")).length == 5


def test_a_line_in_a_zip_file_is_named_with_both_files(tmp_path):
    folder = write(tmp_path / "ml-1m", "1m", [(1, 1, 7, at(1998))])
    archive = pack(folder, tmp_path / "ml-1m.zip")
    with pytest.raises(ValueError, match=r"ml-1m\.zip, ratings\.dat, line 1: the rating must be one of 1, 2, 3, 4, 5"):
        movielens(path=archive)


def test_a_damaged_zip_file_is_named(tmp_path):
    archive = pack(write(tmp_path / "ml-1m", "1m"), tmp_path / "packed.zip")
    content = archive.read_bytes()
    archive.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"packed\.zip' is no zip file, or damaged"):
        movielens(path=archive)
    archive.write_bytes(content.replace(b"Toy Story", b"Tom Story"))
    with pytest.raises(ValueError, match=r"packed\.zip is damaged: Bad CRC-32"):
        movielens(path=archive)


def test_a_zip_file_of_another_dataset_is_refused(tmp_path):
    archive = pack(write(tmp_path / "ml-100k", "100k"), tmp_path / "ml-1m.zip")
    with pytest.raises(DataMissing, match=r"MovieLens 1M is not at '.*ml-1m\.zip', that is MovieLens 100K: get http"):
        movielens(path=archive)
    (tmp_path / "ml-100k" / "u.data").unlink()
    archive = pack(tmp_path / "ml-100k", tmp_path / "ml-1m.zip")
    with pytest.raises(ValueError, match=r"ml-1m\.zip has no movies\.dat: it is another dataset, or damaged"):
        movielens(path=archive)


@pytest.mark.parametrize(
    ("there", "words"),
    [
        ("latest-small", "MovieLens 1M is not at '{}', that is MovieLens latest-small: get http"),
        ("folder", "MovieLens 1M is not at '{}', it is not in that folder: get http"),
        ("nothing", "MovieLens 1M is not at '{}', nothing is there: get http"),
        ("ratings only", "MovieLens 1M in '{}' is not whole: movies.dat is missing"),
    ],
)
def test_a_place_without_the_data_is_an_error_of_its_own_type_in_one_line(tmp_path, there, words):
    place = tmp_path / "place"
    if there == "latest-small":
        write(place, "latest-small")
    elif there == "folder":
        place.mkdir()
    elif there == "ratings only":
        (write(place, "1m") / "movies.dat").unlink()
    with pytest.raises(DataMissing, match=re.escape(words.format(place))) as caught:
        movielens(path=place)
    assert isinstance(caught.value, FileNotFoundError)
    assert "\n" not in str(caught.value)


def test_where_the_variable_names_a_place_nothing_is_downloaded(tmp_path, monkeypatch, server):
    monkeypatch.setenv("BESTBEFORE_DATA", str(tmp_path / "nothing"))
    with pytest.raises(DataMissing, match=r"MovieLens 1M is not at 'BESTBEFORE_DATA=.*nothing', nothing is there"):
        movielens()
    assert server.asked == []


def test_files_are_read_once_and_again_when_they_have_changed(tmp_path, monkeypatch):
    reads = []
    text = movielens_files._text
    monkeypatch.setattr(movielens_files, "_text", lambda *given: reads.append(given[1]) or text(*given))
    folder = write(tmp_path, "1m")
    before = arms(movielens(path=folder))
    assert arms(movielens(path=folder, scale="fifths")).means.size == before.means.size
    assert sorted(reads) == ["movies.dat", "ratings.dat"]
    write(tmp_path, "1m", RATINGS[:3])
    os.utime(folder / "ratings.dat", ns=(1, 1))
    assert movielens(path=folder).length == 3
    assert len(reads) == 4


def test_a_stream_cannot_spoil_what_others_read(tmp_path):
    folder = write(tmp_path, "1m")
    block = arms(movielens(path=folder, order="first-rating"))
    before = block.weights.copy()
    block.weights[:] = 0
    block.means[:] = 0
    assert arms(movielens(path=folder, order="first-rating")).weights.tolist() == before.tolist()


# Downloads, from a real server of our own


class Server:
    """A server on this machine that has one zip file, and notes what it was asked for."""

    def __init__(self, folder):
        self.asked = asked = []

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                asked.append(self.path)

        handler = functools.partial(Handler, directory=folder)
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}"


@pytest.fixture
def server(tmp_path, monkeypatch):
    (tmp_path / "served").mkdir()
    archive = pack(write(tmp_path / "made" / "ml-1m", "1m"), tmp_path / "served" / "ml-1m.zip")
    known = hashlib.sha256(archive.read_bytes()).hexdigest()
    monkeypatch.setitem(movielens_files.RELEASES, "1m", replace(movielens_files.RELEASES["1m"], sha256=known))
    serving = Server(tmp_path / "served")
    monkeypatch.setattr(movielens_place, "SERVER", serving.address)
    thread = threading.Thread(target=serving.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield serving
    serving.http.shutdown()
    thread.join()
    serving.http.server_close()


def test_the_data_is_downloaded_once(server, tmp_path):
    for _ in range(2):
        block = arms(movielens(order="first-rating", scale="fifths"))
        assert block.means == pytest.approx([mean_stars(movie) / 5 for movie in FIRST_RATING])
    assert server.asked == ["/ml-1m.zip"]
    assert [file.name for file in (tmp_path / "cache").iterdir()] == ["ml-1m.zip"]


def test_another_file_than_the_one_known_is_refused_and_not_kept(server, tmp_path):
    pack(write(tmp_path / "other" / "ml-1m", "1m", RATINGS[:2]), tmp_path / "served" / "ml-1m.zip")
    with pytest.raises(DataMissing, match=r"what http.*/ml-1m\.zip sent is another file than the one known") as caught:
        movielens()
    assert "\n" not in str(caught.value)
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_server_without_the_file_is_told_of(server, tmp_path):
    with pytest.raises(
        DataMissing, match=r"MovieLens 100K is not here, and its download failed \(HTTPError\): be online"
    ):
        movielens("100k")


def test_without_a_network_the_error_says_in_one_line_how_to_get_the_data():
    words = (
        "MovieLens 1M is not here, and its download failed (ConnectionError): be online, or get "
        "http://127.0.0.1:1/ml-1m.zip and set BESTBEFORE_DATA to the folder it is in"
    )
    with pytest.raises(DataMissing, match=rf"^{re.escape(words)}$"):
        movielens()


def test_without_pooch_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    words = (
        "MovieLens latest-small is not here: get http://127.0.0.1:1/ml-latest-small.zip and set BESTBEFORE_DATA to the "
        "folder it is in, or pip install 'bestbefore[movielens]' to have it downloaded"
    )
    with pytest.raises(DataMissing, match=rf"^{re.escape(words)}$"):
        movielens("latest-small")


# The real thing


REAL = os.environ.get("BESTBEFORE_DATA")


@pytest.mark.parametrize(
    ("dataset", "movies", "ratings", "mean"),
    [("1m", 3706, 1_000_209, 3.581564), ("100k", 1682, 100_000, 3.52986), ("latest-small", 9724, 100_836, 3.501557)],
)
def test_the_real_data_has_the_numbers_it_is_known_for(dataset, movies, ratings, mean):
    release = movielens_files.RELEASES[dataset]
    if not REAL:
        pytest.skip("set BESTBEFORE_DATA to a folder with MovieLens to test on the real data")
    try:
        place = movielens_place.find(release, REAL)
    except DataMissing as missing:
        pytest.skip(str(missing))
    found = movielens_files.read(release, place)
    assert (found.ids.size, found.counts.sum()) == (movies, ratings)
    assert found.counts.sum(axis=0) @ release.stars / ratings == pytest.approx(mean, abs=1e-6)
    assert movielens(dataset, path=Path(REAL), arms=1000).length == 1000
