from pathlib import Path

import pytest

from policy_engine.data.places.spelling import is_database, is_place, redacted, source_name


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("duckdb:a.db#t", (True, True)),
        ("SQLite:a.db#t", (True, True)),
        ("postgresql://h/d#t", (True, True)),
        ("https://h/a.csv", (False, True)),
        ("file:///a.csv", (False, False)),
        ("a.csv", (False, False)),
        (Path("duckdb:a.db#t"), (False, False)),
    ],
)
def test_places_are_texts_that_begin_as_one(source, expected):
    assert (is_database(source), is_place(source)) == expected


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("postgresql://ann:secret@h:5432/d#t", "postgresql://ann:***@h:5432/d#t"),
        ("postgresql://ann@h/d#t", "postgresql://ann@h/d#t"),
        ("postgresql://h/d?user=ann&password=secret#t", "postgresql://h/d?***#t"),
        ("https://h/a.csv?X-Amz-Signature=secret", "https://h/a.csv?***"),
        ("https://a:se@cret@h/a.csv", "https://a:***@h/a.csv"),
        ("postgresql://ann:se#c/r?et@h/d#t", "postgresql://ann:***@h/d#t"),
        ("https://h:8080/a.csv", "https://h:8080/a.csv"),
        ("postgresql:ann:secret@h/d#t", "postgresql:ann:***@h/d#t"),
        ("postgresql:/ann:secret@h/d#t", "postgresql:/ann:***@h/d#t"),
        ("POSTGRES:ann:secret@h/d#t", "POSTGRES:ann:***@h/d#t"),
        ("jdbc:postgresql://ann:secret@h/d", "jdbc:postgresql://ann:***@h/d"),
        ("postgresql:h/d?password=secret#t", "postgresql:h/d?***#t"),
        ("postgresql://h/d?password=x#secret#t", "postgresql://h/d?***"),
        ("postgresql://h:5432/d?password=se@cret#t", "postgresql://h:***"),
        ("https://:secret@h/a.csv", "https://:***@h/a.csv"),
        ("data/parts-?.csv", "data/parts-?.csv"),
        ("sqlite:a?.db#t", "sqlite:a?.db#t"),
        ("sqlite:a.db#t", "sqlite:a.db#t"),
    ],
)
def test_a_place_is_shown_without_what_is_secret(place, shown):
    assert redacted(place) == shown


def test_a_source_is_called_by_its_last_part_alone():
    assert source_name("postgresql://ann:secret@h/d#visits.people") == "people"
    assert source_name("postgresql://ann:se#cret@h") == "ann:***@h"
    assert source_name("https://h/data/people.csv?sign=secret") == "people.csv"
    assert source_name(Path("data/people.csv")) == "people.csv"
