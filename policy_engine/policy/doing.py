"""What a duty has one do, however long it leaves and whomever it names.

A uid is a name that anybody may give to anything. Whether two texts oblige to one thing, and
whether a deed that was recorded under one counts by the other, is told by what they mean.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256

from policy_engine import terms
from policy_engine.policy.canonical import canonical_rule
from policy_engine.policy.model import Condition, LogicalConstraint, Policy, Rule

_TIMES = (f"{terms.ODRL}dateTime", f"{terms.ODRL}elapsedTime")


def doing_of(rule: Rule) -> str:
    """Return what a rule has one do, or not do: the action, on what, and on what terms.

    Left out is what a later version may say anew of the same duty: its name, until when it is to
    be done, and by whom; and who issued it and what hangs on it, which are looked at by
    themselves.
    """
    constraints = tuple(one for one in rule.constraints if not _is_of_time(one))
    single = replace(rule, uid="", assigners=(), assignees=(), constraints=constraints)
    return canonical_rule(replace(single, duties=(), remedies=(), consequences=()))


def meaning_of(policy: Policy, duty: Rule) -> str:
    """Return the digest of a duty's kind, what it has one do, and by whose word.

    That of a duty that hangs on a rule is by the word of those who issued the rule. To have paid
    one is not to have paid another, so the same thing outstanding to others is another duty.
    """
    hangs_on = (
        rule for rule in policy.rules if any(one is duty for one in rule.all_nested_rules())
    )
    return _meaning(duty, next(hangs_on, duty))


def meanings_of(policy: Policy) -> Mapping[str, frozenset[str]]:
    """Return what the rules of a policy mean, and what hangs on them, by their labels."""
    meanings: dict[str, frozenset[str]] = {}
    for rule in policy.rules:
        for one in (rule, *rule.all_nested_rules()):
            meaning = meanings.get(one.label(), frozenset())
            meanings[one.label()] = meaning | {_meaning(one, rule)}
    return meanings


def _meaning(rule: Rule, issued: Rule) -> str:
    text = json.dumps([rule.kind, sorted(issued.issued_by), doing_of(rule)])
    return sha256(text.encode()).hexdigest()


def _is_of_time(condition: Condition) -> bool:
    if isinstance(condition, LogicalConstraint):
        return all(map(_is_of_time, condition.operands))
    return condition.left_operand in _TIMES
