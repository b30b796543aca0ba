import pytest

from policy_engine.errors import ServiceError
from policy_engine.service.files.storage_urls import check_storage


@pytest.mark.parametrize(
    "url",
    [
        "s3://AKIA:ab/hunter2@bucket/f",
        "s3://AKIA:hunter2/bucket/f",
        "AKIA:hunter2@bucket/f",
        "hunter2/f",
        "s3://b/f?session_token=hunter2",
        "s3://b/f?access_key=hunter2",
        "s3://b/f?hunter2",
        "s3://b/f?region=eu&sas_token=hunter2",
        "s3://b/f?endpoint_override=key:hunter2%40host",
        "s3://b/f#secret=hunter2",
        "abfss://:hunter2@account/c",
        "hdfs://hunter2@host:8020/f",
        "s3://[hunter2",
        "s3:",
    ],
)
def test_what_may_be_a_secret_is_refused_and_not_told(url):
    with pytest.raises(ServiceError, match="N012") as caught:
        check_storage(url)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "s3://bucket/a:b",
        "s3://bucket/a?endpoint_override=127.0.0.1:9000&scheme=http&region=us-east-1",
        "gs://bucket/a?project_id=x",
        "hdfs://host:8020/a",
        "file:///srv/a@b",
    ],
)
def test_places_are_let_be(url):
    check_storage(url)
