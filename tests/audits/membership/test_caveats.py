from policy_engine.audits.membership.caveats import uncalibrated_caveats


def test_attacks_on_one_model_alone_are_said_to_be_that():
    assert "'lira-offline'" in "".join(uncalibrated_caveats(["loss", "shokri"]))
    assert not list(uncalibrated_caveats(["loss", "rmia"]))
