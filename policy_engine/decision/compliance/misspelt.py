"""Names in a request or a world that are almost those that are read, and would be passed over."""

import re
from collections.abc import Sequence

from policy_engine import terms
from policy_engine.decision.compliance.graph import StatementGraph, refuse
from policy_engine.decision.compliance.names import CLASSES, DUBLIN_CORE, PROPERTIES
from policy_engine.policy.reading.lenient import is_nearly_odrl

_LIKE = {
    terms.SOTW: r"sotw:|https?://(www\.)?w3id\.org(:[0-9]+)?/+force/+sotw([/#]|$)",
    terms.REPORT: r"report:|https?://(www\.)?w3id\.org(:[0-9]+)?/+force/+compliance-report([/#]|$)",
    DUBLIN_CORE: r"dct(erms)?:issued$|https?://(www\.)?purl\.org(:[0-9]+)?/+dc/+.*[/#]issued$",
}
"""The namespaces that are read beside that of ODRL, and what passes for them at a glance."""
_NEARLY = {read: re.compile(like, re.IGNORECASE) for read, like in _LIKE.items()}


def refuse_misspelt_names(graph: StatementGraph) -> None:
    """Refuse a property or a class that is almost one that is read, or that ODRL lacks.

    Raises RequestError (D003): what it says would be passed over, a time or a membership that
    decides about a prohibition.
    """
    for node in graph.about:
        for known, names in ((PROPERTIES, graph.about[node]), (CLASSES, graph.types(node))):
            for name in sorted(names):
                _refuse_misspelt(graph, name, known)


def _refuse_misspelt(graph: StatementGraph, name: str, known: Sequence[str]) -> None:
    if name.startswith(terms.ODRL) and name not in terms.vocabulary():
        refuse(graph, f"{name!r} is not a term of ODRL.")
    if is_nearly_odrl(name):
        refuse(graph, f"{name!r} is not a name of {terms.ODRL!r}, and almost one.")
    for read, nearly in _NEARLY.items():
        if not name.startswith(read) and nearly.match(name):
            refuse(graph, f"{name!r} is not a name of {read!r}, and almost one.")
    for one in known:
        if name != one and name.lower() == one.lower():
            refuse(graph, f"{name!r} is not {one!r}, and almost the same.")
