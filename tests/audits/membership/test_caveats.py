from policy_engine.audits.membership.caveats import of_alone


def test_attacks_on_one_model_alone_are_said_to_be_that():
    assert "'lira-offline'" in "".join(of_alone(["loss", "shokri"]))
    assert not list(of_alone(["loss", "rmia"]))
