import pytest

from policy_engine.data.csv_format import (
    CsvFormat,
    FormatWarning,
    csv_files_as,
    declared_format,
    tell_format,
    telling,
)
from policy_engine.errors import DataError


def test_a_format_holds_for_the_files_that_it_is_said_of(tmp_path):
    form = CsvFormat("tab", "latin1", ",")
    with csv_files_as(form, tmp_path / "a.csv", str(tmp_path / "b.csv")):
        assert declared_format(tmp_path / "a.csv") == CsvFormat("\t", "iso8859-1", ",")
        assert declared_format(tmp_path / "b.csv" / "part.csv") == form
        assert declared_format(tmp_path / "c.csv") == CsvFormat()
    assert declared_format(tmp_path / "a.csv") == CsvFormat()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"delimiter": ";;"}, "C010"),
        ({"delimiter": '"'}, "C010"),
        ({"delimiter": "5"}, "C010"),
        ({"delimiter": "x"}, "C010"),
        ({"encoding": "klingon"}, "C008"),
        ({"encoding": "base64"}, "C008"),
        ({"encoding": "idna"}, "C008"),
        ({"decimal": ";"}, "C010"),
    ],
)
def test_a_format_that_is_none_is_refused(words, code):
    with pytest.raises(DataError) as error:
        CsvFormat(**words)
    assert [one.code for one in error.value.problems] == [code]


def test_what_was_found_is_a_warning_unless_somebody_listens():
    lines = []
    with telling(lines.append):
        tell_format("a.csv: read as UTF-16")
    assert lines == ["a.csv: read as UTF-16"]
    with pytest.warns(FormatWarning, match=r"b\.csv"):
        tell_format("b.csv: read as UTF-16")
