import os
import uuid

import pytest
from building import DATASET
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

from policy_engine import apply_policy, storage
from policy_engine.certificate import FILE_NAME, load_certificate
from policy_engine.engines import tables
from policy_engine.errors import CertificateError, DataError, OutputError
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


BUCKET = "s3a://bucket"


@pytest.fixture(params=["here", "there", "there, without renames"])
def out(request, released, monkeypatch):
    """A place for a release on this machine, or the same as if it were behind a URI."""
    place = released / "out"
    if request.param == "here":
        return place
    system = SubTreeFileSystem(str(released), LocalFileSystem())
    opened = lambda location: (system, location.removeprefix(BUCKET).lstrip("/"))  # noqa: E731
    monkeypatch.setattr(storage, "_opened", opened)
    if "without" in request.param:
        monkeypatch.setattr(storage, "can_rename", lambda _location: False)
    return f"{BUCKET}/out"


@pytest.fixture
def publish(released, out):
    """Publish a folder of two files with a text in each, as Spark writes them."""
    certificate = load_certificate(released / "release")

    def made(text):
        folder = storage.join(out, "a.csv")
        with Publication(folder, overwrite=True) as place:
            storage.make_folder(place.staged)
            for name in ("part-0.csv", "part-1.csv"):
                storage.write_bytes(storage.join(place.staged, name), text.encode())
            facts = {"file": "a.csv", "output_digest": storage.digest(place.staged)}
            place.publish(certificate.model_copy(update=facts))
        return load_certificate(out)

    return made


def test_a_folder_of_files_is_published_beside_its_certificate(out, publish):
    certificate = publish("x")
    assert storage.names(out) == ("a.csv", FILE_NAME)
    assert storage.data_files(storage.join(out, "a.csv")) == ("part-0.csv", "part-1.csv")
    assert certificate.output_digest == storage.digest(storage.join(out, "a.csv"))


def test_a_folder_that_was_changed_is_not_the_certified_one(out, publish):
    publish("x")
    storage.write_bytes(storage.join(out, "a.csv/part-2.csv"), b"more")
    with pytest.raises(CertificateError, match="V004"):
        load_certificate(out)


def test_a_release_is_replaced_with_all_its_files(out, publish):
    publish("x")
    storage.write_bytes(storage.join(out, "a.csv/left.csv"), b"behind")
    publish("y")
    assert storage.names(out) == ("a.csv", FILE_NAME)
    assert storage.data_files(storage.join(out, "a.csv")) == ("part-0.csv", "part-1.csv")


@pytest.mark.parametrize("failing", [1, 2, 3, 4])
def test_a_release_stays_where_replacing_it_fails(out, publish, monkeypatch, failing):
    before, moves, move = publish("x"), [], storage.move

    def full(source, target):
        moves.append(target)
        if len(moves) == failing:
            raise OSError(28, "No space left on device")
        move(source, target)

    monkeypatch.setattr(storage, "move", full)
    with pytest.raises(OutputError, match="No space left"):
        publish("y")
    assert load_certificate(out) == before
    assert storage.names(out) == ("a.csv", FILE_NAME)


def test_no_output_ever_stands_beside_the_certificate_of_another(out, publish, monkeypatch):
    publish("x")
    seen, move = [], storage.move

    def watched(source, target):
        move(source, target)
        seen.append([name for name in storage.names(out) if not name.startswith(".")])
        load_certificate(out) if FILE_NAME in seen[-1] else None

    monkeypatch.setattr(storage, "move", watched)
    publish("y")
    alone = [FILE_NAME] if storage.can_rename(out) else ["a.csv"]
    assert seen == [alone, [], alone, ["a.csv", FILE_NAME]]


def test_a_store_that_nobody_knows_is_told():
    with pytest.raises(OutputError, match="O002"):
        Publication("nowhere://host/out/a.csv", overwrite=False)


def test_what_a_killed_run_left_in_a_store_is_swept_away(out, publish):
    mark = ".policy-engine.999999999."
    own = f"{mark}{uuid.getnode():x}.abc" if storage.is_remote(out) else f"{mark}abc"
    others = f"{mark}0machine.abc"
    for name in (own, others):
        storage.make_folder(storage.join(out, name))
    publish("x")
    left = (others,) if storage.is_remote(out) else ()
    assert storage.names(out) == (*left, "a.csv", FILE_NAME)


@pytest.mark.parametrize(
    ("output", "like", "place"),
    [
        ("s3a://b/out/x.orc", "csv", "s3a://b/out/x.orc"),
        ("s3a://b/out", "json", "s3a://b/out/a.json"),
        ("hdfs://h:1/out/", "memory", "hdfs://h:1/out/a.parquet"),
        ("out", "table", "out/a.parquet"),
    ],
)
def test_an_output_of_spark_is_a_folder_named_like_data(monkeypatch, output, like, place):
    monkeypatch.setattr(storage, "is_folder", lambda _location: False)
    assert destination(output, "http://x.org/a", like, as_folder=True) == place


def test_a_folder_that_is_named_like_data_is_itself_the_output_of_spark(tmp_path):
    (tmp_path / "x.csv").mkdir()
    found = destination(tmp_path / "x.csv", "http://x.org/a", "csv", as_folder=True)
    assert found == tmp_path / "x.csv"
    assert destination(tmp_path / "x.csv", "http://x.org/a", "csv") == found / "a.csv"


@pytest.mark.parametrize("name", ["x.orc", "x.json"])
def test_the_local_engine_does_not_write_the_formats_of_spark_alone(tmp_path, name):
    with pytest.raises(DataError, match="C004"):
        destination(tmp_path / name, "http://x.org/a", "csv")
    with pytest.raises(DataError, match=r"C004 .*'\.orc' and '\.json'"):
        destination(tmp_path / "x.xml", "http://x.org/a", "csv", as_folder=True)


def test_a_table_is_an_output_of_spark_alone():
    assert destination("table:x", "http://x.org/a", "csv", as_folder=True) == "table:x"
    with pytest.raises(OutputError, match="O002 The output 'table:x' is a table"):
        destination("table:x", "http://x.org/a", "csv")
