import pyarrow as pa
import pytest

from policy_engine.engines.local import LocalEngine
from policy_engine.errors import DataError
from policy_engine.methods import method_class
from policy_engine.plan import Anonymize, Read

PEOPLE = {
    "age": [20, 21, 40, 41, 60, 61],
    "city": ["Rome", "Rome", "Oslo", "Bern", "Bern", "Bern"],
    "disease": ["flu", "cold", "flu", "cold", "flu", "cold"],
    "row": [1, 2, 3, 4, 5, 6],
}


def step(**parameters):
    notation = "l-diversity" if "l" in parameters else "k-anonymity"
    roles = {"quasi-identifier": parameters.pop("quasi", ("age", "city")), **parameters}
    return Anonymize(notation=notation, method=method_class(notation)(**roles))


def anonymized(table=PEOPLE, **parameters):
    given = pa.table(table)
    used = [name for role in ("quasi", "sensitive", "insensitive") for name in parameters[role]]
    return LocalEngine().anonymize(given.select(used), step(**parameters)).to_pydict()


def test_anonymize_generalises_each_class_to_the_values_it_holds():
    found = anonymized(quasi=("age", "city"), sensitive=(), insensitive=("row",), k=2)
    assert found == {
        "age": ["[20 - 40]"] * 3 + ["[41 - 61]"] * 3,
        "city": ["{Oslo, Rome}"] * 3 + ["Bern"] * 3,
        "row": [1, 2, 3, 4, 5, 6],
    }


def test_anonymize_keeps_every_class_diverse():
    sick = {**PEOPLE, "disease": ["flu", "flu", "flu", "flu", "cold", "cold"]}
    found = anonymized(sick, quasi=("age",), sensitive=("disease",), insensitive=(), k=2, l=2)
    assert found["age"] == ["[20 - 61]"] * 6


def test_anonymize_orders_the_rows_of_a_class_by_what_it_keeps():
    found = anonymized(quasi=("city",), sensitive=("disease",), insensitive=("row",), k=3)
    assert found["city"] == ["Bern"] * 3 + ["{Oslo, Rome}"] * 3
    assert found["disease"] == ["cold", "cold", "flu", "cold", "flu", "flu"]
    assert found["row"] == [4, 6, 5, 2, 1, 3]


def test_anonymize_gives_the_same_rows_in_any_order_of_input():
    shuffled = pa.table(PEOPLE).take([3, 0, 5, 1, 4, 2]).to_pydict()
    parameters = {"quasi": ("age", "city"), "sensitive": ("disease",), "insensitive": ("row",)}
    assert anonymized(PEOPLE, k=2, **parameters) == anonymized(shuffled, k=2, **parameters)


def test_anonymize_cuts_missing_values_off():
    table = {"age": [20, None, 22, 23, None]}
    found = anonymized(table, quasi=("age",), sensitive=(), insensitive=(), k=2)
    assert found == {"age": [None, None, *["[20 - 23]"] * 3]}


def test_anonymize_mixes_missing_values_where_they_are_too_few():
    table = {"age": [20, None, 22, 23]}
    found = anonymized(table, quasi=("age",), sensitive=(), insensitive=(), k=2)
    assert found == {"age": ["20 or missing"] * 2 + ["[22 - 23]"] * 2}


def test_anonymize_refuses_fewer_rows_than_k():
    with pytest.raises(DataError, match="R002 The table has 6 rows, fewer than k, which is 7"):
        anonymized(quasi=("age",), sensitive=(), insensitive=(), k=7)


def test_anonymize_refuses_fewer_sensitive_values_than_l():
    with pytest.raises(DataError, match="R003 The sensitive column 'disease' has 2 distinct") as e:
        anonymized(quasi=("age",), sensitive=("disease",), insensitive=(), k=3, l=3)
    assert e.value.problems[0].hint == "On this table, l can be at most 2."


def test_anonymize_counts_no_missing_sensitive_value():
    sick = {**PEOPLE, "disease": ["flu", None, "flu", "flu", None, None]}
    with pytest.raises(DataError, match="R003 The sensitive column 'disease' has 1 distinct"):
        anonymized(sick, quasi=("age",), sensitive=("disease",), insensitive=(), k=2, l=2)


def test_anonymize_counts_numbers_written_differently_once():
    sick = {**PEOPLE, "disease": ["1", "1.0", "1.00", "1", "01.0", "1"]}
    anonymized(sick, quasi=("age",), sensitive=("disease",), insensitive=(), k=2, l=2)
    sick["disease"] = ["1", "1.0", "1.00", "1", "1e0", "1"]
    with pytest.raises(DataError, match="R003"):
        anonymized(sick, quasi=("age",), sensitive=("disease",), insensitive=(), k=2, l=2)


def test_read_gives_the_columns_of_the_step_and_the_digest_of_all():
    table = pa.table(PEOPLE)
    engine = LocalEngine({"x": table})
    read, stored = engine.read(Read(asset="x", location="memory", columns=("row", "age")))
    _, all_stored = engine.read(Read(asset="x", location="memory", columns=tuple(PEOPLE)))
    assert read.column_names == ["row", "age"]
    assert (stored.location, stored.rows) == ("memory", 6)
    assert stored.digest == all_stored.digest


def test_read_refuses_a_table_without_rows(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n")
    with pytest.raises(DataError, match="R001 The table has no rows"):
        LocalEngine().read(Read(asset="x", location=str(path), columns=("a",)))


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_a_table_in_memory_and_in_a_file_are_grouped_alike(tmp_path, ending):
    engine, path = LocalEngine(), tmp_path / f"data.{ending}"
    given = engine.anonymize(pa.table(PEOPLE), step(k=2, l=2, sensitive=("disease",)))
    stored = [engine.write(given, place) for place in (None, path)]
    assert [engine.columns(one) for one in stored] == [tuple(PEOPLE)] * 2
    memory, file = [engine.group(one, ("age", "city"), ("disease",)) for one in stored]
    assert memory.sizes().tolist() == file.sizes().tolist() == [3, 3]
    assert memory.loss.tolist() == file.loss.tolist()


def test_progress_is_told_of_every_stage():
    told = []
    engine = LocalEngine(progress=lambda stage, done, total: told.append((stage, done, total)))
    engine.write(engine.anonymize(pa.table({"age": [1, 2]}), step(quasi=("age",), k=2)), None)
    stages = [stage for stage, _, _ in told if "compiling" not in stage]
    assert stages == ["encoding", "partitioning", "partitioning", "generalising", "writing"]
    assert ("partitioning", 2, 2) in told
