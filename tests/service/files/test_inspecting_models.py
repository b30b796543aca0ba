import zipfile

import pytest
from model_files import DESCRIPTION, PICKLE, archive, keras, layer

from policy_engine.errors import AuditError, ServiceError
from policy_engine.service.files.inspecting_models import inspect_model, model_kind


@pytest.mark.nightly
def test_a_process_of_its_own_sees_what_is_seen_here(tmp_path):
    path = tmp_path / "abc"
    path.write_bytes(DESCRIPTION)
    assert inspect_model(path) == model_kind(path) == "description"
    path.write_bytes(PICKLE)
    with pytest.raises(AuditError, match="A015"):
        inspect_model(path)


@pytest.mark.nightly
def test_an_archive_that_becomes_far_larger_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "abc"
    path.write_bytes(keras(layer(), weights=bytes(200 * 2**20)))
    assert path.stat().st_size < 2**20
    with pytest.raises(ServiceError, match="N008"):
        model_kind(path)


def linked():
    entry = zipfile.ZipInfo("schema.json")
    entry.external_attr = 0o120777 << 16
    return entry


@pytest.mark.parametrize("name", ["../config.json", "/config.json", "C:\\config.json", linked()])
def test_an_archive_that_leads_elsewhere_is_refused(tmp_path, name):
    path = tmp_path / "abc"
    path.write_bytes(archive(schema__json="{}"))
    with zipfile.ZipFile(path, "a" if isinstance(name, str) else "w") as writer:
        writer.writestr(name, "{}")
    with pytest.raises(AuditError, match="A014"):
        model_kind(path)


@pytest.mark.parametrize("declared", [1, 10, 5_000])
def test_an_archive_with_a_size_that_is_not_true_is_refused(tmp_path, declared):
    path = tmp_path / "abc"
    path.write_bytes(lying(keras(layer(), weights=bytes(4_000)), 4_000, declared))
    with pytest.raises(AuditError, match="A014"):
        model_kind(path)


def test_an_archive_with_a_damaged_part_is_refused(tmp_path):
    path = tmp_path / "abc"
    content = bytearray(keras(layer(), weights=b"the weights of a network" * 100))
    content[content.index(b"model.weights.h5") + 60] ^= 1
    path.write_bytes(content)
    with pytest.raises(AuditError, match="A014"):
        model_kind(path)


@pytest.mark.nightly
def test_an_archive_within_an_archive_is_not_unpacked(tmp_path):
    path = tmp_path / "abc"
    bomb = archive(zeros=bytes(200 * 2**20))
    path.write_bytes(keras(layer(), weights=bomb))
    assert model_kind(path) == "keras"


def lying(content, size, declared):
    """Return an archive that says of the entries of a size that they are as large as declared."""
    true, said = size.to_bytes(4, "little"), declared.to_bytes(4, "little")
    assert true in content
    return content.replace(true, said)
