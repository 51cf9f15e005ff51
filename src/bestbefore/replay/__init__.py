"""Replay: what a log says about its arms, what memory buys on it, and what a player would have earned."""

from bestbefore.replay.estimate import METHODS, Estimate, estimate
from bestbefore.replay.report import Report, look_at, write_page

__all__ = ["METHODS", "Estimate", "Report", "estimate", "look_at", "write_page"]
