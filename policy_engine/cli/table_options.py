"""The options that say how files of data are written, of every command that reads tables."""

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from policy_engine.cli.options import EngineChoice
from policy_engine.cli.parsing import parse_paths, usage_error

_OPTIONS: dict[str, Any] = {
    "delimiter": Annotated[
        str,
        typer.Option(
            "--delimiter",
            metavar="MARK",
            help="What is between the cells of CSV files of data: one character, or tab. Default: "
            "found out.",
        ),
    ],
    "encoding": Annotated[
        str,
        typer.Option(
            "--encoding",
            metavar="NAME",
            help="The encoding of CSV files of data, such as windows-1252. Default: found out.",
        ),
    ],
    "decimal": Annotated[
        str,
        typer.Option(
            "--decimal",
            metavar="MARK",
            help="What is before the decimals of CSV files of data: , or . Default: found out.",
        ),
    ],
}


def with_table_options(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that say how files of data are written.

    `names` are its parameters that are the paths of such files, alone or by IRI. What is found out
    about a file is said once, on standard error.
    """
    formats = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default="", annotation=one)
        for name, one in _OPTIONS.items()
    ]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command)
        parameters = [*signature.parameters.values(), *formats]

        @wraps(command)
        def run(**options: Any) -> None:
            from policy_engine.data.csv_format import (  # noqa: PLC0415 (slow to import)
                CsvFormat,
                csv_files_as,
                telling,
            )

            if (
                any(options[name] for name in _OPTIONS)
                and options.get("engine") is EngineChoice.SPARK
            ):
                message = "--delimiter, --encoding and --decimal are for --engine local."
                raise usage_error(f"{message} Spark reads UTF-8 with commas.")
            form = CsvFormat(**{name: options.pop(name) for name in _OPTIONS})
            paths = [path for name in names for path in _paths(options[name])]
            with telling(_tell_once()), csv_files_as(form, *paths):
                command(**options)

        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorated


def _paths(value: Any) -> Iterator[str | Path]:
    """Yield the paths that are given for a parameter."""
    several = value if isinstance(value, list | tuple) else [] if value is None else [value]
    for one in several:
        yield from [one] if isinstance(one, Path) or "=" not in one else parse_paths([one]).values()


def _tell_once() -> Callable[[str], None]:
    """Return what prints a line on standard error, unless it was printed."""
    lines: set[str] = set()

    def tell(line: str) -> None:
        if line not in lines:
            lines.add(line)
            hint = "--encoding, --delimiter and --decimal say otherwise"
            typer.echo(f"{line}; {hint}", err=True)

    return tell
