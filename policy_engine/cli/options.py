"""What the commands take: their options, and what they make of the texts given for them."""

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.errors import PolicyEngineError, RequestError

if TYPE_CHECKING:
    from policy_engine.policy import Limits, Reading


class Format(StrEnum):
    """How to print: for people or for machines."""

    TEXT = "text"
    JSON = "json"


class ProblemFormat(StrEnum):
    """How to print problems: for people, for machines, for code scanners (SARIF 2.1.0)."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


class EngineChoice(StrEnum):
    """Where to run."""

    LOCAL = "local"
    SPARK = "spark"


class CellFormat(StrEnum):
    """How to write ranges."""

    TEXT = "text"
    BOUNDS = "bounds"


class Kind(StrEnum):
    """What a proposed hierarchy goes by."""

    QUANTILES = "quantiles"
    PREFIX = "prefix"
    CALENDAR = "calendar"
    FREQUENCY = "frequency"


class Sample(StrEnum):
    """What to make up."""

    CUSTOMER = "customer"


_SYNTAXES = "JSON-LD, Turtle, N-Triples or RDF/XML; - is standard input."
_SEVERAL = f"Policies: {_SYNTAXES} A folder of them, or a registry of their versions, too."
PolicyArgument = Annotated[Path, typer.Argument(metavar="POLICY", help=f"A policy: {_SYNTAXES}")]
PoliciesArgument = Annotated[list[Path], typer.Argument(metavar="POLICY...", help=_SEVERAL)]
PolicyOption = Annotated[
    list[Path],
    typer.Option(
        "--policy",
        metavar="POLICY",
        help="A file, a folder or a registry of policies. May be given several times.",
    ),
]
AssigneeOption = Annotated[str, typer.Option("--assignee", metavar="IRI", help="Who asks.")]
PurposeOption = Annotated[str, typer.Option("--purpose", metavar="IRI", help="To what end.")]
CertificateOption = Annotated[
    list[Path],
    typer.Option(
        "--certificate",
        metavar="FILE_OR_DIR",
        help="The certificates of outputs, and attestations of what no engine can certify.",
    ),
]
HierarchyOption = Annotated[
    list[Path],
    typer.Option(
        "--hierarchy",
        metavar="FILE",
        help="Who and what belongs to what, in the syntaxes of policies.",
    ),
]
AssetOption = Annotated[
    str,
    typer.Option(
        "--asset",
        metavar="IRI",
        help="Which output is meant, where the policy makes several.",
    ),
]
OwnersOption = Annotated[
    Path | None,
    typer.Option(
        "--owners",
        metavar="FILE",
        help="Who owns which asset: JSON, {asset: party}, or a catalog. Else all is one owner's.",
    ),
]
InputOption = Annotated[
    list[Path],
    typer.Option(
        "--certificate",
        metavar="FILE_OR_DIR",
        help="The certificate of the input, where that is a release and it lies elsewhere.",
    ),
]
DataOption = Annotated[
    list[str],
    typer.Option(
        "--data",
        metavar="IRI=PATH",
        help="Where the data of an asset lies; a path alone is of the policy's only dataset.",
    ),
]
OverwriteOption = Annotated[
    bool,
    typer.Option(
        "--overwrite", metavar="", help="Replace a file that is there and holds other things."
    ),
]
FormatOption = Annotated[Format, typer.Option("--format", help="How to print.")]
ContextOption = Annotated[
    list[str],
    typer.Option("--context", metavar="URL=FILE", help="Your own copy of a JSON-LD context."),
]
ParentOption = Annotated[
    list[Path],
    typer.Option("--parent", metavar="POLICY", help="A policy that others inherit from."),
]
VocabularyOption = Annotated[
    list[Path],
    typer.Option(
        "--vocabulary",
        metavar="FILE",
        help="Terms of your own: actions, left operands, purposes. May be given several times.",
    ),
]
WorldOption = Annotated[
    Path | None,
    typer.Option("--world", metavar="FILE", help="The state of the world, in JSON."),
]
TimeOption = Annotated[
    str, typer.Option("--time", metavar="TIME", help="When (ISO 8601); else now, by the clock.")
]
LogOption = Annotated[
    Path | None,
    typer.Option(
        "--log",
        metavar="FILE",
        help="A log, .jsonl or .sqlite: decide by the counts and duties in it, and add to it.",
    ),
]
LogKeyOption = Annotated[
    Path | None,
    typer.Option("--log-key", metavar="FILE", help="The key that the log is chained with."),
]
LimitOption = Annotated[
    list[str],
    typer.Option(
        "--limit",
        metavar="NAME=NUMBER",
        help="How large a policy may be: bytes, depth, values, contexts, constraints ...",
    ),
]
TaxonomyOption = Annotated[
    list[str],
    typer.Option(
        "--taxonomy", metavar="NAME=FILE", help="A taxonomy that does not lie beside the policy."
    ),
]
QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet-values", metavar="", help="Count the values that a problem is about; name none."
    ),
]
KeyOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The key of pseudonyms; else what POLICY_ENGINE_KEY holds."),
]
AttemptsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Where every attempt at a model is kept, released or not, for its owner alone; else "
        "policy-engine/attempts in the folder that XDG_STATE_HOME names, or in ~/.local/state.",
    ),
]
EngineOption = Annotated[EngineChoice, typer.Option("--engine", help="Where to run.")]
MasterOption = Annotated[
    str,
    typer.Option(
        "--master",
        metavar="URL",
        help="The master of the Spark engine: local[*], spark://..., yarn, k8s://..., sc://...",
    ),
]
ConfOption = Annotated[
    list[str],
    typer.Option("--conf", metavar="NAME=VALUE", help="A setting of the Spark engine's session."),
]


def engine_of(engine: EngineChoice, master: str, conf: list[str]) -> Any:
    """Return the engine for the API. Raises RequestError for what the local one does not take,
    and EngineError (S001) where there is no PySpark."""
    if engine is EngineChoice.LOCAL:
        if master or conf:
            raise usage("--master and --conf are for --engine spark. The engine is 'local'.")
        return "local"
    from policy_engine.engines.spark.session import check_pyspark  # noqa: PLC0415

    check_pyspark()
    from policy_engine.engines.spark.engine import SparkEngine  # noqa: PLC0415 (pyspark)

    return SparkEngine(master=master, conf=_settings(conf))


def _settings(conf: list[str]) -> dict[str, str]:
    pairs = [one.partition("=") for one in conf]
    for (name, mark, _), given in zip(pairs, conf, strict=True):
        if not (name and mark):
            raise usage(f"--conf is NAME=VALUE. {given!r} was given.")
    return {name: value for name, _, value in pairs}


_FORMS = {"--data": "IRI=PATH", "--context": "URL=FILE", "--taxonomy": "NAME=FILE"}


def paths_of(options: list[str], option_name: str = "--data") -> dict[str, str]:
    """Return the paths given by IRI; where several '=' could part them, an existing path wins."""
    found: dict[str, str] = {}
    for option in options:
        splits = [
            (option[:place], option[place + 1 :])
            for place, mark in enumerate(option)
            if mark == "=" and option[:place] and option[place + 1 :]
        ]
        if not splits and option and option_name == "--data":
            splits = [("", option)]  # the policy's only dataset
        if not splits:
            raise usage(f"{option_name} is {_FORMS[option_name]}. {option!r} was given.")
        iri, path = next((pair for pair in splits if _exists(pair[1])), splits[0])
        if iri in found:
            several = " Several files are given as a folder, as in people.csv/." * (
                option_name == "--data"
            )
            raise usage(f"{option_name} gives {iri or 'a path without IRI'!r} twice.{several}")
        found[iri] = path
    return found


def check_log(log: Path | None, key: Path | None) -> None:
    """Raise RequestError for the key of a log without the log."""
    if key and not log:
        raise usage("--log-key is for a log. Give the log as well: --log FILE.")


_LIMIT = re.compile("[0-9]{1,18}")


def limits_of(options: list[str]) -> "Limits":
    """Return the limits of a text's size. Raises RequestError for one that is none."""
    from policy_engine.policy.syntax.limits import Limits, limits_with  # noqa: PLC0415

    given = {}
    for option in options:
        name, _, number = option.partition("=")
        if name not in Limits.__dataclass_fields__ or not _LIMIT.fullmatch(number):
            known = ", ".join(Limits.__dataclass_fields__)
            raise usage(f"--limit is NAME=NUMBER with one of {known}. {option!r:.80} was given.")
        given[name] = int(number)
    return limits_with(given)


def folder_of(text: str) -> Path:
    """Return the path of a folder to be written. Raises RequestError for an empty one, which
    would be the current folder's."""
    if not text.strip():
        raise usage("A folder to write into has a name; the current one is '.'. '' was given.")
    return Path(text)


def numbers_of(text: str, option_name: str) -> tuple[float, ...]:
    """Return the numbers of a list, whole ones as integers."""
    numbers = []
    for part in filter(None, map(str.strip, text.split(","))):
        try:
            number = float(part)
        except ValueError:
            raise usage(f"{option_name} takes numbers with commas. {text!r} was given.") from None
        numbers.append(int(number) if number.is_integer() else number)
    return tuple(dict.fromkeys(numbers))


# -- who acts -------------------------------------------------------------------------------------

_ACTING: dict[str, Any] = {
    "party": Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="IRI",
            help="Who acts: whether they may make it is decided first. Else the owner, who may.",
        ),
    ],
    "purpose": PurposeOption,
    "world": WorldOption,
    "time": TimeOption,
    "log": LogOption,
    "log_key": LogKeyOption,
    "more": Annotated[
        list[Path],
        typer.Option(
            "--policy",
            metavar="POLICY",
            help="Further policies to decide by, in files, folders and registries.",
        ),
    ],
}
"""The options of every command by which something is made: the parameters of `acting_of`."""
_UNSAID: dict[str, Any] = {"party": None, "world": None, "log": None, "log_key": None, "more": []}


def acting_of(
    reading: "Reading",
    policy: Path | None,
    more: list[Path],
    party: str | None = None,
    purpose: str = "",
    world: Path | None = None,
    time: str = "",
    log: Path | None = None,
    log_key: Path | None = None,
) -> dict[str, Any]:
    """Return who acts, and by what it is decided whether they may, as the API takes it.

    `policy` asks for what is made, `more` are looked at besides. Raises RequestError for what is
    of a party's request where none acts.
    """
    check_log(log, log_key)
    given: dict[str, Any] = {"--purpose": purpose, "--world": world, "--time": time, "--log": log}
    given |= {"--policy": more} if policy is None else {}
    found = [name for name, value in given.items() if value]
    if found and party is None:
        raise usage(f"{found[0]} is for --as PARTY. Without it the owner acts.")
    from policy_engine.api.deciding import world_at  # noqa: PLC0415

    state = None
    if world is not None or time:
        named = [one for one in (policy, *more) if one and str(one) != "-"]
        files = named if world else []
        state = world_at(world, time, reading.in_force(*files))
    return {
        "party": party,
        "purpose": purpose,
        "policies": tuple(more),
        "world": state,
        "log": log,
        "log_key": log_key,
    }


def acts(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that say who acts, in place of `acting`.

    `without` names those that it has itself. It stands below `reads_policies`.
    """
    names = [name for name in _ACTING if name not in without]
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=_UNSAID.get(name, ""),
            annotation=_ACTING[name],
        )
        for name in names
    ]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command)
        others = [one for name, one in own.parameters.items() if name != "acting"]

        @wraps(command)
        def run(**given: Any) -> None:
            who = {name: given.pop(name) for name in names}
            first, more = given.get("policy"), who.pop("more", [])
            if isinstance(first, list):
                first, *more = first
            command(acting=acting_of(given["reading"], first, more, **who), **given)

        # What typer makes options of.
        parameters = [*others, *options]
        run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorated


# -- how policies are read ------------------------------------------------------------------------

_READING: dict[str, Any] = {
    "context": ContextOption,
    "vocabulary": VocabularyOption,
    "parent": ParentOption,
    "limit": LimitOption,
}
"""The options of every command that reads a policy: the parameters of `reading_of`."""


def reading_of(
    context: list[str] | None = None,
    parent: list[Path] | None = None,
    limit: list[str] | None = None,
    vocabulary: list[Path] | None = None,
) -> "Reading":
    """Return what policies are read with. Raises RequestError for what cannot be understood.

    The vocabularies are read at once, so that what is wrong with one is not said of a policy.
    """
    from policy_engine.policy import Reading  # noqa: PLC0415

    with unanswered(PolicyEngineError):
        contexts, limits = contexts_of(context or []), limits_of(limit or [])
        read = Reading(contexts, limits=limits, vocabularies=vocabulary or ()).vocabulary
        return Reading(contexts, tuple(parent or ()), limits, (read,) if read else ())


def reads_policies(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that say how policies are read, in place of `reading`.

    `without` names those that mean nothing to it.
    """
    names = [name for name in _READING if name not in without]
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=[], annotation=_READING[name]
        )
        for name in names
    ]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command)
        others = [one for name, one in own.parameters.items() if name != "reading"]

        @wraps(command)
        def run(**given: Any) -> None:
            command(reading=reading_of(**{name: given.pop(name) for name in names}), **given)

        # What typer makes options of.
        run.__signature__ = own.replace(parameters=[*others, *options])  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in [*others, *options]}
        return run

    return decorated


def quotes_values(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command name the values of the data that its problems are about, unless told not to."""
    own = inspect.signature(command)
    option = inspect.Parameter(
        "quiet_values", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=QuietOption
    )

    @wraps(command)
    def run(*, quiet_values: bool, **given: Any) -> None:
        try:
            command(**given)
        except PolicyEngineError as error:
            if not quiet_values:
                error.problems = tuple(one.with_values() for one in error.problems)
            raise

    parameters = [*own.parameters.values(), option]
    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


@contextmanager
def unanswered(*kinds: type[PolicyEngineError]) -> Iterator[None]:
    """Have errors of these kinds end with 2: the question was not answered with a no (1)."""
    try:
        yield
    except kinds as error:
        error.exit_code = 2
        raise


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def contexts_of(options: list[str]) -> dict[str, Any]:
    """Return the JSON-LD contexts given by URL. Raises RequestError where one is none."""
    if not options:
        return {}
    from policy_engine.policy import read_file  # noqa: PLC0415
    from policy_engine.policy.syntax.json_text import read_json  # noqa: PLC0415

    contexts = {}
    for url, path in paths_of(options, "--context").items():
        value = read_json(read_file(Path(path)), path).value
        if not isinstance(value, dict) or not isinstance(value.get("@context"), dict):
            raise usage(f"{path!r} is not a JSON-LD context: it needs one object under '@context'.")
        contexts[url] = value
    return contexts


def usage(message: str) -> PolicyEngineError:
    """Return the error of a command line that cannot be understood."""
    return RequestError.of("U001", message)
