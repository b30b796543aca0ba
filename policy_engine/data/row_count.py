"""How many rows a dataset has, as far as that is known without reading all of it."""

from pathlib import Path

from policy_engine.data.catalog import MEMORY, Catalog

_BEGINNING = 1 << 16


def row_count(asset: str, catalog: Catalog) -> int | None:
    """Return about how many rows a dataset has, None where it would have to be read."""
    dataset = catalog.dataset(asset)
    if dataset.location == MEMORY:
        return getattr(catalog.tables[asset], "num_rows", None)
    path = Path(dataset.location)
    if not path.is_file():
        return None
    if dataset.format == "parquet":
        from pyarrow import parquet  # noqa: PLC0415 (slow to import)

        return int(parquet.read_metadata(path).num_rows)
    return estimate_lines(path) if dataset.format == "csv" else None


def estimate_lines(path: Path) -> int | None:
    """Return about how many lines a file has, estimated from its beginning."""
    with path.open("rb") as file:
        beginning = file.read(_BEGINNING)
    newlines = beginning.count(b"\n")
    return max(round(path.stat().st_size / len(beginning) * newlines) - 1, 1) if newlines else None
