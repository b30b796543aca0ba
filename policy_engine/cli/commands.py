"""The commands, each loaded when it is asked for, and what a command line ends with."""

import codecs
import errno
import inspect
import os
import signal
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from io import TextIOWrapper
from types import MappingProxyType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from policy_engine import __version__
from policy_engine.cli.answers import print_json, problem_json
from policy_engine.cli.hints import format_error
from policy_engine.errors import OutputError, PolicyEngineError

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "init": "drafting:init",
        "example": "gallery:example",
        "validate": "validating:validate",
        "plan": "releasing:plan",
        "apply": "releasing:apply",
        "show": "releasing:show",
        "generate": "making_up:generate",
        "certify": "measuring:certify",
        "compare": "measuring:compare",
        "explore": "measuring:explore",
        "decide": "deciding:decide",
        "batch-decide": "batch_deciding:batch_decide",
        "bundle": "bundling:bundle",
        "audit-trail": "audit_trails:audit_trail",
        "query": "querying:query",
        "evaluate": "evaluating:evaluate",
        "fulfil": "duties:fulfil",
        "duties": "duties:duties",
        "attest": "attesting:attest",
        "sign": "keys:sign",
        "verify": "keys:verify",
        "withdraw": "withdrawing:withdraw",
        "graph": "inspecting:graph",
        "diff": "inspecting:diff",
        "agree": "agreeing:agree",
        "convert": "converting:convert",
        "schema": "schemas:schema",
        "methods": "listing:methods",
        "sample": "listing:sample",
        "test": "inspecting:run_tests",
        "serve": "serving:serve",
        "key": "keys:keys",
        "hierarchy": "listing:hierarchies",
        "log": "logs:logs",
        "budget": "budgets:budgets",
        "ledger": "output_ledgers:output_ledgers",
        "check": "checking:checks",
        "audit": "auditing:audits",
    }
)
"""Where each command is defined, in the order in which they are listed: its module and its name
there, which is that of a function or of a group of commands."""


class _PlainHelp:
    """A command whose `--help` and the like are shown as flags are, without a value."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option."""
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.metavar = ""
        return option

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, those that typer adds for completion as flags."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for one in params:
            if one.name in _COMPLETING:
                one.metavar = ""
        return params


_COMPLETING = frozenset({"install_completion", "show_completion"})


class _Command(_PlainHelp, TyperCommand):
    """A command."""


class _Group(_PlainHelp, TyperGroup):
    """Commands that share their first word."""


class _DefaultGroup(_Group):
    """Commands of which one is meant where none is named: `check TABLE` is `check tables TABLE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return what is left of the arguments, the default command named."""
        name = self.list_commands(ctx)[0]
        if args and args[0].startswith("--") and args[0][2:] in self.list_commands(ctx):
            args = [args[0][2:], *args[1:]]
        elif args and args[0] not in ("--help", *self.list_commands(ctx)):
            args = [name, *args]
        return super().parse_args(ctx, args)


_WITH_DEFAULT = frozenset({"check"})


_PEM = "-----BEGIN"


class _Commands(_Group):
    """All commands; where nobody reads the output to its end, the status is that of SIGPIPE."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return what is left of the arguments.

        Raises TrustError (Y001) if one of them is a private key: it starts like an option, and an
        error about an unknown option would print it.
        """
        if any(str(one).lstrip().startswith(_PEM) for one in args):
            from policy_engine.trust.signers import given_itself  # noqa: PLC0415 (few do so)

            raise given_itself()
        return super().parse_args(ctx, args)

    # typer would exit with 1, which means that a check failed, or that a request is denied.
    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for, and return what it returns."""
        try:
            result = super().invoke(ctx)
            if sys.stdout is not None:  # as it is where it was closed
                sys.stdout.flush()
        except BrokenPipeError:
            _drop_output()
            sys.exit(141)
        return result


def _drop_output() -> None:
    """Let what is still to be printed go nowhere: Python would try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_UNWRITABLE = tuple(
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EFBIG", "EIO", "EBADF")
    if hasattr(errno, name)
)
"""What writing fails by, whatever was to be written."""


def _unwritable_error(error: OSError) -> PolicyEngineError:
    """Return the error (O002) of what cannot be printed, which is then not tried again."""
    _drop_output()
    message = f"What the command answers cannot be written: {error.strerror or error}."
    return OutputError.of("O002", message, "Files that it has made before are there.")


@cache
def make_app(requested: str = "") -> typer.Typer:
    """Return the application with the command that is asked for, or else with all of them.

    All take several times as long to load as one; help and suggestions need them.
    """
    app = typer.Typer(
        cls=_Commands,
        help="Turn a policy into a verified, anonymised release, and decide who may read it.",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(_root)
    for name in (requested,) if requested in COMMANDS else COMMANDS:
        module, _, attribute = COMMANDS[name].partition(":")
        command = getattr(import_module(f"policy_engine.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            for one in command.registered_commands:
                one.help, one.cls = _help_of(one.callback), _Command
            group = _DefaultGroup if name in _WITH_DEFAULT else _Group
            app.add_typer(command, name=name, cls=group)
        else:
            app.command(name, cls=_Command, help=_help_of(command))(command)
    return app


def _help_of(command: object) -> str:
    """Return the docstring of a command, a paragraph a line: a terminal breaks its own lines."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    return "\n\n".join(" ".join(one.split()) for one in paragraphs)


def _root(
    version: Annotated[
        bool, typer.Option("--version", metavar="", help="Print the version.")
    ] = False,
) -> None:
    if version:
        typer.echo(f"policy-engine {__version__}")
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


def _run_app(app: typer.Typer) -> None:
    """Run an application. Raises OutputError (O002) where its answer cannot be written."""
    try:
        app()
    except OSError as error:
        if error.errno not in _UNWRITABLE or error.filename is not None:
            raise
        raise _unwritable_error(error) from None


def run(app: typer.Typer) -> NoReturn:
    """Run an application; a user's mistake is a coded line, never a traceback."""
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            number = getattr(signal, name)
            signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    _write_any_text()
    try:
        _run_app(app)
    except PolicyEngineError as error:
        typer.echo(format_error(error), err=True)
        if "--format json" in " ".join(sys.argv).replace("--format=", "--format "):
            problems = [*map(problem_json, error.problems)]
            print_json({"file": error.source, "problems": problems})
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.echo("interrupted; nothing was written", err=True)
        sys.exit(130)
    except Exception as error:
        if "POLICY_ENGINE_DEBUG" in os.environ:
            raise
        message = f"X001 This is a bug in the engine: {type(error).__name__}."
        typer.echo(f"{message} Set POLICY_ENGINE_DEBUG=1 for the traceback.", err=True)
        sys.exit(2)
    sys.exit(0)
