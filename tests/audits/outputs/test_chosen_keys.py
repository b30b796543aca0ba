"""By which keys rows were chosen: those with a value of which they are all rows."""

import pandas as pd
import pytest

from policy_engine.audits.outputs.chosen_keys import settled_keys
from policy_engine.audits.outputs.microdata import Microdata, coded

PEOPLE = pd.DataFrame(
    {
        "person": [1, 2, 3, 4, 5, 6],
        "region": ["north", "north", "south", "south", None, "west"],
        "sector": ["farm", "farm", "farm", "shop", "shop", "farm"],
    }
)


def settled(chosen, *keys):
    """Return the keys by which some rows of the people were chosen."""
    rows = Microdata.of(PEOPLE, "person").part(PEOPLE[chosen])
    own = [coded(key, rows.column(key)) for key in keys]
    return {keys[number] for number in settled_keys(keys, own, rows)}


@pytest.mark.parametrize(
    ("persons", "names"),
    [
        ([1, 2], {"region"}),
        ([6], {"region"}),
        ([1], set()),
        ([1, 2, 3], set()),
        ([4, 5], {"sector"}),
        ([1, 2, 3, 6], {"sector"}),
    ],
)
def test_rows_were_chosen_by_a_key_where_they_are_all_with_its_only_value(persons, names):
    assert settled(PEOPLE.person.isin(persons), "region", "sector") == names


def test_all_rows_were_chosen_by_nothing():
    rows = Microdata.of(PEOPLE[:2], "person")
    assert settled_keys(["region"], [coded("region", rows.column("region"))], rows) == frozenset()
