"""Reading ends with the rule that it is at once nobody waits for it."""

from concurrent.futures import CancelledError

import pytest
from building import permission, policy

from policy_engine.policy.reading import rules
from policy_engine.policy.reading.reader import read_policies
from policy_engine.policy.syntax.patience import awaited_while, check_awaited


def some_rules(number):
    return policy(
        [permission(uid=f"http://x.org/rule/{one}", action="read") for one in range(number)]
    )


def test_what_somebody_waits_for_is_read():
    with awaited_while(lambda: True):
        [read] = read_policies(some_rules(3))
    assert len(read.permissions) == 3


def test_what_nobody_waits_for_is_not_begun():
    with awaited_while(lambda: False), pytest.raises(CancelledError):
        read_policies(some_rules(3))
    check_awaited()


def test_reading_ends_within_the_rules(monkeypatch):
    read, check = [], check_awaited

    def counted():
        read.append(1)
        check()

    monkeypatch.setattr(rules, "check_awaited", counted)
    with awaited_while(lambda: len(read) < 2), pytest.raises(CancelledError):
        read_policies(some_rules(5))
    assert len(read) == 2
