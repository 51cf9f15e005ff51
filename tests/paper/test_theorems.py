"""Every theorem as an experiment: small and seeded here, and shown to notice when a rule is broken."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.paper import theorems
from bestbefore.paper.finding import SIDES, Finding, average, share
from bestbefore.paper.keeping_theorems import _all_but_the_oldest

SMALL = {
    "exact-memory": {"window": 20, "runs": 5},
    "guarantees": {"window": 20, "arms": 100, "runs": 80},
    "slices": {"window": 12, "memory": 4, "runs": 2},
    "separation": {"arms": 60_000, "runs": 60},
    "reduction": {"window": 10, "problems": 4, "runs": 80},
    "regret-lower": {"window": 9, "budget": 300, "runs": 8},
    "regret-upper": {"window": 5, "arms": 40, "budget": 100, "runs": 8},
    "everlasting-explicit": {"window": 24, "runs": 40},
    "everlasting-implicit": {"window": 10, "runs": 40},
    "sample": {"window": 20, "runs": 300},
    "king": {"window": 20, "arms": 60, "runs": 80},
    "stairs": {"window": 12, "runs": 100},
    "certificates": {"delta": 0.1, "runs": 80},
    "gap": {"delta": 0.1, "runs": 70},
    "certified-pulls": {"periods": 4, "runs": 6},
    "fixed-tests": {"window": 20, "epsilon": 0.3, "runs": 50_000},
    "best-k": {"window": 60, "arms": 150, "epsilon": 0.3, "runs": 80},
    "windows-by-time": {"runs": 150},
    "merged-parts": {"runs": 72},
    "small-means": {"runs": 150},
}
WORDS = {"theorem": "t", "statement": "s", "setting": "x", "measured": "m"}


@pytest.mark.parametrize("name", theorems.THEOREMS)
def test_every_theorem_holds(name):
    """Intervals are at 99%: of the lines with a bound near by ("sample") one in a hundred seeds fails by chance."""
    for finding in theorems.THEOREMS[name](**SMALL[name]):
        assert finding.holds, finding
        assert finding.theorem == name
        assert finding.statement
        assert finding.setting
        assert finding.measured


def test_regret_of_the_order_of_a_theorem_is_more_than_nobody_could_miss():
    """With so few pulls that even the newest arm, whatever it is worth, keeps to the constants, nothing is shown."""
    assert not any(finding.holds for finding in theorems.regret_upper(window=5, arms=8, budget=2, runs=5))


def test_a_staircase_with_more_slack_than_it_says_is_noticed():
    """Twice the slack, judged as if it were 1: an arm that is not among the oldest floor(W / m) is missed."""
    assert _all_but_the_oldest(40, 8, 2, 0).holds
    assert not _all_but_the_oldest(40, 8, 2, 0, slack=2.0).holds


@pytest.fixture(scope="module")
def verdicts():
    """Run all mutants once, in a process without the compiler."""
    script = Path(__file__).with_name("mutants.py")
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_sound_rules_pass_at_the_size_of_the_mutants(verdicts):
    assert all(all(held) for held in verdicts.pop("sound").values())


def test_a_rule_that_is_broken_is_noticed(verdicts):
    """An expiry that is one off, and each keep rule spoilt: at least one line says so."""
    verdicts.pop("sound", None)
    assert len(verdicts) == 11
    for mutant, findings in verdicts.items():
        assert not all(all(held) for held in findings.values()), f"nobody noticed {mutant}"


@given(st.integers(1, 500).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs))))
def test_the_interval_of_a_share_is_wilsons(pair):
    """Its ends solve (share - p)^2 = z^2 p (1 - p) / runs, with z = 2.5758 for 99%, or are 0 and 1."""
    count, runs = pair
    finding = share(count, runs, at_most=1, **WORDS)
    assert finding.low <= finding.estimate == count / runs <= finding.high
    for end in (finding.low, finding.high):
        width = 2.5758293035 * math.sqrt(end * (1 - end) / runs)
        assert abs(count / runs - end) == pytest.approx(width, abs=1e-7)
    assert (finding.low == 0) == (count == 0)
    assert (finding.high == 1) == (count == runs)


def test_what_it_takes_to_hold():
    assert share(0, 1000, at_most=0.01, **WORDS).holds
    assert not share(5, 1000, at_most=0.005, **WORDS).holds, "the interval reaches beyond"
    assert average([2.0, 2.1, 2.0, 2.1], at_least=1, **WORDS).holds
    assert not average([2.0, 2.1, 2.0, 2.1], at_least=1, sound=False, **WORDS).holds
    assert not average([1.0, 1.0], equal_to=2, **WORDS).holds
    assert average([1.0], at_most=1, **WORDS).high == 1.0
    assert not average([math.nan, 1.0], at_most=1, **WORDS).holds


def test_too_few_runs_are_no_evidence_against_a_theorem():
    """Not one failure in three runs: nobody can tell; ten in ten is another matter."""
    assert share(0, 3, at_most=0.1, **WORDS).verdict == "cannot tell"
    assert share(10, 10, at_most=0.1, **WORDS).verdict == "does not hold"
    assert share(0, 3, at_most=0.1, sound=False, **WORDS).verdict == "does not hold"
    assert share(1, 1000, equal_to=0.5, **WORDS).verdict == "does not hold"
    assert average([math.nan, 1.0], at_most=1, **WORDS).verdict == "does not hold"


def test_the_interval_of_a_mean_is_students():
    """Two runs have one degree of freedom, whose 99.5% quantile a table gives as 63.657; twenty have 2.861."""
    two = average([0.0, 2.0], at_most=1, **WORDS)
    assert (two.low, two.high) == pytest.approx((1 - 63.657, 1 + 63.657), rel=1e-4)
    twenty = average([0.0, 2.0] * 10, at_most=1, **WORDS)
    assert twenty.high - 1 == pytest.approx(2.861 / math.sqrt(19), rel=1e-4)


def test_a_finding_becomes_json():
    finding = share(1, 10, at_most=0.9, **WORDS)
    saved = json.loads(json.dumps(finding.to_dict()))
    assert (saved["holds"], saved["verdict"]) == (True, "holds")
    assert Finding.from_dict(saved) == finding
    assert finding.side in SIDES.values()


def test_bad_names_and_numbers_are_named():
    with pytest.raises(ValueError, match="theorem must be one of 'exact-memory'"):
        theorems.run(["fermat"])
    with pytest.raises(ValueError, match="runs must be"):
        theorems.run(["king"], runs=1)
    with pytest.raises(ValueError, match="seed must be"):
        theorems.run(["king"], seed=-1)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("exact-memory", {"window": 1}, "window must be a whole number of at least 2, not 1"),
        ("regret-lower", {"window": 2}, "window must be a whole number of at least 3, not 2"),
        ("everlasting-explicit", {"window": 7}, "window must be a whole number of at least 8, not 7"),
        ("sample", {"window": 3}, "window must be a whole number of at least 4, not 3"),
        ("stairs", {"window": 1}, "window must be a whole number of at least 2, not 1"),
        ("certificates", {"window": 1}, "window must be a whole number of at least 2, not 1"),
        ("gap", {"window": 1}, "window must be a whole number of at least 2, not 1"),
        ("certified-pulls", {"window": 1}, "window must be a whole number of at least 2, not 1"),
        ("fixed-tests", {"window": 1}, "window must be a whole number of at least 2, not 1"),
        ("king", {"window": 50, "arms": 50}, "arms must be a whole number of at least 51, not 50"),
    ],
)
def test_a_window_in_which_a_statement_says_nothing_is_named(name, settings, message):
    with pytest.raises(ValueError, match=message):
        theorems.THEOREMS[name](**settings)


def test_the_same_seed_gives_the_same_findings():
    assert theorems.run(["sample"], runs=50) == theorems.run(["sample"], runs=50)
    assert theorems.run(["sample"], runs=50) != theorems.run(["sample"], runs=50, seed=1)
