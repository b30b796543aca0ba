"""Names that a consumer tried to learn by queries, without being permitted to know them."""

import pytest
from served import API, code, signed_in
from test_access_routes import ADA
from test_attacks_on_ownership import SECRET, opening
from test_dataset_routes import TABLE, uploaded
from test_policy_routes import published


@pytest.fixture
def owner(services):
    client = signed_in(services, "owner", name="Olga")
    uploaded(client, TABLE, iri=SECRET)
    return client


@pytest.fixture
def consumer(services):
    return signed_in(services, "consumer", party=ADA)


def asked(client, sql, *, dry_run=False):
    """Return the status of an answer and what it says, but for its own mark."""
    answer = client.post(f"{API}/queries", json={"sql": sql, "dry_run": dry_run})
    return code(answer), {**answer.json(), "request": ""}


@pytest.mark.usefixtures("owner")
@pytest.mark.parametrize("columns", ["*", "name", "nosuch"])
def test_data_that_nobody_lets_one_read_are_as_if_they_were_not_there(consumer, columns):
    answered, there = asked(consumer, f"SELECT {columns} FROM Secret")
    nothing = asked(consumer, f"SELECT {columns} FROM Nowhere")[1]
    assert answered == (422, "Q003")
    assert str(there).replace("Secret", "Nowhere") == str(nothing)


@pytest.mark.parametrize("dry_run", [False, True])
def test_one_column_tells_of_no_other(owner, consumer, dry_run):
    published(owner, opening(f"{SECRET}/zip", uid="http://example.com/p", party=ADA))
    answers = [
        asked(consumer, f"SELECT {columns} FROM Secret", dry_run=dry_run)
        for columns in ("name", "nosuch", "*", "zip, name", "zip, nosuch")
    ]
    assert answers[0][0] == (422, "Q004")
    assert all(one == answers[0] for one in answers)
    hint = answers[0][1]["problems"][0]["hint"]
    assert hint == "Columns that policies name to you: zip."
    rows = consumer.post(f"{API}/queries", json={"sql": "SELECT zip FROM Secret"}).json()["rows"]
    assert len(rows) == 2
    entries = consumer.get(f"{API}/decisions").json()["items"]
    assert {name for one in entries for name in one["targets"]} <= {SECRET, f"{SECRET}/zip"}


def test_who_may_read_all_is_told_what_is_wrong(owner, consumer):
    published(owner, opening(SECRET, uid="http://example.com/p", party=ADA))
    answered, answer = asked(consumer, "SELECT nam FROM Secret")
    assert answered == (422, "Q004")
    assert "name" in str(answer["problems"])
