"""Names in a text that are almost those that are read, and would be passed over."""

import re

from policy_engine import terms
from policy_engine.data.rdf.statements import TYPE
from policy_engine.decision.compliance.graph import StatementGraph
from policy_engine.decision.compliance.names import CLASSES, DUBLIN_CORE, PROPERTIES
from policy_engine.errors import Place, PolicyEngineError, PolicyError, Problem
from policy_engine.policy.reading.lenient import is_nearly_odrl

_LIKE = {
    terms.SOTW: r"sotw:|https?://(www\.)?w3id\.org(:[0-9]+)?/+force/+sotw([/#]|$)",
    terms.REPORT: r"report:|https?://(www\.)?w3id\.org(:[0-9]+)?/+force/+compliance-report([/#]|$)",
    DUBLIN_CORE: r"dct(erms)?:issued$|https?://(www\.)?purl\.org(:[0-9]+)?/+dc/+.*[/#]issued$",
}
"""The namespaces that are read beside that of ODRL, and what passes for them at a glance."""
_READ = frozenset((*PROPERTIES, *CLASSES))
_BY_LETTERS = {name.lower(): name for name in (*CLASSES, *PROPERTIES)}
_CLASSES = frozenset(("owl:Class", f"{terms.PE}PolicyType", f"{terms.MOSAICROWN}purpose"))
"""The kinds of the terms that are classes; the kinds of a purpose are among them."""
_PROPERTIES = frozenset(
    (
        *(f"{terms.RDF}Property", "owl:ObjectProperty", "owl:DatatypeProperty"),
        *(f"{terms.PE}PartyFunction", f"{terms.PE}LogicalOperator", f"{terms.ODRL}LeftOperand"),
    )
)
"""The kinds of the terms that are properties; a world tells a left operand as one."""
_NEARLY = {read: re.compile(like, re.IGNORECASE) for read, like in _LIKE.items()}


def refuse_misspelt_names(graph: StatementGraph, error: type[PolicyEngineError]) -> None:
    """Refuse a property or a class that is almost one that is read, or that the vocabulary lacks.

    So is a term that is used as a property or a class and is not one, such as an action.

    Raises PolicyError (P005) for a policy, and RequestError (D003) for a request or a world: what
    it says would be passed over, a time or a membership that decides about a prohibition.
    """
    code = "P005" if issubclass(error, PolicyError) else "D003"
    for node, properties in graph.about.items():
        uses = [(name, False) for name in sorted(properties)]
        uses += [(name, True) for name in sorted(graph.types(node))]
        for name, is_class in uses:
            message = _problem(name) or _misuse(name, is_class=is_class)
            if message:
                spot = graph.spot(node, TYPE, name) if is_class else graph.spot(node, name)
                place = Place("", *spot)
                raise error(Problem(code, message, place=place), source=graph.source)


def _misuse(name: str, *, is_class: bool) -> str:
    """Return what is wrong with a term as a property or a class; empty if it is one."""
    term = terms.vocabulary().get(name)
    used, fit = ("class", _CLASSES) if is_class else ("property", _PROPERTIES)
    if term is None or not fit.isdisjoint(term.types):
        return ""
    return f"{terms.compact(name)!r} is not a {used}, and stands where one does."


def _problem(name: str) -> str:
    """Return what is wrong with the name of a property or a class; empty if nothing is."""
    if name.startswith(terms.ODRL) and name not in terms.vocabulary():
        return f"{name!r} is not a term of ODRL."
    if is_nearly_odrl(name):
        return f"{name!r} is not a name of {terms.ODRL!r}, and almost one."
    for read, nearly in _NEARLY.items():
        if not name.startswith(read) and nearly.match(name):
            return f"{name!r} is not a name of {read!r}, and almost one."
    same = name if name in _READ else _BY_LETTERS.get(name.lower(), name)
    return "" if name == same else f"{name!r} is not {same!r}, and almost the same."
