"""Several different arms for one page view, by a rule that knows its odds.

Losses are estimated as (1 - reward) / chance.  That is right on average, for each arm, if `chance` is the probability
that the arm is on the page at all.  To draw an arm, then another from the rest with its odds among the rest, would
not do: the one drawn first could not be drawn second, would miss that loss, and look better than it is.  So the chances
are fixed first: min(1, c w_i), with c such that they add up to k.  Then one uniform number draws k arms with exactly
these chances (systematic sampling).

W. G. Madow, "On the theory of systematic sampling, II", Annals of Mathematical Statistics 20 (1949).  T. Uchiya, A.
Nakamura and M. Kudo, "Algorithms for adversarial bandit problems with multiple plays", ALT 2010, has such chances.

>>> chances = chances_of(np.array([0.7, 0.2, 0.1]), places=2)
>>> chances.round(3).tolist()
[1.0, 0.667, 0.333]
>>> drawn(chances, coin=0.5), drawn(chances, coin=0.9)
([0, 1], [0, 2])
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def chances_of(odds: Floats, places: int) -> Floats:
    """Return the probabilities with which arms are among `places`: in proportion to their odds, but 1 at most.

    At least `places` odds must be above 0.
    """
    sure = np.zeros(odds.size, bool)
    while True:
        rest = odds[~sure].sum()
        chances = np.where(sure, 1.0, odds * ((places - sure.sum()) / rest if rest > 0 else 0.0))
        above = ~sure & (chances >= 1)
        if not above.any():
            return chances
        sure |= above


def drawn(chances: Floats, coin: float) -> list[int]:
    """Return the places that coin, coin + 1, coin + 2 ... fall on, where the chances are laid end to end.

    The likeliest comes first.  As many are drawn as the chances add up to, a whole number.
    """
    ends = np.cumsum(chances)
    ends[np.flatnonzero(chances)[-1] :] = round(float(chances.sum()))  # whatever rounding says
    marks = np.floor(ends - coin)
    before = np.concatenate([[np.floor(-coin)], marks[:-1]])
    places: list[int] = np.flatnonzero(marks > before).tolist()
    return sorted(places, key=lambda place: -chances[place])
