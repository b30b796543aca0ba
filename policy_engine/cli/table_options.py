"""The options that say how files of data are written, of every command that reads tables."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args

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
_CATALOG = Annotated[
    Path | None,
    typer.Option(
        "--catalog",
        metavar="FILE",
        help="A catalog of data, in JSON-LD or YAML by DCAT and CSVW: where datasets are, and how "
        "they are written.",
    ),
]
_INPUT_FORMAT = Annotated[
    str,
    typer.Option(
        "--input-format",
        metavar="ENDING",
        help="The format of data that comes from standard input, as in --data -: csv, parquet, "
        "jsonl ...",
    ),
]


def with_table_options(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that say how files of data are written.

    `names` are its parameters that are the paths of such files, alone or by IRI; where `data` are
    by IRI, a catalog may give them. What is found out about a file is said once, on standard error.
    """
    formats = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default="", annotation=one)
        for name, one in {**_OPTIONS, "input_format": _INPUT_FORMAT}.items()
    ]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command)
        has_iris = _takes_iris(signature, names)
        is_needed = has_iris and signature.parameters["data"].default is inspect.Parameter.empty
        paths_of = {name: _path_type(signature.parameters[name]) for name in names}
        parameters = [_as_text(one, paths_of) for one in signature.parameters.values()]
        parameters = [*map(_optional, parameters), *formats]
        parameters += [_CATALOG_PARAMETER] if has_iris else []

        @wraps(command)
        def run(**options: Any) -> None:
            catalog, kind = options.pop("catalog", None), options.pop("input_format")
            if is_needed and not options["data"] and not catalog:
                raise usage_error("Missing option '--data', or '--catalog'.")
            words = {name: options.pop(name) for name in _OPTIONS}
            if any(words.values()) and options.get("engine") is EngineChoice.SPARK:
                message = "--delimiter, --encoding and --decimal are for --engine local."
                raise usage_error(f"{message} Spark reads UTF-8 with commas.")
            with ExitStack() as stack:
                if catalog:
                    options["data"] = [*_catalogued(catalog, stack), *options["data"]]
                options |= _with_stored_input(names, options, kind, stack)
                if options.get("engine") is not EngineChoice.SPARK:
                    options |= _with_copies(names, options, paths_of, stack)
                options |= _with_paths(options, paths_of)
                paths = [path for name in names for path in _paths(options[name])]
                if paths or any(words.values()):
                    stack.enter_context(_reading(words, paths))
                command(**options)

        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorated


_CATALOG_PARAMETER = inspect.Parameter(
    "catalog", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_CATALOG
)


def _path_type(parameter: inspect.Parameter) -> Any:
    """Return the type of a parameter of paths, `Path`, `Path | None` or `list[Path]`; None of one
    of texts, as data by IRI are."""
    kind = get_args(parameter.annotation)[0]
    return kind if "Path" in str(kind) else None


def _as_text(parameter: inspect.Parameter, paths_of: Mapping[str, Any]) -> inspect.Parameter:
    """Return a parameter whose paths are taken as texts, which URLs stay what they are in."""
    kind = paths_of.get(parameter.name)
    if kind is None:
        return parameter
    texts = {Path: str, Path | None: str | None, list[Path]: list[str]}
    texts[list[Path] | None] = list[str] | None
    about = get_args(parameter.annotation)[1:]
    return parameter.replace(annotation=Annotated[(texts[kind], *about)])


def _with_paths(options: Mapping[str, Any], paths_of: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of paths as such."""
    named = ((name, options[name]) for name, kind in paths_of.items() if kind is not None)
    return {
        name: [Path(one) for one in value] if isinstance(value, list) else Path(value)
        for name, value in named
        if value is not None
    }


def _with_copies(
    names: Sequence[str], options: Mapping[str, Any], paths_of: Mapping[str, Any], stack: ExitStack
) -> dict[str, Any]:
    """Return the parameters in which there are places that a command cannot read as they are, with
    copies in their place: what is on other machines and, where data are not by IRI, tables of
    databases."""
    places = {
        name: {one: _place_in(one) for one in _listed(options[name]) if isinstance(one, str)}
        for name in names
    }
    if not any(places.values()):
        return {}
    from policy_engine.data.places.spelling import is_database, is_place  # noqa: PLC0415 (as used)

    def is_copied(place: Any, name: str) -> bool:
        return is_place(place) and (paths_of[name] is not None or not is_database(place))

    if not any(is_copied(place, name) for name in names for place in places[name].values()):
        return {}
    from policy_engine.data.places.copies import copying  # noqa: PLC0415 (as used)

    copy = stack.enter_context(copying())
    changes = {}
    for name in names:
        copies = {
            one: f"{one[: len(one) - len(place)]}{copy(place)}"
            for one, place in places[name].items()
            if is_copied(place, name)
        }
        value = options[name]
        is_list = isinstance(value, list | tuple)
        texts = [copies.get(one, one) for one in _listed(value)]
        changes[name] = texts if is_list else next(iter(texts), value)
    return changes


def _place_in(option: str) -> str:
    """Return the place that an option gives, behind its IRI if it has one."""
    from policy_engine.data.places.spelling import is_database  # noqa: PLC0415 (as used)

    if "=" not in option or is_database(option):
        return option
    [place] = parse_paths([option]).values()
    return place


def _takes_iris(signature: inspect.Signature, names: Sequence[str]) -> bool:
    """Tell whether the parameter `data` of a command are paths by IRI."""
    return "data" in names and "list[str]" in str(signature.parameters["data"].annotation)


def _optional(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter; data by IRI can be left out, since a catalog may give them."""
    is_data = parameter.name == "data" and "list[str]" in str(parameter.annotation)
    return parameter.replace(default=[]) if is_data else parameter


def _catalogued(path: Path, stack: ExitStack) -> list[str]:
    """Return the data of a catalog as `--data` gives them, to be read as it says until the end."""
    from policy_engine.api.catalogs import open_catalog  # noqa: PLC0415 (as used)

    data = stack.enter_context(open_catalog(path))  # its copies, too, are for the local engine
    return [f"{iri}={place}" for iri, place in data.items()]


@contextmanager
def _reading(words: Mapping[str, str], paths: Sequence[str | Path]) -> Iterator[None]:
    """Have files be read as options say within the block, and what is found out be said."""
    from policy_engine.data.csv_format import (  # noqa: PLC0415 (few commands need it)
        CsvFormat,
        csv_files_as,
        telling,
    )

    form = csv_files_as(CsvFormat(**words), *paths) if any(words.values()) else nullcontext()
    with telling(_tell_once()), form:
        yield


def _with_stored_input(
    names: Sequence[str], options: Mapping[str, Any], kind: str, stack: ExitStack
) -> dict[str, Any]:
    """Return the parameters in which `-` stands for data, with a file of standard input there.

    The file is the caller's alone, and gone at the end. Raises RequestError where `-` is there
    twice, or without its format, or the format without it; DataError (C004) for an unknown one.
    """
    places = [(name, _is_input(options[name])) for name in names]
    uses = sum(count for _, count in places)
    if not uses and not kind:
        return {}
    policies = _listed(options.get("policy")) + _listed(options.get("policies"))
    if uses + sum(str(one) == "-" for one in policies) != 1 or not kind:
        message = "Data from standard input is one table, with its format: --data - --input-format "
        raise usage_error(f"{message}csv.")
    if options.get("engine") is EngineChoice.SPARK:
        raise usage_error("Data from standard input is for --engine local.")
    import shutil  # noqa: PLC0415 (as used)
    from tempfile import TemporaryDirectory  # noqa: PLC0415 (as used)

    from policy_engine.data.table_files import read_format  # noqa: PLC0415 (slow to import)

    folder = stack.enter_context(TemporaryDirectory())
    path = Path(folder) / f"stdin.{kind.lower().removeprefix('.')}"
    read_format(path)
    with path.open("xb") as file:
        shutil.copyfileobj(typer.get_binary_stream("stdin"), file)
    return {name: _replaced(options[name], path) for name, count in places if count}


def _listed(value: Any) -> list[Any]:
    """Return the values of a parameter that is one, several or none."""
    if value is None:
        return []
    return [*value] if isinstance(value, list | tuple) else [value]


def _is_input(value: Any) -> int:
    """Return how often the paths of a parameter are standard input."""
    return sum(str(one) == "-" or _is_asset_of_input(one) for one in _listed(value))


def _is_asset_of_input(one: Any) -> bool:
    return isinstance(one, str) and one.endswith("=-")


def _replaced(value: Any, path: Path) -> Any:
    """Return the value of a parameter with a path in the place of standard input."""
    if isinstance(value, list | tuple):
        return [_replaced(one, path) for one in value]
    if _is_asset_of_input(value):
        return f"{value[:-1]}{path}"
    if str(value) != "-":
        return value
    return path if isinstance(value, Path) else str(path)


def _paths(value: Any) -> Iterator[str | Path]:
    """Yield the paths that are given for a parameter."""
    for one in _listed(value):
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
