import pytest

from policy_engine.errors import ServiceError
from policy_engine.service.runs.clusters import Cluster
from policy_engine.service.settings import ServiceSettings


def test_nothing_needs_to_be_set_but_the_folder(tmp_path):
    settings = ServiceSettings(folder=tmp_path)
    assert settings.database_url == f"sqlite:///{tmp_path}/service.db"
    assert settings.address == "http://127.0.0.1:8642"
    assert not settings.is_secure


def test_a_database_of_postgresql_is_named_as_users_know_it(tmp_path):
    settings = ServiceSettings(folder=tmp_path, database="postgresql://me@localhost/data")
    assert settings.database_url == "postgresql+psycopg://me@localhost/data"


def test_other_databases_are_refused_without_repeating_their_passwords(tmp_path):
    with pytest.raises(ServiceError, match="N012") as error:
        _ = ServiceSettings(folder=tmp_path, database="mysql://me:secret@host/data").database_url
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("given", "address", "is_secure"),
    [
        ({"public_url": "https://data.example/"}, "https://data.example", True),
        ({"host": "::1", "port": 80}, "http://[::1]:80", False),
    ],
)
def test_the_address_is_where_people_reach_it(tmp_path, given, address, is_secure):
    settings = ServiceSettings(folder=tmp_path, **given)
    assert (settings.address, settings.is_secure) == (address, is_secure)


@pytest.mark.parametrize(
    "address",
    ["data.example", "https://a:secret@b", "https://b/x", "https://b?x", "https://", "https://b:x"],
)
def test_a_public_address_is_one_of_the_web(tmp_path, address):
    with pytest.raises(ServiceError, match="N012") as error:
        ServiceSettings(folder=tmp_path, public_url=address)
    assert "secret" not in str(error.value)


ISSUER = "https://people.example"


@pytest.mark.parametrize(
    "given",
    [
        {"oidc_issuer": "http://people.example", "oidc_client": "us"},
        {"oidc_issuer": "ftp://people.example", "oidc_client": "us"},
        {"oidc_issuer": ISSUER},
    ],
)
def test_a_provider_is_reached_by_https_and_knows_the_service(tmp_path, given):
    with pytest.raises(ServiceError, match="N012"):
        ServiceSettings(folder=tmp_path, **given)


def test_the_secret_for_a_provider_is_in_a_file_and_never_shown(tmp_path):
    named = {"oidc_issuer": ISSUER, "oidc_client": "us", "oidc_secret": tmp_path / "secret"}
    settings = ServiceSettings(folder=tmp_path, **named)
    with pytest.raises(ServiceError, match="N012"):
        settings.provider()
    (tmp_path / "secret").write_text("hush\n")
    provider = settings.provider()
    assert provider.client_secret == "hush"
    assert "hush" not in f"{provider}{settings.model_dump_json()}"
    assert ServiceSettings(folder=tmp_path).provider() is None


@pytest.mark.parametrize(
    "given",
    [
        {"master": "local[2]"},
        {"engine": "spark"},
        {"engine": "spark", "master": "sc://data.example"},
        {"engine": "spark", "master": "local[2]", "run_memory": 2**30},
    ],
)
def test_spark_has_a_master_that_runs_can_reach_and_room_for_a_driver(tmp_path, given):
    with pytest.raises(ServiceError, match="N012"):
        ServiceSettings(folder=tmp_path, **given)


def test_runs_have_a_cluster_where_it_is_asked_for(tmp_path):
    assert ServiceSettings(folder=tmp_path).cluster is None
    settings = ServiceSettings(folder=tmp_path, engine="spark", master="local[2]", run_memory=2**31)
    assert settings.cluster == Cluster(master="local[2]", heap=2**30)
