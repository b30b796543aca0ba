"""Names in a policy: IRIs, and terms of the vocabulary."""

from collections.abc import Iterator, Mapping

from policy_engine import terms
from policy_engine.authoring.schema.building import (
    Schema,
    object_schema,
    one_or_more,
    ref,
    term_schema,
    vocabulary_terms,
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
        [*vocabulary_terms(own, vocabulary), *_dpv_names(scheme)]
        for own, scheme in (
            (vocabulary.actions, terms.dpv_terms("Processing")),
            (vocabulary.purposes, terms.dpv_terms("Purpose")),
        )
    )
    return {
        "anything": {},
        "anyName": {"type": "string", "minLength": 1},
        "iri": {"type": "string", "pattern": _ABSOLUTE},
        "reference": object_schema({}),
        "name": name_or_object(ref("iri")),
        **one_or_more("names", ref("name")),
        **one_or_more("oneName", ref("name"), most=1),
        "actionName": term_schema(actions, or_foreign=True, own=own_actions),
        **one_or_more("actionNames", name_or_object(ref("actionName"))),
        **one_or_more(
            "actionObject", {"type": "object", **name_or_object(ref("actionName"))}, most=1
        ),
        "purposeName": term_schema(purposes, or_foreign=True, own=own_purposes),
        "purposeObject": object_schema({f"{terms.MOSAICROWN}declinationOf": "purposes"}),
        **one_or_more("purposes", name_or_object(ref("purposeName"), ref("purposeObject"))),
        "operatorName": term_schema(operators),
        **one_or_more("operator", name_or_object(ref("operatorName")), most=1),
        "conflictName": term_schema(conflicts),
        **one_or_more("conflict", name_or_object(ref("conflictName")), most=1),
    }


def _dpv_names(scheme: Mapping[str, terms.Term]) -> Iterator[Schema]:
    """Yield the names of terms of the Data Privacy Vocabulary, each with its broader term."""
    for iri, term in scheme.items():
        wider = " and of ".join(map(terms.compact, term.iris("broader")))
        description = f"Of the Data Privacy Vocabulary{wider and f', a kind of {wider}'}."
        yield {"const": terms.compact(iri), "description": description}


def name_or_object(name: Schema, whole: Schema | None = None) -> Schema:
    """Return the schema of a name, alone or in an object that matches `whole`."""
    inner = {"properties": {"@id": name, "uid": name}, **(whole or ref("reference"))}
    return when({"type": "object"}, inner, name)
