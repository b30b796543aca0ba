from policy_engine.service.identity.actors import Actor


def test_who_calls_by_a_key_has_no_token():
    assert Actor(id="a", name="Ada", roles=()).is_by_key
    assert not Actor(id="a", name="Ada", roles=(), csrf_token="x").is_by_key
