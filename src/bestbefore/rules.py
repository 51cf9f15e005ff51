"""All rules in one table: the name of each, its number, and what it can do.

Compiled code knows a rule by its number.  Nothing here is compiled: the command line can name the rules without waiting
for the compiler.  A new rule is a file in `keep/` (`pull/`, `probe/`) of the rule's name, and a line here.

>>> KEEP["bucket"].number, [rule.name for rule in KEEP.values() if not rule.plays]
(3, ['king'])
>>> keep_rule("bukcet")                      # doctest: +ELLIPSIS
Traceback (most recent call last):
ValueError: keep must be one of 'fifo', ..., not 'bukcet'
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from bestbefore.arguments import one_of
from bestbefore.bounds import PAPER_SPLIT, STAIRCASE_SPLIT

OWN: Final = -1
"""The number of a rule that a user has written."""

Function = Callable[..., Any]


@dataclass(frozen=True)
class Probe:
    """How an arriving arm is tested."""

    name: str
    number: int


@dataclass(frozen=True)
class Keep:
    """Which arms stay in the slots."""

    name: str
    number: int
    plays: bool = True
    """Serves a player: it finds a slot for an arm that was not pulled yet."""
    draws: bool = False
    """Needs a fresh uniform number for each arm."""
    by_mean: bool = False
    """An arm's place depends on its mean: it is placed anew when a late reward changes that."""
    cells: int | None = None
    """With m slots the answer is within 1 / (m + cells) of the best, on every stream; None where nothing is sure."""
    whole: bool = False
    """With W slots no arm is lost that could ever be the answer."""
    slack: bool = False
    """May pass over new arms, as freely as `slack` says; the oldest valid arms are then exempt from the promise."""
    split: float = PAPER_SPLIT
    """The share of epsilon that goes to the cells, unless said otherwise."""
    probe: str = "fixed"
    """How arms are tested for it."""
    certifies: bool = False
    """What goes may be decided by certificates as well."""
    slots: int | None = None
    """The only number of slots it can use."""
    own: Function | None = None
    """The function of a user's own rule."""


@dataclass(frozen=True)
class Pull:
    """How the budget of an epoch is spent."""

    name: str
    number: int
    index: bool = True
    """Pulls the arm of the highest index, where an index changes only with its own arm's rewards; else it draws."""
    odds: bool = False
    """Knows the probability of each choice."""
    tests: bool = False
    """Tests each new arm by as many pulls as an epsilon needs."""
    own: Function | None = None
    """The index of a user's own rule."""


@dataclass(frozen=True)
class Strategy:
    """How the arm that never expires is sought."""

    name: str
    number: int
    flag: str
    """Whether it can be known that an arm has outlived its window: "explicit" or "implicit"."""
    probe: str = "race"
    share: int = 10
    """Tests take at most one part in so many of the budget."""
    tests: int = 100
    """Pulls of a test, where neither budget nor the number of arms is known."""


class Named(Protocol):
    """What all rules have."""

    @property
    def name(self) -> str:
        """What a person calls it."""

    @property
    def number(self) -> int:
        """What compiled code calls it."""


Rule = TypeVar("Rule", bound=Named)


def _table(*rules: Rule) -> Mapping[str, Rule]:
    """Return rules by name; no two may share a name or a number."""
    table = {rule.name: rule for rule in rules}
    if len(table) < len(rules) or len({rule.number for rule in rules}) < len(rules):
        raise ValueError(f"rules must have names and numbers of their own, not {rules!r}")
    return table


PROBE: Final = _table(Probe("fixed", 0), Probe("challenge", 1), Probe("race", 2), Probe("wait", 3), Probe("certify", 4))

KEEP: Final = _table(
    Keep("fifo", 0, whole=True),
    Keep("reservoir", 1, draws=True),
    Keep("topk", 2),
    Keep("bucket", 3, by_mean=True, cells=0),
    Keep("staircase", 4, by_mean=True, cells=1, whole=True, slack=True, split=STAIRCASE_SPLIT, certifies=True),
    Keep("heirs", 6),
    Keep("king", 5, plays=False, probe="challenge", slots=1),
)

PULL: Final = _table(
    Pull("ucb", 0),
    Pull("moss", 1),
    Pull("kl_ucb", 2),
    Pull("commit", 3, tests=True),
    Pull("thompson", 4, index=False),
    Pull("inf", 5, index=False, odds=True),
    Pull("fresh", 6),
)

STRATEGY: Final = _table(
    Strategy("wait", 0, "explicit", probe="wait"),
    Strategy("rank", 1, "explicit", probe="fixed", share=100, tests=10),
    Strategy("race", 2, "explicit"),
    Strategy("stay", 3, "implicit"),
    Strategy("hope", 4, "implicit"),
    Strategy("weigh", 5, "implicit"),
)

KEEP_TO_PLAY: Final = tuple(name for name, rule in KEEP.items() if rule.plays)
INDEXED: Final = tuple(name for name, rule in PULL.items() if rule.index)
FLAGS: Final = tuple(dict.fromkeys(rule.flag for rule in STRATEGY.values()))
CLOCKS: Final = ("goes on", "stops")
"""What time does after the last arrival."""


def strategies_of(flag: str) -> tuple[str, ...]:
    """Return the names of the strategies for a flag."""
    one_of("flag", flag, FLAGS)
    return tuple(name for name, rule in STRATEGY.items() if rule.flag == flag)


def keep_rule(keep: str | Function, *, to_play: bool = False) -> Keep:
    """Return the keep rule of a name, or a user's own function as a rule of its own."""
    if callable(keep):
        return Keep(name_of(keep), OWN, draws=True, by_mean=True, own=keep)
    return KEEP[one_of("keep", keep, KEEP_TO_PLAY if to_play else KEEP)]


def pull_rule(pull: str | Function) -> Pull:
    """Return the pull rule of a name, or a user's own index as a rule of its own."""
    return Pull(name_of(pull), OWN, own=pull) if callable(pull) else PULL[one_of("pull", pull, PULL)]


def name_of(function: Function) -> str:
    """Return what a function is called, or its class where it has no name."""
    return str(getattr(function, "__name__", type(function).__name__))
