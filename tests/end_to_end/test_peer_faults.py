"""Faults met in other tools, one test each: here they do not happen."""

from collections import Counter

import pyarrow as pa
import pytest
from applying import applied, measured, refused

from policy_engine.data.cells import read_cell
from policy_engine.kernels import mondrian


def test_rows_with_a_missing_number_are_in_classes_as_all_others():
    # mosaicrown (local): `x < median` and `x >= median` both leave missing values out, and those
    # rows were released as they are, in classes below k.
    ages = [None, 20, 30, None, 40, 50, None, 60, 70, 80, 90]
    found = applied({"age": ages}, method="k-anonymity", k=2, quasi=["age"]).table["age"]
    assert min(Counter(found.to_pylist()).values()) >= 2
    assert Counter(found.to_pylist())[None] == 3


def test_rows_with_missing_values_are_not_lost():
    # anonypy: 200 rows in, 190 out.
    table = {"age": [*range(190), *[None] * 10], "zip": [*[None] * 10, *["a", "b"] * 95]}
    release = applied(table, method="k-anonymity", k=3, quasi=["age", "zip"])
    assert release.table.num_rows == 200
    assert (release.record.input.rows, release.certificate.rows_out) == (200, 200)


def closeness(disease, age, t):
    """Return the greatest variational distance of a class, measured by hand, and the classes."""
    table = {"age": age, "disease": disease}
    release = applied(table, method="t-closeness", k=2, t=t, quasi=["age"], sensitive=["disease"])
    rows = list(zip(*release.table.to_pydict().values(), strict=True))
    overall, sizes, pairs = Counter(disease), Counter(a for a, _ in rows), Counter(rows)
    distances = {
        cell: sum(abs(pairs[cell, value] / size - overall[value] / len(rows)) for value in overall)
        / 2
        for cell, size in sizes.items()
    }
    assert measured(release)["t", "disease"] == pytest.approx(max(distances.values()))
    return max(distances.values()), len(sizes)


def test_a_bound_on_closeness_binds():
    # anonypy: the bound was overwritten in its own loop; t = .001 and t = .9 gave one release.
    disease, age = ["flu", "flu", "cold", "cold"] * 4, list(range(16))
    tight, few = closeness(disease, age, t=0.001)
    loose, many = closeness(disease, age, t=0.9)
    assert (tight, few) == (0, 4)
    assert (loose, many) == (0.5, 8)


def test_closeness_is_a_distance_over_all_values():
    # anonypy, anjana: max |p - q| over the values of a class is neither the variational distance
    # nor the earth mover's. Here it is 1/8 in either class, and the distance is 1/2.
    table = {
        "age": [1] * 4 + [2] * 4,
        "disease": ["a", "b", "c", "d", "e", "f", "g", "h"],
    }
    asked = {"method": "t-closeness", "k": 2, "quasi": ["age"], "sensitive": ["disease"]}
    apart = applied(table, t=0.5, **asked)
    assert measured(apart)["t", "disease"] == 0.5
    assert set(apart.table["age"].to_pylist()) == {"1", "2"}
    together = applied(table, t=0.49, **asked)
    assert set(together.table["age"].to_pylist()) == {"[1 - 2]"}


def test_ranges_are_no_wider_than_their_class():
    # qiyuangong/Mondrian #5: ranges stayed those of an ancestor of the class.
    ages = [1, 2, 3, 50, 51, 98, 99, 100]
    found = applied({"age": ages}, method="k-anonymity", k=3, quasi=["age"]).table["age"]
    cells = sorted(Counter(found.to_pylist()).items())
    assert cells == [("[1 - 3]", 3), ("[50 - 100]", 5)]


def test_negative_numbers_are_read_back(tmp_path):
    # qiyuangong/Mondrian: `range.split('-')` cannot read `-3--1` back.
    change = [-3, -2, -1, 0, 1, 2.5, 1e300, -1e300]
    release = applied(
        {"change": change}, tmp_path / "out", method="k-anonymity", k=2, quasi=["change"]
    )
    ends = [read_cell(cell).values for cell in release.table["change"].unique().to_pylist()]
    assert all(float(low) <= float(high) for low, high in ends)
    assert {float(end) for pair in ends for end in pair} <= set(change)


def test_commas_in_a_category_do_not_break_a_set():
    # qiyuangong/Mondrian, mosaicrown: the members of a set were joined by commas.
    jobs = ["clerk, junior", "clerk", "junior", 'say "hi"', "{a}", "a~b"]
    found = applied({"job": jobs}, method="k-anonymity", k=6, quasi=["job"]).table["job"]
    [cell] = found.unique().to_pylist()
    assert sorted(read_cell(cell).values) == sorted(jobs)


@pytest.mark.nightly
def test_no_matrix_of_rows_and_classes_is_made():
    # IBM's anonymizer: a dense matrix of rows x leaves, 62.7 GiB at 163,065 rows. Here 30,000
    # rows fall into 15,000 classes: such a matrix had 430 MiB in bytes.
    import tracemalloc  # numpy and numba allocate through it, pyarrow does not

    table = pa.table({"x": list(range(30_000)), "y": [i * 7919 % 30_000 for i in range(30_000)]})
    asked = {"method": "k-anonymity", "k": 2, "quasi": ["x", "y"]}
    applied(table.slice(0, 10), **asked)  # compiles
    tracemalloc.start()
    release = applied(table, **asked)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert release.certificate.utility.classes > 10_000
    assert most < 50 << 20


def test_a_value_that_a_hierarchy_lacks_is_named(tmp_path):
    # ARX #283: an index error, or nothing at all.
    (tmp_path / "city.csv").write_text("Rome;Italy;*\nOslo;Norway;*\n")
    column = {
        "@id": "http://x.org/People/city",
        "pe:generalization": "taxonomy",
        "pe:taxonomy": "city.csv",
    }
    asked = {"method": "k-anonymity", "k": 2, "quasi": [column]}
    taxonomies = {"city.csv": tmp_path / "city.csv"}
    table = {"city": ["Rome", "Oslo", "Bern", "Graz"]}
    assert refused(table, tmp_path, taxonomies=taxonomies, **asked) == ["R007"]
    with pytest.raises(Exception, match="lacks 2 of its values") as caught:
        applied(table, taxonomies=taxonomies, **asked)
    assert caught.value.problems[0].values == ("Bern", "Graz")


def test_suppressed_rows_are_no_class():
    # ARX #259: rows of `*` were a class of their own when the output was measured again.
    table = {"sex": ["m"] * 4 + ["f"] * 4 + ["x"], "job": ["a"] * 4 + ["b"] * 4 + ["c"]}
    release = applied(
        table,
        method="k-anonymity",
        algorithm="full-domain",
        maxSuppression=0.2,
        k=4,
        quasi=["sex", "job"],
    )
    assert Counter(release.table["sex"].to_pylist()) == {"m": 4, "f": 4}
    assert release.certificate.utility.classes == 2
    assert measured(release)["k", ""] == 4
    assert release.record.suppressed == 1


def test_work_is_parted_among_workers_and_comes_out_the_same(monkeypatch):
    # spark-privacy-preserver: groupBy().apply() over one constant group, so that nothing ran
    # beside anything else.
    table = pa.table({"x": [i * 7919 % 5003 for i in range(5003)], "y": list(range(5003))})
    asked = {"method": "k-anonymity", "k": 5, "quasi": ["x", "y"]}
    alone, parts = applied(table, **asked), []
    monkeypatch.setattr(mondrian, "_WORTH_SHARING", 1000)
    monkeypatch.setattr(mondrian.os, "cpu_count", lambda: 4)
    shared = applied(table, **asked, progress=lambda *told: parts.append(told))
    assert shared.table.equals(alone.table)
    assert len({told for told in parts if told[0] == "partitioning"}) > 4
