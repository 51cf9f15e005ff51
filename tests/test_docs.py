"""Docs cannot rot: every Python snippet of a page is run, in order, and every link in the project leads somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets_run(page):
    """A snippet right below a comment that names a file is that file: it belongs into a copy of the package."""
    names, snippets = {}, re.findall(r"(?<!-->\n)```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    for number, snippet in enumerate(snippets, start=1):
        exec(compile(snippet, f"{page.name}, snippet {number}", "exec"), names)  # noqa: S102


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_has_two_commands_that_make_their_own_environment():
    commands = re.findall(r"^python3 -m venv .*$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert len(commands) == 2
    assert commands[0].endswith("bestbefore reproduce")
    assert ".venv/bin/pytest" in commands[1]


def test_the_project_speaks_with_one_version():
    import tomllib

    import yaml

    import bestbefore

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert project["version"] == citation["version"] == bestbefore.__version__
