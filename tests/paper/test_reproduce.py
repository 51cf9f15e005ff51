"""The whole paper at once, here in little: pieces, data that is missing, results that are kept."""

import dataclasses
import io
import json
import logging
import os
import platform
import signal
import subprocess
import sys
import time

import pytest

from bestbefore.errors import DataMissing
from bestbefore.paper import reproduce as paper
from bestbefore.paper.numbers import Numbers
from bestbefore.paper.panels import DATA, PAPER, Panel
from bestbefore.paper.readings import CURVES, Piece, run_piece
from bestbefore.streams import movielens_place

PANELS = [
    Panel("explore", "uniform", 60, 10, (2, 4)),
    Panel("regret", "two-level", 40, 10, (3, 10)),
    Panel("everlasting", "uniform", 60, 10, (2, 10)),
]
MOVIES = Panel("explore", "movielens", 5, 2, (1, 2))


def run(folder, panels=PANELS, **settings):
    return paper.reproduce(
        panels,
        folder,
        **{"runs": 2, "more_runs": 0, "jobs": 1, "theorems_too": False, "progress": False} | settings,
    )


def lines(folder):
    return (folder / "results.jsonl").read_text().splitlines()


def without_time(made):
    return made.panels, made.rows, made.verdicts, made.findings


# Choosing


def test_a_pattern_chooses_panels_by_their_names():
    assert len(paper.chosen()) == 50
    assert {panel.task for panel in paper.chosen("regret")} == {"regret"}
    assert [panel.name for panel in paper.chosen("explore-uniform-n1000-w5*")] == ["explore-uniform-n1000-w50"]
    assert [panel.name for panel in paper.chosen("explore-uniform-n1000-w20")] == ["explore-uniform-n1000-w20"]
    assert {panel.window for panel in paper.chosen("explore-*-w20")} == {20}
    assert paper.chosen("dance") == []
    assert paper.with_theorems("theorems", quick=True)
    assert paper.with_theorems(None, quick=False)
    assert not paper.with_theorems(None, quick=True)
    assert not paper.with_theorems("regret", quick=False)


def test_quick_panels_are_small_and_none_comes_twice():
    quick = paper.chosen(quick=True)
    assert max(panel.arms for panel in quick) <= 400
    assert len({panel.name for panel in quick}) == len(quick) < len(PAPER)
    assert paper.chosen(quick=True, panels=[Panel("explore", "uniform", 1000, 10, (4,))])[0].memory == (4,)


# Running


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A first run, in two processes."""
    folder = tmp_path_factory.mktemp("first")
    return folder, run(folder, jobs=2)


def test_every_panel_has_all_rows_and_a_verdict(first):
    _, made = first
    assert made.panels == tuple(PANELS)
    for panel, curves in zip(PANELS, (5, 5, 3), strict=True):
        assert len(made.rows[panel.name]) == curves * len(panel.memory) * 2
        assert made.verdicts[panel.name].duels
    assert made.left_out == {}
    assert made.made["runs"] == "2 of each curve and memory"
    assert "command" not in made.made  # there was none


def test_the_same_seed_gives_the_same_numbers_with_one_process_or_two(first, tmp_path):
    assert without_time(run(tmp_path, jobs=1)) == without_time(first[1])
    name = PANELS[0].name
    assert run(tmp_path, PANELS[:1], seed=1).rows[name] != first[1].rows[name]


def test_a_second_run_computes_nothing_and_more_runs_only_what_is_new(first):
    folder, made = first
    before = lines(folder)
    assert without_time(run(folder)) == without_time(made)
    assert lines(folder) == before
    more = run(folder, runs=3)
    assert len(lines(folder)) == len(before) * 3 // 2
    assert [row for row in more.rows[PANELS[0].name] if row["run"] < 2] == made.rows[PANELS[0].name]


def test_where_the_runs_of_the_figure_cannot_tell_more_are_done_of_the_curves_in_question(tmp_path):
    """Ten arms are so few that the baseline, of which errors are 0 now and then, needs more runs; Bucket does not."""
    panel = Panel("explore", "uniform", 60, 10, (4, 8))
    few = run(tmp_path, [panel], runs=5)
    open_ones = {(one.id, reading) for one, reading in few.verdicts[panel.name].open()}
    assert open_ones
    more = run(tmp_path, [panel], runs=5, more_runs=25)
    counts = {
        curve: sum((row["reading"], row["curve"]) == (curve.reading, curve.name) for row in more.rows[panel.name])
        for curve in CURVES["explore"]
    }
    wanted = {(reading, role) for one, reading in few.verdicts[panel.name].open() for role in one.roles}
    for curve, count in counts.items():
        assert count == 2 * (25 if (curve.reading, curve.role) in wanted else 5)
    for judgement in more.verdicts[panel.name].judgements:
        for reading in ("published", "described"):
            assert judgement.ruling(reading).runs == (25 if (judgement.claim, reading) in open_ones else 5) or wanted
    before = lines(tmp_path)
    assert without_time(run(tmp_path, [panel], runs=5, more_runs=25)) == without_time(more)
    assert lines(tmp_path) == before


def test_panels_of_what_is_rare_always_have_more_runs(tmp_path):
    made = run(tmp_path, PANELS[2:], more_runs=15)
    assert {row["run"] for row in made.rows[PANELS[2].name]} == set(range(15))
    assert made.runs == 2


def test_fresh_starts_over_with_the_chosen_panels_and_no_others(tmp_path):
    run(tmp_path, PANELS[2:])
    before = len(lines(tmp_path))
    run(tmp_path, PANELS[2:], fresh=True)
    assert len(lines(tmp_path)) == 2 * before + 1
    run(tmp_path, PANELS[:1])
    run(tmp_path, PANELS[:1], fresh=True)
    after = len(lines(tmp_path))
    run(tmp_path, PANELS[2:])
    assert len(lines(tmp_path)) == after


def test_panels_of_one_name_are_refused_before_anything_is_mixed(tmp_path):
    twins = [PANELS[0], Panel("explore", "uniform", 60, 10, (8,))]
    with pytest.raises(ValueError, match=r"^panels must have different names, .*: explore-uniform-n60-w10$"):
        run(tmp_path, twins)


def test_theorems_are_pieces_too(tmp_path, monkeypatch):
    monkeypatch.setattr(paper.theorems, "THEOREMS", {"sample": paper.theorems.THEOREMS["sample"]})
    monkeypatch.setattr(paper, "TRIALS", {"baseline/as-published": paper.TRIALS["baseline/as-published"]})
    monkeypatch.setattr(paper, "CELLS", paper.CELLS[:1])
    made = run(tmp_path, PANELS[:1], theorems_too=True)
    assert [finding.theorem for finding in made.findings] == ["sample", "sample"]
    assert made.findings == tuple(paper.theorems.run(["sample"]))
    assert [slip["trial"] for slip in made.slips] == ["baseline/as-published"]
    assert [(row["keep"], row["memory"]) for row in made.earnings] == [("fifo", 2)]
    assert [(row["panel"], row["memory"], row["way"]) for row in made.costs] == [
        (PANELS[0].name, 4, way) for way in ("paper", "pairs", "exact", "certify")
    ]


def test_what_an_answer_costs_with_movies_depends_on_the_data(tmp_path, monkeypatch):
    """So rows of other data are never taken for these: their keys have the fingerprint of the movies."""
    for name in ("TRIALS", "CELLS"):
        monkeypatch.setattr(paper, name, type(getattr(paper, name))())
    monkeypatch.setattr(paper.theorems, "THEOREMS", {})
    movies = dataclasses.replace(MOVIES, memory=(4,))
    first = run(tmp_path / "out", [movies], theorems_too=True, data=write_movies(tmp_path))
    assert [row["way"] for row in first.costs] == ["paper", "pairs", "certify"]
    os.utime(write_movies(tmp_path, stars=3) / "ml-1m" / "ratings.dat", (1, 1))
    again = run(tmp_path / "out", [movies], theorems_too=True, data=tmp_path)
    assert again.costs[-1]["pulls"] != first.costs[-1]["pulls"]
    keys = [key for key in (json.loads(line)["piece"] for line in lines(tmp_path / "out")) if key.startswith("costs/")]
    assert len(set(keys)) == len(keys) == 2


# MovieLens


def write_movies(folder, stars=5):
    """Write a MovieLens 1M of five movies."""
    data = folder / "ml-1m"
    data.mkdir(exist_ok=True)
    data.joinpath("movies.dat").write_text("".join(f"{i}::M{i} (199{i})::Drama\n" for i in range(1, 6)))
    times = 978_300_000
    ratings = [
        f"{user}::{movie}::{(user * movie) % stars + 1}::{times + user}\n" for user in (1, 2) for movie in range(1, 6)
    ]
    data.joinpath("ratings.dat").write_text("".join(ratings))
    return folder


def test_a_wrong_path_to_data_is_told_at_once(tmp_path):
    with pytest.raises(DataMissing, match=r"MovieLens 1M is not at '.*elsewhere', nothing is there: get"):
        run(tmp_path, [*PANELS, MOVIES], data=tmp_path / "elsewhere")
    assert not list(tmp_path.iterdir())


def test_panels_without_data_are_left_out_by_name_with_the_way_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("BESTBEFORE_DATA", str(tmp_path))
    made = run(tmp_path / "out", [*PANELS[2:], MOVIES])
    assert made.panels == tuple(PANELS[2:])
    assert list(made.left_out) == [MOVIES.name]
    assert "MovieLens 1M" in made.left_out[MOVIES.name]
    with pytest.raises(ValueError, match=r"nothing to run: .*MovieLens 1M"):
        run(tmp_path / "out", [MOVIES])
    with pytest.raises(ValueError, match=r"nothing to run: MovieLens 1M is not") as caught:
        run(tmp_path / "out", [MOVIES, dataclasses.replace(MOVIES, window=3)])
    assert str(caught.value).count("MovieLens 1M is not") == 1


def test_a_download_that_failed_is_not_tried_again_for_other_panels(tmp_path, monkeypatch):
    """Three sorts of data come from MovieLens latest-small, and two from 1M."""
    pooch = pytest.importorskip("pooch")
    monkeypatch.delenv("BESTBEFORE_DATA", raising=False)
    monkeypatch.setattr(movielens_place, "SERVER", "http://127.0.0.1:1")
    monkeypatch.setattr(movielens_place, "cache_folder", lambda: tmp_path / "cache")
    movies = [dataclasses.replace(MOVIES, data=data) for data in DATA if data.startswith("movielens")]
    said = io.StringIO()
    listening = logging.StreamHandler(said)
    pooch.get_logger().addHandler(listening)
    try:
        with pytest.raises(ValueError, match="nothing to run: MovieLens 1M is not here, and its download failed"):
            run(tmp_path / "out", movies)
    finally:
        pooch.get_logger().removeHandler(listening)
    assert [said.getvalue().count(f"/{name}.zip' to file") for name in ("ml-1m", "ml-latest-small")] == [1, 1]


def test_other_data_is_never_mixed_with_what_is_stored(tmp_path):
    first = run(tmp_path / "out", [MOVIES], data=write_movies(tmp_path))
    again = run(tmp_path / "out", [MOVIES], data=tmp_path)
    assert first.rows == again.rows
    os.utime(write_movies(tmp_path, stars=3) / "ml-1m" / "ratings.dat", (1, 1))
    assert run(tmp_path / "out", [MOVIES], data=tmp_path).rows != first.rows


def test_data_is_told_apart_by_all_of_its_movies_whichever_panels_are_chosen(tmp_path):
    """A panel of one movie, and one of four: none is computed again after the other, nor kept if any movie differs."""
    one, some = (dataclasses.replace(MOVIES, arms=arms, memory=(1,)) for arms in (1, 4))
    run(tmp_path / "out", [one, some], data=write_movies(tmp_path))
    before = lines(tmp_path / "out")
    for panel in (one, some):
        run(tmp_path / "out", [panel], data=tmp_path)
    assert lines(tmp_path / "out") == before
    ratings = tmp_path / "ml-1m" / "ratings.dat"
    prints = set()
    for movie in range(1, 5):  # the fifth has nothing but ones
        ratings.write_text(
            write_movies(tmp_path).joinpath("ml-1m", "ratings.dat").read_text() + f"3::{movie}::1::978300003\n"
        )
        os.utime(ratings, (movie, movie))
        prints |= set(paper._movielens([one], str(tmp_path))[0].values())
    assert len(prints) == 4
    run(tmp_path / "out", [one], data=tmp_path)
    assert len(lines(tmp_path / "out")) == len(before) * 3 // 2, "the panel of one movie is computed again"


def test_panels_of_more_movies_than_there_are_are_left_out(tmp_path):
    more = dataclasses.replace(MOVIES, arms=6)
    made = run(tmp_path / "out", [MOVIES, more], data=write_movies(tmp_path))
    assert made.panels == (MOVIES,)
    assert made.left_out == {more.name: "only 5 movies are rated in this MovieLens 1M"}


def test_a_damaged_file_is_an_error_and_no_reason_to_leave_a_panel_out(tmp_path):
    write_movies(tmp_path).joinpath("ml-1m", "ratings.dat").write_text("1::1::9::978300000\n")
    with pytest.raises(ValueError, match="line 1"):
        run(tmp_path / "out", [MOVIES], data=tmp_path)


@pytest.mark.parametrize(("settings", "message"), [({"runs": 0}, "runs must be"), ({"seed": -1}, "seed must be")])
def test_bad_numbers_are_named(settings, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        run(tmp_path, **settings)


# Stopped and taken up again


def test_ctrl_c_keeps_what_is_done_and_the_next_run_goes_on_there(tmp_path):
    script = (
        "from bestbefore.paper import reproduce as paper\n"
        "from bestbefore.paper.panels import Panel\n"
        "if __name__ == '__main__':\n"
        "    panels = [Panel('explore', 'uniform', 20_000, 10, (2, 4))]\n"
        f"    paper.reproduce(panels, {str(tmp_path)!r}, runs=200, jobs=1, theorems_too=False)\n"
    )
    file = tmp_path / "work.py"
    file.write_text(script)
    work = subprocess.Popen([sys.executable, file], stderr=subprocess.PIPE)  # noqa: S603
    results = tmp_path / "results.jsonl"
    while work.poll() is None and (not results.exists() or results.read_bytes().count(b"\n") < 3):
        time.sleep(0.02)
    work.send_signal(signal.SIGINT)
    work.communicate(timeout=60)
    done = [json.loads(line)["piece"] for line in lines(tmp_path)]
    assert 3 <= len(done) < 1000
    panel = Panel("explore", "uniform", 20_000, 10, (2, 4))
    run(tmp_path, [panel], runs=1)
    after = [json.loads(line)["piece"] for line in lines(tmp_path)]
    assert after[: len(done)] == done
    assert len(set(after)) == len(after), "nothing was done twice"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The address of a real cluster of two processes, neither of which has MovieLens."""
    distributed = pytest.importorskip("distributed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BESTBEFORE_DATA", str(tmp_path_factory.mktemp("workers")))  # which they keep as it is now
        running = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with running:
        yield running.scheduler_address


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_cluster_gives_the_same_numbers(first, tmp_path, cluster):
    assert without_time(run(tmp_path, cluster=cluster)) == without_time(first[1])


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_movies_that_only_the_client_has_are_missed_by_a_worker_which_is_named(tmp_path, cluster, monkeypatch):
    monkeypatch.setenv("BESTBEFORE_DATA", str(write_movies(tmp_path)))
    with pytest.raises(DataMissing) as caught:
        run(tmp_path / "out", [MOVIES], cluster=cluster)
    said = str(caught.value)
    assert said.startswith(f"the worker on {platform.node()!r} does not find the data: MovieLens 1M is not at ")
    assert "under the same path" in said
    assert said.endswith("without --data, set BESTBEFORE_DATA there")
    assert str(tmp_path) not in said, "the client's place is not the one where the worker has looked"


def test_workers_are_told_a_path_that_does_not_depend_on_where_they_stand(tmp_path, monkeypatch):
    """The folder in which the command was given is not that of a worker on another machine."""
    told = []
    monkeypatch.chdir(write_movies(tmp_path))
    monkeypatch.setattr(paper, "run_pieces", lambda function, pieces, *_, **__: told.extend(pieces.values()) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(tmp_path / "out", [MOVIES], data="ml-1m")
    assert {piece.path for piece in told} == {str(tmp_path / "ml-1m")}


def test_ours_is_nowhere_worse_than_the_papers():
    """Staircase against Bucket at every memory, and three tenths of a window of ours against all of theirs."""
    panels = [panel for panel in PAPER if panel.name in ("explore-uniform-n1000-w20", "explore-uniform-n1000-w50")]
    panels.append(Panel("regret", "two-level", 300, 20, (6, 20)))
    for panel in panels:
        rows = [
            row
            for curve in CURVES[panel.task]
            if curve.reading != "published" and not curve.baseline
            for row in run_piece(Piece(panel, curve, range(5), seed=0))
        ]
        numbers = Numbers(panel, rows)
        ours, theirs = numbers.paired(("ours", "ours"), ("described", "paper"))
        assert all(ours[memory].mean() <= theirs[memory].mean() for memory in panel.memory)
        if panel.task == "regret":
            assert numbers.economy.memory == 6
            assert numbers.economy.high < 0.6
