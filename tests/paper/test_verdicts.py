"""Verdicts on panels, and the summary: computed as data, and then put into words."""

import dataclasses
import math

import pytest

from bestbefore.paper import summary, verdicts, words
from bestbefore.paper.claims import CLAIMS
from bestbefore.paper.deviations import PUBLISHED
from bestbefore.paper.finding import share
from bestbefore.paper.numbers import Numbers
from bestbefore.paper.panels import Panel
from bestbefore.paper.readings import CURVES, MEASURES
from bestbefore.paper.slips import TRIALS

EXPLORE = Panel("explore", "uniform", 200, 20, (2, 4, 8))
REGRET = Panel("regret", "two-level", 100, 10, (2, 5, 10))
EVERLASTING = Panel("everlasting", "uniform", 100, 10, (2, 10))
FINDING = {"theorem": "t", "statement": "s", "setting": "x", "measured": "m"}


def rows_of(panel, curves, runs=2):
    """Make rows up: `curves` has a list of numbers, one for each memory, by reading and name."""
    return [
        {"panel": panel.name, "reading": reading, "curve": name, "memory": memory, "run": run}
        | dict.fromkeys(MEASURES[panel.task], value)
        for (reading, name), values in curves.items()
        for memory, value in zip(panel.memory, values, strict=True)
        for run in range(runs)
    ]


def explored(published_topk=(0.5, 0.5, 0.5), topk=(0.1, 0.05, 0.01), staircase=(0.1, 0.05, 0.01)):
    return rows_of(
        EXPLORE,
        {
            ("described", "bucket"): (0.4, 0.2, 0.1),
            ("described", "topk"): topk,
            ("published", "bucket"): (0.3, 0.15, 0.1),
            ("published", "topk"): published_topk,
            ("ours", "staircase"): staircase,
        },
    )


def played(published=(90, 95, 10), described=(80, 40, 10)):
    return rows_of(
        REGRET,
        {
            ("described", "reservoir x ucb"): described,
            ("described", "topk x commit"): (60, 60, 60),
            ("published", "reservoir x ucb"): published,
            ("published", "topk x commit"): (100, 100, 100),
            ("ours", "staircase x moss"): (5, 4, 4),
        },
    )


def holds(verdict):
    return [(one.published, one.described) for one in verdict.judgements]


def sentences(panel, rows):
    return words.of_verdict(verdicts.judge(panel, rows))


def lead(made):
    return words.lead(summary.summarise(made))


def advice(made):
    return words.advice(summary.summarise(made))


# Verdicts


def test_a_claim_that_comes_from_a_slip_holds_as_published_only():
    assert holds(verdicts.judge(EXPLORE, explored())) == [(True, False), (True, False)]
    assert holds(verdicts.judge(REGRET, played())) == [(True, False), (True, False)]


def test_claims_can_fall_as_published_and_stand_as_described():
    fallen = verdicts.judge(EXPLORE, explored(published_topk=(0.2, 0.1, 0.01), topk=(0.9, 0.9, 0.9)))
    assert holds(fallen) == [(False, True), (False, True)]
    steady = verdicts.judge(REGRET, played(published=(90, 80, 10), described=(50, 55, 5)))
    assert holds(steady) == [(True, True), (False, True)]


def test_regret_of_an_everlasting_arm_must_be_0_in_every_run():
    curves = {("described", "wait"): (50_000, 0), ("published", "wait"): (50_000, 1), ("ours", "seeker"): (10, 0)}
    rows = rows_of(EVERLASTING, curves)
    for row in rows:
        row["regret"] *= row["run"]
    assert holds(verdicts.judge(EVERLASTING, rows)) == [(False, True), (True, True)]


def test_a_duel_is_told_by_fields():
    published, described, ours = verdicts.judge(EXPLORE, explored(topk=(0.8, 0.2, 0.0))).duels
    assert [duel.reading for duel in (published, described, ours)] == ["published", "described", "ours"]
    bucket, topk = described.sides
    assert (bucket.role, bucket.curve, bucket.lower_at, bucket.factor, bucket.at) == ("paper", "bucket", (2,), 2.0, 2)
    assert (topk.role, topk.curve, topk.lower_at, topk.factor, topk.at) == ("baseline", "topk", (8,), math.inf, 8)
    assert described.equal_at == (4,)
    assert (described.lower, described.median) == ("", 1.0)
    assert (published.lower, round(published.median, 1)) == ("paper", 3.3)
    assert [side.role for side in ours.sides] == ["ours", "paper"]
    with pytest.raises(KeyError, match="role must be one of"):
        published.side("ours")


def test_the_table_says_who_is_lower_in_the_median():
    def told(topk):
        return words.who_is_lower(verdicts.judge(EXPLORE, explored(topk=topk)).duels[1])

    assert told((0.01, 0.01, 0.1)) == "topk, 20 times"
    assert told((0.8, 0.4, 0.2)) == "bucket, 2.0 times"
    assert told((0.0, 0.0, 0.0)) == "topk, to 0"
    assert told((0.4, 0.2, 0.1)) == "level"


def test_a_claim_or_a_reading_that_nobody_knows_raises():
    with pytest.raises(ValueError, match="claim must be one of 'explore-beats-baseline'"):
        verdicts.Judgement("Bucket's error is below the baseline's at every memory", True, True)
    with pytest.raises(ValueError, match="not 'regret-clif'"):
        verdicts.Tally("regret-clif", 1, 1, 1)
    with pytest.raises(KeyError, match="'everlasting' has no reading 'ours' with a baseline"):
        Numbers(EVERLASTING, []).of("ours", baseline=True)
    duel = verdicts.judge(EXPLORE, explored()).duels[0]
    with pytest.raises(ValueError, match="reading must be one of 'published', 'described', 'ours', not 'mine'"):
        words.of_duel(dataclasses.replace(duel, reading="mine"))


def test_sentences_name_the_winner_the_memory_and_the_factor():
    published, described, ours = sentences(EXPLORE, explored())
    assert published == "As published, bucket is lower at every memory, by up to a factor of 5.0 with memory 8."
    assert described == "As described, the baseline is lower at every memory, by up to a factor of 10 with memory 8."
    assert ours.endswith("ours is lower at every memory, by up to a factor of 10 with memory 8.")
    mixed = sentences(EXPLORE, explored(topk=(0.8, 0.2, 0.0), staircase=(0.4, 0.2, 0.1)))
    assert mixed[1] == (
        "As described, bucket is lower at 1 of 3 memories, by up to a factor of 2.0 with memory 2; the baseline is "
        "lower at 1 of 3 memories, by all of it, down to 0, with memory 8; they are equal at 1 of 3 memories."
    )
    assert mixed[2].endswith("they are equal at every memory.")
    close = sentences(EXPLORE, explored(published_topk=(0.301, 0.151, 0.104)))
    assert close[0] == "As published, bucket is lower at every memory, by less than 5%."


def test_regret_is_compared_at_three_tenths_of_the_window():
    assert sentences(REGRET, played())[-1] == "2 slots of ours lose 5, 10 of theirs 10: 50%."


def test_where_the_memories_of_a_panel_cannot_tell_nothing_is_said():
    panel = dataclasses.replace(REGRET, memory=(7,))
    curves = {(curve.reading, curve.name): (10.0,) for curve in CURVES["regret"]}
    verdict = verdicts.judge(panel, rows_of(panel, curves))
    assert holds(verdict) == [(False, False), (None, None)]
    assert [one.panels for one in verdicts.tally([verdict])] == [1, 0]
    assert verdict.economy is None
    assert "slots of ours" not in " ".join(words.of_verdict(verdict))
    lasting = dataclasses.replace(EVERLASTING, memory=(7,))
    curves = {(curve.reading, curve.name): (10.0,) for curve in CURVES["everlasting"]}
    assert holds(verdicts.judge(lasting, rows_of(lasting, curves))) == [(None, None), (None, None)]


def test_one_run_has_no_range_and_one_memory_no_slope():
    lasting = rows_of(EVERLASTING, {(one.reading, one.name): (10.0, 0.0) for one in CURVES["everlasting"]}, runs=1)
    assert holds(verdicts.judge(EVERLASTING, lasting)) == [(True, True), (None, None)]
    panel = dataclasses.replace(EXPLORE, memory=(8,))
    rows = rows_of(panel, {(one.reading, one.name): (0.1,) for one in CURVES["explore"]})
    assert holds(verdicts.judge(panel, rows))[1] == (None, None)


# Summary


def reproduction(**changes):
    rows = {EXPLORE.name: explored(), REGRET.name: played()}
    judged = {panel.name: verdicts.judge(panel, rows[panel.name]) for panel in (EXPLORE, REGRET)}
    findings = (share(0, 100, at_most=0.5, **FINDING),)
    made = summary.Reproduction((EXPLORE, REGRET), rows, judged, {}, findings, {})
    return dataclasses.replace(made, **changes)


def test_the_first_paragraph_says_it_all():
    first = lead(reproduction())[0]
    for part in (
        "The theorems stand: 1 of 1",
        "4 claims",
        "Computed right, the top-k baseline has a lower error than Bucket at every memory in 1 of 1 panel of",
        "exploration: in random order little has to be kept for later.",
        "falls with memory, with no step up of more than a tenth, in 1 of 1 panel,",
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
    told = advice(reproduction())
    assert "nowhere worse than Bucket" in told[0]
    assert "it loses 50% of what" in told[1]
    worse = {EXPLORE.name: explored(staircase=(0.9, 0.01, 0.01)), REGRET.name: played()}
    assert "mostly better" in advice(reproduction(rows=worse))[0]
    no_better = {EXPLORE.name: explored(staircase=(0.4, 0.2, 0.2)), REGRET.name: played()}
    assert "not better than Bucket at the same memory here." in advice(reproduction(rows=no_better))[0]
    perfect = {EXPLORE.name: explored(staircase=(0.0, 0.0, 0.0)), REGRET.name: played()}
    assert "nowhere worse than Bucket at the same memory here." in advice(reproduction(rows=perfect))[0]


def sought(published=(0.0, 0.0), described=(0.0, 0.0)):
    """Two runs of each: what they lose with 2 slots; nothing is lost with 10."""
    lost = {("published", "wait"): published, ("described", "wait"): described, ("ours", "seeker"): (0.0, 500.0)}
    rows = [
        {"reading": reading, "curve": name, "memory": memory, "run": run, "regret": lost[reading, name][run]}
        for reading, name in lost
        for memory in EVERLASTING.memory
        for run in (0, 1)
    ]
    return [row | {"regret": row["regret"] * (row["memory"] < 10)} for row in rows]


def reproduction_of_everlasting(rows):
    verdict = {EVERLASTING.name: verdicts.judge(EVERLASTING, rows)}
    return summary.Reproduction((EVERLASTING,), {EVERLASTING.name: rows}, verdict, {}, (), {})


def test_a_claim_that_falls_by_chance_is_no_slip():
    made = reproduction_of_everlasting(sought(published=(0.0, 90_000.0)))
    told = summary.summarise(made)
    tally = told.tally("everlasting-wide-range")
    assert tally.published > tally.described
    assert told.fallen == ()
    assert "footnote" not in lead(made)[0]
    with pytest.raises(ValueError, match="'everlasting-wide-range' has none"):
        words.of_slip(tally)


def test_the_worst_runs_are_compared_where_ours_is_better():
    (told,) = advice(reproduction_of_everlasting(sought(described=(0.0, 90_000.0))))
    assert "which loses 0.5% of all there is in its worst run here, where a sample loses 90.0% in its own." in told
    (told,) = advice(reproduction_of_everlasting(sought()))
    assert "race if there are fewer.  On" in told


def test_a_claim_that_falls_in_some_panels_only_is_not_said_to_be_gone():
    assert "draws, but not in what its text describes" in lead(reproduction())[0]
    other = dataclasses.replace(EXPLORE, arms=300)
    made = reproduction()
    rows = {**made.rows, other.name: explored(topk=(0.5, 0.5, 0.5))}
    judged = {**made.verdicts, other.name: verdicts.judge(other, rows[other.name])}
    more = dataclasses.replace(made, panels=(*made.panels, other), rows=rows, verdicts=judged)
    assert "draws, and less often or not at all in what its text describes" in lead(more)[0]
    tally = summary.summarise(more).tally("explore-beats-baseline")
    assert (tally.published, tally.described, tally.panels) == (2, 1, 2)
    assert words.of_tally(tally) == (
        "“Bucket's error is below the baseline's at every memory”: holds in 2 of 2 panels as published, in 1 as "
        "described."
    )


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
    assert "rest on 2 runs only: a first look" in lead(reproduction())[1]
    rows = rows_of(EXPLORE, {(curve.reading, curve.name): (0.3, 0.2, 0.1) for curve in CURVES["explore"]}, runs=5)
    many = reproduction(panels=(EXPLORE,), rows={EXPLORE.name: rows}, verdicts={})
    assert "first look" not in lead(many)[1]


def test_a_baseline_that_is_as_good_as_ours_is_said_to_be():
    assert "The baseline, computed right, is as good here" in advice(reproduction())[0]
    rows = {EXPLORE.name: explored(topk=(0.5, 0.4, 0.3)), REGRET.name: played()}
    assert "as good here" not in advice(reproduction(rows=rows))[0]
