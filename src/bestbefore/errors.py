"""Errors that a program may want to catch by name: arms that an agent does not have, data that is not here, stores."""


class UnknownArm(LookupError):
    """The arm is not in memory: it never arrived, was let go, or has expired.

    Arms that left leave no trace, so an agent cannot tell these apart by the name alone.
    """


class ExpiredArm(UnknownArm):
    """The arm is known to be older than the window, by the arrival number that came with its reward."""


class DataMissing(FileNotFoundError):
    """A dataset is not here, and cannot be had: the message says in one line how to get it."""


class UnknownPull(UnknownArm):
    """The ledger has no pull of this id: it was never asked for, or it ended so long ago that its id is forgotten."""


class UnknownStream(LookupError):
    """The database has no stream of this name."""


class Conflict(ValueError):
    """A pull has ended, an arm arrived or a stream was made, and otherwise than this call says; nothing was changed."""


class StoreUnavailable(OSError):
    """The database cannot be read or written now; nothing is half-made, and the same call may be sent again.

    `uncertain` says that the connection was lost while the database was committing: the call was carried out wholly, or
    not at all, and nobody could say which.  To send it again is safe all the same.
    """

    uncertain: bool = False
    lost: bool = False


class StoreDamaged(ValueError):
    """What is in the database cannot be read: it is damaged, or newer than this version of the package."""
