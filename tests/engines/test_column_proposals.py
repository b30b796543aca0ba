import pyarrow as pa

from policy_engine.engines.column_proposals import propose_columns

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
    assert "times as far out" in parts(sex=["m", "f"] * 100, x=incomes)["x"].warning


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
