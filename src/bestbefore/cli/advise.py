"""`bestbefore advise`: the paper's Table 1 with the reader's own numbers."""

import json
import math
from typing import Any

import click

from bestbefore import bounds
from bestbefore.arguments import whole

Advice = dict[str, Any]


@click.command()
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
    for column in ("task", "slots needed", f"with your {slots:,}", "cost", "by"):
        screen.add_column(column)
    for row in rows:
        mark = {True: "[green]yes[/]", False: "[red]no[/]"}[row["possible"]]
        screen.add_row(row["task"], row["slots"], mark, row["cost"], row["source"])
    Console().print(screen)
    least = bounds.epsilon_for_memory(slots)
    promise = f"epsilon = {least:.3g}" if least <= 1 else "nothing: more than 3 slots are needed"
    click.echo(f"With {slots:,} slots Algorithm 1 can promise {promise}; `bestbefore explore` shows what it gets.")


def advice(window: int, epsilon: float, delta: float, memory: int, arms: int, pulls: int) -> list[Advice]:
    """Return the rows of the table.

    >>> [row["possible"] for row in advice(window=50, epsilon=0.1, delta=0.05, memory=30, arms=1000, pulls=10**6)]
    [False, True, True, True, True, True, False]
    """
    needed, half = bounds.memory(epsilon), (whole("window", window) - 1) / 2
    whole("arms", arms)

    def explored(task: str, guarantee: str, source: str, keep: str = "bucket") -> Advice:
        split = bounds.STAIRCASE_SPLIT if keep == "staircase" else bounds.PAPER_SPLIT
        s = bounds.pulls(epsilon, window, delta, guarantee, arms=arms, arrival=arms, split=split)
        slots = min(bounds.memory(epsilon, split), window) if keep == "staircase" else needed
        cost = f"{s:,} pulls per arm, {s * arms:,} in all"
        if guarantee == "anytime":
            cost = f"{s:,} pulls for arm {arms:,}, growing like its logarithm"
        return _row(task, f"{slots:,}", memory >= slots, cost, source)

    rows = [
        _row(
            "the exact best arm",
            f"{window:,}",
            memory >= window,
            f"no algorithm below {bounds.exact_memory(window):,} slots is right 99% of times",
            "Theorem 1",
        ),
        explored("within epsilon, at one fixed time (weak)", "weak", "Theorem 2, bucket"),
        explored("within epsilon, at all times at once (strong)", "strong", "Lemma 4.2, bucket"),
        explored("within epsilon, at all times for ever", "anytime", "ours, bucket"),
    ]
    cheaper = explored("the same (weak) with fewer pulls", "weak", "ours, staircase", "staircase")
    cheaper["slots"] = f"{math.ceil(math.log(window)) + 1:,} in random order, {cheaper['slots']} at worst"
    cheaper["possible"] = memory >= math.log(window)
    lower, upper = bounds.regret_lower(pulls, window), bounds.regret_upper(pulls, window, arms)
    return [
        *rows,
        cheaper,
        _row(
            "regret below T / (64 W^2) on every stream",
            f"{half:,.0f} and more",
            memory > half,
            f"with {half:g} slots or fewer: at least {lower:,.0f}, on some stream",
            "Theorem 3",
        ),
        _row(
            "regret of order sqrt(W (n-W+1) T)",
            f"{window:,}",
            memory >= window,
            f"about {upper:,.0f} at most, of {pulls:,} pulls",
            "Theorem 3, fifo",
        ),
    ]


def _row(task: str, slots: str, possible: bool, cost: str, source: str) -> Advice:
    return {"task": task, "slots": slots, "possible": possible, "cost": cost, "source": source}
