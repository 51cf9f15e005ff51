"""What the experiment on windows by time counts as a failure."""

import numpy as np

from bestbefore.paper.time_theorems import failures, windows_by_time


def test_weak_is_judged_at_the_worst_of_four_times_and_anytime_at_all_of_them():
    """Of 8 arrivals these are the 2nd, 4th, 6th and 8th."""
    failed = np.zeros((5, 8), bool)
    failed[[0, 1], 3] = failed[1, 7] = failed[2, 0] = failed[3, 2] = True
    assert failures(failed, "weak") == 2
    assert failures(failed, "anytime") == 4


def test_some_times_are_too_crowded_for_a_promise_and_certificates_make_one_all_the_same():
    *found, broken = windows_by_time(runs=20)
    assert [bool(finding.remark) for finding in found] == [True, True, False] * 2
    assert not any("at 0.0% of times" in finding.remark for finding in found)
    assert broken.side == "at least"
