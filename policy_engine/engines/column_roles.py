"""What a column is in a policy."""

from enum import StrEnum


class ColumnRole(StrEnum):
    """What a column is in a policy: dropped, generalised, kept diverse, or none of these."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    OTHER = "other"
