"""The command line: `policy-engine`, another front door to the five verbs."""

import atexit
import gc
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from policy_engine import __version__

if TYPE_CHECKING:
    import typer

    app: typer.Typer


def main() -> NoReturn:
    """Run the command line, loading the one command that is asked for."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:  # which needs nothing of what parsing takes to load
        sys.stdout.write(f"policy-engine {__version__}\n")
        sys.exit(0)
    if arguments[:1] == ["validate"]:
        # At the end all that was loaded would be searched for circles, a tenth of the whole time.
        # Other commands load libraries that count on it.
        atexit.register(gc.freeze)
    # Looking for plugins reads the metadata of every package there is; our models need none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from policy_engine.cli.commands import make_app, run  # noqa: PLC0415 (slow to import: typer)

    run(make_app(arguments[0] if arguments else ""))


def __getattr__(name: str) -> Any:
    """Return `app`, which has all commands: it is made when somebody asks for it."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from policy_engine.cli.commands import make_app  # noqa: PLC0415 (slow to import: typer)

    return make_app()
