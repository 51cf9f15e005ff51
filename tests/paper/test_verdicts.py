"""Verdicts on panels, and the summary: computed as data, and then put into words."""

import dataclasses
import math

import numpy as np
import pytest

from bestbefore.paper import summary, summary_words, verdicts, words
from bestbefore.paper.claims import CLAIMS
from bestbefore.paper.costs import Costed
from bestbefore.paper.deviations import PUBLISHED
from bestbefore.paper.earnings import CELLS, Cell, Earnings
from bestbefore.paper.finding import share
from bestbefore.paper.numbers import Numbers
from bestbefore.paper.panels import Panel
from bestbefore.paper.readings import CURVES, MEASURES
from bestbefore.paper.slips import TRIALS
from bestbefore.paper.verdicts import Ruling, Votes

EXPLORE = Panel("explore", "uniform", 200, 20, (2, 4, 8))
REGRET = Panel("regret", "two-level", 100, 10, (2, 5, 10))
EVERLASTING = Panel("everlasting", "uniform", 100, 10, (2, 10))
FINDING = {"theorem": "t", "statement": "s", "setting": "x", "measured": "m"}


def rows_of(panel, curves, runs=10, noise=0.0):
    """Make rows up: `curves` has a list of numbers, one for each memory, by reading and name.

    Each number comes with a noise of its own, relative to it.
    """
    rng = np.random.default_rng(1)
    return [
        {"panel": panel.name, "reading": reading, "curve": name, "memory": memory, "run": run}
        | dict.fromkeys(MEASURES[panel.task], value * (1 + noise * rng.normal()))
        for (reading, name), values in curves.items()
        for memory, value in zip(panel.memory, values, strict=True)
        for run in range(runs)
    ]


def explored(published_topk=(0.5, 0.5, 0.5), topk=(0.1, 0.05, 0.01), staircase=(0.1, 0.05, 0.01), runs=10, noise=0.01):
    curves = {
        ("described", "bucket"): (0.4, 0.2, 0.1),
        ("described", "topk"): topk,
        ("published", "bucket"): (0.3, 0.15, 0.1),
        ("published", "topk"): published_topk,
        ("ours", "staircase"): staircase,
    }
    return rows_of(EXPLORE, curves, runs, noise)


def played(published=(90, 95, 10), described=(80, 40, 10), runs=10, noise=0.001):
    curves = {
        ("described", "reservoir x ucb"): described,
        ("described", "topk x commit"): (60, 60, 60),
        ("published", "reservoir x ucb"): published,
        ("published", "topk x commit"): (100, 100, 100),
        ("ours", "heirs x fresh"): (5, 4, 4),
    }
    return rows_of(REGRET, curves, runs, noise)


def holds(verdict):
    return [
        (one.published and one.published.holds, one.described and one.described.holds) for one in verdict.judgements
    ]


def sentences(panel, rows):
    return words.of_verdict(verdicts.judge(panel, rows))


def lead(made):
    return summary_words.lead(summary.summarise(made))


def advice(made):
    return summary_words.advice(summary.summarise(made))


# Verdicts


def test_a_claim_that_comes_from_a_slip_holds_as_published_only():
    assert holds(verdicts.judge(EXPLORE, explored())) == [(True, False), (True, False)]
    assert holds(verdicts.judge(REGRET, played())) == [(True, False), (True, False)]


def test_claims_can_fall_as_published_and_stand_as_described():
    fallen = verdicts.judge(EXPLORE, explored(published_topk=(0.2, 0.1, 0.01), topk=(0.9, 0.9, 0.9)))
    assert holds(fallen) == [(False, True), (False, True)]
    steady = verdicts.judge(REGRET, played(published=(90, 80, 10), described=(50, 55, 5)))
    assert holds(steady) == [(True, True), (False, True)]


def test_luck_is_no_verdict():
    """Bucket is lower in the mean of these ten runs at every memory, but not by more than chance."""
    rows = explored(published_topk=(0.301, 0.151, 0.104), noise=0.1)
    numbers = Numbers(EXPLORE, rows)
    own, baseline = numbers.paired(("published", "paper"), ("published", "baseline"))
    assert all(own[memory].mean() < 1.1 * baseline[memory].mean() for memory in own)
    judged = verdicts.judge(EXPLORE, rows).judgements[0]
    assert judged.published == Ruling(None, 10)
    assert words.of_ruling(judged.published) == "ten runs cannot tell"
    assert ("explore-beats-baseline", "published") in [
        (one.id, reading) for one, reading in verdicts.judge(EXPLORE, rows).open()
    ]
    many = explored(published_topk=(0.32, 0.16, 0.11), noise=0.1, runs=200)
    assert verdicts.judge(EXPLORE, many).judgements[0].published == Ruling(True, 200)


def test_a_fall_between_two_memories_is_help_wherever_the_last_one_ends():
    """From .954 to .349 and up again, as at n = 10000, W = 50: the last is more than half of the first, and yet."""
    assert holds(verdicts.judge(EXPLORE, explored(published_topk=(0.954, 0.349, 0.48))))[1] == (False, False)
    assert holds(verdicts.judge(EXPLORE, explored(published_topk=(0.5, 0.3, 0.49))))[1] == (False, False)
    assert holds(verdicts.judge(EXPLORE, explored(published_topk=(0.5, 0.47, 0.49))))[1] == (True, False)


def test_regret_that_rises_must_also_drop_at_the_window():
    def rises(published):
        made = verdicts.judge(REGRET, played(published=published))
        return [one.published and one.published.holds for one in made.judgements]

    cliff, no_cliff = rises((90, 95, 10)), rises((90, 95, 96))
    assert (True, False) in zip(cliff, no_cliff, strict=True)


def test_curves_are_compared_in_the_runs_that_both_have():
    """A verdict may need more runs of one curve only."""
    rows = explored(runs=10) + [row for row in explored(runs=40) if row["run"] >= 10 and row["curve"] == "topk"]
    first, second = verdicts.judge(EXPLORE, rows).judgements
    assert (first.published.runs, second.published.runs) == (10, 40)
    rows = explored(runs=10) + [row for row in explored(runs=40) if row["run"] >= 10 and row["curve"] == "bucket"]
    first, second = verdicts.judge(EXPLORE, rows).judgements
    assert (first.published.runs, second.published.runs) == (10, 10)


def test_regret_of_an_everlasting_arm_must_be_0_in_every_run():
    curves = {("described", "wait"): (50_000, 0), ("published", "wait"): (50_000, 1), ("ours", "seeker"): (10, 0)}
    rows = rows_of(EVERLASTING, curves, runs=50)
    for row in rows:
        row["regret"] *= row["run"] % 3
    assert holds(verdicts.judge(EVERLASTING, rows)) == [(False, True), (True, True)]


def test_the_range_is_that_of_ten_runs_however_many_there_are():
    """One run in fifty loses: of 200 runs the range is wide, of ten it mostly is not."""
    curves = {("described", "wait"): (50_000, 0), ("published", "wait"): (50_000, 0), ("ours", "seeker"): (10, 0)}
    rows = rows_of(EVERLASTING, curves, runs=200)
    for row in rows:
        row["regret"] *= row["run"] % 50 == 0
    assert holds(verdicts.judge(EVERLASTING, rows))[1] != (True, True)


def test_a_duel_is_told_by_fields():
    rows = explored(topk=(0.8, 0.2, 0.0), noise=0.01)
    published, described, ours = verdicts.judge(EXPLORE, rows).duels
    assert [duel.reading for duel in (published, described, ours)] == ["published", "described", "ours"]
    bucket, topk = described.sides
    assert (bucket.role, bucket.curve, bucket.lower_at) == ("paper", "bucket", (2,))
    assert (topk.role, topk.curve, topk.lower_at) == ("baseline", "topk", (8,))
    assert described.untold_at == (4,)
    assert described.lower == ""
    assert published.lower == "paper"
    assert 3.2 < published.low < 3.34 < published.high < 3.5
    assert [side.role for side in ours.sides] == ["ours", "paper"]
    with pytest.raises(KeyError, match="role must be one of"):
        published.side("ours")


def test_the_table_says_who_is_lower_in_the_median():
    def told(topk, noise=0.001):
        return words.who_is_lower(verdicts.judge(EXPLORE, explored(topk=topk, noise=noise)).duels[1])

    assert told((0.01, 0.01, 0.1)) == "topk, 20 times"
    assert told((0.8, 0.4, 0.2)) == "bucket, 2.0 times"
    assert told((0.0, 0.0, 0.0)) == "topk, down to 0"
    assert told((0.4, 0.2, 0.1)) == "level"
    assert told((0.5, 0.25, 0.12), noise=0.6) == "cannot tell"


def test_a_claim_or_a_reading_that_nobody_knows_raises():
    with pytest.raises(ValueError, match="claim must be one of 'explore-beats-baseline'"):
        verdicts.Judgement("Bucket's error is below the baseline's at every memory", None, None)
    with pytest.raises(ValueError, match="not 'regret-clif'"):
        verdicts.Tally("regret-clif", Votes(1, 0, 0), Votes(1, 0, 0))
    with pytest.raises(KeyError, match="'everlasting' has no curve of reading 'ours' and role 'baseline'"):
        Numbers(EVERLASTING, []).runs("ours", "baseline")
    duel = verdicts.judge(EXPLORE, explored()).duels[0]
    with pytest.raises(ValueError, match="reading must be one of 'published', 'described', 'ours', not 'mine'"):
        words.of_duel(dataclasses.replace(duel, reading="mine"))


def test_sentences_name_the_winner_the_memories_and_an_interval():
    published, described, ours = sentences(EXPLORE, explored(noise=0.001))
    assert published == "As published, bucket is lower at every memory, 3.3 times in the median."
    assert described == "As described, the baseline is lower at every memory, 4.0 times in the median."
    assert ours.endswith("ours is lower at every memory, 4.0 times in the median.")
    mixed = sentences(EXPLORE, explored(topk=(0.8, 0.2, 0.0), staircase=(0.4, 0.2, 0.1)))
    assert mixed[1] == (
        "As described, bucket is lower at 1 of 3 memories; the baseline is lower at 1 of 3 memories; ten runs cannot "
        "tell at 1 of 3 memories."
    )
    assert mixed[2].endswith("ten runs cannot tell at every memory.")
    noisy = sentences(EXPLORE, explored(noise=0.1))
    assert noisy[0].startswith("As published, bucket is lower at every memory, 3.")
    assert " to 3." in noisy[0]


def test_regret_is_compared_at_three_tenths_of_the_window():
    assert sentences(REGRET, played())[-1] == "2 slots of ours lose 50% of what 10 of theirs lose."


def test_where_a_claim_says_nothing_of_the_memories_of_a_panel_it_is_not_judged():
    panel = dataclasses.replace(REGRET, memory=(7,))
    curves = {(curve.reading, curve.name): (10.0,) for curve in CURVES["regret"]}
    verdict = verdicts.judge(panel, rows_of(panel, curves))
    assert holds(verdict) == [(False, False), (None, None)]
    assert verdict.judgements[1].published is None
    assert not list(verdict.open())
    assert [one.published.all for one in verdicts.tally([verdict])] == [1, 0]
    assert verdict.economy is None
    assert "slots of ours" not in " ".join(words.of_verdict(verdict))
    lasting = dataclasses.replace(EVERLASTING, memory=(7,))
    curves = {(curve.reading, curve.name): (10.0,) for curve in CURVES["everlasting"]}
    assert [one.published for one in verdicts.judge(lasting, rows_of(lasting, curves)).judgements] == [None, None]


def test_two_runs_tell_nothing():
    verdict = verdicts.judge(EXPLORE, explored(runs=2))
    assert holds(verdict) == [(None, None), (None, None)]
    assert words.of_ruling(verdict.judgements[0].published) == "2 runs cannot tell"
    assert {words.who_is_lower(duel) for duel in verdict.duels} == {"cannot tell"}
    assert sentences(REGRET, played(runs=2))[-1].startswith("2 slots of ours lose an unknown share")


# Summary


def reproduction(explored_rows=None, **changes):
    rows = {EXPLORE.name: explored_rows or explored(), REGRET.name: played()}
    judged = {panel.name: verdicts.judge(panel, rows[panel.name]) for panel in (EXPLORE, REGRET)}
    findings = (share(0, 100, at_most=0.5, **FINDING),)
    made = summary.Reproduction((EXPLORE, REGRET), rows, judged, {}, findings, {}, 10)
    return dataclasses.replace(made, **changes)


def test_the_first_paragraph_says_it_all():
    first = lead(reproduction())[0]
    for part in (
        "The theorems stand: 1 of 1",
        "4 claims",
        "Computed right, the top-k baseline has a lower error than Bucket at every memory in 1 of 1 panel of",
        "exploration: in random order little has to be kept for later.",
        "falls with memory, and is nowhere a tenth higher than with less, in 1 of 1 panel,",
    ):
        assert part in first


def test_slips_are_named_and_what_stands_is_not_among_them():
    told = summary.summarise(reproduction())
    assert told.fallen == (
        "explore-beats-baseline",
        "explore-baseline-flat",
        "regret-beats-baseline",
        "regret-cliff",
    )
    assert "array of whole numbers" in words.of_slip(told.tally("explore-beats-baseline"))
    assert "statistics" in words.of_slip(told.tally("regret-cliff"))
    assert told.stand == ()
    with pytest.raises(KeyError, match="'everlasting-no-regret' is on a task that was not run"):
        told.tally("everlasting-no-regret")


def test_advice_is_counted_too():
    told = advice(reproduction(explored(noise=0.001)))
    assert "its error is lower than Bucket's at every memory, counting all panels, and nowhere higher; in" in told[0]
    assert "about 4 times lower" in told[0]
    assert "it loses 50% of what" in told[1]
    worse = advice(reproduction(explored(staircase=(0.9, 0.01, 0.01))))[0]
    assert "lower than Bucket's at 2 of 3 memories, counting all panels, and higher at 1; in" in worse
    no_better = advice(reproduction(explored(staircase=(0.4, 0.2, 0.2))))[0]
    assert "lower than Bucket's at 0 of 3 memories, counting all panels, and higher at 1.  Told" in no_better
    perfect = advice(reproduction(explored(staircase=(0.0, 0.0, 0.0))))[0]
    assert "nowhere higher; in the median over panels it is 0." in perfect


def sought(published=0.0, described=0.0):
    """Fifty runs of each: every other one loses so much with 2 slots; nothing is lost with 10."""
    lost = {("published", "wait"): published, ("described", "wait"): described, ("ours", "seeker"): 500.0}
    return [
        {"reading": reading, "curve": name, "memory": memory, "run": run}
        | {"regret": loses * lost[reading, name], "found": not loses}
        for reading, name in lost
        for memory in EVERLASTING.memory
        for run in range(50)
        for loses in [memory < 10 and run % 2 == 1]
    ]


def reproduction_of_everlasting(rows):
    verdict = {EVERLASTING.name: verdicts.judge(EVERLASTING, rows)}
    return summary.Reproduction((EVERLASTING,), {EVERLASTING.name: rows}, verdict, {}, (), {}, 10)


def test_a_claim_that_falls_without_a_slip_is_not_said_to_come_from_one():
    made = reproduction_of_everlasting(sought(published=90_000.0))
    told = summary.summarise(made)
    tally = told.tally("everlasting-wide-range")
    assert (tally.published, tally.described) == (Votes(1, 0, 0), Votes(0, 1, 0))
    assert told.fallen == ()
    assert "footnote" not in lead(made)[0]
    with pytest.raises(ValueError, match="'everlasting-wide-range' has none"):
        words.of_slip(tally)


def test_what_is_rare_is_told_by_means_over_many_runs_and_by_how_often_it_was_found():
    (told,) = advice(reproduction_of_everlasting(sought(described=90_000.0)))
    assert "with 50 runs at each memory of each panel, racing found it in 50% of them and lost 0.2% of" in told
    assert "waiting with a sample, as described, found it in 50% and lost 45.0%." in told


def test_who_earns_what_is_said_from_the_numbers():
    """Regret 100 in all cells but some; a standard error of 1% makes a factor of 2 one of 1.9 to 2.1."""

    def told(**changed):
        numbers = dict.fromkeys(CELLS, 100.0) | {
            Cell("two-level", *name.split("_", 1)[0:1], *name.split("_")[1:2], int(name.split("_")[2])): value
            for name, value in changed.items()
        }
        rows = [dataclasses.asdict(cell) | {"regret": value, "error": value / 100} for cell, value in numbers.items()]
        return summary_words.of_earnings(Earnings(rows))

    memory, index, keep = told(heirs_fresh_6=200.0, fifo_ucb_20=500.0, topk_fresh_2=1000.0)
    assert "heirs x fresh loses 1.9 to 2.1 times as much with 6 slots as with 20" in memory
    assert "moss loses 4.9 to 5.1 times less than ucb" in index
    assert "and fresh 4.9 to 5.1 times less; with 6 slots and heirs" in index
    assert (
        "heirs loses 1.9 to 2.1 times more with 6 slots in random order, and loses 9.7 to 10 times less with 2" in keep
    )
    assert "where means fall, it cannot be told from it with 6 slots" in keep


def test_what_answers_cost_is_told_as_it_was_measured():
    costed = Costed(
        panels=2,
        settings=6,
        fewer=(7.2, 421.0),
        fewer_than_pairs=(3.2, 263.0),
        more_with_less=True,
        worst=0.764,
        above=0,
        certified=1.0,
        mean=0.15,
        mean_of_paper=0.123,
        mean_by_pairs=0.004,
    )

    def told(**changed):
        return summary_words.of_costs(dataclasses.replace(costed, **changed))

    saved, kept, given_up = told()
    assert saved.endswith(
        "take 7.2 to 421 times fewer pulls than Algorithm 1, over 6 settings of 2 panels: in each panel the more, the "
        "smaller epsilon is."
    )
    assert kept == (
        "What is kept: all answers were certified, and the worst error at any time of any run was 76% of epsilon."
    )
    assert given_up.endswith(
        "In the median, the mean error is 15% of epsilon, that of Algorithm 1 12%, and that of fixed tests by pairs, "
        "with 3.2 to 263 times as many pulls, 0.4%."
    )
    assert "in each panel" not in told(more_with_less=False)[0]
    assert told(above=1, worst=1.2, certified=0.987)[1] == (
        "What is kept: at least 98.7% of answers were certified, and the worst error was above epsilon in 1 of 6 "
        "settings, up to 120% of it."
    )
    assert told(mean=0.004)[2].startswith("Nothing is given up here: in the median, the mean error is 0.4% of epsilon")


def test_a_claim_that_falls_in_some_panels_only_is_not_said_to_be_gone():
    assert "draws, but not in what its text describes" in lead(reproduction())[0]
    other = dataclasses.replace(EXPLORE, arms=300)
    made = reproduction()
    rows = {**made.rows, other.name: explored(topk=(0.5, 0.5, 0.5))}
    judged = {**made.verdicts, other.name: verdicts.judge(other, rows[other.name])}
    more = dataclasses.replace(made, panels=(*made.panels, other), rows=rows, verdicts=judged)
    assert "draws, and less often or not at all in what its text describes" in lead(more)[0]
    tally = summary.summarise(more).tally("explore-beats-baseline")
    assert (tally.published, tally.described) == (Votes(2, 0, 0), Votes(1, 1, 0))
    assert words.of_tally(tally) == (
        "“Bucket's error is below the baseline's at every memory”: holds in 2 of 2 panels as published, in 1 as "
        "described."
    )
    unsure = dataclasses.replace(tally, described=Votes(1, 0, 1))
    assert words.of_tally(unsure).endswith("in 1 as described (1 cannot tell).")


def test_a_theorem_that_does_not_hold_is_not_passed_over():
    broken = share(90, 100, at_most=0.5, **FINDING)
    assert lead(reproduction(findings=(broken,)))[0].startswith("Not all theorems were confirmed: 0 of 1")


def test_every_claim_that_comes_from_a_slip_names_switches_that_were_tried():
    for claim in CLAIMS.values():
        assert (claim.slip is None) == (claim.task == "everlasting")
        if claim.slip:
            assert set(claim.slip.switches) <= set(PUBLISHED._fields)
    tried = {trial.off for trial in TRIALS.values()}
    assert {claim.slip.switches for claim in CLAIMS.values() if claim.slip} <= tried


def test_few_runs_are_a_first_look():
    assert "there are 2 runs only: a first look" in lead(reproduction(explored(runs=2), runs=2))[1]
    assert "first look" not in lead(reproduction())[1]


def test_a_baseline_that_is_as_good_as_ours_is_said_to_be():
    assert "The baseline, computed right, is as good here" in advice(reproduction())[0]
    assert "as good here" not in advice(reproduction(explored(topk=(0.5, 0.4, 0.3))))[0]


def test_an_infinite_factor_is_said_in_words():
    assert words.between(2.0, math.inf) == "2.0 or more"
