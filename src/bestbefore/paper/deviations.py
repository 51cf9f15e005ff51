"""Where the public code of Braverman et al. differs from the text of their paper, one switch for each difference."""

from typing import Final, NamedTuple


class Deviations(NamedTuple):
    """The differences; as it stands, all are there.

    Three of them carry a claim: with `integer_means` the baseline cannot rank arms, and with `misaligned` and
    `ignored_arms` the reservoir plays by the statistics of other arms, or not at all.
    """

    extra_slot: bool = True
    """Memory m is m + 1 slots."""
    integer_means: bool = True
    """The baseline cuts empirical means off to whole numbers."""
    stale_minimum: bool = True
    """The baseline looks for the place of the lowest mean when it stores an arm, not when arms expire.

    A new arm may then push a valid one out while others' places are empty; and once every place holds a mean of 1, no
    arm with a mean of at most 1 is stored ever again.
    """
    extra_step: bool = True
    """In the baselines and the reservoir an arm lives W + 1 steps."""
    misaligned: bool = True
    """In the reservoir, expired arms leave the list, but not the arrays of statistics beside it."""
    ignored_arms: bool = True
    """In the reservoir, an arm that takes a free place has no first pull; without statistics its index is 0.

    Such an arm is not pulled while another has statistics.  An epoch in which no statistics begin, because the new arm
    took a free place or was not admitted, has a pull less.
    """
    wide_normal: bool = True
    """More than 100,000 pulls at once are replaced by a Normal of standard deviation 2 / sqrt(s) for the mean."""
    late_admission: bool = True
    """A full reservoir of m slots admits arrival t, counted from 1, with probability m / (t + 1), not m / t."""
    partial_windows: bool = True
    """Epochs begin with the first arrival, not when the first window is full."""
    missed_at_end: bool = True
    """The everlasting arm is not recognised in memory at the end of the stream, only when it outlives its window."""
    closed_below: bool = True
    """Bucket's slices are closed below, [j / m, (j + 1) / m), not above.

    It matters where many empirical means fall on a border: where the slots divide the pulls of a test.
    """
    spread_means: bool = True
    """The low arms for regret have means from a Normal(0.25, 0.1) cut to [0, 0.5], not 0.25 each."""
    first_movies: bool = True
    """Of MovieLens the first n movies by number arrive, not n at random."""
    bernoulli_ratings: bool = True
    """A pull of a movie returns 1 with the probability of its mean rating, else 0, not one of its ratings.

    More generally, the code knows no other rewards than 0 and 1.
    """
    large_budget: bool = True
    """With MovieLens an epoch has 100 W pulls, not 1000."""


PUBLISHED: Final = Deviations()
AS_DESCRIBED: Final = Deviations(*[False] * len(PUBLISHED))
