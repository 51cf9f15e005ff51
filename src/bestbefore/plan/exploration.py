"""What an explorer's slots, tests and promise are, from what a person says.

>>> plan = plan_exploration("bucket", window=50, epsilon=0.3, delta=0.1)
>>> plan.memory, plan.tests_of(1), plan.promise
(10, 401, 0.3)
>>> plan = plan_exploration(window=50, epsilon=0.3, delta=0.1)     # pulls as they are needed; at the very worst:
>>> plan.probe, plan.memory, plan.tests_of(1)
('certify', 34, 376)
>>> plan = plan_exploration(window=50, memory=6)                   # few slots, put to their best use
>>> plan.probe, plan.promise, plan.exempt                          # within 1/2 of all but the 8 oldest valid arms
('fixed', 0.5, 8)
>>> plan = plan_exploration("bucket", window=500, epsilon=0.3, top=3)   # three answers take three times the slots
>>> plan.memory, plan.promise
(30, 0.3)
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bestbefore import bounds
from bestbefore.arguments import between, one_of, whole
from bestbefore.clock import Length, Window, window_of
from bestbefore.noise import noise_of
from bestbefore.plan.defaults import DELTA, EPSILON, GUARANTEE, KEEP, WINDOW
from bestbefore.plan.explore_plan import TEST_RULES, ExplorePlan
from bestbefore.plan.slots import cell_width, least_memory, slots_for, theta_for, too_few, words_of
from bestbefore.plan.windows import most_of
from bestbefore.rules import PROBE, Keep, keep_rule
from bestbefore.scale import UNIT, scale_of


def plan_exploration(
    keep: str | Callable[..., Any] = KEEP,
    window: Length = WINDOW,
    *,
    epsilon: float | None = None,
    delta: float = DELTA,
    guarantee: str = GUARANTEE,
    arms: int | None = None,
    memory: int | None = None,
    most: int | None = None,
    probe: str | None = None,
    budget: int | None = None,
    relative: bool = False,
    reacts: bool = False,
    pending: int = 1,
    tests: int | str | None = None,
    split: float | None = None,
    slack: float | None = None,
    sigma: float | None = None,
    patience: Length | None = None,
    scale: Sequence[float] = UNIT,
    top: int = 1,
    spare: int = 0,
) -> ExplorePlan:
    """Check what a person has said about exploration, and derive the rest.

    Unless said otherwise, arms are certified where the keep rule allows it and it is known when to stop: at an epsilon,
    which is a tenth of the scale if nothing is said, or at a budget.  `most` is for windows by time: how many arms may
    be valid at once; certificates can do without.  `pending` to `slack`, `patience`, `top` and `spare`
    are about fixed tests.
    """
    rule, span, unit = keep_rule(keep), window_of(window), scale_of(scale)
    ranked = _ranked(rule, most := most_of(span, most), top, spare)
    for name, value in (("relative", relative), ("reacts", reacts)):
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be True or False, not {value!r}")
    about_tests: dict[str, Any] = {
        "pending": None if whole("pending", pending) == 1 else pending,
        "tests": tests,
        "split": split,
    }
    about_tests |= {"slack": slack, "patience": patience}
    about_certificates = {"budget": budget, "relative": relative or None, "reacts": reacts or None}
    ends = epsilon is not None or memory is None or budget is not None
    probe = _probe(rule, probe, ends, about_tests, about_certificates, ranked)
    common: dict[str, Any] = {
        "keep": rule,
        "probe": probe,
        "window": span.length,
        "by_time": span.by_time,
        "most": most,
        "top": whole("top", top),
        "spare": whole("spare", spare, at_least=0),
        "delta": between("delta", delta, 0, 1),
        "guarantee": one_of("guarantee", guarantee, bounds.GUARANTEES),
        "arms": None if arms is None else whole("arms", arms),
        "noise": noise_of(sigma, unit.width),
    }
    if relative and unit.low != 0:
        raise ValueError(f"scale must begin with 0 where epsilon is a share of the best mean, not {scale!r}")
    if epsilon is not None and not relative:
        epsilon = between("epsilon", epsilon, 0, unit.width, closed="right") / unit.width
    if probe == "certify":
        plan = _certified(common, epsilon, memory, budget, relative=relative, reacts=reacts)
    else:
        plan = _tested(common, epsilon, memory, whole("pending", pending), tests, split, slack, unit.width)
        plan = replace(plan, patience=_patience(span, patience))
    plan.tests_of(1)  # complains of what is missing for the guarantee
    return plan


def _ranked(rule: Keep, most: int | None, top: int, spare: int) -> str:
    """Check how many ranks are to be kept; return what was said of that, in words, or nothing if it is one."""
    if most is not None and whole("top", top) > most:
        raise ValueError(f"top must be at most {most}, the arms valid at once, not {top}")
    ranks = whole("top", top) + whole("spare", spare, at_least=0)
    if rule.slots is not None and ranks > rule.slots:
        raise ValueError(
            f"top must be 1 and spare 0 with keep={rule.name!r}, which stores a single arm, not {top} and {spare}"
        )
    return words_of(top=top, spare=spare)


def _probe(
    rule: Keep,
    probe: str | None,
    ends: bool,
    tests: dict[str, Any],
    certificates: dict[str, Any],
    ranked: str,
) -> str:
    """Return how arms are tested: as the keep rule needs it, and as it was said."""
    said_of_tests = [name for name, value in tests.items() if value is not None]
    said_of_certificates = [name for name, value in certificates.items() if value is not None]
    if ranked and rule.certifies and (probe == "certify" or (probe is None and said_of_certificates)):
        name = "probe" if probe else said_of_certificates[0]
        value = probe or certificates[name]
        raise ValueError(
            f"{name} must be left out with {ranked}, not {value!r}: certificates are about one answer, and the best k "
            "take fixed tests"
        )
    if probe is None:
        certify = rule.certifies and not ranked and (bool(said_of_certificates) or (ends and not said_of_tests))
        probe = "certify" if certify else rule.probe
    possible = [rule.probe] + ["certify"] * rule.certifies
    if one_of("probe", probe, PROBE) not in possible:
        allowed = " or ".join(map(repr, possible))
        raise ValueError(f"probe must be {allowed} with keep={rule.name!r}, not {probe!r}")
    wrong = said_of_tests if probe == "certify" else said_of_certificates
    if wrong and not (rule.probe == "challenge" and wrong == ["pending"]):
        other = "probe='fixed'" if probe == "certify" else "probe='certify', which keep='staircase' can do"
        value = (tests | certificates)[wrong[0]]
        raise ValueError(f"{wrong[0]} must be left out with probe={probe!r}, not {value!r}: it is for {other}")
    if rule.probe == "challenge" and tests["pending"] is not None:
        raise ValueError(f"pending must be 1 with keep={rule.name!r}: one challenge at a time, not {tests['pending']}")
    return probe


def _certified(
    common: dict[str, Any],
    epsilon: float | None,
    memory: int | None,
    budget: int | None,
    *,
    relative: bool,
    reacts: bool,
) -> ExplorePlan:
    """Return the plan of an explorer that certifies its answers."""
    most = common["most"]
    budget = None if budget is None else whole("budget", budget)
    memory = None if memory is None else whole("memory", memory)
    target = _target(epsilon, memory, budget, most)
    if memory is None:
        memory = bounds.certificate_slots(target, most, relative=relative)
    elif target and budget is None and memory < (least := _least_slots(target, most, relative=relative)):
        raise ValueError(
            f"memory must be at least {least} slots to promise epsilon={target!r} with probe='certify', not {memory}; "
            "with a budget, the explorer does what it can with fewer, and `gap` says what that is"
        )
    if not target and relative:
        raise ValueError("epsilon must be given with relative=True, not None: it is a share of the best mean")
    return ExplorePlan(
        **common,
        memory=memory,
        slots=min(memory, most or memory),
        epsilon=target,
        promise=target or None,
        budget=budget,
        relative=relative,
        reacts=reacts,
    )


def _target(epsilon: float | None, memory: int | None, budget: int | None, most: int | None) -> float:
    """Return the epsilon at which pulls may end: as it was said, or as the slots allow; 0 for as small as possible."""
    if epsilon is not None:
        return float(between("epsilon", epsilon, 0, 1, closed="right"))
    if memory is None:
        return EPSILON
    if budget is not None:
        return 0.0
    slots = min(memory, most or memory)
    if slots != most and slots <= 3:
        raise ValueError(
            f"epsilon or budget must be given for probe='certify' with {slots} slots: 3 / {slots} says nothing"
        )
    return min(bounds.epsilon_for_memory(slots), 1.0)


def _least_slots(epsilon: float, most: int | None, *, relative: bool) -> int:
    """Return the slots below which cells leave less than a fourth of epsilon."""
    return bounds.certificate_slots(epsilon, most, relative=relative, share=3 / 4)


def _tested(
    common: dict[str, Any],
    epsilon: float | None,
    memory: int | None,
    pending: int,
    tests: int | str | None,
    split: float | None,
    slack: float | None,
    width: float,
) -> ExplorePlan:
    """Return the plan of an explorer that tests each arm when it arrives.

    `epsilon` alone gives the slots, by `split`; `memory` alone gives epsilon, as in the paper 3 / memory.  With both,
    tests are for what the slots leave of epsilon.  With a number of `tests`, each arm is pulled so often, whatever
    epsilon is, and nothing is promised.  `width` is that of the scale, in which the caller gave epsilon.

    With a window by time there may be more arms than `most` for a while, and then staircase drops some that are valid.
    So it has cells, and its part of epsilon for them, even with `most` slots: the promise is to hold again afterwards.
    """
    if common["by_time"] and common["keep"].cells is not None:
        common |= {"keep": replace(common["keep"], whole=False)}
    rule, most, ranks = common["keep"], common["most"], common["top"] + common["spare"]
    if tests is None or isinstance(tests, str):
        tests = one_of("tests", tests or "paper", TEST_RULES)
    else:
        tests = whole("tests", tests)
    if tests == "exact" and not common["noise"].bounded:
        raise ValueError(
            "tests must be 'paper', 'pairs' or a number with sigma, not 'exact': that is for rewards of 0 and 1"
        )
    counted = isinstance(tests, int)
    if ranks > 1 and not counted and tests != "paper":
        ranked = words_of(top=common["top"], spare=common["spare"])
        raise ValueError(f"tests must be 'paper' or a number with {ranked}, not {tests!r}: that is about one answer")
    slack = between("slack", _slack(epsilon, memory) if slack is None else slack, 0, math.inf, closed="left")
    if epsilon is not None or memory is None:
        epsilon = between("epsilon", EPSILON if epsilon is None else epsilon, 0, 1, closed="right")
    if memory is None:
        slots, theta = slots_for(rule, most, float(epsilon or EPSILON), split, ranks)
    elif split is not None:
        raise ValueError(f"split must be left out when memory is given, not {split!r}: the slots decide it")
    else:
        least = least_memory(common, pending, None if counted else epsilon)
        if whole("memory", memory) < least:
            raise ValueError(
                too_few(common, pending, None if counted or epsilon is None else epsilon * width, least, memory)
            )
        slots = memory - (pending - 1)
        theta = theta_for(rule, most, slots, epsilon, ranks)
    epsilon = bounds.epsilon_for_memory(max(slots, ranks), top=ranks) if epsilon is None else epsilon
    slots = rule.slots or slots
    exempt = _exempt(rule, common["window"], most if rule.whole else None, slots, ranks, slack)
    sure = cell_width(rule, most, slots, ranks) is not None and epsilon <= 1 and exempt < common["window"]
    if most is None and not counted and rule.probe == "fixed" and (common["guarantee"] == "weak" or tests != "paper"):
        raise ValueError(
            "most must be given with a window by time and fixed tests, not None: how many arms may be valid at once?"
        )
    return ExplorePlan(
        **common,
        memory=slots + pending - 1 if memory is None else memory,
        slots=slots,
        epsilon=epsilon,
        promise=epsilon if sure and not counted else None,
        pending=pending,
        theta=theta,
        tests=tests,
        slack=slack,
        exempt=exempt,
    )


def _patience(window: Window, patience: Length | None) -> int | None:
    """Return how long a test may wait for rewards, in the unit of the window."""
    if patience is None:
        return None
    found = window_of(patience, "patience")
    if found.by_time != window.by_time:
        unit = 'a time such as "1h"' if window.by_time else "a whole number of arrivals"
        raise ValueError(f"patience must be {unit}, as the window is, not {patience!r}")
    return found.length


def _slack(epsilon: float | None, memory: int | None) -> float:
    """Return 0, which promises something of all valid arms; or 1 where slots are to be put to their best use."""
    return 1.0 if epsilon is None and memory is not None else 0.0


def _exempt(rule: Keep, window: int, most: int | None, slots: int, ranks: int, slack: float) -> int:
    """Return how much of the window may be better than the answer, since its stand-in has expired: the oldest part."""
    if not rule.slack or (most is not None and slots >= most):
        return 0
    per_rank = slots // ranks
    return window if slack >= per_rank else math.floor(slack * window / per_rank)
