"""The wheel has every file that the package needs; `benchmarks/wheel.py` installs it elsewhere and works with it."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import bestbefore

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel of a copy of the sources, with the build backend that is named in pyproject.toml."""
    pytest.importorskip("hatchling")
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    program = f"from hatchling.build import build_wheel; print(build_wheel({os.fspath(out)!r}))"
    done = subprocess.run([sys.executable, "-c", program], cwd=source, capture_output=True, text=True)  # noqa: S603
    assert done.returncode == 0, done.stdout + done.stderr
    [made] = out.glob("*.whl")
    with zipfile.ZipFile(made) as archive:
        yield archive


def test_every_file_of_the_package_is_in_the_wheel(wheel):
    """Templates, styles, migrations and py.typed among them."""
    folder = Path(bestbefore.__file__).parent
    files = {path.relative_to(folder.parent).as_posix() for path in folder.rglob("*") if path.is_file()}
    files = {name for name in files if "__pycache__" not in name}
    packed = {name for name in wheel.namelist() if name.startswith("bestbefore/")}
    assert packed == files
    assert "bestbefore/py.typed" in packed
    assert any(name.endswith(".jinja") for name in packed)
    assert any(name.endswith(".css") for name in packed)
    assert any("/migrations/versions/" in name for name in packed)


def test_the_wheel_says_its_version_its_licence_and_its_command(wheel):
    [about] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    text = wheel.read(about).decode()
    assert f"\nVersion: {bestbefore.__version__}\n" in text
    assert "\nRequires-Python: >=3.11\n" in text
    [scripts] = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    assert "bestbefore = bestbefore.cli:main" in wheel.read(scripts).decode()
    assert any(name.endswith("/LICENSE") for name in wheel.namelist())
