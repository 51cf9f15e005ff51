"""The paper's experiments as published: each deviation against a plain re-telling, and the curves that come out."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from bestbefore import simulate
from bestbefore.paper import published
from bestbefore.paper.panels import EVERLASTING_SIZES
from bestbefore.paper.published import AS_DESCRIBED, PUBLISHED, Deviations, pulls_of_test
from bestbefore.simulate.seeds import generators
from bestbefore.streams import from_means, two_level_spread, uniform

ALONE = {name: AS_DESCRIBED._replace(**{name: True}) for name in Deviations._fields}
BUT_ONE = {f"all but {name}": PUBLISHED._replace(**{name: False}) for name in Deviations._fields}
ALL = {"published": PUBLISHED, "as described": AS_DESCRIBED} | ALONE | BUT_ONE
each = pytest.mark.parametrize("which", ALL)


# The code as research code would look: lists, arrays, one arm after the other


def means_of(stream, rng):
    return np.concatenate([block.means for block in stream.blocks(rng)])


def best_valid(mu, t, window):
    return mu[max(0, t - window + 1) : t + 1].max()


def test_of(mean, s, rng, deviations):
    """Return the mean of s pulls."""
    if deviations.wide_normal and s > 100_000:
        return min(rng.normal(mean, 2 / math.sqrt(s)), 1)
    return rng.binomial(s, mean) / s


test_of.__test__ = False


class Baseline:
    """Places for arms, and an array of means that may be one of integers; -1 stands for an empty place."""

    def __init__(self, slots, window, deviations):
        self.arms = [None] * slots
        self.means = np.array([-1] * slots) if deviations.integer_means else np.full(slots, -1.0)
        self.lowest, self.place = -1, 0
        self.life = window + 1 if deviations.extra_step else window
        self.deviations = deviations

    def look(self):
        self.place = np.argmin(self.means)
        self.lowest = self.means[self.place]

    def expire(self, t):
        for place, arm in enumerate(self.arms):
            if arm is not None and t - arm >= self.life:
                self.arms[place], self.means[place] = None, -1

    def add(self, t, mean):
        if not self.deviations.stale_minimum:
            self.expire(t)
            self.look()
        if mean > self.lowest:
            self.arms[self.place], self.means[self.place] = t, mean
            self.look()
        self.expire(t)

    def true_mean(self, mu):
        arm = self.arms[np.argmax(self.means)]
        return 0 if arm is None else mu[arm]


def slow_topk(mu, window, memory, rng, deviations):
    slots = memory + 1 if deviations.extra_slot else memory
    s = math.ceil(slots**2 / 2 * math.log(len(mu) / 0.01))
    baseline, errors = Baseline(slots, window, deviations), []
    for t in range(len(mu)):
        baseline.add(t, test_of(mu[t], s, rng, deviations))
        errors.append(best_valid(mu, t, window) - baseline.true_mean(mu))
    return np.mean(errors)


def slow_bucket(mu, window, memory, rng, deviations):
    slots = memory + 1 if deviations.extra_slot else memory
    s = math.ceil(slots**2 / 2 * math.log(len(mu) / 0.01))
    buckets, errors = {}, []
    for t in range(len(mu)):
        buckets = {bucket: arm for bucket, arm in buckets.items() if t - arm < window}
        mean = test_of(mu[t], s, rng, deviations)
        if deviations.closed_below:
            bucket = min(max(math.floor(mean / (1 / slots)), 0), slots - 1)
        else:
            bucket = max(math.ceil(min(max(mean, 0), 1) * slots * (1 - 1e-15)) - 1, 0)
        buckets[bucket] = t
        errors.append(best_valid(mu, t, window) - mu[buckets[max(buckets)]])
    return np.mean(errors)


def slow_commit(mu, window, memory, budget, rng, deviations):
    slots = memory + 1 if deviations.extra_slot else memory
    s = min(math.ceil(slots**2 / 2 * math.log(len(mu) / 0.01)), budget)
    baseline, regret = Baseline(slots, window, deviations), 0.0
    for t in range(len(mu)):
        played = deviations.partial_windows or t >= window - 1
        baseline.add(t, test_of(mu[t], s, rng, deviations) if played else 0.0)
        if played:
            best = best_valid(mu, t, window)
            regret += s * (best - mu[t]) + (budget - s) * (best - baseline.true_mean(mu))
    return regret


def slow_reservoir(mu, window, memory, budget, rng, deviations):
    """UCB, pull by pull; what stands in place i of the list is noted in place i of the arrays."""
    slots = memory + 1 if deviations.extra_slot else memory
    life = window + 1 if deviations.extra_step else window
    arms, totals, counts, indices, regret = [], [], [], [], 0.0
    for t in range(len(mu)):
        if arms and t - min(arms) >= life:
            place = arms.index(min(arms))
            arms.pop(place)
            if not deviations.misaligned:
                totals.pop(place), counts.pop(place), indices.pop(place)
        begun = None
        if len(arms) < slots:
            arms.append(t)
            if len(indices) < len(arms):
                totals.append(0), counts.append(0), indices.append(0)
            if t == 0 or not deviations.ignored_arms:
                begun = len(arms) - 1
        elif rng.random() < slots / (t + 2 if deviations.late_admission else t + 1):
            begun = rng.integers(slots)
            arms[begun] = t
        if begun is not None:
            totals[begun], counts[begun], indices[begun] = 0, 0, math.inf
        if t < window - 1 and not deviations.partial_windows:
            continue
        log, best = math.log(budget * len(arms) / 0.01), best_valid(mu, t, window)
        for _ in range(budget - 1 if deviations.ignored_arms and begun is None else budget):
            i = np.argmax(indices)
            totals[i] += rng.random() < mu[arms[i]]
            counts[i] += 1
            indices[i] = totals[i] / counts[i] + math.sqrt(log / counts[i])
            regret += best - mu[arms[i]]
    return regret


def slow_everlasting(mu, window, memory, luck, deviations):
    slots = memory + 1 if deviations.extra_slot else memory
    life = window + 1 if deviations.extra_step else window
    arms, best = [], int(mu.argmax())
    for t in range(len(mu)):
        if best in arms and t - best >= window:
            return 0.0
        arms = [arm for arm in arms if t - arm < life]
        u, odds = luck.random(), t + 2 if deviations.late_admission else t + 1
        if len(arms) < slots:
            arms.append(t)
        elif u * odds < slots:
            arms[int(u * odds)] = t
    return 0.0 if best in arms and not deviations.missed_at_end else 1000 * len(mu) * (mu[best] - mu[-1])


# Run for run


@each
@pytest.mark.parametrize(("arms", "window", "memory"), [(300, 20, 2), (300, 20, 6), (60, 30, 170), (50, 60, 5)])
def test_exploration_is_that_of_the_plain_code_with_the_same_random_numbers(which, arms, window, memory):
    """A memory of 170 needs more than 100,000 pulls of each arm."""
    stream, deviations = uniform(arms), ALL[which]
    table = published.explore(stream, window, memory, deviations=deviations, runs=3, seed=1, jobs=1)
    for row in table:
        arms_rng, rewards, _ = generators(1, row["run"])
        slow = {"bucket": slow_bucket, "topk": slow_topk}[row["keep"]]
        assert row["mean"] == pytest.approx(slow(means_of(stream, arms_rng), window, memory, rewards, deviations))
        assert row["slots"] == memory + deviations.extra_slot
        assert row["pulls"] == arms * pulls_of_test(row["slots"], arms)


@each
@pytest.mark.parametrize("memory", [2, 8, 25])
def test_the_baseline_of_regret_is_that_of_the_plain_code_with_the_same_random_numbers(which, memory):
    stream, deviations = two_level_spread(300, 20), ALL[which]
    table = published.regret(stream, 20, 400, memory, "commit", deviations=deviations, runs=3, seed=2, jobs=1)
    for row in table:
        arms_rng, rewards, _ = generators(2, row["run"])
        slow = slow_commit(means_of(stream, arms_rng), 20, memory, 400, rewards, deviations)
        assert row["regret"] == pytest.approx(slow)
        assert row["pulls"] == 400 * (300 if deviations.partial_windows else 281)


@each
@pytest.mark.parametrize("memory", [2, 7])
def test_everlasting_is_that_of_the_plain_code_with_the_same_random_numbers(which, memory):
    stream, deviations = uniform(200), ALL[which]
    for row in published.everlasting(stream, 10, memory=memory, deviations=deviations, runs=10, seed=3, jobs=1):
        arms_rng, _, luck = generators(3, row["run"])
        mu = means_of(stream, arms_rng)
        assert row["regret"] == pytest.approx(slow_everlasting(mu, 10, memory, luck, deviations))
        assert not row["found"] or row["regret"] == 0


@pytest.mark.parametrize("which", ["published", "as described", "all but misaligned", "all but ignored_arms"])
def test_the_reservoir_plays_as_the_plain_code_does(which):
    """Leaps draw other numbers, so 60 runs each are compared: Kolmogorov-Smirnov, by chance once in 10,000 tests."""
    stream, deviations = two_level_spread(100, 8), ALL[which]
    fast = published.regret(stream, 8, 25, 5, "reservoir", deviations=deviations, runs=60, jobs=1)
    rng = np.random.default_rng(4)
    slow = [slow_reservoir(means_of(stream, rng), 8, 5, 25, rng, deviations) for _ in range(60)]
    assert stats.ks_2samp(fast["regret"], slow).pvalue > 1e-4
    if which == "published":  # and the test would notice
        other = published.regret(stream, 8, 25, 5, "reservoir", deviations=AS_DESCRIBED, runs=60, jobs=1)
        assert stats.ks_2samp(other["regret"], slow).pvalue < 1e-4


# As described, it is what `simulate` does


def test_bucket_is_as_described_but_for_its_slots_and_their_borders():
    closed_above = PUBLISHED._replace(closed_below=False)
    for seed in (0, 1):
        told = published.explore(uniform(500), 20, [2, 9], "bucket", deviations=closed_above, runs=3, seed=seed)
        for slots in (3, 10):
            pulls = pulls_of_test(slots, 500)
            done = simulate.explore(uniform(500), 20, slots, "bucket", tests=pulls, runs=3, seed=seed)
            for column in ("run", "mean", "median", "max", "within", "epsilon", "pulls", "peak_memory"):
                assert told.where(slots=slots)[column].tolist() == done[column].tolist()


def test_with_all_deviations_off_exploration_is_that_of_simulate():
    """Gaussian rewards, since they have no ties, which `simulate` breaks in favour of the newer arm."""
    stream = uniform(9000).gaussian(0.5)
    told = published.explore(stream, 20, 4, deviations=AS_DESCRIBED, runs=2)
    done = simulate.explore(stream, 20, 4, ["bucket", "topk"], tests=pulls_of_test(4, 9000), runs=2)
    for column in set(told.columns) & set(done.columns):
        assert told[column].tolist() == done[column].tolist()


@pytest.mark.parametrize(
    "stream",
    [uniform(300), uniform(300).rated([0, 0.5, 1]), uniform(300).gaussian(0.3), uniform(8300)],
    ids=["Bernoulli", "ratings", "Gaussian", "two blocks"],
)
def test_with_memory_w_all_arms_are_kept_and_played_as_simulate_does(stream):
    with_ratings = PUBLISHED._replace(bernoulli_ratings=False)
    for deviations, partial in ((with_ratings, True), (AS_DESCRIBED, False)):
        told = published.regret(stream, 10, 60, 10, "reservoir", deviations=deviations, runs=2)
        done = simulate.play(stream, 10, 60, 10, "fifo", "ucb", partial=partial, runs=2)
        assert told["regret"] == pytest.approx(done["regret"])
        assert told["pulls"].tolist() == done["pulls"].tolist()


def test_with_all_deviations_off_the_reservoir_is_that_of_simulate():
    """150 runs each: Kolmogorov-Smirnov, by chance once in 10,000 tests."""
    stream = two_level_spread(200, 20).rated([0, 0.5, 1])
    told = published.regret(stream, 20, 100, 8, "reservoir", deviations=AS_DESCRIBED, runs=150, seed=5)
    done = simulate.play(stream, 20, 100, 8, "reservoir", "ucb", runs=150, seed=6)
    assert stats.ks_2samp(told["regret"], done["regret"]).pvalue > 1e-4


def test_ratings_become_rewards_of_0_and_1():
    """The code knows no other; rewards of Gaussian arms stay what they are, since there are none in it."""
    means = [0.3, 0.9, 0.6, 0.2, 0.7] * 20
    ratings, coins = from_means(means).rated([0, 0.5, 1]), from_means(means)
    for function in (published.explore, published.regret):
        assert function(ratings, 5, memory=2, runs=2) == function(coins, 5, memory=2, runs=2)
        kept = PUBLISHED._replace(bernoulli_ratings=False)
        assert function(ratings, 5, memory=2, runs=2, deviations=kept) != function(coins, 5, memory=2, runs=2)


# The curves


def curve(table, column, **where):
    return [row[column] for row in table.where(**where).summary(by=["memory"], columns=[column])]


@pytest.mark.parametrize("window", [20, 50, 100])
def test_the_baseline_of_exploration_gains_nothing_from_memory(window):
    table = published.explore(uniform(1000), window, seed=7)
    baseline, bucket = curve(table, "mean", keep="topk"), curve(table, "mean", keep="bucket")
    assert baseline[0] > 0.2
    assert min(baseline[1:]) > 0.3
    assert max(baseline[1:]) < 0.6
    assert bucket[-1] < 0.1 * bucket[0]


def test_with_three_slots_the_baseline_stops_for_good():
    """At memory 2 an arm is tested some 50 times, so that now and then a mean is 1; with three of them it is over."""
    [stale, looking] = (
        published.explore(uniform(10_000), 50, 2, "topk", deviations=PUBLISHED._replace(stale_minimum=stale))
        for stale in (True, False)
    )
    assert stale["mean"].min() > 0.7
    assert looking["mean"].max() < 0.4


def test_with_means_that_are_fractions_the_baseline_is_better_than_bucket():
    fixed = PUBLISHED._replace(integer_means=False)
    table = published.explore(uniform(1000), 50, [4, 10], deviations=fixed)
    assert np.less(curve(table, "mean", keep="topk"), curve(table, "mean", keep="bucket")).all()


@pytest.mark.parametrize(("arms", "window", "memory"), [(1000, 50, [25, 45, 50]), (1000, 20, [12, 18, 20])])
def test_regret_as_published_rises_before_memory_w_and_falls_there_like_a_cliff(arms, window, memory):
    """The rise is some 6% to 10%, where a mean of 40 runs has a standard error of about 1%; seeds are fixed."""
    table = published.regret(two_level_spread(arms, window), window, 1000, memory, "reservoir", runs=40)
    low, high, full = curve(table, "regret")
    assert 1.03 * low < high
    assert high > 9 * full


def test_with_statistics_for_all_and_in_their_places_regret_falls_steadily_with_memory():
    fixed = PUBLISHED._replace(misaligned=False, ignored_arms=False)
    table = published.regret(two_level_spread(1000, 50), 50, 1000, algorithms="reservoir", deviations=fixed)
    regret = curve(table, "regret")
    assert all(later < 1.05 * earlier for earlier, later in itertools.pairwise(regret))
    assert regret[-2] < 0.25 * regret[0]
    assert regret[-2] < 2 * regret[-1]


def test_regret_of_an_everlasting_arm_is_0_from_memory_w_on_and_not_before():
    table = published.everlasting(uniform(500), 20, runs=30)
    regret = dict(zip(EVERLASTING_SIZES[20], curve(table, "regret"), strict=True))
    assert regret[20] == regret[24] == 0
    assert min(value for memory, value in regret.items() if memory < 20) > 0
    assert set(table["pulls"]) == {500_000}


# Arguments


def test_memory_is_that_of_the_published_panel_unless_given():
    assert set(published.explore(uniform(50), 20, runs=1)["memory"]) == set(range(2, 17, 2))
    with pytest.raises(ValueError, match=r"^memory must be given for window 30; only"):
        published.explore(uniform(50), 30)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        ("explore", {"algorithms": "king"}, "algorithms must be one of 'bucket', 'topk', not 'king'"),
        ("regret", {"algorithms": []}, "algorithms must name at least one, not"),
        ("regret", {"window": 6, "deviations": AS_DESCRIBED}, "window must be at most 3, the arms of the stream"),
        ("regret", {"budgets": [1, 2]}, "budgets must be a list of 3"),
        ("explore", {"delta": 1}, "delta must be"),
        ("everlasting", {"budget": 0}, "budget must be"),
        ("explore", {"seed": -1}, "seed must be"),
        ("explore", {"memory": 2**26}, "memory must be so small that"),
    ],
)
def test_wrong_arguments_are_named(function, arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        getattr(published, function)(from_means([0.1, 0.2, 0.3]), **({"window": 2, "memory": 1, "runs": 1} | arguments))


def test_the_same_seed_gives_the_same_table_alone_or_in_parallel():
    for function in (published.explore, published.regret, published.everlasting):
        assert function(uniform(60), 10, memory=[2, 10], jobs=1) == function(uniform(60), 10, memory=[2, 10], jobs=2)
