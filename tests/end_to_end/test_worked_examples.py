"""The worked examples of publications, done by the engine and certified as they are printed."""

from collections import Counter

import examples
import pytest
from applying import applied, asking, rows_of
from building import DATASET, column

from policy_engine import certify_output
from policy_engine.errors import CertificateError


def patients():
    """Return the patients, their dates as ISO 8601 has them."""
    table = examples.PATIENTS
    columns = {name: table.column(name) for name in table.columns}
    return {**columns, "DoB": [day.replace("/", "-") for day in columns["DoB"]]}


def taxonomies(folder):
    """Return the hierarchies that D5.2 generalises by: months, one sex, three digits."""
    days = sorted({day.replace("/", "-") for day in examples.PATIENTS.column("DoB")})
    levels = {
        "dob.csv": [(day, day[:7], day[:4], "*") for day in days],
        "sex.csv": [(sex, "*") for sex in "FM"],
        "zip.csv": [
            (code, f"{code[:4]}*", f"{code[:3]}**", "*")
            for code in sorted(set(examples.PATIENTS.column("ZIP")))
        ],
    }
    for name, rows in levels.items():
        (folder / name).write_text("".join(";".join(row) + "\n" for row in rows))
    return {name: folder / name for name in levels}


BY_TAXONOMY = {
    "quasi": [
        column("DoB", generalization="taxonomy", taxonomy="dob.csv"),
        column("Sex", generalization="taxonomy", taxonomy="sex.csv"),
        column("ZIP", generalization="taxonomy", taxonomy="zip.csv"),
    ],
    "algorithm": "full-domain",
    "maxSuppression": 1 / 17,
}
DIVERSE = {"method": "l-diversity", "k": 4, "l": 3, "sensitive": ["Disease"]}
PUBLISHED = [
    (examples.PATIENTS_4_ANONYMOUS, {"method": "k-anonymity", "k": 4, "insensitive": ["Disease"]}),
    (examples.PATIENTS_3_DIVERSE, DIVERSE),
]


def csv_of(table, folder):
    """Write a published release, its dates as ours are; return the file."""
    file = folder / "published.csv"
    file.write_text(table.csv().replace("/", "-"))
    return file


@pytest.mark.parametrize(("release", "asked"), PUBLISHED)
def test_published_patients_are_certified(release, asked, tmp_path):
    given = {**asked, **BY_TAXONOMY}
    files = taxonomies(tmp_path)
    certificate = certify_output(csv_of(release, tmp_path), asking(**given), taxonomies=files)
    achieved = {one.bound: one.achieved for one in certificate.measurements}
    assert achieved == {"k": 4} | ({"l": 3} if "l" in asked else {})


def test_published_patients_are_not_diverse_where_they_are_only_anonymous(tmp_path):
    # D5.2, section 3.1.2: all of one class have helicobacter
    file, files = csv_of(examples.PATIENTS_4_ANONYMOUS, tmp_path), taxonomies(tmp_path)
    with pytest.raises(CertificateError, match="l of 'Disease' must be at least 3, but is 1"):
        certify_output(file, asking(**DIVERSE, **BY_TAXONOMY), taxonomies=files)


def test_patients_are_4_anonymous_as_published(tmp_path):
    [(release, asked), _] = PUBLISHED
    made = applied(
        patients(), taxonomies=taxonomies(tmp_path), **asked, **BY_TAXONOMY, loss="height"
    )
    published = Counter(tuple(cell.replace("/", "-") for cell in row) for row in release.rows)
    assert Counter(rows_of(made)) == published
    assert made.record.suppressed == 1


def lost(release, files, asked, folder):
    """Return what a published release loses, the suppressed row having lost everything."""
    file = csv_of(release, folder)
    utility = certify_output(file, asking(**asked), taxonomies=files).utility
    return (utility.global_certainty_penalty * 16 + 1) / 17


@pytest.mark.parametrize(("release", "asked"), PUBLISHED)
def test_patients_lose_no_more_than_published(release, asked, tmp_path):
    files, given = taxonomies(tmp_path), {**asked, **BY_TAXONOMY}
    made = applied(patients(), taxonomies=files, **given)
    published = lost(release, files, given, tmp_path)
    assert made.record.utility.global_certainty_penalty <= published + 1e-12
    assert made.certificate.holds


def test_patients_lose_less_where_rows_are_cut_than_where_columns_are_generalised(tmp_path):
    [(release, asked), _] = PUBLISHED
    files, given = taxonomies(tmp_path), {**asked, "quasi": BY_TAXONOMY["quasi"]}
    made = applied(patients(), taxonomies=files, **given).record
    published = lost(release, files, {**asked, **BY_TAXONOMY}, tmp_path)
    assert made.utility.global_certainty_penalty < published
    assert made.suppressed == 0


RECORDS = [
    (examples.RECORDS_SINGLE_DIMENSIONAL, {"dimensionality": "single"}),
    (examples.RECORDS_MULTI_DIMENSIONAL, {}),
]


def records():
    """Return the records, their numbers as numbers."""
    columns = {name: examples.RECORDS.column(name) for name in examples.RECORD_COLUMNS}
    return {**columns, **{n: list(map(int, columns[n])) for n in ("BirthYear", "ZIP Code")}}


def of_records(years=1):
    """Return what is asked of the records; the loss of a birth year counts `years`."""
    quasi = [
        column("BirthYear", weight=years),
        column("Sex"),
        {**column("ZIP"), "@id": f"{DATASET}/ZIP%20Code"},
    ]
    return {"method": "l-diversity", "k": 2, "l": 2, "quasi": quasi, "sensitive": ["Disease"]}


def printed(release):
    """Return the published rows, their ranges as ours are written."""
    return [tuple(cell.replace("-", " - ") for cell in row) for row in release.rows]


@pytest.mark.parametrize(("release", "how"), RECORDS)
def test_published_records_are_certified(release, how, tmp_path):
    rows = [release.columns, *printed(release)]
    (tmp_path / "published.csv").write_text("".join(f"{','.join(row)}\n" for row in rows))
    found = certify_output(tmp_path / "published.csv", asking(**of_records(), **how))
    assert [one.achieved for one in found.measurements] == [2, 2]


def test_records_are_cut_as_published():
    made = applied(records(), **of_records())
    assert rows_of(made) == sorted(printed(examples.RECORDS_MULTI_DIMENSIONAL), key=repr)


def test_records_are_cut_by_one_grid_as_published():
    # Sex, birth year and ZIP code are equally wide; which is cut first is told by their weight.
    made = applied(records(), dimensionality="single", **of_records(years=0.5))
    assert rows_of(made) == sorted(printed(examples.RECORDS_SINGLE_DIMENSIONAL), key=repr)
