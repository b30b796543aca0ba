"""Where outputs go, and what is told of a place where none can."""

import re

import pytest
from building import DATASET, OUTPUT, people_policy
from modelled import of_release

from policy_engine.certificate.publication.destinations import (
    check_model_folder,
    check_not_input,
    destination,
    model_destination,
    plan_destination,
    plan_destinations,
)
from policy_engine.data import storage
from policy_engine.data.catalog import make_catalog
from policy_engine.errors import OutputError, PolicyEngineError, Problem
from policy_engine.plan.making import make_plan
from policy_engine.policy import read_policy
from policy_engine.release.staging import CERTIFICATE

A, B = "http://x.org/a", "http://x.org/b"


def plans(*outputs):
    return [make_plan(read_policy(people_policy().replace(OUTPUT, one))) for one in outputs]


def model_plan():
    return make_plan(read_policy(of_release()))


@pytest.mark.parametrize(
    ("output", "like", "as_folder", "place"),
    [
        ("out", "csv", False, "out/a.csv"),
        ("out", "csv.gz", False, "out/a.csv.gz"),
        ("out", "orc", False, "out/a.csv"),
        ("out", "orc", True, "out/a.orc"),
        ("out", "table", True, "out/a.parquet"),
        ("out/b.parquet", "csv", False, "out/b.parquet"),
        ("out/b.json", "csv", True, "out/b.json"),
        ("made", "parquet", False, "made/a.parquet"),
        ("made.v2", "csv", False, "made.v2/a.csv"),
        ("made.v2", "csv", True, "made.v2/a.csv"),
        ("made.csv", "csv", False, "made.csv/a.csv"),
        ("made.csv", "csv", True, "made.csv"),
    ],
)
def test_an_output_lies_in_a_folder_unless_it_is_named_like_data(
    tmp_path, output, like, as_folder, place
):
    for name in ("made", "made.v2", "made.csv"):
        (tmp_path / name).mkdir()
    assert destination(tmp_path / output, A, like, as_folder=as_folder) == tmp_path / place


def outside_of_models():
    return Problem(
        "O002",
        "The report 'out/report' is only for the owner, but would be in the folder of the "
        "released model.",
        "Give a folder outside it: report=DIR.",
    )


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (
            lambda: destination("table:x", A, "csv"),
            Problem(
                "O002",
                "The output 'table:x' is a table, which only the Spark engine writes.",
                'Give engine="spark", or a file.',
            ),
        ),
        (
            lambda: destination("out.xml", A, "csv"),
            Problem(
                "C004",
                "The ending of 'out.xml' is not known. Known are '.csv', '.csv.gz', '.parquet', "
                "'.npy', '.npz', "
                "'.jsonl', '.ndjson', '.arrow' and '.feather'.",
            ),
        ),
        (
            lambda: model_destination("out.zip", A),
            Problem(
                "O002",
                "A model must be released into a local folder. Given: 'out.zip'.",
                "Give the path of a folder.",
            ),
        ),
        (
            lambda: plan_destination(" ", plans(A)[0]),
            Problem(
                "O002",
                "The path of the output is empty. Given: ' '.",
                "The current folder is '.'.",
            ),
        ),
        (
            lambda: plan_destinations([*plans(A), model_plan()], "out"),
            Problem(
                "O002",
                f"The outputs '{A}' and 'http://x.org/model' cannot share a folder: the model "
                "'http://x.org/model' needs one of its own.",
                "Choose one of them: asset=IRI.",
            ),
        ),
        (
            lambda: plan_destinations(plans(A, B), "out.csv"),
            Problem(
                "O002",
                f"The outputs '{A}' and '{B}' must go into a folder. Given: 'out.csv'.",
                "Choose one of them: asset=IRI.",
            ),
        ),
        (
            lambda: plan_destinations(plans("http://x.org/A", "http://y.org/a"), "out"),
            Problem(
                "O002",
                "The outputs 'http://x.org/A' and 'http://y.org/a' would have the same name in the "
                "folder: 'a.csv'.",
                "Choose one of them: asset=IRI.",
            ),
        ),
        (
            lambda: check_not_input("people.csv", make_catalog({DATASET: "people.csv"})),
            Problem("O001", "The output 'people.csv' is the input itself.", "Give another path."),
        ),
        (
            lambda: check_model_folder("full/m", None),
            Problem(
                "O001",
                "A model must be released into a folder of its own. 'full' contains 'a.csv' and "
                "'b.csv'.",
                "Give the path of a new folder.",
            ),
        ),
        (lambda: check_model_folder("out/m", "out/report"), outside_of_models()),
    ],
    ids=range(10),
)
def test_what_is_no_place_for_an_output_is_told(people, monkeypatch, asked, problem):
    monkeypatch.chdir(people)
    (people / "full" / "m").mkdir(parents=True)
    for name in ("a.csv", "b.csv", CERTIFICATE):
        (people / "full" / name).touch()
    with pytest.raises(PolicyEngineError) as told:
        asked()
    assert told.value.problems == (problem,)


def test_a_plan_on_spark_makes_a_folder_of_files(tmp_path):
    [plan] = plans(A)
    on_spark = plan.model_copy(update={"engine": "spark"})
    for name in ("x.csv", "x.orc"):
        (tmp_path / name).mkdir()
        assert plan_destination(tmp_path / name, on_spark) == tmp_path / name
    assert plan_destination(tmp_path / "x.csv", plan) == tmp_path / "x.csv" / "a.csv"
    assert plan_destination("table:x", on_spark) == "table:x"


def test_a_place_that_nobody_may_look_at_is_told(monkeypatch):
    def unreadable(_location):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(storage, "is_folder", unreadable)
    said = re.escape("out: O002 The output cannot be written: Permission denied.")
    with pytest.raises(OutputError, match=said):
        destination("out", A, "csv")
    with pytest.raises(OutputError, match=f"^{said}"):
        check_model_folder("out/m", None)


def test_every_input_is_kept_from_the_output_and_nothing_else_is(people):
    (people / "more.csv").write_text((people / "people.csv").read_text())
    catalog = make_catalog({DATASET: people / "people.csv", B: people / "more.csv"})
    (people / "link.csv").symlink_to(people / "more.csv")
    for name in ("people.csv", "more.csv", "link.csv"):
        with pytest.raises(OutputError, match=r"O001 .* is the input itself"):
            check_not_input(people / name, catalog)
    check_not_input(people / "other.csv", catalog)
