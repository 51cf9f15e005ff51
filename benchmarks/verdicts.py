"""Are the verdicts of the report the same whatever the seed?

    python benchmarks/verdicts.py                          # seeds 0 to 9, synthetic panels: 20 minutes or so
    python benchmarks/verdicts.py --data ml-1m.zip         # with MovieLens, half as long again
    python benchmarks/verdicts.py --seeds 3 --only regret

For each claim, panel and reading the verdicts of all seeds are compared.  They may be the same, or some may say that
the runs cannot tell; what may not happen is that one seed says "holds" and another "does not hold".  Exits with 1 if
it does.  Results are kept in the folder --out: if interrupted, rerun it to resume.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from bestbefore.paper import reproduce as paper
from bestbefore.paper.verdicts import JUDGED


def main() -> int:
    """Run the panels with several seeds, and compare the verdicts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10, help="how many seeds, from 0 (default: 10)")
    parser.add_argument("--only", help="only panels with this in their names")
    parser.add_argument("--data", help="where MovieLens is; without it, synthetic panels only")
    parser.add_argument("--out", type=Path, default=Path("verdicts"), help="the folder of results (default: verdicts)")
    options = parser.parse_args()
    panels = [panel for panel in paper.chosen(options.only) if options.data or not panel.needs_movielens]
    said: dict[tuple[str, str, str], Counter[str]] = {}
    for seed in range(options.seeds):
        made = paper.reproduce(panels, options.out, seed=seed, theorems_too=False, data=options.data)
        for name, verdict in made.verdicts.items():
            for one in verdict.judgements:
                for reading in JUDGED:
                    if ruling := one.ruling(reading):
                        word = {True: "holds", False: "falls", None: "cannot tell"}[ruling.holds]
                        said.setdefault((name, one.claim, reading), Counter())[word] += 1
        print(f"seed {seed} is done", file=sys.stderr)
    same = sum(len(words) == 1 for words in said.values())
    split = {what: words for what, words in said.items() if words["holds"] and words["falls"]}
    unsure = {what: words for what, words in said.items() if len(words) > 1 and what not in split}
    for title, found in (("Some seeds cannot tell", unsure), ("SEEDS CONTRADICT EACH OTHER", split)):
        for (name, claim, reading), words in found.items():
            print(f"{title}: {name}, {claim}, as {reading}: {', '.join(f'{n} {w}' for w, n in words.items())}")
    print(
        f"{len(said)} verdicts, {options.seeds} seeds: {same} the same for all, {len(unsure)} that some seeds cannot "
        f"tell, {len(split)} contradicted."
    )
    return bool(split)


if __name__ == "__main__":
    sys.exit(main())
