from policy_engine.service.store.base import new_id


def test_identifiers_are_long_and_never_the_same():
    names = {new_id() for _ in range(1000)}
    assert len(names) == 1000
    assert all(len(one) == 20 and one.isalnum() for one in names)
