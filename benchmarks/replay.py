"""How long does `bestbefore replay` take on large logs, and how much memory does it need?

Each log is looked at by a process of its own, the command as a user runs it.  Beside the time on the clock stands that
of the processor, which other work on the machine stretches less.  A log of 5 million made rows has 2,000 articles, an
hour apart and shown for a day each, uniformly at random, as CSV and as Parquet.  With the folder of ml-latest-small,
its ratings are a log by their real time.

    python benchmarks/replay.py [--rows 5000000] [--movielens ../shared/data/ml-latest-small]
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HOUR = 3600
MADE = ["--arm", "article", "--reward", "click", "--time", "shown_at", "--window", "24h", "--uniform"]
RATED = ["--arm", "movieId", "--reward", "rating", "--scale", "0.5", "5", "--time", "timestamp"]


def made(path: Path, rows: int, articles: int = 2000, life: int = 24) -> Path:
    """Write a log, in pieces."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    rng = np.random.default_rng(0)
    rates, at = rng.beta(2, 30, articles), 1_700_000_000
    writer = None
    for part in np.array_split(np.arange(rows), max(rows // 500_000, 1)):
        seconds = part * ((articles + life) * HOUR / rows)
        newest = np.minimum((seconds // HOUR).astype(np.int64), articles - 1)
        oldest = np.minimum(np.maximum((seconds // HOUR).astype(np.int64) - life + 1, 0), newest)
        shown = oldest + (rng.random(part.size) * (newest - oldest + 1)).astype(np.int64)
        clicks = (rng.random(part.size) < rates[shown]).astype(np.int64)
        moments = ((at + seconds) * 1e6).astype(np.int64)
        columns = {
            "article": pa.array([f"article {one}" for one in shown.tolist()]),
            "click": pa.array(clicks),
            "shown_at": pa.array(moments, pa.timestamp("us", "UTC")),
        }
        table = pa.table(columns)
        if writer is None:
            kind = parquet.ParquetWriter if path.suffix == ".parquet" else csv.CSVWriter
            writer = kind(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()
    return path


def measured(log: Path, arguments: list[str], page: Path) -> str:
    """Return seconds, seconds of the processor and the peak of memory in MiB of a command that must go well."""
    command = [sys.executable, "-m", "bestbefore", "replay", str(log), *arguments, "--out", str(page)]
    watched = [sys.executable, "-c", _WATCH, *command]
    began = time.monotonic()
    done = subprocess.run(watched, capture_output=True, text=True, check=False)  # noqa: S603
    seconds = time.monotonic() - began
    if done.returncode or not page.exists():
        raise SystemExit(f"{command} failed: {done.stderr}")
    processor, mib = map(float, done.stderr.strip().splitlines()[-1].split())
    return f"{seconds:.0f} | {processor:.0f} | {mib:,.0f}"


_WATCH = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr)
sys.exit(done.returncode)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--movielens", type=Path)
    chosen = parser.parse_args()
    print("| log | window | rows | seconds | of the processor | MiB |\n|---|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        small = made(Path(folder) / "first.csv", 20_000, articles=50)
        measured(small, MADE, page)  # compiles what is not compiled yet
        if chosen.movielens:
            ratings = chosen.movielens / "ratings.csv"
            rows = sum(1 for _ in ratings.open()) - 1
            for window in ("30 days", "365 days"):
                found = measured(ratings, [*RATED, "--window", window], page)
                print(f"| MovieLens | {window} | {rows:,} | {found} |", flush=True)
        for name in ("made.csv", "made.parquet"):
            log = made(Path(folder) / name, chosen.rows)
            print(f"| {name} | 24h | {chosen.rows:,} | {measured(log, MADE, page)} |", flush=True)
            log.unlink()


if __name__ == "__main__":
    main()
