"""Budgets: how many pulls each epoch comes with, told to the algorithm only when the epoch is reached.

>>> rng = np.random.default_rng(0)
>>> equal(10)(3, rng).tolist(), int(spread(100)(4, rng).sum()), concentrated(50, epoch=2)(3, rng).tolist()
([10, 10, 10], 100, [0, 50, 0])
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from bestbefore.arguments import MOST, whole

__all__ = ["Budgets", "concentrated", "equal", "listed", "spread"]

Ints = npt.NDArray[np.int64]
Budgets = Callable[[int, np.random.Generator], Ints]
"""Makes the budgets of so many epochs."""


def equal(pulls: int) -> Budgets:
    """Give each epoch the same number of pulls.

    Parameters
    ----------
    pulls
        The pulls of each epoch.
    """
    pulls = whole("budgets", pulls, at_least=0)
    return lambda epochs, rng: np.full(epochs, pulls, np.int64)


def spread(total: int) -> Budgets:
    """Spread `total` pulls over the epochs at random: all ways to cut a stick are equally likely.

    Parameters
    ----------
    total
        All pulls there are.
    """
    total = whole("total", total, at_least=0)
    return lambda epochs, rng: rng.multinomial(total, rng.dirichlet(np.ones(epochs)))


def concentrated(total: int, epoch: int | None = None) -> Budgets:
    """Give all pulls to one epoch: the one of this number, from 1, or one at random.

    Parameters
    ----------
    total
        All pulls there are.
    epoch
        The number of the epoch, from 1; unless given, one at random.
    """
    total = whole("total", total, at_least=0)
    chosen = None if epoch is None else whole("epoch", epoch)

    def budgets(epochs: int, rng: np.random.Generator) -> Ints:
        number = int(rng.integers(1, epochs + 1)) if chosen is None else chosen
        if number > epochs:
            raise ValueError(f"epoch must be at most {epochs}, the number of epochs, not {number}")
        made = np.zeros(epochs, np.int64)
        made[number - 1] = total
        return made

    return budgets


def listed(pulls: Sequence[int]) -> Budgets:
    """Give each epoch its own number of pulls, as listed.

    Parameters
    ----------
    pulls
        The pulls of each epoch, in order.
    """
    made = np.array([whole("budgets", one, at_least=0) for one in pulls], np.int64)

    def budgets(epochs: int, rng: np.random.Generator) -> Ints:
        if made.size != epochs:
            raise ValueError(f"budgets must be a list of {epochs}, one for each epoch, not of {made.size}")
        return made

    return budgets


def as_budgets(budgets: "int | Sequence[int] | Budgets") -> Budgets:
    """Read a number as equal budgets, a list as it stands, and a function of `simulate.budgets` as it is."""
    if callable(budgets):
        return budgets
    if isinstance(budgets, (str, bytes)):
        raise ValueError(f"budgets must be a number, a list or a function of simulate.budgets, not {budgets!r}")
    return listed(budgets) if isinstance(budgets, Sequence) or np.ndim(budgets) else equal(budgets)  # type: ignore[arg-type]


def checked(budgets: Ints, epochs: int) -> Ints:
    """Return budgets that a function made, if it made as many as there are epochs, and not too many pulls."""
    if budgets.shape != (epochs,) or budgets.dtype.kind not in "iu" or (budgets < 0).any():
        raise ValueError(f"budgets must make {epochs} whole numbers of at least 0, not {budgets!r}")
    if float(budgets.sum(dtype=float)) > MOST:
        raise ValueError("budgets must be at most 2**53 pulls in all")
    return budgets
