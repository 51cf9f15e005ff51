"""Randomness of a run: the same seed and run give the same numbers, whoever else runs."""

from collections.abc import Sequence

import numpy as np

from bestbefore.arguments import whole

Generators = tuple[np.random.Generator, np.random.Generator, np.random.Generator]


def generators(seed: int, run: int) -> Generators:
    """Return the generators of a run: for its arms, for their rewards, and for the rule that draws."""
    arms, rewards, rule = map(np.random.default_rng, np.random.SeedSequence((seed, run)).spawn(3))
    return arms, rewards, rule


def run_numbers(runs: int | Sequence[int]) -> list[int]:
    """Return the numbers of the runs asked for: 0 .. runs - 1, or those given, such as range(5, 10).

    >>> run_numbers(3), run_numbers(range(5, 7))
    ([0, 1, 2], [5, 6])
    """
    if not isinstance(runs, Sequence) or isinstance(runs, str):
        return list(range(whole("runs", runs)))
    if not runs:
        raise ValueError("runs must be at least one, not []")
    return [whole("runs", run, at_least=0) for run in runs]


def budget_generator(seed: int, run: int) -> np.random.Generator:
    """Return the generator of a run's budgets, which depend on nothing else."""
    return np.random.default_rng(np.random.SeedSequence((seed, run)).spawn(4)[3])


def tape_seeds(seed: int, run: int) -> list[np.random.SeedSequence]:
    """Return the seeds of a run's tapes: of the first rewards of all arms, and of those that follow."""
    return np.random.SeedSequence((seed, run)).spawn(6)[4:]
