"""schemathesis calls the service in every way that its description allows, and in many that it does not."""

import importlib.util
import warnings
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def every_call():
    spec = importlib.util.spec_from_file_location("every_call", BENCHMARKS / "every_call.py")
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other people's packages
        spec.loader.exec_module(module)
        yield module


def test_no_call_breaks_the_service_or_is_answered_otherwise_than_described_or_changes_what_it_may_not(
    every_call, tmp_path
):
    """`python benchmarks/every_call.py` sends 10,000 requests and more; here are some hundred."""
    found = every_call.run(tmp_path, examples=3, seed=1, say=lambda _: None)
    assert found["faults"] == []
    assert found["requests"] > 500
    assert set(found["phases"]) == {"examples", "coverage", "fuzzing", "stateful"}
    assert min(found["phases"].values()) > 10  # each phase did its work
    assert len(found["calls"]) == 23  # and each call was called
    assert found["refused"] > 100
    assert found["changed"] > 20  # the check of what changed could have seen something
