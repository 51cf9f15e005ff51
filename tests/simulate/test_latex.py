r"""A LaTeX table for a paper: its cells line up, its math is math, names are escaped, and only who wins is bold."""

import re

import numpy as np
import pytest

from bestbefore.simulate import Table


def table_of(means, runs=8, spread=0.01):
    """Make a table around means by rule and memory."""
    luck = np.random.default_rng(0).normal(0, spread, (len(means), runs))
    return Table(
        [
            {"keep": keep, "memory": memory, "run": run, "mean": float(mean + luck[place, run])}
            for place, ((keep, memory), mean) in enumerate(means.items())
            for run in range(runs)
        ]
    )


MEANS = {("bucket", 4): 0.4, ("staircase", 4): 0.2, ("bucket", 10): 0.1, ("staircase", 10): 0.1}


def parts(text):
    """Return the head and the body of a tabular, cell by cell, after checking that they line up."""
    found = re.search(r"\\begin\{tabular\}\{([lcr]+)\}(.*)\\end\{tabular\}", text, re.DOTALL)
    lines = [line.strip() for line in found[2].strip().splitlines()]
    assert [line for line in lines if not line.endswith("\\\\")] == ["\\toprule", "\\midrule", "\\bottomrule"]
    assert (lines[0], lines[2]) == ("\\toprule", "\\midrule")
    rows = [re.split(r"(?<!\\) & ", line.removesuffix(" \\\\")) for line in lines if line.endswith("\\\\")]
    assert {len(row) for row in rows} == {len(found[1])}
    return rows[0], rows[1:]


def test_a_row_for_each_memory_and_a_column_for_each_rule():
    head, body = parts(table_of(MEANS).to_latex("mean"))
    assert head == ["memory", "bucket", "staircase"]
    assert [row[0] for row in body] == ["$4$", "$10$"]


def test_the_winner_is_bold_where_the_difference_is_significant():
    _, (clear, close) = parts(table_of(MEANS).to_latex("mean"))
    assert [r"\mathbf" in cell for cell in clear] == [False, False, True]
    assert [r"\mathbf" in cell for cell in close] == [False, False, False]


def test_the_highest_can_win_or_nobody():
    _, (clear, _) = parts(table_of(MEANS).to_latex("mean", best="highest"))
    assert [r"\mathbf" in cell for cell in clear] == [False, True, False]
    assert "bf" not in table_of(MEANS).to_latex("mean", best=None)


@pytest.mark.parametrize(
    ("spread", "form"),
    [
        ("error", r"\$\\mathbf\{(?P<mean>0\.\d{4})\} \\pm (?P<se>0\.\d{4})\$"),
        ("interval", r"\$\\mathbf\{(?P<mean>0\.\d{4})\}\\ \[(?P<start>0\.\d{4}), (?P<end>0\.\d{4})\]\$"),
        (None, r"\$\\mathbf\{(?P<mean>0\.\d{4})\}\$"),
    ],
)
def test_a_cell_has_a_mean_and_its_error_or_interval(spread, form):
    table = table_of(MEANS)
    [row] = table.where(keep="staircase", memory=4).summary("keep", "mean")
    names = {"mean": "mean", "se": "mean_se", "start": "mean_from", "end": "mean_to"}
    cell = parts(table.to_latex("mean", spread=spread))[1][0][2]
    for name, text in re.fullmatch(form, cell).groupdict().items():
        assert float(text) == round(row[names[name]], 4)


@pytest.mark.parametrize(
    ("values", "cell"),
    [
        ([12_345.0, 12_845.0], r"12{,}595 \pm 250"),
        ([0.00123, 0.00125], r"0.001240 \pm 0.000010"),
        ([1.0, 1.0], r"1.000 \pm 0.000"),
        ([0, 0], r"0 \pm 0"),
        ([True, False], r"0.50 \pm 0.50"),
        ([-3.5, -4.5], r"-4.00 \pm 0.50"),
        ([-0.1, 0.0999], r"0.00 \pm 0.10"),
        ([0.25], "0.2500"),
    ],
)
def test_a_mean_has_as_many_digits_as_its_error_deserves(values, cell):
    table = Table([{"keep": "fifo", "memory": 1, "run": run, "mean": value} for run, value in enumerate(values)])
    assert parts(table.to_latex("mean"))[1] == [["$1$", f"${cell}$"]]


def test_digits_can_be_said():
    _, body = parts(table_of(MEANS).to_latex("mean", digits=1))
    assert body[0][1:] == [r"$0.4 \pm 0.0$", r"$\mathbf{0.2} \pm 0.0$"]


def test_special_characters_are_escaped():
    names = [r"50% & more_{x}", r"~a\b^c", "<#$>"]
    table = Table([{"keep": name, "memory": "10%", "run": 0, "mean": 0.5} for name in names])
    head, body = parts(table.to_latex("mean"))
    assert head[1:] == [
        r"50\% \& more\_\{x\}",
        r"\textasciitilde{}a\textbackslash{}b\textasciicircum{}c",
        r"\textless{}\#\$\textgreater{}",
    ]
    assert body[0][0] == r"10\%"


def test_pairs_of_rules_and_several_settings():
    rows = [
        {"keep": "fifo", "pull": pull, "window": window, "memory": 1000, "run": run, "regret": run}
        for pull in ("ucb", "kl_ucb")
        for window in (10, 20)
        for run in range(2)
    ]
    head, body = parts(Table(rows).to_latex("regret", by=["window", "memory"]))
    assert head == ["window", "memory", r"fifo $\times$ ucb", r"fifo $\times$ kl\_ucb"]
    assert [row[:2] for row in body] == [["$10$", "$1{,}000$"], ["$20$", "$1{,}000$"]]


def test_a_rule_that_was_not_tried_with_a_memory_has_a_dash():
    del (means := dict(MEANS))["bucket", 10]
    assert parts(table_of(means).to_latex("mean"))[1][1][1] == "--"


def test_with_a_caption_it_floats_and_says_what_its_numbers_are():
    text = table_of(MEANS).to_latex("mean", caption="Errors for $W = 50$.", label="tab:errors")
    assert text.splitlines()[:4] == [
        r"\begin{table}",
        r"\centering",
        r"\caption{Errors for $W = 50$. Mean $\pm$ standard error over 8 runs. "
        r"Bold: lowest of its row at 95\% confidence (paired $t$ tests over runs, Bonferroni).}",
        r"\label{tab:errors}",
    ]
    assert text.endswith("\\end{tabular}\n\\end{table}\n")


def test_without_a_caption_a_comment_says_it():
    assert (
        table_of(MEANS)
        .to_latex("mean", spread="interval", confidence=0.9)
        .startswith(r"% Mean and 90\% confidence interval over 8 runs. Bold:")
    )
    assert table_of(MEANS, runs=1).to_latex("mean").startswith("% One run.\n\\begin{tabular}")


@pytest.mark.parametrize("spread", ["error", "interval", None])
def test_braces_are_balanced_and_math_can_be_set(spread):
    """There may be no LaTeX here, but matplotlib reads its math."""
    from matplotlib.mathtext import MathTextParser

    text = table_of(MEANS | {("bucket", 10): -12_345.6}).to_latex("mean", spread=spread, caption="Some.", label="x")
    plain = re.sub(r"\\[{}]", "", text)
    assert plain.count("{") == plain.count("}")
    assert re.findall(r"\\begin\{(\w+)\}", text) == re.findall(r"\\end\{(\w+)\}", text)[::-1]
    math = re.findall(r"(?<!\\)\$[^$]+\$", text)
    assert len(math) >= 6
    for one in math:
        MathTextParser("path").parse(one)


def test_it_is_written_to_a_file(tmp_path):
    text = table_of(MEANS).to_latex("mean", path=tmp_path / "table.tex")
    assert (tmp_path / "table.tex").read_text() == text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"spread": "range"}, "spread must be one of 'error', 'interval', not 'range'"),
        ({"digits": -1}, "digits must be a whole number of at least 0, not -1"),
        ({"best": "fastest"}, "best must be one of 'lowest', 'highest', not 'fastest'"),
        ({"label": "tab:x"}, "label must come with a caption, which it refers to, not 'tab:x' alone"),
        ({"by": ()}, "by and between must tell settings apart, but 2 rows at keep='bucket', run=0 differ in memory"),
    ],
)
def test_what_is_wrong_is_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        table_of(MEANS).to_latex("mean", **arguments)


def test_a_table_without_rows_cannot_be_set():
    with pytest.raises(ValueError, match="must have at least one row, and this table has none"):
        Table([], ["keep", "memory", "run", "mean"]).to_latex("mean")
