"""What a live player loses when rewards come late or never, and what it takes at click rates.

    python benchmarks/late.py [late | clicks | budgets | cost ...] [--keep K] [--pull P] [--runs N]

late     regret with rewards 1,000 pulls late and a fifth of them lost, against the regret without; beside it the regret
         of a player that knows each arm exactly, once its first reward could be there: nobody can do better, and the
         last column is the regret against the sum of that and the regret without
clicks   the share of the best arm's clicks that is taken where rates are .01 to .08: W = 200, 20 slots, 400 pulls an
         arrival, no budget told; with clicks 5 to 600 s late, at a pull a second, and a fifth lost; and for slates
budgets  the same, with T wrong by a factor, and where traffic changes by one
cost     microseconds of a verb, with rewards at once and late

Every pull is a pull of a live `Player`.  Runs of one setting have the same arms.
"""

import argparse
import heapq
import itertools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bestbefore import Player, plan
from bestbefore.rules import KEEP_TO_PLAY, PULL
from timing import nanoseconds

LOST = 0.2
LATE = 1000


class Setting(NamedTuple):
    """A stream, and what the player has."""

    stream: str
    window: int
    memory: int
    pulls: int


class Taken(NamedTuple):
    """What a run lost, what it took, and what the best arms would have taken."""

    regret: float
    taken: float
    oracle: float


STREAMS: dict[str, Callable[[int, int, np.random.Generator], Any]] = {
    "uniform": lambda arms, window, rng: rng.random(arms),
    "clicks": lambda arms, window, rng: rng.uniform(0.01, 0.08, arms),
    "beta(1, 20)": lambda arms, window, rng: rng.beta(1, 20, arms),
    "two-level": lambda arms, window, rng: rng.permutation(np.where(np.arange(arms) % window, 0.25, 0.95)),
    "sawtooth": lambda arms, window, rng: 0.9 - 0.8 * (np.arange(arms) % (2 * window)) / (2 * window),
}

Delay = Callable[[np.random.Generator], int | None]


def at_once(rng: np.random.Generator) -> int | None:
    """Rewards are told before the next pull."""
    return 0


def late(rng: np.random.Generator) -> int | None:
    """Rewards are 1,000 pulls late, and some lost."""
    return None if rng.random() < LOST else LATE


def clicked(rng: np.random.Generator) -> int | None:
    """Clicks are 5 to 600 s late, and some lost."""
    return None if rng.random() < LOST else int(rng.integers(5, 601))


def play(
    player: Player,
    means: Any,
    traffic: Iterable[int],
    delay: Delay,
    rng: np.random.Generator,
    *,
    told: float | None = None,
    places: int = 1,
) -> Taken:
    """Let arms arrive, each with so many pages of traffic; `told` is the budget in parts of that, or None for none."""
    waiting: list[tuple[int, int, int, float]] = []
    taken = oracle = 0.0
    time, window = 0, player.plan.window
    for number, pages in enumerate(traffic):
        player.arrive(number, budget=None if told is None else round(told * pages * places))
        best = np.sort(means[max(number - window + 1, 0) : number + 1])[-places:]
        oracle += pages * float(best.sum())
        for _ in range(pages):
            time += 1
            while waiting and waiting[0][0] <= time:
                _, _, arm, reward = heapq.heappop(waiting)
                if player.holds(arm):
                    player.tell(arm, reward)
            for place, arm in enumerate(player.ask(places) if places > 1 else [player.ask()]):
                taken += float(means[arm])
                reward = float(rng.random() < means[arm])
                after = delay(rng)
                if after == 0:
                    player.tell(arm, reward)
                elif after is not None:
                    heapq.heappush(waiting, (time + after, time * places + place, arm, reward))
    return Taken(oracle - taken, taken, oracle)


def floor(setting: Setting, means: Any, delay: int) -> float:
    """Return the regret of knowing each arm exactly, but only `delay` pulls after its arrival."""
    lost = 0.0
    whole, rest = divmod(delay, setting.pulls)
    for number in range(means.size):
        first = max(number - setting.window + 1, 0)
        valid = means[first : number + 1]
        for newer, pulls in ((whole + 1, rest), (whole, setting.pulls - rest)):
            known = means[first : max(number + 1 - newer, first)]
            lost += pulls * (valid.max() - (known.max() if known.size else valid.mean()))
    return float(lost)


def made(chosen: argparse.Namespace, setting: Setting, seed: int, kind: type[Player] = Player) -> Player:
    return kind(setting.window, setting.memory, keep=chosen.keep, pull=chosen.pull, seed=seed)


def table_of(title: str, *columns: str) -> Table:
    table = Table(title=title)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def late_table(chosen: argparse.Namespace) -> Table:
    """Regret with late and lost rewards, against the regret without."""
    columns = ("stream", "W", "slots", "T_j", "regret at once", "late", "ratio", "nobody below", "of both")
    title = f"{chosen.keep} x {chosen.pull}: rewards {LATE:,} pulls late and {LOST:.0%} lost, {chosen.runs} runs"
    table = table_of(title, *columns)
    settings = itertools.product(chosen.streams, chosen.windows, chosen.slots, chosen.budgets)
    for row in track(list(settings), "late", transient=True, console=Console(stderr=True)):
        setting, least, sums = Setting(*row), 0.0, [0.0, 0.0]
        arms = chosen.lengths * setting.window
        for seed in range(chosen.runs):
            means = STREAMS[setting.stream](arms, setting.window, np.random.default_rng(seed))
            least += floor(setting, means, LATE)
            for place, delay in enumerate((at_once, late)):
                player, rng = made(chosen, setting, seed), np.random.default_rng([seed, 1])
                sums[place] += play(player, means, [setting.pulls] * arms, delay, rng, told=1.0).regret
        regrets = [f"{total / chosen.runs:,.0f}" for total in sums]
        ratios = sums[1] / sums[0], least / sums[0], sums[1] / (sums[0] + least)
        table.add_row(*map(str, row), *regrets, *(f"{ratio:.2f}" for ratio in ratios))
    return table


CLICKS = Setting("clicks", 200, 20, 400)


def share(chosen: argparse.Namespace, delay: Delay, kind: type[Player] = Player, **named: Any) -> str:
    """Return the share of the best arms' clicks that is taken, run by run on the same arms."""
    traffic = named.pop("traffic", itertools.repeat(CLICKS.pulls))
    arms, shares = chosen.lengths * CLICKS.window, []
    pages = list(itertools.islice(traffic, arms))
    for seed in range(chosen.runs):
        means = STREAMS[CLICKS.stream](arms, CLICKS.window, np.random.default_rng(seed))
        found = play(made(chosen, CLICKS, seed, kind), means, pages, delay, np.random.default_rng([seed, 1]), **named)
        shares.append(found.taken / found.oracle)
    return f"{np.mean(shares):.3f}"


def told_wrongly(factor: float) -> type[Player]:
    """Return a player that takes T for `factor` times what it is."""

    class Wrong(Player):
        @property
        def _traffic(self) -> int:
            return max(round(factor * CLICKS.pulls), 1)

    return Wrong


def clicks_table(chosen: argparse.Namespace) -> Table:
    """What is taken of click rates."""
    table = table_of(
        f"{chosen.keep} x {chosen.pull}: rates .01 to .08, {CLICKS}", "", "at once", "5 to 600 s, 20% lost"
    )
    cases: dict[str, dict[str, Any]] = {"no budget told": {}, "budget told": {"told": 1.0}}
    cases |= {"a slate of 3, no budget told": {"places": 3}}
    for name, named in track(cases.items(), "clicks", transient=True, console=Console(stderr=True)):
        table.add_row(name, share(chosen, at_once, **named), share(chosen, clicked, **named))
    return table


def budgets_table(chosen: argparse.Namespace) -> Table:
    """What a wrong T costs, and traffic that changes."""
    table = table_of(f"{chosen.keep} x {chosen.pull}: T is wrong, {CLICKS}", "", "at once", "5 to 600 s, 20% lost")
    cases: dict[str, dict[str, Any]] = {
        "T right": {"kind": told_wrongly(1)},
        "T a tenth": {"kind": told_wrongly(0.1)},
        "T ten times": {"kind": told_wrongly(10)},
        "budget told ten times too high": {"told": 10.0},
        "day and night: 760 pulls, then 40, each for 50 arrivals": {"traffic": itertools.cycle([760] * 50 + [40] * 50)},
        "pulls an arrival at random, exponential": {
            "traffic": np.random.default_rng(9).exponential(400, 10**5).astype(int).tolist()
        },
    }
    for name, named in track(cases.items(), "budgets", transient=True, console=Console(stderr=True)):
        table.add_row(name, share(chosen, at_once, **named), share(chosen, clicked, **named))
    return table


def cost_table(chosen: argparse.Namespace) -> Table:
    """What asking costs."""
    table = table_of("microseconds of ask and tell together", "slots", "at once", "300 pulls late")
    for slots in (6, 20, 100):
        costs = []
        for behind in (0, 300):
            player = Player(200, slots, keep=chosen.keep, pull=chosen.pull, seed=1)
            for number in range(slots):
                player.arrive(number)
                player.tell(number, 20, pulls=400)
            waiting = [player.ask() for _ in range(behind)]

            def work(player: Player = player, waiting: list[Any] = waiting) -> None:
                for _ in range(1000):
                    waiting.append(player.ask())
                    player.tell(waiting.pop(0), 0.0)

            costs.append(f"{nanoseconds(work, 1000) / 1000:.1f}")
        table.add_row(str(slots), *costs)
    return table


TABLES = {"late": late_table, "clicks": clicks_table, "budgets": budgets_table, "cost": cost_table}


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "tables", nargs="*", default=list(TABLES), metavar="table", help="which tables; all unless given"
    )
    parser.add_argument("--keep", default=plan.PLAY_KEEP, choices=KEEP_TO_PLAY)
    parser.add_argument("--pull", default=plan.PLAY_PULL, choices=list(PULL))
    parser.add_argument("--runs", type=int, default=3, help="runs of each setting, on other arms each (3)")
    parser.add_argument("--lengths", type=int, default=3, help="arms of a stream, in windows (3)")
    parser.add_argument("--streams", nargs="+", default=["uniform", "clicks"], choices=list(STREAMS))
    parser.add_argument("--windows", nargs="+", type=int, default=[50, 200])
    parser.add_argument("--slots", nargs="+", type=int, default=[6, 20])
    parser.add_argument("--budgets", nargs="+", type=int, default=[200, 1000], help="pulls an arrival")
    chosen = parser.parse_args()
    for name in chosen.tables:
        if name not in TABLES:
            parser.error(f"table must be one of {', '.join(TABLES)}, not {name!r}")
    for name in chosen.tables:
        Console().print(TABLES[name](chosen))


if __name__ == "__main__":
    main()
