"""What is wrong with a policy as a whole, once all that it consists of is known."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice

from policy_engine import terms
from policy_engine.errors import Problem
from policy_engine.policy.attestable import attestable
from policy_engine.policy.joining import named_jointly
from policy_engine.policy.model import (
    ANONYMIZE,
    DERIVED,
    GRANT_USE,
    MAKING,
    Action,
    Constraint,
    Policy,
    Rule,
    Value,
)
from policy_engine.policy.structure import (
    ACTION,
    ASSIGNEE,
    ASSIGNER,
    TARGET,
    missing_property_message,
    required_properties,
)
from policy_engine.policy.syntax.limits import MAX_PROBLEMS
from policy_engine.policy.validation.budgets import (
    unbounded_statistics,
    unmatched_budgets,
    unreleasable_statistics,
)
from policy_engine.policy.validation.conflicts import assets_with_rules, conflicts
from policy_engine.policy.validation.guided_labels import undiverse_labels

_LEAVES = (ANONYMIZE, GRANT_USE)
_NOT_GOVERNED = (
    "No rule governs the output {!r}: nobody may do anything with it.",
    "Add a permission whose target it is.",
)
_UNTIL_ATTESTED = (
    "No engine can certify the output {!r}: nobody may read it until it is attested.",
    "Then those may who may make it; a permission whose target it is lets others.",
)


def problems_of(policies: Sequence[Policy]) -> list[Problem]:
    """Return what keeps policies from being used, no more than MAX_PROBLEMS, and their conflicts.

    ODRL Information Model 2.2, sections 2.1, 2.6 and 2.10.
    """
    policy_problems = (problem for policy in policies for problem in _policy_problems(policy))
    void = (one for one in policies if one.conflict == "invalid" and not any(_deep_assets(one)))
    return [*islice(policy_problems, MAX_PROBLEMS), *conflicts(*void)]


def hazards_of(policies: Sequence[Policy]) -> list[Problem]:
    """Return what no policy may say, however leniently it is read: what it means would be lost."""
    return [
        one for policy in policies for one in (*_derived_problems(policy), *_deep_assets(policy))
    ]


def _policy_problems(policy: Policy) -> Iterator[Problem]:
    if not policy.rules:
        message = "A policy needs a permission, a prohibition or an obligation. It has none."
        yield Problem("P003", message, "", policy.place)
    for rule in policy.rules:
        for prop in required_properties(rule.kind, policy.type):
            if not _has_part(rule, prop):
                yield Problem(
                    "P004", missing_property_message(rule.kind, prop, policy.type), "", rule.place
                )
    yield from _duplicate_uids(policy)
    yield from _derived_problems(policy)
    yield from _unassigned_obligations(policy)
    yield from _deep_assets(policy)


def with_warnings(policy: Policy) -> Policy:
    """Return a policy with what in it is allowed, and yet hardly meant."""
    warnings = (
        *(*_ungoverned_outputs(policy), *_uncovered_assets(policy)),
        *(*_unbounded(policy), *_overlapping(policy), *_exact(policy), *_loud(policy)),
        *(*_unmade_audits(policy), *unmatched_budgets(policy), *unbounded_statistics(policy)),
        *(*unreleasable_statistics(policy), *undiverse_labels(policy)),
    )
    return replace(policy, hints=(*policy.hints, *warnings)) if warnings else policy


def _has_part(rule: Rule, prop: str) -> bool:
    parts = {
        ACTION: rule.actions,
        TARGET: rule.targets,
        ASSIGNER: rule.assigners,
        ASSIGNEE: rule.assignees,
    }
    return bool(parts[prop])


def _deep_assets(policy: Policy) -> Iterator[Problem]:
    """Yield the assets whose IRIs have more levels than can be looked through."""
    named_assets = {asset.iri: rule.place for rule in policy.rules for asset in rule.targets}
    named_assets |= {rule.output: rule.place for rule in policy.rules if rule.output}
    hierarchy_assets = {iri: policy.place for edge in policy.hierarchy.asset for iri in edge}
    for iri, place in {**hierarchy_assets, **named_assets}.items():
        if terms.count_levels(iri) > terms.MOST_LEVELS:
            message = f"The IRI of an asset has {terms.count_levels(iri):,} levels. "
            yield Problem("P007", f"{message}Allowed are {terms.MOST_LEVELS}.", "", place)


def _duplicate_uids(policy: Policy) -> Iterator[Problem]:
    first_rules: dict[str, Rule] = {}
    for rule in _all_rules(policy.rules):
        first = first_rules.setdefault(rule.uid, rule)
        if rule.uid and (first.place, first) != (rule.place, rule):
            line = first.place.line
            message = f"Two rules have the uid {rule.uid!r}; the first is in line {line}."
            yield Problem("P008", message, "", rule.place)


def _derived_problems(policy: Policy) -> Iterator[Problem]:
    """Yield what is said of derived assets in other words than a prohibition may have for it.

    A value that is misspelt would lift the prohibition.
    """
    for rule in policy.rules:
        leaves = [leaf for one in rule.constraints for leaf in one.constraints()]
        about_derived = [leaf for leaf in leaves if leaf.left_operand == DERIVED]
        is_exempt = all(
            leaf.operator == f"{terms.ODRL}eq"
            and [value.value for value in leaf.right_operands] == ["exempt"]
            for leaf in about_derived
        )
        if about_derived and (rule.kind != "prohibition" or not is_exempt):
            message = "pe:derived is allowed only in a prohibition, and only as eq 'exempt'."
            hint = "Without it, a prohibition reaches what others derive from its target."
            yield Problem("P022", message, hint, about_derived[0].place)


def _all_rules(rules: tuple[Rule, ...]) -> Iterator[Rule]:
    for rule in rules:
        yield rule
        yield from _all_rules(rule.nested_rules)


def _unassigned_obligations(policy: Policy) -> Iterator[Problem]:
    """Yield the obligations that neither a party nor the engine carries out."""
    for rule in policy.obligations:
        if not rule.assignees and any(action.iri != ANONYMIZE for action in rule.actions):
            message = "The obligation names no assignee, and the engine does not carry it out."
            hint = "Name the party that has to do it as its assignee."
            yield Problem("P017", message, hint, rule.place)


def _ungoverned_outputs(policy: Policy) -> Iterator[Problem]:
    """Yield the outputs that no rule is about; what is made by their rule, that rule governs."""
    outputs = [rule for rule in policy.permissions if rule.output and not _is_made(rule)]
    output_iris = {rule.output for rule in outputs}
    governed_iris = assets_with_rules(
        policy.rules if outputs else (), output_iris, policy.hierarchy
    )
    attestable_iris = attestable(policy) if outputs else {}
    for rule in outputs:
        if rule.output not in governed_iris:
            message, hint = _UNTIL_ATTESTED if rule.output in attestable_iris else _NOT_GOVERNED
            yield Problem("W001", message.format(rule.output), hint, rule.place)


def _uncovered_assets(policy: Policy) -> Iterator[Problem]:
    """Yield what permissions say may be read together and do not cover: it is not permitted.

    Leave for what is one's own names what others let be read, or joined, with it.
    """
    for rule in policy.permissions:
        targets = {target.iri for target in rule.targets}
        is_leave = not rule.output and any(action.iri in _LEAVES for action in rule.actions)
        for iri, value in named_jointly(rule) if targets and not is_leave else ():
            if targets.isdisjoint(policy.hierarchy.wider("asset", iri)):
                message = f"{iri!r} may be read with others by a permission that does not cover it."
                yield Problem("W004", message, "Add it to the targets.", value.place)


def _unbounded(policy: Policy) -> Iterator[Problem]:
    """Yield masking that stands alone, of permissions that ask for no method that bounds anything.

    Outputs of which a duty bounds what attacks reach are bounded.
    """
    models, others = _bounding_methods(), _methods_without_epsilon()
    attacked = _targets_of_duties(policy, _ATTACKS)
    told_apart = _targets_of_duties(policy, _AUDITS)
    for rule in policy.permissions:
        if rule.output in attacked:
            continue
        for action in rule.actions if any(one.iri == ANONYMIZE for one in rule.actions) else ():
            named = _methods(action)
            for value in named if not models & {str(one.value) for one in named} else ():
                notation = others.get(str(value.value), str(value.value))
                if notation == _SYNTHETIC and rule.output not in told_apart:
                    message = f"{notation} alone bounds nothing that made-up rows show."
                    hint = "Bound what attacks reach: add the duty pe:membershipInference to a "
                    yield Problem("W005", message, f"{hint}permission on the output.", value.place)
                elif notation in others.values() and notation != _SYNTHETIC:
                    alone = notation if notation != "masking" or _masks(action) else "a sample"
                    message = f"No privacy model is asked for: {alone} alone bounds nothing."
                    hint = "Ask for a privacy model as well, such as k-anonymity, or bound what "
                    hint += "attacks reach: add the duty pe:recordLinkage or pe:populationRisk "
                    hint += "to a permission on the output."
                    yield Problem("W005", message, hint, value.place)


@cache
def _bounding_methods() -> frozenset[str]:
    """Return the methods that bound something, by their notations and IRIs."""
    return frozenset(
        name
        for notation, term in terms.methods().items()
        for name in (notation, term.iri)
        if notation not in ("masking", _SYNTHETIC)
    )


@cache
def _methods_without_epsilon() -> Mapping[str, str]:
    """Return the notations of the methods that need no epsilon, by their IRIs."""
    return {
        term.iri: notation
        for notation, term in terms.methods().items()
        if f"{terms.PE}epsilon" not in term.iris("requires")
    }


def _targets_of_duties(policy: Policy, actions: Container[str]) -> set[str]:
    """Return the targets of the permissions that have a duty of one of some actions."""
    return {
        target.iri
        for rule in policy.permissions
        if any(action.iri in actions for duty in rule.duties for action in duty.actions)
        for target in rule.targets
    }


_SYNTHETIC = "synthetic-data"


def _unmade_audits(policy: Policy) -> Iterator[Problem]:
    """Yield the audits that are not duties of permissions: these alone are carried out."""
    duties = [duty for rule in policy.permissions for duty in rule.duties]
    others = [
        *policy.obligations,
        *(one for rule in policy.prohibitions for one in rule.remedies),
        *(one for rule in (*policy.obligations, *duties) for one in rule.consequences),
    ]
    for rule in others:
        for action in rule.actions:
            if action.iri in _AUDITS:
                name = terms.compact(action.iri)
                message = f"{name} is never carried out for this {rule.kind}, and bounds nothing."
                hint = "Make it the duty of a permission on the output."
                yield Problem("W009", message, hint, action.place)


def _overlapping(policy: Policy) -> Iterator[Problem]:
    """Yield that suppressed cells are to match any value, which makes classes overlap."""
    for options in _recodings(policy, "local-suppression"):
        missing = options.get(f"{terms.PE}missing")
        if missing is not None and missing.value == "wildcard":
            yield Problem("W006", _OVERLAPPING, _NOT_OVERLAPPING, missing.place)


def _exact(policy: Policy) -> Iterator[Problem]:
    """Yield that quasi-identifiers are to be released as they are, with buckets beside them."""
    for options in _recodings(policy, "bucketization"):
        yield Problem("W007", _PRESENT, _NOT_PRESENT, options[_ALGORITHM].place)


def _loud(policy: Policy) -> Iterator[Problem]:
    """Yield the scales of noise that are as large as what they are shares of, or larger."""
    actions = (action for rule in policy.permissions for action in rule.actions)
    parts = (part for action in actions for part in action.refinements)
    columns = (
        column
        for part in parts
        if isinstance(part, Constraint) and part.left_operand == _MASKED
        for column in part.right_operands
    )
    for column in columns:
        for name in [name for name in _SPREADS if name in column.settings]:
            scale = column.settings[name]
            if _number(scale) >= 1:
                message = f"The noise has {scale.value} times the {_SPREADS[name]} of its column."
                yield Problem("W008", message, f"{name} is a share: 10% is 0.1.", scale.place)


def _number(value: Value) -> float:
    try:
        return float(str(value.value))
    except ValueError:  # as is told when it is planned
        return 0.0


def _recodings(policy: Policy, algorithm: str) -> Iterator[dict[str, Value]]:
    """Yield what permissions by an algorithm ask for, the first value of each parameter."""
    for rule in policy.permissions:
        for action in rule.actions:
            named = {
                part.left_operand: part.right_operands[0]
                for part in action.refinements
                if isinstance(part, Constraint) and part.right_operands
            }
            if _ALGORITHM in named and named[_ALGORITHM].value == algorithm:
                yield named


_MASKED = f"{terms.PE}masked"
_BOUNDING = ("recordLinkage", "populationRisk", "attributeInference")
_ATTACKS = tuple(f"{terms.PE}{one}" for one in _BOUNDING)
_AUDITS = {*_ATTACKS, *(f"{terms.PE}{one}" for one in ("audit", "membershipInference"))}
_SPREADS = {"sdShare": "standard deviation", "varianceShare": "variance"}
_ALGORITHM = f"{terms.PE}algorithm"
_PRESENT = "Quasi-identifiers are released as they are: they show who is in the table."
_NOT_PRESENT = "Ask for classes, if that should not be known."
_OVERLAPPING = (
    "A missing value matches any, so k counts rows that could be the same, not rows alike."
)
_NOT_OVERLAPPING = "Let missing values be values of their own, unless that costs too many cells."


def _methods(action: Action) -> tuple[Value, ...]:
    """Return the methods that an action names."""
    return tuple(
        value
        for part in action.refinements
        if isinstance(part, Constraint) and part.left_operand == f"{terms.MOSAICROWN}method"
        for value in part.right_operands
    )


def _masks(action: Action) -> bool:
    """Tell whether an action masks columns."""
    return any(
        isinstance(part, Constraint) and part.left_operand == f"{terms.PE}masked"
        for part in action.refinements
    )


def _is_made(rule: Rule) -> bool:
    return any(action.iri in MAKING for action in rule.actions)
