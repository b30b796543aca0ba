"""Texts are checked before the transaction in which they are published."""

import json
from uuid import uuid4

import pytest
from served import CUSTOMER, person, service

from policy_engine.errors import PolicyEngineError
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Role
from policy_engine.service.resources import publishing

TEXT = CUSTOMER.read_text("utf-8")
DATA = "http://example.com/Customer"


def owner(services, name="Ada"):
    return Actor(id=person(services, "owner", name=name), name=name, roles=(Role.OWNER,))


@pytest.fixture
def ada(services):
    ada = owner(services)
    services.datasets.create(ada, "customers", DATA)
    return ada


@pytest.fixture
def policy(services, ada):
    return services.policies.create(ada, "customers", TEXT)


def while_checked(monkeypatch, work):
    """Do something while a text is checked; return how often one was."""
    checks, check = [], publishing.check_text

    def checked(*parts):
        checks.append(parts)
        work()
        return check(*parts)

    monkeypatch.setattr(publishing, "check_text", checked)
    return checks


def code(publish):
    with pytest.raises(PolicyEngineError) as caught:
        publish()
    return caught.value.code


def test_others_write_while_a_text_is_checked(services, ada, policy, monkeypatch):
    bob, made = owner(services, "Bob"), []
    checks = while_checked(
        monkeypatch,
        lambda: made or made.append(services.datasets.create(bob, "b", f"urn:uuid:{uuid4()}")),
    )
    assert services.policies.publish(ada, policy.id, '"1"').state == "published"
    assert (len(made), len(checks)) == (1, 1)  # before what it depends on is read


def test_a_draft_that_changes_while_it_is_checked_is_not_published(
    services, ada, policy, monkeypatch
):
    def write():
        services.policies.draft(ada, policy.id, "{}", '"1"')

    while_checked(monkeypatch, write)
    assert code(lambda: services.policies.publish(ada, policy.id, '"1"')) == "N005"
    assert services.policies.read(ada, policy.id).published_version is None


def test_a_policy_lists_so_many_rules_and_all_in_force_have_so_many(tmp_path):
    head = f"policy: http://example.com/p\ntarget: {DATA}\nassignee: http://example.com/A\n"
    rules = "permission:\n- {action: read}\n- {action: use}\n"
    with service(tmp_path, policy_rules=2, rules_in_force=3) as services:
        ada = owner(services)
        services.datasets.create(ada, "customers", DATA)

        def publish(text):
            policy = services.policies.create(ada, "rules", text)
            return services.policies.publish(ada, policy.id, '"1"').state

        assert code(lambda: publish(f"{head}{rules}- {{action: print}}\n")) == "J003"
        listed = [{"action": "read", "target": DATA, "assignee": "http://example.com/A"}] * 3
        document = {"@context": "http://www.w3.org/ns/odrl.jsonld", "@type": "Set"}
        document |= {"uid": "http://example.com/q", "permission": listed}
        assert code(lambda: publish(json.dumps(document))) == "J003"
        assert publish(head + rules) == "published"
        assert code(lambda: publish((head + rules).replace("/p", "/q"))) == "N004"
        text = f"{head}action: print\n".replace("/p", "/q")
        assert publish(text) == "published"


@pytest.mark.parametrize(("most", "expected"), [(1, "published"), (99, "N004")])
def test_what_changes_beside_it_is_checked_again_and_refused_in_the_end(
    services, ada, policy, monkeypatch, most, expected
):
    bob, check, times = owner(services, "Bob"), publishing.check_publishing, []

    def checked(*parts):
        check(*parts)
        times.append(1)
        if len(times) <= most:
            services.datasets.create(bob, "b", f"urn:uuid:{uuid4()}")

    monkeypatch.setattr(publishing, "check_publishing", checked)
    if expected == "published":
        assert services.policies.publish(ada, policy.id, '"1"').state == expected
        assert len(times) == 2
    else:
        assert code(lambda: services.policies.publish(ada, policy.id, '"1"')) == expected
        assert services.policies.read(ada, policy.id).published_version is None
