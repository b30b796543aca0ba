import os

import pytest
from building import DATASET

from policy_engine import apply_policy
from policy_engine.engines import tables
from policy_engine.errors import DataError, OutputError
from policy_engine.publication import Publication, destination


def apply(people, output, **options):
    return apply_policy(
        people / "policy.jsonld", {DATASET: people / "people.csv"}, output, **options
    )


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_gets_a_file_named_after_the_output(people):
    release = apply(people, people / "out")
    assert names(people / "out") == ["anonPeople.csv", "certificate.jsonld"]
    assert release.path == people / "out" / "anonPeople.csv"


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet"])
def test_a_file_is_written_in_the_format_of_its_ending(people, name):
    apply(people, people / "out" / name)
    assert names(people / "out") == [name, "certificate.jsonld"]
    table = tables.read_table(people / "out" / name)
    assert table.column_names == ["age", "city", "disease"]


def test_an_output_that_exists_is_kept(released):
    before = (released / "release" / "anonPeople.csv").read_bytes()
    with pytest.raises(OutputError, match="O001"):
        apply(released, released / "release")
    assert (released / "release" / "anonPeople.csv").read_bytes() == before
    apply(released, released / "release", overwrite=True)


def test_the_certificate_of_another_output_is_kept_even_when_overwriting(released):
    with pytest.raises(OutputError, match="certifies another file"):
        apply(released, released / "release" / "other.csv", overwrite=True)
    assert names(released / "release") == ["anonPeople.csv", "certificate.jsonld"]


def test_nothing_is_left_of_an_output_that_failed(people):
    (people / "people.csv").write_text("name,age,city,disease\nAnn,20,Rome,flu\n")
    with pytest.raises(DataError):
        apply(people, people / "new" / "deep" / "out")
    assert names(people) == ["people.csv", "policy.jsonld"]


def test_a_full_disk_leaves_nothing(people, monkeypatch):
    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="No space left"):
        apply(people, people / "out")
    assert names(people) == ["people.csv", "policy.jsonld"]


def test_what_a_killed_run_left_is_swept_away(people):
    out = people / "out"
    dead = out / ".policy-engine.999999999.abc"
    dead.mkdir(parents=True)
    (dead / "anonPeople.csv").write_text("partial")
    apply(people, out)
    assert names(out) == ["anonPeople.csv", "certificate.jsonld"]


def test_what_a_running_process_stages_is_left_alone(people):
    out = people / "out"
    alive = out / f".policy-engine.{os.getpid()}.abc"
    alive.mkdir(parents=True)
    apply(people, out)
    assert alive.exists()


def test_a_place_taken_meanwhile_is_not_overwritten(people):
    target = people / "out" / "a.csv"
    with Publication(target, overwrite=False) as place:
        place.staged.write_text("ours")
        target.write_text("theirs")
        with pytest.raises(OutputError, match="O001"):
            place.publish(None)
    assert target.read_text() == "theirs"


def test_an_unknown_ending_is_refused(tmp_path):
    with pytest.raises(DataError, match="C004"):
        destination(tmp_path / "out.xlsx", "http://x.org/a", "csv")


@pytest.mark.parametrize(("like", "name"), [("parquet", "a.parquet"), ("memory", "a.csv")])
def test_a_folder_gets_the_format_of_the_input(tmp_path, like, name):
    assert destination(tmp_path / "out", "http://x.org/a", like) == tmp_path / "out" / name


def test_an_input_is_never_overwritten(released):
    data = {DATASET: released / "release" / "anonPeople.csv"}
    (released / "release" / "anonPeople.csv").write_bytes((released / "people.csv").read_bytes())
    with pytest.raises(OutputError, match="is the input itself"):
        apply_policy(
            released / "policy.jsonld",
            data,
            released / "release" / "anonPeople.csv",
            overwrite=True,
        )


def test_a_file_that_is_no_release_is_not_overwritten(people):
    (people / "mine.csv").write_text("precious")
    with pytest.raises(OutputError, match="is no release"):
        apply(people, people / "mine.csv", overwrite=True)
    assert (people / "mine.csv").read_text() == "precious"


def test_a_name_too_long_for_the_disk_is_told(people):
    with pytest.raises(OutputError, match="O002"):
        apply(people, people / f"{'x' * 300}.csv")
