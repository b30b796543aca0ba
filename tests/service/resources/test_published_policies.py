from served import CUSTOMER, person

from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Role

TEXT = CUSTOMER.read_text("utf-8")


def test_what_is_in_force_is_what_was_published_last(services):
    ada = Actor(id=person(services, "owner"), name="Ada", roles=(Role.OWNER,))
    policy = services.policies.create(ada, "customers", TEXT)
    assert services.policies.published() == ()
    services.policies.publish(ada, policy.id, '"1"')
    services.policies.draft(ada, policy.id, "not yet", '"2"')
    [(version, text)] = services.policies.published()
    assert text.text.decode() == TEXT
    assert services.policies.in_force() == (version,)
