"""What the site is made of besides the pages in docs/: files of the project's root, the command's help, and the order.

MkDocs calls these functions while it builds the site, see `hooks` in mkdocs.yml.
"""

import os
import re
from pathlib import Path
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
FROM_ROOT = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
COMMAND = "reference/command.md"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Leave pages out of the navigation that are not there."""
    docs = Path(config.docs_dir)
    made = {*FROM_ROOT.values(), COMMAND}
    config.nav = _there(config.nav, lambda page: page in made or (docs / page).exists())
    return config


def _there(entry: Any, exists: Any) -> Any:
    """Return a part of the navigation without the pages that do not exist."""
    if isinstance(entry, str):
        return entry if exists(entry) else None
    if isinstance(entry, dict):
        [(title, below)] = entry.items()
        kept = _there(below, exists)
        return {title: kept} if kept else None
    return [kept for part in entry if (kept := _there(part, exists))]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that live outside docs/, and the command's own words."""
    for source, page in FROM_ROOT.items():
        text = (ROOT / source).read_text("utf-8")
        text = re.sub(r"\]\(docs/", "](", text)
        for other, its_page in FROM_ROOT.items():
            text = text.replace(f"]({other}", f"]({its_page}")
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, COMMAND, content=_command()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Let links to files of the root lead to their pages, and let links that show a file's name show its title."""
    for source, its_page in FROM_ROOT.items():  # one folder less up, for docs/ is the site's root
        markdown = re.sub(rf"\]\(\.\./((?:\.\./)*){re.escape(source)}", rf"](\1{its_page}", markdown)

    def titled(link: re.Match[str]) -> str:
        target = Path(config.docs_dir, page.file.src_uri).parent / link["target"]
        return f"[{_title(target)}]({link['target']}{link['anchor']})" if target.exists() else link[0]

    return re.sub(r"\[[\w/-]+\.md\]\((?P<target>[\w./-]+\.md)(?P<anchor>[^)]*)\)", titled, markdown)


def _title(page: Path) -> str:
    """Return the first heading of a page."""
    return page.read_text("utf-8").split("\n", 1)[0].removeprefix("# ")


def _command() -> str:
    """Return a page with the help of the command and of all that it can do."""
    os.environ["COLUMNS"] = "100"
    from bestbefore.cli import commands

    told = ["# The command\n", "What `bestbefore --help` says, and each of its commands.\n"]
    for name, command, parent in _commands("bestbefore", commands, None):
        context = click.Context(command, info_name=name.split()[-1], parent=parent, max_content_width=100)
        told += [f"## {name}\n", f"```text\n{command.get_help(context)}\n```\n"]
    return "\n".join(told)


def _commands(name: str, command: click.Command, parent: click.Context | None) -> list[Any]:
    """Return a command and all below it, each with its full name and the context that it stands in."""
    found = [(name, command, parent)]
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=name.split()[-1], parent=parent)
        for word in command.list_commands(context):
            found += _commands(f"{name} {word}", command.get_command(context, word), context)
    return found
