"""The command `bestbefore replay`: a table, JSON and a page, and sentences where it cannot answer."""

import csv
import json
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

from bestbefore.cli import commands

COLUMNS = ["--arm", "article", "--reward", "click", "--time", "shown_at"]


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Four articles at once, each for four hours, shown uniformly at random; names that a page must escape."""
    path, rng = tmp_path_factory.mktemp("log") / "front <page>.csv", np.random.default_rng(0)
    rates = rng.beta(2, 3, 24)
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["article", "click", "shown_at", "p", "stars"])
        for row in range(6000):
            hour = row // 300
            arm = hour + int(rng.integers(4))
            click = int(rng.random() < rates[arm])
            out.writerow(
                [f"<b>{arm}</b>", click, f"2026-03-01T{hour:02}:{row % 300 // 5:02}:00+01:00", 0.25, 1 + 4 * click]
            )
    return path


def run(*arguments):
    return CliRunner().invoke(commands, ["replay", *map(str, arguments)], catch_exceptions=False)


def test_a_table(log):
    shown = run(log, *COLUMNS, "--window", "4h", "--memory", "2,4", "--runs", 1, "--uniform").output
    for words in (
        "What is in it",
        "6,000 rows of 23 arms over 2 days",
        'Player(window="4h", memory=',
        "Effective sample",
        "Each interval is about what the player chose on this very log",
        "Assumed: arms were shown at random",
    ):
        assert words in " ".join(shown.split())


def test_json_and_a_page(log, tmp_path):
    out = tmp_path / "page.html"
    result = run(log, *COLUMNS, "-W", "4h", "-m", "2,4", "-r", 2, "--propensity", "p", "--json", "--out", out)
    told = json.loads(result.stdout)
    assert {row["memory"] for row in told["memory"]["regret"]} == {2, 4}
    assert told["contents"]["rows"] == sum(day["rows"] for day in told["contents"]["by_day"]) == 6000
    assert [one["method"] for one in told["gain"]] == ["rejection", "weighting"]
    assert all(one["low"] < one["value"] < one["high"] for one in told["gain"])
    assert told["intervals"].startswith("Each interval is about what the player chose on this very log")
    text = out.read_text("utf-8")
    assert "<b>" not in text
    assert "front &lt;page&gt;" in text
    assert "Each interval is about what the player chose on this very log" in text
    assert "http" not in text.replace("http://www.w3.org", "")
    assert text.count("<svg") == 6
    assert told["memory"]["advice"]["code"].replace('"', "&#34;") in text
    body = text[text.index("<body>") : text.index("</html>")]
    ElementTree.fromstring(body)  # noqa: S314 - it is well formed


def test_without_probabilities_it_says_why_not(log):
    arguments = [log, *COLUMNS, "-W", "4h", "-m", 2, "-r", 1]
    told = json.loads(run(*arguments, "--json").stdout)
    assert [one["value"] for one in told["gain"]] == [None, None]
    assert "Each interval" not in run(*arguments).output, "where there is none, nothing is said of it"
    assert told["words"]["gain"][0].startswith("The log does not say with which probability")


def test_the_scale_is_said_and_used(log):
    arguments = [log, "--arm", "article", "--time", "shown_at", "-W", "4h", "-m", 2, "-r", 1, "--uniform", "--json"]
    clicks = json.loads(run(*arguments, "--reward", "click").stdout)
    stars = json.loads(run(*arguments, "--reward", "stars", "--scale", 1, 5).stdout)
    assert stars["gain"][1]["value"] == pytest.approx(1 + 4 * clicks["gain"][1]["value"])
    assert stars["contents"]["spread"]["real"] == pytest.approx(4 * clicks["contents"]["spread"]["real"])
    assert stars["memory"]["windows"][0]["best"] == pytest.approx(1 + 4 * clicks["memory"]["windows"][0]["best"])
    assert "scale=(1, 5)" in stars["memory"]["advice"]["code"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--reward", "stars"], "line 2: stars must lie between 0 and 1"),
        (["--reward", "clicks"], "a column must be called 'clicks'"),
        (["--reward", "click", "--uniform", "--propensity", "p"], "--propensity must be left out"),
        (["--reward", "click", "--out", "/nowhere/page.html"], "the folder of '/nowhere/page.html' must be there"),
        (["--reward", "click", "--least", "100000"], "least must be at most"),
        (["--reward", "click", "--window", "soon"], "window must be"),
        (["--reward", "click", "--window", "0"], "window must be a whole number of at least 1, not 0"),
        (["--reward", "click", "--runs", "0"], "--runs must be at least 1, not 0"),
        (["--reward", "click", "--memory", "2,0"], "--memory must be at least 1, not 0"),
    ],
)
def test_what_is_wrong_is_a_sentence(log, arguments, said):
    with pytest.raises(ValueError, match=said):
        run(log, "--arm", "article", "--time", "shown_at", "--window", "4h", *arguments)


@pytest.mark.parametrize("shape", ["one row", "one arm", "only clicks", "no clicks", "one moment", "a row an arm"])
def test_small_logs_have_a_page(shape, tmp_path):
    """Nothing can be lost on some of them, and axes begin at 0 where others are logarithmic."""
    path, rng = tmp_path / "log.csv", np.random.default_rng(1)
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["article", "click", "shown_at"])
        for row in range(1 if shape == "one row" else 300):
            arm = {"one row": 0, "one arm": 0, "a row an arm": row}.get(shape, row // 50)
            click = {"only clicks": 1, "no clicks": 0}.get(shape, int(rng.integers(2)))
            out.writerow([arm, click, 1_772_000_000 + (0 if shape == "one moment" else 300 * row)])
    page = tmp_path / "page.html"
    shown = run(path, *COLUMNS, "--window", "6h", "--uniform", "--runs", 1, "--out", page).output
    assert "nan" not in shown.replace("\n", " ").split()
    text = page.read_text("utf-8")
    assert text.count("<svg") == 6
    for wrong in ("nan", ">inf", "1 rows", "1 arms", "1 slots", "1 times"):
        assert wrong not in text


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["a", "4", "5"], "say it: --scale LOW HIGH"),
        (["a", "1", "1772000000000"], "are these ms? say --unit ms"),
        (["a", "1", "2026-03-01 10:00"], "as in --zone UTC or --zone Europe/Berlin"),
    ],
)
def test_what_is_wrong_is_said_in_options_of_the_command(cells, said, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(f"article,click,shown_at\n{','.join(cells)}\n")
    with pytest.raises(ValueError, match=r"line 2: ") as wrong:
        run(path, *COLUMNS, "--window", "6h")
    assert said in str(wrong.value)


def test_a_page_that_cannot_be_written_is_said_before_the_work_begins(log, monkeypatch):
    monkeypatch.setattr("bestbefore.streams.read_log", None)
    with pytest.raises(OSError, match=r"'/proc/page.html' cannot be written: "):
        run(log, *COLUMNS, "--window", "4h", "--out", "/proc/page.html")


def test_sentences_stand_under_their_title(log, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    shown = run(log, *COLUMNS, "--window", "4h", "--memory", "2", "--runs", 1).output
    told = shown[shown.index("What it would have gained") :].splitlines()[1:]
    assert len(told) > 3
    assert all(line.startswith("  ") and len(line.rstrip()) <= 60 for line in told if line.strip())
