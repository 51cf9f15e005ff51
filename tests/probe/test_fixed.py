"""Fixed: s pulls at arrival, and never again."""

from hypothesis import given
from hypothesis import strategies as st

from bestbefore.probe.fixed import wanted


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_an_arm_wants_what_is_missing_and_never_a_negative_number(pulls, s):
    assert wanted(pulls, s) == max(s - pulls, 0)


@given(st.lists(st.integers(1, 20), min_size=1), st.integers(1, 100))
def test_told_no_more_than_it_wants_an_arm_ends_with_exactly_s_pulls(portions, s):
    """Rewards may come back in portions of any size."""
    pulls = 0
    for portion in portions * s:
        pulls += min(portion, wanted(pulls, s))
    assert (pulls, wanted(pulls, s)) == (s, 0)
