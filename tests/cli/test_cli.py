"""The command, as a person meets it: run in a process of its own, or quickly in this one."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import suppress

import pytest
from click.testing import CliRunner

from bestbefore import bounds
from bestbefore.cli import commands, main
from bestbefore.plan import plan_exploration

SMALL = ["explore", "--arms", "60", "--window", "10", "--memory", "2,4", "--runs", "2"]


def run(*arguments):
    return CliRunner().invoke(commands, list(arguments), catch_exceptions=False)


def process(*arguments, **options):
    command = [sys.executable, "-m", "bestbefore", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # noqa: S603


def test_explore_prints_a_table_with_a_column_for_each_rule():
    result = run(*SMALL, "--keep", "bucket,staircase,fifo")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert any("uniform stream of 60 arms, window 10, 2 runs" in line for line in lines)
    heading = next(line.split() for line in lines if "memory" in line)
    assert heading[-3:] == ["bucket", "staircase", "fifo"]


def test_json_and_csv_hold_the_whole_table(tmp_path):
    result = run(*SMALL, "--keep", "topk", "--json", "--csv", str(tmp_path / "table.csv"))
    rows = json.loads(result.stdout)
    assert [(row["memory"], row["run"]) for row in rows] == [(2, 0), (2, 1), (4, 0), (4, 1)]
    with (tmp_path / "table.csv").open() as file:
        assert [float(row["mean"]) for row in csv.DictReader(file)] == [row["mean"] for row in rows]


@pytest.mark.parametrize(
    ("kind", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("eps", b"%!PS"), ("jpg", b"\xff\xd8")]
)
def test_plot_draws_a_picture(tmp_path, kind, start):
    picture = tmp_path / f"picture.{kind}"
    result = run(*SMALL, "--plot", str(picture))
    assert f"written: {picture}" in result.stdout.replace("\n", "")
    assert picture.read_bytes().startswith(start)


@pytest.mark.parametrize("stream", ["uniform", "two-level", "beta", "decreasing", "sawtooth", "constant"])
@pytest.mark.parametrize("rewards", ["bernoulli", "stars", "gaussian"])
def test_every_stream_and_reward(stream, rewards):
    result = run(*SMALL, "--stream", stream, "--rewards", rewards, "--json")
    assert len(json.loads(result.stdout)) == 3 * 2 * 2


def test_a_csv_file_is_a_stream(tmp_path):
    (tmp_path / "arms.csv").write_text("name,mean\na,0.5\nb,0.9\nc,0.1\n")
    result = run("explore", "-s", str(tmp_path / "arms.csv"), "-W", "2", "-m", "2", "--json", "-r", "1", "-k", "fifo")
    assert json.loads(result.stdout)[0]["pulls"] % 3 == 0


@pytest.mark.parametrize("order", ["", "-first-rating", "-release-year"])
def test_movielens_is_a_stream(tmp_path, monkeypatch, order):
    monkeypatch.setenv("BESTBEFORE_DATA", str(tmp_path))
    lines = [f"{movie}::Title ({1990 + movie})::Drama\n" for movie in range(1, 7)]
    (tmp_path / "movies.dat").write_text("".join(lines))
    lines = [f"1::{movie}::{movie % 5 + 1}::{10**9 + movie}\n" for movie in range(1, 7)]
    (tmp_path / "ratings.dat").write_text("".join(lines))
    result = run("explore", "-s", f"movielens{order}", "-n", "4", "-W", "2", "-m", "2", "-r", "1", "-k", "fifo")
    assert f"movielens-1m{order} stream of 4 arms" in result.stdout


def test_movielens_that_is_not_here_is_a_sentence(tmp_path):
    done = process("explore", "--stream", "movielens-100k", env={**os.environ, "BESTBEFORE_DATA": str(tmp_path)})
    assert done.returncode == 2
    assert "MovieLens 100K is not at" in done.stderr
    assert "Traceback" not in done.stderr


def test_advise_prints_the_readers_own_numbers():
    result = run("advise", "--window", "100", "--epsilon", "0.1", "--memory", "30", "--json")
    rows = {row["task"]: row for row in json.loads(result.stdout)}
    assert rows["the exact best arm"] == {
        "task": "the exact best arm",
        "slots": 100,
        "possible": False,
        "cost": "no algorithm below 97 slots is right 99% of times",
        "source": "Theorem 1",
    }
    assert rows["within epsilon, at one fixed time (weak)"]["cost"].startswith("4,227 pulls per arm")
    assert "Theorem 2" in run("advise").stdout


@pytest.mark.parametrize(("memory", "possible"), [(24, False), (25, None)])
def test_advise_does_not_promise_what_is_only_not_ruled_out(memory, possible):
    """Theorem 3 is a lower bound for few slots; it says nothing of more."""
    rows = json.loads(run("advise", "--window", "50", "--memory", str(memory), "--json").stdout)
    assert {row["task"]: row["possible"] for row in rows}["regret below T / (64 W^2)"] is possible


def test_advise_has_the_sharper_bound_beside_that_of_theorem_3():
    """W = 50, n = 1000, T = 10^6: 24 slots pay 6 by Theorem 3, and 10 periods of 1,051 pulls an epoch by ours."""
    row = advised("-W", "50", "-n", "1000", "-b", "1000000")["regret below T / (64 W^2)"]
    assert bounds.regret_lower_sharp(10**6, 50, 24, 1000) == pytest.approx(10 * 1051 * 25 * 74 / 2 / (2 * 50 * 49))
    assert row["cost"] == "with 24 slots or fewer: at least 6 on some stream, by a sharper proof 1,984"


def test_advise_tries_certificates_on_your_kind_of_stream():
    plain = advised("-W", "20", "-e", "0.3")["within epsilon, weak, with certificates"]
    assert "expected" not in plain
    assert f"at most {plain['tests']:,} pulls of an arm" in plain["cost"]
    easy, hard = (
        advised("-W", "20", "-e", "0.3", "-n", "200", "--stream", stream)["within epsilon, weak, with certificates"]
        for stream in ("uniform", "constant")
    )
    assert easy["expected"] < hard["expected"] < hard["tests"]
    assert f"about {easy['expected']:,.0f} pulls per arm on uniform" in easy["cost"]


def test_advise_says_which_slots_certificates_can_do_with():
    rows = {
        memory: advised("-W", "100", "-m", str(memory))["within epsilon, weak, with certificates"]
        for memory in (13, 14)
    }
    assert [rows[memory]["possible"] for memory in (13, 14)] == [False, True]
    assert rows[14]["slots"] == 14


def test_explore_says_what_is_promised_and_how_many_pulls_certificates_save():
    words = ["explore", "-n", "60", "-W", "20", "-e", "0.3", "-r", "2"]
    printed = run(*words).stdout
    assert "With probability 0.95 at a time, the answer is within this of the best:" in printed
    assert "staircase, 20 slots: 0.2" in printed
    assert "always within epsilon" in printed
    rows = json.loads(run(*words, "--json").stdout)
    pulls = {row["keep"]: row["pulls"] for row in rows}
    assert pulls["staircase"] < pulls["bucket"] / 5
    assert "topk" not in printed.split("within this of the best:")[1], "it promises nothing"


def test_explore_can_certify_without_being_told_more():
    rows = json.loads(run("explore", "-n", "40", "-W", "10", "--probe", "certify", "-r", "1", "--json").stdout)
    assert [(row["memory"], row["epsilon"], row["certified"]) for row in rows] == [(10, 0.1, 1.0)]


def test_explore_with_a_budget_alone_makes_the_gap_small():
    rows = json.loads(run("explore", "-n", "60", "-W", "20", "--budget", "40", "-m", "6", "-r", "1", "--json").stdout)
    assert [row["keep"] for row in rows] == ["staircase"]
    assert "within epsilon" not in run("explore", "-n", "60", "-W", "20", "--budget", "40", "-m", "6", "-r", "1").stdout
    assert rows[0]["pulls"] <= 60 * 40
    assert rows[0]["gap"] < 0.5


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (("--tests", "most"), "tests must be one of 'paper', 'pairs', 'exact', not 'most'"),
        (("--budget", "9", "--keep", "bucket"), "budget must be left out with probe='fixed', not 9"),
        (("--relative", "--probe", "fixed"), "relative must be left out with probe='fixed', not True"),
        (("--epsilon", "0.1", "--memory", "5", "--keep", "staircase"), "memory must be at least"),
    ],
)
def test_explore_says_which_options_do_not_go_together(wrong, words):
    with pytest.raises(ValueError, match=words):
        run("explore", "-n", "40", "-W", "20", "-r", "1", *wrong)


def advised(*arguments):
    return {row["task"]: row for row in json.loads(run("advise", *arguments, "--json").stdout)}


def test_advise_needs_no_more_slots_than_there_are_valid_arms():
    """With all of them stored, epsilon is for the noise alone: fewer pulls are needed than Theorem 2 has."""
    rows = advised("-W", "5", "-m", "5")
    within = [row for task, row in rows.items() if task.startswith("within epsilon, at")]
    assert [(row["slots"], row["possible"], row["source"]) for row in within] == [(5, True, "W slots, fifo")] * 3
    assert within[0]["cost"].startswith("1,280 pulls per arm")
    assert "With 5 slots every valid arm is stored" in run("advise", "-W", "5", "-m", "5").stdout


def test_advise_says_nothing_of_no_slots_at_all():
    costs = [row["cost"] for row in advised("-W", "1").values()]
    assert not [cost for cost in costs if " 0 " in cost or "some 1 slots" in cost]
    assert costs[0] == "a slot for each valid arm"


def test_advise_on_a_stream_shorter_than_the_window():
    rows = advised("-n", "10")
    assert rows["the exact best arm"]["slots"] == 10
    assert rows["the exact best arm"]["possible"]
    strong = rows["within epsilon, strong, with far fewer pulls"]
    assert (strong["possible"], strong["cost"]) == (None, "Lemma 4.1 is about n >= 8 W")
    assert not [row for row in rows.values() if "about 0" in row["cost"]]
    assert "Only 10 arms arrive" in run("advise", "-n", "10").stdout


def test_advise_says_in_words_that_only_the_order_of_a_number_is_known():
    """n ln(n / W) / epsilon^2 pulls at W = 50 are 299,573, up to a factor that nobody knows: digits would mislead."""
    rows = advised("-W", "50", "-e", "0.1", "-n", "1000", "-b", "1000000")
    assert rows["within epsilon, strong, with far fewer pulls"]["cost"] == (
        "at least about 300,000 pulls in all, up to a constant factor, whatever the memory"
    )
    assert rows["regret of order sqrt(W (n-W+1) T)"]["cost"] == (
        "at most about 220,000 in 1,000,000 pulls, up to a constant factor"
    )
    assert "Costs up to a constant factor: the paper proves how such a number grows" in run("advise").stdout


def test_rules_that_pull_differently_have_their_own_pulls():
    lines = run(*SMALL, "--keep", "king,staircase", "--memory", "4").stdout.splitlines()
    king, staircase = (next(line.split() for line in lines if rule in line) for rule in ("king", "staircase"))
    rows = json.loads(run(*SMALL, "--keep", "king,staircase", "--memory", "4", "--json").stdout)
    for shown, rule in ((king[1], "king"), (staircase[0], "staircase")):
        pulls = [row["pulls"] / 60 for row in rows if row["keep"] == rule]
        assert int(shown) == round(sum(pulls) / 2)


def test_a_narrow_screen_gets_a_row_for_each_rule(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    lines = run(*SMALL, "--keep", "bucket,staircase,fifo,reservoir").stdout.splitlines()
    rules = [line.split()[-3] for line in lines if line.endswith(")  ")]
    assert rules == ["bucket", "staircase", "fifo", "reservoir"] * 2


def test_help_needs_no_compiler_and_no_numpy():
    """`--help` and `advise` answer at once, since neither imports what takes long."""
    code = (
        "import sys; sys.argv = ['bestbefore', *{arguments}]\n"
        "from bestbefore.cli import commands\n"
        "commands.main(standalone_mode=False)\n"
        "assert not {{'numba', 'numpy', 'matplotlib'}} & set(sys.modules), 'imported'\n"
    )
    for arguments in (
        ["--help"],
        ["explore", "--help"],
        ["play", "--help"],
        ["seek", "--help"],
        ["advise"],
        ["advise", "--json"],
    ):
        command = [sys.executable, "-c", code.format(arguments=arguments)]
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["explore", "--window", "0"], "window must be a whole number of at least 1, not 0"),
        (["explore", "--epsilon", "0"], "epsilon must be a number above 0 and at most 1, not 0"),
        (["explore", "--epsilon", "2"], "epsilon must be a number above 0 and at most 1, not 2"),
        (["explore", "--delta", "1"], "delta must be a number above 0 and below 1, not 1"),
        (["explore", "--memory", "0"], "memory must be a whole number of at least 1, not 0"),
        (["explore", "--memory", "2,x"], "not a comma-separated list of whole numbers"),
        (["explore", "--keep", "bukcet"], "keep must be one of 'fifo'"),
        (["explore", "--arms", "0"], "arms must be a whole number of at least 1, not 0"),
        (["explore", "--arms", "many"], "'many' is not a valid integer"),
        (["explore", "--stream", "unifrom"], "stream must be one of uniform"),
        (["explore", "--stream", "missing.csv"], "or a .csv file, and there is no file 'missing.csv'"),
        (["explore", "--sigma", "0.3"], "sigma is for --rewards gaussian only, not bernoulli"),
        (["explore", "--plot", "picture.txt"], ".svgz, .tif, .tiff, .webp, not be 'picture.txt'"),
        (["explore", "--runs", "1", "--csv", "no/such/folder/table.csv"], "folder"),
        (["explore", "--rewards", "gaussian", "--sigma", "0"], "sigma must be a number above 0"),
        (["explore", "--slack", "-1"], "slack must be"),
        (["explore", "--jobs", "0"], "jobs must be"),
        (["explore", "--epsilon", "1e-9"], "epsilon and noise must not be so small"),
        (["explore", "--tests", str(10**21)], "tests must be at most 2**53"),
        (["explore", "--rewards", "gaussian", "--sigma", "1e200"], "sigma must be above 1e-50"),
        (["advise", "--epsilon", "1e-320"], "epsilon and noise must not be so small"),
        (["advise", "--epsilon", "0"], "epsilon must be a number above 0"),
        (["advise", "--memory", "0"], "memory must be"),
        (["advise", "--budget", "0"], "budget must be"),
        (["nonsense"], "No such command"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(arguments, words, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["bestbefore", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    said = capsys.readouterr()
    assert stopped.value.code == 2
    assert words in said.err
    assert "Traceback" not in said.err
    assert not list(tmp_path.iterdir())


def test_a_malformed_csv_names_the_line(tmp_path):
    (tmp_path / "arms.csv").write_text("mean\n0.5\n1.5\n")
    done = process("explore", "--stream", str(tmp_path / "arms.csv"))
    assert done.returncode == 2
    assert "arms.csv, line 3: mean must be a number between 0 and 1, not '1.5'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_ctrl_c_ends_it_without_a_traceback():
    """Pressed when the bar is seen: on a terminal, as a person would."""
    command = [sys.executable, "-m", "bestbefore", "explore", "-n", "10000000", "-k", "topk", "-m", "50", "-r", "500"]
    ours, theirs = os.openpty()
    with subprocess.Popen(command, stdout=theirs, stderr=theirs) as running:  # noqa: S603
        os.close(theirs)
        said = b""
        while b"0/500" not in said:
            said += os.read(ours, 1000)
        running.send_signal(signal.SIGINT)
        too_late = threading.Timer(60, running.kill)
        too_late.start()
        with suppress(OSError):  # nobody is there any more
            while more := os.read(ours, 1000):
                said += more
    too_late.cancel()
    os.close(ours)
    assert running.returncode == 130
    assert b"Traceback" not in said


def test_who_has_to_wait_for_the_compiler_is_told_so_once(capsys):
    """In one wording for all commands; who has compiled the loop before is told nothing."""
    from bestbefore.cli.options import tell_of_compilation
    from bestbefore.simulate.explore_loop import explore_block

    def new_loop(): ...

    def another_loop(): ...

    run(*SMALL)  # which compiles it, if nobody has
    for loops, said in (
        ([explore_block], ""),
        ([explore_block, new_loop], "compiling the rules takes about half a minute; later runs find them on disk\n"),
        ([another_loop, new_loop], "compiling the rules takes a minute or two; later runs find them on disk\n"),
    ):
        tell_of_compilation(*loops)
        assert capsys.readouterr().err == said


def test_the_same_seed_prints_the_same(tmp_path):
    assert run(*SMALL, "--json").stdout == run(*SMALL, "--json", "--jobs", "1").stdout
    assert run(*SMALL, "--json").stdout != run(*SMALL, "--json", "--seed", "1").stdout


def test_python_m_bestbefore_is_the_command():
    done = process("--version", env=os.environ | {"COLUMNS": "80"})
    assert done.stdout.startswith("bestbefore, version")


SMALL_PLAY = ["play", "--arms", "60", "--window", "10", "--memory", "3,10", "--runs", "2", "--budget", "50"]


def test_play_prints_a_column_for_each_pair_of_rules():
    lines = run(*SMALL_PLAY).stdout.splitlines()
    assert any("uniform stream of 60 arms, window 10, 50 pulls an epoch" in line for line in lines)
    assert [line.split()[0] for line in lines if line.strip()[:1].isdigit()] == ["3", "10"]


def test_play_with_more_rules_than_fit_has_a_row_for_each_pair(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    said = run(*SMALL_PLAY, "-k", "fifo,reservoir,staircase,topk", "-p", "ucb,moss,inf").stdout
    assert "…" not in said
    rows = [line.split() for line in said.splitlines() if line.split()[-3:-2] == ["topk"]]
    assert [row[-2] for row in rows] == ["ucb", "moss", "inf"] * 2


def test_play_as_json_csv_and_picture(tmp_path):
    files = {"--csv": tmp_path / "table.csv", "--plot": tmp_path / "regret.svg"}
    result = run(*SMALL_PLAY, "--json", "--afresh", *(str(part) for item in files.items() for part in item))
    rows = json.loads(result.stdout)
    assert {row["pulls"] for row in rows} == {60 * 50}
    assert len((tmp_path / "table.csv").read_text().splitlines()) == len(rows) + 1
    assert "heirs x fresh" in (tmp_path / "regret.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--budget", "-1"], "budgets must be a whole number of at least 0"),
        (["--pull", "best"], "pull must be one of 'ucb'"),
        (["--keep", "king"], "keep must be one of"),
        (["--window", "2000", "--full-windows"], "window must be at most 1000, the arms of the stream, not 2000"),
        (
            ["-k", "fifo,topk,bucket", "-p", "ucb,moss,inf", "--plot", "regret.png"],
            "--plot can draw at most 8 curves, not 9, 3 keep rules x 3 pull rules",
        ),
    ],
)
def test_bad_input_of_play(arguments, words, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["bestbefore", "play", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert words in capsys.readouterr().err


# theorems


def test_theorems_prints_statement_number_and_verdict():
    result = run("theorems", "sample", "--runs", "100")
    assert result.exit_code == 0
    for words in ("hold the best arm with probability m / W", "equal to", "0.25", "2 of 2 lines hold", "none of ours"):
        assert words in " ".join(result.output.split())


def test_theorems_as_json_and_markdown():
    findings = json.loads(run("theorems", "sample", "--runs", "100", "--json").output)
    assert [finding["holds"] for finding in findings] == [True, True]
    lines = run("theorems", "sample", "--runs", "100", "--markdown").output.splitlines()
    assert len(lines) == 4
    assert all(line.count("|") == 8 for line in lines)
    both = run("theorems", "sample", "--json", "--markdown")
    assert both.exit_code == 2
    assert "choose one" in both.output


def test_theorems_with_too_few_runs_say_that_nobody_can_tell_and_exit_with_1():
    """Two runs prove nothing, neither for nor against: the interval is wide."""
    result = run("theorems", "reduction", "--runs", "2")
    assert result.exit_code == 1
    assert "cannot tell" in result.output
    assert "does not hold" not in result.output


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_theorems_are_listed_in_lines_that_fit_and_break_between_words(columns, monkeypatch):
    from bestbefore.paper.theorems import THEOREMS

    monkeypatch.setenv("COLUMNS", str(columns))
    said = run("theorems", "--list").output
    assert max(map(len, said.splitlines())) <= columns
    assert re.sub(r"(?<=-)\n +", "", said).split() == [  # "epsilon-best" has a place to break, too
        word for name, one in THEOREMS.items() for word in (name, *one.__doc__.splitlines()[0].split())
    ]
    assert [line.split()[0] for line in said.splitlines() if line[:3].strip()] == list(THEOREMS)


def test_a_theorem_that_nobody_has_is_a_sentence():
    done = process("theorems", "fermat")
    assert done.returncode == 2
    assert "theorem must be one of" in done.stderr


@pytest.mark.parametrize("command", ["explore", "play", "seek"])
def test_help_has_three_examples_on_lines_of_their_own(command):
    lines = [line.strip() for line in run(command, "--help").stdout.splitlines()]
    assert sum(line.startswith(f"bestbefore {command} ") for line in lines) == 3


SMALL_SEEK = ["seek", "--arms", "60", "--window", "10", "--memory", "3,10", "--runs", "2", "--budget", "2000"]


def test_seek_prints_regret_with_its_range_and_how_often_the_best_arm_was_found():
    lines = run(*SMALL_SEEK).stdout.splitlines()
    assert lines[:2] == [
        "Regret, mean of 2 runs, lowest to highest",
        "uniform stream of 60 arms, window 10, 2,000 pulls, explicit flag",
    ]
    regret, found = (lines[lines.index(first) :] for first in (lines[0], "Runs in which a flag told the best arm"))
    for part in (regret, found):
        assert next(line.split() for line in part if "memory" in line) == ["memory", "wait", "rank", "race"]
    row = next(place for place, line in enumerate(regret) if line.split()[:2] == ["10", "0"])
    assert regret[row + 1].split()[:3] == ["0", "to", "0"], "to wait in W slots costs nothing"
    assert next(line.split() for line in found if line.split()[:1] == ["10"])[1] == "100%"


def test_seek_with_an_implicit_flag_prints_the_pulls_wasted():
    lines = run(*SMALL_SEEK, "--flag", "implicit", "--runs", "1", "--clock", "stops").stdout.splitlines()
    assert lines[0] == "Regret, one run"
    assert lines[1].endswith("implicit flag, time stops")
    assert "Pulls wasted on expired arms, mean" in lines
    assert [line.split()[1:] for line in lines if "memory" in line] == [["stay", "hope", "weigh"]] * 2


def test_seek_as_json_csv_and_picture(tmp_path):
    files = {"--csv": tmp_path / "table.csv", "--plot": tmp_path / "regret.svg"}
    options = ["--strategy", "race,wait", "--tests", "5", "--pull", "ucb", "--delta", "0.1", "--json"]
    result = run(*SMALL_SEEK, *options, *(str(part) for item in files.items() for part in item))
    rows = json.loads(result.stdout)
    assert [(row["strategy"], row["memory"]) for row in rows[::2]] == [
        ("race", 3),
        ("race", 10),
        ("wait", 3),
        ("wait", 10),
    ]
    assert {row["pulls"] for row in rows} == {2000}
    assert max(row["tests"] for row in rows) <= 60 * 5
    assert len((tmp_path / "table.csv").read_text().splitlines()) == len(rows) + 1
    assert {"race", "wait"} <= set(re.findall(r">(\w+)</text>", (tmp_path / "regret.svg").read_text()))


def test_seek_takes_a_tenth_of_the_window_up_to_all_of_it():
    rows = json.loads(
        run("seek", "-n", "30", "-W", "10", "-b", "100", "-r", "1", "--strategy", "wait", "--json").stdout
    )
    assert [row["memory"] for row in rows] == [1, 2, 3, 4, 6, 8, 10]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--budget", "0"], "budget must be a whole number of at least 1, not 0"),
        (["--window", "0"], "window must be a whole number of at least 1, not 0"),
        (["--strategy", "stay"], "strategy must be one of 'wait', 'rank', 'race', not 'stay'"),
        (["--flag", "implicit", "--strategy", "race"], "strategy must be one of 'stay', 'hope', 'weigh', not 'race'"),
        (["--flag", "loud"], "'loud' is not one of 'explicit', 'implicit'"),
        (["--clock", "ticks"], "'ticks' is not one of 'goes-on', 'stops'"),
        (["--tests", "0"], "tests must be"),
        (["--pull", "thompson"], "pull must be one of"),
        (["--memory", "0"], "memory must be"),
        (["--delta", "1"], "delta must be a number above 0 and below 1, not 1"),
        (["--plot", "picture.txt"], "plot must end in one of ."),
    ],
)
def test_bad_input_of_seek(arguments, words, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["bestbefore", "seek", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    said = capsys.readouterr().err
    assert stopped.value.code == 2
    assert words in said
    assert "Traceback" not in said


# reproduce


def test_reproduce_lists_panels_without_running_them():
    names = run("reproduce", "--list").output.split()
    assert len(names) == 51
    assert names[-1] == "theorems"
    assert run("reproduce", "--only", "regret-two*", "--list").output.split() == [
        f"regret-two-level-n{arms}-w{window}" for arms in (500, 1000) for window in (20, 50)
    ]


def test_reproduce_writes_a_report_and_prints_the_summary(tmp_path):
    result = run("reproduce", "--quick", "--only", "everlasting-*-w10", "--out", str(tmp_path), "--jobs", "1")
    assert result.exit_code == 0
    words = " ".join(result.output.split())
    assert "regret is 0 in every run once memory is W" in words
    assert "0 of 1, 1 cannot tell" in words  # from two runs
    assert (tmp_path / "index.html").exists()
    again = run("reproduce", "--quick", "--only", "everlasting-*-w10", "--out", str(tmp_path), "--jobs", "1", "--json")
    told = json.loads(again.output)
    assert told["verdicts"]["everlasting-uniform-n300-w10"]["judgements"][0]["described"] == {"holds": None, "runs": 2}
    assert told["report"] == str(tmp_path / "index.html")
    assert told["made"]["command"].startswith("bestbefore")
    assert told["made"]["work"].startswith("1 process, ")


def test_reproduce_names_what_it_leaves_out(tmp_path, monkeypatch):
    monkeypatch.setenv("BESTBEFORE_DATA", str(tmp_path))
    result = run("reproduce", "--quick", "--only", "e*-n2000-w50", "--out", str(tmp_path / "out"), "--jobs", "1")
    words = " ".join(result.output.split())
    assert "Left out, 1 panel: explore-movielens-n300-w50" in words
    assert "MovieLens 1M" in words
    assert "; --data names a place, too" in words


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "dance"], "only must be a part of a name"),
        (["--runs", "0"], "runs must be"),
        (["--seed", "-1"], "seed must be"),
        (["--cluster", "nowhere"], "cluster"),
    ],
)
def test_bad_input_of_reproduce(arguments, words, monkeypatch, capsys, tmp_path):
    base = ["bestbefore", "reproduce", "--quick", "--only", "everlasting-*-w10", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", [*base, *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert words in capsys.readouterr().err


def test_the_best_k_on_the_command_line():
    """`advise` has rows for each of the best three, and none for certificates; `explore` prints errors by rank."""
    rows = json.loads(run("advise", "--top", "3", "--window", "500", "--json").output)
    assert [row["slots"] for row in rows if row["task"].startswith("each of the best 3")] == [90, 90, 90]
    assert not [row for row in rows if "certificates" in row["task"]]
    printed = run("explore", "--top", "3", "-n", "60", "-W", "20", "-m", "6", "-k", "staircase", "--runs", "2").output
    assert "Mean error by rank, of 3 answers:" in printed


BY_TIME = ["--arms", "60", "--window", "2h", "--runs", "2"]


@pytest.mark.parametrize("arrivals", ["poisson:10/h", "day-and-night:10/h", "bursts:5,1h"])
@pytest.mark.parametrize("stream", ["uniform", "two-level", "sawtooth"])
def test_windows_by_time_take_arrivals(arrivals, stream):
    result = run("explore", *BY_TIME, "--arrivals", arrivals, "--stream", stream)
    assert f"{stream} stream of 60 arms, window 2h, 2 runs" in result.stdout
    assert "always within epsilon" in result.stdout, "staircase certifies, since nobody says how many arms are valid"


def test_windows_by_time_with_most_and_other_tasks():
    told = [*BY_TIME, "--arrivals", "poisson:10/h"]
    rows = json.loads(run("explore", *told, "--memory", "4", "--most", "60", "--json").stdout)
    assert {row["keep"] for row in rows} == {"bucket", "topk", "staircase"}
    rows = json.loads(run("play", *told, "--budget", "50", "--pull", "commit", "--most", "60", "--json").stdout)
    assert {row["memory"] for row in rows} == {5, 10, 20}
    rows = json.loads(run("seek", *told, "--budget", "500", "--json").stdout)
    assert {row["memory"] for row in rows} == {5, 10, 20}


def test_a_file_with_times_needs_no_arrivals(tmp_path):
    path = tmp_path / "arms.csv"
    path.write_text("time,mean\n" + "".join(f"{600 * arm},0.{arm}\n" for arm in range(1, 10)))
    assert "arms stream of 9 arms, window 30 minutes" in run("explore", "-W", "30 minutes", "-s", str(path)).stdout


BY_TIME_WRONG = {
    "no arrivals": (["explore", "-W", "2h"], "--arrivals must say when arms arrive, as in poisson:10/h"),
    "no such window": (["explore", "-W", "2 moons"], "window must be a whole number of arrivals, or a time"),
    "no such arrivals": (["play", "-W", "2h", "--arrivals", "rain"], "arrivals must be as in poisson:10/h"),
    "no rate": (["play", "-W", "2h", "--arrivals", "poisson:10"], "rate must be so many arms in a unit of time"),
    "no bursts": (["seek", "-W", "2h", "--arrivals", "bursts:x,1h"], "arrivals must be as in poisson:10/h"),
    "most by count": (["explore", "--most", "5"], "most must be left out with a window by count"),
    "advice": (["advise", "-W", "2h"], "--most must say how many arms may be valid at once, with the window '2h'"),
    "advice by count": (["advise", "--most", "5"], "--most must be left out with a window by count, not 5"),
}


@pytest.mark.parametrize(("arguments", "message"), BY_TIME_WRONG.values(), ids=BY_TIME_WRONG)
def test_what_is_wrong_about_time_is_a_sentence(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        run(*arguments)


def test_a_file_without_times_needs_arrivals(tmp_path):
    path = tmp_path / "arms.csv"
    path.write_text("mean\n0.5\n")
    with pytest.raises(ValueError, match="has no times: with the window '2h' it needs --arrivals, as in poisson:10/h"):
        run("explore", "-W", "2h", "-s", str(path))


def test_advice_for_a_window_by_time_is_that_for_as_many_arms():
    windows = ["-W", "24h", "--most", "80"], ["-W", "80"]
    by_time, by_count = (json.loads(run("advise", *window, "--json").stdout) for window in windows)
    assert by_time == by_count
    assert "W = 80 in 24h" in run("advise", "-W", "24h", "--most", "80").stdout


def test_advise_says_what_is_affordable_at_a_rate():
    """A click rate of 3%, and 20,000 pulls of each of 1,000 arms."""
    told = ["-W", "24h", "--most", "50", "--memory", "60", "--rate", "0.03", "--budget", "20000000"]
    share, affordable = json.loads(run("advise", *told, "--relative", "0.2", "--json").stdout)[-2:]
    made = plan_exploration(window=50, epsilon=0.2, relative=True)
    assert share["tests"] == made.tests_at(0.03) < made.tests_of(1)
    assert 5 < share["hoeffding"] / share["tests"] < 10
    assert (share["slots"], share["possible"], share["promise"]) == (50, True, 0.2)
    least = affordable["affordable"]
    assert affordable["promise"] == least
    assert plan_exploration(window=50, epsilon=least, relative=True).tests_at(0.03) <= 20_000
    assert plan_exploration(window=50, epsilon=least - 0.001, relative=True).tests_at(0.03) > 20_000
    assert f"within {least:.2g} of the best mean" in affordable["cost"]
    assert json.loads(run("advise", *told, "--json").stdout)[-1] == affordable, "without --relative as well"


def test_advise_says_when_nothing_is_affordable_at_a_rate():
    row = json.loads(run("advise", "--rate", "0.03", "--budget", "5000", "--json").stdout)[-1]
    assert (row["affordable"], row["possible"], row["promise"]) == (None, False, None)
    assert "nothing: with 5 pulls per arm" in row["cost"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--relative", "0.2"], "--rate must say about how high the best mean is, as 0.03, with --relative 0.2"),
        (["--rate", "0.005"], "rate must be a number above 0.01"),
        (["--rate", "0.03", "--relative", "1.5"], "epsilon must be a number above 0 and at most 1"),
    ],
)
def test_advise_at_a_rate_says_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        run("advise", *arguments)
