"""Sessions that share a ledger, whose readers know how many rows there are in all."""

import pandas as pd
import pytest

from policy_engine import output_session

SIZES = {"north": 60, "south": 40, "west": 30, "east": 3}


@pytest.fixture
def people():
    regions = [region for region, size in SIZES.items() for _ in range(size)]
    frame = pd.DataFrame({"region": regions, "person": range(len(regions))})
    return frame.assign(income=1000.0 + 17 * frame.person % 331)


@pytest.fixture
def counted(tmp_path, people):
    """Ask for a figure of one region in a session of its own; return whether it is shown."""

    def ask(region, figure="size"):
        rows = people[people.region == region]
        folder, ledger = tmp_path / f"{region} {figure}", tmp_path / "ledger"
        options = {"profile": "dwb-2015", "unit": "person", "ledger": ledger}
        with output_session(None, folder, data=people, **options) as session:
            groups = session.groupby("region", data=rows)
            output = groups.size() if figure == "size" else groups["income"].agg([figure])
        return session.outputs[0].status == "released" and output is not None

    return ask


def test_counts_of_sessions_do_not_tell_of_a_few_by_the_number_of_all(counted):
    assert [counted(region) for region in SIZES] == [True, True, False, False]


def test_means_of_sessions_do_not_either_and_totals_may(counted):
    assert [counted(region, "sum") for region in SIZES] == [True, True, True, False]
    assert [counted(region, "mean") for region in ("north", "south", "west")] == [True, True, False]


def test_a_table_is_protected_beside_the_number_of_all_in_one_session(tmp_path, people):
    options = {"data": people, "profile": "dwb-2015", "unit": "person"}
    with output_session(None, tmp_path / "o", **options) as session:
        text = str(session.groupby("region").size())
    shown = [size for size in SIZES.values() if f" {size}" in text]
    assert sum(SIZES.values()) - sum(shown) >= 10
    assert len(shown) == 2


def test_rows_without_a_region_are_nobodys_secret(tmp_path, people):
    people.loc[:2, "region"] = None
    options = {"data": people[people.region != "east"], "profile": "dwb-2015", "unit": "person"}
    with output_session(None, tmp_path / "o", **options) as session:
        assert session.groupby("region")["income"].mean().status == "released"
        assert session.groupby("region").size().status == "released"
