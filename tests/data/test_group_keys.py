"""Keys of groups from a file: a header of columns, and every key once."""

import hashlib

import pytest

from policy_engine.data.group_keys import read_group_keys
from policy_engine.errors import DataError


def test_keys_are_texts_in_the_order_of_the_file():
    content = b'age,sex\n007,f\n"a, b",\n'
    keys = read_group_keys(content)
    assert keys.of(["sex", "age"]) == (("f", "007"), ("", "a, b"))
    assert keys.digest == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"sex\n", "no key"),
        (b"sex,sex\nf,f\n", "two columns have one name"),
        (b"sex,age\nf\n", "row 2"),
        (b"sex\nf\nf\n", "twice"),
        (b"sex\n\xff\n", "UTF-8"),
    ],
)
def test_files_that_are_no_keys_are_refused(content, fault):
    with pytest.raises(DataError, match=fault) as error:
        read_group_keys(content, "keys.csv")
    assert error.value.problems[0].code == "C016"


def test_keys_of_other_columns_are_refused():
    with pytest.raises(DataError, match="Groups are by 'age'"):
        read_group_keys(b"sex\nf\n").of(["age"])
