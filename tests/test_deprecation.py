"""Names that go away work for a while, and say what to use instead and until when."""

import re
from pathlib import Path

import pytest

from bestbefore import simulate
from bestbefore.deprecation import renamed

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize(("old", "new"), [("regret", "play"), ("everlasting", "seek")])
def test_an_old_name_of_a_simulation_is_the_new_one_and_warns(old, new):
    said = rf"simulate\.{old} is called bestbefore\.simulate\.{new} now; the old name goes in version 0\.3"
    with pytest.warns(DeprecationWarning, match=said) as caught:
        found = getattr(simulate, old)
    assert found is getattr(simulate, new)
    assert caught[0].filename == __file__  # whoever uses the old name is told where
    assert re.search(rf"`simulate\.{old}`\s+is\s+called\s+`simulate\.{new}`", (DOCS / "versions.md").read_text("utf-8"))


def test_a_name_that_never_was_is_an_error_as_anywhere():
    with pytest.raises(AttributeError, match=r"module 'bestbefore\.simulate' has no attribute 'dance'"):
        _ = simulate.dance
    with pytest.raises(AttributeError, match="has no attribute"):
        renamed("bestbefore.simulate", {}, until="9")("regret")
