"""The rules by name, and the small whole numbers by which compiled code knows them.

Nothing here is compiled: the command line can name the rules without waiting for the compiler.
"""

from typing import Final

FIFO: Final = 0
RESERVOIR: Final = 1
TOPK: Final = 2
BUCKET: Final = 3
STAIRCASE: Final = 4
KING: Final = 5

KEEP: Final = {
    "fifo": FIFO,
    "reservoir": RESERVOIR,
    "topk": TOPK,
    "bucket": BUCKET,
    "staircase": STAIRCASE,
    "king": KING,
}
"""Keep rules of exploration."""

KEEP_FOR_REGRET: Final = {name: code for name, code in KEEP.items() if code != KING}

UCB: Final = 0
MOSS: Final = 1
KL_UCB: Final = 2
COMMIT: Final = 3
THOMPSON: Final = 4
INF: Final = 5

PULL: Final = {
    "ucb": UCB,
    "moss": MOSS,
    "kl_ucb": KL_UCB,
    "commit": COMMIT,
    "thompson": THOMPSON,
    "inf": INF,
}
"""Pull rules of regret."""

INDEXED: Final = ("ucb", "moss", "kl_ucb", "commit")
"""Pull rules that pull the arm of the highest index, where an index changes only with its own arm's rewards."""

WAIT: Final = 0
RANK: Final = 1
RACE: Final = 2
STAY: Final = 3
HOPE: Final = 4
WEIGH: Final = 5

STRATEGY: Final = {"wait": WAIT, "rank": RANK, "race": RACE, "stay": STAY, "hope": HOPE, "weigh": WEIGH}
"""Strategies for the best arm that never expires."""

CLOCKS: Final = ("goes on", "stops")
"""What time does after the last arrival."""

STRATEGIES_OF_FLAG: Final = {"explicit": ("wait", "rank", "race"), "implicit": ("stay", "hope", "weigh")}
