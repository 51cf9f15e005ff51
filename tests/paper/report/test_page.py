"""The report of a reproduction: a page that needs nothing else, whose links lead somewhere."""

import csv
import dataclasses
import json
import re
from html.parser import HTMLParser

import pytest

from bestbefore.paper.claims import CLAIMS, claim
from bestbefore.paper.earnings import CELLS
from bestbefore.paper.panels import BEYOND, PAPER, Panel
from bestbefore.paper.report import page as page_module
from bestbefore.paper.report.data import verdicts_as_data
from bestbefore.paper.report.page import write_report
from bestbefore.paper.report.panel import draw_panel_figure
from bestbefore.paper.slips import QUESTIONS, TRIALS
from bestbefore.paper.words import of_verdict

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """What a page has: ids, links, sources, and words; that tags close in order is checked on the way."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.sources, self.words, self.open, self.svgs = [], [], [], [], [], 0
        self.html = path.read_text(encoding="utf-8")
        self.feed(self.html)
        self.close()
        assert self.open == []
        self.text = re.sub(r"\s+", " ", " ".join(self.words))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids += [attributes["id"]] if "id" in attributes else []
        target = attributes.get("href") or attributes.get("xlink:href")
        if target and tag == "a":
            self.links.append(target)
        elif target:
            self.sources.append(target)
        self.sources += [attributes[name] for name in ("src", "srcset", "data", "poster") if name in attributes]
        self.svgs += tag == "svg" and attributes.get("role") == "img"
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def report(tmp_path_factory, panels, make_reproduction):
    folder = tmp_path_factory.mktemp("report")
    done = make_reproduction(*panels.values(), left_out={"explore-movielens-n1000-w20": "MovieLens 1M is not here"})
    assert write_report(folder, done) == folder / "index.html"
    return folder, done, Page(folder / "index.html")


def test_every_panel_has_its_files(report):
    folder, done, _ = report
    for panel in done.panels:
        assert (folder / "figures" / f"{panel.name}.png").read_bytes().startswith(b"\x89PNG")
        assert panel.title.split(", ", 1)[1] in (folder / "figures" / f"{panel.name}.svg").read_text()
        with (folder / "data" / f"{panel.name}.csv").open() as file:
            assert len(list(csv.DictReader(file))) == len(done.rows[panel.name])
    with (folder / "data" / "theorems.csv").open() as file:
        assert [row["holds"] for row in csv.DictReader(file)] == ["True"]


def test_verdicts_are_offered_as_data(report):
    """Whoever reads the JSON needs no sentence: claims have ids, and infinite factors are null."""
    folder, done, page = report
    told = json.loads((folder / "data" / "verdicts.json").read_text(), parse_constant=pytest.fail)
    assert [one["id"] for one in told["claims"]] == list(CLAIMS)
    assert "data/verdicts.json" in page.links
    assert set(told["verdicts"]) == {panel.name for panel in done.panels}
    for name, verdict in done.verdicts.items():
        one = told["verdicts"][name]
        assert one["panel"]["memory"] == list(verdict.panel.memory)
        assert [judged["claim"] for judged in one["judgements"]] == [judged.claim for judged in verdict.judgements]
        assert [duel["reading"] for duel in one["duels"]] == [duel.reading for duel in verdict.duels]
        assert one["duels"][0]["sides"][0]["lower_at"] == list(verdict.duels[0].sides[0].lower_at)
        for judged, expected in zip(one["judgements"], verdict.judgements, strict=True):
            assert judged["published"] == (expected.published and expected.published._asdict())
    assert told["summary"]["theorems"] == {"hits": 1, "of": 1}
    regret = next(one for one in told["verdicts"].values() if one["panel"]["task"] == "regret")
    assert (
        regret["economy"]["low"] <= regret["economy"]["ours"] / regret["economy"]["theirs"] <= regret["economy"]["high"]
    )


def test_an_infinite_factor_is_null_in_json(panels, make_rows, make_reproduction):
    rows = make_rows(panels["explore"])
    for row in rows:
        row["mean"] *= row["reading"] != "ours"
    done = make_reproduction(panels["explore"], rows={panels["explore"].name: rows})
    (verdict,) = verdicts_as_data(done)["verdicts"].values()
    ours = verdict["duels"][-1]
    assert (ours["lower"], ours["low"], ours["high"]) == ("ours", None, None)


def test_trials_of_slips_are_told_in_words(tmp_path, panels, make_reproduction):
    numbers = {"runs": 3, "value": 0.5, "error": 0.04}
    done = dataclasses.replace(
        make_reproduction(panels["everlasting"]), slips=tuple({"trial": id} | numbers for id in TRIALS)
    )
    page = Page(write_report(tmp_path, done))
    for trial in TRIALS.values():
        assert trial.label in page.text
    for question in QUESTIONS.values():
        heading = question.what[:1].upper() + question.what[1:]
        assert page.text.count(heading) == 1
    unknown = dataclasses.replace(done, slips=({"trial": "explore/luck"} | numbers,))
    with pytest.raises(KeyError, match="explore/luck"):
        write_report(tmp_path, unknown)


def test_who_earns_what_is_told_in_a_table_and_in_words(report):
    _, _, page = report
    assert page.text.replace("\xa0", " ").count("1,234.0 ± 5.0") == len(CELLS)
    for part in ("What memory costs: heirs x fresh loses", "What the index earns:", "Where the keep rule matters:"):
        assert part in page.text


def test_what_each_answer_costs_is_told_in_a_table_a_figure_and_in_words(report):
    folder, done, page = report
    section = page.html[page.html.index('id="costs"') : page.html.index('id="reading"')]
    assert section.count('<svg role="img"') == 1
    rows = [row for row in section.split("<tr")[1:] if "<td" in row]
    assert len(rows) == len({(row["panel"], row["memory"]) for row in done.costs}) > 2
    for row in rows:  # on a phone each cell says by itself what it is
        assert row.count("<td") == row.count("data-title=") == 11
    assert "certificates take 15 times fewer pulls than Algorithm 1" in page.text
    assert "the worst error at any time of any run was 50% of epsilon" in page.text
    assert page.text.count("To promise an epsilon with few pulls: staircase with certificates.") == 1
    with (folder / "data" / "costs.csv").open() as file:
        assert [row["way"] for row in csv.DictReader(file)] == [row["way"] for row in done.costs]
    told = json.loads((folder / "data" / "verdicts.json").read_text())
    assert told["costs"] == list(done.costs)
    assert told["summary"]["costed"]["fewer"] == [15, 15]


def test_without_exploration_nothing_is_said_of_costs(tmp_path, panels, make_reproduction):
    page = Page(write_report(tmp_path, make_reproduction(panels["regret"])))
    assert "costs" not in page.ids
    assert not (tmp_path / "data" / "costs.csv").exists()
    assert "certificates" not in page.text


def test_verdicts_are_three(tmp_path, panels, make_rows, make_reproduction):
    """By two runs nothing is told, and the page says so; five tell some of it."""
    rows = {panels["explore"].name: make_rows(panels["explore"], runs=2)}
    unsure = Page(write_report(tmp_path / "few", make_reproduction(panels["explore"], rows=rows)))
    assert "as published ? 2 runs cannot tell" in unsure.text
    sure = Page(write_report(tmp_path / "many", make_reproduction(panels["regret"])))
    assert "✗ does not hold" in sure.text
    assert "✗" not in unsure.text.split("How it was made")[0].split("✗ that it does not")[-1]


def test_a_verdict_that_rests_on_more_runs_says_so(tmp_path, panels, make_rows, make_reproduction):
    panel = panels["regret"]
    page = Page(write_report(tmp_path, make_reproduction(panel, rows={panel.name: make_rows(panel, runs=7)})))
    assert "does not hold (7 runs)" in page.text
    assert "<sup>7</sup>" in page.html


def test_nothing_half_written_is_left(report):
    folder, _, _ = report
    assert not [path for path in folder.rglob("*") if path.name.startswith(".")]
    assert sorted(path.name for path in folder.iterdir()) == ["data", "figures", "index.html"]


def test_every_panel_has_figure_claims_and_sentences(report):
    _, done, page = report
    examples, costs = 2, 1
    assert page.svgs == len(done.panels) + examples + costs
    for panel in done.panels:
        (start,) = (match.start() for match in re.finditer(f'<article id="{panel.name}">', page.html))
        article = page.html[start : page.html.index("</article>", start)]
        assert article.count("<svg") == 1
        words = re.sub(r"\s+", " ", re.sub("<[^>]+>", "", article)).replace("&#39;", "'").replace("\xa0", " ")
        assert panel.title in words
        for sentence in of_verdict(done.verdicts[panel.name]):
            assert sentence in words
        for judgement in done.verdicts[panel.name].judgements:
            assert claim(judgement.claim).text[1:] in words


def test_links_lead_somewhere_and_ids_are_unique(report):
    folder, _, page = report
    assert len(page.ids) == len(set(page.ids))
    assert len(page.links) > 20
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids, link
        else:
            assert (folder / link).is_file(), link


def test_every_panel_is_linked_from_the_table_of_verdicts(report):
    _, done, page = report
    table = page.html[page.html.index('id="verdicts"') : page.html.index('class="task"')]
    for panel in done.panels:
        assert f'href="#{panel.name}"' in table


def test_nothing_is_loaded_from_outside(report):
    _, _, page = report
    assert all(source.startswith(("#", "data:")) for source in page.sources)
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", page.html))
    assert not re.search(r"https?://|@import|<script", page.html)
    assert all(target[1:] in page.ids for target in page.sources if target.startswith("#"))
    assert all(target[1:] in page.ids for target in re.findall(r"url\(([^)]*)\)", page.html))


def test_figures_in_the_page_have_the_colours_of_the_page(report):
    _, _, page = report
    body = page.html[page.html.index("<main>") :]
    assert not re.search(r"#[0-9a-f]{6}\b", body)
    assert "font-family" not in body


def test_numbers_of_axes_are_not_rounded(report, panels):
    _, _, page = report
    start = page.html.index(f'<article id="{panels["explore"].name}">')
    texts = re.findall(r">([^<>]+)</text>", page.html[start : page.html.index("</article>", start)])
    assert {"0", "0.0001", "0.001", "0.01", "0.1", "1", "bucket", "topk", "staircase"} <= set(texts)


def test_what_was_left_out_is_named_with_its_reason(report):
    _, _, page = report
    assert "explore-movielens-n1000-w20" in page.text
    assert "MovieLens 1M is not here" in page.text


def test_how_it_was_made_and_the_theorems_are_told(report):
    _, done, page = report
    for text in (*done.made.values(), "a coin is fair", "a remark", "equal to 0.5", "beyond the paper"):
        assert text in page.text


def test_odd_strings_are_escaped(tmp_path, panels, make_reproduction, make_finding):
    odd = "<b>&\"'</b><script>"
    done = make_reproduction(
        panels["everlasting"],
        left_out={odd: odd},
        findings=(make_finding(statement=odd, remark=odd),),
        made={odd: odd},
    )
    page = Page(write_report(tmp_path, done))
    assert page.text.count(odd) >= 5
    assert "<script" not in page.html


@pytest.mark.parametrize("name", ["explore", "regret", "everlasting", "beyond"])
def test_a_single_panel_without_theorems(tmp_path, panels, make_reproduction, name):
    """What an earlier report says of theorems stays."""
    earlier = tmp_path / "data" / "theorems.csv"
    earlier.parent.mkdir()
    earlier.write_text("theorem,statement\n")
    page = Page(write_report(tmp_path, make_reproduction(panels[name], findings=())))
    assert "theorems" not in page.ids
    assert all(link[1:] in page.ids for link in page.links if link.startswith("#"))
    assert earlier.read_text() == "theorem,statement\n"


def test_without_panels_the_page_still_says_why(tmp_path, make_reproduction):
    page = Page(write_report(tmp_path, make_reproduction(left_out={"mine": "no data"})))
    assert "no data" in page.text


@pytest.mark.parametrize("level", [0.0, -0.001, 1e-9, 1.0])
@pytest.mark.parametrize("task", ["explore", "regret", "everlasting"])
def test_numbers_of_any_size_and_a_single_memory_can_be_drawn(make_rows, task, level):
    panel = Panel(task, "uniform", arms=50, window=10, memory=(10,))
    drawing = draw_panel_figure(panel, make_rows(panel, runs=1, level=level), runs=1, png=False)
    assert "of a single run" in drawing.svg
    for text in ("as published", "as described; ours"):
        assert text in drawing.svg


def test_a_run_that_is_stopped_leaves_the_page_that_was_there(tmp_path, monkeypatch, panels, make_reproduction):
    (tmp_path / "index.html").write_text("the old page")

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(page_module, "_page", stop)
    with pytest.raises(KeyboardInterrupt):
        write_report(tmp_path, make_reproduction(panels["everlasting"]))
    assert (tmp_path / "index.html").read_text() == "the old page"


def test_a_theorem_that_does_not_hold_is_not_said_to_stand(tmp_path, panels, make_reproduction, make_finding):
    broken = make_finding(sound=False)
    page = Page(write_report(tmp_path, make_reproduction(panels["explore"], findings=(make_finding(), broken))))
    assert "Of the theorems, 1 of 2 lines" in page.text
    assert "✗ does not hold" in page.text
    assert "heorems stand" not in page.text


def test_a_missing_package_is_named(tmp_path, monkeypatch, make_reproduction):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "jinja2" else name)
    with pytest.raises(ModuleNotFoundError, match=r"needs jinja2: pip install 'bestbefore\[report\]'"):
        write_report(tmp_path, make_reproduction())


def test_every_title_is_narrow_enough_for_its_figure():
    """At 10 points a bold letter of the font is about 6.4 points wide, and there are 394."""
    from bestbefore.paper.report.panel import _headline

    for panel in (*PAPER, *BEYOND):
        assert max(map(len, _headline(panel).splitlines())) * 6.4 < 394
