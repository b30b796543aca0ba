"""Folders of outputs that come as an archive, from whoever sends them."""

import io
import json
import stat
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile, ZipInfo

import pytest

from policy_engine.api.checking_outputs import check_tables
from policy_engine.errors import LedgerError
from policy_engine.release.output_folder import archives
from policy_engine.release.output_folder.archives import read_archive


@pytest.fixture
def texts(tmp_path):
    """Return the files of a folder that was made elsewhere, by their paths."""
    (tmp_path / "one.csv").write_text("region,n\nnorth,70\nsouth,44\n")
    check_tables(tmp_path / "one.csv", profile="sacro", out=tmp_path / "folder")
    folder = tmp_path / "folder"
    paths = [one for one in folder.rglob("*") if one.is_file()]
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in paths}


def packed(texts, *more, top=""):
    file = io.BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, text in [*texts.items(), *more]:
            archive.writestr(name if isinstance(name, ZipInfo) else f"{top}{name}", text)
    file.seek(0)
    return file


@pytest.mark.parametrize("top", ["", "folder/"])
def test_a_folder_is_read_without_its_log_and_its_pages(texts, top):
    content = read_archive(packed(texts, top=top))
    assert [one.name for one in content.submission.outputs] == ["one"]
    assert set(content.files) == {name for name in texts if "/" in name}


@pytest.mark.parametrize(
    "name",
    ["../x.csv", "/etc/x.csv", "outputs/../../x.csv", "outputs/a/b.csv", "other/x.csv", "x.exe"],
)
def test_a_path_that_no_folder_has_is_refused(texts, name):
    with pytest.raises(LedgerError, match=r"K027.*no folder of outputs has"):
        read_archive(packed(texts, (name, b"x")))


def test_a_file_that_is_packed_in_another_way_is_refused(texts):
    file = io.BytesIO()
    with ZipFile(file, "w", ZIP_BZIP2) as archive:
        archive.writestr("outputs.json", texts["outputs.json"])
    with pytest.raises(LedgerError, match=r"K027.*packed"):
        read_archive(file)


def test_a_link_is_refused(texts):
    link = ZipInfo("outputs/link.csv")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with pytest.raises(LedgerError, match=r"K027.*link"):
        read_archive(packed(texts, (link, b"/etc/passwd")))


def test_no_more_is_unpacked_than_there_is_room_for(texts, monkeypatch):
    monkeypatch.setattr(archives, "MOST_BYTES", 100_000)
    with pytest.raises(LedgerError, match=r"K027.*more than"):
        read_archive(packed(texts, ("outputs/big.csv", b"0" * 10_000_000)))
    monkeypatch.setattr(archives, "MOST_MEMBERS", 2)
    with pytest.raises(LedgerError, match=r"K027.*files"):
        read_archive(packed(texts))


@pytest.mark.parametrize("declared", [10, 5_000_000])
def test_a_size_that_is_not_true_lets_nothing_else_be_read(texts, declared):
    true, name = 123_457, "outputs/big.csv"
    content = packed(texts, (name, b"0" * true)).read()
    assert true.to_bytes(4, "little") in content
    lying = content.replace(true.to_bytes(4, "little"), declared.to_bytes(4, "little"))
    with pytest.raises(LedgerError, match="K027"):
        read_archive(io.BytesIO(lying))


def test_an_archive_within_an_archive_is_not_unpacked(texts, monkeypatch):
    bomb = packed({"zeros": b"0" * 10_000_000}).read()
    texts = {name: bomb if "/" in name else text for name, text in texts.items()}
    monkeypatch.setattr(archives, "MOST_BYTES", 100_000)
    with pytest.raises(LedgerError, match=r"K027.*was changed"):
        read_archive(packed(texts))


def test_files_are_those_that_the_folder_says(texts):
    with pytest.raises(LedgerError, match=r"K027.*others than it says"):
        read_archive(packed(texts, ("outputs/more.csv", b"x")))
    [path] = [name for name in texts if name.startswith("held/")]
    with pytest.raises(LedgerError, match=r"K027.*was changed"):
        read_archive(packed({**texts, path: b"north,1\n"}))
    with pytest.raises(LedgerError, match=r"K027.*others than it says"):
        read_archive(packed({name: text for name, text in texts.items() if name != path}))


@pytest.mark.parametrize("text", [b"", b"[]", b"not json"])
def test_what_says_nothing_of_its_outputs_is_refused(texts, text):
    with pytest.raises(LedgerError, match=r"K027.*what its outputs are"):
        read_archive(packed({**texts, "outputs.json": text}))


def test_data_are_called_by_what_every_database_keeps(texts):
    outputs = {**json.loads(texts["outputs.json"]), "data": "abc\n"}
    kept = read_archive(packed({**texts, "outputs.json": json.dumps(outputs).encode()}))
    assert kept.submission.data == "abc\n"
    outputs["data"] = "a\0"
    with pytest.raises(LedgerError, match=r"K027.*what its outputs are"):
        read_archive(packed({**texts, "outputs.json": json.dumps(outputs).encode()}))


def test_what_says_too_much_of_its_outputs_is_refused(texts):
    facts = json.loads(texts["evidence.json"])
    facts["outputs"][0]["known"] = {"x": [{}] * 400_000}
    with pytest.raises(LedgerError, match=r"K027.*says of its outputs more"):
        read_archive(packed({**texts, "evidence.json": json.dumps(facts).encode()}))


def test_two_outputs_do_not_name_one_file(texts):
    said, facts = json.loads(texts["outputs.json"]), json.loads(texts["evidence.json"])
    said["outputs"].append({**said["outputs"][0], "name": "two"})
    facts["outputs"].append({**facts["outputs"][0], "name": "two"})
    more = {"outputs.json": json.dumps(said), "evidence.json": json.dumps(facts)}
    with pytest.raises(LedgerError, match=r"K027.*name one file"):
        read_archive(packed({**texts, **more}))


def test_answers_to_queries_do_not_come_from_elsewhere(texts):
    said = json.loads(texts["outputs.json"])
    asked = {"sql": "SELECT 1", "assignee": "http://e.com/a", "dataset": "http://e.com"}
    said["question"] = {**asked, "ledger": f"1:{'0' * 64}"}
    with pytest.raises(LedgerError, match=r"K027.*query"):
        read_archive(packed({**texts, "outputs.json": json.dumps(said).encode()}))


def test_evidence_is_of_the_same_outputs(texts):
    facts = json.loads(texts["evidence.json"])
    facts["outputs"] = []
    with pytest.raises(LedgerError, match=r"K027.*evidence"):
        read_archive(packed({**texts, "evidence.json": json.dumps(facts).encode()}))


@pytest.mark.parametrize("cut", [0, 10, 200])
def test_what_is_not_an_archive_is_refused(texts, cut):
    with pytest.raises(LedgerError, match="K027"):
        read_archive(io.BytesIO(packed(texts).getvalue()[:cut]))


def test_a_damaged_member_is_refused(texts):
    content = bytearray(packed(texts).getvalue())
    content[60:90] = b"x" * 30
    with pytest.raises(LedgerError, match="K027"):
        read_archive(io.BytesIO(content))
