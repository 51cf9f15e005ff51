"""Agents: live objects that a person's program talks to, by four verbs."""

from bestbefore.agents.agent import Agent
from bestbefore.agents.explorer import Explorer
from bestbefore.agents.player import Player
from bestbefore.agents.seeker import Seeker

__all__ = ["Agent", "Explorer", "Player", "Seeker"]
