"""Work for the engine's tests, in a module that worker processes can import."""

import os
import signal
import time
from pathlib import Path


def explored(seed):
    """A real simulation."""
    from bestbefore.simulate import explore

    means = [arm * 37 % 101 / 101 for arm in range(100)]
    return explore(
        means, window=10, memory=[3, 5], keep=["staircase", "bucket"], tests=9, runs=1, seed=seed, jobs=1
    ).rows


def counted(piece):
    """Leave a trace of each call in a folder; a piece is the folder, a name, and what else is to happen."""
    folder, name, event = piece
    calls = Path(folder) / name
    with calls.open("a") as file:
        file.write("x")
    if event == "dies once" and len(calls.read_text()) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if event == "always dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if event == "fails":
        raise ZeroDivisionError("one by nothing")
    if event == "slow":
        time.sleep(0.1)
    if event.startswith("waits for a result in "):
        results = Path(event.removeprefix("waits for a result in "))
        for _ in range(3000):
            time.sleep(0 if results.read_bytes().endswith(b"\n") else 0.1)
    return [{"name": name, "third": 1 / 3}]


if __name__ == "__main__":  # a run to be stopped: the folder for results, and the one for traces
    import sys

    from bestbefore.paper.engine import run_pieces
    from bestbefore.paper.store import Store

    results, traces = sys.argv[1:]
    with Store(results, {"seed": 0}) as store:
        try:
            run_pieces(counted, {f"a/{i}": (traces, str(i), "slow") for i in range(200)}, store, jobs=2)
        except KeyboardInterrupt:
            sys.stdout.flush()
            os._exit(130)  # as the command does
