"""Where MovieLens is: a path, the environment variable BESTBEFORE_DATA, or the user's cache, filled by a download.

The data may not be passed on, so none comes with this package.  Each zip file is known by its SHA-256: a download is
the very file that is meant, or none.
"""

import os
import zipfile
from pathlib import Path, PurePosixPath
from typing import Final

import platformdirs

from bestbefore.errors import DataMissing
from bestbefore.streams.movielens_files import RELEASES, Release

VARIABLE: Final = "BESTBEFORE_DATA"
SERVER = "https://files.grouplens.org/datasets/movielens"


def find(release: Release, path: "str | os.PathLike[str] | None") -> Path:
    """Return the folder or the zip file of a release; where the user has named a place, only that is looked at."""
    if path is not None:
        return _at(release, Path(path).expanduser(), str(path))
    named = os.environ.get(VARIABLE)
    return _at(release, Path(named).expanduser(), f"{VARIABLE}={named}") if named else _downloaded(release)


def cache_folder() -> Path:
    """Return the folder for downloads."""
    return platformdirs.user_cache_path("bestbefore") / "movielens"


def _at(release: Release, place: Path, called: str) -> Path:
    """Look for a release at a place that the user has named."""
    archive = f"{release.folder}.zip"
    for candidate in (place, place / release.folder):
        if (candidate / release.ratings).is_file():
            if not (candidate / release.movies).is_file():
                raise DataMissing(f"{release.title} in {str(candidate)!r} is not whole: {release.movies} is missing")
            return candidate
    for candidate in (place, place / archive):
        if candidate.is_file():
            if not zipfile.is_zipfile(candidate):
                raise ValueError(f"{str(candidate)!r} is no zip file, or damaged: {archive} or a folder is needed")
            if candidate == place and release.title not in (packed := _packed(place)) and packed:
                break  # good for other panels, so this is no error in the file
            return candidate
    others = [other.title for other in RELEASES.values() if (place / other.ratings).is_file()] or _packed(place)
    instead = f"that is {others[0]}" if others else "it is not in that folder" if place.is_dir() else "nothing is there"
    raise DataMissing(
        f"{release.title} is not at {called!r}, {instead}: get {SERVER}/{archive}, and give that file, "
        f"the folder it is in, or the folder {release.folder} that is in it"
    )


def _packed(place: Path) -> list[str]:
    """Return the titles of the releases in a zip file; of what is none, nothing."""
    try:
        with zipfile.ZipFile(place) as archive:
            names = {PurePosixPath(member).name for member in archive.namelist()}
    except (OSError, zipfile.BadZipFile):
        return []
    return [release.title for release in RELEASES.values() if release.ratings in names]


def _downloaded(release: Release) -> Path:
    """Return the zip file in the user's cache, downloaded if it is not there yet."""
    archive = f"{release.folder}.zip"
    url = f"{SERVER}/{archive}"
    by_hand = f"get {url} and set {VARIABLE} to the folder it is in"
    try:
        import pooch
    except ModuleNotFoundError:
        raise DataMissing(
            f"{release.title} is not here: {by_hand}, or pip install 'bestbefore[movielens]' to have it downloaded"
        ) from None
    try:
        return Path(pooch.retrieve(url, f"sha256:{release.sha256}", fname=archive, path=cache_folder()))
    except OSError as wrong:  # what requests raises is an OSError, too
        raise DataMissing(
            f"{release.title} is not here, and its download failed ({type(wrong).__name__}): be online, or {by_hand}"
        ) from wrong
    except ValueError as wrong:
        raise DataMissing(
            f"{release.title} is not here, and what {url} sent is another file than the one known by its hash: "
            f"try again, or set {VARIABLE} to a folder that has {archive}"
        ) from wrong
