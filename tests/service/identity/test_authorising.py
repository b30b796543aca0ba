import pytest

from policy_engine.errors import ServiceError
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import authorise, authorise_on
from policy_engine.service.identity.roles import Role, Verb, Whose


def actor(*roles):
    return Actor(id="ada", name="Ada", roles=roles)


@pytest.mark.parametrize(
    ("roles", "reach"),
    [
        ((Role.OWNER,), Whose.OWN),
        ((Role.STEWARD,), Whose.OWN),
        ((Role.OWNER, Role.AUDITOR), Whose.ALL),
    ],
)
def test_the_role_that_reaches_furthest_counts(roles, reach):
    assert authorise(actor(*roles), Verb.READ_POLICIES) is reach


def test_a_role_that_lets_one_do_nothing_of_the_kind_is_told_so():
    with pytest.raises(ServiceError, match=r"N002 Your roles do not let you read policies\."):
        authorise(actor(Role.CONSUMER), Verb.READ_POLICIES)
    with pytest.raises(ServiceError, match="N002"):
        authorise(actor(), Verb.SEE_ONESELF)


def test_what_is_anothers_is_as_if_it_were_not_there():
    authorise_on(actor(Role.OWNER), Verb.READ_POLICIES, "ada")
    with pytest.raises(ServiceError, match="N003"):
        authorise_on(actor(Role.OWNER), Verb.READ_POLICIES, "bob")


def test_stewards_work_for_those_who_named_them_or_for_all():
    sue = actor(Role.STEWARD).model_copy(update={"serves": ("olga",)})
    authorise_on(sue, Verb.WRITE_DATASETS, "olga")
    for verb, owner in ((Verb.WRITE_DATASETS, "bob"), (Verb.READ_POLICIES, "bob")):
        with pytest.raises(ServiceError, match="N003"):
            authorise_on(sue, verb, owner)
    with pytest.raises(ServiceError, match="N002"):
        authorise_on(sue, Verb.WRITE_POLICIES, "olga")
    everywhere = sue.model_copy(update={"serves_all": True})
    authorise_on(everywhere, Verb.WRITE_DATASETS, "bob")
    assert authorise(everywhere, Verb.DECIDE) is Whose.ALL
