"""A policy with other values for the parameters of what it asks for, to see what they would do."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from policy_engine import terms
from policy_engine.errors import PolicyError, did_you_mean, join_names
from policy_engine.policy.canonical import digest_of
from policy_engine.policy.model import ANONYMIZE, Action, Constraint, Policy, Rule, Value
from policy_engine.policy.reading.operands import parameters
from policy_engine.policy.syntax.short.operators import implied_operator


def override(policy: Policy, values: Mapping[str, Any]) -> Policy:
    """Return a policy whose `anonymize` actions have these values of parameters, by their words.

    What is made by it is not what the policy asks for, and has another digest. Raises PolicyError
    (P005) for a word that is not a parameter, (P007) for one that lists columns, and where the
    policy anonymizes nothing.
    """
    operands = {_operand(word): value for word, value in values.items()}
    rules = tuple(_overridden(rule, operands) for rule in policy.permissions)
    if operands and rules == policy.permissions and not _anonymizes(policy):
        message = "A parameter is set of what anonymizes, and this policy asks for no such thing."
        raise PolicyError.of("P007", message, source=policy.source)
    changed = replace(policy, permissions=rules)
    return replace(changed, digest=digest_of(changed)) if operands else policy


def _anonymizes(policy: Policy) -> bool:
    return any(action.iri == ANONYMIZE for rule in policy.permissions for action in rule.actions)


def _operand(word: str) -> str:
    """Return the parameter that a word means, as an IRI."""
    allowed_words = {terms.local_name(iri): iri for iri in parameters()}
    iri = allowed_words.get(word) or (
        terms.expand(word) if terms.expand(word) in parameters() else ""
    )
    if not iri:
        names = [name for name, one in allowed_words.items() if not terms.names_columns(one)]
        hint = did_you_mean(word, allowed_words) or f"Parameters are {join_names(names)}."
        raise PolicyError.of("P005", f"{word!r} is not a parameter of odrl:anonymize.", hint)
    if terms.names_columns(iri):
        message = f"{word!r} lists columns, which are set in the policy alone."
        raise PolicyError.of("P007", message)
    return iri


def _overridden(rule: Rule, values: Mapping[str, Any]) -> Rule:
    actions = tuple(_refined(one, values) if one.iri == ANONYMIZE else one for one in rule.actions)
    return replace(rule, actions=actions)


def _refined(action: Action, values: Mapping[str, Any]) -> Action:
    """Return an action with these values in the place of its own, or beside them."""
    refinements = list(action.refinements)
    for iri, value in values.items():
        places = [
            place
            for place, one in enumerate(refinements)
            if isinstance(one, Constraint) and one.left_operand == iri
        ]
        right = (Value(value),)
        if places:
            earlier = refinements[places[0]]
            assert isinstance(earlier, Constraint)  # noqa: S101 (as was looked for)
            refinements[places[0]] = replace(earlier, right_operands=right)
        else:
            allowed = [*map(terms.local_name, parameters()[iri].iris("operator"))]
            operator = f"{terms.ODRL}{implied_operator(allowed, is_several=False)}"
            refinements.append(Constraint(iri, operator, right, place=action.place))
    return replace(action, refinements=tuple(refinements))
