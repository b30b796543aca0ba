import os
import shutil
from pathlib import Path

import pytest
from building import ANALYST, DATASET, OUTPUT, people_policy
from hypothesis import given
from hypothesis import strategies as st
from modelled import of_release
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem
from typer.testing import CliRunner

from policy_engine import (
    apply_policy,
    certify_output,
    compare_release,
    decide_request,
    read_request,
)
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.publication import Publication, destination, journal
from policy_engine.certificate.publication.destinations import (
    check_model_folder,
    model_destination,
    plan_destination,
    plan_destinations,
)
from policy_engine.cli import app
from policy_engine.data import storage
from policy_engine.engines import engine, tables
from policy_engine.errors import CertificateError, DataError, OutputError, PolicyEngineError
from policy_engine.plan.making import make_plan
from policy_engine.policy import read_policy
from policy_engine.release.staging import CERTIFICATE, JOURNAL, STAGING


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
    taken = f"O001 The output exists: .*anonPeople.csv' and .*{CERTIFICATE}'"
    with pytest.raises(OutputError, match=taken) as told:
        apply(released, released / "release")
    assert told.value.problems[0].hint == "Give another path, or overwrite=True."
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
    dead = people / "out" / f"{STAGING}{'0' * 32}"
    dead.mkdir(parents=True)
    (dead / "anonPeople.csv").write_text("partial")
    apply(people, people / "out")
    assert names(people / "out") == ["anonPeople.csv", "certificate.jsonld"]


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


@pytest.mark.parametrize("output", ["table:x", "s3a://bucket/x", "out.zip"])
def test_a_model_is_released_into_a_folder_of_this_machine(tmp_path, output):
    assert model_destination(tmp_path / "out", "http://x.org/m") == tmp_path / "out" / "m"
    with pytest.raises(
        OutputError, match="O002 A model must be released into a local folder"
    ) as told:
        model_destination(output, "http://x.org/m")
    assert told.value.problems[0].hint == "Give the path of a folder."


def test_a_model_lies_alone_and_its_report_elsewhere(tmp_path):
    model = tmp_path / "out" / "m"
    check_model_folder(model, tmp_path / "report")
    model.mkdir(parents=True)
    (tmp_path / "out" / CERTIFICATE).touch()
    check_model_folder(model, None)
    for report in (tmp_path / "out", tmp_path / "out" / "report"):
        with pytest.raises(OutputError, match=r"O002 The report .* would be in the folder of"):
            check_model_folder(model, report)
    (tmp_path / "out" / "more.csv").touch()
    with pytest.raises(
        OutputError, match=r"O001 A model must be .* of its own.* contains 'more.csv'"
    ):
        check_model_folder(model, tmp_path / "report")


def test_a_plan_says_whether_an_output_is_a_model_or_data(tmp_path):
    model, data = (make_plan(read_policy(one)) for one in (of_release(), people_policy()))
    assert plan_destination(tmp_path / "out", model) == tmp_path / "out" / "model"
    assert plan_destination(tmp_path / "out", data) == tmp_path / "out" / "anonPeople.csv"


def test_outputs_share_a_folder_under_names_of_their_own(tmp_path):
    plans = [make_plan(read_policy(people_policy().replace(OUTPUT, one))) for one in (A, B)]
    assert plan_destinations(plans, tmp_path) == [tmp_path / "a.csv", tmp_path / "b.csv"]
    assert plan_destinations(plans[:1], tmp_path / "x.csv") == [tmp_path / "x.csv"]
    model = make_plan(read_policy(of_release()))
    for some, output, why in [
        (
            [model, *plans],
            tmp_path,
            "share a folder: the model 'http://x.org/model' needs one of its",
        ),
        (plans, tmp_path / "x.csv", f"'{A}' and '{B}' must go into a folder. Given: .*x.csv'"),
        (plans[:1] * 2, tmp_path, "would have the same name in the folder: 'a.csv'"),
    ]:
        with pytest.raises(OutputError, match=f"O002 The outputs .*{why}"):
            plan_destinations(some, output)


A, B = "http://x.org/a", "http://x.org/b"


def test_of_outputs_at_once_each_certificate_has_the_name_of_its_own(people):
    files = [people / "out" / name for name in ("a.csv", "b.csv")]
    with Publication(*files, overwrite=False) as place:
        found = [place.certificate_location(file) for file in files]
    assert found == [people / "out" / f"{name}.csv.{CERTIFICATE}" for name in "ab"]
    with Publication(files[0], overwrite=False) as place:
        assert place.certificate_location(files[0]) == people / "out" / CERTIFICATE


def test_a_release_that_was_refused_leaves_its_certificate_and_never_replaces_one(released):
    file = released / "out" / "anonPeople.csv"
    told = load_certificate(released / "release").as_refusal()
    with Publication(file, overwrite=False) as place:
        place.refuse(told)
    assert names(released / "out") == [CERTIFICATE]
    assert load_certificate(released / "out") == told
    before = (released / "release" / CERTIFICATE).read_bytes()
    with Publication(released / "release" / "anonPeople.csv", overwrite=True) as place:
        place.refuse(told)
    assert (released / "release" / CERTIFICATE).read_bytes() == before
    assert names(released / "release") == ["anonPeople.csv", CERTIFICATE]


def test_an_input_is_never_overwritten(released):
    data = {DATASET: released / "release" / "anonPeople.csv"}
    (released / "release" / "anonPeople.csv").write_bytes((released / "people.csv").read_bytes())
    (released / "release" / "certificate.jsonld").unlink()
    with pytest.raises(OutputError, match="is the input itself"):
        apply_policy(
            released / "policy.jsonld",
            data,
            released / "release" / "anonPeople.csv",
            overwrite=True,
        )


def test_a_file_that_is_no_release_is_not_overwritten(people):
    (people / "mine.csv").write_text("precious")
    with pytest.raises(OutputError, match="is not a release") as told:
        apply(people, people / "mine.csv", overwrite=True)
    assert told.value.problems[0].hint == "Only a release can be overwritten; move it away."
    assert (people / "mine.csv").read_text() == "precious"


UNFIT = ["a\\b", "a\nb", "a\x7fb", "a\udc80b", "é" * 126, ".policy-engine.x", ".Policy-Engine.x"]


@pytest.mark.parametrize("name", UNFIT)
def test_names_that_no_output_has_are_refused_before_anything_is_done(people, name):
    with pytest.raises(OutputError, match=r"O002 .*(cannot be named|name too long)"):
        apply(people, people / f"{name}.csv")
    with pytest.raises(OutputError, match=r"O002 .*(cannot be named|name too long)"):
        apply(people, people / "out", record=people / f"{name}.csv")
    with pytest.raises(PolicyEngineError, match=r"O002|C003"):
        certify_output(people / f"{name}.csv", people / "policy.jsonld")
    assert names(people) == ["people.csv", "policy.jsonld"]


@pytest.mark.parametrize("name", ["..", "x/..", "certificate.jsonld", "Certificate.jsonld"])
def test_an_output_is_not_where_its_certificate_or_folder_is(people, name):
    with pytest.raises(OutputError, match="O002"):
        Publication(f"{people}/{name}", overwrite=True)


NAMES = st.text(max_size=5) | st.sampled_from([".h.csv", "back", ".old.a", "a b", "é" * 127])


@given(NAMES)
def test_a_journal_is_sound_with_every_name_that_an_output_has(name):
    pairs = (journal.CertifiedPair(CERTIFICATE, name),)
    kept = journal.Journal(Path(), f"{STAGING}{'0' * 32}", pairs, [name] if name else [])
    try:
        Publication(Path("folder") / name if "/" not in name else name, overwrite=True)
    except OutputError:
        assert name == "" or not journal._is_sound(kept)
    else:
        assert Path(name).name != name or journal._is_sound(kept)  # a path of "." is its folder's


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", [".h.csv", "back", ".old.certificate.json", "x" * 255])
def test_a_release_of_any_name_is_replaced_or_stays(released, monkeypatch, name):
    certificate, place = load_certificate(released / "release"), released / "out" / name
    move = storage.move

    def publish(text):
        with Publication(place, overwrite=True) as made:
            made.staged.write_text(text)
            digest = storage.digest(made.staged)
            made.publish(certificate.model_copy(update={"file": name, "output_digest": digest}))

    def broken(source, target):
        if target == place:
            monkeypatch.setattr(storage, "move", move)
            raise OSError(28, "No space left on device")
        move(source, target)

    publish("old")
    monkeypatch.setattr(storage, "move", broken)
    with pytest.raises(OutputError, match="No space left"):
        publish("new")
    assert (place.read_text(), names(place.parent)) == ("old", sorted([name, CERTIFICATE]))
    load_certificate(place.parent)
    publish("new")
    assert (place.read_text(), names(place.parent)) == ("new", sorted([name, CERTIFICATE]))


@pytest.mark.parametrize("journal_text", [None, "{"], ids=["gone", "malformed"])
def test_an_earlier_release_is_never_swept_with_a_stage_whose_journal_is_lost(
    released, monkeypatch, journal_text
):
    folder, moves, move = released / "release", [], storage.move

    def killed(source, target):
        moves.append(target)
        if len(moves) > 3:
            raise OSError(5, "Input/output error")
        move(source, target)

    before = (folder / "anonPeople.csv").read_bytes()
    monkeypatch.setattr(storage, "move", killed)
    with pytest.raises(OutputError, match="Input/output error"):
        apply(released, folder, overwrite=True)
    monkeypatch.undo()
    [stage] = folder.glob(f"{STAGING}*")
    (folder / JOURNAL).unlink()
    if journal_text:
        (folder / JOURNAL).write_text(journal_text)
        with pytest.raises(OutputError, match=f"{stage.name}.*: move it away, then remove"):
            apply(released, folder, overwrite=True)
        (folder / JOURNAL).unlink()
    for _ in range(2):
        with pytest.raises(
            OutputError, match=r"its journal is missing\. It kept .*old\.output"
        ) as told:
            apply(released, folder, overwrite=True)
        assert f"Move it away, then remove {str(stage)!r}" in told.value.problems[0].hint
    assert (stage / ".policy-engine.old.output").read_bytes() == before
    shutil.rmtree(stage)
    apply(released, folder, overwrite=True)


def test_nothing_is_swept_but_the_folders_that_runs_stage_in(people):
    out = people / "out"
    (out / f"{STAGING}mine").mkdir(parents=True)
    (out / f"{STAGING}{'0' * 32}").write_text("mine")
    (out / f"{STAGING}{'1' * 32}").symlink_to(people)
    before = names(out)
    apply(people, out)
    assert names(out) == sorted(["anonPeople.csv", CERTIFICATE, *before])


def test_an_interruption_after_the_last_step_undoes_nothing(released, publish, monkeypatch):
    publish("x")
    end = journal.Journal._end

    def interrupted(self):
        end(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(journal.Journal, "_end", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish("y")
    monkeypatch.undo()
    assert names(released / "out") == ["a.csv", CERTIFICATE]
    assert (released / "out/a.csv/part-0.csv").read_text() == "y"
    load_certificate(released / "out")


BUCKET = "s3a://bucket"


RENAMED = pytest.mark.parametrize("out", ["here", "there"], indirect=True)


@pytest.fixture(params=["here", "there", "there, without renames"])
def out(request, released, monkeypatch):
    """A place for a release on this machine, or the same as if it were behind a URI."""
    place = released / "out"
    if request.param == "here":
        return place
    system = SubTreeFileSystem(str(released), LocalFileSystem())
    opened = lambda location: (system, location.removeprefix(BUCKET).lstrip("/"))  # noqa: E731
    monkeypatch.setattr(storage, "_file_system", opened)
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
    assert storage.names(out) == ("a.csv", CERTIFICATE)
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
    assert storage.names(out) == ("a.csv", CERTIFICATE)
    assert storage.data_files(storage.join(out, "a.csv")) == ("part-0.csv", "part-1.csv")


@pytest.mark.one_in(6)
@pytest.mark.parametrize("failing", [1, 2, 3, 4, 5, 6])
def test_a_release_stays_where_replacing_it_fails(out, publish, monkeypatch, failing):
    step = "move" if storage.can_rename(out) else "copy"
    before, calls, call = publish("x"), [], getattr(storage, step)

    def full(source, target):
        calls.append(target)
        if len(calls) == failing:
            raise OSError(28, "No space left on device")
        call(source, target)

    monkeypatch.setattr(storage, step, full)
    with pytest.raises(OutputError, match="No space left"):
        publish("y")
    assert load_certificate(out) == before
    assert storage.names(out) == ("a.csv", CERTIFICATE)


@RENAMED
def test_what_can_neither_be_published_nor_undone_is_finished_by_the_next_run(
    released, publish, monkeypatch
):
    publish("x")
    moves, move = [], storage.move

    def broken(source, target):
        moves.append(target)
        if len(moves) > 3:
            raise OSError(5, "Input/output error")
        move(source, target)

    monkeypatch.setattr(storage, "move", broken)
    with pytest.raises(OutputError, match="Input/output error"):
        publish("y")
    with pytest.raises(CertificateError, match="V010"):
        load_certificate(released / "out")
    monkeypatch.undo()
    with (
        pytest.raises(OutputError, match="O001"),
        Publication(released / "out/a.csv", overwrite=False),
    ):
        pass
    assert names(released / "out") == ["a.csv", CERTIFICATE]
    assert load_certificate(released / "out").file == "a.csv"


@RENAMED
def test_no_output_ever_stands_without_its_certificate(released, publish, monkeypatch):
    out = released / "out"
    publish("x")
    seen, move = [], storage.move

    def watched(source, target):
        move(source, target)
        seen.append([name for name in storage.names(out) if not name.startswith(".")])
        if STAGING in str(source) or storage.name(source) != JOURNAL:  # all moves but the last
            with pytest.raises(CertificateError, match="V010"):
                load_certificate(out)

    monkeypatch.setattr(storage, "move", watched)
    publish("y")
    both = ["a.csv", CERTIFICATE]
    assert seen == [both, [CERTIFICATE], [], [CERTIFICATE], both, both]
    load_certificate(out)


def test_a_store_that_nobody_knows_is_told():
    nowhere = Publication("nowhere://host/out/a.csv", overwrite=False)
    with pytest.raises(OutputError, match="O002"), nowhere:
        pass


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
    with pytest.raises(OutputError, match="O002 The output 'table:x' is a table") as told:
        destination("table:x", "http://x.org/a", "csv")
    assert told.value.problems[0].hint == 'Give engine="spark", or a file.'


@pytest.mark.parametrize("aim", ["nowhere.csv", "link.csv", "/"])
def test_a_link_at_the_destination_is_taken_wherever_it_leads(people, aim):
    link = people / "link.csv"
    link.symlink_to(aim)
    for overwrite in (False, True):
        with (
            pytest.raises(OutputError, match="O001"),
            Publication(link, overwrite=overwrite),
        ):
            pass
    assert link.is_symlink()
    assert names(people) == ["link.csv", "people.csv", "policy.jsonld"]


def test_a_release_whose_output_is_a_link_is_replaced_where_the_link_is(released):
    output = released / "release" / "anonPeople.csv"
    output.rename(released / "moved.csv")
    output.symlink_to(released / "moved.csv")
    before = (released / "moved.csv").read_bytes()
    apply(released, released / "release", overwrite=True)
    assert not output.is_symlink()
    assert (released / "moved.csv").read_bytes() == before
    assert load_certificate(released / "release").file == "anonPeople.csv"


@pytest.mark.parametrize("output", ["", " "])
def test_an_empty_path_is_not_the_current_folder(people, monkeypatch, output):
    monkeypatch.chdir(people)
    with pytest.raises(OutputError, match="O002 The path of the output is empty"):
        apply(people, output)
    with pytest.raises(OutputError, match="O002"):
        apply(people, None).write(output)
    assert names(people) == ["people.csv", "policy.jsonld"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"stage": "../x"}', '{"stage": 1}'])
def test_a_journal_that_cannot_be_understood_stays_and_stops_everybody(released, text):
    journal = released / "release" / JOURNAL
    journal.write_text(text)
    before = names(released / "release")
    with pytest.raises(OutputError, match=f"O002 '{journal}' is not the journal"):
        apply(released, released / "release", overwrite=True)
    assert names(released / "release") == before


def test_the_journal_of_another_user_is_not_obeyed(released, monkeypatch):
    (released / "release" / JOURNAL).write_text("{}")
    monkeypatch.setattr(journal, "_owner", lambda place: place.name == JOURNAL)
    with pytest.raises(OutputError, match="O002 Another user's run") as told:
        apply(released, released / "release", overwrite=True)
    assert told.value.problems[0].hint == "That user can finish it with any run into that folder."


@RENAMED
def test_two_moves_are_never_kept_in_another_order_by_a_loss_of_power(publish, monkeypatch):
    steps, move, sync = [], storage.move, storage.sync

    def moved(source, target):
        steps.append({storage.parent(source), storage.parent(target)})
        move(source, target)

    def synced(place):
        steps.append(place)
        sync(place)

    monkeypatch.setattr(storage, "move", moved)
    monkeypatch.setattr(storage, "sync", synced)
    publish("x")
    moves = [number for number, step in enumerate(steps) if isinstance(step, set)]
    assert len(moves) == 4
    for number in moves:
        assert steps[number] <= set(steps[number + 1 : number + 3])


def test_nobody_reads_a_release_that_is_half_published(released):
    place, folder = released / "release" / "anonPeople.csv", released / "release"
    request = read_request(ANALYST, "read", [OUTPUT], "marketing")
    assert decide_request([released / "policy.jsonld"], [folder], request).permitted
    (folder / JOURNAL).touch()
    policy = released / "policy.jsonld"
    readers = [
        lambda: decide_request([policy], [folder], request),
        lambda: decide_request([policy], [folder / CERTIFICATE], request),
        lambda: certify_output(place, policy),
        lambda: certify_output(folder, policy),
        lambda: compare_release(released / "people.csv", place),
    ]
    for reader in readers:
        with pytest.raises(CertificateError, match="V010"):
            reader()


@pytest.mark.nightly
def test_a_command_waits_or_is_told_and_takes_no_empty_path(people, monkeypatch):
    monkeypatch.chdir(people)
    given = ["apply", "policy.jsonld", "--data", f"{DATASET}=people.csv", "--output"]
    empty = CliRunner().invoke(app, [*given, ""])
    assert empty.exception.exit_code == 2
    report = CliRunner().invoke(app, [*given, "out", "--report", ""])
    assert report.exception.exit_code == 2
    assert names(people) == ["people.csv", "policy.jsonld"]
    with Publication(people / "out" / "a.csv", overwrite=False):
        told = CliRunner().invoke(app, [*given, "out"])
    assert told.exception.problems[0].code == "O001"
    assert CliRunner().invoke(app, [*given, "out", "--wait"]).exit_code == 0


def during_the_digest(monkeypatch, work):
    """Let something happen right before a reader takes the digest of an output."""
    digest = engine.digest

    def interrupted(place):
        monkeypatch.setattr(engine, "digest", digest)
        work()
        return digest(place)

    monkeypatch.setattr(engine, "digest", interrupted)


READERS = {
    "load": lambda people: load_certificate(people / "release"),
    "certify": lambda people: certify_output(
        people / "release/anonPeople.csv", people / "policy.jsonld"
    ),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_of_a_release_that_is_being_replaced_is_told_so(released, monkeypatch, reader):
    folder = released / "release"

    def begun():
        (folder / JOURNAL).touch()
        (folder / "anonPeople.csv").unlink()

    during_the_digest(monkeypatch, begun)
    with pytest.raises(CertificateError, match="V010"):
        READERS[reader](released)


def test_a_reader_of_a_release_that_was_replaced_meanwhile_is_told_so(released, monkeypatch):
    people = (released / "people.csv").read_text().replace("20", "21")
    (released / "people.csv").write_text(people)
    during_the_digest(monkeypatch, lambda: apply(released, released / "release", overwrite=True))
    with pytest.raises(CertificateError, match="V010"):
        load_certificate(released / "release")
    load_certificate(released / "release")


def test_a_table_is_not_named_like_what_runs_keep_beside_tables():
    from policy_engine.certificate.publication import tables as publishing

    with pytest.raises(OutputError, match="O002"):
        publishing.TablePublication(None, "table:db.x__Policy_Engine_old", overwrite=True)
    assert publishing._is_staged_table(f"X__policy_engine_stage_{'0' * 16}", "x")
    assert not publishing._is_staged_table("x__policy_engine_stage_of_play", "x")
