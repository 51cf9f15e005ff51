"""Results as they arrive, a line each, in a file that is only ever appended to.

A run that was stopped, wherever it stood, leaves all lines but its last one whole, and the next run goes on from there.
Each line bears a fingerprint of the settings it was made with, and of the sources of this package: lines made with
others are left alone, so going back to former settings finds their results again.
"""

import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Self

from bestbefore._jit import SOURCES

try:
    import fcntl as _fcntl
except ModuleNotFoundError:  # Windows
    fcntl: ModuleType | None = None
else:
    fcntl = _fcntl

Rows = list[dict[str, Any]]
"""The result of a piece of work: rows of a table, as JSON knows them."""


class Store:
    """The results in `folder` that were made with `settings`, which are a dict as JSON knows it.

    The folder is made if need be.  While a store is open no other can be opened on the same folder, where the system
    has locks (Windows and some network drives have none); a run that dies lets go of its lock.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Store(folder, {"seed": 0}) as store:
    ...     store.add("first panel/0", [{"error": 0.1}])
    ...     store.load()
    [{'error': 0.1}]
    {'first panel/0': [{'error': 0.1}]}
    """

    def __init__(self, folder: str | Path, settings: dict[str, Any]) -> None:
        text = json.dumps(settings | {"sources": SOURCES}, sort_keys=True)
        self.fingerprint = hashlib.sha256(text.encode()).hexdigest()[:16]
        self.path = Path(folder) / "results.jsonl"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("ab")
        except OSError as wrong:
            why = "there is a file of that name" if isinstance(wrong, FileExistsError) else wrong.strerror
            raise OSError(f"results cannot be written to the folder {str(folder)!r}: {why}") from None
        try:
            self._lock()
            self._file.truncate(self._whole())
        except BaseException:
            self._file.close()
            raise

    def load(self) -> dict[str, Rows]:
        """Return the results of these settings by the names of their pieces; what cannot be read is not there."""
        found: dict[str, Rows] = {}
        damaged = 0
        with self.path.open("rb") as lines:
            for line in lines:
                try:
                    entry = json.loads(line)
                    if entry["settings"] != self.fingerprint:
                        continue
                    if "fresh" in entry:
                        for piece in entry["fresh"]:
                            found.pop(piece, None)
                    else:
                        found[entry["piece"]] = entry["rows"]
                except (ValueError, TypeError, KeyError):
                    damaged += 1
        if damaged:
            print(f"lines in {str(self.path)!r} that cannot be read are left out: {damaged}", file=sys.stderr)
        return found

    def add(self, piece: str, rows: Rows) -> Rows:
        """Write the result of a piece at once, and return it as `load` will."""
        return self._append({"piece": piece, "rows": rows})["rows"]  # type: ignore[no-any-return]

    def clear(self, pieces: Iterable[str]) -> None:
        """Start over with these pieces: what was written of them with these settings so far is no longer loaded."""
        self._append({"fresh": list(pieces)})

    def close(self) -> None:
        """Close the file and let others have the folder."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _append(self, entry: dict[str, Any]) -> Any:
        line = json.dumps({"settings": self.fingerprint} | entry)
        self._file.write(line.encode() + b"\n")
        self._file.flush()
        return json.loads(line)

    def _lock(self) -> None:
        """Keep others out; the system undoes this when the file is closed or the process ends, however it ends."""
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            folder = str(self.path.parent)
            raise BlockingIOError(f"another run writes to the folder {folder!r}: wait for it, or stop it") from None
        except OSError:  # a drive without locks
            return

    def _whole(self) -> int:
        """Return the length of the file without a last line that was stopped in the middle."""
        return self.path.read_bytes().rfind(b"\n") + 1
