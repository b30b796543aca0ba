"""The entry point: `policy-engine`, or `python -m policy_engine`."""

import gc
import os
import sys
from typing import NoReturn

from policy_engine.cli import main as run


def _name_files_in_utf_8() -> None:
    """Start Python over in its UTF-8 mode (PEP 540) where it has names and arguments in ASCII.

    Only that does for all at once: policies, IRIs and queries are UTF-8, and so are the names of
    files in them, which could not be opened. As yet, nothing was read and nothing else begun.
    """
    arguments = sys.argv[1:]
    is_ours = not arguments or sys.orig_argv[-len(arguments) :] == arguments
    if sys.getfilesystemencoding() == "ascii" and sys.executable and is_ours:
        again = [sys.executable, "-X", "utf8", *sys.orig_argv[1:]]
        os.execve(sys.executable, again, {**os.environ, "PYTHONUTF8": "1"})  # noqa: S606 (itself)


def main() -> NoReturn:
    """Run the command line, collecting garbage rarely: start-up makes objects that stay.

    With its libraries loaded, a command has made a third of a million.
    """
    _name_files_in_utf_8()
    gc.set_threshold(500_000, 20, 20)

    run()


if __name__ == "__main__":
    main()
