"""What the refinements of an action are asked of: what is asked for, and not what it is part of."""

from dataclasses import replace

import pytest
from ruling import READ, USE, is_permitted, policy, rule, where

from policy_engine.policy import Action
from policy_engine.terms import expand

RESOLUTION = expand("odrl:resolution")
COARSE = (Action(USE, (where("resolution", "lteq", 300),)),)
COARSE_USE = policy(replace(rule("permission"), actions=COARSE))


@pytest.mark.parametrize(
    ("resolutions", "is_let"),
    [
        ({READ: 100}, True),
        ({READ: 100, USE: 600}, True),
        ({READ: 600, USE: 100}, False),
        ({}, False),
    ],
    ids=str,
)
def test_a_refinement_of_an_action_is_about_the_one_that_is_asked_for(resolutions, is_let):
    known = {action: {RESOLUTION: value} for action, value in resolutions.items()}
    assert is_permitted([COARSE_USE], action=READ, of=known) == is_let


@pytest.mark.parametrize(("value", "is_let"), [(100, True), (600, False)])
def test_a_refinement_is_about_the_action_that_the_rule_names_where_that_is_asked_for(
    value, is_let
):
    assert is_permitted([COARSE_USE], action=USE, of={USE: {RESOLUTION: value}}) == is_let
