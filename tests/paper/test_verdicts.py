"""Readings of panels, verdicts on them, and the summary: computed, not written by hand."""

import dataclasses

import pytest

from bestbefore.paper import summary, verdicts
from bestbefore.paper.finding import share
from bestbefore.paper.panels import Panel
from bestbefore.paper.readings import CURVES, MEASURES, Piece, run_piece
from bestbefore.simulate import explore, play
from bestbefore.streams import two_level, uniform

EXPLORE = Panel("explore", "uniform", 200, 20, (2, 4, 8))
REGRET = Panel("regret", "two-level", 100, 10, (2, 5, 10))
EVERLASTING = Panel("everlasting", "uniform", 100, 10, (2, 10))


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


# Readings


@pytest.mark.parametrize("panel", [EXPLORE, REGRET, EVERLASTING], ids=lambda panel: panel.task)
def test_every_curve_of_every_task_has_a_row_for_each_memory(panel):
    for curve in CURVES[panel.task]:
        rows = run_piece(Piece(panel, curve, run=3, seed=0))
        assert [row["memory"] for row in rows] == list(panel.memory)
        for row in rows:
            assert (row["panel"], row["reading"], row["curve"], row["run"]) == (
                panel.name,
                curve.reading,
                curve.name,
                3,
            )
            assert all(isinstance(row[column], float) for column in MEASURES[panel.task])


def test_as_described_is_what_simulations_do():
    bucket = CURVES["explore"][0]
    (row, *_) = run_piece(Piece(EXPLORE, bucket, run=1, seed=5))
    table = explore(uniform(200), 20, 2, "bucket", delta=0.01, runs=[1], seed=5)
    assert row["mean"] == table["mean"][0]
    (row, *_) = run_piece(Piece(REGRET, CURVES["regret"][0], run=1, seed=5))
    played = play(two_level(100, 10), 10, 1000, 2, "reservoir", "ucb", runs=[1], seed=5)
    assert row["regret"] == played["regret"][0]


def test_pieces_have_names_of_their_own():
    """Another run, curve, length or memory is another piece: nothing that is stored is ever mixed up."""
    piece = Piece(EXPLORE, CURVES["explore"][0], 0, 0)
    others = [
        dataclasses.replace(piece, run=1),
        dataclasses.replace(piece, curve=CURVES["explore"][1]),
        dataclasses.replace(piece, panel=dataclasses.replace(EXPLORE, memory=(2, 4))),
        dataclasses.replace(piece, panel=dataclasses.replace(EXPLORE, arms=201)),
    ]
    assert len({piece.key, *(other.key for other in others)}) == 5


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


def test_sentences_name_the_winner_the_memory_and_the_factor():
    published, described, ours = verdicts.judge(EXPLORE, explored()).sentences
    assert published == "As published, bucket is lower at every memory, by up to a factor of 5.0 with memory 8."
    assert described == "As described, the baseline is lower at every memory, by up to a factor of 10 with memory 8."
    assert ours.endswith("ours is lower at every memory, by up to a factor of 10 with memory 8.")
    mixed = verdicts.judge(EXPLORE, explored(topk=(0.8, 0.2, 0.0), staircase=(0.4, 0.2, 0.1))).sentences
    assert mixed[1] == (
        "As described, bucket is lower at 1 of 3 memories, by up to a factor of 2.0 with memory 2; the baseline is "
        "lower at 1 of 3 memories, by all of it, down to 0, with memory 8; they are equal at 1 of 3 memories."
    )
    assert mixed[2].endswith("they are equal at every memory.")
    close = verdicts.judge(EXPLORE, explored(published_topk=(0.301, 0.151, 0.104))).sentences
    assert close[0] == "As published, bucket is lower at every memory, by less than 5%."


def test_regret_is_compared_at_three_tenths_of_the_window():
    assert verdicts.judge(REGRET, played()).sentences[-1] == "2 slots of ours lose 5, 10 of theirs 10: 50%."


def test_where_the_memories_of_a_panel_cannot_tell_nothing_is_said():
    panel = dataclasses.replace(REGRET, memory=(7,))
    curves = {(curve.reading, curve.name): (10.0,) for curve in CURVES["regret"]}
    verdict = verdicts.judge(panel, rows_of(panel, curves))
    assert holds(verdict) == [(False, False), (None, None)]
    assert [one.panels for one in verdicts.tally([verdict])] == [1, 0]
    assert "slots of ours" not in " ".join(verdict.sentences)
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
    words = {"theorem": "t", "statement": "s", "setting": "x", "measured": "m"}
    findings = (share(0, 100, at_most=0.5, **words),)
    made = summary.Reproduction((EXPLORE, REGRET), rows, judged, {}, findings, {})
    return dataclasses.replace(made, **changes)


def test_the_first_paragraph_says_it_all():
    lead = summary.summarise(reproduction()).lead[0]
    for words in (
        "The theorems stand: 1 of 1",
        "4 claims",
        "Computed right, the top-k baseline has a lower error than Bucket at every memory in 1 of 1 panel of",
        "exploration: in random order little has to be kept for later.",
        "falls with memory, with no step up of more than a tenth, in 1 of 1 panel,",
    ):
        assert words in lead


def test_slips_are_named_and_what_stands_is_not_among_them():
    told = summary.summarise(reproduction())
    assert len(told.slips) == 4
    assert "array of whole numbers" in told.slips[0]
    assert "statistics" in told.slips[3]
    assert told.stand == ()


def test_advice_is_counted_too():
    told = summary.summarise(reproduction())
    assert "nowhere worse than Bucket" in told.advice[0]
    assert "it loses 50% of what" in told.advice[1]
    worse = {EXPLORE.name: explored(staircase=(0.9, 0.01, 0.01)), REGRET.name: played()}
    assert "mostly better" in summary.summarise(reproduction(rows=worse)).advice[0]
    no_better = {EXPLORE.name: explored(staircase=(0.4, 0.2, 0.2)), REGRET.name: played()}
    assert (
        "not better than Bucket at the same memory here." in summary.summarise(reproduction(rows=no_better)).advice[0]
    )
    perfect = {EXPLORE.name: explored(staircase=(0.0, 0.0, 0.0)), REGRET.name: played()}
    assert (
        "nowhere worse than Bucket at the same memory here." in summary.summarise(reproduction(rows=perfect)).advice[0]
    )


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


def told_of_everlasting(rows):
    verdict = {EVERLASTING.name: verdicts.judge(EVERLASTING, rows)}
    return summary.summarise(summary.Reproduction((EVERLASTING,), {EVERLASTING.name: rows}, verdict, {}, (), {}))


def test_a_claim_that_falls_by_chance_is_no_slip():
    told = told_of_everlasting(sought(published=(0.0, 90_000.0)))
    assert told.tallies[1].published > told.tallies[1].described
    assert told.slips == ()
    assert "footnote" not in told.lead[0]


def test_the_worst_runs_are_compared_where_ours_is_better():
    (advice,) = told_of_everlasting(sought(described=(0.0, 90_000.0))).advice
    assert "which loses 0.5% of all there is in its worst run here, where a sample loses 90.0% in its own." in advice
    (advice,) = told_of_everlasting(sought()).advice
    assert "race if there are fewer.  On" in advice


def test_a_claim_that_falls_in_some_panels_only_is_not_said_to_be_gone():
    assert "draws, but not in what its text describes" in summary.summarise(reproduction()).lead[0]
    other = dataclasses.replace(EXPLORE, arms=300)
    made = reproduction()
    rows = {**made.rows, other.name: explored(topk=(0.5, 0.5, 0.5))}
    judged = {**made.verdicts, other.name: verdicts.judge(other, rows[other.name])}
    told = summary.summarise(dataclasses.replace(made, panels=(*made.panels, other), rows=rows, verdicts=judged))
    assert "draws, and less often or not at all in what its text describes" in told.lead[0]
    assert "holds in 2 of 2 panels as published, in 1 as described." in told.slips[0]


def test_a_theorem_that_does_not_hold_is_not_passed_over():
    words = {"theorem": "t", "statement": "s", "setting": "x", "measured": "m"}
    told = summary.summarise(reproduction(findings=(share(90, 100, at_most=0.5, **words),)))
    assert told.lead[0].startswith("Not all theorems were confirmed: 0 of 1")


def test_every_claim_that_can_fall_has_its_reason():
    claims = [claim for task in ("explore", "regret") for claim in verdicts.CLAIMS[task]]
    assert set(claims) == set(summary.SLIPS)


def test_few_runs_are_a_first_look():
    assert "rest on 2 runs only: a first look" in summary.summarise(reproduction()).lead[1]
    rows = rows_of(EXPLORE, {(curve.reading, curve.name): (0.3, 0.2, 0.1) for curve in CURVES["explore"]}, runs=5)
    many = reproduction(panels=(EXPLORE,), rows={EXPLORE.name: rows}, verdicts={})
    assert "first look" not in summary.summarise(many).lead[1]


def test_a_baseline_that_is_as_good_as_ours_is_said_to_be():
    assert "The baseline, computed right, is as good here" in summary.summarise(reproduction()).advice[0]
    rows = {EXPLORE.name: explored(topk=(0.5, 0.4, 0.3)), REGRET.name: played()}
    assert "as good here" not in summary.summarise(reproduction(rows=rows)).advice[0]
