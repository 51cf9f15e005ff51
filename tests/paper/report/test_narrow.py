"""The verdicts on a narrow screen: rows are stacked, and each cell says by itself what the heading would have said."""

import re

import pytest

from bestbefore.paper.report.page import write_report


@pytest.fixture(scope="module")
def page(tmp_path_factory, panels, make_reproduction):
    return write_report(tmp_path_factory.mktemp("report"), make_reproduction(*panels.values())).read_text()


OURS = "Lower, ours or the paper\u2019s"


@pytest.mark.parametrize(
    ("task", "claims", "lower"),
    [
        ("explore", "AB", ["Lower as published", "Lower as described", OURS]),
        ("regret", "AB", ["Lower as published", "Lower as described", OURS]),
        ("everlasting", "AB", [OURS]),
    ],
)
def test_every_cell_of_a_verdict_has_its_title(page, task, claims, lower):
    titles = [f"Claim {letter} as {reading}" for letter in claims for reading in ("published", "described")] + lower
    table = page[page.index(f'id="verdicts-{task}"') :].partition("</table>")[0]
    rows = [row for row in table.split("<tr")[1:] if "<td" in row]
    assert rows
    for row in rows:
        assert row.count("<td") == len(titles)
        assert re.findall(r'data-title="([^"]+)"', row) == titles


def test_titles_are_shown_where_the_heading_is_not(page):
    stacked = page[page.index("@media screen and (max-width: 1099px)") :].partition("\n}\n")[0]
    assert ".verdicts thead { display: none; }" in stacked
    assert ".verdicts td::before { content: attr(data-title)" in stacked
