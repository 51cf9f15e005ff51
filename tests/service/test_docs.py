"""docs/service.md: its commands run against a server that runs, and its tables say what the service does."""

import configparser
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import httpx
import pytest
import yaml
from click.testing import CliRunner

from bestbefore.cli import commands
from bestbefore.service.settings import PREFIX, Settings

ROOT = Path(__file__).parent.parent.parent
TEXT = (ROOT / "docs" / "service.md").read_text("utf-8")


def blocks(language):
    """Return the snippets of a language that no comment takes out."""
    found = re.findall(rf"(<!-- not run.*?-->\n)?```{language}\n(.*?)```", TEXT, re.DOTALL)
    return [snippet for left_out, snippet in found if not left_out]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """`bestbefore serve` as it is typed, with the settings of a machine where the port is taken by others."""
    folder = tmp_path_factory.mktemp("docs")
    shim = folder / "bestbefore"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bestbefore "$@"\n')
    shim.chmod(0o755)
    file = folder / "streams.db"
    variables = {"BESTBEFORE_DB": f"sqlite:///{file}", "BESTBEFORE_PORT": "0", "FILE": str(file)}
    environment = os.environ | variables | {"PATH": f"{folder}:{os.environ['PATH']}"}
    process = subprocess.Popen(  # noqa: S603
        [str(shim), "serve"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    listening = next(line for line in process.stderr if "running on" in line.lower())
    port = re.search(r"127\.0\.0\.1:(\d+)", listening)[1]
    yield folder, environment, port, process
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)


def shown(snippet):
    """Yield each command of a snippet with what it is said to print."""
    command, expected = [], None
    for line in [*snippet.splitlines(), ""]:
        if line.startswith("# "):
            expected = line[2:]
            continue
        if command:
            yield "\n".join(command), expected
        command, expected = ([line] if line.strip() else []), None


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_commands_print_what_the_page_says(server):
    folder, environment, port, process = server
    key = ""
    while "bb_" not in key:
        key = process.stdout.readline()
    lines = [pair for snippet in blocks("sh") for pair in shown(snippet)]
    assert len(lines) > 30
    script = ["set -e", f"KEY={re.search(r'bb_.*', key)[0]}"]
    for number, (command, _) in enumerate(lines):
        script += [f"echo '@@{number}'", command.replace("127.0.0.1:8000", f"127.0.0.1:{port}")]
    done = subprocess.run(  # noqa: S603
        ["/bin/bash", "-c", "\n".join(script)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    printed = [part.partition("\n")[2].strip() for part in done.stdout.split("@@")[1:]]
    assert len(printed) == len(lines)
    for (command, expected), found in zip(lines, printed, strict=True):
        pattern = ".*".join(map(re.escape, (expected or "").split("...")))
        assert re.fullmatch(pattern, found, re.DOTALL), f"{command}\nprints {found}\nand not {expected}"


def test_the_python_of_the_page_runs(served):
    """As it stands, but for the address and the key."""
    snippets = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(snippets) == 1
    for given, here in (("http://127.0.0.1:8000", served.address), ("bb_...", served.texts["write"])):
        assert given in snippets[0]
        snippets[0] = snippets[0].replace(given, here)
    names = {}
    exec(compile(snippets[0], "service.md", "exec"), names)  # noqa: S102
    names["desk"].close()
    assert served.desk.stream("front page").stored == ["Storm closes airports", "Calm returns"]


def test_each_call_is_shown_by_curl():
    """Whatever the description lists, the page has a line for it."""
    from bestbefore.service import logged, routes, totals, verb_routes

    lines = [command for snippet in blocks("sh") for command, _ in shown(snippet)]
    rooms = (routes.api, verb_routes.api, totals.api, logged.logged)
    for route in (route for room in rooms for route in room.routes):
        place = re.escape(route.path).replace(r"\{name\}", "[^/?]+")
        method = next(iter(route.methods))
        said = {"GET": r"call ", "POST": r"call (-X POST )?", "PUT": "call -X PUT ", "DELETE": "call -X DELETE "}[
            method
        ]
        assert route.path.startswith("/v1/")
        assert any(re.match(rf'{said}"\$SERVER{place}[?"]', line) for line in lines), (method, route.path)


def rows(header):
    """Return the rows of the table whose header begins so."""
    table = TEXT.partition(f"\n| {header} |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table.splitlines()[2:]]


def test_the_table_of_settings_is_that_of_the_service():
    found = {row[0].strip("`").removeprefix("--").replace("-", "_"): row for row in rows("option")}
    assert list(found) == Settings.names()
    defaults = Settings(db="sqlite:///a.db")
    for name, row in found.items():
        assert row[1] == f"`{PREFIX}{name.upper()}`"
        if name != "db":
            assert row[2].strip("`") == str(getattr(defaults, name))


def test_the_table_of_numbers_is_that_of_the_service_and_alarms_use_no_others(served):
    text = httpx.get(f"{served.address}/metrics", headers=served.key).text
    there = {re.sub("_(created|total)$", "", name) for name in re.findall(r"^# TYPE (\w+)", text, re.MULTILINE)}
    listed = {row[0].strip("`") for row in rows("number")}
    assert {re.sub("_total$", "", name) for name in listed} == there
    alarms = [rule["expr"] for block in blocks("yaml") for rule in rules(yaml.safe_load(block))]
    assert len(alarms) == 6
    used = {name for alarm in alarms for name in re.findall(r"bestbefore_\w+", alarm)}
    assert {re.sub("_bucket$", "", name) for name in used} <= listed


def rules(document):
    return [rule for group in document.get("groups", ()) for rule in group["rules"]]


def test_the_unit_of_systemd_starts_the_command_with_options_that_it_has():
    unit = configparser.ConfigParser(strict=False)
    unit.optionxform = str
    unit.read_string(blocks("ini")[0])
    started = unit["Service"]["ExecStart"].split()
    assert started[0].endswith("/bestbefore")
    options = {name for option in commands.commands["serve"].params for name in option.opts}
    assert {word for word in started if word.startswith("--")} <= options
    assert "--port" in CliRunner().invoke(commands, ["serve", "--help"]).output


def test_what_the_page_tells_to_install_can_be_installed():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    told = {extra for some in re.findall(r"bestbefore\[([\w,]+)\]", TEXT) for extra in some.split(",")}
    assert {"serve", "client", "postgres"} <= told <= set(extras)
