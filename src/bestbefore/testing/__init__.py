"""Conformance suites that agents and stores pass, ours and other people's."""

from typing import TYPE_CHECKING, Any

from bestbefore.testing.agents import check_agent

if TYPE_CHECKING:
    from bestbefore.testing.stores import check_store

__all__ = ["check_agent", "check_store"]


def __getattr__(name: str) -> Any:
    if name == "check_store":  # it needs what `pip install 'bestbefore[store]'` brings
        from bestbefore.testing.stores import check_store

        return check_store
    raise AttributeError(f"module 'bestbefore.testing' has no attribute {name!r}")
