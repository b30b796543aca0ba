"""A service of its own, as it is started on a terminal."""

import subprocess
import sys
from contextlib import contextmanager

from places import ROOT


@contextmanager
def serving(folder, *options):
    """Have a service run; its address, and a link that signs its owner in once."""
    command = [sys.executable, "-m", "policy_engine", "serve", "--port", "0"]
    with subprocess.Popen(
        [*command, "--folder", str(folder), *options], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        try:
            words = process.stdout.readline().split()
            yield words[0].rstrip("/"), words[-1]
        finally:
            process.terminate()
