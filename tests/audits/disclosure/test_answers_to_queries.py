"""A release and answers to queries on its original, checked by hand."""

import numpy as np
import pyarrow as pa

from policy_engine.audits.disclosure.answers import AnsweredQuery, answers_together
from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.kernels.estimates import NotApplicable

CITY = pa.table({"city": ["a", "a", "a", "b", "b", "b"]})


def release(own=(0, 1, 2, 3, 4, 5), rows=6):
    columns = known_columns(CITY, CITY.slice(0, rows), ["city"], None, {})
    return TwoFiles(columns, np.array(own), rows)


def answer(number, *cells):
    return AnsweredQuery(number, ("age",), np.array(cells))


def test_an_answer_about_all_of_a_class_but_one_gives_that_one_away():
    found = answers_together("a.csv", release(), [answer(1, 0, 0, -1, -1, -1, -1)])
    assert (found.columns, found.least, found.uniques) == (("city",), 3, 0)
    [one] = found.answers
    # Left of class a: two persons and one; of six, two halves, one, and three thirds are found.
    assert (one.linked.value, one.least, one.uniques) == (0.5, 1, 1)
    assert (one.gained, one.combined) == (1, 1)
    assert (one.cells, one.smallest) == (1, 2)
    assert (one.difference, one.beside) == (1, "a.csv")


def test_answers_are_put_together_one_after_the_other():
    queries = [answer(1, 0, 0, 1, 1, 0, 0), answer(4, 0, 1, 1, 1, 1, 1)]
    first, second = answers_together("a.csv", release(), queries).answers
    assert (first.query, first.uniques, first.difference) == (1, 2, None)
    # The first person is alone in the second answer, the one beside by both together.
    assert (second.query, second.uniques, second.gained, second.combined) == (4, 4, 2, 1)
    assert (second.smallest, second.difference, second.beside) == (1, 2, "a.csv")


def test_the_least_difference_is_between_sets_of_which_one_is_part_of_the_other():
    everybody, but_one = answer(1, 0, 0, 0, 0, 0, 0), answer(2, 0, 0, 0, 0, 0, -1)
    first, second = answers_together("a.csv", release(), [everybody, but_one]).answers
    assert (first.difference, first.beside) == (3, "a.csv")
    assert (second.difference, second.beside) == (1, "query 1")


def test_an_answer_about_nobody_has_no_cell():
    [one] = answers_together("a.csv", release(), [answer(1, *[-1] * 6)]).answers
    assert (one.cells, one.smallest, one.difference, one.uniques) == (0, 0, None, 0)


def test_persons_whom_the_release_lacks_are_told_apart_once_an_answer_is_about_them():
    found = answers_together(
        "a.csv",
        release(own=(0, 1, 2, 3, 4, -1), rows=5),
        [answer(1, 0, 0, 0, -1, -1, -1), answer(2, -1, -1, -1, -1, -1, 0)],
    )
    assert found.linked.value == round(2 / 6, 5)
    assert [one.uniques for one in found.answers] == [0, 1]


def test_answers_that_are_not_used_are_listed():
    unused = AnsweredQuery(3, ("pay",), NotApplicable(reason="it depends on pay"))
    found = answers_together("a.csv", release(), [unused])
    assert found.answers == ()
    assert [(one.query, one.reason) for one in found.not_used] == [(3, "it depends on pay")]
