"""The JSON Schema of policies, made from the vocabulary and the models, for editors.

It covers the structure of a policy: its keys, terms, values and their ranges. Problems that need
more than one place (an undefined name, two conflicting rules) are found only by the reader.
Everything that the reader accepts, the schema accepts: it knows nothing about terms that a policy
declares itself, and says nothing about them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from policy_engine.authoring.schema.building import Schema, when
from policy_engine.authoring.schema.conditions import conditions
from policy_engine.authoring.schema.documents import documents
from policy_engine.authoring.schema.names import names
from policy_engine.authoring.schema.parameters import anonymization
from policy_engine.authoring.schema.queries import queries
from policy_engine.authoring.schema.rules import rules
from policy_engine.authoring.schema.short import short_policy_schema
from policy_engine.authoring.schema.values import values
from policy_engine.policy import Reading, VocabularySource

__all__ = ["Schema", "policy_schema", "short_policy_schema"]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_URL = "https://w3id.org/policy-engine/schema/policy.json"


def policy_schema(
    vocabularies: Sequence[VocabularySource] = (), contexts: Mapping[str, Any] | None = None
) -> Schema:
    """Return the schema of policies in JSON-LD with the bundled contexts (draft 2020-12).

    It includes the terms of the vocabularies, which are read with `contexts`, as in `Reading`.
    Raises what reading them raises.
    """
    vocabulary = Reading(contexts, vocabularies=vocabularies).vocabulary
    document = {"$ref": "#/$defs/document"}
    parts = names(vocabulary) | values(vocabulary) | conditions(vocabulary)
    parts |= anonymization() | rules() | queries() | documents()
    return {
        "$schema": _DRAFT,
        "$id": _URL,
        "title": "ODRL policy",
        "description": "A policy in ODRL 2.2 as JSON-LD, with the MOSAICrOWN profile.",
        **when({"type": "array"}, {"minItems": 1, "items": document}, document),
        "$defs": dict(sorted(parts.items())),
    }
