"""Intervals of pandas, such as those of `pd.cut`, as the texts that pandas shows."""

from typing import Any


def with_interval_texts(source: Any) -> Any:
    """Return a frame or a series of pandas whose intervals are texts, as categories in their order;
    anything else as it is."""
    if not type(source).__module__.startswith("pandas"):
        return source
    if not hasattr(source, "columns"):
        return _as_texts(source) if _has_intervals(source) else source
    names = [name for name in source.columns if _has_intervals(source[name])]
    return source.assign(**{name: _as_texts(source[name]) for name in names}) if names else source


def _has_intervals(series: Any) -> bool:
    kind = getattr(series, "dtype", None)
    categories = getattr(kind, "categories", None)
    return any(hasattr(one, "closed") for one in (kind, getattr(categories, "dtype", None)))


def _as_texts(series: Any) -> Any:
    return series.astype("category").cat.rename_categories(str)
