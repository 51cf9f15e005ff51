"""Pull rules: how pulls are spent.  One file each; a rule knows the slots it is given and nothing else."""

from bestbefore.pull.choose import Horizon, highest, horizon_of, index_of
from bestbefore.pull.fixed import fixed

__all__ = ["Horizon", "fixed", "highest", "horizon_of", "index_of"]
