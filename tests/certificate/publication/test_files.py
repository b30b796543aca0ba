"""What a publication takes for its own, and what it leaves to others."""

import pytest
from building import OUTPUT

from policy_engine.certificate.beside import load_certificate, load_certificates
from policy_engine.certificate.publication import Publication, files, publication
from policy_engine.data import storage
from policy_engine.errors import OutputError, Problem
from policy_engine.release.staging import CERTIFICATE, LOCK, STAGING


@pytest.fixture
def certificate(released):
    return load_certificate(released / "release")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write(place, certificate, texts=("x",)):
    """Write each output where it is staged; return certificates of them."""
    certificates = []
    for file, text in zip(place.files, texts, strict=True):
        staged = place.staged_file(file)
        staged.write_text(text)
        facts = {"file": file.name, "output_digest": storage.digest(staged)}
        certificates.append(certificate.model_copy(update=facts))
    return certificates


def test_an_output_has_no_name_that_a_certificate_has(tmp_path):
    with pytest.raises(OutputError) as told:
        Publication(tmp_path / "a.csv", tmp_path / CERTIFICATE, overwrite=True)
    message = f"An output cannot be named '{CERTIFICATE}': that is that of a certificate."
    assert told.value.problems == (Problem("O002", message, "Give another name."),)


OTHERS = "Give each release a folder of its own."
FREE = "Give another path, or overwrite=True."


@pytest.mark.parametrize(
    ("there", "overwrite", "told", "hint"),
    [
        (("a.csv",), False, "The output exists: '{out}/a.csv'.", FREE),
        ((CERTIFICATE,), False, f"The output exists: '{{out}}/{CERTIFICATE}'.", FREE),
        (
            ("a.csv", CERTIFICATE),
            False,
            f"The output exists: '{{out}}/a.csv' and '{{out}}/{CERTIFICATE}'.",
            FREE,
        ),
        (
            ("a.csv",),
            True,
            "'{out}/a.csv' is not a release: there is no certificate beside it.",
            "Only a release can be overwritten; move it away.",
        ),
    ],
)
def test_what_lies_in_the_place_of_an_output_is_kept(
    released, certificate, there, overwrite, told, hint
):
    out = released / "out"
    out.mkdir()
    texts = {
        "a.csv": "x",
        CERTIFICATE: certificate.model_copy(update={"file": "a.csv"}).to_jsonld(),
    }
    for name in there:
        (out / name).write_text(texts[name])
    with (
        pytest.raises(OutputError) as error,
        Publication(out / "a.csv", overwrite=overwrite),
    ):
        pass
    assert error.value.problems == (Problem("O001", told.format(out=out), hint),)
    assert names(out) == sorted(there)


@pytest.mark.parametrize("text", ["another file's", "{}"])
def test_a_certificate_of_something_else_that_came_meanwhile_is_kept(released, certificate, text):
    theirs = certificate.to_jsonld() if text != "{}" else text
    out = released / "out"
    with Publication(out / "a.csv", overwrite=True) as place:
        certificates = write(place, certificate)
        (out / CERTIFICATE).write_text(theirs)
        with pytest.raises(OutputError) as told:
            place.publish(*certificates)
    message = f"'{out}/{CERTIFICATE}' certifies another file, or is not a certificate."
    assert told.value.problems == (Problem("O001", message, OTHERS),)
    assert (names(out), (out / CERTIFICATE).read_text()) == ([CERTIFICATE], theirs)


def test_a_certificate_alone_is_replaced_where_that_was_asked_for(released, certificate):
    out = released / "out"
    with Publication(out / "a.csv", overwrite=False) as place:
        place.refuse(certificate.as_refusal().model_copy(update={"file": "a.csv"}))
    with Publication(out / "a.csv", overwrite=True) as place:
        [made] = write(place, certificate)
        place.publish(made)
    assert load_certificate(out) == made
    assert names(out) == ["a.csv", CERTIFICATE]


def test_a_refused_output_is_never_published_though_it_is_staged(released, certificate):
    out = released / "out"
    refused = certificate.as_refusal().model_copy(update={"file": "b.csv"})
    with Publication(out / "a.csv", out / "b.csv", overwrite=False) as place:
        write(place, certificate, "xy")
        place.refuse(refused)
    assert names(out) == [f"b.csv.{CERTIFICATE}"]
    assert load_certificates(out) == (refused,)


@pytest.mark.parametrize("there", ["a.csv", CERTIFICATE])
def test_what_came_meanwhile_stays_though_the_output_was_refused(released, certificate, there):
    out = released / "out"
    with Publication(out / "a.csv", overwrite=True) as place:
        (out / there).write_text("theirs")
        place.refuse(certificate.as_refusal().model_copy(update={"file": "a.csv"}))
    assert (names(out), (out / there).read_text()) == ([there], "theirs")


def test_nothing_is_published_where_the_folder_was_given_to_another_run(released, certificate):
    out = released / "out"
    with Publication(out / "a.csv", overwrite=False) as place:
        [made] = write(place, certificate)
        (out / LOCK).unlink()
        with pytest.raises(OutputError) as told:
            place.publish(made)
    message = f"The lock of {str(out)!r} was removed during the run."
    hint = "Another run may be making a release there."
    assert told.value.problems == (Problem("O001", message, hint),)
    assert not out.exists()


def test_outputs_are_published_each_with_the_certificate_of_its_own(released, certificate):
    out = released / "out"
    places = [out / "a.csv", out / "b.csv"]
    assets = ("http://x.org/a", "http://x.org/b")
    with Publication(*places, overwrite=False, assets=assets) as place:
        made = write(place, certificate, "xy")
        assert place.staged == place.staged_file(places[0])
        place.publish(*made)
    assert [load_certificate(one) for one in places] == made
    assert [one.read_text() for one in places] == ["x", "y"]
    assert names(out) == sorted(
        name for one in ("a.csv", "b.csv") for name in (one, f"{one}.{CERTIFICATE}")
    )


def test_of_several_outputs_all_are_published_or_none(released, certificate):
    out = released / "out"
    with Publication(out / "a.csv", out / "b.csv", overwrite=False) as place:
        made = write(place, certificate, "xy")
        with pytest.raises(ValueError, match="zip"):
            place.publish(made[0])
    assert not out.exists()


def test_an_asset_has_one_file_in_a_folder_that_is_shared(released):
    out = released / "release"
    with (
        pytest.raises(OutputError) as told,
        Publication(out / "b.csv", overwrite=True, assets=[OUTPUT]),
    ):
        pass
    message = f"'{out}/{CERTIFICATE}' certifies another file of {OUTPUT}, 'anonPeople.csv'."
    assert told.value.problems == (Problem("O001", message, OTHERS),)
    with Publication(out / "b.csv", overwrite=True, assets=["http://x.org/b"]) as place:
        assert place.certificate_location(out / "b.csv") == out / f"b.csv.{CERTIFICATE}"


def test_who_waits_for_another_run_is_told_once_and_then_goes_on(released, monkeypatch):
    out, told = released / "out" / "a.csv", []
    first = Publication(out, overwrite=False)
    first.__enter__()

    def progress(*given):
        told.append(given)
        first.__exit__(None, None, None)

    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    with Publication(out, overwrite=False, wait=True, progress=progress):
        assert told == [("waiting for another run", 0, 0)]


def test_who_does_not_wait_for_another_run_is_told_so_at_once(people):
    file = people / "out" / "a.csv"
    with Publication(file, overwrite=False):
        with (
            pytest.raises(OutputError, match="O001 Another run"),
            Publication(file, overwrite=True),
        ):
            pass
        assert (people / "out").is_dir()  # it is the first run's


def test_folders_that_were_made_for_nothing_are_removed_and_no_others(people):
    (people / "there").mkdir()
    with Publication(people / "there" / "new" / "deep" / "a.csv", overwrite=False):
        assert (people / "there" / "new" / "deep").is_dir()
    assert names(people / "there") == []
    with Publication(people / "there" / "new" / "deep" / "a.csv", overwrite=False):
        (people / "there" / "new" / "mine").touch()
    assert names(people / "there" / "new") == ["mine"]


def test_a_folder_that_others_take_away_while_it_is_made_is_made_again(people, monkeypatch):
    made, hold = [], files.hold

    def taken_away(folder, waiting):
        made.append(folder)
        if len(made) == 1:
            folder.rmdir()
        return hold(folder, waiting)

    monkeypatch.setattr(files, "hold", taken_away)
    with Publication(people / "out" / "a.csv", overwrite=False):
        assert made == [people / "out"] * 2
    assert names(people) == ["people.csv", "policy.jsonld"]


def test_a_folder_that_never_stays_is_told(people, monkeypatch):
    def gone(folder, _waiting):
        folder.rmdir()
        raise FileNotFoundError(folder)

    monkeypatch.setattr(files, "hold", gone)
    with (
        pytest.raises(OutputError, match=r"a\.csv: O002 .*out does not stay\.$"),
        Publication(people / "new" / "out" / "a.csv", overwrite=False),
    ):
        pass
    assert names(people) == ["people.csv", "policy.jsonld"]


def test_only_the_outputs_that_are_named_are_hidden_or_all_of_them(released, certificate):
    places = [released / "out" / name for name in ("a.csv", "b.csv")]
    with Publication(*places, overwrite=False) as place:
        write(place, certificate, "xy")
        staged = [place.staged_file(one) for one in places]
        for one in staged:
            one.chmod(0o644)
        place.hide(places[1])
        assert [one.stat().st_mode & 0o777 for one in staged] == [0o644, 0o600]
        place.hide()
        assert [one.stat().st_mode & 0o777 for one in staged] == [0o600, 0o600]


def test_a_stage_is_its_makers_alone_and_gone_afterwards(people):
    with Publication(people / "a.csv", overwrite=False) as place:
        stage = storage.parent(place.staged)
        assert stage.name.startswith(STAGING)
        assert stage.stat().st_mode & 0o777 == 0o700
        assert LOCK in names(people)
    assert names(people) == ["people.csv", "policy.jsonld"]


def test_an_error_of_an_output_names_it(people, monkeypatch):
    def full(_place):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storage, "make_private_folder", full)
    told = r"out/a\.csv: O002 The output cannot be written: No space left on device\.$"
    with (
        pytest.raises(OutputError, match=told),
        Publication(people / "out" / "a.csv", overwrite=False),
    ):
        pass
    assert names(people) == ["people.csv", "policy.jsonld"]


def test_what_is_staged_is_on_the_disk_before_anything_is_moved(released, certificate, monkeypatch):
    steps, sync, move = [], storage.sync, storage.move
    monkeypatch.setattr(storage, "sync", lambda place: (steps.append(place), sync(place)))
    monkeypatch.setattr(storage, "move", lambda *given: (steps.append("move"), move(*given)))
    with Publication(released / "out" / "a.csv", overwrite=False) as place:
        [made] = write(place, certificate)
        staged = place.staged
        place.publish(made)
    before = {str(one) for one in steps[: steps.index("move")]}
    assert before == {str(one) for one in (staged.parent, staged, staged.parent / CERTIFICATE)}


def test_files_are_published_as_it_was_asked_for(released, monkeypatch):
    out, told = released / "release", []
    release, other = out / "anonPeople.csv", out / "b.csv"
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    first = publication({OUTPUT: release}, None, overwrite=True)
    first.__enter__()
    with (
        pytest.raises(OutputError, match="O001 Another run"),
        publication({OUTPUT: release}, None, overwrite=True),
    ):
        pass

    def progress(*given):
        told.append(given)
        first.__exit__(None, None, None)

    with publication({OUTPUT: release}, None, overwrite=True, wait=True, progress=progress):
        assert [one for one in names(out) if one.startswith(STAGING)]
    assert told == [("waiting for another run", 0, 0)]
    for file, overwrite, why in [
        (release, False, "O001 The output exists"),
        (other, True, f"O001 .* certifies another file of {OUTPUT}"),
    ]:
        with (
            pytest.raises(OutputError, match=why),
            publication({OUTPUT: file}, None, overwrite=overwrite),
        ):
            pass
