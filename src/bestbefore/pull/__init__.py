"""Pull rules: how pulls are spent.  One file each; a rule knows the slots it is given and nothing else."""

from bestbefore.pull.fixed import fixed

__all__ = ["fixed"]
