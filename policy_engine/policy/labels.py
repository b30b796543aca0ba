"""The names of rules that have no uid: by what they mean, wherever they are in a text.

A log and a state of the world speak of rules by their names, and outlast texts. A text may be put
in another order or another syntax, and means the same; so do its rules, and they go by the same
names. In a policy that means something else such a name may be that of another rule: whoever
counts by it looks at the digest of the policy as well (`is_made_up`).
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from policy_engine import terms
from policy_engine.policy.canonical import canonical_rule
from policy_engine.policy.model import Policy, Rule

_KINDS = "permission|prohibition|obligation|duty|remedy|consequence"
_PLACE = rf"(?s:(?:{_KINDS}) [/?]|.*#/)"
_INHERITED = rf"(?s:.*)#(?:{_KINDS})-(?:\S+-)?[0-9a-f]{{16}}(?:-\d+)?"
_WORD = re.compile(r"[A-Za-z0-9_.-]{1,40}", re.ASCII)


def labelled(policy: Policy) -> Policy:
    """Return a policy whose rules without uid are named by what they mean.

    The name is the kind, the first action and target in the order of their IRIs, and the digest of
    the rule's canonical form, with the name of the rule that a duty hangs on. Rules that say
    exactly the same are numbered.
    """
    if all(rule.uid and not rule.nested_rules for rule in policy.rules):
        return policy
    used_labels: Counter[str] = Counter()
    return replace(
        policy,
        permissions=_all_named(policy.permissions, "", used_labels),
        prohibitions=_all_named(policy.prohibitions, "", used_labels),
        obligations=_all_named(policy.obligations, "", used_labels),
    )


def is_made_up(label: str) -> bool:
    """Tell whether a label is that of a rule without uid: in a changed policy it may be another."""
    return " " in label or is_place(label) or re.fullmatch(_INHERITED, label) is not None


def is_place(label: str) -> bool:
    """Tell whether a label is the position of a rule, as those of earlier versions are."""
    return re.match(_PLACE, label) is not None


def inherited_uid(rule: Rule, parent: Policy) -> str:
    """Return the name of a parent's rule in the policies that inherit it."""
    return rule.uid or f"{parent.uid}#{(rule.name or rule.place.pointer).replace(' ', '-')}"


def _all_named(rules: Sequence[Rule], above: str, used_labels: Counter[str]) -> tuple[Rule, ...]:
    return tuple(_named(rule, above, used_labels) for rule in rules)


def _named(rule: Rule, above: str, used_labels: Counter[str]) -> Rule:
    named_rule = rule if rule.uid else replace(rule, name=_name(rule, above, used_labels))
    if not named_rule.nested_rules:
        return named_rule
    label = named_rule.label()
    return replace(
        named_rule,
        duties=_all_named(named_rule.duties, label, used_labels),
        remedies=_all_named(named_rule.remedies, label, used_labels),
        consequences=_all_named(named_rule.consequences, label, used_labels),
    )


def _name(rule: Rule, above: str, used_labels: Counter[str]) -> str:
    text = "\n".join((rule.kind, above, canonical_rule(rule)))
    digest = sha256(text.encode()).hexdigest()[:16]
    about = [{part.iri for part in parts} for parts in (rule.actions, rule.targets)]
    words = [terms.local_name(min(iris)) for iris in about if iris]
    name = " ".join((rule.kind, *filter(_WORD.fullmatch, words), digest))
    used_labels[name] += 1
    return name if used_labels[name] == 1 else f"{name}-{used_labels[name]}"
