import os
import socket
from pathlib import Path

import pytest

from policy_engine.data.atomic_file import check_destination, check_free, write_file
from policy_engine.errors import OutputError


def test_a_file_is_written_over_what_is_there(tmp_path):
    file = tmp_path / "page.html"
    file.write_text("before")
    write_file(file, "aftér")
    assert file.read_bytes() == "aftér".encode()
    assert list(tmp_path.iterdir()) == [file]


def test_what_is_there_stays_where_writing_fails(tmp_path, monkeypatch):
    file = tmp_path / "page.html"
    file.write_text("before")

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(OutputError, match="No space left"):
        write_file(file, "after")
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_an_input_is_never_written_over(tmp_path):
    data, link = tmp_path / "data.csv", tmp_path / "link.csv"
    data.write_text("a\n1\n")
    link.symlink_to(data)
    with pytest.raises(OutputError, match="O001"):
        write_file(link, "page", data)
    assert data.read_text() == "a\n1\n"


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    for path in (tmp_path / "no" / "page.html", tmp_path):
        with pytest.raises(OutputError, match="O002"):
            write_file(path, "page")


def test_a_pipe_is_written_to():
    reading, writing = os.pipe()
    write_file(Path(f"/dev/fd/{writing}"), "text")
    os.close(writing)
    assert os.read(reading, 10) == b"text"
    os.close(reading)


def test_what_is_there_is_never_written_over_unless_that_is_asked_for(tmp_path):
    file, folder = tmp_path / "rows.csv", tmp_path / "folder.csv"
    file.write_text("before")
    folder.mkdir()
    for taken in (file, folder):
        with pytest.raises(OutputError, match="O001"):
            write_file(taken, "after", overwrite=False)
        with pytest.raises(OutputError, match="O001"):
            check_free(taken)
    assert file.read_text() == "before"
    assert sorted(tmp_path.iterdir()) == [folder, file]
    write_file(file, "before", overwrite=False)  # which changes nothing


def test_a_link_to_nothing_is_something_and_is_never_written_through(tmp_path):
    link, away = tmp_path / "rows.csv", tmp_path / "away.csv"
    link.symlink_to(away)
    with pytest.raises(OutputError, match="O001"):
        write_file(link, "rows", overwrite=False)
    assert link.is_symlink()
    write_file(link, "rows")
    assert not away.exists()
    assert not link.is_symlink()


def test_a_link_is_written_over_and_not_what_it_leads_to(tmp_path):
    link, other = tmp_path / "page.html", tmp_path / "other.html"
    other.write_text("another's")
    link.symlink_to(other)
    with pytest.raises(OutputError, match="O001"):
        write_file(link, "another's", overwrite=False)
    write_file(link, "page")
    assert (link.read_text(), other.read_text()) == ("page", "another's")


def test_a_file_that_appears_meanwhile_is_left_alone(tmp_path, monkeypatch):
    file = tmp_path / "rows.csv"
    synced = os.fsync

    def and_then_somebody_comes(number):
        synced(number)
        file.write_text("theirs")

    monkeypatch.setattr("os.fsync", and_then_somebody_comes)
    with pytest.raises(OutputError, match="O001"):
        write_file(file, "ours", overwrite=False)
    assert file.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_system_without_hard_links_is_written_to_as_well(tmp_path, monkeypatch):
    def unsupported(*_arguments):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("pathlib.Path.hardlink_to", unsupported)
    write_file(tmp_path / "rows.csv", "rows", overwrite=False)
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("rows.csv", "rows")]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
@pytest.mark.parametrize("overwrite", [True, False])
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_nobody_else_may_read_a_file_that_is_being_written(tmp_path, monkeypatch, mask, overwrite):
    seen = []
    synced = os.fsync

    def looked_at(number):
        seen.extend((one.stat().st_mode & 0o777, one.stat().st_size) for one in tmp_path.iterdir())
        synced(number)

    monkeypatch.setattr("os.fsync", looked_at)
    before = os.umask(mask)
    try:
        write_file(tmp_path / "rows.csv", "rows", overwrite=overwrite)
    finally:
        os.umask(before)
    assert seen == [(0o600, 4)]
    assert (tmp_path / "rows.csv").stat().st_mode & 0o777 == 0o666 & ~mask


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no names for open files")
def test_an_open_file_is_written_to_and_never_replaced(tmp_path):
    file = tmp_path / "out.txt"
    with file.open("wb") as stream:
        stream.write(b"before ")
        stream.flush()
        write_file(Path(f"/dev/fd/{stream.fileno()}"), "after", overwrite=False)
    assert file.read_bytes() == b"before after"
    assert list(tmp_path.iterdir()) == [file]


def test_what_is_no_file_is_never_written_over(tmp_path):
    place = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(place))
        with pytest.raises(OutputError, match="O002"):
            write_file(place, "page")


def test_where_nothing_can_be_written_is_known_beforehand(tmp_path):
    file = tmp_path / "rows.csv"
    check_destination(file)
    assert not [*tmp_path.iterdir()]
    file.write_text("rows")
    check_destination(file, overwrite=True)
    for place, inputs, overwrite, code in (
        (file, (), False, "O001"),
        (file, (file,), True, "O001"),
        (tmp_path, (), True, "O002"),
        (tmp_path / "missing" / "rows.csv", (tmp_path / "unknown",), False, "O002"),
    ):
        with pytest.raises(OutputError, match=code):
            check_destination(place, *inputs, overwrite=overwrite)
    assert [*tmp_path.iterdir()] == [file]
