"""What an agent says when it is told of an arm that it does not have."""


class UnknownArm(LookupError):
    """The arm is not in memory: it never arrived, was let go, or has expired.

    Arms that left leave no trace, so an agent cannot tell these apart by the name alone.
    """


class ExpiredArm(UnknownArm):
    """The arm is known to be older than the window, by the arrival number that came with its reward."""
