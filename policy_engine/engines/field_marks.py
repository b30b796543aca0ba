"""What the field of a column says beside its type: whether it was inferred, or is still to be."""

import pyarrow as pa

from policy_engine.data.catalog import INFERRED

CELL_TEXT = pa.dictionary(pa.int32(), pa.string())
_MASKED = b"policy-engine-masked"


def untyped_field(name: str, kind: pa.DataType = CELL_TEXT) -> pa.Field:
    """Return the field of a column of texts whose type is still to be inferred."""
    return pa.field(name, kind, metadata={"csv": "text"})


def is_untyped(field: pa.Field) -> bool:
    """Tell whether a column holds text whose type is still to be inferred."""
    return bool(field.metadata and b"csv" in field.metadata)


def is_inferred(field: pa.Field) -> bool:
    """Tell whether the type of a column in memory was inferred from its values."""
    return bool(field.metadata and INFERRED in field.metadata)


def masked_field(field: pa.Field, kind: pa.DataType) -> pa.Field:
    """Return the field of a column of masked decimals, whose type may be text."""
    return pa.field(field.name, kind, metadata={_MASKED: "decimals"})


def is_masked(field: pa.Field) -> bool:
    """Tell whether a column holds masked decimals."""
    return bool(field.metadata and _MASKED in field.metadata)
