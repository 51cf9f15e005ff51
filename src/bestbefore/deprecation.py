"""Names that go away: they work for a while, and warn of it."""

import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any


def renamed(module: str, names: Mapping[str, str], until: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module some of whose names are called otherwise now: the old ones work, and warn.

    Parameters
    ----------
    module
        The module, `__name__` as it calls itself.
    names
        The new name of each old one.
    until
        The version in which the old names are gone.
    """

    def attribute(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        old, new = f"{module}.{name}", f"{module}.{names[name]}"
        warnings.warn(
            f"{old} is called {new} now; the old name goes in version {until}", DeprecationWarning, stacklevel=2
        )
        return getattr(sys.modules[module], names[name])

    return attribute
