import pyarrow as pa
import pytest

from policy_engine.engines import written_tables
from policy_engine.engines.local import LocalEngine
from policy_engine.errors import DataError
from policy_engine.plan.inputs import Read
from policy_engine.plan.steps import Anonymize, Publish

PEOPLE = {
    "age": [20, 21, 40, 41, 60, 61],
    "city": ["Rome", "Rome", "Oslo", "Bern", "Bern", "Bern"],
    "disease": ["flu", "cold", "flu", "cold", "flu", "cold"],
    "row": [1, 2, 3, 4, 5, 6],
}
SPAN = {"score": "span"}


def named(columns):
    return tuple({"name": one} if isinstance(one, str) else one for one in columns)


def step(k=2, l=None, quasi=("age", "city"), sensitive=(), unit="", **more):  # noqa: E741
    """Return a step; columns as names, or as mappings with their settings."""
    columns = {"quasi-identifier": named(quasi), "sensitive": named(sensitive)}
    columns |= {"insensitive": more.get("insensitive", ()), "privacyUnit": unit}
    methods = more.get("methods") or {"l-diversity" if l else "k-anonymity": {"k": k}}
    if l:
        methods["l-diversity"]["l"] = l
    return Anonymize(columns=columns, methods=methods, recoding=more.get("recoding", {}))


def publish(asked, cells="text"):
    return Publish(asset="http://x.org/out", columns=asked.columns.released, cells=cells)


def anonymized(table=PEOPLE, cells="text", **asked):
    one = step(**asked)
    return LocalEngine().anonymize(pa.table(table), one, publish(one, cells)).table.to_pydict()


def test_anonymize_orders_the_rows_of_a_class_by_what_it_keeps():
    found = anonymized(quasi=("city",), sensitive=("disease",), insensitive=("row",), k=3)
    assert found["city"] == ["Bern"] * 3 + ["{Oslo, Rome}"] * 3
    assert found["disease"] == ["cold", "cold", "flu", "cold", "flu", "flu"]
    assert found["row"] == [4, 6, 5, 2, 1, 3]


@pytest.mark.parametrize(
    "recoding",
    [
        {},
        SPAN,
        {"score": "entropy"},
        {"partitioning": "relaxed"},
        {"polish": True},
        {"dimensionality": "single"},
        {"algorithm": "full-domain", "maxSuppression": 0.5},
    ],
    ids=str,
)
def test_anonymize_gives_the_same_rows_in_any_order_of_input(recoding):
    shuffled = pa.table(PEOPLE).take([3, 0, 5, 1, 4, 2]).to_pydict()
    asked = {"sensitive": ("disease",), "insensitive": ("row",), "recoding": recoding}
    assert anonymized(PEOPLE, **asked) == anonymized(shuffled, **asked)


def test_anonymize_by_full_domain_gives_every_value_of_a_column_one_level():
    table = {"zip": ["100", "101", "110", "111", "200"]}
    quasi = ({"name": "zip", "generalization": "prefix"},)
    asked = {"quasi": quasi, "recoding": {"algorithm": "full-domain", "maxSuppression": 0.2}}
    assert anonymized(table, **asked) == {"zip": ["10*", "10*", "11*", "11*"]}


def test_rows_that_full_domain_suppressed_are_counted():
    table = pa.table({"city": ["a", "a", "b"]})
    recoding = {"algorithm": "full-domain", "maxSuppression": 0.4}
    engine, one = LocalEngine(), step(quasi=("city",), recoding=recoding)
    made = engine.anonymize(table, one, publish(one))
    assert (made.table.to_pydict(), made.rows, made.suppressed) == ({"city": ["a", "a"]}, 3, 1)
    plain = step(quasi=("city",))
    assert engine.anonymize(table, plain, publish(plain)).suppressed == 0


def test_what_is_made_later_changes_nothing_of_what_was_made_before():
    engine = LocalEngine()
    one = step(quasi=("age",), unit="row")
    made = engine.anonymize(pa.table(PEOPLE), one, publish(one))
    written = engine.write(made, None)
    before = engine.output(written), engine.measure(written, one)
    fewer = pa.table(PEOPLE).slice(0, 2)
    engine.write(engine.anonymize(fewer, one, publish(one)), None)
    assert (engine.output(written), engine.measure(written, one)) == before
    assert made.rows == 6


def test_full_domain_ends_at_the_table_as_a_whole_which_holds_every_bound():
    table = {"q": [1, 2, 3], "s": ["a", "b", "b"]}
    bounds = {"methods": {"beta-likeness": {"k": 2, "beta": 0.1}}}
    recoding = {"algorithm": "full-domain"}
    found = anonymized(table, quasi=("q",), sensitive=("s",), recoding=recoding, **bounds)
    assert found["q"] == ["[1 - 3]"] * 3


def test_anonymize_refuses_a_lattice_that_is_too_large():
    table = {f"q{number}": list(range(40)) for number in range(10)}
    with pytest.raises(DataError, match="R010 The lattice has 60,466,176 nodes"):
        anonymized(table, quasi=tuple(table), recoding={"algorithm": "full-domain"})


def test_the_table_as_a_whole_is_measured_against_every_bound():
    bounds = {
        "entropy-l-diversity": {"k": 2, "l": 2.5},
        "alpha-k-anonymity": {"k": 2, "alpha": 0.25},
    }
    with pytest.raises(DataError) as caught:
        anonymized(quasi=("age",), sensitive=("disease",), methods=bounds)
    assert [problem.code for problem in caught.value.problems] == ["R003", "R003"]
    assert [problem.hint for problem in caught.value.problems] == [
        "On this table, l can be at most 2.",
        "On this table, alpha can be at least 0.5.",
    ]


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
    one = step(l=2, sensitive=("disease",), recoding=SPAN)
    given = engine.anonymize(pa.table(PEOPLE), one, publish(one))
    written = [engine.write(given, place) for place in (None, path)]
    assert [engine.columns(each) for each in written] == [("age", "city", "disease")] * 2
    memory, file = [engine.group(each, one) for each in written]
    assert memory.sizes().tolist() == file.sizes().tolist() == [3, 3]
    assert memory.class_totals().column_losses() == file.class_totals().column_losses()
    assert list(memory.loss) == ["age", "city"]


def test_progress_is_told_of_every_stage():
    told = []
    engine = LocalEngine(progress=lambda stage, done, total: told.append((stage, done, total)))
    one = step(quasi=("age",))
    engine.write(engine.anonymize(pa.table({"age": [1, 2]}), one, publish(one)), None)
    stages = list(dict.fromkeys(stage for stage, _, _ in told if "compiling" not in stage))
    assert stages == ["encoding", "partitioning", "generalising", "writing"]
    assert ("partitioning", 2, 2) in told


def test_a_table_is_encoded_once_for_runs_that_differ_in_bounds():
    told = []
    engine = LocalEngine(progress=lambda stage, done, _total: told.append((stage, done)))
    table = pa.table(PEOPLE)
    for k in (2, 3):
        one = step(k=k)
        engine.anonymize(table, one, publish(one))
    assert told.count(("encoding", 0)) == 1
    other = step(quasi=("age",))
    engine.anonymize(table, other, publish(other))
    assert told.count(("encoding", 0)) == 2


def test_a_table_is_never_taken_for_another_one():
    engine, one = LocalEngine(), step(quasi=("age",))
    for age in range(9):  # each table may lie where the one before has lain
        found = engine.anonymize(pa.table({"age": [age, age]}), one, publish(one))
        assert found.table.to_pydict() == {"age": [str(age)] * 2}


def test_an_output_is_read_once_for_all_that_is_measured_and_again_where_it_was_written(
    tmp_path, monkeypatch
):
    one, engine, place = step(), LocalEngine(), tmp_path / "out.csv"
    written = engine.write(engine.anonymize(pa.table(PEOPLE), one, publish(one)), place)
    readings = []
    read_table = written_tables.read_table
    monkeypatch.setattr(
        written_tables, "read_table", lambda *asked: readings.append(1) or read_table(*asked)
    )
    rows = engine.measure(written, one).rows
    assert (rows, engine.unique_rows(written, [("age",)]), len(readings)) == (6, (0,), 1)
    place.write_text(place.read_text() + "99,Rome\n")
    assert (engine.measure(written, one).rows, len(readings)) == (7, 2)
    assert engine.unique_rows(written, [("age",)]) == (1,)
