"""Memberships told by a property that is not for things of their kind: no reader sees them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from policy_engine import terms
from policy_engine.data.rdf.statements import TYPE, Literal
from policy_engine.decision.compliance.facts import own_purposes
from policy_engine.decision.compliance.graph import StatementGraph, refuse
from policy_engine.decision.compliance.names import DUBLIN_CORE
from policy_engine.decision.compliance.namespaces import RDFS
from policy_engine.decision.compliance.reading import leaves
from policy_engine.decision.compliance.requested_rules import RequestedRule
from policy_engine.decision.conditions import compared_name
from policy_engine.decision.facts import PURPOSE
from policy_engine.errors import Place, PolicyEngineError, PolicyError, Problem, RequestError
from policy_engine.policy.hierarchy import PARTS
from policy_engine.policy.model import Policy
from policy_engine.policy.structure import WIDER_PROPERTIES

_ACTION = f"{terms.ODRL}Action"
_DCT, _ORG, _SCHEMA = DUBLIN_CORE, "http://www.w3.org/ns/org#", "http://schema.org/"
_CLASS_PROPERTIES = (TYPE, f"{RDFS}subClassOf")
_KINDS: Mapping[str, frozenset[str]] = {
    prop: frozenset(roles.replace("implied", "action").split())
    for prop, roles in (*WIDER_PROPERTIES.items(), *((one, "purpose") for one in _CLASS_PROPERTIES))
}
"""The kinds of things that each property tells the memberships of."""
_OF_OTHERS = (
    *(f"{_DCT}isPartOf", "http://www.w3.org/ns/dcat#inSeries", f"{_ORG}memberOf"),
    *(f"{_SCHEMA}isPartOf", f"{_SCHEMA}memberOf"),
)
_INVERSE_OF_OTHERS = (
    *(f"{_DCT}hasPart", f"{_ORG}hasMember", f"{_SCHEMA}hasPart", f"{_SCHEMA}member"),
    *(f"{RDFS}member", f"{terms.SKOS}member", "http://xmlns.com/foaf/0.1/member"),
    "http://www.w3.org/2006/vcard/ns#hasMember",
)
"""What other vocabularies tell memberships by, of the part or of the whole."""
_SHOWN = {"party": "a party", "asset": "an asset", "action": "an action", "purpose": "a purpose"}
_PROPERTY_OF = {
    **dict.fromkeys(("party", "asset"), "odrl:partOf"),
    "action": "odrl:includedIn",
    "purpose": "skos:broader",
}

_Kinds = dict[str, set[str]]
"""The kinds of things that names are used for."""


def refuse_misplaced_memberships(
    texts: Sequence[StatementGraph],
    policies: Sequence[Policy],
    requested: Sequence[RequestedRule],
) -> None:
    """Refuse a membership in something by a property that is not for things of its kind.

    Such is the class of a person (`a`) where a rule names that class as a party, or `dct:isPartOf`:
    a prohibition for the members would be passed by. `texts` are those of policies, requests and
    the world. Raises PolicyError (P006) or RequestError (D003).
    """
    kinds: _Kinds = {one: {"action"} for one in terms.instances(_ACTION)}
    _note(kinds, (*_kinds_in_policies(policies), *_kinds_in_requests(requested)))
    placed: _Kinds = {}
    for text in texts:
        _note(placed, _kinds_in_memberships(text))
    errors: tuple[type[PolicyEngineError], ...] = (PolicyError, RequestError, RequestError)
    for text, error in zip(texts, errors, strict=True):
        _refuse_misplaced(text, error, kinds, {**placed, **kinds})
    if texts[1].text not in (texts[0].text, texts[2].text):
        _refuse_claimed_kinds(texts[1], requested, {**placed, **kinds})


def _refuse_claimed_kinds(
    request: StatementGraph,
    requested: Sequence[RequestedRule],
    kinds: Mapping[str, AbstractSet[str]],
) -> None:
    """Refuse what a request says of the kinds of anything but its purposes: it would be lost."""
    own = {purpose for purpose, _ in own_purposes(request, requested)}
    for prop in sorted(prop for prop, of in _KINDS.items() if "purpose" in of):
        for part, whole in request.edges(prop):
            if part not in own and kinds.get(whole, {"purpose"}) != {"purpose"}:
                message = f"The request says that {part!r} is a kind of {whole!r}."
                refuse(request, message, "It may say so of its purposes; the world tells the rest.")


def _refuse_misplaced(
    text: StatementGraph,
    error: type[PolicyEngineError],
    named: Mapping[str, AbstractSet[str]],
    kinds: Mapping[str, AbstractSet[str]],
) -> None:
    """Refuse the first membership that is misplaced; `named` has the kinds by rules alone."""
    for prop in (*_KINDS, *_OF_OTHERS, *_INVERSE_OF_OTHERS):
        for node in text.having(prop):
            for value in text.nodes(node, prop):
                ends = (value, node) if prop in _INVERSE_OF_OTHERS else (node, value)
                whole = kinds.get(text.name(ends[1]), frozenset())
                member_kinds = whole | named.get(text.name(ends[0]), frozenset())
                if whole and _KINDS.get(prop, frozenset()).isdisjoint(member_kinds):
                    message = _message(text, prop, ends, whole)
                    hint = f"What is part of it is told by {_PROPERTY_OF[min(whole)]}."
                    place = Place("", *text.spot(node, prop, value))
                    code = "P006" if issubclass(error, PolicyError) else "D003"
                    raise error(Problem(code, message, hint, place), source=text.source)


def _message(
    text: StatementGraph, prop: str, ends: tuple[str, str], kinds: AbstractSet[str]
) -> str:
    part, whole = map(text.name, ends)
    kinds_text = " and ".join(_SHOWN[one] for one in sorted(kinds))
    lost = f"{part!r} is not in {whole!r} by {terms.compact(prop)}, which would be lost"
    return f"{lost}: {whole!r} is {kinds_text}."


def _note(kinds: _Kinds, kinds_by_name: Iterable[tuple[str, str]]) -> None:
    for name, kind in kinds_by_name:
        kinds.setdefault(name, set()).add(kind)


def _kinds_in_policies(policies: Sequence[Policy]) -> Iterator[tuple[str, str]]:
    for rule in (
        one for policy in policies for of in policy.rules for one in (of, *of.all_nested_rules())
    ):
        for members, kind in (
            (rule.targets, "asset"),
            ((*rule.assignees, *rule.assigners), "party"),
            (rule.actions, "action"),
        ):
            yield from ((one.iri, kind) for one in members)
        yield from ((one, "purpose") for one in rule.purposes)
    for leaf in (leaf for policy in policies for leaf in leaves(policy)):
        of = ("purpose",) if leaf.left_operand == PURPOSE else PARTS
        texts = (one.value for one in leaf.right_operands if isinstance(one.value, str))
        yield from ((compared_name(text), kind) for text in texts for kind in of)


def _kinds_in_requests(requested: Sequence[RequestedRule]) -> Iterator[tuple[str, str]]:
    for rule in requested:
        yield from ((one, "party") for one in rule.parties)
        yield from ((one, "action") for one in rule.actions)
        yield from ((one, "asset") for one in rule.targets)
        for operand, values in rule.values.items():
            of = ("purpose",) if operand == PURPOSE else PARTS
            texts = (one.text if isinstance(one, Literal) else one for one in values)
            yield from ((compared_name(text), kind) for text in texts for kind in of)


def _kinds_in_memberships(text: StatementGraph) -> Iterator[tuple[str, str]]:
    """Yield what a text says to be part of something, with the kinds that its property is for."""
    for prop in _KINDS.keys() - {*_CLASS_PROPERTIES}:
        for node in text.having(prop):
            yield from ((text.name(node), kind) for kind in _KINDS[prop])
