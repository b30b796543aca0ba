from policy_engine.data.sheets import split_sheet, without_sheet


def test_a_sheet_is_named_behind_its_workbook(tmp_path):
    book = tmp_path / "a.xlsx"
    assert split_sheet(tmp_path / "a.xlsx#May #2") == (book, "May #2")
    assert split_sheet(book) == (book, "")
    assert split_sheet(tmp_path / "a.csv#b") == (tmp_path / "a.csv#b", "")
    assert (without_sheet("a.XLSX#b"), without_sheet("a.csv#b")) == ("a.XLSX", "a.csv#b")


def test_a_file_whose_name_has_a_mark_is_itself(tmp_path):
    path = tmp_path / "a.ods#b"
    path.touch()
    assert split_sheet(path) == (path, "")
