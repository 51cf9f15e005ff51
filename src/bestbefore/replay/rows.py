"""The rows of a log in the order of time, as a player meets them: 32 bytes a row."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestbefore.clock import Window
from bestbefore.simulate.clocked import Numbers
from bestbefore.streams import Log
from bestbefore.streams.arrivals import Ints
from bestbefore.streams.log_rows import Batch
from bestbefore.streams.stream import Floats, bernoulli


@dataclass(frozen=True)
class Rows:
    """Which arm each row is of, its reward, its time, and the probability with which the arm was shown.

    `enters` is the row before which each arm arrives, `leaves` the last row of each arm.
    """

    arms: Ints
    rewards: Floats
    times: Ints
    chances: Floats
    enters: Ints
    leaves: Ints


def rows_of(log: Log, propensity: Any = None, *, progress: bool | None = None) -> Rows:
    """Read the rows of a log; without `propensity`, a column, each arm in rotation has the same probability.

    An arm is in rotation from its arrival to its last row.  Where the log does not say when arms arrived, an arm is
    known to be there by its first row, so it can be chosen from the next row on: a choice must not know what is shown.
    """
    size = int(log.rows.sum())
    arms, times = np.zeros(size, np.int64), np.zeros(size, np.int64)
    rewards, chances = np.zeros(size), np.zeros(size if propensity is not None else 0)
    start = 0

    def take(batch: Batch) -> None:
        nonlocal start
        rows = slice(start, start + batch.codes.size)
        arms[rows], times[rows], rewards[rows] = batch.codes, batch.times, batch.rewards
        if propensity is not None:
            chances[rows] = batch.chances
        start = rows.stop

    log.again(take, chance=propensity, label="reading again", progress=progress)
    if (np.diff(times) < 0).any():
        order = np.argsort(times, kind="stable")
        arms, times, rewards = arms[order], times[order], rewards[order]
        chances = chances[order] if propensity is not None else chances
    places = np.arange(size)
    first, leaves = np.full(len(log.names), size), np.zeros(len(log.names), np.int64)
    np.minimum.at(first, arms, places)
    np.maximum.at(leaves, arms, places)
    begins = np.searchsorted(times, log.arrived, side="left") if log.told else first
    if propensity is None:
        begun = np.searchsorted(np.sort(begins), places, side="right")
        gone = np.searchsorted(np.sort(leaves), places, side="left")
        chances = 1.0 / (begun - gone)
    return Rows(arms, rewards, times, chances, begins if log.told else first + 1, leaves)


def numbers_of(log: Log, window: Window) -> Ints:
    """Return the numbers of arms on the clock of a window."""
    if not window.by_time:
        return np.arange(1, len(log.names) + 1)
    return Numbers(by_time=True).of(bernoulli(np.zeros(log.arrived.size))._replace(times=log.arrived)).times
