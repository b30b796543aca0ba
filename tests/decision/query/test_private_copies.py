"""What is read of certified data is what was hashed, whatever is put in its place meanwhile."""

import shutil
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from query_samples import ask, policy, rows, rule

from policy_engine.certificate.attestation import attest
from policy_engine.data.catalog import make_catalog
from policy_engine.decision.query import answering
from policy_engine.errors import CertificateError, DataError

VISITS, TOTALS = "http://x.org/data/Visits", "http://x.org/data/Totals"
MADE = policy(
    [
        {
            "assignee": "http://x.org/maker",
            "target": VISITS,
            "action": "aggregate",
            "output": TOTALS,
        },
        rule(TOTALS),
    ]
)
READ = "SELECT n FROM Totals ORDER BY n"
GOOD = pa.table({"zip": [1, 2], "n": [20, 30]})
RAW = pa.table({"zip": [1, 2], "n": [666, 667]})


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def copies_in(temporary):
    return [*temporary.glob("policy-engine-copy-*")]


def as_csv(place, table):
    lines = zip(*table.to_pydict().values(), strict=True)
    place.write_text("zip,n\n" + "".join(f"{one},{n}\n" for one, n in lines))
    return place


def as_folder(place, table):
    (place / "x=1").mkdir(parents=True)
    pq.write_table(table, place / "x=1" / "part-0.parquet")
    (place / "_SUCCESS").touch()
    return place


KINDS = {"Totals.csv": as_csv, "Totals.parquet": as_folder}


@pytest.mark.parametrize("name", KINDS)
def test_what_is_put_in_place_between_hashing_and_reading_is_not_read(
    tmp_path, temporary, monkeypatch, name
):
    output = KINDS[name](tmp_path / name, GOOD)
    raw = KINDS[name](tmp_path / f"raw-{name}", RAW)
    word = attest(MADE, output, "http://x.org/maker", asset=TOTALS)
    read_views, read = answering.read_views, []

    def swapped(*given, **more):
        """Read while another output is in the place of the certified one."""
        assert [path.stat().st_mode & 0o777 for path in copies_in(temporary)] == [0o700]
        output.rename(tmp_path / "kept")
        output.symlink_to(raw)
        try:
            return read_views(*given, **more)
        finally:
            output.unlink()
            (tmp_path / "kept").rename(output)
            read.append(output)

    monkeypatch.setattr(answering, "read_views", swapped)
    given = make_catalog({TOTALS: output})
    assert rows(READ, MADE, data=given, certificates=[word]) == [(20,), (30,)]
    assert read == [output]
    assert not copies_in(temporary)


def test_what_is_there_when_it_is_hashed_is_refused_by_its_own_name(tmp_path, temporary):
    output = as_csv(tmp_path / "Totals.csv", GOOD)
    word = attest(MADE, output, "http://x.org/maker", asset=TOTALS)
    as_csv(output, RAW)
    with pytest.raises(CertificateError, match="V004") as caught:
        ask(READ, MADE, data=make_catalog({TOTALS: output}), certificates=[word])
    assert caught.value.source == str(output)
    assert not copies_in(temporary)


def test_a_pattern_is_copied_with_its_folders(tmp_path, temporary):
    folder = as_folder(tmp_path / "Totals.parquet", GOOD)
    word = attest(MADE, folder, "http://x.org/maker", asset=TOTALS)
    given = make_catalog({TOTALS: folder / "*" / "*.parquet"})
    assert rows(READ, MADE, data=given, certificates=[word]) == [(20,), (30,)]
    assert not copies_in(temporary)


def test_what_has_no_room_is_not_read(tmp_path, temporary, monkeypatch):
    output = as_csv(tmp_path / "Totals.csv", GOOD)
    word = attest(MADE, output, "http://x.org/maker", asset=TOTALS)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(9, 9, 9))
    given = make_catalog({TOTALS: output})
    with pytest.raises(DataError, match="has no room for a private copy of 16 bytes") as caught:
        ask(READ, MADE, data=given, certificates=[word])
    assert (caught.value.code, caught.value.source) == ("C003", str(output))
    assert not copies_in(temporary)


def test_what_needs_no_certificate_is_not_copied(tmp_path, monkeypatch):
    output = as_csv(tmp_path / "Totals.csv", GOOD)
    monkeypatch.setattr(tempfile, "tempdir", str(Path(tmp_path, "nowhere")))
    given = make_catalog({TOTALS: output})
    assert rows(READ, policy([rule(TOTALS)]), data=given) == [(20,), (30,)]
