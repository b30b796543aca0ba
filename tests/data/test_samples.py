import csv
import hashlib
import io
from datetime import date, datetime
from statistics import mean

import pytest

from policy_engine.data.samples import COLUMNS, customer, visits

PINNED = "0aa76a5ac59956da3b2cd2e91747b1d40e0aa033a018a90e6b3ed6c5f251ec52"


@pytest.fixture(scope="module")
def rows():
    return list(csv.DictReader(io.StringIO(customer(2000, 1))))


def age(row):
    return 2019 - date.fromisoformat(row["BirthDate"]).year


def of(rows, category):
    return [row for row in rows if row["StoreCategory"] == category]


def test_the_same_seed_gives_the_same_bytes_on_every_machine():
    assert hashlib.sha256(customer(100, 1).encode()).hexdigest() == PINNED


def test_another_seed_gives_other_rows():
    assert customer(100, 2) != customer(100, 1)


def test_more_rows_go_on_where_fewer_end():
    assert customer(30, 7).startswith(customer(20, 7))


def test_there_are_as_many_rows_as_asked_for(rows):
    assert len(rows) == 2000
    assert customer(0, 1) == ",".join(COLUMNS) + "\n"


def test_every_value_is_in_its_domain(rows):
    for row in rows:
        assert 20121 <= int(row["ZIP"]) <= 20161
        assert 15 <= age(row) <= 99
        assert 0 < float(row["Amount"]) < 520 * 2.4
        assert datetime.fromisoformat(row["TransactionTime"]).year == 2019
        assert row["Email"].startswith(f"{row['FirstName']}.{row['LastName']}".lower())


def test_customers_are_numbered(rows):
    assert [row["CustomerID"] for row in rows[:2]] == ["C0000001", "C0000002"]
    assert len({row["CustomerID"] for row in rows}) == 2000


def test_purchases_are_made_while_stores_are_open(rows):
    hours = {datetime.fromisoformat(row["TransactionTime"]).hour for row in of(rows, "Restaurant")}
    assert hours <= set(range(12, 23))


def test_the_category_follows_the_age(rows):
    assert mean(map(age, of(rows, "Pharmacy"))) > mean(map(age, of(rows, "Electronics"))) + 5


def test_the_amount_follows_the_category(rows):
    amounts = [
        mean(float(row["Amount"]) for row in of(rows, name))
        for name in ("Pharmacy", "Clothing", "Electronics", "Jewellery")
    ]
    assert amounts == sorted(amounts)


def test_areas_differ_in_size_and_age(rows):
    sizes = [sum(row["ZIP"] == str(area) for row in rows) for area in (20121, 20161)]
    assert sizes[0] > 10 * sizes[1]
    students = [age(row) for row in rows if (int(row["ZIP"]) - 20121) * 7 % 5 == 0]
    assert mean(students) < mean(map(age, rows)) - 5


def test_visits_are_the_same_for_a_seed_and_those_of_the_example_policy():
    text = visits(500, 1)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert (len(rows), visits(500, 1)) == (500, text)
    assert rows[0].keys() == {
        *("patient_nbr", "age", "gender", "time_in_hospital", "num_medications", "readmitted")
    }
    assert {row["readmitted"] for row in rows} == {"<30", ">30", "NO"}
    assert all(1 <= int(row["time_in_hospital"]) <= 14 for row in rows)
    assert all(1 <= int(row["num_medications"]) <= 80 for row in rows)
    ages = {row["patient_nbr"]: row["age"] for row in rows}
    assert all(ages[row["patient_nbr"]] == row["age"] for row in rows)
    assert 200 < len(ages) < 500
