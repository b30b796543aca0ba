"""What a policy can ask for: one file per method of the vocabulary, found by its name.

A method is one of tables (`pe:Method`), most of them privacy models (`pe:PrivacyModel`), a masking
of columns (`pe:Masking`) or an audit (`pe:AuditMethod`). `pe:l-diversity`, written `l-diversity` in
a policy, is the class `LDiversity` in the file `l_diversity.py` of its family's folder. There is no
list to edit: the vocabulary is the registry.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

from policy_engine import terms
from policy_engine.errors import InternalError, Problem
from policy_engine.methods.findings import (
    Finding,
    describe_allowed,
    is_text,
    parameters,
    takes_several,
)
from policy_engine.methods.method import Method
from policy_engine.methods.privacy_model import Bound, Measurement, PrivacyModel

__all__ = [
    "Bound",
    "Finding",
    "Measurement",
    "Method",
    "PrivacyModel",
    "class_of",
    "describe_allowed",
    "is_text",
    "method_class",
    "parameters",
    "privacy_model_class",
    "takes_several",
]


def method_class(notation: str) -> type[Method]:
    """Return the class of a method of tables by its notation; KeyError where there is none."""
    kind: type[Method] = class_of(terms.methods()[notation].facts["notation"])
    return kind


def privacy_model_class(notation: str) -> type[PrivacyModel]:
    """Return the class of a privacy model by its notation; KeyError where there is none."""
    kind: type[PrivacyModel] = class_of(terms.privacy_models()[notation].facts["notation"])
    return kind


@cache
def class_of(notation: str) -> Any:
    """Return the class of a notation, from the file of its name.

    Raises InternalError (X001) where the vocabulary names what nobody has written.
    """
    file, name = notation.replace("-", "_"), "".join(map(str.capitalize, notation.split("-")))
    families = (one.name for one in iter_modules(__path__) if one.ispkg)
    homes = (f"{__name__}.{family}.{file}" for family in families)
    home = next((one for one in homes if find_spec(one)), None)
    kind = getattr(import_module(home), name, None) if home else None
    if kind is None:
        message = (
            f"The vocabulary's {notation!r} needs a class {name} in a file {file}.py of methods/."
        )
        raise InternalError(Problem("X001", message))
    return kind
