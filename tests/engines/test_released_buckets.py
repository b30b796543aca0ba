"""Releases by buckets, from the policy to both tables."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from applying import applied, asking, measured, refused
from building import OUTPUT, anonymize, column, permission, policy, refinement
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from patients import PATIENTS

from policy_engine import apply_policy, certify_output
from policy_engine.engines.tables import read_table
from policy_engine.errors import PolicyEngineError
from policy_engine.plan.making import make_plan
from policy_engine.policy import read_policy

ASKED = {"method": "l-diversity", "k": 3, "l": 3, "sensitive": ["ill"]}
ASKED |= {"quasi": ["age"], "algorithm": "bucketization"}
DISTINCT = {**ASKED, "buckets": "distinct-l"}
ILLS = ["cold", "flu", "hiv"] * 4
PEOPLE = {"age": list(range(12)), "ill": ILLS}

FIGURE_2_1 = dict(zip(("birth", "sex", "ill"), map(list, zip(*PATIENTS, strict=True)), strict=True))
FIGURE_2_1["birth"] = [int(year) for year in FIGURE_2_1["birth"]]


def rows(table):
    return list(zip(*table.to_pydict().values(), strict=True))


def contents(release):
    """Return the values of each bucket, with how often they occur."""
    found = {}
    for bucket, value, count in rows(release.tables["sensitive"]):
        found.setdefault(bucket, {})[value] = count
    return found


def people_of(release, names):
    """Return what the rows of each bucket have in some columns."""
    table = release.tables["quasi-identifiers"]
    found = {}
    for *cells, bucket in zip(*(table[one].to_pylist() for one in (*names, "bucket")), strict=True):
        found.setdefault(bucket, []).append(tuple(cells))
    return found


def test_figure_3_4_is_made_of_figure_2_1():
    made = applied(FIGURE_2_1, **{**DISTINCT, "quasi": ["birth", "sex"]})
    people = people_of(made, ["birth", "sex"])
    assert {people[bucket][0]: values for bucket, values in contents(made).items()} == {
        (1955, "F"): {"dermatitis": 1, "gastritis": 1, "helicobacter": 2},
        (1955, "M"): {"dermatitis": 1, "helicobacter": 2, "retinitis": 1},
        (1960, "F"): {"epilepsy": 1, "labyrinthitis": 1, "stroke": 2},
        (1960, "M"): {"achlorhydria": 1, "dyspepsia": 2, "gastritis": 1},
    }
    assert {len(set(some)) for some in people.values()} == {1}
    assert measured(made) == {("bucket-k", ""): 4, ("bucket-l", "ill"): 3}


@pytest.mark.parametrize(("most", "sizes"), [(3, [3, 3, 3, 3, 4]), (4, [4, 4, 4, 4])])
def test_anatomy_of_figure_2_1_has_every_disease_once_in_a_bucket(most, sizes):
    made = applied(FIGURE_2_1, **{**ASKED, "quasi": ["birth", "sex"], "k": most, "l": most})
    assert sorted(map(len, contents(made).values())) == sizes
    assert {count for some in contents(made).values() for count in some.values()} == {1}
    assert set(measured(made).values()) == {most}


def test_quasi_identifiers_are_as_they_were_and_sensitive_values_are_apart():
    made = applied({**PEOPLE, "note": list("abcdefghijkl")}, insensitive=["note"], **ASKED)
    quasi, sensitive = made.tables["quasi-identifiers"], made.tables["sensitive"]
    assert made.table.equals(quasi)
    assert quasi.column_names == ["age", "note", "bucket"]
    assert rows(quasi.select(["age", "note"])) == list(zip(range(12), "abcdefghijkl", strict=True))
    assert sensitive.column_names == ["bucket", "ill", "count"]
    assert Counter(sensitive["ill"].to_pylist()) == Counter(ILLS)


def test_two_files_have_one_certificate_that_speaks_of_both(tmp_path):
    made = applied(PEOPLE, tmp_path / "out", **ASKED)
    files = sorted(one.relative_to(tmp_path).as_posix() for one in tmp_path.rglob("*.*"))
    assert files[-4:] == [
        "out/anonPeople.csv",
        "out/anonPeople.csv/quasi-identifiers.csv",
        "out/anonPeople.csv/sensitive.csv",
        "out/certificate.jsonld",
    ]
    assert set(made.certificate.tables) == {"quasi-identifiers.csv", "sensitive.csv"}
    assert made.certificate.rows_out == 12
    again = certify_output(tmp_path / "out", asking(**ASKED))
    assert again.measurements == made.certificate.measurements
    assert again.tables == made.certificate.tables


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
def test_a_release_in_memory_is_written_in_every_format(name, tmp_path):
    made = applied(PEOPLE, **ASKED)
    written = made.write(tmp_path / name)
    kind = name.partition(".")[2]
    quasi = read_table(tmp_path / name / f"quasi-identifiers.{kind}")
    assert [int(one) for one in quasi["age"].to_pylist()] == list(range(12))
    assert certify_output(written.path, asking(**ASKED)).measurements == (
        made.certificate.measurements
    )
    assert written.tables["sensitive"].equals(made.tables["sensitive"])


def test_the_key_deals_the_same_buckets_again_and_nothing_else_does():
    key = b"0123456789abcdef0123456789abcdef"
    many = {"age": list(range(300)), "ill": ILLS * 25}
    first, second, third = (applied(many, key=one, **ASKED) for one in (key, key, None))
    assert first.table.equals(second.table)
    assert not first.table.equals(third.table)


@pytest.mark.parametrize("buckets", ["anatomy", "distinct-l"])
def test_the_order_of_the_input_leaves_no_trace_in_either_table(buckets):
    random = np.random.default_rng(5)
    table = {"age": random.integers(0, 9, 60), "ill": random.choice(list("abcdef"), 60)}
    order = random.permutation(60)
    mixed = {name: values[order] for name, values in table.items()}
    asked = {**ASKED, "buckets": buckets, "key": b"0123456789abcdef0123456789abcdef"}
    first, second = applied(table, **asked), applied(mixed, **asked)
    assert all(table.equals(second.tables[name]) for name, table in first.tables.items())


def test_the_order_of_published_rows_follows_from_what_is_published():
    many = {"age": [1, 1, 1, 0, 0, 0] * 20, "ill": ILLS * 10}
    made = applied(many, **ASKED)
    for table in made.tables.values():
        assert rows(table) == sorted(rows(table))


def test_a_missing_value_is_none_of_the_l_and_in_a_bucket_once():
    table = {"age": list(range(8)), "ill": ["a", "b", "c", None] * 2}
    made = applied(table, **ASKED)
    assert [len(some) for some in contents(made).values()] == [4, 4]
    assert measured(made)["bucket-l", "ill"] == 3
    assert refused_message(table, k=4, l=4).startswith("R003")
    mostly = {"age": list(range(8)), "ill": ["a", "b", "c", None, None, None, "a", "b"]}
    assert refused_message(mostly, k=2, l=2).startswith("R015")


def test_buckets_of_more_rows_have_a_value_once_in_l_rows():
    table = {"age": list(range(12)), "ill": list("aaaabbbbcccc")}
    made = applied(table, **{**ASKED, "k": 5})
    assert list(contents(made).values()) == [{"a": 2, "b": 2, "c": 2}] * 2
    assert measured(made) == {("bucket-k", ""): 6, ("bucket-l", "ill"): 3, ("anatomy-l", "ill"): 3}


def test_equal_quasi_identifiers_are_merged_until_there_are_k_rows_and_l_values():
    table = {"age": [1, 2, 2, 3, 4, 4, 4, 5], "ill": list("aabcabcc")}
    made = applied(table, **{**DISTINCT, "l": 2})
    ages = [sorted(age for (age,) in some) for some in people_of(made, ["age"]).values()]
    assert ages == [[1, 2, 2], [3, 4, 4, 4, 5]]


def test_texts_that_are_equal_numbers_are_one_value():
    table = {"age": list(range(6)), "ill": ["1.0", "1.00", "2", "2.0", "3", "3"]}
    made = applied(table, **ASKED)
    assert [len(some) for some in contents(made).values()] == [3, 3]
    table["ill"] = ["1.0", "1.00"] * 3
    assert refused_message(table, k=2, l=2).startswith("R003")


def refused_message(table, **parts):
    with pytest.raises(PolicyEngineError) as refusal:
        applied(table, **{**ASKED, **parts})
    return str(refusal.value)


def test_a_value_that_is_too_frequent_for_anatomy_names_the_largest_l(tmp_path):
    table = {"age": list(range(10)), "ill": list("aaaabcdbcd")}
    assert refused(table, tmp_path, **ASKED) == ["R015"]
    assert "l can be at most 2." in refused_message(table)
    assert "no l is possible" in refused_message({"age": [1, 2, 3, 4, 5], "ill": list("aaabc")})


NAMED = {"age": [1, 2, 3, 4], "ill": list("abcd"), "who": list("wxyz"), "job": list("jklm")}


@pytest.mark.parametrize(
    ("parts", "codes"),
    [
        ({"sensitive": ["ill", "job"]}, ["M003"]),
        ({"privacyUnit": "who"}, ["M003"]),
        ({"pseudonymize": ["who"]}, ["M003"]),
        ({"method": "k-anonymity", "l": None, "sensitive": None}, ["M003"]),
        ({"method": ["l-diversity", "t-closeness"], "t": 0.5}, ["M003"]),
        ({"quasi": [column("age", generalization="range")]}, ["M003"]),
        ({"quasi": [column("age", weight=2)]}, ["M003"]),
        ({"quasi": ["age", "bucket"]}, ["M003"]),
        ({"insensitive": ["Count"]}, ["M003"]),
        ({"buckets": "heap"}, ["M003"]),
        ({"missing": "wildcard"}, ["M003"]),
        ({"loss": "height"}, ["M003"]),
        ({"algorithm": "mondrian", "buckets": "anatomy"}, ["M003"]),
        ({"sensitive": ["ill", "job"], "privacyUnit": "who"}, ["M003", "M003"]),
        ({"k": 5}, ["R002"]),
        ({"k": 5, "l": 5}, ["R002", "R003"]),
    ],
    ids=str,
)
def test_what_does_not_go_with_buckets_is_refused(parts, codes, tmp_path):
    asked = {name: value for name, value in {**ASKED, **parts}.items() if value is not None}
    assert refused(NAMED, tmp_path, **asked) == codes


def test_spark_has_no_buckets_and_says_why():
    text = read_policy(asking(**ASKED))
    with pytest.raises(PolicyEngineError, match=r"M009 .* in one order"):
        make_plan(text, engine="spark")


def test_exact_quasi_identifiers_are_warned_of():
    [hint] = [one for one in read_policy(asking(**ASKED)).hints if one.code == "W007"]
    assert "who is in the table" in hint.message
    by_class = {**ASKED, "algorithm": "mondrian"}
    assert "W007" not in [one.code for one in read_policy(asking(**by_class)).hints]


def test_masked_and_redacted_columns_are_beside_the_quasi_identifiers(tmp_path):
    table = {**PEOPLE, "who": list("abcdefghijkl"), "pay": [float(one) for one in range(12)]}
    pay = column("pay", masking="rounding", base=4)
    asked = {**ASKED, "method": ["l-diversity", "masking"], "masked": [pay], "redact": ["who"]}
    made = applied(table, tmp_path / "out", **asked)
    assert set(made.table.column_names) == {"age", "who", "pay", "bucket"}
    assert {one % 4 for one in made.table["pay"].to_pylist()} == {0}
    assert set(made.table["who"].to_pylist()) == {"REDACTED"}
    assert certify_output(tmp_path / "out", asking(**asked)).measurements == (
        made.certificate.measurements
    )


def test_a_sample_of_the_rows_is_released_by_buckets():
    made = applied(PEOPLE, sampleSize=9, weightColumn="weight", **{**DISTINCT, "l": 2})
    assert made.table.num_rows == sum(made.tables["sensitive"]["count"].to_pylist()) == 9
    assert set(made.table.column_names) == {"age", "weight", "bucket"}


def test_categories_that_no_row_has_are_in_neither_file(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": range(6), "ill": list("abcabc")})
    frame["ill"] = pandas.Categorical(frame["ill"], categories=[*"abc", "plague"])
    made = applied(pa.Table.from_pandas(frame), tmp_path / "out.parquet", **ASKED)
    assert b"plague" not in (made.path / "sensitive.parquet").read_bytes()
    assert certify_output(made.path, asking(**ASKED)).rows_out == 6


def test_a_join_of_two_datasets_is_released_by_buckets(tmp_path):
    ages, ills = "http://x.org/Ages", "http://x.org/Ills"
    how = {"method": "l-diversity", "k": 2, "l": 2, "algorithm": "bucketization"}
    action = anonymize(**how)
    action["refinement"].append(refinement("mosaicrown:quasi-identifier", [f"{ages}/age"]))
    action["refinement"].append(refinement("mosaicrown:sensitive", [f"{ills}/ill"]))
    action["refinement"].append(refinement("pe:joinOn", [f"{ages}/id", f"{ills}/id"]))
    text = policy([permission(target=[ages, ills], action=action, output=OUTPUT)])
    tables = {
        ages: pa.table({"id": [1, 2, 3, 4], "age": [5, 6, 7, 8]}),
        ills: pa.table({"id": [4, 3, 2, 1], "ill": list("abab")}),
    }
    made = apply_policy(text, tables, tmp_path / "out")
    assert rows(made.table.select(["age"])) == [(5,), (6,), (7,), (8,)]
    assert list(contents(made).values()) == [{"a": 1, "b": 1}] * 2


VALUES = st.one_of(
    st.lists(st.none() | st.integers(-3, 3), min_size=4, max_size=40),
    st.lists(st.none() | st.floats(-9, 9, width=16), min_size=4, max_size=40),
    st.lists(st.none() | st.sampled_from(["a", "b", "", "c"]), min_size=4, max_size=40),
    st.lists(st.none() | st.dates(), min_size=4, max_size=40),
)


@settings(max_examples=examples(60))
@given(VALUES, st.sampled_from(["anatomy", "distinct-l"]), st.integers(2, 3))
def test_whatever_the_values_every_bucket_holds_its_definition(values, buckets, least):
    ages = [place % 5 for place in range(len(values))]
    table = pa.table({"age": ages, "ill": pa.array(values)})
    asked = {**ASKED, "buckets": buckets, "k": least, "l": least}
    present = Counter(one for one in values if one not in (None, ""))
    most = Counter("" if one is None else one for one in values)
    if len(present) < least or (
        buckets == "anatomy" and sum(present.values()) // max(most.values()) < least
    ):
        assert refused_message(table, **asked)[:4] in ("R003", "R015")
        return
    made = applied(table, **asked)
    found = contents(made)
    sizes = Counter(made.table["bucket"].to_pylist())
    assert {bucket: sum(some.values()) for bucket, some in found.items()} == sizes
    assert min(sizes.values()) >= least
    assert all(len({*some} - {None, ""}) >= least for some in found.values())
    if buckets == "anatomy":
        assert {count for some in found.values() for count in some.values()} == {1}
    assert sorted(made.table["age"].to_pylist()) == sorted(ages)
    back = Counter()
    for value, count in ((v, n) for some in found.values() for v, n in some.items()):
        back[value] += count
    assert back == Counter(table["ill"].to_pylist())
