"""Which version of a package is installed."""


def version_of(package: str) -> str:
    """Return the version of an installed package, `not installed` where there is none."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 (slow to import)

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
