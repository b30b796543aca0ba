"""What a policy says of single columns, as numbers and truth values where it is written so."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from policy_engine.methods import Finding, is_text, parameters, takes_several
from policy_engine.methods.buckets import exact_conflicts
from policy_engine.methods.columns import Column
from policy_engine.methods.conflicts import cell_conflicts
from policy_engine.methods.permutation import permuted_conflicts
from policy_engine.policy import Value
from policy_engine.policy.xsd.values import LongFloat, read_float

_INTEGER = re.compile(r"[-+]?[0-9]{1,400}")
_DECIMAL = re.compile(r"[-+]?([0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})([eE][-+]?[0-9]{1,3})?")


class CellKind(NamedTuple):
    """What quasi-identifiers become: by an algorithm, by what stands for a class, or permuted."""

    algorithm: object
    representative: object
    are_permuted: bool

    def conflicts(self, settings_: Mapping[str, Any]) -> Iterator[Finding]:
        """Return the settings of a quasi-identifier that do not go with that."""
        if self.are_permuted:
            return permuted_conflicts(settings_)
        if self.algorithm == "bucketization":
            return exact_conflicts(settings_)
        return cell_conflicts(self.algorithm or "mondrian", settings_, self.representative)


def read_settings(value: Value, kind: type[Column]) -> dict[str, Any]:
    """Return the settings of a column, by name; `kind` is their model.

    A number that no float is stays exact: what is done with it is for the model to say.
    """
    fields = parameters(kind) if value.settings else {}
    return {name: _read(one, fields[name]) for name, one in value.settings.items()}


def _read(value: Value, field: Any) -> Any:
    if takes_several(field):
        return tuple(str(one.value) for one in value.all)
    return value.value if is_text(field) else _to_exact(value.value)


def _to_exact(value: Any) -> Any:
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        value = read_float(value)
    if not isinstance(value, LongFloat):
        return to_plain(value)
    try:
        return Decimal(value.text)
    except InvalidOperation:  # an exponent beyond those of decimals
        return value.text


def to_plain(value: Any) -> Any:
    """Return a number or a truth value where a text is one."""
    if not isinstance(value, str):
        return int(value) if isinstance(value, float) and value.is_integer() else value
    if _INTEGER.fullmatch(value):
        return int(value)
    return float(value) if _DECIMAL.fullmatch(value) else value
