"""`bestbefore advise`: the paper's Table 1 with the reader's own numbers."""

import json
from typing import Any

import click

from bestbefore import bounds, plan
from bestbefore.arguments import whole
from bestbefore.cli.options import STREAMS, make_stream, most_option, window_option
from bestbefore.cli.rates import rate_advice
from bestbefore.clock import Length
from bestbefore.plan import ExplorePlan, plan_exploration

Advice = dict[str, Any]

UP_TO = "up to a constant factor"
TRIED = 20
"""Windows of a stream on which pulls are tried: more would hardly change their mean."""


@click.command(short_help="What is possible with your numbers, and its price.")
@window_option
@most_option
@click.option("-e", "--epsilon", default=plan.EPSILON, show_default=True, help="How far from the best it may be.")
@click.option("-d", "--delta", default=plan.DELTA, show_default=True, help="Probability that the guarantee fails.")
@click.option("-m", "--memory", type=int, help="Slots at hand.  [default: ceil(3/epsilon), times --top]")
@click.option("-n", "--arms", default=1000, show_default=True, help="Arms that arrive (n).")
@click.option(
    "-s",
    "--stream",
    help=f"Try how many pulls it takes to certify answers on your kind of stream: {', '.join(STREAMS)}, a movielens "
    "stream or a CSV file, see bestbefore explore --help.  [default: not tried; this takes the compiler]",
)
@click.option(
    "-b",
    "--budget",
    default=1_000_000,
    show_default=True,
    help="Pulls for regret, all epochs together (T); with --rate, pulls of all n arms.",
)
@click.option("--rate", type=float, help="About how high the best mean is, if small: say what is affordable there.")
@click.option("--relative", type=float, help="With --rate: how far from the best it may be, as a share of its mean.")
@click.option("--top", default=1, show_default=True, help="How many answers are wanted: the best k of the window.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON instead.")
def advise(
    window: Length,
    most: int | None,
    epsilon: float,
    delta: float,
    memory: int | None,
    arms: int,
    budget: int,
    stream: str | None,
    rate: float | None,
    relative: float | None,
    top: int,
    as_json: bool,
) -> None:
    """Tell what is possible, what it costs, and what no algorithm can do: the paper's Table 1 with your numbers.

    With a window by time, such as --window 24h, W is --most, how many arms may be valid at once.  With --rate, the last
    lines are about small means, such as click rates.
    """
    width, said = _width(window, most)
    slots = bounds.memory(epsilon, top=top) if memory is None else whole("memory", memory)
    rows = advice(width, epsilon, delta, slots, arms, budget, stream, top)
    if rate is not None:
        rows += rate_advice(width, relative, rate, delta, slots, arms, budget)
    elif relative is not None:
        raise ValueError(f"--rate must say about how high the best mean is, as 0.03, with --relative {relative}")
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    screen = Table(
        title=f"W = {said}   epsilon = {epsilon:g}   delta = {delta:g}   memory = {slots:,}   "
        f"n = {arms:,}   T = {budget:,}",
        box=box.SIMPLE_HEAD,
    )
    for column in ("task", "slots", f"with {slots:,}?", "what it costs", "by"):
        screen.add_column(column)
    for row in rows:
        mark = {True: "[green]yes[/]", False: "[red]no[/]", None: "not ruled out"}[row["possible"]]
        screen.add_row(
            row["task"], "any" if row["slots"] is None else f"{row['slots']:,}", mark, row["cost"], row["source"]
        )
    console = Console(highlight=False)
    console.print(screen)
    for line in _remarks(width, slots, arms, top):
        console.print(line)


def _width(window: Length, most: int | None) -> tuple[int, str]:
    """Return how many arms a window can hold, and how to say that."""
    if not isinstance(window, int):
        if most is None:
            raise ValueError(f"--most must say how many arms may be valid at once, with the window {window!r}")
        return most, f"{most:,} in {window}"
    if most is not None:
        raise ValueError(f"--most must be left out with a window by count, not {most}: it is the window")
    return window, f"{window:,}"


def _remarks(window: int, slots: int, arms: int, top: int) -> list[str]:
    """Say what the words of the table mean, and what the slots at hand can promise."""
    lines = [f"Costs {UP_TO}: the paper proves how such a number grows, but not how large that factor is."]
    if window > arms:
        lines.append(f"Only {arms:,} arms arrive, so none ever expires.")
    if slots >= min(window, arms):
        lines.append(f"With {slots:,} slots every valid arm is stored; `bestbefore explore` shows what pulls gain.")
        return lines
    promise = f"nothing: at least {3 * top} slots are needed"
    if slots >= 3 * top:
        made = plan_exploration("bucket", min(window, arms), memory=slots, top=top)
        promise = f"epsilon = {made.promise:.3g}"
    lines.append(f"With {slots:,} slots Algorithm 1 can promise {promise}; `bestbefore explore` shows what it gets.")
    return lines


def advice(
    window: int,
    epsilon: float,
    delta: float,
    memory: int,
    arms: int,
    budget: int,
    stream: str | None = None,
    top: int = 1,
) -> list[Advice]:
    """Return the rows of the table: `slots` that the task takes, and whether it is possible with `memory` of them.

    Possible is None where the paper leaves it open.  Where a rule solves the task, `keep`, `tests` (pulls of each arm;
    with certificates, at the very worst) and `promise` are those of its plan.  With the name of a `stream`,
    certificates are tried on it, and `expected` is the mean number of pulls of an arm.  For the best `top` arms there
    are no certificates.

    >>> rows = advice(window=50, epsilon=0.1, delta=0.05, memory=30, arms=1000, budget=10**6)
    >>> [row["possible"] for row in rows]
    [False, True, True, True, True, False, None, False, True]
    >>> rows[1]["keep"], rows[1]["slots"], rows[1]["tests"], rows[1]["promise"]
    ('bucket', 30, 3915, 0.1)
    """
    window, arms, memory = whole("window", window), whole("arms", arms), whole("memory", memory)
    given, window = window, min(window, arms)
    few = bounds.exact_memory(window, top)
    return [
        _row(
            "the exact best arm" if top == 1 else f"the exact best {top} arms",
            window,
            memory >= window,
            f"no algorithm below {few:,} slots is right 99% of times" if few > 1 else "a slot for each valid arm",
            "Theorem 1",
        ),
        *_exploration(given, epsilon, delta, memory, arms, stream, top),
        *_regret(window, memory, arms, whole("budget", budget)),
    ]


def _exploration(
    window: int, epsilon: float, delta: float, memory: int, arms: int, stream: str | None, top: int
) -> list[Advice]:
    """Return the rows of epsilon-exploration; where W slots are no more than Algorithm 1 needs, all arms are stored."""
    whole_window = bounds.memory(epsilon, top=top) >= window
    keep = "fifo" if whole_window else "bucket"
    plans = [
        plan_exploration(keep, window, epsilon=epsilon, delta=delta, guarantee=guarantee, arms=arms, top=top)
        for guarantee in bounds.GUARANTEES
    ]
    by = ["W slots, fifo"] * 3 if whole_window else ["Theorem 2, bucket", "Lemma 4.2, bucket", "ours, bucket"]
    when = ["at one fixed time (weak)", "at all times (strong)", "at all times for ever"]
    growing = f"{plans[2].tests_of(arms):,} pulls for arm {arms:,}, growing like its logarithm"
    costs = [_in_all(plans[0].tests_of(1), arms), _in_all(plans[1].tests_of(1), arms), growing]
    each = "" if top == 1 else f"each of the best {top} "
    certified = [_certified(window, epsilon, delta, memory, arms, stream)] if top == 1 else []
    applies, lower = arms >= 8 * window, bounds.strong_pulls_lower(epsilon, window, arms)
    rows = [
        _planned(f"{each}within epsilon, {times}", made, memory, arms, cost, source)
        for times, made, cost, source in zip(when, plans, costs, by, strict=True)
    ]
    unavoidable = f"at least about {_roughly(lower)} pulls in all, {UP_TO}, whatever the memory"
    return [
        *rows,
        *certified,
        _row(
            "within epsilon, strong, with far fewer pulls",
            None,
            False if applies else None,
            unavoidable if applies else "Lemma 4.1 is about n >= 8 W",
            "Lemma 4.1",
        ),
    ]


def _certified(window: int, epsilon: float, delta: float, memory: int, arms: int, stream: str | None) -> Advice:
    """Return the row of certificates: what they take at the very worst, and on a stream of the reader's kind."""
    made = plan_exploration(window=window, epsilon=epsilon, delta=delta)
    least = bounds.certificate_slots(epsilon, window, share=3 / 4)
    if least <= memory < made.memory:
        made = plan_exploration(window=window, epsilon=epsilon, delta=delta, memory=memory)
    cost = f"at most {made.tests_of(1):,} pulls of an arm; most take far fewer: --stream tries it"
    expected: Advice = {}
    if stream is not None:
        pulls = _expected_pulls(stream, window, epsilon, delta, made.memory, arms)
        cost = f"about {pulls:,.0f} pulls per arm on {stream}; at most {made.tests_of(1):,} pulls of an arm"
        expected = {"expected": pulls}
    return _planned("within epsilon, weak, with certificates", made, memory, arms, cost, "ours, certify") | expected


def _expected_pulls(stream: str, window: int, epsilon: float, delta: float, slots: int, arms: int) -> float:
    """Try certificates on a stream, three times; return the pulls of an arm on average."""
    from bestbefore import simulate

    tried = make_stream(stream, min(arms, TRIED * window), window, "bernoulli", None)
    table = simulate.explore(tried, window, slots, epsilon=epsilon, delta=delta, runs=3)
    return float(table["pulls"].mean() / tried.length)


def _planned(task: str, made: ExplorePlan, memory: int, arms: int, cost: str, source: str) -> Advice:
    """Return the row of a task that a rule solves with enough slots."""
    tests = made.tests_of(arms if made.guarantee == "anytime" else 1)
    planned = {"keep": made.keep.name, "tests": tests, "promise": made.promise}
    return _row(task, made.memory, memory >= made.memory, cost, source) | planned


def _regret(window: int, memory: int, arms: int, budget: int) -> list[Advice]:
    """Return the rows of regret; Theorem 3 speaks of streams with n >= 16 W and T >= n, and of (W - 1) / 2 slots."""
    half, applies = (window - 1) // 2, budget >= arms >= 16 * window and window >= 3
    lower, upper = bounds.regret_lower(budget, window), bounds.regret_upper(budget, window, arms)
    cost = f"with {half:,} slots or fewer: at least {lower:,.0f} on some stream"
    if applies:
        cost += f", by a sharper proof {bounds.regret_lower_sharp(budget, window, half, arms):,.0f}"
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
            f"at most about {_roughly(upper)} in {budget:,} pulls, {UP_TO}",
            "Theorem 3, fifo",
        ),
        _row(
            "little regret on streams as they are",
            None,
            True,
            "a Player with its defaults; if every arm is better than the one before, fifo x ucb: docs/choose.md",
            f"ours, {plan.PLAY_KEEP} x {plan.PLAY_PULL}",
        )
        | {"keep": plan.PLAY_KEEP, "pull": plan.PLAY_PULL},
    ]


def _roughly(value: float) -> str:
    """Write a number of which only the order is known, with two digits: more would say what nobody knows."""
    return f"{float(f'{value:.2g}'):,.0f}"


def _in_all(each: int, arms: int) -> str:
    return f"{each:,} pulls per arm, {each * arms:,} in all"


def _row(task: str, slots: int | None, possible: bool | None, cost: str, source: str) -> Advice:
    return {"task": task, "slots": slots, "possible": possible, "cost": cost, "source": source}
