"""How large a search is, told before it is made."""

import json

import pyarrow as pa
import pytest
from applying import asking
from building import DATASET, column
from pyarrow import parquet
from typer.testing import CliRunner

from policy_engine import estimate_search
from policy_engine.cli import app
from policy_engine.plan.effort import Effort

NAMES = [f"c{number}" for number in range(8)]
PARTS = {"method": "k-anonymity", "k": 2}


def of_lattice(*columns):
    return asking(**PARTS, algorithm="full-domain", quasi=list(columns))


def test_a_lattice_has_the_combinations_of_the_heights_of_its_columns():
    heights = {"range": 6, "set": 2, "mean": 6, "mode": 2}
    for how, most in heights.items():
        found = estimate_search(of_lattice(column("a", generalization=how), "b"))
        assert (found.nodes, found.columns, found.rows) == (6 * most, 2, None)


@pytest.mark.parametrize("how", ["prefix", "interval", "calendar"])
def test_heights_that_the_values_decide_are_not_known(how):
    assert estimate_search(of_lattice(column("a", generalization=how), "b")).nodes is None


def test_a_taxonomy_tells_its_heights(tmp_path):
    (tmp_path / "tree.csv").write_text("Oslo;Norway;*\nRome;Italy;*\n")
    asked = of_lattice(column("a", generalization="taxonomy", taxonomy="tree.csv"))
    data, known = {DATASET: pa.table({"a": ["Oslo"]})}, {"tree.csv": tmp_path / "tree.csv"}
    assert estimate_search(asked, data, taxonomies=known).nodes == 3
    assert estimate_search(asked).nodes is None


def test_a_partition_grows_with_the_rows_and_the_square_of_the_columns():
    def seconds(rows, columns):
        names = NAMES[:columns]
        table = pa.table({name: ["x"] * rows for name in names})
        return estimate_search(asking(**PARTS, quasi=names), {DATASET: table}).seconds

    assert seconds(200, 4) == pytest.approx(2 * seconds(100, 4))
    assert seconds(100, 8) == pytest.approx(4 * seconds(100, 4))
    assert estimate_search(asking(**PARTS, quasi=NAMES)).seconds is None


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_rows_of_a_file_are_told_without_reading_it_all(tmp_path, ending):
    rows = range(10_000, 30_000)
    file = tmp_path / f"in.{ending}"
    if ending == "parquet":
        parquet.write_table(pa.table({"a": list(rows)}), file)
    else:
        file.write_text("a\n" + "".join(f"{row}\n" for row in rows))
    found = estimate_search(asking(**PARTS, quasi=["a"]), {DATASET: file}).rows
    assert found == pytest.approx(20_000, rel=0.01)


def test_a_search_that_may_take_long_is_said_to():
    assert not Effort(columns=7, nodes=6**7).is_long
    assert Effort(columns=8, nodes=6**8).is_long
    assert not Effort(columns=60, rows=3_000, seconds=0.3).is_long
    assert Effort(columns=300, rows=30_000, seconds=81).is_long
    assert str(Effort(columns=8, nodes=6**8)) == (
        "8 quasi-identifiers: at most 1,679,616 combinations of heights."
    )


@pytest.mark.parametrize(
    ("rows", "told"), [(87, "87"), (20_026, "20,000"), (1_239_873, "1,240,000")]
)
def test_rows_are_told_as_exactly_as_they_are_known(rows, told):
    assert str(Effort(columns=1, rows=rows)) == f"1 quasi-identifier of about {told} rows."


def test_plan_tells_how_large_the_search_is_and_how_to_bound_it(tmp_path):
    (tmp_path / "policy.jsonld").write_text(of_lattice(*NAMES))
    told = CliRunner().invoke(app, ["plan", str(tmp_path / "policy.jsonld")]).output
    assert "at most 1,679,616 combinations of heights" in " ".join(told.split())
    assert "--time-limit SECONDS" in " ".join(told.split())
    given = ["plan", str(tmp_path / "policy.jsonld"), "--format", "json"]
    found = json.loads(CliRunner().invoke(app, given).output)
    assert found["search"] == {"columns": 8, "rows": None, "nodes": 6**8, "seconds": None}
