"""A figure inside a page: an SVG that takes its colours and its font from the page, light or dark."""

import re
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from bestbefore.paper.report.panel import GRID, INK, NOTE, ROLES, TITLE, WORDS
from bestbefore.style import ZERO

COLOURS: Final = {
    INK.lower(): "currentColor",
    GRID.lower(): "var(--grid)",
    ZERO: "var(--line)",
    "#ffffff": "none",
    **{colour.lower(): f"var(--{role})" for role, colour in ROLES.items()},
    **{colour.lower(): f"var(--{role}-word)" for role, colour in WORDS.items()},
}
"""What stands in a page for the colours of a file."""
SAID_BY_THE_PAGE: Final = ("headline", "footnote")
"""Ids of what a page leaves out, for it says the same in its own words."""
REFERENCE: Final = re.compile(r"url\(#([^)]+)\)")


def inline(svg: str, prefix: str, label: str) -> str:
    """Return an SVG of a figure as it stands in a page.

    Title and note, which the page says, are left out, and so are the ids that nothing refers to; the others begin with
    `prefix`, so that no two figures of a page share one.  `label` is what is read out instead of the figure.
    """
    drawn = ElementTree.fromstring(svg)  # noqa: S314 - we have drawn it ourselves
    figure = Element("svg", {"role": "img", "aria-label": label, "viewBox": _cut(drawn)})
    figure.extend(_cleaned(drawn))
    used = {name for element in figure.iter() for name in _references(element)}
    for element in figure.iter():
        _restyle(element)
        _rename(element, prefix, used)
    return ElementTree.tostring(figure, encoding="unicode")


def _cleaned(parent: Element) -> list[Element]:
    """Return the children of an element, and theirs, without namespaces, what the page says, and empty groups."""
    kept = []
    for child in parent:
        tag = child.tag.rpartition("}")[2]
        if tag in ("metadata", "style") or child.get("id") in SAID_BY_THE_PAGE:
            continue
        attributes = {name.rpartition("}")[2]: " ".join(value.split()) for name, value in child.items()}
        own = Element(tag, attributes)
        own.text = (child.text or "").strip() or None
        own.extend(_cleaned(child))
        if tag not in ("g", "defs") or len(own):
            kept.append(own)
    return kept


def _references(element: Element) -> list[str]:
    """Return the ids that an element refers to."""
    link = element.get("href", "")
    names = [name for value in element.attrib.values() for name in REFERENCE.findall(value)]
    return [*names, link[1:]] if link.startswith("#") else names


def _rename(element: Element, prefix: str, used: set[str]) -> None:
    """Drop an id that nothing refers to, and begin it and all references with the prefix otherwise."""
    if element.get("id") in used:
        element.set("id", f"{prefix}-{element.get('id')}")
    else:
        element.attrib.pop("id", None)
    for name, value in element.items():
        if name == "href" and value.startswith("#"):
            element.set(name, f"#{prefix}-{value[1:]}")
        else:
            element.set(name, REFERENCE.sub(rf"url(#{prefix}-\1)", value))


def _restyle(element: Element) -> None:
    """Take colours and font from the page, round numbers to a tenth of a point, and turn nothing by 0 degrees."""
    if "style" in element.attrib:
        element.set("style", _page_style(element.attrib["style"]))
    if element.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]
    for name, value in element.items():
        if name not in ("id", "href", "aria-label"):
            element.set(name, re.sub(r"\d+\.\d{3,}", _rounded, value))


def _page_style(style: str) -> str:
    """Return the declarations of a style without the font, each colour of the file being one of the page.

    >>> _page_style("fill: #222222; font-family: 'DejaVu Sans', sans-serif; stroke-width: 0.8")
    'fill: currentColor; stroke-width: 0.8'
    """
    declarations = []
    for declaration in style.split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        if value.startswith("#"):
            if value.lower() not in COLOURS:
                raise ValueError(f"colours of a figure must be among {', '.join(COLOURS)}, not {value}")
            value = COLOURS[value.lower()]
        if name and name != "font-family":
            declarations.append(f"{name}: {value}")
    return "; ".join(declarations)


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")


def _cut(drawn: Element) -> str:
    """Return the view box without title and note."""
    box = [float(number) for number in drawn.get("viewBox", "").split()]
    if len(box) != 4 or box[:2] != [0, 0]:
        raise ValueError(f"the SVG must have a viewBox from 0 0, not {drawn.get('viewBox')!r}")
    return f"0 {TITLE:g} {box[2]:g} {box[3] - TITLE - NOTE:g}"
