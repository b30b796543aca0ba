"""What a policy can ask for: methods, what all share, and settings of columns, with defaults."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel

from policy_engine import terms
from policy_engine.methods import allowed, method_class, parameters
from policy_engine.methods.columns import Columns, QuasiIdentifier, Sensitive
from policy_engine.methods.findings import shown
from policy_engine.methods.masked import settings
from policy_engine.methods.recoding import Recoding

SETTINGS: Mapping[str, type[BaseModel]] = {
    f"{terms.MOSAICROWN}quasi-identifier": QuasiIdentifier,
    f"{terms.MOSAICROWN}sensitive": Sensitive,
    f"{terms.PE}masked": settings(),
}
"""What can be said of a single column, by the operand that it stands under."""


class Parameter(NamedTuple):
    """One thing that can be given: what it may be, in words, and what it is where it is not.

    `engines` are those that have it; of an option, those that have more of it than its default.
    """

    name: str
    type: str
    default: str
    definition: str
    engines: tuple[str, ...]


def of_method(notation: str) -> list[Parameter]:
    """Return the parameters that a method has of its own."""
    term, fields = terms.methods()[notation], parameters(method_class(notation))
    own = [_parameter(iri, fields, required=True) for iri in term.iris("requires")]
    return [one._replace(engines=term.texts("engine")) for one in own]


def shared() -> list[Parameter]:
    """Return what every method takes: the columns by role, and the options of recoding."""
    term, fields = terms.vocabulary()[f"{terms.PE}Method"], parameters(Columns)
    fields |= parameters(Recoding)
    required = [_parameter(iri, fields, required=True) for iri in term.iris("requires")]
    return required + [_parameter(iri, fields) for iri in term.iris("allows")]


def of_columns() -> dict[str, list[Parameter]]:
    """Return what can be said of a single column, by the name of the operand it stands under."""
    return {
        terms.compact(role): [
            _parameter(iri, parameters(kind))
            for iri, term in terms.vocabulary().items()
            if role in term.iris("domain")
        ]
        for role, kind in SETTINGS.items()
    }


def _parameter(iri: str, fields: Mapping[str, Any], *, required: bool = False) -> Parameter:
    term, field = terms.vocabulary()[iri], fields.get(terms.local_name(iri))
    is_needed = required or (field is not None and field.is_required())
    return Parameter(
        name=terms.compact(iri),
        type=_columns(term) or allowed(field),
        default="required" if is_needed else _default(field.default if field else None),
        definition=term.definition,
        engines=term.texts("engine") or terms.engines(),
    )


def _columns(term: terms.Term) -> str:
    """Return how many columns an operand takes, nothing where it takes none."""
    if not terms.names_columns(term.iri):
        return ""
    return "columns" if term.iris("operator") == (f"{terms.ODRL}isAllOf",) else "one column"


def _default(value: Any) -> str:
    if value in (None, "", ()):
        return "none"
    return f"{value:g}" if isinstance(value, float) else shown(value)
