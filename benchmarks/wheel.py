"""Build the wheel, install it into an empty environment and work with it there: `python benchmarks/wheel.py`.

It does the work of the README's two commands from the wheel, in a folder without the sources: `bestbefore explore`, a
quick `bestbefore reproduce`, a server that is asked and stopped, the page of the demo where there is one, and the
tests.  `--tests all` runs the whole suite instead of a few files, `--keep FOLDER` leaves everything there to look at.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOME = [
    "tests/test_api.py",
    "tests/test_rules.py",
    "tests/test_clock.py",
    "tests/store/test_desk.py",
]
PORT = "8765"
PATIENCE = 1200  # a server compiles before it answers, which takes minutes where the machine is busy


def run(*words: str | Path, where: Path, expect: str = "") -> str:
    """Run a command without the sources in reach, and return what it prints."""
    print("+", *(str(word).replace(f"{where}/", "") for word in words), flush=True)
    begun = time.monotonic()
    done = subprocess.run([str(word) for word in words], cwd=where, env=environment(), capture_output=True, text=True)  # noqa: S603
    if done.returncode or expect not in done.stdout:
        raise SystemExit(f"failed with code {done.returncode}:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    print(f"  done, {time.monotonic() - begun:.0f} s", flush=True)
    return done.stdout


def environment() -> dict[str, str]:
    """Return the environment of this process without what leads to sources."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


def build(folder: Path) -> Path:
    """Build the wheel."""
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT, where=folder)
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        print(f"  {wheel.name}: {len(archive.namelist())} files, {wheel.stat().st_size / 1000:.0f} kB", flush=True)
    return wheel


def install(folder: Path, wheel: Path) -> Path:
    """Install the wheel into an empty environment; return its folder of programs."""
    run(sys.executable, "-m", "venv", folder / "empty", where=folder)
    programs = folder / "empty" / "bin"
    run(programs / "pip", "install", "-q", f"{wheel}[test,reproduce]", where=folder)
    told = run(programs / "python", "-c", "import bestbefore; print(bestbefore.__file__)", where=folder)
    if "site-packages" not in told:
        raise SystemExit(f"the installed package must be the one that is imported, not {told}")
    return programs


def serve(folder: Path, *words: str | Path) -> None:
    """Start a server, wait until it is well, look at it, and stop it as an operator would."""
    print("+", *(str(word).replace(f"{folder}/", "") for word in words), flush=True)
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen([str(word) for word in words], cwd=folder, env=environment(), stdout=log, stderr=log)  # noqa: S603
        try:
            until = time.monotonic() + PATIENCE
            while True:
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/health", timeout=5) as answer:
                        print(f"  /health: {answer.read().decode()[:100]}", flush=True)
                    break
                except OSError:
                    if server.poll() is not None or time.monotonic() > until:
                        told = (folder / "server.log").read_text()
                        raise SystemExit(f"no answer in {PATIENCE} seconds, or an early end:\n{told}") from None
                    time.sleep(0.2)
            server.send_signal(signal.SIGTERM)
            server.wait(60)
        finally:
            server.kill()
            server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", choices=["some", "all", "none"], default="some")
    parser.add_argument("--keep", type=Path, help="a folder to work in, which is not deleted")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bestbefore-wheel-") as temporary:
        folder = (asked.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        programs = install(folder, build(folder))
        command = programs / "bestbefore"
        run(command, "--version", where=folder, expect="bestbefore")
        run(command, "reproduce", "--help", where=folder, expect="Reproduce the paper")
        run(
            command,
            "explore",
            "--arms",
            "200",
            "--runs",
            "2",
            "--plot",
            "explore.png",
            where=folder,
            expect="staircase",
        )
        run(command, "reproduce", "--quick", "--only", "n500-w20", "--out", "report", where=folder)
        page = (folder / "report" / "index.html").read_text("utf-8")
        print(f"  report/index.html: {len(page) / 1000:.0f} kB, {len(re.findall('<svg', page))} figures", flush=True)
        serve(folder, command, "serve", "--db", f"sqlite:///{folder}/streams.db", "--port", PORT)
        if re.search(r"^  demo\b", run(command, "--help", where=folder), re.MULTILINE):
            serve(folder, command, "demo", "--port", PORT)
        if asked.tests != "none":
            for name in ("tests", "docs", "benchmarks"):
                shutil.copytree(
                    ROOT / name, folder / name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
                )
            for file in [*ROOT.glob("*.md"), *ROOT.glob("*.cff"), *ROOT.glob("*.yml")]:
                shutil.copy(file, folder)
            shutil.copy(ROOT / "pyproject.toml", folder)
            chosen = ["tests", "--deselect", "tests/test_wheel.py"] if asked.tests == "all" else SOME
            tests = run(programs / "pytest", "-p", "no:cacheprovider", *chosen, where=folder)
            print("  " + tests.strip().splitlines()[-1], flush=True)
    print("The wheel has all that it needs.")


if __name__ == "__main__":
    main()
