"""Names in a text that are almost those that are read, and would be passed over."""

from collections.abc import Iterator, Mapping

from policy_engine import terms
from policy_engine.data.rdf.statements import TYPE, Literal, Term
from policy_engine.decision.compliance.graph import UID, StatementGraph
from policy_engine.decision.compliance.names import CLASSES, FEATURE, PROPERTIES
from policy_engine.decision.compliance.namespaces import RDFS, nearly, unknown_term
from policy_engine.decision.conditions import compared_name
from policy_engine.errors import Place, PolicyEngineError, PolicyError, Problem
from policy_engine.policy.reading.nodes import CLASS_KINDS
from policy_engine.policy.structure import LEFT, PROFILE, PURPOSE, PURPOSE_PROPERTIES, VALUE
from policy_engine.policy.vocabulary import NONE, Vocabulary

_READ = frozenset((*PROPERTIES, *CLASSES))
_BY_LETTERS = {name.lower(): name for name in (*CLASSES, *PROPERTIES)}
_PROPERTIES = frozenset(
    (
        *(f"{terms.RDF}Property", "owl:ObjectProperty", "owl:DatatypeProperty"),
        *(f"{terms.PE}PartyFunction", f"{terms.PE}LogicalOperator", f"{terms.ODRL}LeftOperand"),
    )
)
"""The kinds of the terms that are properties; a world tells a left operand as one."""
_KINDS_OF_CLASS = (PURPOSE, f"{terms.SKOS}Concept")
_HAVING_NAMES = (
    *(terms.ODRL, terms.MOSAICROWN, terms.SOTW, VALUE, *PURPOSE_PROPERTIES),
    f"{RDFS}subClassOf",
)
"""The properties whose values are read, or the namespaces of those."""
_PURPOSE_ELSEWHERE = f"{terms.DPV}haspurpose"


def refuse_misspelt_names(
    graph: StatementGraph, error: type[PolicyEngineError], vocabulary: Vocabulary = NONE
) -> None:
    """Refuse a name that is almost one that is read, or that its vocabulary lacks.

    It may be that of a property, a class, or a value where these are read; so is a term that is
    used as a property, a class or a left operand and is not one, such as an action. A `vocabulary`
    may define some.

    Raises PolicyError (P005) for a policy, and RequestError (D003) for a request or a world: what
    it says would be passed over, a time or a membership that decides about a prohibition.
    """
    code = "P005" if issubclass(error, PolicyError) else "D003"
    for statement, message in _problems(graph, vocabulary.defined):
        place = Place("", *graph.spot(*statement))
        raise error(Problem(code, message, place=place), source=graph.source)


def _problems(
    graph: StatementGraph, defined: Mapping[str, object]
) -> Iterator[tuple[tuple[Term, ...], str]]:
    """Yield what is wrong with names, each with the statement, or its beginning, that has it."""
    for node, properties in graph.about.items():
        for prop in sorted(properties):
            yield from _problems_of(
                (node, prop), _problem(prop, defined) or _misuse(prop, is_class=False)
            )
        for kind in sorted(graph.types(node)):
            message = _problem(kind, defined) or _misuse(kind, is_class=True)
            yield from _problems_of((node, TYPE, kind), message)
        for prop in properties:
            if prop.startswith(_HAVING_NAMES) and prop not in (PROFILE, UID):
                for value in graph.objects(node, prop):
                    yield from _problems_of(
                        (node, prop, value), _problem_of_value(prop, value, defined)
                    )


def _problems_of(
    statement: tuple[Term, ...], message: str
) -> Iterator[tuple[tuple[Term, ...], str]]:
    if message:
        yield statement, message


def _misuse(name: str, *, is_class: bool) -> str:
    """Return what is wrong with a term as a property or a class; empty if it is one."""
    term = terms.vocabulary().get(name)
    used, fit = ("class", CLASS_KINDS) if is_class else ("property", _PROPERTIES)
    is_fit = term is None or not fit.isdisjoint(term.types)
    if is_fit or (is_class and name in _KINDS_OF_CLASS):
        return ""
    return f"{terms.compact(name)!r} is not a {used}, and stands where one does."


def _problem(name: str, defined: Mapping[str, object]) -> str:
    """Return what is wrong with the name of a property or a class; empty if nothing is."""
    if near := nearly(name):
        return f"{name!r} is not a name of {near!r}, and almost one."
    if name.lower() == _PURPOSE_ELSEWHERE:
        return f"{name!r} is not read. The purpose is told by {PURPOSE!r}."
    same = name if name in _READ else _BY_LETTERS.get(name.lower(), name)
    if name != same:
        return f"{name!r} is not {same!r}, and almost the same."
    title = unknown_term(name, defined)
    return f"{name!r} is not a term of {title}." if title else ""


def _problem_of_value(prop: str, value: Term, defined: Mapping[str, object]) -> str:
    """Return what is wrong with the value of a property that is read; empty if nothing is."""
    name = compared_name(value.text) if isinstance(value, Literal) else terms.canonical(value)
    if any(space in name for space in " \t\r\n"):
        return ""
    is_own = name.startswith((terms.MOSAICROWN, terms.PE)) and name not in terms.OLD_ACTIONS
    if is_own and (title := unknown_term(name, defined)):
        return f"{name!r} is not a term of {title}."
    if near := nearly(name):
        return f"{name!r} is not a name of {near!r}, and almost one."
    return _problem_of_operand(name, defined) if prop in (LEFT, FEATURE) else ""


def _problem_of_operand(name: str, defined: Mapping[str, object]) -> str:
    """Return what is wrong with a left operand; empty if it is one, or that of others."""
    operands = terms.instances(f"{terms.ODRL}LeftOperand")
    is_known = name in operands or name in defined
    if not is_known and (name in terms.vocabulary() or name.lower() == _PURPOSE_ELSEWHERE):
        hint = f"; that of a purpose is {terms.ODRL}purpose" if "purpose" in name.lower() else ""
        return f"{name!r} is not a left operand{hint}."
    return ""
