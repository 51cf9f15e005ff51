"""Agents of one's own, in a module that other processes can import."""

import os
import time
from pathlib import Path


class Turns:
    """Stores the newest arms and pulls them in turn; answers with the oldest."""

    def __init__(self, memory, pulls=3):
        self.memory, self.each = memory, pulls
        self.stored, self.left = [], 0
        self.totals = {}

    def arrive(self, arm, budget=None):
        self.stored.append(arm)
        self.left = self.each if budget is None else budget
        gone, self.stored = self.stored[: -self.memory], self.stored[-self.memory :]
        return gone

    def ask(self):
        if self.left == 0:
            return None
        self.left -= 1
        return self.stored[self.left % len(self.stored)]

    def tell(self, arm, reward, pulls=1):
        count, total = self.totals.get(arm, (0, 0.0))
        self.totals[arm] = count + pulls, total + reward

    def best(self):
        return self.stored[0]


class Fresh(Turns):
    """Knows when arms expire."""

    def __init__(self, window, memory, pulls=3):
        super().__init__(min(memory, window), pulls)


class Slow(Fresh):
    """Leaves the number of its process in a folder, and takes its time until `others` have done so, too."""

    def __init__(self, window, memory, folder, others=2, patience=60.0):
        super().__init__(window, memory)
        Path(folder, str(os.getpid())).touch()
        end = time.monotonic() + patience
        while len(list(Path(folder).iterdir())) < others and time.monotonic() < end:
            time.sleep(0.01)


class Failing(Slow):
    """Fails in any process but the one that is named."""

    def __init__(self, window, memory, folder, here):
        super().__init__(window, memory, folder)
        if os.getpid() != here:
            raise OddError("odd", "agent")


class OddError(Exception):
    """Cannot be sent: it is made of two words, and remembers one."""

    def __init__(self, first, second):
        super().__init__(f"{first} {second}")


class Endless(Slow):
    """Never comes to an end."""

    def ask(self):
        return self.stored[-1]
