"""Runs commands in a process in which nothing of POSIX that Windows lacks can be found.

    python without_posix.py COMMANDS.json

What libraries take from it while they are imported is left to them: they are imported before.
"""

import concurrent.futures
import json
import logging
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile

import duckdb
import numba
import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pydantic
import rich.console
import typer.testing

MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog")
FUNCTIONS = (
    *("geteuid", "getuid", "getegid", "getgid", "fork", "forkpty", "killpg", "setsid", "getpgid"),
    *("getpgrp", "sched_getaffinity", "register_at_fork", "fchmod", "fchown", "chown", "mkfifo"),
    *("statvfs", "getloadavg", "wait4", "waitid", "sysconf", "uname", "pread", "pwrite"),
    *("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "O_PATH"),
)
SIGNALS = ("SIGKILL", "SIGHUP", "SIGXFSZ", "SIGXCPU", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGPIPE")
IMPORTED_BEFORE = (
    *(concurrent.futures, duckdb, logging, multiprocessing, numba, np, pyarrow.csv),
    *(pyarrow.parquet, pydantic, random, rich.console, subprocess, tempfile),
)


def hide():
    """Hide what Windows lacks from whatever is imported from here on."""
    for name in MODULES:
        sys.modules[name] = None
    for place, names in ((os, FUNCTIONS), (signal, (*SIGNALS, "pthread_sigmask", "alarm"))):
        for name in names:
            if hasattr(place, name):
                delattr(place, name)


def main():
    """Run the commands; print what each ends with and what it says."""
    hide()
    from policy_engine.cli import app

    results = []
    for command in json.loads(sys.argv[1]):
        done = typer.testing.CliRunner().invoke(app, command)
        strange = done.exception if not isinstance(done.exception, SystemExit) else None
        results.append([done.exit_code, done.output, repr(strange) if strange else ""])
    sys.stdout.write(json.dumps(results) + "\n")


if __name__ == "__main__":
    main()
