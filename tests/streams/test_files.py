"""Streams from a CSV file: an arm a line.  What is wrong with a file is told with its name and the line."""

import numpy as np
import pytest

from bestbefore.streams import BLOCK, from_csv


@pytest.fixture
def file(tmp_path):
    """Return a function that writes text or bytes to arms.csv and returns its path."""

    def write(content):
        path = tmp_path / "arms.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def read(path):
    blocks = list(from_csv(path).blocks(np.random.default_rng(0)))
    return blocks[0]._replace(means=np.concatenate([block.means for block in blocks]))


# Good files


def test_a_column_called_mean_makes_bernoulli_arms(file):
    arms = read(file("mean\n0.25\n0\n1\n"))
    assert arms.means.tolist() == [0.25, 0.0, 1.0]
    assert arms.levels.size == 0


def test_other_columns_are_passed_over(file):
    arms = read(file('title,mean,year\n"Heat, 1995",0.25,1995\n"Ran",0.5,\n'))
    assert arms.means.tolist() == [0.25, 0.5]


def test_columns_called_by_levels_make_rated_arms(file):
    arms = read(file("title,0,0.5,1\na,1,1,2\nb,0,0,5\n"))
    assert arms.levels.tolist() == [0, 0.5, 1]
    assert arms.weights.tolist() == [[0.25, 0.25, 0.5], [0, 0, 1]]
    assert arms.means.tolist() == [0.625, 1.0]


def test_levels_may_come_in_any_order(file):
    """Each count stays with its level."""
    arms = read(file("1,0,title,0.5\n2,1,a,1\n"))
    assert arms.levels.tolist() == [0, 0.5, 1]
    assert arms.weights.tolist() == [[0.25, 0.25, 0.5]]


@pytest.mark.parametrize(
    ("times", "found"),
    [
        (["0", "2.5", "2.5"], [0, 2_500_000, 2_500_000]),
        (
            ["1970-01-01T00:00:01Z", "1970-01-01T02:00:02+02:00", "1970-01-01 00:00:02.000001+00:00"],
            [10**6, 2 * 10**6, 2_000_001],
        ),
    ],
)
def test_a_column_called_time_says_when_arms_arrive(file, times, found):
    stream = from_csv(file("time,mean\n" + "".join(f"{time},0.5\n" for time in times)))
    assert stream.timed
    assert next(stream.blocks(np.random.default_rng(0))).times.tolist() == found


def test_without_that_column_a_stream_has_no_times(file):
    assert not from_csv(file("mean\n0.25\n")).timed


@pytest.mark.parametrize(
    ("times", "line", "what"),
    [
        (["noon", "1"], 2, "time must be seconds of at least 0, or a date"),
        (["-1", "1"], 2, "time must be seconds of at least 0, or a date"),
        (["0", ""], 3, "time must be seconds of at least 0, or a date"),
        (["2026-03-01T12:30:00", "1"], 2, "time must be seconds of at least 0, or a date"),
        (["5", "4.9"], 3, "time must not be earlier than in the line before, not '4.9'"),
    ],
    ids=["no time", "before 0", "none", "no zone", "back"],
)
def test_a_time_that_is_none_is_told_with_its_line(file, times, line, what):
    content = "time,mean\n" + "".join(f"{time},0.5\n" for time in times)
    with pytest.raises(ValueError, match=rf"arms.csv, line {line}: {what}"):
        from_csv(file(content))


def test_two_columns_called_time_are_one_too_many(file):
    with pytest.raises(ValueError, match="line 1 must name one column time, not 2"):
        from_csv(file("time,time,mean\n1,2,0.5\n"))


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfmean\n0.25\n0.5\n",
        b"mean\r\n0.25\r\n0.5\r\n",
        b"mean\n0.25\n\n0.5\n\n",
        b"mean\n0.25\n0.5",
        b" mean \n 0.25\n0.5 \n",
        b'"mean"\n"0.25"\n"0.5"\n',
        b"mean\n2.5e-1\n.5\n",
    ],
    ids=["BOM", "Windows lines", "blank lines", "no last newline", "spaces", "quotes", "other numerals"],
)
def test_the_ways_of_spreadsheets_are_understood(file, content):
    assert read(file(content)).means.tolist() == [0.25, 0.5]


def test_a_stream_is_called_by_its_file_and_knows_its_length(file):
    stream = from_csv(file("mean\n0.25\n0.5\n"))
    assert (stream.name, stream.length) == ("arms", 2)


def test_the_path_may_be_a_plain_text(file):
    assert from_csv(str(file("mean\n0.25\n"))).length == 1


def test_a_long_file_is_read_to_its_end(file):
    means = np.random.default_rng(1).random(BLOCK + 10)
    path = file("mean\n" + "\n".join(map(repr, means.tolist())))
    assert read(path).means.tolist() == means.tolist()


# Malformed files: each names the file and the line


@pytest.mark.parametrize(
    ("content", "line", "what"),
    [
        ("mean\n0.5\n1.5\n", 3, r"mean must be a number between 0 and 1, not '1.5'"),
        ("mean\n-0.1\n", 2, r"mean must be a number between 0 and 1, not '-0.1'"),
        ("mean\n0.5\nhigh\n", 3, r"mean must be a number between 0 and 1, not 'high'"),
        ("mean\nnan\n", 2, r"mean must be a number between 0 and 1, not 'nan'"),
        ("mean\ninf\n", 2, r"mean must be a number between 0 and 1, not 'inf'"),
        ('mean\n""\n', 2, r"mean must be a number between 0 and 1, not ''"),
        ("mean,year\n0.5,1995\n0.5\n", 3, r"2 columns are needed, not 1"),
        ("mean,year\n0.5,1995,x\n", 2, r"2 columns are needed, not 3"),
        ("mean\n0,5\n", 2, r"1 columns are needed, not 2"),
        ("0,1\n1,1\n0,0\n", 3, r"the arm has no rating"),
        ("0,1\n1,-1\n", 2, r"1 must be a count, a whole number of at least 0, not '-1'"),
        ("0,1\n1,many\n", 2, r"1 must be a count, a whole number of at least 0, not 'many'"),
        ("0,1\n1,nan\n", 2, r"1 must be a count, a whole number of at least 0, not 'nan'"),
        ("0,1\n1,inf\n", 2, r"1 must be a count, a whole number of at least 0, not 'inf'"),
        ("0.1,0.2\n0.3,0.4\n", 2, r"0.1 must be a count, .* not '0.3'; line 1 must name the columns, such as mean"),
        ("0,1\n1,1\n2,1.5\n", 3, r"1 must be a count, a whole number of at least 0, not '1.5'$"),
        ("mean\n\n\n0.5\n2\n", 5, r"mean must be"),
        ('title,mean\n"two\nlines",0.5\nb,2\n', 4, r"mean must be"),
    ],
)
def test_a_malformed_line_is_named_with_its_file_and_what_is_allowed(file, content, line, what):
    path = file(content)
    with pytest.raises(ValueError, match=rf"arms\.csv, line {line}: {what}") as caught:
        from_csv(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "value\n0.5\n",
        "mean;year\n0.5;1995\n",
        "2,3,4\n1,1,1\n",
        "nan,inf\n1,1\n",
        "mean,0,1\n0.5,1,1\n",
        "mean,mean\n0.5,0.5\n",
        b"\x00\x01\x02\x03",
        "0.5\n0.7\n",
        "0.5,0.5\n1,1\n",
        "0.5,title,0.50\n1,a,1\n",
    ],
)
def test_a_first_line_that_names_no_columns_is_refused_with_what_it_must_be(file, content):
    """Numbers without a header are not taken for levels, if there is but one column."""
    with pytest.raises(
        ValueError, match=r"arms\.csv: line 1 must name the columns, such as mean: .* levels .*, not \["
    ):
        from_csv(file(content))


def test_a_quotation_that_never_ends_is_named_with_its_line(file):
    with pytest.raises(ValueError, match=r"arms\.csv, line \d+: "):
        from_csv(file('mean,title\n0.5,a\n0.5,"b\n0.5,c\n'))


def test_a_file_with_a_header_only_has_no_arms(file):
    with pytest.raises(ValueError, match=r"arms\.csv has no arms: a line for each is needed under the header"):
        from_csv(file("mean\n"))


@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n\xff\xfe", b"mean\n0.5\n\xff\n", "mean\n0.5\n".encode("utf-16")]
)
def test_a_file_that_is_no_text_is_refused_by_name(file, content):
    """Where text breaks off in the middle of a byte there are no lines to count."""
    with pytest.raises(ValueError, match=r"arms\.csv is not a CSV file in UTF-8: "):
        from_csv(file(content))


def test_a_file_that_is_not_there_is_an_error_of_the_file_system(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.csv"):
        from_csv(tmp_path / "nothing.csv")
