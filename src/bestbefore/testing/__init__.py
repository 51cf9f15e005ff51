"""Conformance suites that agents pass, ours and other people's."""

from bestbefore.testing.agents import check_agent

__all__ = ["check_agent"]
