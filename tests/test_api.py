"""The public names are those that docs/reference/index.md lists; each says what it is and what its parameters are."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STATED = (ROOT / "docs" / "reference" / "index.md").read_text("utf-8")
API = {
    module: re.findall(r"`([^`]+)`", names)
    for module, names in re.findall(r"^\| \[`([\w.]+)`\]\([^)]*\) \| (.*) \|$", STATED, re.MULTILINE)
}
"""Module by module, what the page promises."""
NAMES = [f"{module}.{name}" for module, names in API.items() for name in names]


def the(name):
    """Return what a full name names."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def documented(cls):
    """Return the methods of a class that a caller may use: those of this package, not those of a library."""
    for name, found in inspect.getmembers(cls, inspect.isroutine):
        if not name.startswith("_") and (getattr(found, "__module__", None) or "").startswith("bestbefore."):
            yield name, found


def listed(thing):
    """Return the parameters that a docstring lists."""
    section = re.search(r"Parameters\n-+\n(.*?)(?=\n\n\S[^\n]*\n---|\Z)", inspect.getdoc(thing) or "", re.DOTALL)
    entries = re.findall(r"^(\w+(?:, \w+)*)$", section[1], re.MULTILINE) if section else []
    return {name for entry in entries for name in entry.split(", ")}


def taken(thing):
    """Return the parameters that a function or a constructor takes."""
    return {name for name in inspect.signature(thing).parameters if name not in ("self", "cls")}


def fields(cls):
    """Return the fields of a dataclass or a named tuple, each of which has a docstring of its own in the source."""
    return cls._fields if issubclass(cls, tuple) else getattr(cls, "__dataclass_fields__", None)


def test_the_page_names_all_that_is_public_and_nothing_else():
    assert len(API) >= 11
    assert {module: sorted(names) for module, names in API.items()} == {
        module: sorted(importlib.import_module(module).__all__) for module in API
    }


def test_each_module_that_is_public_is_on_the_page():
    import bestbefore

    modules = {f"bestbefore.{name}" for name in bestbefore.__all__ if inspect.ismodule(getattr(bestbefore, name))}
    assert modules | {"bestbefore", "bestbefore.replay", "bestbefore.simulate.budgets"} == set(API)


@pytest.mark.parametrize("module", API)
def test_each_has_its_place_in_the_reference(module):
    """A page of the reference shows a module by `::: module`, with all names in its `__all__`."""
    pages = [page.read_text("utf-8") for page in (ROOT / "docs" / "reference").glob("*.md")]
    [page] = [page for page in pages if f"\n::: {module}\n" in page]
    if "members:" in page:  # in an order of its own
        shown = [name for name in API[module] if not inspect.ismodule(the(f"{module}.{name}"))]
        assert sorted(re.findall(r"^ +- (\w+)$", page, re.MULTILINE)) == sorted(shown)


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_says_what_it_is_and_lists_its_parameters(name):
    thing = the(name)
    if not (inspect.isclass(thing) or inspect.isroutine(thing) or hasattr(thing, "py_func")):
        return  # a module, which has a page, or a constant
    assert (inspect.getdoc(thing) or "").strip(), f"{name} has no docstring"
    if inspect.isclass(thing):
        for method, found in documented(thing):
            assert listed(found) >= taken(found), f"{name}.{method} must list {taken(found) - listed(found)}"
        if issubclass(thing, BaseException) or getattr(thing, "_is_protocol", False):
            return
        if fields(thing):
            source = inspect.getsource(thing)
            for field in fields(thing):
                assert re.search(rf'^    {field}: [^\n]*\n    """', source, re.MULTILINE), f"{name}.{field}"
            return
    assert listed(thing) >= taken(thing), f"{name} must list {taken(thing) - listed(thing)}"
