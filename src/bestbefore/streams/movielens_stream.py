"""MovieLens: a movie is an arm, and a pull is one of its ratings at random.

Movies arrive in random order, as in the paper; in the order of their first ratings, as they came to the people who
rated them; or by the year of their release.  The last two are real recency: what is fresh there was fresh once.

F. Maxwell Harper and Joseph A. Konstan: The MovieLens Datasets: History and Context.  ACM TiiS 5(4), 2015.
"""

import os
from collections.abc import Iterator
from typing import Final, Literal

import numpy as np

from bestbefore.arguments import one_of, whole
from bestbefore.errors import DataMissing
from bestbefore.streams.arrivals import NO_TIMES
from bestbefore.streams.movielens_files import NEVER, RELEASES, Ints, Movies, read
from bestbefore.streams.movielens_place import find
from bestbefore.streams.stream import Arms, Floats, Stream, in_blocks, rated_arms

ORDERS: Final = ("permuted", "first-rating", "release-year")
SCALES: Final = ("stretched", "fifths")


def movielens(
    dataset: Literal["1m", "100k", "latest-small"] = "1m",
    *,
    path: "str | os.PathLike[str] | None" = None,
    arms: int | None = None,
    first: bool = False,
    order: Literal["permuted", "first-rating", "release-year"] = "permuted",
    scale: Literal["stretched", "fifths"] = "stretched",
) -> Stream:
    """Make a stream of the movies of MovieLens 1M, 100K or latest-small; a movie that nobody rated is no arm.

    `path` is the dataset's folder, a folder with that folder or its zip file in it, or the zip file.  Without it the
    environment variable BESTBEFORE_DATA is such a path; where that is not set, the file is downloaded once into the
    user's cache, with pooch.  `DataMissing` says how to get what is not there.

    `arms` takes so many movies at random, others in each run, or with `first` those of the lowest numbers; the default
    is all.  `order` is how they arrive:

    - `permuted`: in random order, another in each run, as in the paper;
    - `first-rating`: by the time of the first rating, then by the movie's number; the stream has these times, so it
      can be run with a window such as "30 days";
    - `release-year`: by the year of release, within a year by the first rating.  A movie without a year counts as
      released in the year of its first rating.

    `scale` is how stars become rewards: `stretched` takes the lowest rating of the dataset to 0 and 5 to 1, which is
    (r - 1) / 4, and (r - 0.5) / 4.5 for the half stars of latest-small; `fifths` is r / 5.

    Parameters
    ----------
    dataset
        "1m", "100k" or "latest-small".
    path
        The dataset's folder, a folder with it or its zip file inside, or the zip file.
    arms
        How many movies, at random; unless given, all.
    first
        Whether to take the movies of the lowest numbers instead.
    order
        "permuted", "first-rating" or "release-year".
    scale
        "stretched" or "fifths": how stars become rewards.
    """
    one_of("dataset", dataset, RELEASES)
    one_of("order", order, ORDERS)
    one_of("scale", scale, SCALES)
    wanted = None if arms is None else whole("arms", arms)
    release = RELEASES[dataset]
    place = find(release, path)
    movies = read(release, place)
    size = movies.ids.size
    length = size if wanted is None else wanted
    if length > size:
        raise ValueError(f"arms must be at most {size}, the rated movies of {release.title}, not {arms!r}")
    if order == "first-rating" and movies.timeless:
        raise DataMissing(
            f"order 'first-rating' needs the times of all ratings, but {movies.timeless} of those in {str(place)!r} "
            f"have none: take the {release.folder}.zip of GroupLens, or another order"
        )
    in_order = _arrivals(movies, order)
    known = rated_arms(movies.counts[in_order], _levels(release.stars, scale))
    timed = order == "first-rating"
    times = movies.first[in_order] * 10**6 if timed else NO_TIMES
    lowest = np.flatnonzero(in_order < length)
    name = f"movielens-{dataset}" if order == "permuted" else f"movielens-{dataset}-{order}"

    def source(rng: np.random.Generator) -> Iterator[Arms]:
        rows = rng.permutation(lowest) if first else rng.permutation(size)[:length]
        if order != "permuted":
            rows.sort()
        when = times[rows] if timed else NO_TIMES
        return in_blocks(known._replace(means=known.means[rows], weights=known.weights[rows], times=when))

    return Stream(name, length, source, timed=timed)


def _arrivals(movies: Movies, order: str) -> Ints:
    """Return the rows of the movies as they arrive; `movies` has them by their numbers."""
    if order == "first-rating":
        return np.argsort(movies.first, kind="stable")
    if order == "release-year":
        first_year = movies.first.astype("datetime64[s]").astype("datetime64[Y]").astype(np.int64) + 1970
        first_year[movies.first == NEVER] = NEVER
        return np.lexsort((movies.first, np.where(movies.year > 0, movies.year, first_year)))
    return np.arange(movies.ids.size)


def _levels(stars: Floats, scale: str) -> Floats:
    """Take stars to [0, 1]."""
    low = stars[0] if scale == "stretched" else 0.0
    levels: Floats = (stars - low) / (stars[-1] - low)
    return levels
