"""What a policy can ask for: one file per method of the vocabulary, found by its name.

`pe:l-diversity`, written `l-diversity` in a policy, is the class `LDiversity` in the file
`l_diversity.py` of its family's folder. There is no list to edit: the vocabulary is the registry.
"""

from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

from policy_engine import terms
from policy_engine.methods.findings import Finding, describe_allowed, is_text, parameters
from policy_engine.methods.method import Bound, Measurement, Method

__all__ = [
    "Bound",
    "Finding",
    "Measurement",
    "Method",
    "class_of",
    "describe_allowed",
    "is_text",
    "method_class",
    "parameters",
]


def method_class(notation: str) -> type[Method]:
    """Return the class of a method of the vocabulary; KeyError where there is none."""
    kind: type[Method] = class_of(terms.methods()[notation].facts["notation"])
    return kind


def class_of(notation: str) -> Any:
    """Return the class of a notation, from the file of its name."""
    module = import_module(_find_module(notation.replace("-", "_")))
    return getattr(module, "".join(part.capitalize() for part in notation.split("-")))


def _find_module(file: str) -> str:
    """Return the module of a method, from the folder of its family."""
    families = (one.name for one in iter_modules(__path__) if one.ispkg)
    homes = (f"{__name__}.{family}.{file}" for family in families)
    return next(home for home in homes if find_spec(home))
