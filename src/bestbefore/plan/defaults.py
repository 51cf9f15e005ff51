"""The defaults of agents, simulations and the command: one set for all."""

from typing import Final

WINDOW: Final = 50
EPSILON: Final = 0.1
"""Of an explorer that is told neither epsilon nor memory."""
DELTA: Final = 0.05
"""The probability with which a guarantee of exploration may fail."""
GUARANTEE: Final = "weak"
KEEP: Final = "staircase"
SEEK_PULL: Final = "moss"
"""Of a seeker, for what it spends at the end."""
PLAY_KEEP: Final = "heirs"
PLAY_PULL: Final = "fresh"
PLAY_DELTA: Final = 0.01
"""The confidence of pull rules, as in the paper's experiments."""
PLAY_MEMORY: Final = 20
"""Slots of a player, or the window if that is less."""
LEARNT_EPOCHS: Final = 20
"""A player learns its traffic from about so many epochs, the last counting most: it changes from day to night."""
