"""A figure inside a page: an SVG that takes its colours and its font from the page, light or dark."""

import re
from typing import Final

from bestbefore.paper.report.panel import GRID, INK, NOTE, ROLES, TITLE, WORDS

COLOURS: Final = {
    INK: "currentColor",
    GRID: "var(--grid)",
    "#ffffff": "none",
    **{colour: f"var(--{role})" for role, colour in ROLES.items()},
    **{colour: f"var(--{role}-word)" for role, colour in WORDS.items()},
}
"""What stands in a page for the colours of a file."""


def inline(svg: str, prefix: str, label: str) -> str:
    """Return an SVG of a panel as it stands in a page.

    Title and note, which the page says, are left out, and so are the ids that nothing refers to; the others begin with
    `prefix`, so that no two figures of a page share one.  `label` is what is read out instead of the figure.
    """
    body = svg[svg.index("<g id=") : svg.rindex("</svg>")]
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    for name in ("headline", "footnote"):
        body = re.sub(rf'<g id="{name}">.*?</g>', "", body, flags=re.DOTALL)
    body = _with_own_ids(body, prefix)
    for colour, own in COLOURS.items():
        body = re.sub(f": {colour}", f": {own}", body, flags=re.IGNORECASE)
    body = re.sub(r"font-family: [^;]*; ", "", body)
    body = re.sub(r' transform="rotate\(-0 [^)]*\)"', "", body)
    body = re.sub(
        r"<[^>]+>", lambda tag: re.sub(r"\d+\.\d{3,}", _rounded, tag[0]), body
    )  # tags only: words stay as they are
    body = re.sub(r"<g/>|<g>\s*</g>", "", re.sub(r"\s+", " ", body))
    return f'<svg role="img" aria-label="{_escaped(label)}" viewBox="{_cut(svg)}">{body}</svg>'


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")


def _with_own_ids(body: str, prefix: str) -> str:
    """Drop ids that nothing refers to, and begin the others with the prefix."""
    used = set(re.findall(r'url\(#([^)]+)\)|xlink:href="#([^"]+)"', body))
    names = {name for pair in used for name in pair if name}

    def kept(match: re.Match[str]) -> str:
        return f' id="{prefix}-{match[1]}"' if match[1] in names else ""

    body = re.sub(r' id="([^"]*)"', kept, body)
    return re.sub(r'url\(#|xlink:href="#', lambda match: match[0].replace("xlink:", "") + prefix + "-", body)


def _cut(svg: str) -> str:
    """Return the view box without title and note."""
    match = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    if match is None:
        raise ValueError("the SVG must have a viewBox from 0 0")
    width, height = float(match[1]), float(match[2])
    return f"0 {TITLE:g} {width:g} {height - TITLE - NOTE:g}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
