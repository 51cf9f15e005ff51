"""Plans: what slots, tests and promise follow from what a person says, once for all who need to know.

Agents, simulations, `bestbefore advise` and the command derive nothing themselves, and have their defaults from here.
"""

from bestbefore.plan.defaults import (
    DELTA,
    EPSILON,
    GUARANTEE,
    KEEP,
    PLAY_DELTA,
    PLAY_KEEP,
    PLAY_MEMORY,
    PLAY_PULL,
    SEEK_PULL,
    WINDOW,
)
from bestbefore.plan.exploration import plan_exploration
from bestbefore.plan.explore_plan import ExplorePlan
from bestbefore.plan.play import PlayPlan, plan_play
from bestbefore.plan.seek import SeekPlan, plan_seek

__all__ = [
    "DELTA",
    "EPSILON",
    "GUARANTEE",
    "KEEP",
    "PLAY_DELTA",
    "PLAY_KEEP",
    "PLAY_MEMORY",
    "PLAY_PULL",
    "SEEK_PULL",
    "WINDOW",
    "ExplorePlan",
    "PlayPlan",
    "SeekPlan",
    "plan_exploration",
    "plan_play",
    "plan_seek",
]
