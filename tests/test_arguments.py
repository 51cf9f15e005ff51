"""What a user passes in is checked, and an error names the parameter, the value and what is allowed."""

import decimal
import fractions
import math

import numpy as np
import pytest

from bestbefore.arguments import between, finite, is_name, one_of, real, whole


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_whole_takes_any_integer_and_returns_a_plain_int(value):
    number = whole("window", value)
    assert number == 3
    assert type(number) is int


@pytest.mark.parametrize("value", [0, -1, 2.0, 2.5, "2", None, True, math.nan, np.float64(2), [2]])
def test_whole_refuses_what_is_no_count(value):
    """A float is refused even when it is whole, and so is True: both are more often a slip than a wish."""
    with pytest.raises(ValueError, match=r"^window must be a whole number of at least 1, not ") as caught:
        whole("window", value)
    assert str(caught.value).endswith(f"not {value!r}")


def test_whole_says_where_counting_begins():
    assert whole("seed", 0, at_least=0) == 0
    with pytest.raises(ValueError, match="seed must be a whole number of at least 0, not -1"):
        whole("seed", -1, at_least=0)


@pytest.mark.parametrize(
    ("closed", "allowed", "refused"),
    [
        ("neither", [0.5, 1e-300], [0, 1]),
        ("left", [0, 0.5], [1]),
        ("right", [0.5, 1], [0]),
        ("both", [0, 0.5, 1], [-1e-300, 1.0000001]),
    ],
)
def test_between_keeps_to_the_ends_that_are_allowed(closed, allowed, refused):
    for value in allowed:
        assert between("share", value, 0, 1, closed=closed) == value
    for value in refused:
        with pytest.raises(ValueError, match=rf"^share must be a number .* not {value!r}$"):
            between("share", value, 0, 1, closed=closed)


@pytest.mark.parametrize(
    ("closed", "high", "sentence"),
    [
        ("neither", 1, "above 0 and below 1"),
        ("left", 1, "of at least 0 and below 1"),
        ("right", 1, "above 0 and at most 1"),
        ("both", 1, "of at least 0 and at most 1"),
        ("neither", math.inf, "above 0"),
    ],
)
def test_between_says_in_words_what_is_allowed(closed, high, sentence):
    with pytest.raises(ValueError, match=f"^sigma must be a number {sentence}, not -1$"):
        between("sigma", -1, 0, high, closed=closed)


@pytest.mark.parametrize("value", [math.nan, "0.5", b"0.5", None, 0.5j, [0.5], 10**400])
def test_between_refuses_what_is_no_number(value):
    with pytest.raises(ValueError, match="delta must be a number"):
        between("delta", value, 0, 1)


def test_without_an_upper_end_infinity_is_still_refused():
    with pytest.raises(ValueError, match="sigma must be a number above 0, not inf"):
        between("sigma", math.inf, 0, math.inf)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, "1", None])
def test_finite_refuses_what_has_no_size(value):
    with pytest.raises(ValueError, match="reward must be a finite number, not"):
        finite("reward", value)


def test_finite_takes_numbers_of_any_make():
    assert [finite("reward", value) for value in (-2, np.float32(0.5), fractions.Fraction(1, 4))] == [-2.0, 0.5, 0.25]


@pytest.mark.parametrize("value", ["bukcet", "", None, 3, ["fifo"]])
def test_one_of_lists_the_words_allowed(value):
    with pytest.raises(ValueError, match=r"^keep must be one of 'fifo', 'bucket', not ") as caught:
        one_of("keep", value, ["fifo", "bucket"])
    assert repr(value) in str(caught.value)


def test_one_of_returns_the_word():
    assert one_of("keep", "fifo", {"fifo": 0}) == "fifo"


def test_a_tuple_that_holds_a_list_cannot_name_an_arm():
    assert is_name(("user", 7))
    assert not is_name(("user", [7]))


def test_real_turns_what_is_no_number_into_nan_which_passes_no_check():
    assert real(decimal.Decimal("0.25")) == 0.25
    assert all(math.isnan(real(value)) for value in ("0.25", b"0.25", None, object(), 10**400))
