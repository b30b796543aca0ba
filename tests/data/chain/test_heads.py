"""Which head is held, and how it is written."""

import pytest

from policy_engine.data.chain.verification import Head
from policy_engine.errors import RequestError


@pytest.mark.parametrize(
    ("text", "head", "again"),
    [
        (f"12:{'Ab' * 32}", Head(12, "ab" * 32), f"12:{'ab' * 32}"),
        (f" {'a' * 64}\n", Head(-1, "a" * 64), "a" * 64),
        ("7", Head(7, ""), "7"),
        ("0", Head(0, ""), "0"),
    ],
)
def test_a_head_is_written_as_it_is_read(text, head, again):
    assert Head.of(text) == head
    assert str(head) == again
    assert Head.of(again) == head


@pytest.mark.parametrize(
    ("head", "held"),
    [
        (Head(2, "b" * 64), True),
        (Head(2, ""), True),
        (Head(-1, "b" * 64), True),
        (Head(3, "b" * 64), False),
        (Head(2, "c" * 64), False),
        (Head(1, ""), False),
        (Head(-1, "c" * 64), False),
    ],
)
def test_a_head_is_held_by_the_entry_that_has_all_of_it(head, held):
    assert head.is_at(2, "b" * 64) == held


def test_what_is_no_head_is_told_how_one_is_written():
    with pytest.raises(RequestError) as caught:
        Head.of("12:ab")
    [problem] = caught.value.problems
    assert problem.message == "A head is NUMBER:HASH, or one of the two. '12:ab' was given."
    assert problem.hint == "`log verify` prints it."
