"""What the texts given for options mean: paths, numbers, limits, engines."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.errors import PolicyEngineError, RequestError

if TYPE_CHECKING:
    from policy_engine.policy import Limits, Reading, Source
from policy_engine.cli.options import EngineChoice


def make_engine(engine: EngineChoice, master: str, conf: list[str]) -> Any:
    """Return the engine for the API. Raises RequestError for what the local one does not take,
    and EngineError (S001) if PySpark is not installed."""
    if engine is EngineChoice.LOCAL:
        if master or conf:
            raise usage_error("--master and --conf are for --engine spark. The engine is 'local'.")
        return "local"
    from policy_engine.engines.spark.session import check_pyspark  # noqa: PLC0415

    check_pyspark()
    from policy_engine.engines.spark.engine import SparkEngine  # noqa: PLC0415 (pyspark)

    return SparkEngine(master=master, conf=_settings(conf))


def _settings(conf: list[str]) -> dict[str, str]:
    pairs = [one.partition("=") for one in conf]
    for (name, mark, _), option in zip(pairs, conf, strict=True):
        if not (name and mark):
            raise usage_error(f"--conf is NAME=VALUE. {option!r} was given.")
    return {name: value for name, _, value in pairs}


_FORMS = {"--data": "IRI=PATH", "--context": "URL=FILE", "--taxonomy": "NAME=FILE"}


def parse_paths(options: list[str], option_name: str = "--data") -> dict[str, str]:
    """Return the paths given by IRI; where several '=' could part them, an existing path or a
    place wins."""
    paths: dict[str, str] = {}
    for option in options:
        splits = [
            (option[:place], option[place + 1 :])
            for place, mark in enumerate(option)
            if mark == "=" and option[:place] and option[place + 1 :]
        ]
        if not splits and option and option_name == "--data":
            splits = [("", option)]  # the policy's only dataset
        if option_name == "--data" and _is_whole(option):
            splits = [("", option)]
        if not splits:
            raise usage_error(f"{option_name} is {_FORMS[option_name]}. {option!r} was given.")
        iri, path = next((pair for pair in splits if _is_there(pair[1])), splits[0])
        if iri in paths:
            remark = " Several files are given as a folder, or as 'parts/*.csv'." * (
                option_name == "--data"
            )
            raise usage_error(f"{option_name} gives {iri or 'a path without IRI'!r} twice.{remark}")
        paths[iri] = path
    return paths


_STORAGES = frozenset(("s3", "s3a", "gs", "gcs", "abfs", "abfss", "hdfs"))


def check_keys(
    log: Path | None,
    log_key: Path | None,
    ledger: Path | None = None,
    ledger_key: Path | None = None,
) -> None:
    """Raise RequestError for the key of a log without the log, or of a ledger without it."""
    if log_key and not log:
        raise usage_error("--log-key is for a log. Give the log as well: --log FILE.")
    if ledger_key and not ledger:
        raise usage_error("--ledger-key is for a ledger. Give that as well: --ledger FILE.")


_LIMIT = re.compile("[0-9]{1,18}")


def parse_limits(options: list[str]) -> "Limits":
    """Return the limits of a text's size. Raises RequestError for one that cannot be understood."""
    from policy_engine.policy.syntax.limits import Limits, limits_with  # noqa: PLC0415

    limits = {}
    for option in options:
        name, _, number = option.partition("=")
        if name not in Limits._fields or not _LIMIT.fullmatch(number):
            names = ", ".join(Limits._fields)
            raise usage_error(
                f"--limit is NAME=NUMBER with one of {names}. {option!r:.80} was given."
            )
        limits[name] = int(number)
    return limits_with(limits)


def parse_folder(text: str) -> Path:
    """Return the path of a folder to be written. Raises RequestError for an empty one, which
    would be the current folder's."""
    if not text.strip():
        raise usage_error(
            "A folder to write into has a name; the current one is '.'. '' was given."
        )
    return Path(text)


def parse_numbers(text: str, option_name: str) -> tuple[float, ...]:
    """Return the numbers of a list, whole ones as integers."""
    numbers = []
    for part in filter(None, map(str.strip, text.split(","))):
        try:
            number = float(part)
        except ValueError:
            raise usage_error(
                f"{option_name} takes numbers, separated by commas. {text!r} was given."
            ) from None
        numbers.append(int(number) if number.is_integer() else number)
    return tuple(dict.fromkeys(numbers))


def parse_choices(texts: Mapping[str, str], varied: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Return the numbers to try by parameter: those of options of their own, and of --vary.

    Raises RequestError for what is no such list, and for a parameter that is given twice.
    """
    choices = {name: parse_numbers(text, f"--{name}") for name, text in texts.items()}
    choices = {name: numbers for name, numbers in choices.items() if numbers}
    for option in varied:
        name, mark, text = option.rpartition("=")
        numbers = parse_numbers(text, "--vary") if mark else ()
        if not name or not numbers:
            message = f"--vary is NAME=X,X,... or COLUMN:NAME=X,X,.... {option!r} was given."
            raise usage_error(message)
        if name in choices:
            raise usage_error(f"Values of {name!r} are given twice.")
        choices[name] = numbers
    return choices


def with_overrides(policy: Path, options: list[str], reading: "Reading") -> "Source":
    """Return a policy with the values of --set; as it was given where there are none."""
    if not options:
        return policy
    from policy_engine.api.short_policies import override_policy  # noqa: PLC0415
    from policy_engine.policy.syntax.yaml_text import plain_value  # noqa: PLC0415

    values: dict[str, Any] = {}
    for option in options:
        name, _, text = option.partition("=")
        if not name or not text or name in values:
            raise usage_error(f"--set is NAME=VALUE, each name once. {option!r:.80} was given.")
        values[name] = plain_value(text)
    return override_policy(policy, values, **reading.keywords)


@contextmanager
def exit_with_two(*kinds: type[PolicyEngineError]) -> Iterator[None]:
    """Have errors of these kinds end with 2: the question was not answered with a no (1)."""
    try:
        yield
    except kinds as error:
        error.exit_code = 2
        raise


def _is_whole(option: str) -> bool:
    """Tell whether a text that gives data is a place alone, whatever `=` are in it.

    IRIs of assets are http or https URLs too, but have no query.
    """
    from policy_engine.data.places.spelling import (  # noqa: PLC0415 (few need it)
        is_database,
        is_place,
        scheme,
    )

    if scheme(option) in {"http", "https"}:
        return "?" in option.partition("=")[0] and not is_place(option.partition("=")[2])
    return is_database(option) or (scheme(option) in _STORAGES and is_place(option))


def _is_there(path: str) -> bool:
    from policy_engine.data.places.spelling import is_place  # noqa: PLC0415 (few need it)

    if is_place(path):
        return True
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def load_contexts(options: list[str]) -> dict[str, Any]:
    """Return the JSON-LD contexts given by URL. Raises RequestError where one cannot be
    understood."""
    if not options:
        return {}
    from policy_engine.policy import read_file  # noqa: PLC0415
    from policy_engine.policy.syntax.json_text import read_json  # noqa: PLC0415

    contexts = {}
    for url, path in parse_paths(options, "--context").items():
        value = read_json(read_file(Path(path)), path).value
        if not isinstance(value, dict) or not isinstance(value.get("@context"), dict):
            raise usage_error(
                f"{path!r} is not a JSON-LD context: it needs one object under '@context'."
            )
        contexts[url] = value
    return contexts


def usage_error(message: str) -> PolicyEngineError:
    """Return the error of a command line that cannot be understood."""
    return RequestError.of("U001", message)


def parse_names(text: str) -> tuple[str, ...]:
    """Return names of a text in which they are separated by commas."""
    return tuple(filter(None, map(str.strip, text.split(","))))
