"""Rows of a table in pages: the same as all at once, and nothing is held between them."""

import sqlite3
from contextlib import closing

import pytest

from policy_engine.data.chain import paging
from policy_engine.data.chain.paging import latest_in_pages, rows_in_pages
from policy_engine.data.chain.table import LARGEST, LEAST, ChainTable

NUMBERS = (LEAST, -3, 0, 1, 2, 5, 6, 7, 900, LARGEST - 1)


@pytest.fixture
def table(tmp_path):
    table = ChainTable(tmp_path / "chain.db", "entries", "chain", 0.01)
    with table.appending():
        pass
    add(table, *NUMBERS)
    return table


def add(table, *numbers):
    with closing(sqlite3.connect(table.path)) as connection, connection:
        rows = [(one, f"entry {one % 2}", "hash") for one in numbers]
        connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)


def numbers(rows):
    return [one.start for one in rows]


@pytest.fixture(params=[1, 2, 3, 1_000])
def most(request, monkeypatch):
    monkeypatch.setattr(paging, "MOST_ROWS", request.param)


@pytest.mark.usefixtures("most")
def test_rows_in_pages_are_all_rows_in_order(table):
    assert numbers(rows_in_pages(table)) == [*NUMBERS]
    assert numbers(rows_in_pages(table, 5)) == [5, 6, 7, 900, LARGEST - 1]
    assert numbers(rows_in_pages(table, LARGEST)) == []
    assert [one.text for one in rows_in_pages(table, 7)] == [b"entry 1", b"entry 0", b"entry 0"]


@pytest.mark.usefixtures("most")
def test_the_latest_rows_in_pages_are_all_rows_backwards(table):
    assert numbers(latest_in_pages(table)) == [*NUMBERS[::-1]]
    assert numbers(latest_in_pages(table, 6)) == [5, 2, 1, 0, -3, LEAST]
    assert numbers(latest_in_pages(table, texts=[b"entry", b"1"])) == [7, 5, 1, -3]
    assert numbers(latest_in_pages(table, 6, after=0)) == [5, 2, 1]
    assert numbers(latest_in_pages(table, texts=[b"1"], after=-3)) == [7, 5, 1]
    assert numbers(latest_in_pages(table, 6, after=5)) == []


def test_a_page_ends_with_the_row_that_makes_it_large(table, monkeypatch):
    monkeypatch.setattr(paging, "MOST_BYTES", 8)
    rows, latest = rows_in_pages(table), latest_in_pages(table)
    found = [next(rows), next(rows), next(latest), next(latest)]
    assert numbers(found) == [LEAST, -3, LARGEST - 1, 900]
    assert numbers(rows) == [*NUMBERS[2:]]
    assert numbers(latest) == [*NUMBERS[-3::-1]]


def test_of_a_table_that_is_not_there_there_are_no_rows(tmp_path):
    path = tmp_path / "chain.db"
    path.touch()
    table = ChainTable(path, "entries", "chain", 0.01)
    assert [*rows_in_pages(table), *latest_in_pages(table)] == []


def test_rows_that_come_while_pages_are_read_are_not_among_them(table, monkeypatch):
    monkeypatch.setattr(paging, "MOST_ROWS", 2)
    rows = rows_in_pages(table)
    first = next(rows)
    add(table, LARGEST)
    assert numbers([first, *rows]) == [*NUMBERS]


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM entries WHERE number = -3",
        "DELETE FROM entries WHERE number > -3",
        "UPDATE entries SET hash = 'other' WHERE number = -3",
        "DROP TABLE entries",
    ],
)
def test_rows_that_are_gone_by_the_next_page_are_noticed(table, monkeypatch, change):
    monkeypatch.setattr(paging, "MOST_ROWS", 2)
    rows = rows_in_pages(table)
    next(rows)
    with closing(sqlite3.connect(table.path)) as connection, connection:
        connection.execute(change)
    with pytest.raises(ValueError, match="truncated or replaced while it was read"):
        list(rows)
