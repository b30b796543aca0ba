"""Models that do what no model should: the process that they are opened in has to bear it."""

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np


class Memory:
    """A model in two classes that is surer of the first half of what it is asked."""

    def predict_proba(self, features):
        sure = np.linspace(0.9, 0.6, len(features))
        return np.stack([sure, 1 - sure], axis=1)


class Aborting(Memory):
    def predict_proba(self, _):
        os.write(2, b"the library's last words about 'Anna'\n")
        os.abort()


class Leaving(Memory):
    def predict_proba(self, _):
        os._exit(0)


class Killed(Memory):
    def predict_proba(self, _):
        os.kill(os.getpid(), 9)


class Hanging(Memory):
    def predict_proba(self, _):
        time.sleep(60)


class Greedy(Memory):
    def predict_proba(self, _):
        raise MemoryError


class Talking(Memory):
    """Prints on all that it has, reads its input, and looks for secrets."""

    def predict_proba(self, features):
        sys.stdout.write("x" * 100_000)
        sys.stderr.write("y" * 100_000)
        os.write(1, b"z" * 100_000)
        assert not sys.stdin.read()
        assert "POLICY_ENGINE_KEY" not in os.environ
        return super().predict_proba(features)


class Quoting(Memory):
    def predict_proba(self, _):
        raise ValueError("could not convert string to float: 'O'Brien', nor 41.5")


class Forging(Memory):
    """Writes a message of its own wherever it can, instead of an answer."""

    def __init__(self, message):
        self.message = message[::-1]  # a file with it as it is would pass for an archive

    def predict_proba(self, _):
        for number in range(3, 12):
            with suppress(OSError):
                os.write(number, self.message[::-1])
        time.sleep(60)


class Rewriting:
    """Writes something else into its file while it is unpickled, and is a function then."""

    def __init__(self, path):
        self.path = Path(path)

    def __reduce__(self):
        return eval, ("(path.write_bytes(b'other'), len)[1]", {"path": self.path})


class Opened:
    """Leaves a file where it was unpickled: a stand-in for whatever else it might do."""

    def __init__(self, mark):
        self.mark = str(mark)

    def __reduce__(self):
        return Path.touch, (Path(self.mark),)
