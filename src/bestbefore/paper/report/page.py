"""The report of a reproduction: one page that needs nothing else, with figures and data beside it."""

import importlib.util
import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from bestbefore.paper import costs, earnings, summary_words, words
from bestbefore.paper.chance import CONFIDENCE as CERTAINTY
from bestbefore.paper.claims import claim, claims_of
from bestbefore.paper.costs import Costs
from bestbefore.paper.earnings import Earnings
from bestbefore.paper.finding import CONFIDENCE, Finding, short
from bestbefore.paper.panels import BUDGET, DATA, DELTA, TASKS, Panel
from bestbefore.paper.readings import MEASURES
from bestbefore.paper.report.cost_figure import draw_cost_figure
from bestbefore.paper.report.data import verdicts_as_data
from bestbefore.paper.report.inline import inline
from bestbefore.paper.report.panel import draw_panel_figure
from bestbefore.paper.slips import QUESTIONS, TRIALS
from bestbefore.paper.summary import Reproduction, Summary, summarise
from bestbefore.paper.theorems import CAVEAT
from bestbefore.paper.verdicts import Verdict
from bestbefore.paper.workers import local_workers
from bestbefore.simulate.table import Row, Table

TEMPLATE: Final = "index.html.jinja"
FIGURES, DATA_FOLDER, VERDICTS = "figures", "data", "verdicts.json"
FEW: Final = 16
"""Fewer figures than this are drawn sooner than other processes have begun."""


@dataclass(frozen=True)
class Shown:
    """A panel as the page shows it."""

    panel: Panel
    verdict: Verdict
    figure: str
    """SVG for the page."""

    @property
    def data(self) -> str:
        """What the arms are, as a heading."""
        return words.capital(DATA[self.panel.data])


def check_installed() -> None:
    """Say what is missing, if a report cannot be written for want of a package; good to know before the long run."""
    for name in ("matplotlib", "jinja2"):
        if importlib.util.find_spec(name) is None:
            raise ModuleNotFoundError(f"the report needs {name}: pip install 'bestbefore[report]'")


def write_report(folder: Path, reproduction: Reproduction, *, jobs: int | None = None) -> Path:
    """Write the report of a reproduction, and return the path of its page.

    `folder` gets index.html, figures/ with an SVG and a PNG of each panel, and data/ with the rows of each panel and
    the tables of theorems and costs as CSV, and the verdicts as JSON.  The page comes last, and whole or not at all.
    Many figures are drawn by `jobs` processes, one for each core unless given.
    """
    check_installed()
    folder = Path(folder)
    for name in (FIGURES, DATA_FOLDER):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for panel in reproduction.panels:
        _write(folder / DATA_FOLDER / f"{panel.name}.csv", Table(reproduction.rows[panel.name]).to_csv().encode())
    if reproduction.findings:
        _write(folder / DATA_FOLDER / "theorems.csv", _theorems(reproduction.findings).to_csv().encode())
    if reproduction.costs:
        _write(folder / DATA_FOLDER / "costs.csv", Table(reproduction.costs).to_csv().encode())
    summary = summarise(reproduction)
    verdicts = json.dumps(verdicts_as_data(reproduction, summary), indent=1, allow_nan=False)
    _write(folder / DATA_FOLDER / VERDICTS, f"{verdicts}\n".encode())
    figures = _draw_all(folder, reproduction, jobs or os.cpu_count() or 1)
    _write(folder / "index.html", _page(reproduction, summary, figures).encode())
    return folder / "index.html"


def _write(path: Path, content: bytes) -> None:
    """Write a file whole: whoever is stopped half way leaves what was there before."""
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        half.write_bytes(content)
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def _theorems(findings: Sequence[Finding]) -> Table:
    columns = [*(field.name for field in fields(Finding)), "holds"]
    return Table([finding.to_dict() for finding in findings], columns)


def _draw_all(folder: Path, reproduction: Reproduction, jobs: int) -> dict[str, str]:
    """Draw the figures of all panels and those of the summary, write the former, and return what the page shows."""
    chosen = [(panel, False) for panel in reproduction.panels]
    chosen += [(panel, True) for panel in _examples(reproduction.panels)]
    work = [
        (folder / FIGURES, panel, reproduction.rows[panel.name], reproduction.runs, example)
        for panel, example in chosen
    ]
    if jobs == 1 or len(work) < FEW:
        return dict(map(_draw, work))
    with local_workers(jobs) as workers:
        return dict(workers.executor.map(_draw, work, chunksize=4))


def _draw(work: tuple[Path, Panel, Sequence[Row], int, bool]) -> tuple[str, str]:
    """Draw a panel, and return the name of the drawing and its SVG for the page; an example is not written to files."""
    folder, panel, rows, runs, example = work
    measures = MEASURES[panel.task]
    drawing = draw_panel_figure(panel, rows, runs, measures[:1] if example else measures, png=not example)
    if not example:
        _write(folder / f"{panel.name}.svg", drawing.svg.encode())
        _write(folder / f"{panel.name}.png", drawing.png)
    name = f"example-{panel.name}" if example else panel.name
    label = f"{panel.title}: left as published, right as described, and ours.  The verdict is in words beside it."
    return name, inline(drawing.svg, name, label)


def _examples(panels: Sequence[Panel]) -> list[Panel]:
    """Choose a panel of exploration and one of regret for the summary: one with the paper's own W = 50 if there is."""
    examples = []
    for task in ("explore", "regret"):
        own = sorted((panel for panel in panels if panel.task == task), key=lambda panel: panel.window != 50)
        examples += own[:1]
    return examples


def _page(reproduction: Reproduction, summary: Summary, figures: Mapping[str, str]) -> str:
    """Fill the template in."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("bestbefore.paper.report", "templates")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["short"] = short
    shown = [Shown(panel, reproduction.verdicts[panel.name], figures[panel.name]) for panel in reproduction.panels]
    return environment.get_template(TEMPLATE).render(
        made=reproduction.made,
        left_out=reproduction.left_out,
        findings=reproduction.findings,
        trials=[(QUESTIONS[one].what, list(rows)) for one, rows in itertools.groupby(reproduction.slips, _question_of)],
        earned=Earnings(reproduction.earnings) if reproduction.earnings else None,
        earnings=earnings,
        costed=Costs(reproduction.costs) if reproduction.costs else None,
        costs=costs,
        cost_figure=Markup(_cost_figure(reproduction)),  # noqa: S704
        panels={panel.name: panel for panel in reproduction.panels},
        label_of=lambda row: TRIALS[row["trial"]].label,
        caveat=CAVEAT,
        confidence=f"{CONFIDENCE:.0%}",
        summary=summary,
        words=words,
        summary_words=summary_words,
        examples=[(panel, Markup(figures[f"example-{panel.name}"])) for panel in _examples(reproduction.panels)],  # noqa: S704
        tasks=TASKS,
        claim=claim,
        claims_of=claims_of,
        groups=list(_groups(shown)),
        budget=BUDGET,
        runs=reproduction.runs,
        certainty=CERTAINTY,
        delta=DELTA,
        safe=Markup,
    )


def _cost_figure(reproduction: Reproduction) -> str:
    """Draw what each answer costs; nothing if that was not asked."""
    if not reproduction.costs:
        return ""
    label = "Pulls an arm against epsilon: Algorithm 1, fixed tests by pairs, certificates.  The table has the numbers."
    return inline(draw_cost_figure(Costs(reproduction.costs), reproduction.panels), "costs", label)


def _question_of(row: Row) -> str:
    return TRIALS[row["trial"]].question


def _groups(shown: list[Shown]) -> Iterator[tuple[str, list[tuple[str, bool, list[Shown]]]]]:
    """Return the panels by task, and within a task by data; a group knows whether it goes beyond the paper."""
    for task in TASKS:
        own = [one for one in shown if one.panel.task == task]
        own.sort(key=lambda one: list(DATA).index(one.panel.data))
        if own:
            data = [(name, list(group)) for name, group in itertools.groupby(own, key=lambda one: one.data)]
            yield task, [(name, group[0].panel.in_real_order, group) for name, group in data]
