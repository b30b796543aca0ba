"""How many rows are unique on what is kept exact, and how that is said."""

from collections import Counter

from policy_engine.audits.disclosure.unique_rows import (
    MOST_PAIRED,
    UniqueOn,
    UniqueRows,
    measure_uniques,
)
from policy_engine.kernels.estimates import NotApplicable

LOANS = {
    "amount": [500, 500, 700, 700, 900],
    "term": [36, 60, 36, 60, 36],
    "grade": list("AABBB"),
    "state": list("xxyyy"),
}


def counted(table, exact, quasi=()):
    def count(sets):
        rows = [Counter(zip(*map(table.__getitem__, one), strict=True)) for one in sets]
        return tuple(sum(times == 1 for times in one.values()) for one in rows)

    return measure_uniques(exact, quasi, count, len(next(iter(table.values()))))


def test_each_column_the_worst_pair_and_all_together_are_counted():
    figures = counted(LOANS, ["grade", "term", "amount"], ["state"])
    assert [one.rows for one in figures.alone] == [0, 0, 1]
    assert figures.pair == UniqueOn(columns=("term", "amount"), rows=5)
    assert figures.together == UniqueOn(columns=("grade", "term", "amount"), rows=5)
    assert figures.quasi_identifiers == UniqueOn(columns=("state",), rows=0)


def test_it_is_said_in_words_with_what_to_do():
    [sentence] = counted(LOANS, ["grade", "term", "amount"], ["state"]).sentences()
    assert sentence == (
        "5 of 5 rows are unique on grade, term and amount, which are kept exact (5 on term and "
        "amount alone, 1 on amount alone). Whoever knows these values of a person finds the row, "
        "however large k is: generalise them as quasi-identifiers, mask them, or leave them out."
    )


def test_of_an_input_quasi_identifiers_are_as_they_were():
    [first, second] = counted(LOANS, ["amount"], ["term", "amount"]).sentences(is_planned=True)
    assert first.startswith("1 of 5 rows is unique on amount, which would be kept exact. Whoever")
    assert second.startswith("5 of 5 rows are unique on term and amount before they are general")


def test_nothing_is_said_where_no_row_is_unique():
    figures = counted(LOANS, ["grade"], ["state"])
    assert [*figures.sentences()] == []
    assert [*figures.texts()] == [
        ("unique on what is kept exact", "0 of 5 rows (0.00%): grade"),
        ("unique on quasi-identifiers", "0 of 5 rows (0.00%)"),
    ]


def test_without_exact_columns_only_quasi_identifiers_are_told():
    assert counted(LOANS, [], ["state"]) == UniqueRows(
        rows=5, quasi_identifiers=UniqueOn(columns=("state",), rows=0)
    )


def test_pairs_are_counted_of_so_many_columns_alone():
    names = [f"c{number}" for number in range(MOST_PAIRED + 1)]
    figures = counted({name: [1, 2, 2] for name in names}, names)
    assert figures.pair == NotApplicable(reason="not counted of 21 columns, only of 20 or fewer")
    assert isinstance(counted({key: [1, 2] for key in names}, names[:-1]).pair, UniqueOn)
    assert "c5 and 15 other columns, which" in next(iter(figures.sentences()))
