import pytest

from policy_engine.audits.membership.observations import CONFIDENCE_ANSWERS, LABEL_ANSWERS
from policy_engine.audits.membership.settings import (
    Settings,
    attacks_of_model,
    attacks_of_predictions,
)
from policy_engine.errors import AuditError


def test_lira_stands_for_both_of_its_kinds():
    assert Settings(("lira", "loss")).attacks == ("lira-offline", "lira-online", "loss")


def test_everything_that_is_wrong_is_told_at_once():
    with pytest.raises(AuditError) as error:
        Settings(("loss", "rmai"), local_epsilon=0)
    assert [one.code for one in error.value.problems] == ["A012", "A006"]


@pytest.mark.parametrize("attacks", [(), ("rmia",), ("lira-online",)])
def test_fewer_than_two_shadows_where_some_are_needed(attacks):
    with pytest.raises(AuditError, match="A007"):
        Settings(attacks, shadows=1)


def test_no_shadows_are_needed_for_thresholds():
    assert Settings(("loss",), shadows=0).shadows == 0


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf")])
def test_a_local_epsilon_that_is_none(epsilon):
    with pytest.raises(AuditError, match="A006"):
        Settings(("loss",), local_epsilon=epsilon)


def test_the_baseline_comes_last_where_it_was_not_asked_for():
    found = attacks_of_model(Settings(("rmia",)), CONFIDENCE_ANSWERS)
    assert [one.notation for one in found] == ["rmia", "label-only"]


def test_what_models_are_to_be_asked_beside_is_run_where_it_is_named():
    usual = {one.notation for one in attacks_of_model(Settings(), CONFIDENCE_ANSWERS)}
    assert not usual & {"qmia", "lira-views", "label-only-boundary"}
    assert {"rmia", "rmia-online", "shokri"} < usual
    [first, _] = attacks_of_model(Settings(("label-only-boundary",)), LABEL_ANSWERS)
    assert first.notation == "label-only-boundary"
    with pytest.raises(AuditError, match=r"A005 .qmia. learns from records that are not audited"):
        attacks_of_predictions(Settings(("qmia",)), CONFIDENCE_ANSWERS)
