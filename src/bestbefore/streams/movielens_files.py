"""The files of MovieLens: what each release looks like, and reading it fast, or carefully where something is wrong.

NumPy reads the million lines of 1M in half a second, but cannot say well what is wrong with them.  So where it
stumbles, or where a number is none that the release can have, lines are read again one by one, up to the first bad one.

pandas reads them three times as fast, but takes longer to import than it saves, and Polars is 180 MB.  Neither says in
which line a number is wrong, and both let a rating of 9 stars pass, so the careful reading would have to stay.
"""

import csv
import functools
import io
import re
import reprlib
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bestbefore.arguments import MOST, real
from bestbefore.streams.stream import Floats

Ints: TypeAlias = npt.NDArray[np.int64]

NEVER: Final = np.iinfo(np.int64).max
"""The time of the first rating of a movie whose ratings have no time."""

TIMES: Final = (788_918_400, 2**32)
"""1995 begins, and no rating of MovieLens is older: a smaller time was cut off.  A time of 0 is not known."""


COLUMNS: Final = ["userId", "movieId", "rating", "timestamp"]
RATING: Final = np.dtype([("user", np.int64), ("movie", np.int64), ("stars", np.float64), ("time", np.int64)])
Ratings: TypeAlias = npt.NDArray[np.void]


@dataclass(frozen=True)
class Release:
    """A dataset of MovieLens: its files, how they are written, and the hash of its zip file."""

    title: str
    folder: str
    ratings: str
    movies: str
    separators: tuple[str, str]
    encoding: str
    fields: int  # of a line of `movies`
    half_stars: bool
    sha256: str

    @property
    def header(self) -> bool:
        """Tell whether the first line of each file names the columns."""
        return self.ratings.endswith(".csv")

    @property
    def stars(self) -> Floats:
        """Return the ratings that a movie can get, rising."""
        return np.arange(0.5, 5.1, 0.5) if self.half_stars else np.arange(1.0, 6.0)


RELEASES: Final[dict[str, Release]] = {
    "1m": Release(
        title="MovieLens 1M",
        folder="ml-1m",
        ratings="ratings.dat",
        movies="movies.dat",
        separators=("::", "::"),
        encoding="latin-1",
        fields=3,
        half_stars=False,
        sha256="a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
    ),
    "100k": Release(
        title="MovieLens 100K",
        folder="ml-100k",
        ratings="u.data",
        movies="u.item",
        separators=("\t", "|"),
        encoding="latin-1",
        fields=24,
        half_stars=False,
        sha256="50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
    ),
    "latest-small": Release(
        title="MovieLens latest-small",
        folder="ml-latest-small",
        ratings="ratings.csv",
        movies="movies.csv",
        separators=(",", ","),
        encoding="utf-8",
        fields=3,
        half_stars=True,
        sha256="696d65a3dfceac7c45750ad32df2c259311949efec81f0f144fdfb91ebc9e436",
    ),
}


class Movies(NamedTuple):
    """The rated movies of a release, by their numbers: ratings of each kind, time of the first, year of release.

    A year of 0 is not known; `timeless` ratings have no time.
    """

    ids: Ints
    counts: Ints
    first: Ints
    year: Ints
    timeless: int


def read(release: Release, place: Path) -> Movies:
    """Read a release from its folder or zip file; what was read before is read again only if it has changed."""
    files = [place] if place.is_file() else [place / release.ratings, place / release.movies]
    stamps = [file.stat() for file in files]
    return _read(release, place.resolve(), tuple((stamp.st_mtime_ns, stamp.st_size) for stamp in stamps))


@functools.lru_cache(maxsize=4)
def _read(release: Release, place: Path, stamps: tuple[tuple[int, int], ...]) -> Movies:
    """Count the ratings of each movie."""
    years = dict(_movies(release, _text(place, release.movies)))
    known = np.array(sorted(years), np.int64)
    ratings = _text(place, release.ratings)
    table = _fast(release, ratings, known)
    if table is None:
        table = _careful(release, ratings, set(years))
    row, kinds = np.searchsorted(known, table["movie"]), release.stars.size
    kind = np.searchsorted(release.stars, table["stars"])
    counts = np.bincount(row * kinds + kind, minlength=known.size * kinds).reshape(known.size, kinds)
    first = np.full(known.size, NEVER)
    timed = table["time"] > 0
    np.minimum.at(first, row[timed], table["time"][timed])
    rated = counts.any(axis=1)
    year = np.array([years[movie] for movie in known.tolist()], np.int64)
    return Movies(known[rated], counts[rated], first[rated], year[rated], int((~timed).sum()))


class _Text(NamedTuple):
    """What is in a file, and what to call it in an error."""

    name: str
    data: bytes

    def wrong(self, line: int, what: str) -> ValueError:
        return ValueError(f"{self.name}, line {line}: {what}")

    def decoded(self, encoding: str) -> str:
        try:
            return self.data.decode(encoding)
        except UnicodeDecodeError as wrong:
            line = self.data.count(b"\n", 0, wrong.start) + 1
            raise self.wrong(line, f"the text is not {encoding}: {wrong.reason}") from None


def _text(place: Path, name: str) -> _Text:
    """Read a file of a folder or of a zip file, without the mark that some editors put before it."""
    mark = b"\xef\xbb\xbf"
    if place.is_dir():
        return _Text(str(place / name), (place / name).read_bytes().removeprefix(mark))
    try:
        with zipfile.ZipFile(place) as archive:
            members = [member for member in archive.namelist() if PurePosixPath(member).name == name]
            if not members:
                raise ValueError(f"{place} has no {name}: it is another dataset, or damaged")
            return _Text(f"{place}, {name}", archive.read(min(members, key=len)).removeprefix(mark))
    except (zipfile.BadZipFile, zlib.error, EOFError) as wrong:
        raise ValueError(f"{place} is damaged: {wrong}") from None


def _movies(release: Release, text: _Text) -> Iterator[tuple[int, int]]:
    """Read the number and the year of each movie."""
    seen = set()
    for line, fields in _lines(release, text, release.separators[1]):
        if line == 1 and release.header:
            if fields != ["movieId", "title", "genres"]:
                raise text.wrong(1, f"the columns must be movieId,title,genres, not {_short(','.join(fields))}")
            continue
        if len(fields) != release.fields:
            raise text.wrong(line, f"{release.fields} fields are needed, not {len(fields)}")
        movie = _whole(fields[0])
        if movie is None or movie < 1:
            raise text.wrong(line, f"the movie's number must be a whole number of at least 1, not {_short(fields[0])}")
        if movie in seen:
            raise text.wrong(line, f"movie {movie} is listed twice")
        seen.add(movie)
        date = re.search(r"\d{4}$", fields[2])  # 01-Jan-1995 in 100K; others have genres there
        title = re.search(r"\((\d{4})[^()]*\)\s*$", fields[1])  # Toy Story (1995), and of a series (2006–2007)
        yield movie, int(date[0]) if date else int(title[1]) if title else 0
    if not seen:
        raise ValueError(f"{text.name} has no movies")


def _fast(release: Release, text: _Text, known: Ints) -> Ratings | None:
    """Read all ratings at once, or return None where anything is not as it should be."""
    separator, data = release.separators[0], text.data
    if release.header:
        header, _, data = data.partition(b"\n")
        if header.removesuffix(b"\r") != ",".join(COLUMNS).encode():
            return None
    if data.translate(None, b"0123456789.\r\n" + separator.encode()):
        return None  # NumPy lets more pass for a number than is good
    if len(separator) > 1:
        data, separator = data.replace(separator.encode(), b","), ","  # NumPy wants one character
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # NumPy only warns of a file without lines
            table = np.loadtxt(io.BytesIO(data), RATING, delimiter=separator, comments=None, ndmin=1)
    except (ValueError, Warning):
        return None
    time = table["time"]
    timely = (time == 0) | ((time >= TIMES[0]) & (time < TIMES[1]))
    good = timely.all() and np.isin(table["stars"], release.stars).all() and np.isin(table["movie"], known).all()
    return table if good else None


def _careful(release: Release, text: _Text, known: set[int]) -> Ratings:
    """Read the ratings one by one, and say which is the first that is wrong, and why."""
    table: list[tuple[int, int, float, int]] = []
    stars = release.stars.tolist()
    for line, fields in _lines(release, text, release.separators[0]):
        if line == 1 and release.header:
            if fields != COLUMNS:
                raise text.wrong(1, f"the columns must be {','.join(COLUMNS)}, not {_short(','.join(fields))}")
            continue
        if len(fields) != 4:
            between = f"with {release.separators[0]!r} between them"
            raise text.wrong(line, f"4 fields {between} are needed, not {len(fields)}")
        user, movie, rating, time = _whole(fields[0]), _whole(fields[1]), _number(fields[2]), _whole(fields[3])
        if user is None:
            raise text.wrong(line, f"the user must be a whole number, not {_short(fields[0])}")
        if movie is None or movie not in known:
            raise text.wrong(line, f"movie {_short(fields[1])} is not in {release.movies}")
        if rating not in stars:
            allowed = ", ".join(f"{star:g}" for star in stars)
            raise text.wrong(line, f"the rating must be one of {allowed}, not {_short(fields[2])}")
        if time is None or (time != 0 and not TIMES[0] <= time < TIMES[1]):
            raise text.wrong(line, f"the time must be seconds since 1970, from 1995 on, not {_short(fields[3])}")
        table.append((user, movie, rating, time))
    if not table:
        raise ValueError(f"{text.name} has no ratings")
    return np.array(table, RATING)


def _lines(release: Release, text: _Text, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Cut a file into lines and fields; blank lines are passed over, but count."""
    if release.header:
        rows = csv.reader(io.StringIO(text.decoded(release.encoding), newline=""), strict=True)
        try:
            for row in rows:
                if row:
                    yield rows.line_num, row
        except csv.Error as wrong:
            raise text.wrong(rows.line_num, str(wrong)) from None
    else:
        for line, content in enumerate(io.StringIO(text.decoded(release.encoding), newline=None), start=1):
            if content.strip():
                yield line, content.rstrip("\r\n").split(separator)


def _number(field: str) -> float:
    """Read a number, or NaN."""
    try:
        return real(float(field))
    except ValueError:
        return float("nan")


def _whole(field: str) -> int | None:
    """Read a whole number."""
    number = _number(field)
    return int(number) if number.is_integer() and abs(number) <= MOST else None


def _short(field: str) -> str:
    """Quote what stands in a file, however long it is."""
    return reprlib.repr(field)
