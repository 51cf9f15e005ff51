"""Conformance suites that agents and stores pass, ours and other people's."""

from typing import TYPE_CHECKING, Any

from bestbefore.testing.agents import check_agent

if TYPE_CHECKING:
    from bestbefore.testing.stores import check_desk, check_store

__all__ = ["check_agent", "check_desk", "check_store"]


def __getattr__(name: str) -> Any:
    if name in ("check_desk", "check_store"):  # they need what `pip install 'bestbefore[store]'` brings
        from bestbefore.testing import stores

        return getattr(stores, name)
    raise AttributeError(f"module 'bestbefore.testing' has no attribute {name!r}")
