"""What each part of a policy may hold, and what it must: the one table of ODRL's structure.

ODRL Information Model 2.2, sections 2.1 to 2.7. Policies are read by it; the JSON Schema is made of
it, and `vocab/shapes.ttl` is tested against it.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final, Literal, NamedTuple, TypeAlias

from policy_engine import terms
from policy_engine.policy.model import ACCEPTED, ENDS_WITH, LOGICAL, Kind

_ODRL = terms.ODRL
ACTION, TARGET, ASSIGNER, ASSIGNEE, OUTPUT = (
    f"{_ODRL}{name}" for name in ("action", "target", "assigner", "assignee", "output")
)
CONSTRAINT, REFINEMENT, SOURCE = (
    f"{_ODRL}{name}" for name in ("constraint", "refinement", "source")
)
PROFILE, CONFLICT, INHERIT = (f"{_ODRL}{name}" for name in ("profile", "conflict", "inheritFrom"))
LEFT, OPERATOR, RIGHT, REFERENCE = (
    f"{_ODRL}{name}"
    for name in ("leftOperand", "operator", "rightOperand", "rightOperandReference")
)
DATA_TYPE, UNIT, STATUS = (f"{_ODRL}{name}" for name in ("dataType", "unit", "status"))
INCLUDED, IMPLIES = f"{_ODRL}includedIn", f"{_ODRL}implies"
PART_OF = f"{_ODRL}partOf"
PURPOSE = f"{terms.MOSAICROWN}purpose"
QUERIES, BUDGET = f"{terms.PE}queries", f"{terms.PE}budget"
GROUP_BY, AGGREGATE = f"{terms.PE}groupBy", f"{terms.PE}aggregate"
VALUE = f"{terms.RDF}value"

POLICY_TYPES: Final = ("Policy", "Set", "Offer", "Agreement")
OTHER_POLICY_TYPES: Final = ("Privacy", "Assertion", "Ticket")
"""Types of policies that ODRL has beside these, and that only a lenient reader takes."""
INVERSE: Mapping[str, str] = {
    f"{_ODRL}hasPolicy": TARGET,
    f"{_ODRL}assigneeOf": ASSIGNEE,
    f"{_ODRL}assignerOf": ASSIGNER,
}
"""What assets and parties say of policies and rules, by what these say of them (2.2.1, 2.3.1)."""
KINDS: tuple[Kind, ...] = ("permission", "prohibition", "obligation")
"""The rules that a policy holds itself."""
INNER_KINDS: Mapping[Kind, tuple[Kind, ...]] = {
    "permission": ("duty",),
    "prohibition": ("remedy",),
    "obligation": ("consequence",),
    "duty": ("consequence",),
    "remedy": (),
    "consequence": (),
}
"""The kinds of rules that a rule of a kind may contain."""
NEEDED: tuple[tuple[str, tuple[Kind, ...], tuple[str, ...]], ...] = (
    (TARGET, ("permission", "prohibition"), POLICY_TYPES),
    (ACTION, KINDS, POLICY_TYPES),
    (ASSIGNER, KINDS, ("Offer", "Agreement")),
    (ASSIGNEE, KINDS, ("Agreement",)),
)
"""What rules of some kinds must have, in themselves or from their policy, under which types."""


QueryPart: TypeAlias = Literal["Query", "GroupColumn", "Aggregate", "Budget"]
"""The parts of queries and budgets that are nodes, by the names of their classes."""


class Properties(NamedTuple):
    """The properties that a node needs, and those that it may have as well."""

    needed: tuple[str, ...]
    others: tuple[str, ...]


@cache
def party_functions() -> tuple[str, ...]:
    """Return the functions of parties but assigner and assignee, as IRIs."""
    functions = terms.instances(f"{terms.PE}PartyFunction")
    return tuple(iri for iri in functions if iri not in (ASSIGNER, ASSIGNEE))


def shared() -> frozenset[str]:
    """Return what rules have, and a policy may have for all of them (section 2.7.1)."""
    return frozenset({ACTION, TARGET, ASSIGNER, ASSIGNEE, *party_functions()})


def policy_properties() -> frozenset[str]:
    """Return the properties of a policy (section 2.1)."""
    own = (PROFILE, CONFLICT, INHERIT, ENDS_WITH, ACCEPTED, QUERIES, BUDGET)
    return shared().union(own, (f"{_ODRL}{kind}" for kind in KINDS))


def rule_properties(kind: Kind) -> frozenset[str]:
    """Return the properties of a rule (section 2.6)."""
    output_properties = (OUTPUT, PURPOSE) if kind in ("permission", "prohibition") else ()
    return shared().union(
        (CONSTRAINT,), output_properties, (f"{_ODRL}{name}" for name in INNER_KINDS[kind])
    )


def query_properties(kind: QueryPart) -> Properties:
    """Return the properties of a part of a query or of a budget: those needed, and the others."""
    term = terms.vocabulary()[f"{terms.PE}{kind}"]
    return Properties(term.iris("requires"), term.iris("allows"))


PARAMETER_PROPERTIES: Final = frozenset({LEFT, OPERATOR, RIGHT, DATA_TYPE})
"""The properties of what refines `anonymize`."""
CONSTRAINT_PROPERTIES: Final = PARAMETER_PROPERTIES | {REFERENCE, UNIT, STATUS}
"""The properties of a constraint or a refinement (section 2.5.1)."""
LOGICAL_PROPERTIES: Final = frozenset(LOGICAL)
"""The properties of a logical constraint, of which it has one (section 2.5.2)."""
ACTION_PROPERTIES: Final = frozenset({INCLUDED, IMPLIES})
"""The properties of an action by its name (section 2.4)."""
REFINED_ACTION_PROPERTIES: Final = frozenset({VALUE, REFINEMENT})
"""The properties of an action that is refined (section 2.5.4)."""
COLLECTION_PROPERTIES: Final = frozenset({SOURCE, REFINEMENT})
"""The properties of the members of a party or an asset that meet refinements (section 2.5.3)."""


def required_properties(kind: Kind, policy_type: str) -> tuple[str, ...]:
    """Return what a rule of a kind must have in a policy of a type (sections 2.1, 2.6)."""
    name = terms.local_name(policy_type)
    policy_type = name if name in POLICY_TYPES else "Set"
    return tuple(part for part, kinds, types in NEEDED if kind in kinds and policy_type in types)


def missing_property_message(kind: Kind, prop: str, policy_type: str) -> str:
    """Return that a rule in a policy of a type lacks a part, as a sentence."""
    whose = f" of an {terms.local_name(policy_type)}" if prop in (ASSIGNER, ASSIGNEE) else ""
    return f"The {kind}{whose} has no {terms.local_name(prop)}."


@cache
def odrl_properties() -> frozenset[str]:
    """Return the local names of the properties that ODRL's context defines."""
    context = terms.bundled_contexts()["http://www.w3.org/ns/odrl.jsonld"]["@context"]
    return frozenset(name for name in context if name[0].islower())


WIDER_PROPERTIES: Mapping[str, str] = {
    f"{terms.MOSAICROWN}belongsTo": "party",
    f"{_ODRL}partOf": "party asset",
    f"{_ODRL}includedIn": "action",
    f"{_ODRL}implies": "implied",
    f"{terms.MOSAICROWN}declinationOf": "purpose",
    f"{terms.SKOS}broader": "purpose",
}
"""The roles of what each property relates to something wider."""
_ACTION_PROPERTIES = (f"{_ODRL}includedIn", f"{_ODRL}implies")
PURPOSE_PROPERTIES = (f"{terms.MOSAICROWN}declinationOf", f"{terms.SKOS}broader")


@cache
def membership_properties(role: str) -> frozenset[str]:
    """Return the properties that say what something in a role is part of."""
    return frozenset(
        prop for prop, parts in WIDER_PROPERTIES.items() if set(parts.split()) & set(role.split())
    )


def wider_role(prop: str, role: str) -> str:
    """Return what the values of a property are that says what something is part of."""
    roles = ("action",) if prop in _ACTION_PROPERTIES else WIDER_PROPERTIES[prop].split()
    return " ".join(part for part in roles if part in role.split())
