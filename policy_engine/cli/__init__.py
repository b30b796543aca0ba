"""The command line: `policy-engine`, another front door to the five verbs."""

import codecs
import os
import signal
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import Annotated, NoReturn

import typer

from policy_engine.cli.agreeing import agree
from policy_engine.cli.answers import plain, print_json
from policy_engine.cli.attesting import attest
from policy_engine.cli.auditing import audits
from policy_engine.cli.converting import convert
from policy_engine.cli.deciding import decide
from policy_engine.cli.evaluating import evaluate
from policy_engine.cli.hints import told
from policy_engine.cli.inspecting import diff, graph, run_tests
from policy_engine.cli.listing import methods, sample, suggest
from policy_engine.cli.logs import logs
from policy_engine.cli.owing import duties, fulfil
from policy_engine.cli.querying import query
from policy_engine.cli.releasing import apply, certify, compare, explore, plan, show
from policy_engine.cli.schemas import schema
from policy_engine.cli.validating import validate
from policy_engine.errors import PolicyEngineError

app = typer.Typer(
    help="One policy from text to a verified, anonymised release and the decisions about it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
hierarchies = typer.Typer(
    help="Generalisation hierarchies: propose one for a column, to be edited by hand.",
    no_args_is_help=True,
)
hierarchies.command()(suggest)
_COMMANDS: tuple[Callable[..., None], ...] = (
    *(validate, plan, apply, show, certify, compare, explore),
    *(decide, query, evaluate, fulfil, duties, attest),
    *(graph, diff, agree, convert, schema, methods, sample),
)
for _command in _COMMANDS:
    app.command()(_command)
app.command("test")(run_tests)
app.add_typer(hierarchies, name="hierarchy")
app.add_typer(logs, name="log")
app.add_typer(audits, name="audit")


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[
        bool, typer.Option("--version", metavar="", help="Print the version.")
    ] = False,
) -> None:
    if version:
        from importlib.metadata import version as installed  # noqa: PLC0415 (slow to import)

        typer.echo(f"policy-engine {installed('policy-engine')}")
        raise typer.Exit


def _write_any_text() -> None:
    """Let the terminal be written to whatever a text holds: ASCII as UTF-8, what it lacks escaped.

    Names and values have letters that the terminal's encoding may not have.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            is_ascii = codecs.lookup(stream.encoding).name == "ascii"
            encoding = "utf-8" if is_ascii else stream.encoding
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def main() -> NoReturn:
    """Run the command line; a user's mistake is a coded line, never a traceback."""
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            number = getattr(signal, name)
            signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    _write_any_text()
    try:
        app()
    except PolicyEngineError as error:
        typer.echo(told(error), err=True)
        if "--format json" in " ".join(sys.argv).replace("--format=", "--format "):
            print_json({"problems": [*map(plain, error.problems)]})
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.echo("interrupted; nothing was written", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except Exception as error:
        if "POLICY_ENGINE_DEBUG" in os.environ:
            raise
        message = f"X001 This is a bug in the engine: {type(error).__name__}."
        typer.echo(f"{message} Set POLICY_ENGINE_DEBUG=1 for the traceback.", err=True)
        sys.exit(2)
    sys.exit(0)
