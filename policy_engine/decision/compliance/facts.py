"""A compliance case in terms of decisions: a request, and a state of the world."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import chain
from typing import Any, ClassVar, TypeAlias, cast

from policy_engine import terms
from policy_engine.data.rdf.statements import STRING, TYPE, Literal, Term
from policy_engine.decision.closures import Closures
from policy_engine.decision.compliance.graph import StatementGraph, refuse
from policy_engine.decision.compliance.reading import hierarchy_of, value_of
from policy_engine.decision.compliance.requested_rules import CHANNEL, TOLD, RequestedRule
from policy_engine.decision.compliance.sizes import CountedClosures, Work
from policy_engine.decision.compliance.worlds import world_nodes
from policy_engine.decision.conditions import compared_name
from policy_engine.decision.facts import DATE_TIME, PURPOSE
from policy_engine.decision.model import World
from policy_engine.policy.hierarchy import PARTS, Hierarchy
from policy_engine.policy.model import COUNT, JOINTLY
from policy_engine.policy.structure import PURPOSE_PROPERTIES, REFINEMENT, SOURCE, VALUE
from policy_engine.policy.vocabulary import NONE, Vocabulary
from policy_engine.policy.xsd.literals import Literals

Terms: TypeAlias = tuple[Term, ...]
ValuesByOperand: TypeAlias = dict[str, dict[Term, None]]
"""The values that are told, each once, by left operand."""
_NOTHING = ("urn:x-policy-engine:nothing",)
"""The value of a left operand that a request could give but does not: a name of nothing."""

_ABSENT_VALUE = (Literal("", STRING),)
_SUBCLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
_KIND_OF = (_SUBCLASS, TYPE, *PURPOSE_PROPERTIES)
_PURPOSE_CLASSES = (f"{terms.SKOS}Concept", f"{terms.MOSAICROWN}purpose")
"""Classes that say of something that it is a purpose, and not of which kind."""
_SCHEMES = (terms.DPV, terms.MOSAICROWN, terms.ODRL, terms.PE)
"""The namespaces of purposes that are known without being told."""


class ReportedWorld(World):
    """A state of the world as reports are about it: its counts are compared as they are."""

    is_before_request: ClassVar[bool] = False


def operand_values_of(
    world_values: Mapping[str, Terms],
    request: RequestedRule,
    time: Term,
    references: AbstractSet[str],
) -> Mapping[str, Terms]:
    """Return the left operands given by the world, or else by the request.

    What the policy's `references` stand for, no request says; what only a request gives, such as
    its purpose, it gives all the same.
    """
    is_given = {name: name in TOLD or name not in references for name in request.values}
    requested = {name: of for name, of in request.values.items() if is_given[name]}
    operands = {**requested, **world_values}
    own = {DATE_TIME: (time,), JOINTLY: request.targets}
    return {**operands, PURPOSE: operands.get(PURPOSE, ()), **own}


def world_values_of(graph: StatementGraph) -> Mapping[str, Terms]:
    """Return the left operands that a world gives; one given in several places has all values."""
    values: ValuesByOperand = {}
    for node in world_nodes(graph):
        _tell(values, graph, node)
    return {operand: (*operand_terms,) for operand, operand_terms in values.items()}


def reported_value(operands: Mapping[str, Terms], left_operand: str) -> Terms:
    """Return the value of a left operand for a report: the empty text if it is not given."""
    return operands.get(left_operand) or (_ABSENT_VALUE if left_operand in TOLD else ())


def purposes_of(operands: Mapping[str, Terms], *, is_closed: bool) -> tuple[Literals, ...]:
    """Return the purposes of a request, none if they are unknown.

    If it `is_closed`, a request that gives no purpose is known to have none.
    """
    purposes = operands[PURPOSE]
    return (_values(purposes) or ()) if purposes or not is_closed else _NOTHING


def world_of(graph: StatementGraph) -> World:
    """Return what a world says about parties, assets and actions, and about references.

    What it says and cannot be read has no values, which is not as if it said nothing.
    """
    values_by_node: dict[str, ValuesByOperand] = {}
    for node in graph.about:
        _tell(values_by_node.setdefault(graph.name(node), {}), graph, node)
    of = {name: _facts(one) for name, one in values_by_node.items()}
    referenced = {name: facts[VALUE] for name, facts in of.items() if VALUE in facts}
    # Unlike those of JSON, the values here may be durations.
    return ReportedWorld.model_construct(values=cast("Any", referenced), of=cast("Any", of))


def with_operands(
    world: World, operand_values: Mapping[str, Terms], labels: Iterable[str], *, is_closed: bool
) -> World:
    """Return a world with the given left operands, for the rules of some labels.

    If it `is_closed`, a request that gives no delivery channel has none.
    """
    values = _facts({operand: of for operand, of in operand_values.items() if of})
    if is_closed and not operand_values.get(CHANNEL):
        values[CHANNEL] = _NOTHING
    times = values.pop(COUNT, ())
    counts = dict.fromkeys(labels, times[0]) if len(times) == 1 and type(times[0]) is int else {}
    # What is told at two places has several values, and a comparison with it is unknown; so is one
    # with what cannot be read at either place.
    both = {
        name: tuple(dict.fromkeys((*cast("Any", world.values[name]), *values[name])))
        if world.values[name] and values[name]
        else ()
        for name in world.values.keys() & values.keys()
    }
    all_values = {**world.values, **values, **both}
    present_values = {name: of for name, of in all_values.items() if of}
    return world.model_copy(update={"values": present_values, "counts": counts})


def memberships(
    stated: Hierarchy,
    world: StatementGraph,
    vocabulary: Vocabulary = NONE,
    others: Iterable[StatementGraph] = (),
) -> Hierarchy:
    """Return who and what belongs to what, according to a hierarchy, the world and other texts.

    Of these, whose memberships are `stated`, it has the classes that purposes are of. Whatever is
    part of a collection is part of its source: without refinements the two are the same.
    """
    texts = (*others, world)
    kinds = (edge for text in texts for edge in text.edges(_SUBCLASS, TYPE))
    purposes = tuple(edge for edge in kinds if edge[1] not in _PURPOSE_CLASSES)
    sources = tuple(edge for text in texts for edge in _sources(text))
    more = Hierarchy(party=sources, asset=sources, purpose=purposes)
    return stated.joined([hierarchy_of(world, vocabulary), more])


def _sources(graph: StatementGraph) -> Iterator[tuple[str, str]]:
    """Yield the collections without refinements, each with its source."""
    for node in graph.having(SOURCE):
        if not graph.objects(node, REFINEMENT):
            yield from ((graph.name(node), graph.name(one)) for one in graph.nodes(node, SOURCE))


class OwnClosures:
    """The closures of all memberships, with what a request says of the kinds of its purposes.

    A request says nothing else about memberships: nobody becomes a member by saying so. Rules with
    equal purposes share their closures.
    """

    def __init__(self, hierarchy: Hierarchy, request: StatementGraph, work: Work) -> None:
        self._closures = CountedClosures(hierarchy, work)
        self._kinds = _kinds(request)
        self._work = work
        self._by_purposes: dict[Terms, Closures] = {}

    def __call__(self, rule: RequestedRule) -> Closures:
        """Return the closures for a rule of the request."""
        purposes = rule.values.get(PURPOSE, ())
        if purposes not in self._by_purposes:
            self._by_purposes[purposes] = self._extended([*_wider_purposes(self._kinds, [rule])])
        return self._by_purposes[purposes]

    def _extended(self, own: Sequence[tuple[str, str]]) -> Closures:
        self._work.add(len(own))
        more, stated = Hierarchy(purpose=tuple(own)), self._closures
        return CountedClosures(stated.extended(more).hierarchy, self._work) if own else stated


def own_purposes(
    request: StatementGraph, rules: Iterable[RequestedRule]
) -> tuple[tuple[str, str], ...]:
    """Return what a request says its purposes are kinds of, and these: pairs of their names."""
    return (*_wider_purposes(_kinds(request), rules),)


def _kinds(request: StatementGraph) -> Mapping[str, Sequence[str]]:
    """Return what a request says things are kinds of."""
    kinds: dict[str, list[str]] = {}
    for one, kind in request.edges(*_KIND_OF):
        if kind not in _PURPOSE_CLASSES:
            kinds.setdefault(one, []).append(kind)
    return kinds


def _wider_purposes(
    kinds: Mapping[str, Sequence[str]], rules: Iterable[RequestedRule]
) -> Iterator[tuple[str, str]]:
    """Yield the purposes of rules with their kinds, and these with theirs."""
    purposes = (term for rule in rules for term in rule.values.get(PURPOSE, ()))
    names = dict.fromkeys(terms.canonical(one) for one in purposes if isinstance(one, str))
    queue, reached = [*names], {*names}
    for purpose in queue:
        above = kinds.get(purpose, ())
        yield from ((purpose, kind) for kind in above)
        wider = dict.fromkeys(one for one in above if one not in reached)
        queue += wider
        reached.update(wider)


def refuse_kinds_of_known_purposes(
    texts: Sequence[StatementGraph],
    request: StatementGraph,
    rules: Iterable[RequestedRule],
    hierarchy: Hierarchy,
    vocabulary: Vocabulary,
) -> None:
    """Refuse a request that says of what others name, what it is a kind of.

    Otherwise a purpose that is told of it would be permitted by its own word. `texts` are those of
    the policies and the world, `hierarchy` has their memberships and those of vocabularies; what
    is said there already may be said again. A text that is a name names as well: the two are
    compared as one. Raises RequestError (D003).
    """
    edges = own_purposes(request, rules)
    others = [text for text in texts if text.text != request.text]
    names = {*vocabulary.defined, *hierarchy.names(*PARTS)}.union(*map(_names_in, others))
    for purpose, kind in edges:
        is_known = purpose in names or purpose.startswith(_SCHEMES)
        if is_known and not hierarchy.path("purpose", purpose, kind):
            message = f"The request says that {purpose!r} is a kind of {kind!r}."
            hint = "It may say so of a purpose of its own, which nobody else names."
            refuse(request, message, hint)


def _names_in(graph: StatementGraph) -> Iterator[str]:
    """Yield the names in a text, and what else is compared as a name, each in its one spelling."""
    yield from graph.written
    objects = chain.from_iterable(
        of for statements in graph.about.values() for of in statements.values()
    )
    for literal in {one for one in objects if isinstance(one, Literal)}:
        texts = _values((literal._replace(language=""),)) or ()
        yield from (compared_name(one) for one in texts if isinstance(one, str))


def _tell(facts: ValuesByOperand, graph: StatementGraph, node: str) -> None:
    """Add what a graph says of a node to what is told: several values, if it says several."""
    for operand in graph.about[node]:
        facts.setdefault(operand, {}).update(dict.fromkeys(graph.values(node, operand)))


def _facts(world_values: Mapping[str, Iterable[Term]]) -> dict[str, tuple[Literals, ...]]:
    """Return the values of left operands, none of one that cannot be read."""
    return {operand: _values((*terms_told,)) or () for operand, terms_told in world_values.items()}


@lru_cache(maxsize=16)
def _values(operand_terms: Terms) -> tuple[Literals, ...] | None:
    """Return the values of terms; none if one of them cannot be read."""
    try:
        return tuple(map(_value, operand_terms)) or None
    except ValueError:
        return None


def _value(term: Term) -> Literals:
    """Return the value of a term. Raises ValueError for one that compares with nothing.

    Such are texts of a language, of which right operands are read without it.
    """
    if isinstance(term, Literal) and term.language:
        raise ValueError(f"{term.text!r:.40} is a text of a language")
    return value_of(term).value
