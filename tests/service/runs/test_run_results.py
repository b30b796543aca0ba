import pytest

from policy_engine.service.runs.results import (
    artefact_path,
    checked_artefacts,
    reveal,
    seal,
    sweep,
)


@pytest.fixture
def made(tmp_path):
    """Return a folder with something to show, and something not to."""
    folder = tmp_path / "out"
    (folder / "shown" / "more").mkdir(parents=True)
    (folder / "shown" / "more" / "b.json").write_text("{}")
    (folder / "shown" / "a.jsonld").write_text("{}\n")
    (folder / "record.json").write_text("secret")
    return folder


def test_artefacts_are_what_is_shown_with_digests_and_types(made):
    artefacts = {one["name"]: one for one in seal(made)}
    assert sorted(artefacts) == ["a.jsonld", "more/b.json"]
    assert artefacts["a.jsonld"]["media_type"] == "application/ld+json"
    assert artefacts["more/b.json"]["size"] == 2
    digest = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"  # of {}
    assert artefacts["more/b.json"]["digest"] == digest


def test_nothing_is_shown_where_there_is_nothing(tmp_path):
    assert seal(tmp_path) == []


def test_a_link_is_neither_an_artefact_nor_followed(made, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (made / "shown" / "link").symlink_to(tmp_path / "secret")
    (made / "shown" / "folder").symlink_to(tmp_path)
    names = [one["name"] for one in seal(made)]
    assert names == ["a.jsonld", "more/b.json"]


@pytest.mark.parametrize("name", ["../record.json", "/etc/passwd", "link", "more"])
def test_a_process_that_tells_of_other_files_is_not_believed(made, name):
    (made / "shown" / "link").symlink_to(made / "record.json")
    told = {"name": name, "size": 6, "digest": "0" * 64, "media_type": "text/plain"}
    with pytest.raises(ValueError, match=name):
        checked_artefacts(made, [told])


def test_names_stay_below_what_is_shown(made):
    assert artefact_path(made, "more/b.json").read_text() == "{}"
    with pytest.raises(ValueError, match="record"):
        artefact_path(made, "more/../../record.json")


def test_a_result_takes_the_place_of_what_a_dead_attempt_left(made, tmp_path):
    place = tmp_path / "results" / "run1"
    (place / "shown").mkdir(parents=True)
    (place / "shown" / "half").touch()
    reveal(made, place)
    assert sorted(one.name for one in (place / "shown").iterdir()) == ["a.jsonld", "more"]
    assert not made.exists()
    sweep(place)
    assert [*place.parent.iterdir()] == []
