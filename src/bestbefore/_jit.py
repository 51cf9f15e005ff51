"""Compilation: numba, with a disk cache that cannot go stale.

numba notices when the file of a cached function changes, but not when a function that it *calls*, in another file,
does.  So the cache lives in a folder named after a hash of this package's sources (and of NumPy's version): new
sources, new folder.  The rooms that no compiled function can reach are left out.  It is `NUMBA_CACHE_DIR` where the
user has set one, else the user's own cache folder, so that a read-only installation is served too.  Where no folder
can be written, rules are compiled anew in each process.
"""

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import numba
import numpy as np
import platformdirs
from numba.core.types import unliteral

Function = TypeVar("Function", bound=Callable[..., Any])

_config: Any = numba.config


EDGES: Final = frozenset({"store", "service", "testing", "cli", "replay"})
"""The rooms that compiled functions never call: a new page or route leaves what was compiled in use."""


def sources_hash(folder: Path) -> str:
    """Name the state of the Python files under `folder`, without the edges."""
    digest = hashlib.sha256(np.__version__.encode())
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder)
        if name.parts[0] in EDGES:
            continue
        digest.update(name.as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


SOURCES = sources_hash(Path(__file__).parent)
"""The state of this package, as it was when it was imported."""


def _writable_folder() -> str:
    """Return the cache folder of these sources, made if need be, or an empty string where it cannot be written."""
    base = Path(_config.CACHE_DIR or platformdirs.user_cache_dir("bestbefore"))
    folder = base / f"bestbefore-{SOURCES}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return ""
    return str(folder)


CACHE_FOLDER = _writable_folder()


def compiled_before(function: Callable[..., Any]) -> bool:
    """Tell whether a compiled function is on disk, so that its first call will not take long."""
    return bool(CACHE_FOLDER) and any(Path(CACHE_FOLDER).rglob(f"*.{function.__name__}-*.nbi"))


def njit(function: Function) -> Function:
    """Compile `function` at its first call; it releases the interpreter lock while it runs.

    numba asks for the cache folder when a function is decorated, and only then: other packages keep theirs.
    """
    return _compiled(function, inline="never")


def inlined(function: Function) -> Function:
    """Compile `function` into its callers: for the innermost loops, where a call costs more than what it does."""
    return _compiled(function, inline="always")


def _compiled(function: Function, inline: str) -> Function:
    others = _config.CACHE_DIR
    _config.CACHE_DIR = CACHE_FOLDER
    options: Any = {"cache": bool(CACHE_FOLDER), "nogil": True, "error_model": "numpy", "inline": inline}
    try:
        compiled: Any = numba.njit(**options)(function)
    finally:
        _config.CACHE_DIR = others
    _compile_once_for_all_numbers(compiled)
    return compiled  # type: ignore[no-any-return]


def _compile_once_for_all_numbers(compiled: Any) -> None:
    """Let calls from compiled functions pass plain types: numba compiles anew for each number written in a call."""
    plain: Any = unliteral
    template = getattr(compiled, "get_call_template", None)
    if template is not None:  # without it, compilation takes a quarter longer, and nothing else changes
        compiled.get_call_template = lambda args, named: template(
            [plain(one) for one in args], {name: plain(one) for name, one in named.items()}
        )
