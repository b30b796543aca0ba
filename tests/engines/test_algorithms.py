"""How classes are formed and cells written, from a policy to the release."""

import csv
import gzip
import warnings
from collections import Counter, defaultdict
from random import Random

import pyarrow as pa
import pytest
from applying import applied, asking, measured, refused, rows_of
from building import DATASET, column
from everyday import everyday
from places import SHARED_DATA

from policy_engine import apply_policy, certify_output
from policy_engine.data.cells import read_cell
from policy_engine.errors import DataError
from policy_engine.kernels import polish

DATA = SHARED_DATA
ANONYMOUS = {"method": "k-anonymity"}
FULL_DOMAIN = {**ANONYMOUS, "algorithm": "full-domain"}


def utility(release):
    return release.record.utility


# Full-domain


ADULT = (
    *("sex", "age", "race", "marital-status"),
    *("education", "native-country", "workclass", "occupation"),
)


def adult(columns=ADULT, **parts):
    """Return the release of adult8 as ARX was asked for it: k 5, 5% suppressed, its hierarchies."""
    if not DATA.exists():
        warnings.warn(f"SKIPPED: {DATA} is not there", stacklevel=2)
        pytest.skip(f"{DATA} is not there: nothing is proved on it")
    folder = DATA / "hierarchies" / "adult"
    quasi = [column(n, generalization="taxonomy", taxonomy=f"{n}.csv") for n in columns]
    with gzip.open(DATA / "adult_arx.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    table = {name: [row[name] for row in rows] for name in (*ADULT, "salary-class")}
    files = {f"{name}.csv": folder / f"adult_hierarchy_{name}.csv" for name in ADULT}
    return applied(
        table,
        k=5,
        algorithm="full-domain",
        maxSuppression=0.05,
        quasi=quasi,
        taxonomies=files,
        **parts,
    )


def heights(release):
    """Return by column how high its cells stand in the taxonomy, by their text alone."""
    folder, found = DATA / "hierarchies" / "adult", []
    for name in ADULT:
        text = (folder / f"adult_hierarchy_{name}.csv").read_text()
        levels = list(zip(*csv.reader(text.splitlines(), delimiter=";"), strict=True))
        cells = set(release.table[name].to_pylist())
        found.append(next(h for h, level in enumerate(levels) if cells <= set(level)))
    return tuple(found)


@pytest.mark.filterwarnings("default:SKIPPED")
def test_adult_has_the_optimum_of_arx():
    # ARX 3.9, Loss metric, 5% suppression.
    release = adult(**ANONYMOUS)
    assert heights(release) == (0, 3, 0, 0, 1, 1, 1, 2)
    assert release.record.suppressed == 1458
    assert release.table.num_rows == 30_162 - 1458
    assert min(Counter(map(tuple, quasi_rows(release))).values()) == measured(release)["k", ""] >= 5


def quasi_rows(release, columns=ADULT):
    return zip(*(release.table[name].to_pylist() for name in columns), strict=True)


@pytest.mark.filterwarnings("default:SKIPPED")
def test_adult_is_as_close_as_asked_with_rows_suppressed():
    release = adult(ADULT[:4], method="t-closeness", t=0.2, sensitive=["salary-class"])
    salaries, classes = release.table["salary-class"].to_pylist(), defaultdict(list)
    for cells, salary in zip(quasi_rows(release, ADULT[:4]), salaries, strict=True):
        classes[cells].append(salary == ">50K")
    share = salaries.count(">50K") / len(salaries)
    furthest = max(abs(sum(rich) / len(rich) - share) for rich in classes.values())
    assert measured(release)["t", "salary-class"] == pytest.approx(furthest)
    assert furthest <= 0.2
    assert 0 < release.record.suppressed <= 0.05 * 30_162


CITIES = "Rome;Italy;*\nMilan;Italy;*\nOslo;Norway;*\nBergen;Norway;*\n"
OUTLIER = {"city": ["Rome", "Rome", "Milan", "Milan", "Oslo"], "row": [1, 2, 3, 4, 5]}


@pytest.fixture
def cities(tmp_path):
    (tmp_path / "cities.csv").write_text(CITIES)
    return {"cities.csv": tmp_path / "cities.csv"}


BY_CITY = {"quasi": [column("city", generalization="taxonomy", taxonomy="cities.csv")]}


def test_suppressed_rows_are_left_out_and_counted(cities, tmp_path):
    asked = {**FULL_DOMAIN, **BY_CITY, "insensitive": ["row"], "taxonomies": cities}
    release = applied(OUTLIER, tmp_path / "out", k=2, maxSuppression=0.2, **asked)
    assert rows_of(release) == [("Milan", 3), ("Milan", 4), ("Rome", 1), ("Rome", 2)]
    record = release.record
    assert (record.input.rows, release.certificate.rows_out, record.suppressed) == (5, 4, 1)
    assert utility(release).global_certainty_penalty == pytest.approx(1 / 5)
    assert utility(release).discernability == 2 * 2 * 2 + 5
    assert b"5" not in (tmp_path / "out" / "anonPeople.csv").read_bytes()


def test_no_more_rows_are_suppressed_than_allowed(cities, tmp_path):
    asked = {**FULL_DOMAIN, **BY_CITY, "taxonomies": cities}
    release = applied(OUTLIER, k=2, maxSuppression=0.19, **asked)
    assert release.table["city"].to_pylist() == ["*"] * 5
    assert release.record.suppressed == 0
    assert refused(OUTLIER, tmp_path, k=6, maxSuppression=0.9, **asked) == ["R002"]


def test_a_release_with_rows_suppressed_is_certified_alone(cities, tmp_path):
    asked = {**FULL_DOMAIN, **BY_CITY, "k": 2, "maxSuppression": 0.2}
    release = applied(OUTLIER, tmp_path / "out", taxonomies=cities, **asked)
    found = certify_output(release.path, asking(**asked), taxonomies=cities)
    assert found.measurements == release.certificate.measurements


def test_full_domain_generalises_a_column_to_one_level():
    table = {"age": list(range(64)), "city": ["a", "b"] * 32}
    release = applied(table, k=4, quasi=["age", "city"], **FULL_DOMAIN)
    cells = set(release.table["age"].to_pylist())
    ranges = sorted(tuple(map(int, read_cell(cell).values)) for cell in cells)
    assert ranges == [(low, low + 7) for low in range(0, 64, 8)]
    assert set(release.table["city"].to_pylist()) == {"a", "b"}


# One grid


def ties(seed, rows=300):
    """Return a table of few values, some of them missing."""
    random = Random(seed)
    ages = [random.choice([20, 20, 20, 30, 40, None]) for _ in range(rows)]
    return {
        "age": ages,
        "city": [random.choice("AAABBCD") for _ in range(rows)],
        "pay": [random.choice([0, 0, 0, 10, 20, 55.5]) for _ in range(rows)],
        "ill": [random.choice("xxyz") for _ in range(rows)],
        "row": list(range(rows)),
    }


TIED = {"quasi": ["age", "city", "pay"], "insensitive": ["row"]}


def test_in_a_grid_a_value_is_generalised_the_same_in_every_row():
    table = ties(1)
    release = applied(table, k=5, dimensionality="single", **ANONYMOUS, **TIED)
    for name in TIED["quasi"]:
        rows = zip(release.table[name].to_pylist(), release.table["row"].to_pylist(), strict=True)
        pairs = {(table[name][row], cell) for cell, row in rows}
        assert len(pairs) == len({value for value, _ in pairs})
    assert utility(release).classes > 1


@pytest.mark.parametrize("seed", range(5))
def test_relaxed_cuts_lose_no_more_on_ties_and_keep_every_row(seed):
    table = ties(seed)
    strict, relaxed = (
        applied(table, k=10, partitioning=how, **ANONYMOUS, **TIED) for how in ("strict", "relaxed")
    )
    assert sorted(relaxed.table["row"].to_pylist()) == table["row"]
    assert utility(relaxed).discernability <= utility(strict).discernability
    losses = [utility(r).global_certainty_penalty for r in (relaxed, strict)]
    assert losses[0] <= losses[1] + 1e-9


@pytest.mark.parametrize("partitioning", ["strict", "relaxed"])
@pytest.mark.parametrize("seed", everyday(range(3), 0))
def test_polish_never_loses_more(seed, partitioning):
    asked = {"method": "l-diversity", "k": 4, "l": 2, "sensitive": ["ill"], **TIED}
    asked["partitioning"] = partitioning
    table = ties(seed)
    plain, polished = (applied(table, polish=on, **asked) for on in (False, True))
    losses = [utility(r).global_certainty_penalty for r in (polished, plain)]
    assert losses[0] <= losses[1] + 1e-9
    assert sorted(polished.table["row"].to_pylist()) == table["row"]
    assert measured(polished)["l", "ill"] >= 2


def test_polish_moves_a_row_where_that_helps(monkeypatch):
    random = Random(3)
    table = {name: [random.random() for _ in range(555)] for name in "xyz"}
    asked = {"k": 8, "quasi": ["x", "y", "z"], "polish": True, **ANONYMOUS}
    polished = utility(applied(table, **asked)).global_certainty_penalty
    monkeypatch.setattr(polish, "_PASSES", 0)
    assert polished < utility(applied(table, **asked)).global_certainty_penalty


# Scores and weights


def test_the_widest_span_is_cut_at_the_median():
    table = {"x": [0, 1, 2, 90], "y": [5, 5, 5, 5]}
    found = applied(table, k=2, score="span", quasi=["x", "y"], **ANONYMOUS)
    assert rows_of(found) == [*[("[0 - 1]", "5")] * 2, *[("[2 - 90]", "5")] * 2]


def test_scores_choose_different_columns():
    # y has the greater entropy, x the wider range with less of it.
    table = {"x": [0] * 7 + [100], "y": [1, 2, 3, 4, 5, 6, 7, 8]}
    by_entropy = applied(table, k=4, score="entropy", quasi=["x", "y"], **ANONYMOUS)
    assert set(by_entropy.table["y"].to_pylist()) == {"[1 - 4]", "[5 - 8]"}


@pytest.mark.parametrize("recoding", [{}, {"score": "span"}, {"algorithm": "full-domain"}])
def test_a_heavier_column_loses_less(recoding):
    random = Random(7)
    table = {name: [random.randrange(1000) for _ in range(500)] for name in "xy"}

    def losses(x, y):
        quasi = [column("x", weight=x), column("y", weight=y)]
        return utility(applied(table, k=10, quasi=quasi, **ANONYMOUS, **recoding)).column_losses

    assert losses(100, 1)["x"] < losses(1, 100)["x"]
    assert losses(1, 100)["y"] < losses(100, 1)["y"]


def test_a_column_without_weight_costs_nothing():
    table = {"x": [1, 2, 3, 4], "y": [1, 3, 2, 4]}
    quasi = [column("x", weight=0), column("y")]
    found = applied(table, k=2, quasi=quasi, **ANONYMOUS)
    assert rows_of(found) == [*[("[1 - 3]", "[1 - 2]")] * 2, *[("[2 - 4]", "[3 - 4]")] * 2]


# Missing values


def test_missing_values_are_a_category_or_match_any():
    table = {"x": [1, 1, None, 9, 9, 9]}
    category = applied(table, k=3, quasi=["x"], **ANONYMOUS)
    wildcard = applied(table, k=3, quasi=["x"], missing="wildcard", **ANONYMOUS)
    assert Counter(category.table["x"].to_pylist()) == {"1 or missing": 3, "9": 3}
    assert wildcard.table.equals(category.table)
    assert utility(category).global_certainty_penalty == 0.5  # a cell that hides all
    assert utility(wildcard).global_certainty_penalty == 0


def test_a_wildcard_goes_where_it_costs_least():
    table = {"x": [1, 1, 1, 9, 9, 9, None], "y": [1, 1, 1, 9, 9, 9, 9]}
    asked = {"k": 3, "quasi": ["x", "y"], **ANONYMOUS}
    found = applied(table, missing="wildcard", **asked)
    assert Counter(rows_of(found)) == {("1", "1"): 3, ("9 or missing", "9"): 4}
    assert utility(found).global_certainty_penalty == 0


# Cells as bounds


def test_bounds_are_two_columns_of_the_type_of_the_values():
    table = {"age": [1, 2, 3, 4], "pay": [1.5, 2.25, 8.5, 9.0], "city": ["a", "a", "b", "b"]}
    release = applied(table, k=2, quasi=["age", "pay", "city"], cells="bounds", **ANONYMOUS)
    assert release.table.to_pydict() == {
        "age_low": [1, 1, 3, 3],
        "age_high": [2, 2, 4, 4],
        "pay_low": [1.5, 1.5, 8.5, 8.5],
        "pay_high": [2.25, 2.25, 9.0, 9.0],
        "city": ["a", "a", "b", "b"],
    }
    types = [field.type for field in release.table.schema]
    assert types == [pa.int64()] * 2 + [pa.float64()] * 2 + [types[-1]]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet"])
def test_bounds_are_certified_again_from_the_file(tmp_path, name):
    table = {"age": [1, 2, 3, 4, None, None], "day": [f"2020-01-0{d}" for d in (1, 2, 3, 4, 5, 6)]}
    asked = {"k": 2, "quasi": ["age", "day"], **ANONYMOUS}
    release = applied(table, tmp_path / name, cells="bounds", **asked)
    found = certify_output(release.path, asking(**asked))
    assert found.measurements == release.certificate.measurements
    assert found.utility == release.certificate.utility


@pytest.mark.parametrize("clash", ["age_low", "age_high"])
def test_bounds_that_are_called_as_another_column_are_refused(tmp_path, clash):
    table = {"age": [1, 2, 3, 4], clash: [1, 1, 1, 1]}
    asked = {"k": 2, "quasi": ["age"], "insensitive": [clash], "cells": "bounds", **ANONYMOUS}
    assert refused(table, tmp_path, **asked) == ["C006"]


# Every generalisation, its cells by hand


GENERALISED = {
    "range": ({}, [1, 2, 8, 9], ["[1 - 2]", "[8 - 9]"]),
    "range of dates": (
        {},
        ["2020-01-02", "2020-02-01", "2021-05-05", "2021-05-06"],
        ["[2020-01-02 - 2020-02-01]", "[2021-05-05 - 2021-05-06]"],
    ),
    "set": ({}, ["a", "b, c", "x", "y"], ['{a, "b, c"}', "{x, y}"]),
    "set by frequency": ({"order": "frequency"}, ["m", "a", "m"], ["{m, a}"]),
    "prefix": ({}, ["20121", "20139", "30", "301"], ["201**", "30***"]),
    "prefix by another mask": ({"mask": "#"}, ["AB1", "AB2", "ACx", "ACy"], ["AB#", "AC#"]),
    "interval": ({"precision": 5}, [1, 4, 12, 14], ["[0 - 4]", "[10 - 14]"]),
    "interval by tens": ({"fanout": 10}, [-3, -9, 12, 14], ["[-10 - -1]", "[10 - 19]"]),
    "interval of fractions": (
        {"precision": 2.5},
        [0.5, 2.0, 5.1, 7.4],
        ["[0 - 2.5]", "[5 - 7.5]"],
    ),
    "calendar": (
        {},
        ["2019-01-02", "2019-01-30", "2019-05-01", "2019-06-30"],
        ["2019-01", "2019-Q2"],
    ),
    "calendar of hours": ({}, ["08:05", "08:59", "13:00", "17:00"], ["08h", "afternoon"]),
    "mean": ({}, [1, 2, 8, 9.5], ["1.5", "8.75"]),
    "median": ({}, [1, 2, 8, 9], ["1", "8"]),
    "mode": ({}, ["a", "a", "x", "y"], ["a", "x"]),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("how", GENERALISED)
def test_cells_are_as_by_hand(how, tmp_path):
    settings, values, cells = GENERALISED[how]
    quasi = [column("it", generalization=how.partition(" ")[0], **settings)]
    asked = {"k": 2, "quasi": quasi, **ANONYMOUS}
    release = applied({"it": values}, tmp_path / "out", **asked)
    assert release.table["it"].unique().to_pylist() in (cells, cells[::-1])
    found = certify_output(release.path, asking(**asked))
    assert found.measurements == release.certificate.measurements


# Taxonomies


def test_a_taxonomy_lies_beside_the_policy(tmp_path):
    (tmp_path / "cities.csv").write_text(CITIES)
    (tmp_path / "policy.jsonld").write_text(asking(k=2, **ANONYMOUS, **BY_CITY))
    data = {DATASET: pa.table({"city": ["Rome", "Milan", "Oslo", "Oslo"]})}
    release = apply_policy(tmp_path / "policy.jsonld", data, tmp_path / "out")
    assert Counter(release.table["city"].to_pylist()) == {"Italy": 2, "Oslo": 2}
    assert certify_output(tmp_path / "out", tmp_path / "policy.jsonld").holds


def test_a_taxonomy_is_given_by_its_iri(tmp_path):
    (tmp_path / "cities.csv").write_text(CITIES)
    iri = "http://x.org/cities"
    quasi = [column("city", generalization="taxonomy", taxonomy=iri)]
    table = {"city": ["Rome", "Milan", "Oslo", "Oslo"]}
    found = applied(table, k=2, quasi=quasi, taxonomies={iri: tmp_path / "cities.csv"}, **ANONYMOUS)
    assert Counter(found.table["city"].to_pylist()) == {"Italy": 2, "Oslo": 2}
    assert found.plan.anonymize.taxonomies[iri]
    assert refused(table, tmp_path, k=2, quasi=quasi, **ANONYMOUS) == ["C012"]


def test_a_taxonomy_outside_of_the_folder_is_never_opened(tmp_path):
    (tmp_path / "cities.csv").write_text(CITIES)
    (tmp_path / "policies").mkdir()
    for name in ("../cities.csv", str(tmp_path / "cities.csv")):
        quasi = [column("city", generalization="taxonomy", taxonomy=name)]
        policy = tmp_path / "policies" / "policy.jsonld"
        policy.write_text(asking(k=2, quasi=quasi, **ANONYMOUS))
        with pytest.raises(DataError, match="C012"):
            apply_policy(policy, {DATASET: pa.table({"city": ["Rome", "Rome"]})})


def test_values_that_a_taxonomy_lacks_are_all_named(cities):
    table = {"city": ["Rome", "Bern", "Graz", None, "Rome", "Linz"]}
    with pytest.raises(DataError, match="lacks 3 of its values") as caught:
        applied(table, k=2, taxonomies=cities, **ANONYMOUS, **BY_CITY)
    assert caught.value.problems[0].values == ("Bern", "Graz", "Linz")


@pytest.mark.parametrize("recoding", [{}, {"algorithm": "full-domain"}])
def test_values_that_a_taxonomy_lacks_stand_below_its_root(cities, tmp_path, recoding):
    settings = {"generalization": "taxonomy", "taxonomy": "cities.csv", "unlisted": "root"}
    table = {"city": ["Bern", "Graz", "Bern", "Rome", "Graz"]}
    asked = {"k": 2, "quasi": [column("city", **settings)], **ANONYMOUS, **recoding}
    release = applied(table, tmp_path / "out", taxonomies=cities, **asked)
    expected = {"*": 5} if recoding else {"*": 3, "Graz": 2}
    assert Counter(release.table["city"].to_pylist()) == expected
    assert certify_output(release.path, asking(**asked), taxonomies=cities).holds
