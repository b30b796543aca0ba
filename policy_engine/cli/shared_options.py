"""Options that many commands share, added by decorators."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.answers import print_unsigned
from policy_engine.cli.parsing import (
    check_keys,
    exit_with_two,
    load_contexts,
    parse_limits,
    usage_error,
)
from policy_engine.errors import PolicyEngineError

if TYPE_CHECKING:
    from policy_engine.policy import Reading
from policy_engine.cli.options import (
    ContextOption,
    Format,
    LimitOption,
    LogKeyOption,
    LogOption,
    ParentOption,
    PurposeOption,
    QuietOption,
    StatusOption,
    TimeOption,
    TrustOption,
    VocabularyOption,
    WorldOption,
)

_ACTING_OPTIONS: dict[str, Any] = {
    "party": Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="IRI",
            help="Who does this; the policies must permit it. Default: the owner, who "
            "needs no permission.",
        ),
    ],
    "purpose": PurposeOption,
    "world": WorldOption,
    "time": TimeOption,
    "log": LogOption,
    "log_key": LogKeyOption,
    "trust": TrustOption,
    "status": StatusOption,
    "more": Annotated[
        list[Path],
        typer.Option(
            "--policy",
            metavar="POLICY",
            help="More policies to decide by: files, folders or registries.",
        ),
    ],
}
"""The options of every command by which something is made: the parameters of `acting_of`."""


_ACTING_DEFAULTS: dict[str, Any] = {
    "party": None,
    "world": None,
    "log": None,
    "log_key": None,
    "trust": None,
    "status": [],
    "more": [],
}


def parse_acting(
    reading: "Reading",
    policy: Path | None,
    more: list[Path],
    party: str | None = None,
    purpose: str = "",
    world: Path | None = None,
    time: str = "",
    log: Path | None = None,
    log_key: Path | None = None,
    trust: Path | None = None,
    status: Sequence[str] = (),
) -> dict[str, Any]:
    """Return who acts, and by what it is decided whether they may, as the API takes it.

    `policy` asks for the output, `more` are considered as well. Raises RequestError for options of
    a party's request where no party acts.
    """
    check_keys(log, log_key)
    request_options: dict[str, Any] = {
        "--purpose": purpose,
        "--world": world,
        "--time": time,
        "--log": log,
    }
    request_options |= {"--policy": more} if policy is None else {}
    acting_options = [name for name, value in request_options.items() if value]
    if acting_options and party is None:
        raise usage_error(f"{acting_options[0]} is for --as PARTY. Without it the owner acts.")
    from policy_engine.api.deciding import load_world  # noqa: PLC0415

    state = None
    if world is not None or time:
        files_given = [one for one in (policy, *more) if one and str(one) != "-"]
        files = files_given if world else []
        state = load_world(world, time, reading.policies_in_force(*files))
    return {
        "party": party,
        "purpose": purpose,
        "policies": tuple(more),
        "world": state,
        "log": log,
        "log_key": log_key,
        "trust": trust,
        "status": tuple(status),
    }


def with_acting_options(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that say who acts, in place of `acting`.

    `without` names those that it has itself, `unsigned` if it says itself that nobody looked at
    signatures. It stands below `reads_policies`.
    """
    names = [name for name in _ACTING_OPTIONS if name not in without]
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=_ACTING_DEFAULTS.get(name, ""),
            annotation=_ACTING_OPTIONS[name],
        )
        for name in names
    ]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command)
        parameters_kept = [one for name, one in signature.parameters.items() if name != "acting"]

        @wraps(command)
        def run(**options: Any) -> None:
            who = {name: options.pop(name) for name in names}
            first, more = options.get("policy"), who.pop("more", [])
            if isinstance(first, list):
                first, *more = first
            acting = parse_acting(options["reading"], first, more, **who)
            if "unsigned" not in without and _believes(acting, options):
                is_data = (
                    options.get("output_format") is Format.JSON or options.get("output") == "-"
                )
                print_unsigned(acting["trust"], is_data=is_data)
            command(acting=acting, **options)

        # What typer makes options of.
        parameters = [*parameters_kept, *options]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorated


def _believes(acting: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    """Tell whether policies decide for a party, or a certificate says what data was made from:
    one that is given, or lies beside the data."""
    if acting["party"] is not None or options.get("certificate"):
        return True
    values = options.get("data")
    places = [str(one).partition("=")[2] for one in values] if isinstance(values, list) else []
    return any(_is_certified(Path(one)) for one in places)


def _is_certified(path: Path) -> bool:
    from policy_engine.certificate.beside import find_certificate  # noqa: PLC0415

    try:
        return path.exists() and find_certificate(str(path)) is not None
    except (PolicyEngineError, OSError):
        return True  # There is one that cannot be read, which the command says.


_READING_OPTIONS: dict[str, Any] = {
    "context": ContextOption,
    "vocabulary": VocabularyOption,
    "parent": ParentOption,
    "limit": LimitOption,
}
"""The options of every command that reads a policy: the parameters of `reading_of`."""


def parse_reading(
    context: list[str] | None = None,
    parent: list[Path] | None = None,
    limit: list[str] | None = None,
    vocabulary: list[Path] | None = None,
) -> "Reading":
    """Return what policies are read with. Raises RequestError for what cannot be understood.

    The vocabularies are read at once, so that a policy is not blamed for what is wrong with one.
    """
    from policy_engine.policy import Reading  # noqa: PLC0415

    with exit_with_two(PolicyEngineError):
        contexts, limits = load_contexts(context or []), parse_limits(limit or [])
        vocabulary_read = Reading(contexts, limits=limits, vocabularies=vocabulary or ()).vocabulary
        return Reading(
            contexts, tuple(parent or ()), limits, (vocabulary_read,) if vocabulary_read else ()
        )


def with_reading_options(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that say how policies are read, in place of `reading`.

    `without` names those that mean nothing to it.
    """
    names = [name for name in _READING_OPTIONS if name not in without]
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=[], annotation=_READING_OPTIONS[name]
        )
        for name in names
    ]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command)
        parameters_kept = [one for name, one in signature.parameters.items() if name != "reading"]

        @wraps(command)
        def run(**options: Any) -> None:
            command(reading=parse_reading(**{name: options.pop(name) for name in names}), **options)

        # What typer makes options of.
        run.__signature__ = signature.replace(parameters=[*parameters_kept, *options])  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in [*parameters_kept, *options]}
        return run

    return decorated


def with_quiet_option(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command name the values of the data that its problems are about, unless told not to."""
    signature = inspect.signature(command)
    option = inspect.Parameter(
        "quiet_values", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=QuietOption
    )

    @wraps(command)
    def run(*, quiet_values: bool, **options: Any) -> None:
        try:
            command(**options)
        except PolicyEngineError as error:
            if not quiet_values:
                error.problems = tuple(one.with_values() for one in error.problems)
            raise

    parameters = [*signature.parameters.values(), option]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run
