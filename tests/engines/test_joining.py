"""Tables of one key, put together: as a nested loop does, and on every engine alike."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matched import CLAIMS, MATCHED, VISITS, matching, tables

from policy_engine import apply_policy
from policy_engine.engines.joining import join_tables
from policy_engine.errors import DataError
from policy_engine.plan.inputs import Join
from policy_engine.plan.joins import Joined

ON_KEY = Join(
    inputs=(
        Joined(asset="x:a", on="key", columns=("one",)),
        Joined(asset="x:b", on="number", columns=("number", "two")),
    ),
    may_repeat=True,
)
keys = st.lists(st.sampled_from([None, "", " ", "1", "2", "01", "three"]), max_size=9)


@given(keys, keys)
def test_rows_are_put_together_as_by_a_nested_loop(some, others):
    one = pa.table({"key": pa.array(some, pa.string()), "one": range(len(some))})
    two = pa.table({"number": pa.array(others, pa.string()), "two": range(len(others))})
    pairs = [
        (place, key, other)
        for place, key in enumerate(some)
        for other, number in enumerate(others)
        if key is not None and key.strip() and key == number
    ]
    shared = {key for _, key, _ in pairs}
    are_many = [any(keys.count(key) > 1 for key in shared) for keys in (some, others)]
    if not pairs or all(are_many):
        with pytest.raises(DataError, match="R012" if pairs else "R001"):
            join_tables([one, two], ON_KEY)
        return
    found = join_tables([one, two], ON_KEY)
    assert sorted(zip(*found.to_pydict().values(), strict=True)) == sorted(pairs)


def test_three_tables_are_joined_on_one_key():
    inputs = tuple(Joined(asset=f"x:{n}", on="key", columns=(n,)) for n in "abc")
    given = [pa.table({"key": order, n: order}) for n, order in zip("abc", KEYS, strict=True)]
    found = join_tables(given, Join(inputs=inputs))
    assert found.to_pydict() == {"a": [2, 3], "b": [2, 3], "c": [2, 3]}


KEYS = ([1, 2, 3], [3, 2, 5], [2, 3, 1])


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint64(), pa.dictionary(pa.int8(), pa.string())])
def test_keys_of_texts_and_of_integers_are_the_same_by_their_texts(kind):
    texts = pa.table({"key": ["1", "2", "03"], "one": [1, 2, 3]})
    numbers = pa.array(["1", "3", "2"]).cast(kind if pa.types.is_integer(kind) else pa.string())
    other = pa.table({"number": numbers.cast(kind), "two": [1, 3, 2]})
    assert join_tables([texts, other], ON_KEY)["two"].to_pylist() == [1, 2]


@pytest.mark.parametrize("kind", [pa.float64(), pa.bool_(), pa.date32()])
def test_other_types_are_no_keys(kind):
    one = pa.table({"key": pa.nulls(2, kind), "one": [1, 2]})
    with pytest.raises(DataError, match=r"R012 .*'key' of x:a is of type"):
        join_tables([one, pa.table({"number": ["1"], "two": [1]})], ON_KEY)


# -- every engine ---------------------------------------------------------------------------------


@pytest.fixture(params=["local", "spark"])
def engine(request):
    return "local" if request.param == "local" else request.getfixturevalue("cluster")


def frames(engine, visits, claims):
    given = [pa.table(visits), pa.table(claims)]
    if engine != "local":
        given = [engine.spark.createDataFrame(one).repartition(2) for one in given]
    return dict(zip((VISITS, CLAIMS), given, strict=True))


NUMBERS = {"Patient": [1, 2, 3, 4, 4], "Age": [20, 21, 40, 41, 42], "Diagnosis": [*"fcfcf"]}
TEXTS = {"Insured": ["4", "2", "1", "3"], "Zip": [1, 2, 3, 4], "Amount": [5, 6, 7, 8]}
COUNTED = {"privacyUnit": f"{VISITS}/Patient"}


@pytest.mark.one_in(2)
def test_the_same_rows_come_of_files_on_every_engine(engine, tmp_path):
    data = tables(tmp_path)
    release = apply_policy(matching(), data, engine=engine)
    rows = release.to_pandas().astype(str).sort_values(["Amount"]).to_numpy().tolist()
    assert [row[1:] for row in rows][:2] == [
        ["10", "[40 - 41]", "cold"],
        ["20", "[40 - 41]", "flu"],
    ]
    assert [one.rows for one in release.record.inputs] == [8, 7]
    assert (release.record.rows_in, release.certificate.rows_out) == (6, 6)
    assert release.plan.publish.asset == MATCHED


@pytest.mark.nightly_on_spark
def test_persons_of_several_rows_are_counted_on_every_engine(engine):
    with pytest.raises(DataError, match=r"R012 .*Visits has several rows for 1 of the keys"):
        apply_policy(matching(), frames(engine, NUMBERS, TEXTS), engine=engine)
    release = apply_policy(matching(**COUNTED), frames(engine, NUMBERS, TEXTS), engine=engine)
    assert release.certificate.rows_out == 5
    assert "Patient" not in release.to_pandas().columns


@pytest.mark.nightly_on_spark
def test_a_blank_text_is_no_key_on_every_engine(engine):
    blanks = ["", " \t\u00a0\x1c\x85\u2003"]
    visits = {name: [*cells[:4], *cells[:2]] for name, cells in NUMBERS.items()}
    claims = {name: [*cells, *cells[:2]] for name, cells in TEXTS.items()}
    visits["Patient"], claims["Insured"] = (["1", "2", "3", "4", *blanks] for _ in range(2))
    release = apply_policy(matching(), frames(engine, visits, claims), engine=engine)
    assert release.certificate.rows_out == 4


@pytest.mark.nightly_on_spark
def test_what_is_no_key_is_none_on_every_engine(engine):
    numbers = {**NUMBERS, "Patient": [1.0, 2.0, 3.0, 4.0, 4.0]}
    with pytest.raises(DataError, match="R012"):
        apply_policy(matching(), frames(engine, numbers, TEXTS), engine=engine)
    strangers = {**TEXTS, "Insured": ["11", "12", "13", "14"]}
    with pytest.raises(DataError, match="R001"):
        apply_policy(matching(), frames(engine, NUMBERS, strangers), engine=engine)
