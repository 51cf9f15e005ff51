"""Tables on the screen: who wins beyond chance has a star, a line below says what it means, and all fits the screen."""

import pytest

from bestbefore.cli.tables import print_by_memory
from bestbefore.simulate import Table


def table_of(means, runs=8):
    """Make a table of regrets around means by rule and memory; runs differ a little."""
    return Table(
        [
            {"keep": keep, "memory": memory, "run": run, "regret": mean + (run * 7 + memory + len(keep)) % 5}
            for (keep, memory), mean in means.items()
            for run in range(runs)
        ]
    )


MEANS = {("fifo", 4): 9000, ("topk", 4): 200, ("fifo", 10): 500, ("topk", 10): 500}


@pytest.fixture
def printed(monkeypatch, capsys):
    """Return what prints a table on a screen so wide, and returns the lines."""

    def lines(table, width=80, **settings):
        monkeypatch.setenv("COLUMNS", str(width))
        print_by_memory(table, "Regret", ["keep"], "regret", **settings)
        said = capsys.readouterr().out.splitlines()
        assert max(map(len, said)) <= max(width, 74)
        return said

    return lines


def cells(lines, memory):
    return next(line.split()[1:] for line in lines if line.split()[:1] == [memory])


def test_who_wins_beyond_chance_is_marked_and_a_line_says_what_that_means(printed):
    lines = printed(table_of(MEANS))
    assert cells(lines, "4") == ["9,002", "*202"]
    assert cells(lines, "10") == ["502", "502"]
    assert "* lowest of its memory, beyond chance (95%, paired t tests, Bonferroni)" in lines


def test_the_highest_may_be_the_best(printed):
    lines = printed(table_of(MEANS), best="highest")
    assert cells(lines, "4") == ["*9,002", "202"]
    assert "* highest of its memory, beyond chance (95%, paired t tests, Bonferroni)" in lines


def test_where_nobody_wins_the_line_says_so(printed):
    lines = printed(table_of(dict.fromkeys(MEANS, 300)))
    assert "*" not in "".join(lines)
    assert "No mark: no rule is lowest beyond chance (95%, paired t tests, Bonferroni)." in lines


def test_one_run_marks_nobody(printed):
    lines = printed(table_of(MEANS, runs=1))
    assert "*" not in "".join(lines)
    assert "One run cannot tell luck from skill: no rule is marked." in lines


@pytest.mark.parametrize("table", [table_of({("fifo", 4): 9}), table_of(MEANS)], ids=["one rule", "no best"])
def test_where_there_is_nothing_to_win_there_is_no_line(printed, table):
    lines = printed(table, best="lowest" if len(set(table["keep"])) == 1 else None)
    assert not {"mark", "chance"} & set(" ".join(lines).split())
    assert "*" not in "".join(lines)


def test_only_the_mean_is_marked_and_not_the_range_below_it(printed):
    lines = printed(table_of(MEANS), ranges=True)
    assert cells(lines, "4") == ["9,002", "*202"]
    row = next(place for place, line in enumerate(lines) if line.split()[:1] == ["4"])
    assert lines[row + 1].split() == ["9,000", "to", "9,004", "200", "to", "204"]


def test_on_a_narrow_screen_each_rule_has_a_row_and_the_star_stays(printed):
    more = {(keep, 4): mean for keep, mean in {"fifo": 9000, "topk": 200, "bucket": 8000, "king": 9900}.items()}
    assert cells(printed(table_of(more), width=50), "4") == ["9,002", "*202", "8,002", "9,902"]
    lines = printed(table_of(more), width=30)
    assert [line.split() for line in lines if "02" in line] == [
        ["4", "fifo", "9,002"],
        ["topk", "*202"],
        ["bucket", "8,002"],
        ["king", "9,902"],
    ]
