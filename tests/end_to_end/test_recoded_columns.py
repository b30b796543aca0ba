"""Columns recoded by a taxonomy, from the policy to a certificate that is made again."""

import datetime as dt
import json

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from applying import applied, asking, measured, refused
from building import DATASET, column
from everyday import examples
from hypothesis import given, settings

from policy_engine import certify_output
from policy_engine.errors import CertificateError, DataError

ALONE = {"method": "masking", "insensitive": ["id"]}
JOBS = "nurse;care;work\ndoctor;care;work\ncook;food;work\npensioner;none;none\n"
AGES = "".join(f"{age};{age // 10 * 10}-{age // 10 * 10 + 9};any\n" for age in range(20, 60))


def recoded(level=1, name="job"):
    masked = [column(name, masking="recoding", taxonomy=f"{name}.csv", level=level)]
    return {**ALONE, "masked": masked}


@pytest.fixture
def files(tmp_path):
    (tmp_path / "job.csv").write_text(JOBS)
    (tmp_path / "age.csv").write_text(AGES)
    return {name: tmp_path / name for name in ("job.csv", "age.csv")}


def table(values, name="job"):
    return pa.table({"id": list(range(len(values))), name: values})


def cells(made, name="job"):
    return made.table.sort_by("id")[name].to_pylist()


@pytest.mark.parametrize(
    ("level", "labels"),
    [(1, ["care", "food", None, "care"]), (2, ["work", "work", None, "work"]), (3, ["*"] * 4)],
)
def test_values_become_the_labels_of_a_level_and_are_measured(files, level, labels):
    jobs = ["nurse", "cook", None, "doctor"]
    made = applied(table(jobs), taxonomies=files, **recoded(level))
    expected = [None if job is None else label for job, label in zip(jobs, labels, strict=True)]
    assert cells(made) == expected
    [found] = made.certificate.maskings
    known = [label for label in expected if label]
    smallest = min(map(known.count, known))
    assert dict(found.figures) == {
        "unchanged": 0,
        "labels": len({*known}),
        "smallestLabel": smallest,
    }
    assert measured(made)["recoding", "job"] == 0


def test_values_that_keep_their_label_are_unchanged(tmp_path):
    (tmp_path / "job.csv").write_text("a;a;x\nb;a;x\n")
    files = {"job.csv": tmp_path / "job.csv"}
    made = applied(table(["a", "b", "b", "a"]), taxonomies=files, **recoded())
    assert made.certificate.maskings[0].figures["unchanged"] == 0.5


@pytest.mark.parametrize("make", [list, lambda ages: pa.array(ages, pa.int16())])
def test_numbers_become_the_intervals_of_a_hierarchy(files, make):
    made = applied(table(make([23, 29, 31]), "age"), taxonomies=files, **recoded(1, "age"))
    assert cells(made, "age") == ["20-29", "20-29", "30-39"]


def test_labels_that_look_like_numbers_are_written_as_they_are(tmp_path):
    (tmp_path / "job.csv").write_text("1;007;*\n2;1.50;*\n")
    (tmp_path / "in.csv").write_text("id,job\n0,1\n1, 2\n")
    files = {"job.csv": tmp_path / "job.csv"}
    for ending in ("csv", "parquet"):
        place = tmp_path / ending / f"a.{ending}"
        made = applied(tmp_path / "in.csv", place, taxonomies=files, **recoded())
        assert cells(made) == ["007", "1.50"]
        assert certify_output(place, asking(**recoded()), taxonomies=files).holds


def test_all_values_that_are_not_listed_are_told_and_nothing_is_written(files, tmp_path):
    jobs = table(["nurse", "smith", "baker", "smith"])
    assert refused(jobs, tmp_path, taxonomies=files, **recoded()) == ["R007"]
    with pytest.raises(DataError, match="lacks 2 of its values") as caught:
        applied(jobs, taxonomies=files, **recoded())
    assert sorted(caught.value.problems[0].values) == ["baker", "smith"]


@pytest.mark.parametrize(
    ("values", "level", "code"),
    [
        (["nurse"], 4, "R013"),
        ([[1]], 1, "R013"),
        ([dt.date(2026, 1, 1)], 1, "R007"),
        ([""], 1, "R007"),
    ],
)
def test_a_level_or_values_that_do_not_fit_are_refused(files, tmp_path, values, level, code):
    assert refused(table(values), tmp_path, taxonomies=files, **recoded(level)) == [code]


def test_a_taxonomy_that_is_not_given_is_refused(tmp_path):
    assert refused(table(["nurse"]), tmp_path, **recoded()) == ["C012"]


def test_the_digest_of_the_taxonomy_is_in_the_record_and_not_in_the_certificate(files, tmp_path):
    made = applied(table(["nurse"]), tmp_path / "out" / "a.csv", taxonomies=files, **recoded())
    [digest] = made.record.taxonomies.values()
    assert digest not in json.dumps((made.path.parent / "certificate.jsonld").read_text())


@pytest.mark.parametrize(
    ("change", "alone"), [(("care", "cure"), True), (("0,care", "0,food"), False)]
)
def test_an_output_that_is_recoded_otherwise_is_not_certified(files, tmp_path, change, alone):
    (tmp_path / "in.csv").write_text("id,job\n0,nurse\n1,cook\n2,doctor\n")
    made = applied(tmp_path / "in.csv", tmp_path / "out" / "a.csv", taxonomies=files, **recoded())
    again = {"taxonomies": files, "data": {DATASET: tmp_path / "in.csv"}}
    certified = certify_output(made.path, asking(**recoded()), **again)
    assert certified.maskings == made.certificate.maskings
    made.path.write_text(made.path.read_text().replace(*change))
    with pytest.raises(CertificateError, match=r"V001 .* not keep its recoding"):
        certify_output(made.path, asking(**recoded()), **again)
    (made.path.parent / "certificate.jsonld").unlink()
    if alone:
        with pytest.raises(CertificateError, match=r"V001 .* not keep its recoding"):
            certify_output(made.path, asking(**recoded()), taxonomies=files)


@settings(max_examples=examples(15))
@given(st.lists(st.integers(20, 59) | st.none(), min_size=1, max_size=9))
def test_every_value_becomes_its_own_label_and_no_other(tmp_path_factory, ages):
    place = tmp_path_factory.getbasetemp() / "age.csv"
    place.write_text(AGES)
    given_ = table(pa.array(ages, pa.int64()), "age")
    made = applied(given_, taxonomies={"age.csv": place}, **recoded(1, "age"))
    assert cells(made, "age") == [
        None if age is None else f"{age // 10}0-{age // 10}9" for age in ages
    ]


def test_labels_do_not_show_the_least_and_the_greatest_value(files):
    # Bins that begin and end where the data do would publish both: those of a file are public.
    made = [
        applied(table(ages, "age"), taxonomies=files, **recoded(name="age"))
        for ages in ([23, 29, 41, 44], [20, 27, 40, 49])
    ]
    assert cells(made[0], "age") == cells(made[1], "age") == ["20-29", "20-29", "40-49", "40-49"]
    first, second = (one.certificate.maskings for one in made)
    assert first == second
