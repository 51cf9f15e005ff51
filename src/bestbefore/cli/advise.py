"""`bestbefore advise`: the paper's Table 1 with the reader's own numbers."""

import json
import math
from typing import Any

import click

from bestbefore import bounds
from bestbefore.arguments import whole

Advice = dict[str, Any]


@click.command(short_help="What is possible with your numbers, and its price.")
@click.option("-W", "--window", default=50, show_default=True, help="How many of the last arrivals are valid (W).")
@click.option("-e", "--epsilon", default=0.1, show_default=True, help="How far from the best the answer may be.")
@click.option("-d", "--delta", default=0.05, show_default=True, help="Probability that the guarantee fails.")
@click.option("-m", "--memory", type=int, help="Slots at hand.  [default: ceil(3/epsilon)]")
@click.option("-n", "--arms", default=1000, show_default=True, help="Arms that arrive (n).")
@click.option("-T", "--pulls", default=1_000_000, show_default=True, help="Pulls for regret, all epochs together (T).")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON instead.")
def advise(window: int, epsilon: float, delta: float, memory: int | None, arms: int, pulls: int, as_json: bool) -> None:
    """Tell what is possible, what it costs, and what no algorithm can do: the paper's Table 1 with your numbers."""
    slots = bounds.memory(epsilon) if memory is None else whole("memory", memory)
    rows = advice(window, epsilon, delta, slots, arms, pulls)
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table as Screen

    screen = Screen(
        title=f"W = {window:,}   epsilon = {epsilon:g}   delta = {delta:g}   memory = {slots:,}   "
        f"n = {arms:,}   T = {pulls:,}",
        box=box.SIMPLE_HEAD,
    )
    for column in ("task", "slots", f"with {slots:,}?", "what it costs", "by"):
        screen.add_column(column)
    for row in rows:
        mark = {True: "[green]yes[/]", False: "[red]no[/]", None: "not ruled out"}[row["possible"]]
        screen.add_row(
            row["task"], "any" if row["slots"] is None else f"{row['slots']:,}", mark, row["cost"], row["source"]
        )
    Console().print(screen)
    if window > arms:
        click.echo(f"Only {arms:,} arms arrive, so none ever expires: the numbers are those of W = {arms:,}.")
    if slots >= min(window, arms):
        click.echo(
            f"With {slots:,} slots every valid arm is stored; `bestbefore explore` shows what is gained by pulls."
        )
        return
    least = bounds.epsilon_for_memory(slots)
    promise = f"epsilon = {least:.3g}" if least <= 1 else "nothing: at least 3 slots are needed"
    click.echo(f"With {slots:,} slots Algorithm 1 can promise {promise}; `bestbefore explore` shows what it gets.")


def advice(window: int, epsilon: float, delta: float, memory: int, arms: int, pulls: int) -> list[Advice]:
    """Return the rows of the table: `slots` that the task takes, and whether it is possible with `memory` of them.

    Possible is None where the paper leaves it open.  A window as long as the stream is as good as a longer one.

    >>> [row["possible"] for row in advice(window=50, epsilon=0.1, delta=0.05, memory=30, arms=1000, pulls=10**6)]
    [False, True, True, True, False, False, None, False]
    """
    window, arms, memory = whole("window", window), whole("arms", arms), whole("memory", memory)
    window = min(window, arms)
    few = bounds.exact_memory(window)
    return [
        _row(
            "the exact best arm",
            window,
            memory >= window,
            f"no algorithm below {few:,} slots is right 99% of times" if few > 1 else "a slot for each valid arm",
            "Theorem 1",
        ),
        *_exploration(window, epsilon, delta, memory, arms),
        *_regret(window, memory, arms, whole("pulls", pulls)),
    ]


def _exploration(window: int, epsilon: float, delta: float, memory: int, arms: int) -> list[Advice]:
    """Return the rows of epsilon-exploration; where W slots are no more than Algorithm 1 needs, all arms are stored."""
    needed = min(bounds.memory(epsilon), window)
    stored = needed == window
    split = 0 if stored else bounds.PAPER_SPLIT
    weak, strong, anytime = (
        bounds.pulls(epsilon, window, delta, guarantee, arms=arms, arrival=arms, split=split)
        for guarantee in bounds.GUARANTEES
    )
    within, enough = "within epsilon", memory >= needed
    by = ["W slots, fifo"] * 3 if stored else ["Theorem 2, bucket", "Lemma 4.2, bucket", "ours, bucket"]
    growing = f"{anytime:,} pulls for arm {arms:,}, growing like its logarithm"
    applies, lower = arms >= 8 * window, bounds.strong_pulls_lower(epsilon, window, arms)
    return [
        _row(f"{within}, at one fixed time (weak)", needed, enough, _in_all(weak, arms), by[0]),
        _row(f"{within}, at all times (strong)", needed, enough, _in_all(strong, arms), by[1]),
        _row(f"{within}, at all times for ever", needed, enough, growing, by[2]),
        *([] if stored else [_with_fewer_pulls(window, epsilon, delta, memory, arms)]),
        _row(
            f"{within}, strong, with far fewer pulls",
            None,
            False if applies else None,
            f"order {lower:,.0f} pulls in all are needed, whatever the memory"
            if applies
            else "Lemma 4.1 is about n >= 8 W",
            "Lemma 4.1",
        ),
    ]


def _with_fewer_pulls(window: int, epsilon: float, delta: float, memory: int, arms: int) -> Advice:
    """Return the row of the staircase, which takes more slots at worst, and fewer pulls."""
    slots, steps = min(bounds.memory(epsilon, bounds.STAIRCASE_SPLIT), window), math.ceil(math.log(window) + 1)
    each = bounds.pulls(epsilon, window, delta, split=bounds.STAIRCASE_SPLIT if slots < window else 0)
    cost = f"{_in_all(each, arms)}; in random order some {steps} slots are in use"
    return _row("within epsilon, weak, with fewer pulls", slots, memory >= slots, cost, "ours, staircase")


def _regret(window: int, memory: int, arms: int, pulls: int) -> list[Advice]:
    """Return the rows of regret; Theorem 3 speaks of streams with n >= 16 W and T >= n, and of (W - 1) / 2 slots."""
    half, applies = (window - 1) // 2, pulls >= arms >= 16 * window and window >= 3
    lower, upper = bounds.regret_lower(pulls, window), bounds.regret_upper(pulls, window, arms)
    cost = f"with {half:,} slots or fewer: at least {lower:,.0f}, on some stream"
    return [
        _row(
            "regret below T / (64 W^2)",
            half + 1,
            False if memory <= half and applies else None,
            cost if applies else "Theorem 3 is about W >= 3 and T >= n >= 16 W",
            "Theorem 3",
        ),
        _row(
            "regret of order sqrt(W (n-W+1) T)",
            window,
            memory >= window,
            f"of order {upper:,.0f}, of {pulls:,} pulls",
            "Theorem 3, fifo",
        ),
    ]


def _in_all(each: int, arms: int) -> str:
    return f"{each:,} pulls per arm, {each * arms:,} in all"


def _row(task: str, slots: int | None, possible: bool | None, cost: str, source: str) -> Advice:
    return {"task": task, "slots": slots, "possible": possible, "cost": cost, "source": source}
