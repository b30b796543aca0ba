"""Which answers no row, or few rows, give to the atoms of a condition."""

import pyarrow as pa
import sqlglot

from policy_engine.decision.query.checking.atom_answers import absent_answers, common_answers
from policy_engine.decision.query.checking.condition_leaves import Atom

# Seven rows are ill, two are not, of one nothing is known; nobody is older than 99.
ALIKE = pa.table(
    {
        "l0": [True, True, False, None],
        "l1": [30, 99, 60, 30],
        "n": [3, 4, 2, 1],
    }
)


def atom(name, sql, *, is_presence=False):
    expression = sqlglot.parse_one(sql, dialect="duckdb")
    return Atom(name, expression, frozenset({"t.a"}), is_presence)


def test_an_answer_that_no_row_gives_is_absent():
    atoms = [atom("o0", "l0"), atom("o1", "l1 > 99"), atom("o2", "l1 > 20")]
    assert absent_answers(atoms, ALIKE) == {"o0": (), "o1": (True,), "o2": (False,)}


def test_it_is_no_secret_that_values_are_there():
    atoms = [atom("o0", "NOT l1 IS NULL", is_presence=True), atom("o1", "l1 = 30")]
    assert absent_answers(atoms, ALIKE).keys() == {"o1"}


def test_rows_of_which_nothing_is_known_give_no_answer():
    # All that have one answer to it alone: the row without one is no other.
    assert absent_answers([atom("o0", "l0 OR NOT l0")], ALIKE) == {"o0": (False,)}


def test_an_answer_of_fewer_than_the_least_rows_leaves_the_more_common_one():
    atoms = [atom("o0", "l0"), atom("o1", "NOT l0"), atom("o2", "l1 = 30")]
    assert common_answers(atoms, ALIKE, 3) == {"o0": True, "o1": False}
    assert common_answers(atoms, ALIKE, 2) == {}
    # Four rows are of 30, six are not.
    assert common_answers(atoms[2:], ALIKE, 5) == {"o2": False}


def test_an_atom_that_fails_on_a_value_is_answered_by_the_others():
    table = pa.table({"l0": ["1", "x"], "n": [5, 6]})
    assert common_answers([atom("o0", "CAST(l0 AS INT) = 1")], table, 2) == {"o0": True}


def test_no_atoms_have_no_answers():
    assert absent_answers([], ALIKE) == common_answers([], ALIKE, 9) == {}
