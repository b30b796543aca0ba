"""What in a policy names something: IRIs, and terms of the vocabulary."""

from collections.abc import Iterator, Mapping

from policy_engine import terms
from policy_engine.authoring.schema.building import (
    Schema,
    a_term,
    an_object,
    offered,
    ref,
    several,
    when,
)
from policy_engine.policy.vocabulary import Vocabulary

_ODRL = terms.ODRL
_ABSOLUTE = "^(?!_:)[^:/?#]+:"


def names(vocabulary: Vocabulary) -> dict[str, Schema]:
    """Return the definitions of names."""
    operators, conflicts = (
        terms.instances(f"{_ODRL}{one}") for one in ("Operator", "ConflictTerm")
    )
    actions = terms.instances(f"{_ODRL}Action")
    purposes = terms.instances(f"{terms.MOSAICROWN}purpose")
    own_actions, own_purposes = (
        [*offered(own, vocabulary), *_of_dpv(scheme)]
        for own, scheme in (
            (vocabulary.actions, terms.dpv_terms("Processing")),
            (vocabulary.purposes, terms.dpv_terms("Purpose")),
        )
    )
    return {
        "anything": {},
        "anyName": {"type": "string", "minLength": 1},
        "iri": {"type": "string", "pattern": _ABSOLUTE},
        "reference": an_object({}),
        "name": named(ref("iri")),
        **several("names", ref("name")),
        **several("oneName", ref("name"), most=1),
        "actionName": a_term(actions, or_foreign=True, own=own_actions),
        **several("actionNames", named(ref("actionName"))),
        **several("actionObject", {"type": "object", **named(ref("actionName"))}, most=1),
        "purposeName": a_term(purposes, or_foreign=True, own=own_purposes),
        "purposeObject": an_object({f"{terms.MOSAICROWN}declinationOf": "purposes"}),
        **several("purposes", named(ref("purposeName"), ref("purposeObject"))),
        "operatorName": a_term(operators),
        **several("operator", named(ref("operatorName")), most=1),
        "conflictName": a_term(conflicts),
        **several("conflict", named(ref("conflictName")), most=1),
    }


def _of_dpv(scheme: Mapping[str, terms.Term]) -> Iterator[Schema]:
    """Yield the names of terms of the Data Privacy Vocabulary, each with what it is a kind of."""
    for iri, term in scheme.items():
        wider = " and of ".join(map(terms.compact, term.iris("broader")))
        told = f"Of the Data Privacy Vocabulary{wider and f', a kind of {wider}'}."
        yield {"const": terms.compact(iri), "description": told}


def named(name: Schema, whole: Schema | None = None) -> Schema:
    """Return the schema of a name that may stand in an object of its own, which `whole` is."""
    inner = {"properties": {"@id": name, "uid": name}, **(whole or ref("reference"))}
    return when({"type": "object"}, inner, name)
