"""Classes formed jointly with earlier releases: on Spark those of the local engine."""

import shutil
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.engines.spark.engine import SparkEngine

sys.path.insert(0, str(Path(__file__).parents[2] / "release" / "composition"))
from repeated_releases import asking, released

pytestmark = pytest.mark.usefixtures("few_rows")
ROWS = 240
ASKED = {"methods": ["l-diversity"], "l": 2, "k": 4}
CASES = [
    pytest.param({}, id="strict"),
    pytest.param({"partitioning": "relaxed"}, id="relaxed", marks=pytest.mark.nightly),
    pytest.param({"unit": "id"}, id="persons", marks=pytest.mark.nightly),
]


@pytest.fixture
def people(tmp_path):
    table = pa.table(
        {
            "id": [*range(ROWS)],
            "age": [one * 13 % 60 for one in range(ROWS)],
            "zip": [one * 7 % 31 for one in range(ROWS)],
            "sex": [one % 2 for one in range(ROWS)],
            "disease": [f"d{one * one % 5}" for one in range(ROWS)],
        }
    )
    path = tmp_path / "people.parquet"
    pq.write_table(table, path)
    return str(path)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("ids", [["996 ", "e\u0301"], ["A-996", "\u00e9"]])
def test_persons_are_known_again_as_on_the_local_engine(cluster, tmp_path, ids):
    rest = [f"P{one:02}" for one in range(14)]
    columns = {"age": [*range(16)], "zip": [one * 7 % 16 for one in range(16)]}
    columns["disease"] = [f"d{one % 5}" for one in range(16)]
    asked = {"k": 4, "unit": "id"}
    ledgers, found = [tmp_path / f"{one}.ledger" for one in ("local", "spark")], []
    first, then = tmp_path / "first.parquet", tmp_path / "then.parquet"
    pq.write_table(pa.table({"id": ["996", "\u00e9", *rest], **columns}), first)
    pq.write_table(pa.table({"id": [*ids, *[one + " " for one in rest]], **columns}), then)
    for ledger, engines in zip(ledgers, [("local", cluster), (cluster, "local")], strict=True):
        released(asking("ByAge", ["age"], **asked), str(first), ledger, engine=engines[0])
        told = released(asking("ByZip", ["zip"], **asked), str(then), ledger, engine=engines[1])
        found.append(told.record.composition)
    assert found[0] == found[1]
    assert found[0].together.persons == 16 + (ids[0] == "A-996")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("engines", [("local", "spark"), ("spark", "local")])
def test_who_is_written_in_another_case_is_not_known_on_either_engine(cluster, tmp_path, engines):
    columns = {"age": [*range(8)], "zip": [one * 5 % 8 for one in range(8)], "disease": ["d"] * 8}
    rest = [f"P{one}" for one in range(7)]
    paths = [tmp_path / "first.parquet", tmp_path / "then.parquet"]
    for path, name in zip(paths, ["Ann-1", "ann 1"], strict=True):
        pq.write_table(pa.table({"id": [name, *rest], **columns}), path)
    for path, name, quasi in zip(paths, engines, ["age", "zip"], strict=True):
        engine = cluster if name == "spark" else name
        policy = asking(f"By{quasi}", [quasi], k=2, unit="id")
        told = released(policy, str(path), tmp_path / "ledger", engine=engine)
    [unknown] = told.record.composition.unknown
    assert "same but for case" in unknown.reason


def rows_of(release):
    table = release.table if isinstance(release.table, pa.Table) else release.table.toArrow()
    return Counter(tuple(map(str, row.values())) for row in table.to_pylist())


@pytest.mark.nightly
@pytest.mark.parametrize("options", CASES)
def test_joint_classes_are_those_of_the_local_engine(cluster, people, tmp_path, options):
    ledgers = [tmp_path / "local.ledger", tmp_path / "spark.ledger"]
    unit = {name: value for name, value in options.items() if name == "unit"}
    released(asking("ByAge", ["age", "sex"], **ASKED, **unit), people, ledgers[0])
    shutil.copy(*ledgers)
    small = SparkEngine(session=cluster.session, rows_per_task=60, is_checked=True)
    policy = asking("ByCode", ["zip", "sex"], **ASKED, **options, composition="intersected")
    local, spark = (
        released(policy, people, ledger, engine=engine)
        for ledger, engine in zip(ledgers, ["local", small], strict=True)
    )
    assert local.record.composition.joint
    assert local.record.composition.together.least >= 4
    assert spark.record.composition == local.record.composition
    assert rows_of(spark) == rows_of(local)
    # A third release, on the other engine, knows the persons of both again.
    third = asking("Third", ["age"], **ASKED, **unit)
    found = [released(third, people, one).record.composition for one in ledgers]
    assert found[0] == found[1]
    assert len(found[0].earlier) == 2
