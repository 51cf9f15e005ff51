"""Draw the figures of the documentation: `python benchmarks/figures.py`, or some of them by name.

Those of the tutorials and of the gallery are drawn by running the snippets of their pages, in docs/figures; what
they print is written below them.  The others are drawn by the commands and benchmarks that their pages name; those that
take long are drawn if they are named, or with --all.  `--data FOLDER` is where MovieLens is, for figures that need it.
"""

import argparse
import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "docs" / "figures"
PAGES = [*sorted((ROOT / "docs" / "tutorials").glob("*.md")), ROOT / "docs" / "gallery.md"]
COMMANDS = {
    "sawtooth": "bestbefore explore --stream sawtooth --plot sawtooth.png",
    "uniform": "bestbefore explore --plot uniform.png",
    "everlasting": "bestbefore seek --runs 100 --plot everlasting.png",
    "regret": "bestbefore play -s two-level -k fifo,reservoir,heirs -p ucb,fresh --plot regret.png",
}
LONG = {
    "certified": "python benchmarks/certify.py figure",
    "choose": "python benchmarks/choose.py docs/figures/choose.csv --windows 50,200 --memory 6,10 --budgets 200,1000 "
    "--data DATA --plot docs/figures/choose.png",
    "peers": "python benchmarks/peers.py --data DATA --plot docs/figures/peers.png",
    "replay": "python benchmarks/off_policy.py --plot docs/figures/replay.png",
    "reproduced": "bestbefore reproduce --only regret-two-level-n1000-w50 --out REPORT",
}
PICTURES = ("page-",)
"""How names begin of pictures of the server's page: BESTBEFORE_PICTURES=FOLDER pytest -m browser tests/service"""


def snippets(page: Path) -> list[str]:
    """Return the Python snippets of a page."""
    return re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)


def drawn_by(page: Path) -> list[str]:
    """Return the names of the figures that the snippets of a page draw."""
    return [name for text in snippets(page) for name in re.findall(r"""(?:save=|savefig\()"([\w-]+)\.png""", text)]


def draw_page(page: Path) -> None:
    """Run the snippets of a page, in order, where the figures belong; below each goes what it prints."""
    names: dict[str, object] = {}

    def done(snippet: re.Match[str]) -> str:
        with redirect_stdout(io.StringIO()) as printed:
            exec(compile(snippet["code"], page.name, "exec"), names)  # noqa: S102
        text = printed.getvalue()
        return f"```python\n{snippet['code']}```\n" + (f"\n```text\n{text}```\n" if text else "")

    block = r"```python\n(?P<code>.*?)```\n(?:\n```text\n.*?```\n)?"
    page.write_text(re.sub(block, done, page.read_text("utf-8"), flags=re.DOTALL), "utf-8")


def run(name: str, command: str, data: str | None) -> None:
    """Run a command in the folder that it writes to."""
    if "DATA" in command and data is None:
        raise SystemExit(f"{name} needs --data FOLDER, where MovieLens is: {command}")
    words = [data if word == "DATA" else word for word in shlex.split(command)]
    begin = [sys.executable] if words[0] == "python" else [sys.executable, "-m", "bestbefore"]
    where = ROOT if words[0] == "python" else FIGURES
    print("+", command, flush=True)
    subprocess.run([*begin, *words[1:]], cwd=where, check=True)  # noqa: S603


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="figures; unless given, all that do not take long")
    parser.add_argument("--all", action="store_true", help="those that take long, too")
    parser.add_argument("--data", help="folder with MovieLens")
    asked = parser.parse_args()
    known = {name for page in PAGES for name in drawn_by(page)} | set(COMMANDS | LONG)
    if wrong := sorted(set(asked.names) - known):
        raise SystemExit(f"no figure is called {wrong[0]}; there are {', '.join(sorted(known))}")
    os.environ.setdefault("MPLBACKEND", "Agg")
    wanted = set(asked.names) or known - (set() if asked.all else set(LONG))
    os.chdir(FIGURES)
    for page in PAGES:
        if wanted & set(drawn_by(page)):
            print("+", page.relative_to(ROOT), flush=True)
            draw_page(page)
    for name, command in (COMMANDS | LONG).items():
        if name in wanted:
            run(name, command, asked.data and str(Path(asked.data).resolve()))


if __name__ == "__main__":
    main()
