"""What every engine does: what comes out, what is refused, what is certified."""

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from applying import asking, measured
from building import DATASET, column
from everyday import everyday, everyday_on_spark

from policy_engine import apply_policy, certify_output, explore_policy
from policy_engine.errors import CertificateError, DataError, PolicyEngineError

PEOPLE = {
    "age": [20, 21, 40, 41, 60, 61],
    "city": ["Rome", "Rome", "Oslo", "Bern", "Bern", "Bern"],
    "disease": ["flu", "cold", "flu", "cold", "flu", "cold"],
    "row": [1, 2, 3, 4, 5, 6],
}
SPAN = {"score": "span"}
RELAXED = {"partitioning": "relaxed"}
KEY = b"k" * 32
PLAIN = {"method": "k-anonymity", "k": 2, "quasi": ["age"]}
BOTH = {**PLAIN, "quasi": ["age", "city"]}
DIVERSE = {**PLAIN, "method": "l-diversity", "l": 2, "sensitive": ["disease"]}


@pytest.fixture(params=["local", "spark"])
def engine(request):
    """Every engine, as `apply_policy` takes it."""
    return "local" if request.param == "local" else request.getfixturevalue("cluster")


def applied(engine, table, output=None, **parts):
    """Return the release of columns by name, as the parts of an action ask."""
    call = {name: parts.pop(name) for name in ("taxonomies", "key", "cells") if name in parts}
    given = pa.table(table) if isinstance(table, dict) else table
    if engine != "local" and isinstance(given, pa.Table):
        given = engine.spark.createDataFrame(given).repartition(2)
    return apply_policy(asking(**parts), {DATASET: given}, output, engine=engine, **call)


def rows_of(release):
    """Return the rows of a release by column, sorted by all of them."""
    table = release.table if isinstance(release.table, pa.Table) else release.table.toArrow()
    rows = sorted(zip(*table.to_pydict().values(), strict=True), key=repr)
    return dict(zip(table.column_names, map(list, zip(*rows, strict=True)), strict=True))


# What comes out

PAY = column("pay", masking="rounding", base=0.5)
DEBT = column("debt", masking="bottom-coding", threshold=-100)
MASKED = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "masked": [PAY, DEBT]}


@pytest.mark.nightly_on_spark
def test_masked_columns_of_a_file_are_the_same_texts(engine, tmp_path):
    rows = ["20,1.25,-7", "20,1.0,-1000", "40,-1.25,", "40,,-100", "40,2.749,5"]
    (tmp_path / "in.csv").write_text("\n".join(["age,pay,debt", *rows]))
    release = applied(engine, tmp_path / "in.csv", tmp_path / "out.csv", **MASKED)
    place = Path(release.path)
    texts = (
        place.read_text()
        if place.is_file()
        else "".join(one.read_text().partition("\n")[2] for one in sorted(place.glob("*.csv")))
    )
    found = sorted(line for line in texts.splitlines() if not line.startswith("age"))
    assert found == ["20,1,-100", "20,1.5,-7", "40,,-100", "40,-1.5,", "40,2.5,5"]
    assert measured(release)["rounding", "pay"] == measured(release)["bottom-coding", "debt"] == 0


@pytest.mark.nightly_on_spark
def test_masked_decimals_are_written_as_other_numbers(engine, tmp_path):
    pay = pa.array([Decimal(one) for one in ("1.250", "7.500", "100.125", "0")])
    pq.write_table(pa.table({"age": [20, 20, 40, 40], "pay": pay}), tmp_path / "in.parquet")
    cap = column("pay", masking="top-coding", threshold=100)
    parts = {**PLAIN, "masked": [cap]}
    place = Path(applied(engine, tmp_path / "in.parquet", tmp_path / "out.csv", **parts).path)
    files = [place] if place.is_file() else place.glob("*.csv")
    found = [line for one in files for line in one.read_text().splitlines()]
    lines = sorted(one for one in found if not one.startswith("age"))
    assert lines == ["20,1.25", "20,7.5", "40,0", "40,100"]


@pytest.mark.nightly_on_spark
def test_masked_columns_of_a_table_keep_their_types(engine):
    table = {"age": [20, 20, 40, 40], "pay": [1.25, -1.25, None, 0.2], "debt": [-7, -1000, None, 5]}
    found = rows_of(applied(engine, table, **MASKED))
    assert sorted(found["pay"], key=str) == [-1.5, 0.0, 1.5, None]
    assert sorted(found["debt"], key=str) == [-100, -7, 5, None]


@pytest.mark.nightly_on_spark
def test_cells_that_do_not_keep_their_masking_are_counted(engine, tmp_path):
    rows = "age,pay,debt\n20,1.25,-7\n20,1.0,-1000\n40,-1.25,\n40,,-100\n"
    (tmp_path / "in.csv").write_text(rows)
    out = applied("local", tmp_path / "in.csv", tmp_path / "out" / "a.csv", **MASKED).path
    certify_output(out, asking(**MASKED), engine=engine)
    out.write_text(out.read_text().replace("1.5", "1.25"))  # and of -1.5 too
    with pytest.raises(CertificateError, match="V001 2 cells of 'pay' do not keep its rounding"):
        certify_output(out, asking(**MASKED), engine=engine)


def test_all_columns_that_cannot_be_masked_are_told_at_once(engine, tmp_path):
    (tmp_path / "in.csv").write_text("age,pay,debt\n20,2026-01-01,1\n20,2026-01-02,2\n")
    with pytest.raises(DataError) as told:
        applied(engine, tmp_path / "in.csv", tmp_path / "out.csv", **MASKED)
    unchanged, dates = sorted(problem.message for problem in told.value.problems)
    assert unchanged.startswith("No value of the column 'debt' is below the threshold -100")
    assert dates.startswith("The column 'pay' holds values of the type date32")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.nightly_on_spark
def test_what_other_bounds_would_cost_is_the_same(engine):
    given = pa.table(PEOPLE)
    if engine != "local":
        given = engine.spark.createDataFrame(given).repartition(2)
    found = explore_policy(asking(**DIVERSE), {DATASET: given}, {"k": [2, 3]}, engine=engine)
    assert [getattr(run.outcome, "classes", run.outcome) for run in found] == [3, 2]


@pytest.mark.nightly_on_spark
def test_each_class_is_generalised_to_the_values_it_holds(engine):
    found = rows_of(applied(engine, PEOPLE, insensitive=["row"], **BOTH, **SPAN))
    assert found == {
        "age": ["[20 - 40]"] * 3 + ["[41 - 61]"] * 3,
        "city": ["{Oslo, Rome}"] * 3 + ["Bern"] * 3,
        "row": [1, 2, 3, 4, 5, 6],
    }


@pytest.mark.nightly_on_spark
def test_cuts_are_by_default_where_least_is_lost(engine):
    # Bern apart costs nothing in the city; the span score would have cut the age in two halves.
    found = applied(engine, PEOPLE, insensitive=["row"], **{**BOTH, "k": 3})
    assert rows_of(found) == {
        "age": ["[20 - 40]"] * 3 + ["[41 - 61]"] * 3,
        "city": ["{Oslo, Rome}"] * 3 + ["Bern"] * 3,
        "row": [1, 2, 3, 4, 5, 6],
    }


@pytest.mark.nightly_on_spark
def test_every_class_is_kept_diverse(engine):
    sick = {**PEOPLE, "disease": ["flu", "flu", "flu", "flu", "cold", "cold"]}
    release = applied(engine, sick, **DIVERSE)
    assert rows_of(release)["age"] == ["[20 - 61]"] * 6
    assert measured(release) == {("k", ""): 6, ("l", "disease"): 2}


@pytest.mark.nightly_on_spark
@pytest.mark.parametrize("recoding", [{}, SPAN, RELAXED], ids=str)
def test_the_rows_are_the_same_in_any_order_of_input(engine, recoding):
    shuffled = pa.table(PEOPLE).take([3, 0, 5, 1, 4, 2])
    asked = {**BOTH, "sensitive": ["disease"], "insensitive": ["row"], **recoding}
    found = [rows_of(applied(engine, table, **asked)) for table in (PEOPLE, shuffled)]
    assert found[0] == found[1]


@pytest.mark.nightly_on_spark
def test_numbers_too_large_for_a_float_are_told_apart(engine):
    sizes = ["1e400", "1e400", "1e999", "1e999"]
    asked = {**PLAIN, "method": "t-closeness", "t": 0.1, "sensitive": ["size"]}
    release = applied(engine, {"age": [1, 1, 9, 9], "size": sizes}, **asked)
    assert release.certificate.utility.classes == 1


@pytest.mark.nightly_on_spark
def test_missing_values_are_cut_off(engine):
    found = rows_of(applied(engine, {"age": [20, None, 22, 23, None]}, **PLAIN, **SPAN))
    assert found == {"age": [*["[20 - 23]"] * 3, None, None]}


@pytest.mark.nightly_on_spark
def test_missing_values_are_mixed_where_they_are_too_few(engine):
    found = rows_of(applied(engine, {"age": [20, None, 22, 23]}, **PLAIN, **SPAN))
    assert found == {"age": ["20 or missing"] * 2 + ["[22 - 23]"] * 2}


@pytest.mark.nightly_on_spark
def test_missing_values_that_match_any_cost_nothing(engine):
    table = {"age": [1, 1, None, 9, 9, 9]}
    release = applied(engine, table, **{**PLAIN, "k": 3}, missing="wildcard")
    assert rows_of(release) == {"age": ["1 or missing"] * 3 + ["9"] * 3}
    assert release.certificate.utility.global_certainty_penalty == 0


@pytest.mark.nightly_on_spark
def test_cells_as_bounds_are_two_columns_of_a_range(engine):
    found = rows_of(applied(engine, PEOPLE, cells="bounds", **BOTH, **SPAN))
    assert list(found) == ["age_low", "age_high", "city"]
    assert list(map(str, found["age_low"])) == ["20"] * 3 + ["41"] * 3
    assert list(map(str, found["age_high"])) == ["40"] * 3 + ["61"] * 3


@pytest.mark.nightly_on_spark
def test_bounds_of_what_may_be_missing_are_missing(engine):
    found = rows_of(applied(engine, {"age": [20, None, 22, 23]}, cells="bounds", **PLAIN, **SPAN))
    assert [cell and str(cell) for cell in found["age_low"]] == ["22", "22", None, None]
    assert [cell and str(cell) for cell in found["age_high"]] == ["23", "23", None, None]


@pytest.mark.nightly_on_spark
def test_bounds_of_a_column_without_a_range_are_one_column(engine):
    found = rows_of(applied(engine, {"age": [1, 1, 2, 2]}, cells="bounds", **PLAIN))
    assert found == {"age": ["1", "1", "2", "2"]}


@pytest.mark.nightly_on_spark
def test_numbers_written_differently_are_one_value(engine, tmp_path):
    sick = {**PEOPLE, "disease": ["1", "1.0", "1.00", "1", "01.0", "1"]}
    assert measured(applied(engine, sick, **DIVERSE))["l", "disease"] == 2  # 01.0 is a text
    sick["disease"] = ["1", "1.0", "1.00", "1", "1e0", "1"]
    [problem] = refused(engine, sick, tmp_path, **DIVERSE)
    assert problem.startswith("R003 l of 'disease' is 2. The table as a whole reaches 1, below")


@pytest.mark.nightly_on_spark
def test_persons_are_counted_and_not_released(engine):
    table = {"age": [1, 1, 1, 9, 9, 9], "who": ["a", "b", "b", "a", "a", "c"]}
    release = applied(engine, table, privacyUnit="who", **PLAIN)
    assert rows_of(release) == {"age": ["1"] * 3 + ["9"] * 3}
    assert measured(release) == {("k", ""): 2}


@pytest.mark.nightly_on_spark
def test_pseudonyms_and_redacted_values_stand_for_identifiers(engine):
    parts = {**PLAIN, "pseudonymize": ["row"], "redact": ["city"], "key": KEY}
    found = rows_of(applied(engine, PEOPLE, **parts))
    assert found["city"] == ["REDACTED"] * 6
    assert len({*found["row"]}) == 6
    assert all(len(pseudonym) == 64 for pseudonym in found["row"])
    again = applied(engine, PEOPLE, **parts)
    assert not {*found["row"]} & {*rows_of(again)["row"]}
    scoped = [applied(engine, PEOPLE, **parts, pseudonymScope="both") for _ in range(2)]
    assert len({pseudonym for one in scoped for pseudonym in rows_of(one)["row"]}) == 6


# What is refused


def refused(engine, table, folder, **parts):
    """Return the problems for which nothing is released, code first; nothing is written."""
    before = sorted(folder.rglob("*"))
    with pytest.raises(PolicyEngineError) as caught:
        applied(engine, table, folder / "out", **parts)
    assert sorted(folder.rglob("*")) == before
    return [f"{one.code} {one.message}" for one in caught.value.problems]


NAMES = {"name": ["Ann", "Bob", "Ann", "Dan"], "age": [1, 2, 8, 9]}
CALENDAR = column("age", generalization="calendar")
TAXONOMY = {"generalization": "taxonomy", "taxonomy": "cities.csv"}
REFUSED = {
    "no rows": (["R001 The table has no rows"], {"age": pa.array([], pa.int64())}, {}),
    "fewer rows than k": (
        ["R002 The table has 6 rows, fewer than k, which is 7"],
        PEOPLE,
        {"k": 7},
    ),
    "fewer persons than k": (
        ["R002 The table has 2 persons, fewer than k, which is 3"],
        {"who": ["a", "a", "b"], "age": [1, 2, 3]},
        {"k": 3, "privacyUnit": "who"},
    ),
    "fewer values than l": (
        ["R003 l of 'disease' is 3. The table as a whole reaches 2"],
        PEOPLE,
        {**DIVERSE, "k": 3, "l": 3},
    ),
    "missing values are none": (
        ["R003 l of 'disease' is 2. The table as a whole reaches 1, below that"],
        {**PEOPLE, "disease": ["flu", None, "flu", "flu", None, None]},
        DIVERSE,
    ),
    "no values": (
        ["R003 The sensitive column 'disease' has no values"],
        {**PEOPLE, "disease": pa.array([None] * 6, pa.string())},
        DIVERSE,
    ),
    "every bound": (
        ["R003", "R003"],
        PEOPLE,
        {"method": ["l-diversity", "alpha-k-anonymity"], "l": 3, "alpha": 0.25}
        | {"sensitive": ["disease"], "k": 3},
    ),
    "infinite": (["R004"], {"age": [1.0, float("inf")]}, {}),
    "a set beyond all use": (
        ["R005"],
        {"age": [f"{'x' * 90}{n}" for n in range(2000)], "disease": ["b", *["a"] * 1999]},
        DIVERSE,
    ),
    "no dates": (
        ["R006"],
        {"age": ["x", "y"]},
        {"quasi": [column("age", generalization="calendar")]},
    ),
    "not in the taxonomy": (["R007"], PEOPLE, {"quasi": [column("city", **TAXONOMY)]}),
    "linking pseudonyms": (["R008"], NAMES, {"pseudonymize": ["name"], "key": KEY}),
    "too few pseudonyms": (
        ["V001"],
        {**NAMES, "name": ["Ann", "Ann", "Bob", "Cid"]},
        {"pseudonymize": ["name"], "key": KEY},
    ),
    "too few pseudonyms beside nobody's": (
        ["V001"],
        {"name": ["Ann", " ", None], "age": [1, 1, 1]},
        {"k": 3, "pseudonymize": ["name"], "key": KEY},
    ),
    "a column that is not there": (["C005"], PEOPLE, {"quasi": ["age", "zip"]}),
    "a name twice": (
        ["C006"],
        {"age": [1, 2, 3, 4], "age_low": [1, 1, 1, 1]},
        {"insensitive": ["age_low"], "cells": "bounds"},
    ),
    "bytes": (["C009"], {"age": [b"a", b"b"]}, {}),
    "no key": (["C013"], NAMES, {"pseudonymize": ["name"]}),
    "a short key": (["C013"], NAMES, {"pseudonymize": ["name"], "key": b"x"}),
}


@pytest.mark.parametrize("what", everyday_on_spark(REFUSED, "no rows", "every bound"))
def test_nothing_is_written_of_what_is_refused(engine, what, tmp_path, monkeypatch):
    monkeypatch.delenv("POLICY_ENGINE_KEY", raising=False)
    (tmp_path / "cities.csv").write_text("Rome;Italy;*\nOslo;Norway;*\n")
    expected, table, parts = REFUSED[what]
    asked = {"taxonomies": {"cities.csv": tmp_path / "cities.csv"}, **PLAIN, **parts}
    found = refused(engine, table, tmp_path, **asked)
    assert [one[: len(start)] for one, start in zip(found, expected, strict=True)] == expected


@pytest.mark.nightly_on_spark
def test_a_refusal_says_what_the_table_could_hold(engine):
    with pytest.raises(DataError, match="R003 l of 'disease' is 3") as caught:
        applied(engine, PEOPLE, **{**DIVERSE, "k": 3, "l": 3})
    assert caught.value.problems[0].hint == "On this table, l can be at most 2."


# What is certified


@pytest.fixture
def made(engine, tmp_path):
    """A release of an engine, as a file or a folder of files, of an input in a file."""
    rows = "".join(f"p{n % 40},{n * n % 90},{'ABC'[n % 3]},{'xyz'[n % 7 % 3]}\n" for n in range(90))
    (tmp_path / "in.csv").write_text(f"who,age,city,disease\n{rows}")
    return applied(engine, tmp_path / "in.csv", tmp_path / "out" / "a.csv", **CERTIFIED)


CERTIFIED = {**DIVERSE, "k": 3, "quasi": ["age", "city"]}
BY_PERSON = {**CERTIFIED, "privacyUnit": "who"}


def check_certified(engine, release, parts=CERTIFIED, **more):
    found = certify_output(release.path, asking(**parts), engine=engine, **more)
    expected = release.certificate
    assert [one.achieved for one in found.measurements] == [
        one.achieved for one in expected.measurements
    ]
    assert (found.utility, found.output_digest) == (expected.utility, expected.output_digest)


@pytest.mark.nightly_on_spark
def test_a_release_is_certified_again(engine, made):
    check_certified(engine, made)


@pytest.mark.parametrize("name", everyday(("a.csv", "a.csv.gz", "a.parquet"), "a.csv"))
def test_a_release_of_the_local_engine_is_certified_by_spark(cluster, tmp_path, name):
    table = {**PEOPLE, "city": ["a b", "a b", "x", "x", 'y "', 'y "']}
    check_certified(cluster, applied("local", table, tmp_path / "out" / name, **BOTH), BOTH)


def changed(release, change):
    """Change the text of the first file of a release."""
    place = Path(release.path)
    file = min(place.glob("*.csv")) if place.is_dir() else place
    file.write_text(change(file.read_text()))
    # Hadoop's own checksum would be found out first.
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def without_a_row(text):
    return "".join(text.splitlines(keepends=True)[:-1])


CHANGES = {
    "a row is gone": (without_a_row, "V00[14]"),
    "a column has another name": (lambda text: text.replace("age", "agf", 1), "V002"),
    "a cell has no known shape": (lambda text: text.replace("[", "[[", 1), "V002"),
    "a sensitive value is another": (lambda text: text.replace(",x\n", ",y\n", 1), "V00[14]"),
}


@pytest.mark.parametrize("what", everyday_on_spark(CHANGES))
def test_a_release_that_was_changed_is_not_certified(engine, made, what):
    change, code = CHANGES[what]
    changed(made, change)
    with pytest.raises(PolicyEngineError, match=code):
        certify_output(made.path, asking(**CERTIFIED), engine=engine)


HIDDEN = {
    "pseudonyms": {"pseudonymize": ["city"]},
    "redacted cells": {"redact": ["city"]},
    "means": {"quasi": [column("age", generalization="mean")], "insensitive": ["city"]},
}


@pytest.mark.parametrize("what", everyday_on_spark(HIDDEN))
def test_what_is_to_be_hidden_is_not_certified_in_the_clear(engine, what, tmp_path):
    release = applied(engine, PEOPLE, tmp_path / "out" / "a.csv", insensitive=["city"], **PLAIN)
    (tmp_path / "out" / "certificate.jsonld").unlink()
    with pytest.raises(CertificateError, match="V002"):
        certify_output(release.path, asking(**PLAIN | HIDDEN[what]), engine=engine)


@pytest.mark.nightly_on_spark
def test_an_output_of_persons_is_certified_with_its_input_alone(engine, tmp_path, made):
    data = {DATASET: tmp_path / "in.csv"}
    release = applied(engine, tmp_path / "in.csv", tmp_path / "by" / "a.csv", **BY_PERSON)
    with pytest.raises(DataError, match="V006"):
        certify_output(release.path, asking(**BY_PERSON), engine=engine)
    check_certified(engine, release, BY_PERSON, data=data)
    with pytest.raises(CertificateError, match=r"V00[34]"):
        certify_output(made.path, asking(**{**BY_PERSON, "k": 7}), data=data, engine=engine)
