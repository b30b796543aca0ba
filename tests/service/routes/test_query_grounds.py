import json
from types import SimpleNamespace

import pytest
from served import signed_in
from test_dataset_routes import uploaded
from test_decision_routes import DATA, READER, TABLE, code, policy, query
from test_policy_routes import published

from policy_engine.errors import PolicyEngineError
from policy_engine.policy.owners import Owners
from policy_engine.service.resources import queries
from policy_engine.service.resources.query_grounds import QueryGrounds


@pytest.fixture
def owner(services):
    return signed_in(services, "owner", name="Owner")


@pytest.fixture
def reader(services, owner):
    owner.address, owner.tag = published(owner, policy())
    uploaded(owner, TABLE, "visits.csv", DATA)
    return signed_in(services, "consumer", party=READER)


def meanwhile(monkeypatch, work):
    """Let something be done once a query is worked out, before its rows are given."""
    first = queries.query_data

    def answered(*parts, **options):
        result = first(*parts, **options)
        work()
        return result

    monkeypatch.setattr(queries, "query_data", answered)


def withdraw(owner):
    answer = owner.post(f"{owner.address}:withdraw", json={"reason": "stop"})
    assert answer.status_code == 200


def replace(owner):
    text = policy().replace('"read"', '"print"')
    headers = {"If-Match": owner.tag}
    draft = owner.put(f"{owner.address}/draft", json={"text": text}, headers=headers)
    tag = {"If-Match": draft.headers["etag"]}
    assert owner.post(f"{owner.address}:publish", headers=tag).status_code == 200


def publish_another(owner):
    published(owner, policy().replace("policy/visits", "policy/more"))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("work", [withdraw, replace])
def test_rows_are_not_given_once_what_permits_them_is_not_in_force(
    owner, reader, monkeypatch, work
):
    assert query(reader, "SELECT town FROM Visit").json()["permitted"]
    meanwhile(monkeypatch, lambda: work(owner))
    answer = query(reader, "SELECT town FROM Visit")
    assert code(answer) == (409, "N004")
    assert "Brx" not in answer.text


def prohibit(owner):
    text = policy().replace("policy/visits", "policy/no").replace('"permission"', '"prohibition"')
    published(owner, text)


def widen_a_group(owner):
    """Publish what says of whom an older prohibition is about, and permits others something."""
    member = {"uid": READER, "partOf": "http://e.org/barred"}
    document = json.loads(policy().replace("policy/visits", "policy/group"))
    document["permission"][0]["assignee"] = member
    published(owner, json.dumps(document))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("work", [prohibit, widen_a_group])
def test_rows_are_not_given_once_a_policy_may_prohibit_them(owner, reader, monkeypatch, work):
    meanwhile(monkeypatch, lambda: work(owner))
    answer = query(reader, "SELECT town FROM Visit")
    assert code(answer) == (409, "N004")
    assert "Brx" not in answer.text


def test_rows_are_not_given_once_their_data_have_another_owner():
    before, after = deciding(), deciding()
    after.owners = Owners.of({"http://e.org/A": "http://e.org/other"})
    grounds = QueryGrounds(before, lambda: after)
    with pytest.raises(PolicyEngineError, match="N004"):
        grounds.check({"http://e.org/A": ()})
    grounds.check({"http://e.org/B": ()})


def test_what_else_changes_keeps_no_rows_back(owner, reader, monkeypatch):
    meanwhile(monkeypatch, lambda: publish_another(owner))
    assert query(reader, "SELECT town FROM Visit").json()["permitted"]


def deciding(*releases):
    """Return what decides with certificates of releases, by asset and digest."""
    certificates = [
        SimpleNamespace(
            plan=SimpleNamespace(publish=SimpleNamespace(asset=asset)), output_digest=digest
        )
        for asset, digest in releases
    ]
    return SimpleNamespace(
        policies=(), certificates=certificates, attestations=(), vouched=None, owners=Owners()
    )


@pytest.mark.parametrize(
    ("left", "holds"),
    [
        ([("http://e.org/A", "1"), ("http://e.org/B", "2")], True),
        ([("http://e.org/A", "1")], True),
        ([("http://e.org/B", "2")], False),
        ([("http://e.org/A", "3"), ("http://e.org/B", "2")], False),
    ],
)
def test_an_answer_of_a_release_that_was_withdrawn_is_not_given(left, holds):
    before = deciding(("http://e.org/A", "1"), ("http://e.org/B", "2"))
    grounds = QueryGrounds(before, lambda: deciding(*left))
    if holds:
        grounds.check({"http://e.org/A": ()})
    else:
        with pytest.raises(PolicyEngineError) as caught:
            grounds.check({"http://e.org/A": ()})
        assert caught.value.code == "N004"
