"""Docs cannot rot: every Python snippet of a page is run, in order, and every link in the project leads somewhere."""

import importlib.util
import io
import re
import tomllib
from contextlib import redirect_stdout
from pathlib import Path

import pytest
import yaml

import bestbefore

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
FROM_ROOT = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG", "SECURITY")]
PAGES = [*FROM_ROOT, *sorted(DOCS.rglob("*.md"))]
SITE = re.sub(r"!!python\S*", "", (ROOT / "mkdocs.yml").read_text("utf-8"))

# A snippet right below a comment that names a file is that file: it belongs into a copy of the package.  In tutorials,
# a block of text right below a snippet is what the snippet prints.
SNIPPET = re.compile(r"(?<!-->\n)```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<prints>.*?)```\n)?", re.DOTALL)


def name_of(page):
    return page.relative_to(ROOT).as_posix().removeprefix("docs/")


def is_tutorial(page):
    return "tutorials" in page.parts


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_snippets_run(page, tmp_path, monkeypatch):
    """Files that a snippet writes, figures among them, go to an empty folder."""
    monkeypatch.chdir(tmp_path)
    names = {}
    for number, snippet in enumerate(SNIPPET.finditer(page.read_text("utf-8")), start=1):
        with redirect_stdout(io.StringIO()) as printed:
            exec(compile(snippet["code"], f"{page.name}, snippet {number}", "exec"), names)  # noqa: S102
        if is_tutorial(page):
            assert printed.getvalue() == (snippet["prints"] or ""), f"{page.name}, snippet {number}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    """Anchors are checked by `mkdocs build --strict`, which knows what headings become."""
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
        if target.startswith("reference/command.md") or (page.parent.name, target) == ("reference", "command.md"):
            continue  # the site makes it of the command's help
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_has_two_commands_that_make_their_own_environment():
    commands = re.findall(r"^python3 -m venv .*$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert len(commands) == 2
    assert commands[0].endswith("bestbefore reproduce")
    assert ".venv/bin/pytest" in commands[1]


def test_the_readme_keeps_to_one_screen_and_a_picture():
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 60
    assert text.count("![") == 1


def test_every_page_has_its_place_in_the_site():
    named = re.findall(r"[\w/-]+\.md", SITE[SITE.index("\nnav:") :])
    assert len(named) == len(set(named))
    assert {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} <= set(named)


def test_nothing_of_the_site_comes_from_other_hosts():
    theme = yaml.safe_load(SITE)["theme"]
    assert theme["font"] is False
    files = [page.read_text("utf-8") for page in PAGES if page.is_relative_to(DOCS)]
    files += [file.read_text("utf-8") for file in (DOCS / "assets").iterdir()]
    assert not any(re.search(r"(src|href)=\"?https?://|!\[[^]]*\]\(https?://", text) for text in files)


def test_every_figure_is_shown_and_drawn_by_a_script():
    """`benchmarks/figures.py` knows how: by a command, or by running the snippets of a page."""
    where = importlib.util.spec_from_file_location("figures", ROOT / "benchmarks" / "figures.py")
    figures = importlib.util.module_from_spec(where)
    where.loader.exec_module(figures)
    known = {*figures.COMMANDS, *figures.LONG, *(name for page in figures.PAGES for name in figures.drawn_by(page))}
    here = {file.stem for file in figures.FIGURES.iterdir()}
    assert {name for name in here if not name.startswith(figures.PICTURES)} <= known
    assert set(re.findall(r"figures/([\w-]+)\.png", "".join(page.read_text("utf-8") for page in PAGES))) == here


def citation():
    return yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))


def test_the_project_speaks_with_one_version():
    """It is said in `bestbefore.__version__`, from which the build takes it; what cites it says the same."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "version" not in settings["project"]
    assert settings["project"]["dynamic"] == ["version"]
    assert settings["tool"]["hatch"]["version"]["path"] == "src/bestbefore/_version.py"
    newest = re.search(r"^## (\S+) \((.*)\)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest[1] == citation()["version"] == bestbefore.__version__
    assert citation().get("date-released", "unreleased") == newest[2]


def test_the_project_can_be_cited():
    cited = citation()
    assert cited["cff-version"] == "1.2.0"
    assert cited["type"] == "software"
    assert all(cited[field] for field in ("message", "title", "abstract", "license", "keywords", "authors"))
    paper = cited["preferred-citation"]
    assert paper["title"].startswith("Online Learning with Recency")
    assert [author["family-names"] for author in paper["authors"]] == ["Braverman", "Wang", "Wang", "Zhou"]
    assert paper["year"] == 2026
