from policy_engine.service.identity.roles import ALLOWED, Role, Verb, Whose


def test_every_verb_says_whose_it_is():
    assert set(ALLOWED) == set(Verb)
    assert all(ALLOWED.values())


def test_auditors_and_administrators_change_nothing_of_the_data():
    changes = {verb for verb, roles in ALLOWED.items() if Role.AUDITOR in roles}
    assert not changes & {Verb.WRITE_POLICIES, Verb.PUBLISH_POLICIES, Verb.START_RUNS, Verb.QUERY}
    own = {verb for verb, roles in ALLOWED.items() if Role.ADMINISTRATOR in roles}
    assert own == {
        Verb.MANAGE_PEOPLE,
        Verb.READ_PEOPLE,
        Verb.READ_METRICS,
        Verb.SEE_ONESELF,
        Verb.WITHDRAW_POLICIES,
    }


def test_only_owners_publish_and_only_what_is_theirs():
    assert ALLOWED[Verb.PUBLISH_POLICIES] == {Role.OWNER: Whose.OWN}
