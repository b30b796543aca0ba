"""The version of a table that keeps its earlier ones, as Delta Lake and Iceberg do."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

_NAMES = {"delta": "Delta Lake", "iceberg": "Iceberg"}


class TableSnapshot(BaseModel):
    """Which version of a table has certain rows: in SQL, `NAME VERSION AS OF` its `version`.

    That is the version of a table of Delta Lake, and the id of a snapshot of Iceberg.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    format: Literal["delta", "iceberg"]
    version: Annotated[str, Field(pattern="^(0|[1-9][0-9]{0,18})$")]

    def __str__(self) -> str:
        """Return it in words."""
        return f"version {self.version} of a table of {_NAMES[self.format]}"
