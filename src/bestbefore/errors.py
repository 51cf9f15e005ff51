"""Errors that a program may want to catch by name: arms that an agent does not have, data that is not here."""


class UnknownArm(LookupError):
    """The arm is not in memory: it never arrived, was let go, or has expired.

    Arms that left leave no trace, so an agent cannot tell these apart by the name alone.
    """


class ExpiredArm(UnknownArm):
    """The arm is known to be older than the window, by the arrival number that came with its reward."""


class DataMissing(FileNotFoundError):
    """A dataset is not here, and cannot be had: the message says in one line how to get it."""
