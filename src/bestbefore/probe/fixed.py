"""Fixed: pull each arm s times when it arrives, and never again.

The test of Algorithm 1 of Braverman et al.; `bestbefore.bounds.pulls` says how large s must be.

>>> wanted(pulls=3, tests=10), wanted(pulls=10, tests=10), wanted(pulls=12, tests=10)
(7, 0, 0)
"""

from typing import Any, ClassVar

from bestbefore.memory import Memory


def wanted(pulls: int, tests: int) -> int:
    """Return how many more pulls an arm wants that has had `pulls`."""
    return max(tests - pulls, 0)


class FixedTests:
    """The tests of a live agent: arms do not know of each other, so there is nothing to remember."""

    answers: ClassVar = True  # an arm under test can be the answer

    def expired(self, memory: Memory) -> None:
        """Take note that arms may have expired."""

    def withdrawn(self, memory: Memory) -> None:
        """Take note that an arm, stored or under test, was withdrawn."""

    def begin(self, memory: Memory) -> bool:
        """Begin to test the newest arm; say whether there is anything to test."""
        return True

    def pulled_again(self, memory: Memory) -> list[int]:
        """Return the stored arms of which pulls are wanted."""
        return []

    def wanted(self, under_test: bool, pulls: int, tests: int) -> int:
        """Return how many more rewards are wanted of an arm, under test or stored, that has had `pulls`."""
        return wanted(pulls, tests) if under_test else 0

    def told(self, under_test: bool, pulls: int, total: float) -> None:
        """Take rewards of an arm, under test or stored."""

    def is_over(self, pulls: int, tests: int) -> bool:
        """Say whether the test of an arm with these pulls is over."""
        return pulls >= tests

    def passes(self, memory: Memory, pulls: int) -> bool:
        """Say whether an arm whose test has ended goes to the keep rule: one that was never pulled does not."""
        return pulls > 0

    def state(self) -> list[Any]:
        """Return what is to be saved."""
        return []

    def restore(self, state: list[Any], memory: Memory, under_test: int) -> None:
        """Take back what was saved, if it fits the arms stored and the number of arms under test."""
        if state:
            raise ValueError(f"state is damaged: fixed tests have nothing to remember, not {state!r}")
