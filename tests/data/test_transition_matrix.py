import pytest

from policy_engine.data.transition_matrix import read_matrix
from policy_engine.errors import DataError


def problems(text):
    with pytest.raises(DataError) as caught:
        read_matrix(text.encode(), "m.csv")
    assert {one.code for one in caught.value.problems} == {"T013"}
    return [one.message for one in caught.value.problems]


def test_a_matrix_has_its_categories_on_both_sides():
    matrix = read_matrix(b"\xef\xbb\xbf,a,b\r\na,0.9,.1\r\nb,0,1\r\n", "m.csv")
    assert matrix.categories == ("a", "b")
    assert matrix.rows == ((0.9, 0.1), (0.0, 1.0))


def test_another_probability_is_another_digest():
    one, other = (read_matrix(f",a,b\na,0.9,0.1\nb,{b}\n".encode(), "m") for b in ("0,1", "1,0"))
    assert one.digest != other.digest
    assert len(one.digest) == 64


@pytest.mark.parametrize("row", ["a,0.9,0.1000000001", "a,0.3333333333,0.6666666667"])
def test_a_row_may_be_short_of_one_by_what_rounding_takes(row):
    assert read_matrix(f",a,b\n{row}\nb,0,1\n".encode(), "m").categories == ("a", "b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "The matrix has 0 categories. Allowed are 1 to 300."),
        (",a,a\na,1,0\na,0,1\n", "The header has 1 categories twice."),
        (",a,\na,1,0\n,0,1\n", "The header has an empty category."),
        (",a,b\nb,1,0\na,0,1\n", "The first column has those of the header, in order."),
        (",a,b\na,1,0\n", "2 categories in its header, and 1 rows."),
        (",a,b\na,1\nb,0,1\n", "The row has 1 probabilities. Needed are 2."),
        (",a,b\na,x,0\nb,0,1\n", "'x' is not a probability. Allowed are numbers from 0 to 1."),
        (",a,b\na,-0.5,1.5\nb,0,1\n", "'-0.5' is not a probability."),
        (",a,b\na,nan,1\nb,0,1\n", "'nan' is not a probability."),
        (",a,b\na,90,10\nb,0,1\n", "'90' is not a probability."),
        (",a,b\na,0.9,0.2\nb,0,1\n", "The probabilities of the row sum to 1.1, not to 1."),
        (',a,b\na,"0.9,0.2\nb,0,1\n', "The matrix cannot be read as CSV"),
    ],
)
def test_what_is_not_a_matrix_of_probabilities_is_refused(text, message):
    assert any(message in one for one in problems(text))


def test_every_wrong_row_is_told_with_its_line():
    with pytest.raises(DataError) as caught:
        read_matrix(b",a,b\na,2,0\nb,0,0\n", "m.csv")
    assert [one.place.line for one in caught.value.problems] == [2, 3]
