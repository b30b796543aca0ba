import os
from pathlib import Path

import pytest

from policy_engine.errors import OutputError
from policy_engine.writing import write_whole


def test_a_file_is_written_over_what_is_there(tmp_path):
    file = tmp_path / "page.html"
    file.write_text("before")
    write_whole(file, "aftér")
    assert file.read_bytes() == "aftér".encode()
    assert list(tmp_path.iterdir()) == [file]


def test_what_is_there_stays_where_writing_fails(tmp_path, monkeypatch):
    file = tmp_path / "page.html"
    file.write_text("before")

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(OutputError, match="No space left"):
        write_whole(file, "after")
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_an_input_is_never_written_over(tmp_path):
    data, link = tmp_path / "data.csv", tmp_path / "link.csv"
    data.write_text("a\n1\n")
    link.symlink_to(data)
    with pytest.raises(OutputError, match="O001"):
        write_whole(link, "page", data)
    assert data.read_text() == "a\n1\n"


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    for path in (tmp_path / "no" / "page.html", tmp_path):
        with pytest.raises(OutputError, match="O002"):
            write_whole(path, "page")


def test_a_pipe_is_written_to():
    reading, writing = os.pipe()
    write_whole(Path(f"/dev/fd/{writing}"), "text")
    os.close(writing)
    assert os.read(reading, 10) == b"text"
    os.close(reading)
