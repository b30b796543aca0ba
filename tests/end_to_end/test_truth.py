"""No cell of a release is false of a row, however values are written; both told apart anew."""

import csv
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest
from applying import asking
from building import DATASET, column
from dense import MEASURES, holds, worst
from everyday import examples
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from truth import is_true, reader

from policy_engine.api.applying import apply_policy
from policy_engine.errors import DataError

TREE = "http://x.org/tree"

# Values that are equal but written differently, that look alike, and that stand apart.
NUMBERS = [
    *("1", "1.0", "1.00", "1e0", "10e-1", " 1", "1 ", "2", "2.0", "-0", "0", "0.0", "-0.0"),
    *("3.5", "3.50", "-7", "120", "12e1", "1.2e2", "250.1", "250.10", "nan", "NaN", "1e-400"),
    *("4e-324", "5e-324", "9007199254740993", "9007199254740992", "0.1", "1e-1", "+5", "007"),
]
STAMPS = [
    *("2019-12-31T23:30Z", "2020-01-01T00:30+01:00", "2020-01-01 00:30+0100", "2019-12-31 23:30Z"),
    *("2019-12-31T23:30:00.0Z", "2019-12-31T23:30:00.000000001Z", "2020-02-29T12:00Z"),
]
PLAIN_STAMPS = [
    *("2019-12-31T23:30", "2019-12-31 23:30", "2019-12-31 23:30:00", " 2019-12-31 23:30:00.0"),
    *("2019-12-31 23:30:00.5", "2020-01-01 00:00", "1850-06-01 06:00", "2019-02-30 10:00"),
]
DAYS = ["2019-12-31", "2020-01-01", " 2020-01-01", "2020-02-29", "1999-07-04", "2021-02-29"]
TIMES = ["23:30", "23:30:00", "23:30:00.0", " 23:30", "00:00", "05:59:59.999", "24:00"]
WORDS = [
    *("a", "A", "a ", "é", "e\u0301", "true", "TRUE", "True", "b, c", "{x}", '"q"', "[1 - 2]"),
    *("x or missing", "*", "½", "1", "\u0661", "ﬁ", "fi", "-", "NULL", "NA"),
]
CODES = ["100", "1e2", "1.0", "101", "1e1", "10", " 10", "11", "1.1", "200"]
POOLS = (NUMBERS, STAMPS, PLAIN_STAMPS, DAYS, TIMES, WORDS, CODES)
KINDS = ("range", "set", "prefix", "interval", "calendar", "taxonomy", "mode", "median", None)
"""The last stands for none."""

OPTIONS = [
    *({}, {}, {"score": "span"}, {"score": "entropy", "missing": "wildcard"}, {"polish": True}),
    *({"partitioning": "relaxed"}, {"partitioning": "relaxed", "polish": True}),
    *({"dimensionality": "single"}, {"algorithm": "full-domain", "maxSuppression": 0.3}),
]
BOUNDS = [
    *({}, {"method": "l-diversity", "l": 2}, {"method": "delta-disclosure", "delta": 0.7}),
    *({"method": "t-closeness", "t": 0.4}, {"method": "entropy-l-diversity", "l": 2}),
]


@st.composite
def columns(draw, rows):
    """A column of texts, and how it is generalised."""
    pool = draw(st.sampled_from(POOLS))
    some = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=6, unique=True))
    gaps = draw(st.sampled_from([[], [""]]))
    values = draw(st.lists(st.sampled_from(some + gaps), min_size=rows, max_size=rows))
    how = {"generalization": draw(st.sampled_from(KINDS))}
    if how["generalization"] == "prefix":
        how["mask"] = "#"
    if how["generalization"] == "taxonomy":
        how["taxonomy"] = {one: draw(st.sampled_from(["N", "M"])) for one in sorted(set(values))}
        how["taxonomy"] |= {"N": "all", "M": "all"}
    return values, {name: what for name, what in how.items() if what is not None}


@st.composite
def requests(draw):
    rows = draw(st.integers(4, 14))
    quasi = {f"q{place}": draw(columns(rows)) for place in range(draw(st.integers(1, 3)))}
    bounds = draw(st.sampled_from(BOUNDS))
    kept = {name: draw(columns(rows))[0] for name in ("s", "other")}
    return (
        quasi,
        kept,
        {"method": "k-anonymity", "k": 2, **bounds, **draw(st.sampled_from(OPTIONS))},
    )


def released(request, folder):
    """Return the rows of the release by their number in the input; None where it is refused."""
    quasi, kept, asked = request
    table = {name: values for name, (values, _) in quasi.items()} | kept
    table["row"] = [f"r{place}" for place in range(len(table["s"]))]
    write(folder / "in.csv", table)
    asked = {**asked, "quasi": [], "sensitive": ["s"], "insensitive": ["other", "row"]}
    taxonomies = {}
    for name, (_, how) in quasi.items():
        settings_of = dict(how)
        if "taxonomy" in how:
            settings_of["taxonomy"] = {"@id": f"{TREE}/{name}"}
            taxonomies[f"{TREE}/{name}"] = level_table(folder / f"{name}.csv", how["taxonomy"])
        asked["quasi"].append(column(name, **settings_of))
    data = {DATASET: folder / "in.csv"}
    try:
        release = apply_policy(asking(**asked), data, folder / "out.csv", taxonomies=taxonomies)
    except DataError as error:
        event(f"refused {error.problems[0].code}")
        return None
    with release.path.open(newline="", encoding="utf-8") as file:
        return table, {int(row["row"][1:]): row for row in csv.DictReader(file)}, release


def write(path, table):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))


def level_table(path, parents):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=";", quoting=csv.QUOTE_ALL)
        leaves = [label for label in parents if label not in ("N", "M", "")]
        writer.writerows([leaf, parents[leaf], "all"] for leaf in leaves)
    return path


def assert_true(request):
    quasi, kept, asked = request
    with tempfile.TemporaryDirectory() as folder:
        found = released(request, Path(folder))
        if found is None:
            return
    table, rows, release = found
    event("released")
    assert len(rows) == release.certificate.rows_out
    for place, row in rows.items():
        for name, (values, how) in quasi.items():
            if how.get("generalization") not in ("mode", "median"):
                assert is_true(row[name], values[place], how, values), (row[name], values[place])
        for name in kept:
            assert row[name] == table[name][place]
    assert_bounds(quasi, table, rows, release, asked)


def assert_bounds(quasi, table, rows, release, asked):
    read = reader(table["s"])
    # Numbers and times that are equal are one sensitive value; what is missing is none.
    values = {place: read(table["s"][place]) if table["s"][place] else None for place in rows}
    classes = defaultdict(list)
    for place, row in rows.items():
        classes[tuple(row[name] for name in quasi)].append((place, values[place]))
    assert min(map(len, classes.values())) >= asked["k"]
    everyone = [pair for one in classes.values() for pair in one]
    how = {"distance": "variational", **asked}
    for one in release.certificate.measurements:
        if one.bound in MEASURES:
            figure = worst(one.bound, classes.values(), everyone, how)
            assert holds(one.bound, one.asked, figure)
            assert one.achieved == pytest.approx(figure, abs=1e-9)


settled = settings(deadline=None, suppress_health_check=list(HealthCheck))


@settings(settled, max_examples=examples(40))
@given(requests())
def test_no_cell_is_false_of_a_row(request):
    assert_true(request)


@pytest.mark.nightly
@settings(settled, max_examples=20_000)
@given(requests())
def test_no_cell_is_false_of_a_row_of_many_tables(request):
    assert_true(request)
