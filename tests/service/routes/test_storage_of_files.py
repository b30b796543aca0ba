"""Files of data in a storage, as the service keeps and fetches them."""

import pytest
from served import code, service, signed_in
from small_s3 import small_s3
from test_dataset_routes import TABLE, uploaded


@pytest.mark.nightly
def test_a_service_keeps_files_in_a_storage_and_fetches_what_its_folder_lacks(tmp_path):
    (tmp_path / "far").mkdir()
    storage = f"file://{tmp_path}/far"
    with service(tmp_path / "here", storage=storage) as services:
        owner = signed_in(services, "owner")
        view = uploaded(owner, TABLE).json()
        [kept] = (tmp_path / "far" / "files").iterdir()
        assert kept.read_bytes() == TABLE
        services.datasets.path(view["id"]).unlink()
        assert owner.get(f"/api/v1/datasets/{view['id']}:profile").status_code == 200
        owner.delete(f"/api/v1/datasets/{view['id']}")
        assert not kept.exists()


@pytest.mark.nightly
def test_files_are_kept_in_a_bucket_whole_or_not_at_all(tmp_path, monkeypatch, caplog):
    secrets = {"AWS_ACCESS_KEY_ID": "AKIATEST", "AWS_SECRET_ACCESS_KEY": "SECRET"}
    for name, value in {**secrets, "AWS_EC2_METADATA_DISABLED": "true"}.items():
        monkeypatch.setenv(name, value)
    content = TABLE * 500_000  # sent in several parts
    with small_s3() as bucket:
        place = f"127.0.0.1:{bucket.server_address[1]}"
        url = f"s3://bucket/kept?endpoint_override={place}&scheme=http&region=us-east-1"
        with service(tmp_path, storage=url) as services:
            owner = signed_in(services, "owner")
            view = uploaded(owner, content).json()
            kept = f"/bucket/kept/files/{view['digest']}.csv"
            assert [one for one in bucket.objects if not one.endswith("/")] == [kept]
            assert bucket.objects[kept] == content
            path = services.datasets.path(view["id"])
            path.unlink()
            assert services.datasets.path(view["id"]).read_bytes() == content
            path.unlink()
            bucket.objects[kept] = content[:-1]
            answer = owner.get(f"/api/v1/datasets/{view['id']}:profile")
            assert code(answer) == (503, "N013")
    told = f"{caplog.text}{answer.text}"
    assert not any(one in told for one in ("AKIATEST", "SECRET"))
