import csv
from collections import Counter
from dataclasses import replace

import examples
import numpy as np
import pytest

from policy_engine.kernels import diversity
from policy_engine.kernels.diversity import ValueHierarchy, histogram
from policy_engine.kernels.grouping import classes_of

KATHY_DOE = ("1958/12/11", "F", "10180", "epilepsy")  # suppressed in both releases of the patients


def codes_of(cells, values=None):
    order = values or sorted(set(cells))
    return np.array([order.index(cell) for cell in cells], dtype=np.int32)


def histogram_of(table, column, values=None):
    class_of, count = classes_of([codes_of(table.column(name)) for name in table.quasi])
    return histogram(class_of, count, codes_of(table.column(column), values))


def salaries_of(table):
    return histogram_of(table, "Salary", [str(thousands) for thousands in range(3, 12)])


def class_of_cell(table, row):
    class_of, _ = classes_of([codes_of(table.column(name)) for name in table.quasi])
    return class_of[row]


@pytest.mark.parametrize(("release", "k", "l"), examples.RELEASES)
def test_published_releases_hold_what_they_claim(release, k, l):  # noqa: E741
    assert min(Counter(release.quasi_rows()).values()) == k
    for column in release.sensitive:
        assert diversity.distinct(histogram_of(release, column)).min() == l


@pytest.mark.parametrize(
    "original", [examples.PATIENTS, examples.RECORDS, examples.SALARIES], ids=lambda t: t.source
)
def test_originals_are_not_even_2_anonymous(original):
    assert min(Counter(original.quasi_rows()).values()) == 1


@pytest.mark.parametrize(
    ("original", "release", "coarser"),
    [
        (
            examples.PATIENTS,
            examples.PATIENTS_4_ANONYMOUS,
            lambda born, _sex, zip_code: (born[:7], "*", zip_code[:3] + "**"),
        ),
        (
            examples.PATIENTS,
            examples.PATIENTS_3_DIVERSE,
            lambda born, sex, zip_code: (born[:4], sex, zip_code[:3] + "**"),
        ),
        (
            examples.SALARIES,
            examples.SALARIES_3_DIVERSE,
            lambda zip_code, age: (
                ("476**", age[0] + "*") if age < "40" else (zip_code[:4] + "*", ">=40")
            ),
        ),
        (
            examples.SALARIES,
            examples.SALARIES_CLOSE,
            lambda zip_code, age: (zip_code[:4] + "*", "<=40" if age < "40" else ">=40"),
        ),
    ],
)
def test_releases_are_their_originals_generalised(original, release, coarser):
    kept = [row for row in original.rows if row != KATHY_DOE]
    width = len(original.quasi)
    generalised = Counter(coarser(*row[:width]) + row[width:] for row in kept)
    assert generalised == Counter(release.rows)


@pytest.mark.parametrize(
    "release", [examples.RECORDS_SINGLE_DIMENSIONAL, examples.RECORDS_MULTI_DIMENSIONAL]
)
def test_six_records_lie_in_their_published_ranges(release):
    for record, published in zip(examples.RECORDS.rows, release.rows, strict=True):
        for value, cell in zip(record, published, strict=True):
            low, _, high = cell.strip("[]").partition("-")
            assert low <= value <= (high or low)


def test_patients_without_the_11th_are_8_anonymous_in_zips_of_four_digits():
    # D5.2, section 3.1.1
    zips = [cell[:4] for cell in examples.PATIENTS.column("ZIP")]
    assert sorted(Counter(zips).values()) == [1, 8, 8]
    assert zips[10] == "1018"


def test_patients_of_one_class_all_have_helicobacter_in_the_4_anonymous_release():
    # D5.2, section 3.1.2: the homogeneity attack on Gloria
    measured = histogram_of(examples.PATIENTS_4_ANONYMOUS, "Disease")
    gloria = class_of_cell(examples.PATIENTS_4_ANONYMOUS, 6)
    assert diversity.most_frequent(measured).tolist().count(1.0) == 1
    assert diversity.most_frequent(measured)[gloria] == 1.0


def test_patients_of_one_class_have_had_a_stroke_four_times_as_often_as_all():
    # D5.2, section 3.1.3: the skewness attack on Alice, 50% where all have 12.5%
    measured = histogram_of(examples.PATIENTS_3_DIVERSE, "Disease")
    alice = class_of_cell(examples.PATIENTS_3_DIVERSE, 4)
    assert diversity.most_frequent(measured)[alice] == 0.5
    assert diversity.beta(measured)[alice] == 0.5 / 0.125 - 1


def test_salaries_are_as_close_as_published():
    # Li et al., ICDE 2007: {3, 4, 5} is .375 from all, {6, 8, 11} is .167
    close = diversity.ordered(salaries_of(examples.SALARIES_3_DIVERSE))
    assert close[class_of_cell(examples.SALARIES_3_DIVERSE, 0)] == pytest.approx(0.375)
    assert close[class_of_cell(examples.SALARIES_3_DIVERSE, 3)] == pytest.approx(1 / 6)
    assert diversity.ordered(salaries_of(examples.SALARIES_CLOSE)).max() == pytest.approx(1 / 6)


def disease_hierarchy(diseases):
    nodes = list(examples.DISEASE_TREE)
    parents = [nodes.index(up) if up else -1 for up in examples.DISEASE_TREE.values()]
    return ValueHierarchy(
        np.array(parents), np.array([nodes.index(disease) for disease in diseases])
    )


@pytest.mark.parametrize(
    ("disease", "distance"),
    [("bronchitis", 1 / 3), ("pulmonary embolism", 2 / 3), ("stomach cancer", 1.0)],
)
def test_flu_is_as_far_from_other_diseases_as_published(disease, distance):
    # Li et al., ICDE 2007. Of two equally frequent values, each class has one, and so
    # half of its mass goes the whole way.
    apart = histogram(np.array([0, 1]), 2, np.array([0, 1], dtype=np.int32))
    measured = diversity.hierarchical(apart, disease_hierarchy(["flu", disease]))
    assert measured == pytest.approx([distance / 2, distance / 2])


@pytest.mark.parametrize(
    ("release", "row", "published", "by_definition"),
    [(examples.SALARIES_3_DIVERSE, 0, 1 / 2, 4 / 9), (examples.SALARIES_CLOSE, 0, 5 / 18, 7 / 27)],
)
def test_diseases_are_as_close_as_published_if_all_are_equally_frequent(
    release, row, published, by_definition
):
    # Li et al., ICDE 2007, print .5 for {gastric ulcer, gastritis, stomach cancer} and
    # .278 for {gastric ulcer, stomach cancer, pneumonia}. Both are the distances from six equally
    # frequent diseases; in their table three of the six occur twice.
    measured = histogram_of(release, "Disease")
    uniform = replace(measured, overall=np.ones(6, dtype=np.int64))
    tree = disease_hierarchy(sorted(set(release.column("Disease"))))
    place = class_of_cell(release, row)
    assert diversity.hierarchical(uniform, tree)[place] == pytest.approx(published)
    assert diversity.hierarchical(measured, tree)[place] == pytest.approx(by_definition)


@pytest.mark.parametrize("table", [examples.PATIENTS, examples.RECORDS_SINGLE_DIMENSIONAL])
def test_csv_holds_every_cell(table):
    columns, *rows = csv.reader(table.csv().splitlines())
    assert tuple(columns) == table.columns
    assert tuple(map(tuple, rows)) == table.rows
