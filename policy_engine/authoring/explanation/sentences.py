"""A policy in sentences, a rule each, for people who read no ODRL."""

import re
from collections.abc import Iterable, Iterator, Sequence

from policy_engine import terms
from policy_engine.plan.audit_duties import is_audit
from policy_engine.policy.model import OFFER, Action, Asset, Condition, Party, Policy, Rule
from policy_engine.policy.wording import (
    column_iri,
    condition_text,
    part_text,
    printable,
    short_name,
)

_COLUMNS = {
    f"{terms.MOSAICROWN}identifier": "dropping",
    f"{terms.MOSAICROWN}quasi-identifier": "generalising",
    f"{terms.MOSAICROWN}sensitive": "keeping the sensitive",
    f"{terms.PE}masked": "masking",
    f"{terms.PE}synthesised": "making up",
}
_MOST_NAMES = 8
_BOUND = re.compile(" [<>≤≥] ")


def policy_sentences(policy: Policy) -> tuple[str, ...]:
    """Return what a policy says, a sentence for each of its rules and for what none of them says.

    Names are those of the policy, without what all of them begin with.
    """
    rules = [one for rule in policy.rules for one in _rule_sentences(rule)]
    if policy.type == OFFER:
        rules.append("It is an offer: until somebody accepts it, it grants nothing.")
    elif policy.permissions:
        rules.append("Whatever no rule permits is denied.")
    return tuple(rules)


def _rule_sentences(rule: Rule) -> Iterator[str]:
    who = _parties(rule.assignees)
    verb = {"permission": "may", "prohibition": "must not"}.get(rule.kind, "must")
    yield f"{_capital(who)} {verb} {_deed(rule)}{_circumstances(rule)}."
    if rule.output:
        purposes = f" {_purposes(rule.purposes)}" if rule.purposes else ""
        yield (
            f"What comes of it, {_name(rule.output)}, {who} may read{purposes} once it is "
            f"certified, but not the data that it is made of."
        )
    yield from _nested(rule)


def _deed(rule: Rule) -> str:
    """Return what a rule is about: actions, on what, and how."""
    on = _joined([part_text(one, _name) for one in rule.targets], "and")
    targets = on or ("" if rule.kind == "duty" else "any asset")
    actions = [_action(one, targets) for one in rule.actions]
    return _joined(actions, "or") or f"do anything with {targets or 'what it is about'}"


def _action(action: Action, targets: str) -> str:
    settings = [condition_text(one, _name) for one in action.refinements if not _columns(one)]
    columns = [text for one in action.refinements if (text := _columns(one))]
    if is_audit(action):
        bounds = [one for one in settings if _BOUND.search(one)]
        others = [one for one in settings if one not in bounds]
        shows = f", which must show {_joined(bounds, 'and')}" if bounds else ""
        how = f" ({', '.join(others)})" if others else ""
        return f"have {targets or 'it'} attacked by {_words(action.iri)}{how}{shows}"
    how = f" with {', '.join(settings)}" if settings else ""
    detail = f", {', '.join(columns)}" if columns else ""
    return f"{_words(action.iri)} {targets}".rstrip() + how + detail


def _words(iri: str) -> str:
    """Return the name of an action as words: membershipInference as membership inference."""
    if iri == f"{terms.PE}train":
        return "train on"
    return re.sub(r"(?<=[a-z])([A-Z])", lambda match: f" {match[1].lower()}", short_name(iri))


def _columns(condition: Condition) -> str:
    """Return what becomes of columns, in words; empty for a condition about anything else."""
    verb = _COLUMNS.get(getattr(condition, "left_operand", ""))
    if verb is None or not hasattr(condition, "right_operands"):
        return ""
    names = [_name(column_iri(value)) for value in condition.right_operands]
    more = [f"{len(names) - _MOST_NAMES} others"] if len(names) > _MOST_NAMES else []
    return f"{verb} {_joined([*names[:_MOST_NAMES], *more], 'and')}"


def _circumstances(rule: Rule) -> str:
    purposes = f", {_purposes(rule.purposes)}" if rule.purposes else ""
    conditions = [condition_text(one, _name) for one in rule.constraints]
    only = f", only if {' and '.join(conditions)}" if conditions else ""
    return f"{purposes}{only}"


def _nested(rule: Rule) -> Iterator[str]:
    """Yield what has to be done beside a rule."""
    for duty in rule.duties:
        yield f"Before that, {_parties(duty.assignees or rule.assignees)} must {_duty(duty)}."
    for remedy in rule.remedies:
        yield f"Whoever does it all the same must {_duty(remedy)}."
    for consequence in rule.consequences:
        yield f"Whoever does not must {_duty(consequence)}."


def _duty(duty: Rule) -> str:
    return f"{_deed(duty)}{_circumstances(duty)}"


def _parties(parties: Sequence[Party | Asset]) -> str:
    return _joined([part_text(one, _name) for one in parties], "and") or "anybody"


def _purposes(purposes: Iterable[str]) -> str:
    return f"for the purpose {_joined([_name(one) for one in purposes], 'or')}"


def _name(iri: str) -> str:
    return printable(short_name(iri))


def _joined(names: Sequence[str], word: str) -> str:
    *first, last = names or [""]
    return f"{', '.join(first)} {word} {last}" if first else last


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if text == "anybody" else text
