"""Answers by keys that lie in others, as the policy says that everybody knows."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

PLACES = {"n": {"n1": 30, "n2": 24, "n3": 40}, "s": {"s1": 22, "s2": 26, "s3": 4}}
DECLARED = (
    "pe:nestedColumns",
    "isAllOf",
    [{"@id": f"{TABLE}/{k}"} for k in ("region", "district")],
)
COUNTS = "SELECT region, district, COUNT(*) AS n FROM T GROUP BY"


def people(places=None, **more):
    rows = [
        (region, district)
        for region, districts in (places or PLACES).items()
        for district, count in districts.items()
        for _ in range(count)
    ]
    regions, districts = zip(*rows, strict=True)
    columns = {"person": range(len(rows)), "region": regions, "district": districts}
    columns["sex"] = ["f" if number % 3 else "m" for number in range(len(rows))]
    return pa.table({**columns, **more})


def ask(sql, path, *more, table=None, **options):
    check = ("pe:outputCheck", "eq", "abs"), ("pe:minUnits", "eq", 10)
    unit = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"})
    data = {TABLE: people() if table is None else table}
    policy = policy_with(*check, unit, *more)
    return query_data(sql, [policy], RESEARCHER, data, output_ledger=path, **options)


def test_districts_are_shown_with_their_region_where_everybody_knows_it(tmp_path):
    answer = ask(f"{COUNTS} ROLLUP (region, district) ORDER BY 1, 2", tmp_path / "l", DECLARED)
    rows = [tuple(one.values()) for one in answer.table.to_pylist()]
    assert rows == [
        *(("n", "n1", 30), ("n", "n2", 24), ("n", "n3", 40), ("n", None, 94)),
        *(("s", "s1", None), ("s", "s2", 26), ("s", "s3", None), ("s", None, 52)),
        (None, None, 146),
    ]
    assert [one.keys for one in answer.checked.suppressed] == [
        {"region": "s", "district": "s1"},
        {"region": "s", "district": "s3"},
    ]


def test_that_all_of_a_district_are_in_one_region_is_told_of_them_otherwise(tmp_path):
    answer = ask(f"{COUNTS} region, district", tmp_path / "l")
    assert not answer.checked.is_released


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "sets", ["region, district", "district, region", "ROLLUP (district, region)"]
)
def test_a_group_by_both_is_judged_as_one_by_the_district(sets, tmp_path):
    both = ask(f"{COUNTS} {sets}", tmp_path / "a", DECLARED).table.to_pylist()
    one = ask("SELECT district, COUNT(*) AS n FROM T GROUP BY district", tmp_path / "b")
    regions = {district: region for region, own in PLACES.items() for district in own}
    by_both = {row["district"]: row["n"] for row in both if row["region"]}
    assert by_both == {row["district"]: row["n"] for row in one.table.to_pylist()}
    assert all(regions[row["district"]] == row["region"] for row in both if row["region"])


def test_each_grouping_set_has_its_rows(tmp_path):
    """Of those by both, and by the district alone, the figures are the same."""
    sql = "SELECT region, district, GROUPING(region) AS g, COUNT(*) AS n FROM T GROUP BY "
    answer = ask(f"{sql} CUBE (region, district)", tmp_path / "l", DECLARED)
    rows = answer.table.to_pylist()
    by_both = {one["district"]: one["n"] for one in rows if one["region"] and one["district"]}
    alone = {one["district"]: one["n"] for one in rows if one["g"] and one["district"]}
    assert by_both == alone
    assert len(rows) == 6 + 6 + 2 + 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "table",
    [
        people({**PLACES, "w": {"s2": 22}}),
        people({**PLACES, "w": {None: 22}}),
    ],
    ids=["a district in two regions", "persons without a district"],
)
def test_what_does_not_lie_in_it_is_judged_as_if_nobody_knew(table, tmp_path):
    declared, other = (
        ask(f"{COUNTS} region, district", tmp_path / str(len(more)), *more, table=table)
        for more in ([DECLARED], [])
    )
    assert declared.table.to_pylist() == other.table.to_pylist()
    assert {one["n"] for one in other.table.to_pylist()} <= {22, 26, None}


def test_what_rows_that_are_not_chosen_say_counts(tmp_path):
    """All that are chosen of s2 are in the region s, and one who is not chosen is in another."""
    table = people({**PLACES, "w": {"s2": 1}})
    sql = f"{COUNTS.replace('GROUP', 'WHERE person < 146 GROUP')} region, district"
    assert not ask(sql, tmp_path / "l", DECLARED, table=table).checked.is_released


@pytest.mark.parametrize(
    "source",
    [
        'SELECT x.REGION AS region, x."district", COUNT(*) AS n FROM T AS x GROUP BY x.REGION, 2',
        (
            "SELECT r AS region, d AS district, COUNT(*) AS n FROM "
            "(SELECT region AS r, district AS d FROM T) GROUP BY r, d"
        ),
    ],
)
def test_columns_are_known_by_other_names(source, tmp_path):
    answer = ask(source, tmp_path / "l", DECLARED)
    assert sum(one["n"] is not None for one in answer.table.to_pylist()) == 4


@pytest.mark.parametrize("key", ["UPPER(district)", "sex"])
def test_other_keys_are_judged_by_all_rules(key, tmp_path):
    sql = f"SELECT region, {key} AS k, COUNT(*) AS n FROM T GROUP BY region, {key}"
    given, without = (
        ask(sql, tmp_path / str(len(more)), *more).table.to_pylist() for more in ([], [DECLARED])
    )
    assert given == without


def test_conditions_on_what_is_shown_know_the_region(tmp_path):
    sql = f"{COUNTS} region, district HAVING region = 'n' AND COUNT(*) > 24 ORDER BY n DESC LIMIT 1"
    answer = ask(sql, tmp_path / "l", DECLARED)
    assert answer.table.to_pylist() == [{"region": "n", "district": "n3", "n": 40}]


def test_three_levels_are_shown_by_the_lowest(tmp_path):
    table = people(land=["x"] * 94 + ["y"] * 52)
    columns = [{"@id": f"{TABLE}/{name}"} for name in ("land", "region", "district")]
    sql = "SELECT land, region, district, COUNT(*) AS n FROM T GROUP BY 1, 2, 3"
    answer = ask(sql, tmp_path / "l", (*DECLARED[:2], columns), table=table)
    shown = {(one["land"], one["region"], one["district"]) for one in answer.table.to_pylist()}
    lands = {"n": "x", "s": "y"}
    assert shown == {(lands[one], one, two) for one, own in PLACES.items() for two in own}


def test_the_owner_sees_what_protection_costs_by_the_lowest_level():
    by_both, alone = (
        ask(sql, None, *more, alternatives=True).comparison
        for sql, more in (
            (f"{COUNTS} region, district", [DECLARED]),
            ("SELECT district, COUNT(*) AS n FROM T GROUP BY district", []),
        )
    )
    assert by_both.costs[0] == alone.costs[0]


@given(st.lists(st.integers(1, 30), min_size=6, max_size=6))
def test_totals_reveal_what_they_reveal_of_districts_alone(tmp_path_factory, sizes):
    places = {
        "n": dict(zip("abc", sizes, strict=False)),
        "s": dict(zip("def", sizes[3:], strict=True)),
    }
    path, table = tmp_path_factory.mktemp("ledgers"), people(places)
    folded = ask(f"{COUNTS} ROLLUP (region, district)", path / "a", DECLARED, table=table)
    sets = "GROUPING SETS ((district), (region), ())"
    plain = ask(f"{COUNTS} {sets}", path / "b", table=table)
    one, other = (
        sorted((row["district"] or "", row["region"] or "", row["n"] or 0) for row in some)
        for some in (
            [
                {**row, "region": None if row["district"] else row["region"]}
                for row in folded.table.to_pylist()
            ],
            plain.table.to_pylist(),
        )
    )
    assert one == other
