"""The nodes of a text that tell the state of the world, and its time."""

from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import datetime

from policy_engine import terms
from policy_engine.data.rdf.statements import Literal, Term, is_blank
from policy_engine.decision.compliance.duty_reports import is_duty_report
from policy_engine.decision.compliance.graph import StatementGraph, format_term, refuse
from policy_engine.decision.compliance.names import (
    CURRENT_TIME,
    DUBLIN_CORE,
    ELEMENTS,
    ISSUED,
    STATE_OF_THE_WORLD,
)
from policy_engine.decision.compliance.reading import value_of
from policy_engine.decision.compliance.requested_rules import TOLD, RequestedRule
from policy_engine.decision.facts import DATE_TIME
from policy_engine.errors import Place, PolicyEngineError, PolicyError, Problem, join_names
from policy_engine.policy.model import Policy
from policy_engine.policy.structure import ACTION, VALUE, membership_properties

_WORLDS = (STATE_OF_THE_WORLD, "http://example.org/Sotw")
_OF_THINGS = {
    f"{terms.ODRL}{name}"
    for name in ("Party", "PartyCollection", "Asset", "AssetCollection", "Action")
}
_NOW = "http://example.com/request/currentTime"
_DUBLIN_CORE = (DUBLIN_CORE, ELEMENTS)
_OWL_TIME = ("http://www.w3.org/2006/time#", "https://www.w3.org/2006/time#")
_NAMES_OF_TIME = {"currenttime", "currentdate", "currentdatetime", "now"}
"""The local names, in small letters, of what others call the time of a world."""
_MOMENTS = {f"{terms.XSD}{name}" for name in ("dateTime", "dateTimeStamp", "date")}
_DATES = ("issued", "date", "created", "modified", "valid", "available")


def world_nodes(world: StatementGraph) -> tuple[str, ...]:
    """Return the nodes that tell the state of the world: by their class, or by their time."""
    states = (
        node
        for node in world.about
        if CURRENT_TIME in world.about[node] or not {*world.types(node)}.isdisjoint(_WORLDS)
    )
    names = dict.fromkeys(map(world.name, states))
    return tuple(node for name in names for node in world.named[name])


def time_of(world: StatementGraph, operands: Container[str] = ()) -> Term | None:
    """Return the time that the world gives; None if it gives none.

    A world may also tell other times, of left operands that are used. Raises RequestError (D003)
    for several times, one that is not valid, or one that is told otherwise than it may be.
    """
    return _moment(world, _times(world, operands))


def requested_time(graph: StatementGraph, request: RequestedRule) -> Term | None:
    """Return the time that a rule of a request gives, as `time_of` does."""
    return _moment(graph, request.values.get(DATE_TIME, ()))


def refuse_unclear_nodes(
    world: StatementGraph, policies: Sequence[Policy], requested: Sequence[RequestedRule]
) -> None:
    """Refuse a world with nodes that might tell its state, though nothing says that they do.

    Otherwise a request would be believed where the world tells something else. Raises RequestError
    (D003) for a class that is almost that of a state of the world; and for a left operand that a
    request gives (or the clock, or nobody), told of a node without a class of its own that is no
    party, asset or action of the policies or of what the world says to be part of what. What the
    requests name is not such a thing by that: anybody may ask for anything.
    """
    for node in world.about:
        near = [one for one in sorted(world.types(node)) if _is_nearly_world(one)]
        if near:
            hint = f"A state of the world is of the class {_WORLDS[0]!r}."
            refuse(world, f"{near[0]!r} is almost the class of a state of the world.", hint)
    operands = {DATE_TIME, *TOLD}.union(*(one.values for one in requested))
    used_nodes = {*world_nodes(world), *_named(policies), *_parts(world)}
    for node in world.about:
        props = sorted(operands.intersection(world.about[node]))
        is_known = node in used_nodes or world.name(node) in used_nodes
        if props and not is_known and {*world.types(node)}.isdisjoint(_OF_THINGS):
            message = (
                f"The world tells {terms.compact(props[0])} of {world.name(node)!r}, and nothing"
            )
            hint = (
                "Give it the class sotw:SotW if it is the state of the world, or else odrl:Party,"
            )
            refuse(world, f"{message} says what that is.", f"{hint} odrl:Asset or odrl:Action.")


def refuse_told_elsewhere(
    graph: StatementGraph,
    world: StatementGraph,
    error: type[PolicyEngineError],
    used: Container[str] = (),
) -> None:
    """Refuse a text that is not that of the world and tells its state, or that of a duty.

    A policy does not tell left operands either, nor what a reference stands for; a request tells
    those that are `used` by constraints, of itself alone.

    Raises PolicyError (P006) for a policy, and RequestError (D003) for a request.
    """
    states = {*world_nodes(graph), *graph.named.get(_NOW, ())}
    is_policy = issubclass(error, PolicyError)
    for node in graph.about if graph.text != world.text else ():
        if node in states or is_duty_report(graph, node):
            what = "the state of the world" if node in states else "the state of a duty"
        else:
            what = _stated_operand(graph, node, used, is_policy=is_policy)
        if what:
            message = f"{graph.name(node)!r} tells {what}, which only the world does."
            hint = "Give this text as the world, too, or take it out."
            place = Place("", *graph.spot(node))
            problem = Problem("P006" if is_policy else "D003", message, hint, place)
            raise error(problem, source=graph.source)


def _stated_operand(
    graph: StatementGraph, node: str, used: Container[str], *, is_policy: bool
) -> str:
    """Return the left operand or reference that a node is told, if any; empty if none is."""
    operands = terms.instances(f"{terms.ODRL}LeftOperand") if is_policy else ()
    own_operands = sorted(one for one in graph.about[node] if one in operands or one in used)
    if VALUE in graph.about[node] and is_policy and not is_blank(node):
        own_operands += () if graph.subjects(ACTION, node) else (VALUE,)
    return terms.compact(own_operands[0]) if own_operands else ""


def _named(policies: Sequence[Policy]) -> Iterator[str]:
    """Yield the parties, assets and actions that the policies name."""
    for hierarchy in {id(one.hierarchy): one.hierarchy for one in policies}.values():
        yield from hierarchy.names("party", "asset", "action")
    for rule in (rule for policy in policies for rule in policy.rules):
        for members in (rule.targets, rule.assignees, rule.actions):
            yield from (one.iri for one in members)


def _parts(world: StatementGraph) -> Iterator[str]:
    """Yield the parties, assets and actions that the world says to be part of others."""
    for edge in world.edges(*sorted(membership_properties("party asset action implied"))):
        yield from edge


def _is_nearly_world(kind: str) -> bool:
    return kind not in _WORLDS and terms.local_name(kind).casefold() == "sotw"


def _times(world: StatementGraph, operands: Container[str]) -> tuple[Term, ...]:
    """Return the times that a world tells: at its state, or at a node that is its current time."""
    nodes = world_nodes(world)
    stated_times = [one for node in nodes for one in world.values(node, CURRENT_TIME)]
    names = dict.fromkeys(terms.canonical(one) for one in stated_times if isinstance(one, str))
    names |= dict.fromkeys(one for one in (_NOW,) if one in world.written)
    times: list[Term] = [one for one in stated_times if isinstance(one, Literal)]
    times += (one for node in nodes for one in world.values(node, DATE_TIME))
    times += (one for name in names for one in _issued(world, name))
    _refuse_other_dates(world, names, nodes if not times else ())
    if not times:
        _refuse_other_times(world, nodes, operands)
    return (*times,)


def _issued(world: StatementGraph, name: str) -> tuple[Term, ...]:
    """Return the times that the node of a current time tells. Raises RequestError (D003) if none.

    If they were passed over, the time of the request, or the clock's, would be believed.
    """
    nodes = world.named.get(name, ())
    times = tuple(one for node in nodes for one in world.values(node, ISSUED))
    if not times:
        hint = "It is told by dct:issued, as an xsd:dateTime."
        refuse(world, f"The current time {name!r} of the world tells no time.", hint)
    return times


def _refuse_other_dates(
    world: StatementGraph, times: Container[str], timeless: Container[str]
) -> None:
    """Refuse dates that may be meant as the time: of a state without one, or of nobody knows what.

    `times` are the names of the current times of the world.
    """
    for node in world.about:
        dates = sorted(prop for prop in world.about[node] if _is_date(prop))
        is_unclear = ISSUED in dates and not world.types(node) and world.name(node) not in times
        if dates and (node in timeless or is_unclear):
            message = (
                f"{world.name(node)!r} has the date {dates[0]!r}, which is not read as a time."
            )
            refuse(world, message, "The state of the world tells its time by sotw:currentTime.")


def _refuse_other_times(
    world: StatementGraph, states: Container[str], operands: Container[str]
) -> None:
    """Refuse times of a world that tells none as it may: the clock would be believed instead."""
    for node in world.about:
        for prop in sorted(world.about[node]):
            is_named = (
                prop.startswith(_OWL_TIME) or terms.local_name(prop).lower() in _NAMES_OF_TIME
            )
            is_odrl = prop in terms.instances(f"{terms.ODRL}LeftOperand")
            is_own = node in states and not is_odrl and prop not in operands
            if is_named or (is_own and any(map(_is_moment, world.objects(node, prop)))):
                message = f"{world.name(node)!r} tells a time by {prop!r}, which is not read."
                refuse(world, message, "The state of the world tells its time by sotw:currentTime.")


def _is_moment(term: Term) -> bool:
    return isinstance(term, Literal) and term.type in _MOMENTS


def _is_date(prop: str) -> bool:
    return prop.startswith(_DUBLIN_CORE) and terms.local_name(prop) in _DATES


def _moment(graph: StatementGraph, terms_given: Iterable[Term]) -> Term | None:
    moments = dict.fromkeys(terms_given)
    if not moments:
        return None
    if len(moments) > 1:
        refuse(graph, f"Several times are given: {join_names(map(format_term, moments))}.")
    [moment] = moments
    try:
        value = value_of(moment).value
    except ValueError as error:
        refuse(graph, f"{error}.")
    if not isinstance(value, datetime):
        refuse(graph, f"The time must be an xsd:dateTime. Given: {format_term(moment)}.")
    return moment
