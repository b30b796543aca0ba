import pyarrow as pa
import pytest

from policy_engine.engines.column_proposals import propose_columns, repeats_persons

ROWS = 200


def parts(**columns):
    return {one.name: one for one in propose_columns(pa.table(columns))}


def test_columns_are_proposed_with_how_they_are_generalised():
    proposed = parts(
        email=[f"a{n}@example.com" for n in range(ROWS)],
        zip=[f"{20_000 + n % 80}" for n in range(ROWS)],
        born=pa.array(range(ROWS), pa.date32()),
        sex=["m", "f"] * (ROWS // 2),
        city=[f"City {n % 60}" for n in range(ROWS)],
        status=["paid", "due"] * (ROWS // 2),
        same=["x"] * ROWS,
    )
    assert {name: one.part for name, one in proposed.items()} == {
        "email": "identifier",
        "zip": "quasi-identifier",
        "born": "quasi-identifier",
        "sex": "quasi-identifier",
        "city": "quasi-identifier",
        "status": "sensitive",
        "same": "left out",
    }
    ways = {name: one.generalization for name, one in proposed.items() if one.generalization}
    assert ways == {"zip": "prefix", "born": "calendar", "city": "taxonomy"}
    assert proposed["city"].taxonomy.startswith("City ")


def test_what_would_be_kept_exact_and_tells_rows_apart_is_left_out():
    proposed = parts(sex=["m", "f"] * 100, income=list(range(ROWS)))
    assert proposed["income"].part in ("identifier", "left out")
    assert parts(sex=["m", "f"] * 100, wage=[n / 2 for n in range(ROWS)])["wage"].part == "left out"


def test_at_most_ten_columns_are_generalised():
    columns = {f"x{n}": [row % (n + 2) for row in range(ROWS)] for n in range(20)}
    chosen = [one.name for one in parts(**columns).values() if one.part == "quasi-identifier"]
    assert chosen == [f"x{n}" for n in range(10)]


def test_a_heavy_tail_is_warned_of():
    incomes = [*(20 + n % 100 for n in range(199)), 10**7]
    assert "times as far out" in parts(sex=["m", "f"] * 100, cost=incomes)["cost"].warning


def test_what_a_person_says_holds():
    table = pa.table({"sex": ["m", "f"] * 100, "x": [n % 5 for n in range(ROWS)]})
    proposed = {one.name: one for one in propose_columns(table, {"x": "sensitive"})}
    assert (proposed["x"].part, proposed["x"].reason) == ("sensitive", "You said so.")


def test_codes_of_occupations_have_their_taxonomy_as_numbers_too():
    codes = [2512, 2513, 2221, 5120, 9111, 1120] * 20
    table = pa.table({"isco08": codes, "age": list(range(120))})
    [column, _] = propose_columns(table)
    assert column.generalization == "taxonomy"
    assert "2512;251;" in column.taxonomy
    assert "ISCO-08" in column.reason


def visits(**columns):
    """Return a table of 60 persons with ten rows each, and a column of theirs."""
    persons = [n % 60 for n in range(600)]
    of_persons = {name: [value(n) for n in persons] for name, value in columns.items()}
    known = {"age": [n * 7 % 50 + 18 for n in persons], "zip": [20_100 + n for n in persons]}
    return pa.table({**of_persons, **known, "sex": ["mf"[n * n % 7 % 2] for n in persons]})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mrn", lambda n: 1_000 + n * 7),
        ("email", lambda n: f"user{n}x@example.com"),
        ("phone", lambda n: f"+39 02 55{n:05}"),
        ("ssn", lambda n: f"{100 + n}-{10 + n}-{1_000 + n * 31}"),
        ("Kundennummer", lambda n: 1_000 + n * 7),
        ("id", lambda n: 1_000 + n * 7),
        ("qqq", lambda n: f"q{n * 7_919:x}"),
    ],
)
def test_an_identifier_that_repeats_tells_persons_apart(name, value):
    proposed = {one.name: one for one in propose_columns(visits(**{name: value}))}
    assert (proposed[name].part, proposed[name].tells_persons) == ("identifier", True)
    assert sum(one.tells_persons for one in proposed.values()) == 1


def test_one_who_serves_persons_does_not_tell_them_apart():
    table = visits(doctor_id=lambda n: 100 + n // 2, email=lambda n: f"user{n}x@example.com")
    [unit] = [one.name for one in propose_columns(table) if one.tells_persons]
    assert unit == "email"


def test_surnames_that_many_share_do_not_tell_persons_apart():
    proposed = parts(
        surname=[f"S{n % 20}" for n in range(600)],
        age=[n * 7 % 51 for n in range(600)],
        zip=[n * 13 % 97 for n in range(600)],
    )
    assert not any(one.tells_persons for one in proposed.values())


def test_persons_with_several_rows_whom_no_column_tells_apart_are_noticed():
    table = visits()
    assert repeats_persons(table, propose_columns(table))
    named = visits(mrn=lambda n: n)
    assert not repeats_persons(named, propose_columns(named))
    apart = pa.table({"age": [n % 70 for n in range(600)], "sex": ["m", "f"] * 300})
    assert not repeats_persons(apart, propose_columns(apart))


@pytest.mark.parametrize("name", ["", " ", "http://purl.org/sex", "po\u0301lka"])
def test_a_column_that_no_policy_can_name_is_left_out(name):
    table = pa.table({name: ["m", "f"] * 100, "age": [n % 50 for n in range(ROWS)]})
    assert [one.part for one in propose_columns(table)] == ["left out", "quasi-identifier"]


def test_sensitive_columns_that_make_rows_unique_are_left_out():
    columns = {"outcome": [n % 15 for n in range(ROWS)], "grade": [n // 15 for n in range(ROWS)]}
    proposed = parts(sex=["m", "f"] * 100, **columns)
    assert [proposed[name].part for name in columns] == ["sensitive", "left out"]
