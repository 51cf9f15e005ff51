"""Randomness of a run: the same seed and run give the same numbers, whoever else runs."""

import numpy as np

Generators = tuple[np.random.Generator, np.random.Generator, np.random.Generator]


def generators(seed: int, run: int) -> Generators:
    """Return the generators of a run: for its arms, for their rewards, and for the luck of the rule."""
    arms, rewards, luck = map(np.random.default_rng, np.random.SeedSequence((seed, run)).spawn(3))
    return arms, rewards, luck


def budget_generator(seed: int, run: int) -> np.random.Generator:
    """Return the generator of a run's budgets, which depend on nothing else."""
    return np.random.default_rng(np.random.SeedSequence((seed, run)).spawn(4)[3])
