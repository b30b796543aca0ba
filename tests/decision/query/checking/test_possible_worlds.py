"""What is withheld does not depend on the secret of one person."""

from itertools import combinations, count, product

import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from everyday import everyday, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.decision.query.checking import possible_worlds
from policy_engine.decision.query.checking.population_conditions import PopulationCondition
from policy_engine.decision.query.checking.possible_worlds import PossibleWorlds

CHECK = ("pe:outputCheck", "eq", "dwb-2015")
UNIT = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"})


def patients(ill=lambda number: number % 3 == 0, **more):
    """Return 120 persons of two regions, with pay; every third is ill unless told otherwise."""
    numbers = range(120)
    columns = {
        "id": list(numbers),
        "region": ["north" if number % 2 else "south" for number in numbers],
        "age": [20 + number % 50 for number in numbers],
        "pay": [1000.0 + number for number in numbers],
        "year": [2024 for _ in numbers],
        "ill": [ill(number) for number in numbers],
    }
    return pa.table(columns | {name: list(map(one, numbers)) for name, one in more.items()})


@pytest.fixture
def ask(tmp_path):
    """Return a function that answers queries about T, one after another, with one ledger."""
    numbers = count()

    def answers(table, *queries, refinements=(UNIT,)):
        policy = policy_with(CHECK, *refinements)
        ledger = tmp_path / f"outputs-{next(numbers)}"
        return [
            query_data(sql, [policy], RESEARCHER, {TABLE: table}, output_ledger=ledger)
            for sql in queries
        ]

    return answers


def seen(results):
    """Return all that who asks sees of answers, but for the figures."""
    return [
        (
            one.permitted,
            sorted(reason.code for reason in one.reasons),
            one.checked and one.checked.codes,
            one.checked and one.checked.outcome,
            one.checked and [(cell.row, cell.column) for cell in one.checked.suppressed],
            one.table and one.table.num_rows,
        )
        for one in results
    ]


ALONE = {
    "one among chosen ones": "id BETWEEN 20 AND 29 OR (id = 10 AND ill)",
    "nine and one": "id BETWEEN 20 AND 28 OR (id = 10 AND ill)",
    "one less": "id BETWEEN 40 AND 60 AND NOT (id = 50 AND ill) OR (id = 10 AND ill)",
    "all of the chosen": "id BETWEEN 0 AND 20 AND (ill OR id <> 10)",
    "a comparison of truths": "(id BETWEEN 20 AND 28) >= (ill = (id <> 10)) AND id < 30",
    "a choice": "CASE WHEN id = 10 THEN ill ELSE id BETWEEN 20 AND 28 END",
    "a number": "id BETWEEN 20 AND 28 OR id * CAST(ill AS INT) = 10",
    "what is computed": "id BETWEEN 20 AND 28 OR COALESCE(NULLIF(ill, id <> 10), FALSE)",
    "a failing cast": "CAST(CASE WHEN id = 10 AND ill THEN 'x' ELSE '1' END AS INT) = id // id",
}


FORMS = ["COUNT(*) FROM T WHERE {}", "COUNT(*) FILTER (WHERE {}) FROM T"]


@pytest.mark.one_in(18)
@pytest.mark.parametrize("condition", ALONE.values(), ids=ALONE)
@pytest.mark.parametrize("query", FORMS)
def test_one_answer_does_not_tell_whether_a_chosen_person_is_ill(ask, condition, query):
    sql = "SELECT " + query.format(condition)
    results = [
        ask(patients(lambda n, i=i: i if n == 10 else n % 3 == 0), sql) for i in (True, False)
    ]
    assert seen(results[0]) == seen(results[1])
    assert not results[0][0].permitted


CHOSEN = "(id BETWEEN 20 AND 28 OR (id = 10 AND ill))"


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) FROM (SELECT {CHOSEN} AS f FROM T) WHERE f",
        f"SELECT COUNT(*) FROM (SELECT * FROM T WHERE {CHOSEN}) AS s",
        (
            "WITH s AS (SELECT id, ill AS f FROM T WHERE id BETWEEN 10 AND 28) "
            "SELECT COUNT(*) FROM s WHERE id >= 20 OR (id = 10 AND f)"
        ),
        f"SELECT ill, COUNT(*) FROM T WHERE {CHOSEN} GROUP BY ill",
        f"SELECT AVG(pay) FROM T WHERE {CHOSEN}",
        f"SELECT AVG({CHOSEN}) FROM T WHERE id < 60",
        f"SELECT SUM(CASE WHEN {CHOSEN} THEN 1 ELSE 0 END) FROM T",
        f"SELECT SUM(CASE WHEN {CHOSEN} THEN pay END) FROM T",
    ],
)
def test_conditions_are_read_wherever_they_are_written(ask, sql):
    worlds = [patients(lambda n, i=i: i if n == 10 else n % 3 == 0) for i in (True, False)]
    results = [ask(one, sql) for one in worlds]
    assert seen(results[0]) == seen(results[1])
    assert not results[0][0].permitted


@pytest.mark.nightly
def test_nobody_learns_that_all_of_a_chosen_group_are_ill(ask):
    sql = "SELECT COUNT(*) AS n FROM T WHERE id BETWEEN 0 AND 19 AND ill"
    for well in (0, 1, 9):
        [result] = ask(patients(lambda n, well=well: n >= well), sql)
        assert not result.permitted
    [result] = ask(patients(lambda n: n >= 10), sql)
    assert result.table.to_pylist() == [{"n": 10}]


def test_the_only_one_who_could_be_ill_is_not_told_from_nobody(ask):
    sql = "SELECT COUNT(*) FROM T WHERE id BETWEEN 20 AND 28 OR (id = 10 AND ill)"
    results = [ask(patients(lambda n, i=i: i and n == 10), sql) for i in (True, False)]
    assert seen(results[0]) == seen(results[1])


PASSES = {
    "COUNT(*) AS n, SUM(pay) AS s, AVG(pay) AS m FROM T WHERE region = 'north'": lambda n: n % 2,
    "COUNT(*) AS n FROM T WHERE region = 'north' AND age BETWEEN 30 AND 49": (
        lambda n: n % 2 and 10 <= n % 50 < 30
    ),
    "COUNT(*) AS n FROM T WHERE ill": lambda n: n % 3 == 0,
    "COUNT(*) AS n FROM T WHERE pay IS NOT NULL AND region = 'north'": lambda n: n % 2,
    "COUNT(*) AS n FROM T WHERE age >= 40 OR region = 'north'": lambda n: n % 50 >= 20 or n % 2,
    "COUNT(*) FILTER (WHERE ill) AS n FROM T WHERE region = 'north'": lambda n: n % 6 == 3,
    "SUM(CASE WHEN ill THEN 1 ELSE 0 END) AS n FROM T WHERE age < 45": (
        lambda n: n % 3 == 0 and n % 50 < 25
    ),
    "COUNT(pay) AS n FROM T WHERE LEFT(region, 1) = 'n'": lambda n: n % 2,
    "COUNT(*) AS n FROM T WHERE CAST(age AS VARCHAR) LIKE '3%'": lambda n: 10 <= n % 50 < 20,
    "COUNT(*) AS n FROM (SELECT *, age + 1 AS older FROM T WHERE ill) WHERE older > 40": (
        lambda n: n % 3 == 0 and n % 50 >= 20
    ),
    "COUNT(*) AS n FROM T WHERE TRUE": lambda n: True,  # noqa: ARG005
}


@pytest.mark.one_in(24)
@pytest.mark.parametrize(("sql", "is_in"), PASSES.items(), ids=PASSES)
@pytest.mark.parametrize("refinements", [(), (UNIT,)])
def test_ordinary_conditions_are_answered(ask, sql, is_in, refinements):
    [result] = ask(patients(), f"SELECT {sql}", refinements=refinements)
    assert result.checked.suppressed == ()
    assert result.table["n"].to_pylist() == [sum(bool(is_in(n)) for n in range(120))]


GROUPED = [
    "SELECT region, COUNT(*) AS n FROM T GROUP BY region",
    "SELECT region, COUNT(*) AS n FROM T WHERE region <> 'east' GROUP BY region",
    "SELECT region, COUNT(*) AS n FROM T WHERE ill GROUP BY region",
    "SELECT region, COUNT(*) AS n FROM T WHERE age < 45 GROUP BY ROLLUP (region)",
    "SELECT age // 10 AS a, COUNT(*) AS n FROM T WHERE age BETWEEN 30 AND 59 GROUP BY age // 10",
]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("sql", GROUPED)
def test_keys_are_known_and_tell_nothing_by_being_asked_for(ask, sql):
    [result] = ask(patients(), sql)
    assert result.checked.suppressed == ()
    assert None not in result.table["n"].to_pylist()


SECRETS_AS_KEYS = [
    "SELECT ill, {} FROM T WHERE id BETWEEN 20 AND 110 OR (id = 10 AND ill) GROUP BY ill",
    "SELECT NOT ill AS k, {} FROM T WHERE id BETWEEN 20 AND 110 OR (id = 10 AND ill) GROUP BY k",
    (
        "SELECT ill, region, {} FROM T WHERE id BETWEEN 20 AND 110 OR ill AND (id = 10 OR "
        "region = 'north') GROUP BY ill, region"
    ),
    (
        "SELECT ill, {} FROM (SELECT * FROM T WHERE id BETWEEN 20 AND 110 OR (id = 10 AND ill)) s"
        " GROUP BY ROLLUP (ill)"
    ),
]


def in_turn(first, second):
    """Return all pairs; by day, each of the first with one of the second, which take turns."""
    pairs = [(one, other) for one in first for other in second]
    turns = [(one, second[number % len(second)]) for number, one in enumerate(first)]
    return everyday(pairs, *turns)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", in_turn(SECRETS_AS_KEYS, ["COUNT(*) AS n", "AVG(pay)"]))
def test_cells_by_a_secret_do_not_tell_together_who_has_it(ask, case):
    sql, item = case
    worlds = [patients(lambda n, i=i: i if n == 10 else n % 3 == 0) for i in (True, False)]
    results = [ask(one, sql.format(item)) for one in worlds]
    assert seen(results[0]) == seen(results[1])
    assert not any(one[0].permitted for one in results)


@pytest.mark.nightly
def test_secret_as_a_key_is_not_read_by_conditions_of_aggregates(ask):
    sql = "SELECT ill, COUNT(*) FILTER (WHERE id > 20 OR (id = 10 AND ill)) FROM T GROUP BY ill"
    for world in (True, False):
        [result] = ask(patients(lambda n, i=world: i if n == 10 else n % 3 == 0), sql)
        assert not result.permitted


ALWAYS, NEVER = (
    ["ill = ill", "ill IN (TRUE, FALSE)", "year > 0", "ill = (diagnosis = 'flu')"],
    ["ill <> ill", "ill NOT IN (TRUE, FALSE)", "year > 9999", "ill <> (diagnosis = 'flu')"],
)


@pytest.mark.nightly
@pytest.mark.parametrize("case", in_turn([*zip(ALWAYS, NEVER, strict=True)], FORMS))
def test_what_is_always_true_is_not_a_secret_of_enough_persons(ask, case):
    (always, never), query = case
    others = (
        f"(id <> 10 AND region = 'north' AND {always})",
        (f"(id <> 10 AND region = 'south' AND {never})"),
    )
    sql = "SELECT " + query.format(" OR ".join(("(id = 10 AND ill)", *others)))
    for world in (True, False):

        def is_ill(number, world=world):
            return world if number == 10 else number % 3 == 0

        def diagnosis(number, is_ill=is_ill):
            return "flu" if is_ill(number) else "none"

        [result] = ask(patients(is_ill, diagnosis=diagnosis), sql)
        assert not result.permitted


@pytest.mark.nightly
def test_what_one_person_alone_may_have_is_not_a_secret_of_enough_persons(ask):
    sql = (
        "SELECT COUNT(*) FROM T WHERE (id = 10 AND x = 1) OR "
        "(id <> 10 AND region = 'north' AND x <> 1) OR (id <> 10 AND region = 'south' AND x = 1)"
    )
    for world in (1, 0):
        [result] = ask(patients(x=lambda n, world=world: world if n == 10 else 0), sql)
        assert not result.permitted


KEYS_OF_SEVERAL_COLUMNS = [
    "SELECT CASE WHEN id = 10 THEN ill ELSE region = 'north' END AS k, COUNT(*) FROM T GROUP BY k",
    "SELECT CASE WHEN id = 10 AND ill THEN 'south' ELSE region END, SUM(pay) FROM T GROUP BY 1",
    "SELECT k, COUNT(*) FROM (SELECT region = 'north' OR ill AS k FROM T) AS s GROUP BY k",
    "SELECT region, COUNT(*) FROM T GROUP BY ROLLUP (region, COALESCE(id = 10, ill))",
]


@pytest.mark.parametrize("sql", KEYS_OF_SEVERAL_COLUMNS)
def test_key_of_several_columns_is_refused_whoever_is_ill(ask, sql):
    for world in (True, False):
        [result] = ask(patients(lambda n, i=world: i if n == 10 else n % 3 == 0), sql)
        assert [one.code for one in result.reasons] == ["K017"]
        assert result.table is None


def test_keys_of_one_column_each_are_answered(ask):
    cases = {
        "ROUND(age, -1)": 6,
        "CASE WHEN age < 40 THEN 'young' ELSE 'old' END": 2,
        "UPPER(region)": 2,
        "CASE WHEN age < 40 THEN 'young' END, region": 4,
    }
    for keys, number in cases.items():
        [result] = ask(patients(), f"SELECT {keys}, COUNT(*) AS n FROM T GROUP BY ALL")
        assert result.checked.suppressed == ()
        assert result.table.num_rows == number


def test_condition_that_holds_of_everybody_is_withheld_with_a_reason_for_the_owner(ask):
    for condition in ("year = 2024", "age < 200", "id >= 0", "age < 69"):
        [result] = ask(patients(), f"SELECT COUNT(*) AS n FROM T WHERE {condition}")
        assert result.checked.codes == ("K049",)
        [cell] = result.checked.judged.cells()
        assert [reason.value for reason in cell.reasons] == ["K003"]


@pytest.mark.nightly
def test_what_would_pass_is_told_of_conditions_whatever_withholds_a_cell(ask):
    """Too few who do not satisfy a condition, too few who do, or few of a secret."""
    for condition in ("age < 200", "id < 3", "ill AND id < 20"):
        [result] = ask(patients(), f"SELECT COUNT(*) AS n FROM T WHERE {condition}")
        assert "nearly everybody or nearly nobody" in result.checked.advice
    few = patients(lambda number: number < 3)
    [filtered] = ask(few, "SELECT COUNT(*) FILTER (WHERE ill) AS n FROM T")
    assert filtered.checked.advice
    plain, shown = ask(
        few, "SELECT ill, COUNT(*) AS n FROM T GROUP BY ill", "SELECT AVG(pay) AS n FROM T"
    )
    assert (plain.checked.advice, shown.checked.advice) == ("", "")
    assert "K049" in plain.checked.codes


def visits(ill):
    """Return two rows of each of 120 persons, of which some are ill."""
    return pa.table({"id": [n // 2 for n in range(240)], "ill": [ill(n) for n in range(240)]})


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("ill", "is_shown"),
    [(lambda n: n % 14 == 0, True), (lambda n: n // 2 % 14 == 0, False)],
    ids=["18 rows of 18 persons", "18 rows of 9 persons"],
)
def test_rows_count_as_the_persons_that_they_are_of(ask, ill, is_shown):
    rows = visits(ill)
    [some] = ask(rows, "SELECT COUNT(*) AS n FROM T WHERE ill")
    [others] = ask(rows, "SELECT COUNT(*) AS n FROM T WHERE NOT ill")
    assert some.permitted is is_shown
    assert others.permitted is is_shown


@pytest.mark.one_in(2)
@pytest.mark.parametrize("last", [110, 111])
def test_answers_of_several_rows_differ_by_at_least_ten_persons(ask, last):
    everybody = "SELECT COUNT(*) AS n FROM T"
    few = f"SELECT COUNT(*) AS n FROM T WHERE id < {last}"
    [_, rest] = ask(visits(lambda n: n % 2 == 0), everybody, few)
    # Twenty rows of ten persons are enough, eighteen of nine are not.
    assert rest.permitted is (last == 110)


@pytest.mark.nightly
def test_more_columns_than_are_looked_at_are_for_a_person(ask):
    more = {f"c{number}": lambda n, number=number: n % (number + 2) for number in range(7)}
    condition = " OR ".join(f"c{number} = 0" for number in range(7))
    [result] = ask(patients(**more), f"SELECT COUNT(*) AS n FROM T WHERE {condition}")
    assert ([one.code for one in result.reasons], result.checked) == (["K046"], None)
    [result] = ask(patients(**more), f"SELECT c0, COUNT(*) FROM T WHERE {condition} GROUP BY c0")
    assert result.checked is not None


def test_more_pairs_than_are_looked_at_are_for_a_person(ask, monkeypatch):
    sql = "SELECT COUNT(*) AS n FROM T WHERE pay - 1000 > age"
    [result] = ask(patients(), sql)
    assert result.table["n"].to_pylist() == [sum(n > 20 + n % 50 for n in range(120))]
    monkeypatch.setattr(possible_worlds, "MOST_PAIRS", 100)
    [result] = ask(patients(), sql)
    assert result.checked.codes == ("K046",)


# -- what is counted, against the definition -----------------------------------------------------

LEAST = 3


def reasons_against(table, condition):
    """Return the reasons against the one cell of those whom a condition holds of."""
    where = PopulationCondition((sqlglot.parse_one(condition, dialect="duckdb"),))
    source = sqlglot.parse_one("FROM t", dialect="duckdb")
    worlds = PossibleWorlds.of(source, [], [where], {"t": table}, LEAST)
    [counts] = worlds.counts((), pa.table({"cell": [0]}), np.zeros((1, 0), np.int64))
    return int(counts.reasons[0])


def telling_rows(rows, holds):
    """Return how many rows tell something, inside and outside, for each set of secret columns: of
    all answers, and of common ones alone."""
    counts, common = {}, common_values(rows)
    for secret in (one for size in (1, 2, 3) for one in combinations(("a", "b", "id"), size)):
        own = [{name: row[name] for name in secret} for row in rows]
        values = list(own)
        for name in {*secret} - {"id"}:
            for missing in {True, False} - {row[name] for row in rows}:
                values += [{**one, name: missing} for one in values]
        forced = {name: value for name, value in common.items() if name in secret}
        pairs = [
            divided(
                [row for row in rows if len({holds({**row, **one}) for one in some}) > 1], holds
            )
            for some in (values, [{**one, **forced} for one in own])
        ]
        counts[secret] = (*pairs[0], *pairs[1]) if sum(pairs[0]) else ()
    return counts


def varies(row, secrets, holds):
    return len({holds({**row, **one}) for one in secrets}) > 1


def divided(rows, holds):
    inside = sum(map(holds, rows))
    return inside, len(rows) - inside


def common_values(rows):
    """Return the value of the columns that fewer than enough rows have the other value of."""
    numbers = {name: sum(row[name] for row in rows) for name in "ab"}
    return {
        name: number > len(rows) - number
        for name, number in numbers.items()
        if min(number, len(rows) - number) < LEAST
    }


def is_told(counts):
    return any(pair and min(pair) < LEAST for pair in counts.values())


ATOMS = {"a": "a", "b": "NOT b", "id": "id <= 4"}
SHAPES = [
    *(f"{{}} {one} ({{}} {other} {{}})" for one, other in product(("AND", "OR"), repeat=2)),
    "({} AND {}) OR NOT {}",
]


@pytest.mark.nightly
@settings(max_examples=examples(24, times=80))
@given(
    bits=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=8, max_size=14),
    shape=st.sampled_from(SHAPES),
    order=st.permutations(["a", "b", "id"]),
    person=st.integers(0, 7),
    secret=st.sampled_from("ab"),
)
def test_cell_is_withheld_by_the_definition_and_the_secret_of_one_matters_only_at_the_threshold(
    bits, shape, order, person, secret
):
    condition = shape.format(*(ATOMS[name] for name in order))
    code = shape.format(*order).replace("AND", "and").replace("OR", "or").replace("NOT", "not")

    def holds(row):
        values = {"a": row["a"], "b": not row["b"], "id": row["id"] <= 4}
        return bool(eval(code, {}, values))

    counts, common = [], []
    for flips in (False, True):
        rows = [{"a": a, "b": b, "id": number} for number, (a, b) in enumerate(bits)]
        rows[person][secret] ^= flips
        counts.append(telling_rows(rows, holds))
        common.append(common_values(rows))
        assert bool(reasons_against(pa.Table.from_pylist(rows), condition)) == is_told(counts[-1])
    one, other = counts
    if is_told(one) != is_told(other):
        crossed = [
            key
            for key in one
            if one[key] and other[key] and (min(one[key]) < LEAST) != (min(other[key]) < LEAST)
        ]
        assert crossed or common[0] != common[1]


def rows_seen(sql, worlds, ask):
    """Return what is seen of the answer in each world, the rows in their order, without figures."""
    results = [ask(one, sql) for one in worlds]
    keys = ("region", "ill", "age")
    return [
        (
            seen(one),
            [{k: v for k, v in row.items() if k in keys} for row in one[0].table.to_pylist()]
            if one[0].table is not None
            else None,
        )
        for one in results
    ]


@pytest.mark.nightly
@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT region, ill, COUNT(*) AS n FROM T WHERE id = 10 GROUP BY region, ill",
        "SELECT region, ill, COUNT(*) AS n FROM T WHERE id = 10 GROUP BY ROLLUP (ill, region)",
        "SELECT region, ill, COUNT(*) AS n FROM T WHERE id = 10 GROUP BY 1, 2 ORDER BY n DESC",
        "SELECT ill, COUNT(*) AS n FROM T WHERE id BETWEEN 5 AND 14 GROUP BY ill",
        "SELECT ill, COUNT(*) AS n FROM T WHERE id BETWEEN 5 AND 13 OR id = 10 GROUP BY ill",
        "SELECT ill FROM T WHERE id = 10 GROUP BY ill",
    ],
)
@pytest.mark.parametrize("others", [lambda n: n % 3 == 0, lambda n: not 5 <= n < 25])
def test_rows_and_their_order_do_not_tell_who_has_which_key(ask, sql, others):
    worlds = [patients(lambda n, i=i: i if n == 10 else others(n)) for i in (True, False)]
    one, other = rows_seen(sql, worlds, ask)
    assert one == other


def test_rows_are_in_the_order_of_their_keys(ask):
    sql = "SELECT region, ill, COUNT(*) AS n FROM T WHERE id > 9 GROUP BY ROLLUP (region, ill)"
    [result] = ask(patients(), sql)
    keys = [(row["region"], row["ill"]) for row in result.table.to_pylist()]
    inner = list(product(("north", "south"), (False, True)))
    assert keys == [*inner, ("north", None), ("south", None), (None, None)]
