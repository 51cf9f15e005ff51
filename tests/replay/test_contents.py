"""What is in a log: counted by hand, and the spread that is left when noise is taken off."""

from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

from bestbefore.replay import contents
from bestbefore.replay.contents import contents_of, in_words
from bestbefore.replay.figures import draw_arms, draw_valid
from bestbefore.scale import UNIT
from bestbefore.streams import Columns, read_log

DAY = 86400
COLUMNS = Columns(0, 1, 2)


def small():
    """Return a log of arms a, b, c on three days; of c there is one row."""
    rows = [
        ("a", 1, 0),
        ("a", 0, DAY // 2),
        ("b", 1, DAY + 10),
        ("a", 1, DAY + 20),
        ("b", 0, 2 * DAY),
        ("c", 1, 2 * DAY + 5),
    ]
    return read_log(rows, COLUMNS)


def test_days_and_traffic_and_validity_by_time():
    found = contents_of(small(), "1 day")
    assert (found.rows, found.arms, found.left_out) == (6, 3, 0)
    assert found.arms_by_day.tolist() == [1, 1, 1]
    assert found.rows_by_day.tolist() == [2, 2, 2]
    assert found.traffic.tolist() == [2, 3, 1]
    assert found.valid.tolist() == [1, 1, 2]
    assert found.in_window.tolist() == [2, 2, 1]
    assert found.of_arm.tolist() == [3, 2, 1]


def test_windows_by_count():
    found = contents_of(small(), 2)
    assert found.valid.tolist() == [1, 2, 2]
    assert found.traffic.tolist() == [2, 3, 1]


def test_by_count_an_arm_is_valid_until_so_many_others_have_come():
    assert contents_of(small(), 1).in_window.tolist() == [2, 2, 1]
    for window in (3, 100):  # nothing ever expires
        assert contents_of(small(), window).in_window.tolist() == [3, 2, 1]


def test_one_arm_and_one_row():
    for window in (1, 5, "1 day"):
        found = contents_of(read_log([("a", 1, 7)], COLUMNS), window)
        assert (found.rows, found.arms, found.in_window.tolist(), found.valid.tolist()) == (1, 1, [1], [1])
        assert in_words(found, window)[-1] == "There is only one arm, so there is nothing to choose."


def test_ages_are_in_windows():
    found = contents_of(small(), "1 day")
    assert found.rows_by_age.tolist()[:9] == [3, 0, 0, 0, 1, 0, 0, 1, 1]
    assert found.rows_by_age.sum() == 6


def test_arms_with_few_rows_are_left_out_of_everything():
    log = read_log([(*row,) for row in small().source], COLUMNS, least=2)
    found = contents_of(log, "1 day")
    assert (found.rows, found.arms, found.left_out) == (5, 2, 1)
    assert found.traffic.tolist() == [2, 3]
    assert "1 more arm with too few rows is left out." in in_words(found, "1 day")[0]


@pytest.mark.parametrize(("spread", "rows"), [(0.1, 20), (0.1, 200), (0.0, 30)])
def test_the_real_spread_is_found_under_the_noise(spread, rows):
    """400 arms whose means differ by `spread`; the interval covers it in 95% of cases, and with this seed it does."""
    rng = np.random.default_rng(2)
    means = rng.choice([0.4 - spread, 0.4 + spread], 400)
    made = [(arm, float(rng.random() < mean), arm) for arm, mean in enumerate(means) for _ in range(rows)]
    found = contents_of(read_log(made, COLUMNS), "1h").spread
    assert found.low <= spread <= found.high
    assert found.observed**2 * (1 - found.noise) == pytest.approx(found.real**2, abs=1e-9)
    assert found.noise == pytest.approx(0.24 / rows / (0.24 / rows + spread**2), abs=0.15)


def test_the_spread_is_in_the_readers_unit():
    rows = [(arm, 1 + 4 * (arm % 2), arm) for arm in range(50) for _ in range(3)]
    found = contents_of(read_log(rows, COLUMNS, scale=(1, 5)), "1h").spread
    assert found.mean == pytest.approx(3)
    assert found.observed == pytest.approx(2, rel=0.02)
    assert found.noise == 0


def test_arms_are_ranked_with_intervals():
    ranked = contents_of(small(), "1 day").ranked
    assert [one[0] for one in ranked] == ["c", "a", "b"]
    assert all(low <= mean <= high for _, _, mean, low, high in ranked)


def test_where_each_arm_has_one_row_nothing_tells_it_from_chance():
    rows = [(arm, float(arm % 2) / 10, arm) for arm in range(50)]
    found = contents_of(read_log(rows, COLUMNS), "1h").spread
    assert (found.noise, found.real, found.low) == (1, 0, 0)
    assert found.observed == pytest.approx(0.05, rel=0.02)


def test_numbers_have_their_nouns():
    assert in_words(contents_of(read_log([("a", 1, 5)], COLUMNS), "1h"), "1h")[:2] == [
        "1 row of 1 arm over 1 day.",
        "With a window of 1h, 1 arm is valid at once as a rule, and 1 at most.",
    ]
    alike = [(arm, 1, day) for arm in range(2) for day in (5, 90_000)]
    said = in_words(contents_of(read_log(alike, COLUMNS), "1h"), "1h")
    assert said[:2] == [
        "4 rows of 2 arms over 2 days.",
        "With a window of 1h, 2 arms are valid at once as a rule, and 2 at most.",
    ]
    assert said[3] == "All arms have the same mean."


@pytest.mark.parametrize(("arms", "rows", "spread"), [(2, 100, 0.1), (6, 50, 0.0), (6, 50, 0.1), (30, 20, 0.1)])
def test_the_interval_of_the_spread_covers_it_also_of_few_arms(arms, rows, spread):
    """In 90% of 200 logs or more; with a coverage of 95% that fails by chance in 1 of 400 cases, with another seed."""
    rng, covered = np.random.default_rng(1), 0
    for _ in range(200):
        means = rng.choice([0.4 - spread, 0.4 + spread], arms)
        log = SimpleNamespace(kept=np.ones(arms, bool), rows=np.full(arms, rows), scale=UNIT)
        log.total = log.squares = rng.binomial(rows, means).astype(float)
        found = contents._spread(log)
        covered += found.low <= spread <= found.high
    assert covered >= 180


def test_counts_have_lines_at_whole_numbers():
    """Two arms are valid at once: there is no line at 1.6 of them."""
    found = contents_of(small(), "1 day")
    for drawn in (draw_arms(found), draw_valid(found, np.sort(read_log(small().source, COLUMNS).arrived))):
        labels = [text for text in ElementTree.fromstring(drawn).itertext() if text.strip()]  # noqa: S314
        assert not [text for text in labels if "." in text]
