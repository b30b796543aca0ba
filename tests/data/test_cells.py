import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.data.cells import MISSING, Cell, read_cell, write_range, write_set, write_value

TEXTS = st.one_of(
    st.text(max_size=12),
    st.text(alphabet='[]{}" ,-\\\n1a', max_size=8),
    st.sampled_from(["", MISSING, "a or missing", "[1 - 2]", "{a, b}", "[1 - 2] or missing"]),
)
SETS = st.lists(TEXTS, min_size=1, max_size=4, unique=True)


@pytest.mark.parametrize(
    ("cell", "content"),
    [
        ("", Cell((), may_be_missing=True)),
        (None, Cell((), may_be_missing=True)),
        ("Milan", Cell(("Milan",))),
        ("20121", Cell(("20121",))),
        ("Milan or missing", Cell(("Milan",), may_be_missing=True)),
        ("[1 - 2]", Cell(("1", "2"), is_range=True)),
        ("[-5 - -1.5]", Cell(("-5", "-1.5"), is_range=True)),
        ("[.5 - 1e+20]", Cell((".5", "1e+20"), is_range=True)),
        ("[1 - 2] or missing", Cell(("1", "2"), is_range=True, may_be_missing=True)),
        ("[1960-01-01 - 1980-12-31]", Cell(("1960-01-01", "1980-12-31"), is_range=True)),
        ("[08:00 - 23:59:59.5]", Cell(("08:00", "23:59:59.5"), is_range=True)),
        (
            "[2019-01-01 08:00:00 - 2019-01-01T09:30Z]",
            Cell(("2019-01-01 08:00:00", "2019-01-01T09:30Z"), is_range=True),
        ),
        (
            "[2019-01-01 08:00+0100 - 2019-07-01 08:00+02:00]",
            Cell(("2019-01-01 08:00+0100", "2019-07-01 08:00+02:00"), is_range=True),
        ),
        ("{a, b}", Cell(("a", "b"))),
        ("{a b, c-d, 1} or missing", Cell(("a b", "c-d", "1"), may_be_missing=True)),
        ('{"a, b", "", "say \\"hi\\"", c}', Cell(("a, b", "", 'say "hi"', "c"))),
        ('""', Cell(("",))),
        ('"[1 - 2]"', Cell(("[1 - 2]",))),
        ('"a or missing" or missing', Cell(("a or missing",), may_be_missing=True)),
        ("[1 - 2", Cell(("[1 - 2",))),
        ("[a - b]", Cell(("[a - b]",))),
    ],
)
def test_read_cell_of_every_shape(cell, content):
    assert read_cell(cell) == content


@pytest.mark.parametrize(
    ("values", "cell"),
    [
        (["Milan"], "Milan"),
        ([""], '""'),
        (["[1 - 2]"], '"[1 - 2]"'),
        (["[Milan]"], "[Milan]"),
        (["{a, b}"], '"{a, b}"'),
        (['"'], '"\\""'),
        (["a or missing"], '"a or missing"'),
        (["a", "b"], "{a, b}"),
        (["a, b", "c"], '{"a, b", c}'),
        (["", " a", "a\nb"], '{"", " a", "a\\nb"}'),
        (["é", "{"], '{é, "{"}'),
        (["{é"], '"{é"'),
        (["é,", "X"], '{"é,", X}'),
        (["X {"], "X {"),
    ],
)
def test_write_set_quotes_only_where_needed(values, cell):
    assert write_set(values) == cell


def test_write_range_gives_the_value_where_both_ends_are_the_same():
    assert write_range("5", "5") == "5"
    assert write_range("5", "6") == "[5 - 6]"


@pytest.mark.parametrize(
    "cell",
    [
        "{",
        "{}",
        "{a}",
        "{a",
        "{a, b",
        "{a,b}",
        "{a, b, }",
        "{a, b}}",
        "{a, b} or",
        "{{a}, b}",
        '{a, "b}',
        '{a, "b" c}',
        '"',
        '"a',
        '"a" "b"',
        '"a\\x"',
        '"a\nb"',
        '"a", "b"',
        '{"a", "b"\n}',
        " or missing",
        "[1 - 1]",
    ],
)
def test_read_cell_refuses_what_is_malformed(cell):
    with pytest.raises(ValueError, match=r"^not a"):
        read_cell(cell)


@given(TEXTS, st.booleans())
def test_a_value_is_read_back_as_it_was(value, missing):
    cell = write_value(value) + MISSING * missing
    assert read_cell(cell) == Cell((value,), may_be_missing=missing)


@given(SETS, st.booleans())
def test_a_set_is_read_back_as_it_was(values, missing):
    cell = write_set(values) + MISSING * missing
    assert read_cell(cell) == Cell(tuple(values), may_be_missing=missing)


@given(SETS, st.booleans(), SETS, st.booleans())
def test_different_contents_never_give_the_same_cell(one, one_missing, other, other_missing):
    cells = write_set(one) + MISSING * one_missing, write_set(other) + MISSING * other_missing
    assert (cells[0] == cells[1]) == ((one, one_missing) == (other, other_missing))


@given(TEXTS, st.integers(), st.integers())
def test_a_text_is_never_taken_for_a_range(value, low, high):
    assert not read_cell(write_value(value)).is_range
    assert write_value(value) != f"[{low} - {high}]"
