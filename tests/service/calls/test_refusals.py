import pytest
from served import API, browser, signed_in
from sqlalchemy.exc import OperationalError

from policy_engine.errors import (
    CertificateError,
    DeniedError,
    InternalError,
    PolicyError,
    Problem,
    ServiceError,
)
from policy_engine.service.calls.refusals import status_of, without_places


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ServiceError.of("N003", "x"), 404),
        (PolicyError.of("P001", "x"), 422),
        (DeniedError.of("D007", "x"), 403),
        (CertificateError.of("V001", "x"), 409),
        (InternalError.of("X001", "x"), 500),
    ],
)
def test_each_error_has_a_status(error, status):
    assert status_of(error) == status


def test_a_call_that_is_not_understood_is_told_where(services):
    answer = signed_in(services, "owner").post(f"{API}/policies", json={"name": ""})
    problems = answer.json()["problems"]
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.status_code == 422
    assert {one["code"] for one in problems} == {"N007"}
    assert [one["message"].partition(":")[0] for one in problems] == ["body.text", "body.name"]


def test_methods_that_are_not_there_are_refused(services):
    answer = browser(services).delete(f"{API}/policies")
    assert answer.status_code == 405
    assert answer.json()["code"] == "N007"


def test_our_own_faults_are_told_without_detail(services, monkeypatch, caplog):
    def fail(_):
        raise RuntimeError("secret of somebody")

    monkeypatch.setattr(type(services.identities), "by_cookie", lambda *_: fail(0))
    client = browser(services)
    client.cookies.set("policy_engine_session", "x")
    answer = client.get(f"{API}/me")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert answer.json()["code"] == "X001"
    assert answer.json()["request"] in answer.json()["detail"]
    assert answer.json()["request"] in caplog.text


def test_where_files_are_is_not_told(services, monkeypatch):
    def fail(*_):
        raise PolicyError.of("P001", f"There is no file '{services.settings.folder}/files/x'.")

    monkeypatch.setattr(type(services.policies), "page", fail)
    answer = signed_in(services, "owner").get(f"{API}/policies").json()
    assert answer["detail"] == "There is no file 'files/x'."


@pytest.mark.parametrize(
    ("reason", "status", "word"),
    [
        ("database or disk is full", 507, "full"),
        ('could not extend file "base/1": No space left on device', 507, "full"),
        ("database is locked", 503, "in time"),
    ],
)
def test_who_writes_to_a_full_disk_is_told_that_it_is_full(
    services, monkeypatch, reason, status, word
):
    def fail(*_):
        raise OperationalError("INSERT", {}, Exception(reason))

    monkeypatch.setattr(type(services.policies), "page", fail)
    answer = signed_in(services, "owner").get(f"{API}/policies")
    assert (answer.status_code, answer.json()["code"]) == (status, "N013")
    assert word in answer.json()["detail"]


def test_a_problem_keeps_its_values_to_itself():
    assert "Ada" not in str(Problem("R002", "Too few rows.", values=("Ada",)).as_json())


@pytest.mark.parametrize(
    "place",
    [
        f"/srv/files/{'ab' * 32}.csv",
        f"/elsewhere/files/{'ab' * 32}.csv",
        f"/srv/uploads/{'ab' * 16}.12.csv",
        "/srv/reading/17-0a0b/0/3.csv",
    ],
)
def test_no_refusal_tells_where_a_file_is_or_its_digest(place):
    problem = Problem("C002", f"There is no file '{place}'.", f"Look at {place}.")
    told = without_places(problem, "/srv/")
    ending = ".12.csv" if "12." in place else ".csv"
    assert (told.message, told.hint) == (
        f"There is no file 'data{ending}'.",
        f"Look at data{ending}.",
    )
