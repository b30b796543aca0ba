"""Which version of a package is installed."""

from functools import cache

NOT_INSTALLED = "not installed"


@cache
def version_of(package: str) -> str:
    """Return the version of an installed package, NOT_INSTALLED where there is none."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 (slow to import)

    try:
        return version(package)
    except PackageNotFoundError:
        return NOT_INSTALLED
