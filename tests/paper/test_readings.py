"""Readings of panels: every curve has its rows, and as described is what simulations do."""

import dataclasses

import pytest

from bestbefore.paper.panels import Panel
from bestbefore.paper.readings import CURVES, MEASURES, Piece, run_piece
from bestbefore.simulate import explore, play
from bestbefore.streams import two_level, uniform

EXPLORE = Panel("explore", "uniform", 200, 20, (2, 4, 8))
REGRET = Panel("regret", "two-level", 100, 10, (2, 5, 10))
EVERLASTING = Panel("everlasting", "uniform", 100, 10, (2, 10))


@pytest.mark.parametrize("panel", [EXPLORE, REGRET, EVERLASTING], ids=lambda panel: panel.task)
def test_every_curve_of_every_task_has_a_row_for_each_memory(panel):
    for curve in CURVES[panel.task]:
        rows = run_piece(Piece(panel, curve, range(3, 5), seed=0))
        assert [(row["memory"], row["run"]) for row in rows] == [(m, run) for m in panel.memory for run in (3, 4)]
        for row in rows:
            assert (row["panel"], row["reading"], row["curve"]) == (panel.name, curve.reading, curve.name)
            assert all(isinstance(row[column], (float, bool)) for column in MEASURES[panel.task])


def test_runs_together_give_the_rows_of_each_alone():
    for panel, curve in ((EXPLORE, CURVES["explore"][3]), (EVERLASTING, CURVES["everlasting"][0])):
        together = run_piece(Piece(panel, curve, range(2), seed=0))
        alone = [row for run in (0, 1) for row in run_piece(Piece(panel, curve, range(run, run + 1), seed=0))]
        assert sorted(together, key=str) == sorted(alone, key=str)


def test_as_described_is_what_simulations_do():
    bucket = CURVES["explore"][0]
    (row, *_) = run_piece(Piece(EXPLORE, bucket, range(1, 2), seed=5))
    table = explore(uniform(200), 20, 2, "bucket", guarantee="strong", delta=0.01, runs=[1], seed=5)
    assert row["mean"] == table["mean"][0]
    (row, *_) = run_piece(Piece(REGRET, CURVES["regret"][0], range(1, 2), seed=5))
    played = play(two_level(100, 10), 10, 1000, 2, "reservoir", "ucb", runs=[1], seed=5)
    assert row["regret"] == played["regret"][0]


def test_pieces_have_names_of_their_own():
    """Another run, curve, length or memory is another piece: nothing that is stored is ever mixed up."""
    piece = Piece(EXPLORE, CURVES["explore"][0], range(1), 0)
    others = [
        dataclasses.replace(piece, runs=range(1, 2)),
        dataclasses.replace(piece, runs=range(10)),
        dataclasses.replace(piece, curve=CURVES["explore"][1]),
        dataclasses.replace(piece, panel=dataclasses.replace(EXPLORE, memory=(2, 4))),
        dataclasses.replace(piece, panel=dataclasses.replace(EXPLORE, arms=201)),
    ]
    assert len({piece.key, *(other.key for other in others)}) == 6
