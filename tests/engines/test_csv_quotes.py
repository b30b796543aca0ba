import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.engines.csv_quotes import check_line_quotes, checked_quotes
from policy_engine.errors import DataError

WITHIN = "A cell has a double quote, and is not in double quotes itself."
AFTER = "There is text after the closing quote of a cell."
OPEN = "A quoted cell is not closed."


def check(text, size=1 << 20, delimiter=","):
    """Check a text in chunks of some size."""
    chunks = [text[place : place + size] for place in range(0, len(text), size)]
    assert b"".join(checked_quotes(chunks, delimiter, "data.csv")) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a,b\n1,12" rod\n2,ok\n3,"secret\n4,ok\n', f"Line 2: {WITHIN}"),
        ('a,b\n1,"secret\n2,12" rod\n', f"Line 3: {AFTER}"),
        ('a,b\n1,"x"\n2,"secret\n3,4\n', f"Line 3: {OPEN}"),
        ('a,b\r1,"x"\r2,"secret\r3,4\r', f"Line 3: {OPEN}"),
        ('a,b\r\n"x"y,1\r\n', f"Line 2: {AFTER}"),
        ('a,b\n"x" y,1\n', f"Line 2: {AFTER}"),
        ('a,b\n"x""" "",1\n', f"Line 2: {AFTER}"),
        ('a,b\nx, "y"\n', f"Line 2: {WITHIN}"),
        ('a,b\nx""y,1\n', f"Line 2: {WITHIN}"),
        ('a;b\n"x",1;2\n', f"Line 2: {AFTER}"),
        ('a,b\n1,"', f"Line 2: {OPEN}"),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1 << 20])
def test_quotes_that_are_not_those_of_whole_cells_are_refused(text, message, size):
    with pytest.raises(DataError) as caught:
        check(text.encode(), size, ";" if ";" in text else ",")
    (problem,) = caught.value.problems
    assert (problem.code, problem.message) == ("C010", message)


def test_lines_in_any_order_are_refused_without_their_numbers():
    check_line_quotes(b'"x","y,z"\n"1",""\n', ",", "data.csv")
    with pytest.raises(DataError) as caught:
        check_line_quotes(b'"x","y,z"\n1,2"\n', ",", "data.csv")
    assert caught.value.problems[0].message == WITHIN


@pytest.mark.parametrize(
    "text",
    ['\ufeff"a",b\n1,"2"', '"a" ,"b"\t\n"","""x"""\n', '"a\n\nb",""\r\n"\r",1\r\n', "", '""'],
)
@pytest.mark.parametrize("size", [1, 2, 1 << 20])
def test_quoted_cells_of_all_kinds_are_whole(text, size):
    check(text.encode(), size)


@given(
    st.lists(st.lists(st.text('a",\n\r ;é', max_size=5), min_size=2, max_size=2)),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    st.integers(1, 9),
)
def test_whatever_python_writes_is_whole(rows, quoting, size):
    file = io.StringIO()
    csv.writer(file, quoting=quoting).writerows(rows)
    check(file.getvalue().encode(), size)


@given(st.text('a",\n', max_size=30), st.integers(1, 9))
def test_what_is_whole_is_read_alike_by_a_strict_reader(text, size):
    try:
        check(text.encode(), size)
    except DataError:
        return
    rows = [*csv.reader(io.StringIO(text, newline=""), strict=True)]
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    again = [*csv.reader(io.StringIO(file.getvalue(), newline=""), strict=True)]
    assert again == rows
