import gzip
import hashlib
import io
import zipfile

import pyarrow as pa
import pytest
from pyarrow import parquet
from served import API, code, service, signed_in

IRI = "http://example.com/Customer"
TABLE = b"name,zip\nAda,12345\nBob,54321\n"


def created(client, iri=IRI):
    """Return the address of a dataset, which is there already, or else is made."""
    for one in client.get(f"{API}/datasets").json()["items"]:
        if one["iri"] == iri:
            return f"{API}/datasets/{one['id']}"
    answer = client.post(f"{API}/datasets", json={"name": "customers", "iri": iri})
    assert answer.status_code == 201
    return answer.headers["location"]


def begun(client, content, name="customers.csv", iri=IRI):
    body = {"name": name, "size": len(content)}
    answer = client.post(f"{created(client, iri)}/uploads", json=body)
    assert answer.status_code == 201, answer.text
    return answer.headers["location"]


def send(client, upload, content, offset=0):
    headers = {"Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream"}
    return client.patch(upload, content=content, headers=headers)


def uploaded(client, content, name="customers.csv", iri=IRI):
    upload = begun(client, content, name, iri)
    send(client, upload, content)
    return client.post(f"{upload}:complete", json={})


@pytest.mark.one_in(2)
@pytest.mark.both_databases
def test_a_file_comes_in_parts_and_is_read_as_a_table(services):
    client = signed_in(services, "owner")
    upload = begun(client, TABLE)
    assert send(client, upload, TABLE[:10]).json()["offset"] == 10
    assert code(client.post(f"{upload}:complete", json={})) == (409, "N004")
    assert code(send(client, upload, TABLE[5:], 5)) == (409, "N004")
    assert client.get(upload).json()["offset"] == 10
    assert send(client, upload, TABLE[10:], 10).json()["offset"] == len(TABLE)
    digest = hashlib.sha256(TABLE).hexdigest()
    view = client.post(f"{upload}:complete", json={"sha256": digest}).json()
    assert (view["digest"], view["format"], view["rows"]) == (digest, "csv", 2)
    assert view["columns"] == [{"name": one, "role": None} for one in ("name", "zip")]
    assert services.datasets.path(view["id"]).read_bytes() == TABLE
    assert code(client.get(upload)) == (404, "N003")


def parquet_bytes(table):
    file = io.BytesIO()
    parquet.write_table(table, file)
    return file.getvalue()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv.gz", gzip.compress(TABLE, mtime=0)),
        ("t.parquet", parquet_bytes(pa.table({"name": ["Ada", "Bob"], "zip": [1, 2]}))),
    ],
)
def test_tables_in_other_formats_are_read(services, name, content):
    view = uploaded(signed_in(services, "owner"), content, name).json()
    assert [one["name"] for one in view["columns"]] == ["name", "zip"]
    assert view["rows"] == 2


def archive(*names):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as writer:
        for name in names:
            writer.writestr(name, TABLE)
    return file.getvalue()


NO_TABLES = [
    ("t.parquet", TABLE, "C003"),
    ("t.csv", b"a,a\n1,2\n", "C006"),
    ("t.csv", b"a,b\n1\n", "C007"),
    ("t.csv", b"\x81\xff,b\n1,2\n", "C008"),
    ("t.csv.gz", TABLE, "C003"),
    ("t.csv.gz", gzip.compress(b"a" * 30_000_000, mtime=0), "N008"),
]


NEVER_SENT = ["t.zip", "t.xlsx", "t.pkl", "t", "../../t", "t.npz", "/etc/passwd", "t.csv/../x"]


@pytest.mark.nightly
def test_what_is_no_table_is_refused_and_the_dataset_stays_as_it_was(services):
    client = signed_in(services, "owner")
    for name, content, refusal in NO_TABLES:
        assert uploaded(client, content, name).json()["code"] == refusal, name
        [view] = client.get(f"{API}/datasets").json()["items"]
        assert (view["digest"], view["columns"]) == (None, [])


def test_files_that_are_no_tables_are_not_even_sent(services):
    client = signed_in(services, "owner")
    for name in NEVER_SENT:
        answer = client.post(f"{created(client)}/uploads", json={"name": name, "size": 10})
        assert code(answer) == (422, "C004"), name


def test_no_more_comes_than_was_announced(services, tmp_path):
    client = signed_in(services, "owner")
    upload = begun(client, TABLE)
    assert code(send(client, upload, TABLE + b"x")) == (413, "N008")
    assert all(one.stat().st_size <= len(TABLE) for one in (tmp_path / "uploads").iterdir())


@pytest.mark.nightly
def test_a_file_that_is_too_large_is_not_begun(tmp_path):
    with service(tmp_path, largest_upload=10) as services:
        client = signed_in(services, "owner")
        body = {"name": "t.csv", "size": 11}
        answer = client.post(f"{created(client)}/uploads", json=body)
        assert code(answer) == (413, "N008")


def test_a_digest_of_something_else_is_refused(services):
    client = signed_in(services, "owner")
    upload = begun(client, TABLE)
    send(client, upload, TABLE)
    answer = client.post(f"{upload}:complete", json={"sha256": "0" * 64})
    assert code(answer) == (409, "N004")


def test_an_upload_is_taken_back(services, tmp_path):
    client = signed_in(services, "owner")
    upload = begun(client, TABLE)
    send(client, upload, TABLE)
    assert client.delete(upload).status_code == 204
    assert [*(tmp_path / "uploads").iterdir()] == []
    assert code(client.get(upload)) == (404, "N003")


def test_uploads_of_others_are_not_there(services):
    upload = begun(signed_in(services, "owner"), TABLE)
    other = signed_in(services, "owner", name="Bob")
    assert code(other.get(upload)) == (404, "N003")
    assert code(send(other, upload, TABLE)) == (404, "N003")
    assert code(other.post(f"{upload}:complete", json={})) == (404, "N003")


def test_datasets_of_others_are_not_there_for_owners(services):
    dataset = created(signed_in(services, "owner"))
    other = signed_in(services, "owner", name="Bob")
    assert code(other.get(dataset)) == (404, "N003")
    assert code(other.delete(dataset)) == (404, "N003")
    assert signed_in(services, "auditor").get(dataset).status_code == 200


@pytest.mark.nightly
def test_who_may_not_read_a_file_is_not_told_its_digest(services):
    owner = signed_in(services, "owner")
    dataset = uploaded(owner, TABLE, "t.csv").json()
    path = f"{API}/datasets/{dataset['id']}"
    auditor = signed_in(services, "auditor")
    [listed] = auditor.get(f"{API}/datasets").json()["items"]
    for view in (listed, auditor.get(path).json()):
        assert (view["digest"], view["format"]) == (None, "csv")
    assert owner.get(path).json()["digest"] == hashlib.sha256(TABLE).hexdigest()


@pytest.mark.nightly
@pytest.mark.both_databases
def test_a_dataset_that_was_deleted_leaves_its_name_and_not_its_file(services, tmp_path):
    client = signed_in(services, "owner")
    first = uploaded(client, TABLE).json()
    same = uploaded(client, TABLE, iri="http://example.com/Same").json()
    assert client.delete(f"{API}/datasets/{first['id']}").status_code == 204
    assert len([*(tmp_path / "files").iterdir()]) == 1
    assert client.delete(f"{API}/datasets/{same['id']}").status_code == 204
    assert [*(tmp_path / "files").iterdir()] == []
    assert client.get(f"{API}/datasets").json()["items"] == []
    created(client)


@pytest.mark.parametrize("iri", ["Customer", "javascript:alert(1)", "http://a b"])
def test_a_dataset_is_called_by_an_iri(services, iri):
    client = signed_in(services, "owner")
    answer = client.post(f"{API}/datasets", json={"name": "x", "iri": iri})
    assert code(answer) == (422, "D001")


def test_two_datasets_have_two_iris(services):
    client = signed_in(services, "owner")
    created(client)
    answer = client.post(f"{API}/datasets", json={"name": "again", "iri": IRI})
    assert code(answer) == (409, "N004")


def test_one_call_at_a_time_writes_an_upload(services):
    client = signed_in(services, "owner")
    upload = begun(client, TABLE)
    with services.uploads.files.appending(upload.rpartition("/")[2], 0):
        assert code(send(client, upload, TABLE)) == (409, "N004")
