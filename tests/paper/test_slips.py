"""What each difference between the published code and the text does."""

from bestbefore.paper.published import PUBLISHED
from bestbefore.paper.slips import TRIALS, run_trial


def value(task, *off):
    """Run the trial with these switches off; all of them are "as described"."""
    switches = PUBLISHED._fields if off == ("all",) else off
    (trial,) = (trial for trial in TRIALS if (trial.task, trial.off) == (task, switches))
    (row,) = run_trial(trial, runs=3)
    assert row["low"] <= row["value"] <= row["high"]
    return row["value"]


def test_only_both_slips_of_the_baseline_together_explain_its_error():
    """Either alone leaves it far from what it is as described."""
    assert value("explore") > 0.3
    assert value("explore", "extra_step") > 0.3
    assert value("explore", "integer_means", "misaligned_baseline") < 0.01
    assert value("explore", "all") < 0.01


def test_regret_below_memory_w_is_what_it_is_since_statistics_belong_to_other_arms():
    assert value("regret", "misaligned") < 0.3 * value("regret")


def test_trials_have_names_of_their_own():
    assert len({trial.key for trial in TRIALS}) == len(TRIALS)
