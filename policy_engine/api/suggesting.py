"""A first draft of a taxonomy for a column."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.data.catalog import make_catalog
from policy_engine.data.column_names import missing_column, missing_columns
from policy_engine.errors import (
    DataError,
)

if TYPE_CHECKING:
    from policy_engine.data.taxonomy.suggestion import Suggestion


def suggest_hierarchy(
    table: str | Path | Any, column: str, kind: str | None = None
) -> "Suggestion":
    """Return a draft of a taxonomy for a column, for a person to edit.

    `kind` forces quantiles, prefix, calendar or frequency; by default, the values decide. Raises
    DataError if there is no such column, or its values do not fit the kind.
    """
    from policy_engine.data.taxonomy.suggestion import suggest  # noqa: PLC0415
    from policy_engine.engines.tables import count_values  # noqa: PLC0415 (slow to import)

    catalog = make_catalog({"table": table})
    [dataset] = catalog.datasets
    problems = list(missing_columns((column,), dataset))
    near = missing_column(column, dataset)
    problems = [near] if problems and near.hint else problems
    if problems:
        raise DataError(*problems, source=dataset.location)
    return suggest(
        count_values(catalog.tables.get(dataset.iri, dataset.location), column), column, kind
    )
