"""One table of rules: whatever asks for a rule asks the table, and the table is complete."""

import importlib
import inspect
from pathlib import Path

import pytest

from bestbefore import rules
from bestbefore.ladder import ladder, source


@pytest.mark.parametrize(("package", "table"), [("keep", rules.KEEP), ("pull", rules.PULL)], ids=["keep", "pull"])
def test_a_rule_is_a_file_of_its_name(package, table):
    """And importing it gives the module, with its derivation on top, not a function of the same name."""
    for name in table:
        module = importlib.import_module(f"bestbefore.{package}.{name}")
        assert inspect.ismodule(getattr(importlib.import_module(f"bestbefore.{package}"), name))
        assert len(inspect.getdoc(module).splitlines()) > 3


def test_no_module_hides_behind_a_function_of_its_name():
    for room in ("keep", "probe", "pull", "plan", "simulate", "agents", "streams"):
        package = importlib.import_module(f"bestbefore.{room}")
        for file in Path(inspect.getfile(package)).parent.glob("[!_]*.py"):
            importlib.import_module(f"bestbefore.{room}.{file.stem}")
            assert inspect.ismodule(getattr(package, file.stem)), f"bestbefore.{room}.{file.stem}"


@pytest.mark.parametrize("table", [rules.KEEP, rules.PULL, rules.STRATEGY, rules.PROBE])
def test_names_and_numbers_are_their_own(table):
    assert [rule.name for rule in table.values()] == list(table)
    assert sorted(rule.number for rule in table.values()) == list(range(len(table)))


def test_two_rules_of_one_number_are_refused():
    with pytest.raises(ValueError, match="names and numbers of their own"):
        rules._table(rules.Keep("one", 1), rules.Keep("two", 1))


def test_a_ladder_has_a_step_for_each_rule_and_an_error_at_its_end():
    text = source("admit", ["fifo", "topk"], [0, 7], "memory, arrival", "keep")
    assert text.splitlines() == [
        "def admit(rule, memory, arrival):",
        "    if rule == 0:",
        "        return fifo.admit(memory, arrival)",
        "    if rule == 7:",
        "        return topk.admit(memory, arrival)",
        '    raise ValueError("no keep rule has this number")',
    ]


def test_a_rule_that_lacks_what_the_ladder_needs_is_named_at_once():
    with pytest.raises(AttributeError, match=r"bestbefore\.keep\.fifo.*no attribute 'dance'"):
        ladder("dance", "memory", rules.KEEP.values(), "bestbefore.keep")
