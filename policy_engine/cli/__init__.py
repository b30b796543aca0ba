"""The command line: `policy-engine`, another front door to the five verbs."""

import atexit
import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from policy_engine import __version__

if TYPE_CHECKING:
    import typer

    app: typer.Typer

_LOADER = "pydantic.plugin._loader"
_BRIEF = frozenset({"validate", "plan", "apply", "certify", "decide"})
"""The commands that end where they have answered, with all their files closed."""
_COUNT_ON_SEARCH = frozenset(
    {"duckdb", "joblib", "keras", "opendp", "pyspark", "sklearn", "sqlalchemy", "tensorflow"}
)
"""Libraries some of whose objects end well once they are searched for."""


class _NoPlugins(ModuleType):
    """Pydantic's loader of plugins where there are none: the real one imports what reads metadata
    of packages before it sees that they are disabled, a twentieth of the time of `validate`."""

    @staticmethod
    def get_plugins() -> tuple[()]:
        """Return no plugins."""
        return ()

    def __getattr__(self, name: str) -> Any:
        """Return anything else from the real loader, which takes this one's place."""
        if name == "__path__":  # which importing asks of every module
            raise AttributeError(name)
        sys.modules.pop(_LOADER, None)
        return getattr(import_module(_LOADER), name)


def _leave_unsearched() -> None:
    """Have nothing that was loaded be searched for circles at the end, a tenth of the whole time,
    unless a library was that counts on it."""
    if sys.modules.keys().isdisjoint(_COUNT_ON_SEARCH):
        gc.freeze()


def main() -> NoReturn:
    """Run the command line, loading the one command that is asked for."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:  # which needs nothing of what parsing takes to load
        with suppress(OSError):  # which is told below
            sys.stdout.write(f"policy-engine {__version__}\n")
            sys.stdout.flush()
            sys.exit(0)
    if arguments[:1] and arguments[0] in _BRIEF:
        atexit.register(_leave_unsearched)
    # Looking for plugins reads the metadata of every package there is; our models need none.
    sys.modules.setdefault(_LOADER, _NoPlugins(_LOADER))
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from policy_engine.cli.commands import make_app, run  # noqa: PLC0415 (slow to import: typer)

    run(make_app(arguments[0] if arguments else ""))


def __getattr__(name: str) -> Any:
    """Return `app`, which has all commands: it is made when somebody asks for it."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from policy_engine.cli.commands import make_app  # noqa: PLC0415 (slow to import: typer)

    return make_app()
