"""A figure as it stands in a page: what is cut, what is renamed, what takes its look from the page."""

import re
from xml.etree import ElementTree

import pytest

from bestbefore.paper.report.inline import inline
from bestbefore.paper.report.panel import NOTE, TITLE, draw_panel_figure

SVG = """<?xml version="1.0"?>
<svg xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 400 300" xmlns="http://www.w3.org/2000/svg">
 <metadata>about it</metadata>
 <defs><style type="text/css">*{stroke-linejoin: round}</style></defs>
 <g id="figure_1">
  <g id="headline"><g id="lines"><text>Title</text></g></g>
  <!-- a remark -->
  <g id="empty"><g id="emptier"/></g>
  <g id="axes_1">
   <defs><path id="dot" d="M 0 1.23456
L -2.5 0.04999"/></defs>
   <use xlink:href="#dot" x="12.3456" style="fill: #0072B2; stroke: #0072b2"/>
   <path clip-path="url(#frame)" d="M 1 2" style="fill: none; stroke: #222222; stroke-width: 0.8"/>
   <text style="font-size: 9px; font-family: 'DejaVu Sans', sans-serif; text-anchor: middle"
     transform="rotate(-0 12 34)">0.0001 &amp; more</text>
  </g>
  <g id="footnote"><text>Note</text></g>
 </g>
 <defs><clipPath id="frame"><rect x="46" y="56" width="120" height="170"/></clipPath></defs>
</svg>
"""


@pytest.fixture(scope="module")
def figure():
    return ElementTree.fromstring(inline(SVG, "mine", 'A "panel" & <more>'))  # noqa: S314


def test_title_note_and_what_is_not_drawn_are_cut(figure):
    assert [text.text for text in figure.iter("text")] == ["0.0001 & more"]
    assert {element.tag for element in figure.iter()} == {"svg", "g", "defs", "path", "use", "text", "clipPath", "rect"}
    assert all(len(group) for group in figure.iter("g"))
    assert figure.get("viewBox") == f"0 {TITLE:g} 400 {300 - TITLE - NOTE:g}"


def test_only_ids_that_are_used_are_kept_with_a_name_of_the_figure(figure):
    assert [element.get("id") for element in figure.iter() if element.get("id")] == ["mine-dot", "mine-frame"]
    assert [use.get("href") for use in figure.iter("use")] == ["#mine-dot"]
    assert [path.get("clip-path") for path in figure.iter("path") if path.get("clip-path")] == ["url(#mine-frame)"]


def test_colours_and_font_are_those_of_the_page(figure):
    assert [element.get("style") for element in figure.iter() if element.get("style")] == [
        "fill: var(--paper); stroke: var(--paper)",
        "fill: none; stroke: currentColor; stroke-width: 0.8",
        "font-size: 9px; text-anchor: middle",
    ]


def test_places_are_rounded_and_words_are_not(figure):
    (use,), dot = figure.iter("use"), next(figure.iter("path"))
    assert use.get("x") == "12.3"
    assert dot.get("d") == "M 0 1.2 L -2.5 0"
    (text,) = figure.iter("text")
    assert text.text.startswith("0.0001")
    assert text.get("transform") is None


def test_the_label_is_read_out_whatever_is_in_it(figure):
    assert (figure.get("role"), figure.get("aria-label")) == ("img", 'A "panel" & <more>')


def test_a_colour_that_the_page_does_not_have_is_named():
    with pytest.raises(ValueError, match=r"colours of a figure must be among .*, not #123456"):
        inline(SVG.replace("#222222", "#123456"), "mine", "label")


def test_a_figure_without_a_box_is_refused():
    with pytest.raises(ValueError, match="must have a viewBox from 0 0, not '5 0 400 300'"):
        inline(SVG.replace("0 0 400 300", "5 0 400 300"), "mine", "label")


def test_nothing_drawn_is_lost(panels, make_rows):
    """As many curves, bands and words as in the file, but those of title and note."""
    panel = panels["explore"]
    svg = draw_panel_figure(panel, make_rows(panel), runs=5, png=False).svg
    shown = inline(svg, panel.name, panel.title)
    words = re.findall(r">([^<>]+)</text>", svg)
    kept = re.findall(r">([^<>]+)</text>", shown)
    assert shown.count("<path") == svg.count("<path")
    assert shown.count("<use") == svg.count("<use")
    assert kept == [word for word in words if word in set(kept)]
    said = [word for word in words if word not in set(kept)]
    assert said
    assert all(word in panel.title or "Lines are" in word or "As published" in word for word in said)
