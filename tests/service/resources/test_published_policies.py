from served import CUSTOMER, person

from policy_engine.policy import read_policy
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Role
from policy_engine.service.resources.ownership import OwnedAssets

TEXT = CUSTOMER.read_text("utf-8")


def test_what_is_in_force_is_what_was_published_last(services):
    ada = Actor(id=person(services, "owner"), name="Ada", roles=(Role.OWNER,))
    policy = services.policies.create(ada, "customers", TEXT)
    ownership = OwnedAssets(services.database)
    services.datasets.create(ada, "customers", "http://example.com/Customer")
    assert not ownership.ruling().policies
    before = ownership.state()
    services.policies.publish(ada, policy.id, '"1"')
    after = ownership.state()
    services.policies.draft(ada, policy.id, "not yet", '"2"')
    [one] = ownership.ruling().policies
    assert one.digest == read_policy(TEXT).digest
    assert before != after == ownership.state()
