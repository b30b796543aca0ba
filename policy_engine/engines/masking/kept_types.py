"""Whether the columns of an output have the types that `apply` gives them, in a file with types.

Another type is one way to write the same values otherwise, such as numbers as texts.
"""

from collections.abc import Callable, Collection, Iterator, Mapping

import pyarrow as pa

from policy_engine.engines.arrays import is_text, value_type
from policy_engine.engines.masking.common_forms import StoredType

_FAMILIES: tuple[Callable[[pa.DataType], bool], ...] = (
    *(is_text, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal),
    *(pa.types.is_boolean, pa.types.is_date, pa.types.is_time, pa.types.is_timestamp),
    *(pa.types.is_duration, pa.types.is_nested),
    lambda kind: pa.types.is_binary(kind) or pa.types.is_large_binary(kind),
)


def other_types(
    before: Mapping[str, StoredType],
    after: Mapping[str, StoredType],
    names: Collection[str],
    labelled: Collection[str] = (),
) -> Iterator[tuple[str, pa.DataType]]:
    """Yield those of some columns of an output, with their types, that have another kind of values
    than those of the input, or another time zone; `labelled` ones may be texts.

    A file without types says nothing of its texts, nor does one of them say what they become.
    """
    for name in names:
        if name not in before or name not in after or after[name].is_untyped:
            continue
        kind = value_type(after[name].type)
        if not (_is_kept(before[name], kind) or (name in labelled and is_text(kind))):
            yield name, kind


def _is_kept(before: StoredType, kind: pa.DataType) -> bool:
    original = value_type(before.type)
    if before.is_untyped:
        return not pa.types.is_timestamp(kind) or kind.tz in (None, "UTC")
    if pa.types.is_null(kind) or pa.types.is_null(original) or kind == original:
        return True
    if pa.types.is_timestamp(kind) and pa.types.is_timestamp(original):
        # A cluster keeps no other zones.
        return kind.tz == original.tz or bool(original.tz and kind.tz == "UTC")
    if pa.types.is_decimal(original) and before.is_inferred and is_text(kind):
        return True
    whole = [pa.types.is_integer(one) or _is_whole(one) for one in (original, kind)]
    if all(whole):
        return True  # a cluster has unsigned integers as decimals
    families = [[is_one(one) for is_one in _FAMILIES] for one in (original, kind)]
    return families[0] == families[1] and any(families[0])


def _is_whole(kind: pa.DataType) -> bool:
    return bool(pa.types.is_decimal(kind) and kind.scale == 0)
