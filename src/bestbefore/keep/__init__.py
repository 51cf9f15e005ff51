"""Keep rules: which arms stay in the m slots.  One file each; a rule knows the slots it is given and nothing else.

A rule is a function `admit(memory, arrival, pulls, total, moment)`.  It may drop arms, and it puts the arm it is given
into a slot and returns the slot, or passes the arm over and returns -1.  It never moves an arm.  Arms usually come in
the order of their arrival, but need not: a test that takes long may end after that of a younger arm.

An arm with `pulls` of 0 was not pulled yet: a player needs it in a slot before it can be pulled, so the rule makes room
for it.  A rule that draws uses `moment.coin`: other random numbers would not follow the seed.  See
`bestbefore.memory` for the slots, for `Moment`, and for what rules are made of.
"""

from bestbefore.ladder import ladder
from bestbefore.rules import KEEP

__all__ = ["admit"]

admit = ladder("admit", "memory, arrival, pulls, total, moment", KEEP.values(), __name__)
"""Let the rule of a number decide on an arm; return its slot, or -1."""
