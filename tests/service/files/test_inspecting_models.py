import zipfile

import pytest
from model_files import DESCRIPTION, PICKLE, archive, keras, layer

from policy_engine.errors import AuditError, ServiceError
from policy_engine.service.files.inspecting_models import inspect_model, model_kind


def test_a_process_of_its_own_sees_what_is_seen_here(tmp_path):
    path = tmp_path / "abc"
    path.write_bytes(DESCRIPTION)
    assert inspect_model(path) == model_kind(path) == "description"
    path.write_bytes(PICKLE)
    with pytest.raises(AuditError, match="A015"):
        inspect_model(path)


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
