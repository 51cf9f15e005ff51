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


PUBLISHED: Final = Deviations()
AS_DESCRIBED: Final = Deviations(*[False] * len(PUBLISHED))
