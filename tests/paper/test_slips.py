"""What each difference between the published code and the text does."""

from bestbefore.paper.published import PUBLISHED
from bestbefore.paper.slips import TRIALS, run_trial


def value(task, *off):
    """Run the trial with these switches off; all of them, but that all n epochs count, are "as described"."""
    switches = tuple(one for one in PUBLISHED._fields if one != "partial_windows") if off == ("all",) else off
    (trial,) = (trial for trial in TRIALS.values() if (trial.task, trial.off) == (task, switches))
    (row,) = run_trial(trial, runs=3)
    assert row["trial"] == trial.id
    assert row["low"] <= row["value"] <= row["high"]
    return row["value"]


def test_the_whole_numbers_alone_explain_the_error_of_the_baseline():
    assert value("explore") > 0.3
    assert value("explore", "stale_minimum") > 0.3
    assert value("explore", "integer_means") < 0.01
    assert value("explore", "all") < 0.01


def test_only_two_slips_of_the_reservoir_together_explain_its_regret_below_memory_w():
    """Either alone leaves it far from what it is as described."""
    as_published = value("regret")
    assert value("regret", "misaligned") > 0.7 * as_published
    assert value("regret", "ignored_arms") > 0.7 * as_published
    assert value("regret", "misaligned", "ignored_arms") < 0.3 * as_published


def test_trials_have_names_of_their_own():
    """In the store, and on the page: each by its id, each with words of its own within its task."""
    assert len({trial.key for trial in TRIALS.values()}) == len(TRIALS) == 14
    assert len({(trial.task, trial.label) for trial in TRIALS.values()}) == len(TRIALS)
    assert TRIALS["regret/misaligned+ignored_arms"].label == (
        "with statistics that move up with their arms and a first pull of every arm stored"
    )
    assert [TRIALS[f"explore/{id}"].label for id in ("as-published", "as-described")] == [
        "as published",
        "as described",
    ]
