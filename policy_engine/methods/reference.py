"""What a policy can ask for: methods, what all share, and settings of columns, with defaults."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel

from policy_engine import terms
from policy_engine.errors import join_names
from policy_engine.methods import describe_allowed, method_class, parameters
from policy_engine.methods.columns import Columns, QuasiIdentifier, Sensitive
from policy_engine.methods.findings import format_value, takes_several
from policy_engine.methods.masking import masking_class, settings
from policy_engine.methods.randomiser import randomiser_class
from policy_engine.methods.randomiser import settings as settings_of_randomised
from policy_engine.methods.recoding import option_fields
from policy_engine.methods.sampling import Sampling
from policy_engine.methods.synthesiser import SynthesisedColumn, synthesiser_class

SETTINGS: Mapping[str, type[BaseModel]] = {
    f"{terms.MOSAICROWN}quasi-identifier": QuasiIdentifier,
    f"{terms.MOSAICROWN}sensitive": Sensitive,
    f"{terms.PE}masked": settings(),
    f"{terms.PE}randomised": settings_of_randomised(),
    f"{terms.PE}synthesised": SynthesisedColumn,
}
"""The settings of a single column, by the operand of its role."""
ONE_NEEDED = "one is required"
"""The default of parameters one of which has to be given."""


class Parameter(NamedTuple):
    """One parameter: its allowed values and its default, both in words.

    `engines` are those that have it; of an option, those that have more of it than its default.
    """

    name: str
    type: str
    default: str
    definition: str
    engines: tuple[str, ...]


def method_parameters(notation: str) -> list[Parameter]:
    """Return a method's own parameters: those needed, the others, those one of which is needed."""
    term, fields = terms.methods()[notation], _fields_of(notation)
    parameters_of_method = [_parameter(iri, fields, required=True) for iri in term.iris("requires")]
    parameters_of_method += [_parameter(iri, fields) for iri in term.iris("allows")]
    for iri in term.iris("requiresOne"):
        one = _parameter(iri, parameters(Sampling))
        parameters_of_method.append(one._replace(default=ONE_NEEDED))
    return [one._replace(engines=term.texts("engine")) for one in parameters_of_method]


def allowed_parameter(notation: str, iri: str) -> Parameter:
    """Return one of a method's own parameters that it does not need."""
    return _parameter(iri, _fields_of(notation))


def _fields_of(notation: str) -> dict[str, Any]:
    """Return the fields of a method by the names that policies use, with those of generators."""
    kind = method_class(notation)
    kinds = [synthesiser_class(one) for one in terms.synthesisers()] if kind.has_generators else []
    return {name: field for one in (*kinds, kind) for name, field in parameters(one).items()}


def shared_parameters() -> list[Parameter]:
    """Return the parameters of every method: columns by role, and samples."""
    return _parameters_of("Method")


def model_parameters() -> list[Parameter]:
    """Return those that every privacy model has as well: columns by role, options of recoding."""
    return _parameters_of("PrivacyModel")


def _parameters_of(name: str) -> list[Parameter]:
    term = terms.vocabulary()[f"{terms.PE}{name}"]
    fields = {**parameters(Columns), **option_fields(), **parameters(Sampling)}
    required = [_parameter(iri, fields, required=True) for iri in term.iris("requires")]
    return required + [_parameter(iri, fields) for iri in term.iris("allows")]


def masking_parameters(notation: str) -> list[Parameter]:
    """Return a masking's own parameters, settings of the column that is masked: those that it
    needs, those of which it needs one, the others."""
    term, fields = terms.maskings()[notation], parameters(masking_class(notation))
    return [
        *(_parameter(iri, fields, required=True) for iri in term.iris("requires")),
        *(_parameter(iri, fields)._replace(default=ONE_NEEDED) for iri in term.iris("requiresOne")),
        *(_parameter(iri, fields) for iri in term.iris("allows")),
    ]


def randomiser_parameters(notation: str) -> list[Parameter]:
    """Return a randomiser's own parameters, settings of the column that is randomised: those that
    it needs, and the others."""
    term, fields = terms.randomisers()[notation], parameters(randomiser_class(notation))
    return [
        *(_parameter(iri, fields, required=True) for iri in term.iris("requires")),
        *(_parameter(iri, fields) for iri in terms.method_operands(term, "allows")),
    ]


def column_parameters() -> dict[str, list[Parameter]]:
    """Return the settings of a single column, by the compact name of the operand of its role."""
    return {
        terms.compact(role): [
            _parameter(iri, parameters(kind))._replace(engines=terms.engines())
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
        type=_names(term, field) or describe_allowed(field),
        default="required" if is_needed else _default(field.default if field else None),
        definition=term.definition,
        engines=term.texts("engine") or terms.engines(),
    )


def _names(term: terms.Term, field: Any) -> str:
    """Return what an operand takes that is named: columns, or a query; empty for other values."""
    if term.iris("range") == (f"{terms.PE}Query",):
        return "a query"
    if not terms.names_columns(term.iri):
        return ""
    is_several = term.iris("operator") == (f"{terms.ODRL}isAllOf",)
    return "columns" if is_several or (field and takes_several(field)) else "one column"


def _default(value: Any) -> str:
    if value in (None, "", ()):
        return "none"
    if isinstance(value, tuple):
        return join_names(value)
    return f"{value:g}" if isinstance(value, float) else format_value(value)
