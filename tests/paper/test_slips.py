"""What each difference between the published code and the text does."""

from bestbefore.paper.published import PUBLISHED
from bestbefore.paper.slips import QUESTIONS, TRIALS, run_trial


def value(task, *off):
    """Run the trial with these switches off; all of them, but that all n epochs count, are "as described"."""
    switches = tuple(one for one in PUBLISHED._fields if one != "partial_windows") if off == ("all",) else off
    (trial,) = (trial for trial in TRIALS.values() if (trial.question, trial.off) == (task, switches))
    (row,) = run_trial(trial, runs=3)
    assert row["trial"] == trial.id
    assert 0 < row["error"] < row["value"]
    return row["value"]


def test_the_whole_numbers_alone_explain_the_error_of_the_baseline():
    assert value("baseline") > 0.3
    assert value("baseline", "stale_minimum") > 0.3
    assert value("baseline", "integer_means") < 0.01
    assert value("baseline", "all") < 0.01


def test_only_two_slips_of_the_reservoir_together_explain_its_regret_below_memory_w():
    """Either alone leaves it far from what it is as described."""
    as_published = value("regret")
    assert value("regret", "misaligned") > 0.7 * as_published
    assert value("regret", "ignored_arms") > 0.7 * as_published
    assert value("regret", "misaligned", "ignored_arms") < 0.3 * as_published


def test_trials_have_names_of_their_own():
    """In the store, and on the page: each by its id, each with words of its own within its question."""
    assert len({trial.key for trial in TRIALS.values()}) == len(TRIALS) == 30
    assert len({(trial.question, trial.label) for trial in TRIALS.values()}) == len(TRIALS)
    assert {trial.question for trial in TRIALS.values()} == set(QUESTIONS)
    assert TRIALS["regret/misaligned+ignored_arms"].label == (
        "with statistics that move up with their arms and a first pull of every arm stored"
    )
    assert [TRIALS[f"baseline/{id}"].label for id in ("as-published", "as-described")] == [
        "as published",
        "as described",
    ]


def test_where_slots_divide_the_tests_the_borders_of_bucket_matter():
    """3 slots and 30 tests: a tenth of all means fall on a border.  Closed below the error is some 5% higher."""
    closed_below, closed_above = value("bucket"), value("bucket", "closed_below")
    assert 1.03 < closed_below / closed_above < 1.08


def test_every_switch_that_was_tried_is_named():
    for trial in TRIALS.values():
        assert set(trial.off) <= set(PUBLISHED._fields)
        assert QUESTIONS[trial.question].what.endswith(f"memory {trial.panel.memory[0]}")
