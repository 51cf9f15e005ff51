"""The service under load, by wrk: durable tells against an empty route that is served the same way.

    python benchmarks/serve.py                   tells, batches, and the empty route: some minutes
    python benchmarks/serve.py --minutes 10      tells for so long: memory, and whether the ledger adds up

Beside requests per second, which depend on who else uses the machine, each line has the processor's time of the server
for one request (and for one reward of a batch), which depends on that much less.

Each reward that wrk sends is that of a pull which was asked for before, and counts: ids are handed out by a Lua script,
each to one thread of wrk, so that no call is a retry that changes nothing.
"""

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

from bestbefore import connect
from bestbefore.store.moving import problems

CONNECTIONS, THREADS = 64, 2
STREAM = "front"
MOST_OF_A_ROUND = 100_000
"""More tells than a round of 20 seconds can hold, so that each has a pull of its own."""
EMPTY = """
from fastapi import FastAPI
from pydantic import BaseModel

class Told(BaseModel):
    id: str
    reward: float

class Done(BaseModel):
    done: bool

app = FastAPI()

@app.post("/v1/streams/{name}/rewards")
async def empty(name: str, said: Told) -> Done:
    return Done(done=True)

@app.get("/health")
async def health() -> Done:
    return Done(done=True)
"""
LUA = """
local ids, at = {}, 0
local threads = 0
function setup(thread) thread:set("me", threads) threads = threads + 1 end
function init(args)
  for line in io.lines(args[1] .. "." .. me) do ids[#ids + 1] = line end
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["Authorization"] = "Bearer " .. args[2]
end
function request()
  at = at % #ids + 1
  return wrk.format(nil, nil, nil, ids[at])
end
local bad = 0
function response(status) if status ~= 200 then bad = bad + 1 wrk.thread:set("bad", bad) end end
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=8, help="how long each measurement is")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is made, in turns")
    parser.add_argument("--minutes", type=float, help="tells for so long, instead")
    parser.add_argument("--db", help="another database than a new file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "tell.lua").write_text(LUA)
        (home / "empty_app.py").write_text(EMPTY)
        with Served(home, options.db) as served:
            if options.minutes:
                return int(not endure(served, options.minutes * 60))
            compare(served, home, options.seconds, options.rounds)
            return 0


class Served:
    """The service in a process of its own."""

    def __init__(self, home: Path, db: str | None = None, port: int = 8199) -> None:
        self.home, self.db, self.port = home, db or f"sqlite:///{home}/streams.db", port
        self.address = f"http://127.0.0.1:{port}"

    def __enter__(self) -> "Served":
        made = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "bestbefore", "keys", "make", "--scope", "admin", "--db", self.db],
            capture_output=True,
            text=True,
            check=True,
        )
        self.key = made.stdout.strip()
        self.start()
        return self

    def start(self) -> None:
        command = ["-m", "bestbefore", "serve", "--db", self.db, "--port", str(self.port), "--log", "info"]
        log = (self.home / "log").open("ab")
        self.process = subprocess.Popen([sys.executable, *command], stdout=log, stderr=log)  # noqa: S603
        wait_for(self.address)

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)

    def memory(self) -> float:
        """Return the resident memory in MB."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]

    def ask(self, count: int) -> list[str]:
        """Return the ids of so many new pulls."""
        ids: list[str] = []
        headers = {"Authorization": f"Bearer {self.key}"}
        with httpx.Client(headers=headers, timeout=60) as client:
            place = f"{self.address}/v1/streams/{STREAM}"
            settings = {"window": 5, "memory": 3, "tests": 10**9}
            client.put(place, json={"settings": settings}).raise_for_status()
            client.post(f"{place}/arms", json={"arm": "storm"}).raise_for_status()
            while len(ids) < count:
                answer = client.post(f"{place}/pulls", json={"count": 1000})
                ids += [pull["id"] for pull in answer.raise_for_status().json()["pulls"]]
        return ids


def cpu(pid: int) -> float:
    """Return how many seconds of the processor a process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for(address: str) -> None:
    until = time.monotonic() + 300  # the first start may have to compile
    while time.monotonic() < until:
        try:
            if httpx.get(f"{address}/health").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise TimeoutError(f"{address} does not answer")


def load(
    address: str, key: str, pid: int, home: Path, bodies: list[str], seconds: int, place: str = "rewards"
) -> dict[str, float]:
    """Send bodies by wrk; return requests per second, the 99th percentile in ms, how many went wrong, and CPU in us."""
    before = cpu(pid)
    for thread in range(THREADS):
        (home / f"bodies.{thread}").write_text("\n".join(bodies[thread::THREADS]) + "\n")
    how = [f"-t{THREADS}", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "-s", str(home / "tell.lua")]
    found = subprocess.run(  # noqa: S603
        ["wrk", *how, f"{address}/v1/streams/{STREAM}/{place}", "--", str(home / "bodies"), key],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", found)[1])  # type: ignore[index]
    value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", found).groups()  # type: ignore[union-attr]
    total = int(re.search(r"(\d+) requests in", found)[1])  # type: ignore[index]
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", found)
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", found)
    wrong = int(bad[1]) if bad else 0
    wrong += sum(map(int, errors.groups())) if errors else 0
    p99 = float(value) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]
    used = (cpu(pid) - before) / max(total, 1) * 1e6
    return {"rate": rate, "p99": p99, "wrong": wrong, "total": total, "cpu": used}


def told(ids: list[str]) -> list[str]:
    return [json.dumps({"id": id, "reward": 0.5}) for id in ids]


def compare(served: Served, home: Path, seconds: int, rounds: int) -> None:
    environment = os.environ | {"PYTHONPATH": f"{home}:{os.environ.get('PYTHONPATH', '')}"}
    command = ["-m", "uvicorn", "empty_app:app", "--port", "8198", "--no-access-log", "--log-level", "warning"]
    command += ["--http", "bestbefore.service.server:Protocol", "--ws", "none"]
    empty = subprocess.Popen([sys.executable, *command], env=environment)  # noqa: S603
    try:
        wait_for("http://127.0.0.1:8198")
        measured: dict[str, list[dict[str, float]]] = {"empty": [], "tell": [], "batch": []}
        for _ in range(rounds):
            bodies = told(served.ask(seconds * 3000))
            measured["empty"].append(load("http://127.0.0.1:8198", "x", empty.pid, home, bodies, seconds))
            measured["tell"].append(load(served.address, served.key, served.process.pid, home, bodies, seconds))
            ids = served.ask(seconds * 15_000)
            parts = [ids[at : at + 100] for at in range(0, len(ids), 100)]
            many = [json.dumps({"rewards": [{"id": id, "reward": 0.5} for id in part]}) for part in parts]
            found = load(served.address, served.key, served.process.pid, home, many, seconds, "rewards/batch")
            measured["batch"].append(found)
            for name, results in measured.items():
                print(f"{name:6}", {key: round(value, 1) for key, value in results[-1].items()}, flush=True)
    finally:
        empty.terminate()
        empty.wait(30)
    rate, p99, used = (
        {name: statistics.median(one[what] for one in results) for name, results in measured.items()}
        for what in ("rate", "p99", "cpu")
    )
    print(f"tells: {rate['tell'] / rate['empty']:.2f} of the requests per second of an empty route (at least .5)")
    print(f"p99: {p99['tell'] / p99['empty']:.2f} times that of an empty route (at most 3)")
    print(
        f"batches of 100 carry {rate['batch'] * 100 / rate['tell']:.1f} times the rewards of single calls (at least 20)"
    )
    print(
        f"CPU: empty {used['empty']:.0f} us, a tell {used['tell']:.0f} us ({used['empty'] / used['tell']:.2f}), "
        f"a reward of a batch {used['batch'] / 100:.0f} us ({used['tell'] * 100 / used['batch']:.1f})"
    )
    print(f"errors: {sum(one['wrong'] for results in measured.values() for one in results):.0f}")
    check(served)


def endure(served: Served, seconds: float) -> bool:
    """Tell for long; memory must not grow, nothing be lost, and the ledger add up: say whether all is well.

    The first round fills pools and caches, so that memory counts from its end.
    """
    home, until, acknowledged, wrong, memory = served.home, time.monotonic() + seconds, 0, 0, list[float]()
    while time.monotonic() < until or len(memory) < 2:
        bodies = told(served.ask(MOST_OF_A_ROUND))
        found = load(served.address, served.key, served.process.pid, home, bodies, 20)
        acknowledged, wrong = acknowledged + min(int(found["total"]), len(bodies)), wrong + int(found["wrong"])
        memory.append(served.memory())
        print(
            f"{found['rate']:.0f}/s, p99 {found['p99']:.0f} ms, wrong {found['wrong']:.0f}, {memory[-1]:.1f} MB",
            flush=True,
        )
    print(
        f"memory: {memory[0]:.1f} MB after the first round, {memory[-1]:.1f} MB at the end, at most {max(memory):.1f}"
    )
    print(f"errors: {wrong}; acknowledged: at least {acknowledged} rewards")
    counted = check(served)
    if counted is None or counted < acknowledged:
        print(f"WRONG: {counted} rewards are there")
        return False
    return wrong == 0


def check(served: Served) -> int | None:
    """Say whether the ledger adds up; return how many rewards are there if it does."""
    with connect(served.db, sweep=None) as desk:
        wrong: dict[str, Any] = {name: what for name, what in problems(desk._store).items() if what}
        counted = desk.stream(STREAM).pulls
        print("the ledger adds up" if not wrong else f"WRONG: {wrong}", f"({counted} rewards)")
        return None if wrong else counted


if __name__ == "__main__":
    sys.exit(main())
