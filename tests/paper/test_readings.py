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
    table = explore(uniform(200), 20, 2, "bucket", guarantee="strong", delta=0.01, runs=[1], seed=5)
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
